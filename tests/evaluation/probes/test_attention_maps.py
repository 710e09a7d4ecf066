"""Captured attention maps: tiny models of transformers, against their own `output_attentions`, and some of ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from stressreel.core.errors import ProbeError, UsageError
from stressreel.evaluation.probes import TEXT, VIDEO, attention_distance, captured_attention, labels_for, quag

torch = pytest.importorskip("torch", reason="capturing needs torch: pip install 'stressreel[probes]'")
transformers = pytest.importorskip("transformers", reason="these models are transformers': install stressreel[probes]")

HEADS = 2
SMALL: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": HEADS,
    "intermediate_size": 16,
    "vocab_size": 40,
    "max_position_embeddings": 32,
}
WORDS = torch.tensor([[5, 6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 0, 0]])
MASK = (WORDS != 0).long()


@dataclass
class Case:
    """A model, what it is called with, and the mask of tokens that are not padding."""

    model: Any
    inputs: dict[str, Any]
    causal: bool = False

    @property
    def mask(self) -> np.ndarray:
        return np.asarray(self.inputs["attention_mask"]) != 0

    def run(self, **options: Any) -> Any:
        with torch.no_grad():
            return self.model(**self.inputs, **options)


def bert() -> Case:
    return Case(transformers.BertModel(transformers.BertConfig(**SMALL)), {"input_ids": WORDS, "attention_mask": MASK})


def deberta() -> Case:
    config = transformers.DebertaV2Config(**SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"])
    return Case(transformers.DebertaV2Model(config), {"input_ids": WORDS, "attention_mask": MASK})


def qwen2() -> Case:
    model = transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**SMALL, num_key_value_heads=1))
    ids, mask = WORDS.flip(1), MASK.flip(1)  # padded on the left
    return Case(model, {"input_ids": ids, "attention_mask": mask}, causal=True)


def qwen2_vl() -> Case:
    text = {**SMALL, "num_key_value_heads": 1, "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2]}}
    vision = {"depth": 1, "embed_dim": 16, "num_heads": 2, "hidden_size": 16, "mlp_ratio": 1, "patch_size": 4}
    special = {"image_token_id": 1, "video_token_id": 2, "vision_start_token_id": 3, "vision_end_token_id": 4}
    model = transformers.Qwen2VLForConditionalGeneration(
        transformers.Qwen2VLConfig(text_config=text, vision_config=vision, **special)
    )
    ids = torch.tensor([[5, 6, 3, *[2] * 8, 4, 7, 8, 9]] * 2)
    inputs = {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "pixel_values_videos": torch.randn(64, 96, generator=torch.Generator().manual_seed(1)),
        "video_grid_thw": torch.tensor([[2, 4, 4]] * 2),  # 2 times, 16 patches each, merged by 4: 8 tokens
        "mm_token_type_ids": torch.where(ids == 2, 2, 0),
    }
    return Case(model, inputs, causal=True)


CASES: dict[str, Callable[[], Case]] = {make.__name__: make for make in (bert, deberta, qwen2, qwen2_vl)}


@cache
def case(name: str) -> Case:
    with torch.random.fork_rng():
        torch.random.default_generator.manual_seed(0)
        made = CASES[name]()
        with torch.no_grad():
            for parameter in made.model.parameters():  # attention far from uniform
                if parameter.ndim > 1:
                    parameter.normal_(0, 0.6)
    made.model.eval()
    return made


@pytest.mark.parametrize("name", CASES)
def test_maps_are_those_that_the_model_gives(name: str) -> None:
    one = case(name)
    with captured_attention(one.model) as captured:
        one.run()
    assert len(captured.runs) == 3
    before = one.model.config._attn_implementation
    try:
        one.model.set_attn_implementation("eager")
        given = one.run(output_attentions=True).attentions
    finally:
        one.model.set_attn_implementation(before)
    mask = one.mask
    tokens = mask.shape[1]
    for item in range(2):
        maps = captured.maps(item)
        assert [each.shape for each in maps] == [(HEADS, tokens, tokens)] * 3
        seen = np.broadcast_to(mask[item], (tokens, tokens)) & (np.tri(tokens, dtype=bool) if one.causal else True)
        for ours, theirs in zip(maps, given, strict=True):
            assert ours.dtype == np.float32
            rows = mask[item]
            assert np.abs(ours[:, rows] - theirs[item].numpy()[:, rows]).max() <= 1e-6
            assert np.abs((ours * seen).sum(-1)[:, rows] - 1).max() < 1e-5
            assert np.abs(ours * ~seen)[:, rows].max() < 1e-6
            assert ours.std() > 0.05  # far from uniform, so that an equality says something


def test_every_run_is_noted_and_the_first_is_the_prompt() -> None:
    one = case("qwen2_vl")
    with torch.no_grad(), captured_attention(one.model) as captured:
        one.model.generate(**one.inputs, max_new_tokens=3, do_sample=False, pad_token_id=0)
    assert [[run.shape for run in runs] for runs in captured.runs.values()] == [
        [(2, HEADS, 15, 15), (2, HEADS, 1, 16), (2, HEADS, 1, 17)]
    ] * 3
    with captured_attention(one.model) as once:
        one.run()
    for prompt, plain in zip(captured.maps(1), once.maps(1), strict=True):
        assert np.abs(prompt - plain).max() < 1e-6
    with pytest.raises(UsageError, match="no run 3"):
        captured.maps(run=3)
    with pytest.raises(UsageError, match=r"no item 2.*2 items"):
        captured.maps(2)


def test_a_pair_is_compared_from_end_to_end() -> None:
    """The same video with its two times the other way round, as a complement has them."""
    one = case("qwen2_vl")
    labels = labels_for(one.model.config, one.inputs)[0]
    assert set(labels.tolist()) == {VIDEO, TEXT}
    turned = {**one.inputs, "pixel_values_videos": one.inputs["pixel_values_videos"].roll(16, 0)}
    sides = []
    for inputs in (one.inputs, turned):
        with torch.no_grad(), captured_attention(one.model) as captured:
            one.model(**inputs)
        sides.append(captured.maps())
    first, second = sides
    found = attention_distance(first, second, labels, labels)
    plain = np.mean([np.linalg.norm(a - b, axis=(1, 2)) for a, b in zip(first, second, strict=True)]) / np.sqrt(15)
    assert 0 < found.lowest <= found.value < plain
    assert attention_distance(first, first, labels, labels).value == 0


def test_layers_are_chosen_and_everything_is_put_back() -> None:
    one = case("bert")
    plain = one.run().last_hidden_state
    hooks = sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in one.model.modules())
    with captured_attention(one.model, [0, "*.layer.2.*"]) as captured:
        within = one.run().last_hidden_state
    assert list(captured.runs) == ["encoder.layer.0.attention.self", "encoder.layer.2.attention.self"]
    assert torch.allclose(within, plain, atol=1e-5)
    assert one.model.config._attn_implementation == "sdpa"
    assert hooks == sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in one.model.modules())
    assert torch.equal(one.run().last_hidden_state, plain)


class Own(torch.nn.Module):
    """Attention by `kind`; no model of transformers."""

    class SomeAttention(torch.nn.Module):
        def __init__(self, kind: str) -> None:
            super().__init__()
            self.kind = kind

        def forward(self, x: Any) -> Any:
            q = x.view(2, 5, HEADS, 4).transpose(1, 2)
            if self.kind == "fused":
                out = torch.nn.functional.scaled_dot_product_attention(q, q, q)
            elif self.kind == "folded":
                q = q.reshape(2 * HEADS, 5, 4)
                out = ((q @ q.transpose(1, 2) / 2).softmax(dim=-1) @ q).view(2, HEADS, 5, 4)
            elif self.kind == "twice":
                weights = (q @ q.transpose(-1, -2)).softmax(-1)
                out = (weights @ q).softmax(-1)
            else:
                powers = (q @ q.transpose(-1, -2)).exp()
                out = powers / powers.sum(-1, keepdim=True) @ q
            return out.transpose(1, 2).reshape(2, 5, 8)

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.layer = torch.nn.MultiheadAttention(8, HEADS, batch_first=True) if kind == "torch" else None
        self.own = self.SomeAttention(kind)

    def forward(self, x: Any) -> Any:
        return self.own(x) if self.layer is None else self.layer(x, x, x)[1]


X = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("kind", ["fused", "folded"])
def test_attention_of_any_model_is_captured(kind: str) -> None:
    model = Own(kind)
    with torch.no_grad(), captured_attention(model, batch=2) as captured:
        model(X)
    q = X.view(2, 5, HEADS, 4).transpose(1, 2)
    expected = (q @ q.transpose(-1, -2) / 2).softmax(-1).numpy()
    (found,) = (runs[0] for runs in captured.runs.values())
    assert np.abs(found - expected).max() < 1e-6


def test_attention_of_torch_is_captured() -> None:
    model = Own("torch").eval()
    with torch.no_grad(), captured_attention(model, "layer", batch=2) as captured:
        given = model(X)
    assert np.abs(captured.runs["layer"][0].mean(1) - given.numpy()).max() < 1e-6


def test_half_precision_is_noted_in_single() -> None:
    one = case("bert")
    half = transformers.BertModel(one.model.config).eval().to(torch.bfloat16)
    half.load_state_dict(one.model.state_dict())
    with torch.no_grad(), captured_attention(half) as captured, captured_attention(one.model) as whole:
        half(**one.inputs)
        one.run()
    assert captured.maps()[0].dtype == np.float32
    assert np.abs(captured.maps()[0] - whole.maps()[0]).max() < 0.1


def test_what_cannot_be_captured_is_refused() -> None:
    for kind, says in (("formula", "call no softmax that torch shows"), ("twice", "softmax more than once in a run")):
        model = Own(kind)
        with pytest.raises(ProbeError, match=says), captured_attention(model):
            model(X)
    vision = case("qwen2_vl")  # whose encoder looks at the second video after the first
    with (
        pytest.raises(ProbeError, match=r"visual\.blocks\.0\.attn calls softmax more than once"),
        captured_attention(vision.model, "*visual*"),
    ):
        vision.run()
    assert vision.model.config._attn_implementation == "sdpa"
    model = Own("folded")
    with (
        pytest.raises(UsageError, match="length 4, which is no multiple of batch=3"),
        captured_attention(model, batch=3),
    ):
        model(X)
    with pytest.raises(UsageError, match="batch must be 1 or more"), captured_attention(model, batch=0):
        pass
    with pytest.raises(ProbeError, match="no attention module"), captured_attention(torch.nn.Linear(2, 2)):
        pass
    one = case("bert")
    with pytest.raises(ProbeError, match="did not run"), captured_attention(one.model):
        pass
    with pytest.raises(UsageError, match="no attention module matches"), captured_attention(one.model, 3):
        pass
    with (
        pytest.raises(UsageError, match="do not nest"),
        quag(one.model, "all", modality=[TEXT] * 7),
        captured_attention(one.model),
    ):
        pass
