import numpy as np
import pytest
from stressreel.core.errors import ProbeError, UsageError
from stressreel.evaluation.probes import TEXT, captured_attention, quag

torch = pytest.importorskip("torch", reason="capturing needs torch: pip install 'stressreel[probes]'")
transformers = pytest.importorskip("transformers", reason="these models are transformers': install stressreel[probes]")
from fusion_models import BATCH, HEADS, case, own  # noqa: E402


@pytest.mark.parametrize("name", ["bert", "qwen2_vl", pytest.param("deberta", marks=pytest.mark.full)])
def test_maps_equal_output_attentions(name: str) -> None:
    one = case(name)
    hooks = one.hooks()
    with captured_attention(one.model) as captured:
        one.run()
    assert (len(captured.runs), one.hooks()) == (one.count, hooks)
    before = one.model.config._attn_implementation
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
            assert np.abs(ours[:, rows][..., rows].sum(-1) - 1).max() < 1e-5
            assert ours.std() > 0.05  # far from uniform, so that an equality says something


def test_generation_is_captured_run_by_run() -> None:
    one = case("qwen2_vl")
    with torch.no_grad(), captured_attention(one.model) as captured:
        one.model.generate(**one.inputs, max_new_tokens=3, do_sample=False, pad_token_id=0)
    expected = [(2, HEADS, 16, 16), (2, HEADS, 1, 17), (2, HEADS, 1, 18)]
    assert [[run.shape for run in runs] for runs in captured.runs.values()] == [expected] * 2
    with captured_attention(one.model) as once:
        one.run()
    for prompt, plain in zip(captured.maps(1), once.maps(1), strict=True):
        assert np.abs(prompt - plain).max() < 1e-6
    with pytest.raises(UsageError, match="no run 3"):
        captured.maps(run=3)
    with pytest.raises(UsageError, match=r"no item 2.*2 items"):
        captured.maps(2)


def test_layers_are_selected_and_model_is_restored() -> None:
    one = case("bert")
    plain = one.run()
    with captured_attention(one.model, "*.layer.1.*") as captured:
        within = one.run()
    assert list(captured.runs) == ["encoder.layer.1.attention.self"]
    assert torch.allclose(within, plain, atol=1e-5)
    assert one.model.config._attn_implementation == "sdpa"
    assert torch.equal(one.run(), plain)


@pytest.mark.parametrize("kind", ["fused", "folded"])
def test_own_models_are_captured(kind: str) -> None:
    one = own(kind)
    with captured_attention(one.model, 0, batch=BATCH) as captured:
        one.run()
    q, k, _ = one.model.layers[0].inner(one.inputs["x"]).view(BATCH, -1, 3, HEADS, 8).permute(2, 0, 3, 1, 4)
    scores = q @ k.transpose(-1, -2) / (3 if kind == "folded" else 8**0.5)
    if kind == "fused":
        scores = scores.masked_fill(~torch.ones(9, 9, dtype=torch.bool).tril(), -torch.inf)
    (runs,) = captured.runs.values()
    assert np.abs(runs[0] - scores.softmax(-1).detach().numpy()).max() < 1e-6


def test_torch_attention_is_captured_in_single_precision() -> None:
    model, x = torch.nn.MultiheadAttention(8, HEADS, batch_first=True).eval(), torch.randn(2, 5, 8)
    with torch.no_grad(), captured_attention(model, batch=2) as captured:
        given = model(x, x, x)[1]
    assert np.abs(captured.runs[""][0].mean(1) - given.numpy()).max() < 1e-6
    half = model.to(torch.bfloat16)
    with torch.no_grad(), captured_attention(half, batch=2) as captured:
        half(*[x.to(torch.bfloat16)] * 3)
    assert captured.maps()[0].dtype == np.float32
    assert np.abs(captured.runs[""][0].mean(1) - given.numpy()).max() < 0.05


@pytest.mark.parametrize(("kind", "says"), [("formula", "no softmax that torch exposes"), ("twice", "more than once")])
def test_own_formulas_and_two_softmaxes_are_refused(kind: str, says: str) -> None:
    one = own(kind)
    with pytest.raises(ProbeError, match=says), captured_attention(one.model):
        one.run()


def test_capturing_refuses_bad_arguments() -> None:
    vision, one, folded = case("qwen2_vl"), case("bert"), own("folded")  # an encoder looks at one video after the other
    encoder = captured_attention(vision.model, "*visual*")
    with pytest.raises(ProbeError, match=r"visual\.blocks\.0\.attn calls softmax more than once"), encoder:
        vision.run()
    assert vision.model.config._attn_implementation == "sdpa"
    thirds = captured_attention(folded.model, batch=3)
    with pytest.raises(UsageError, match="length 4, which is not a multiple of batch=3"), thirds:
        folded.run()
    with pytest.raises(UsageError, match="batch must be 1 or more"), captured_attention(folded.model, batch=0):
        pass
    with pytest.raises(ProbeError, match="did not run"), captured_attention(one.model):
        pass
    with pytest.raises(UsageError, match="no attention module matches"), captured_attention(one.model, 3):
        pass
    outer, inner = quag(one.model, "all", modality=[TEXT] * 9), captured_attention(one.model)
    with pytest.raises(UsageError, match="cannot be nested"), outer, inner:
        pass
