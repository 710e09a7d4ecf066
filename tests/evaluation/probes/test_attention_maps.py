import numpy as np
import pytest
from stressreel.core.errors import ProbeError, UsageError
from stressreel.evaluation.probes import TEXT, captured_attention, quag

torch = pytest.importorskip("torch", reason="capturing needs torch: pip install 'stressreel[probes]'")
pytest.importorskip("transformers", reason="these models are transformers': install stressreel[probes]")
from fusion_models import HEADS, case, own  # noqa: E402


@pytest.mark.parametrize("name", ["bert", "qwen2_vl", pytest.param("deberta", marks=pytest.mark.full)])
def test_maps_equal_output_attentions(name: str) -> None:
    one = case(name)
    hooks, before = one.hooks(), one.model.config._attn_implementation
    with captured_attention(one.model) as captured:
        one.run()
    assert (len(captured.runs), one.hooks()) == (one.count, hooks)
    try:
        one.model.set_attn_implementation("eager")
        with torch.no_grad():
            given = one.model(**one.inputs, output_attentions=True).attentions
    finally:
        one.model.set_attn_implementation(before)
    for item, rows in enumerate(np.asarray(one.inputs["attention_mask"]) != 0):
        for ours, theirs in zip(captured.maps(item), given, strict=True):
            assert (ours.dtype, ours.shape) == (np.float32, (HEADS, len(rows), len(rows)))
            assert np.abs(ours[:, rows] - theirs[item].numpy()[:, rows]).max() <= 1e-6
            assert ours.std() > 0.05  # far from uniform, so that an equality says something


def test_generation_is_captured_run_by_run() -> None:
    one = case("qwen2_vl")
    with torch.no_grad(), captured_attention(one.model) as captured:
        one.model.generate(**one.inputs, max_new_tokens=3, do_sample=False, pad_token_id=0)
    expected = [(2, HEADS, 16, 16), (2, HEADS, 1, 17), (2, HEADS, 1, 18)]
    assert [[run.shape for run in runs] for runs in captured.runs.values()] == [expected] * 2
    for wrong, says in (({"run": 3}, "no run 3"), ({"item": 2}, r"no item 2.*2 items")):
        with pytest.raises(UsageError, match=says):
            captured.maps(**wrong)


def test_what_cannot_be_captured_is_refused() -> None:
    vision, bert = case("qwen2_vl"), case("bert")  # an encoder looks at one video after the other
    for one, kind, says, options in (
        (own("formula"), ProbeError, "no softmax that torch exposes", {}),
        (vision, ProbeError, r"visual\.blocks\.0\.attn calls softmax more than once", {"layers": "*visual*"}),
        (own("folded"), UsageError, "length 4, which is not a multiple of batch=3", {"batch": 3}),
        (bert, UsageError, "batch must be 1 or more", {"batch": 0}),
    ):
        with pytest.raises(kind, match=says), captured_attention(one.model, **options):
            one.run()
    assert vision.model.config._attn_implementation == "sdpa"
    outer, inner = quag(bert.model, "all", modality=[TEXT] * 9), captured_attention(bert.model)
    with pytest.raises(UsageError, match="cannot be nested"), outer, inner:
        pass
