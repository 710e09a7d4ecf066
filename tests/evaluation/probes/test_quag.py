"""QUAG on models of torch: tiny random ones of transformers, and some of our own, each against the reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
from stressreel.core.errors import InputError, ProbeError, UsageError
from stressreel.evaluation.probes import (
    TEXT,
    VIDEO,
    labels_for,
    labels_of_parts,
    labels_of_types,
    quag,
    short_circuit,
)

torch = pytest.importorskip("torch", reason="QUAG needs torch: pip install 'stressreel[probes]'")
transformers = pytest.importorskip("transformers", reason="these models are transformers': install stressreel[probes]")

V, T = VIDEO, TEXT
BATCH, HEADS = 2, 2
SMALL: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS,
    "intermediate_size": 16,
    "vocab_size": 40,
    "max_position_embeddings": 32,
}


def words(length: int, first: int = 5) -> Any:
    return torch.randint(first, 40, (BATCH, length), generator=torch.Generator().manual_seed(length))


def numbers(*shape: int) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(7))


def padded(length: int, by: int = 2) -> Any:
    """A mask whose second row ends in padding."""
    mask = torch.ones(BATCH, length, dtype=torch.long)
    mask[1, length - by :] = 0
    return mask


@dataclass
class Case:
    """A model, what it is called with, labels, and the layers that are probed."""

    model: Any
    inputs: dict[str, Any]
    labels: Any
    count: int
    layers: Any = None
    generated: Any = T
    pairs: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def run(self) -> Any:
        torch.random.default_generator.manual_seed(0)  # ViLT draws its patches
        with torch.no_grad():
            out = self.model(**self.inputs)
        return out.last_hidden_state if hasattr(out, "last_hidden_state") else out.logits

    def probe(self, quadrants: Any, **options: Any) -> tuple[Any, Any]:
        options = {"modality": self.labels, "layers": self.layers, **options}
        with quag(self.model, quadrants, **options) as report:
            out = self.run()
        return out, report


def bert() -> Case:
    model = transformers.BertModel(transformers.BertConfig(**SMALL))
    types = torch.tensor([[0] * 4 + [1] * 5] * BATCH)
    mask = padded(9)
    labels = labels_of_types(types, {0: T, 1: V}, attention_mask=mask)
    return Case(model, {"input_ids": words(9), "token_type_ids": types, "attention_mask": mask}, labels, 2)


def distilbert() -> Case:
    config = transformers.DistilBertConfig(
        dim=16, n_layers=2, n_heads=HEADS, hidden_dim=16, vocab_size=40, max_position_embeddings=32
    )
    mask = padded(9)
    labels = labels_of_parts((V, mask[:, :4] * 0 + 1), (T, mask[:, 4:]))
    return Case(transformers.DistilBertModel(config), {"input_ids": words(9), "attention_mask": mask}, labels, 2)


def deberta() -> Case:
    config = transformers.DebertaV2Config(**SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"])
    mask = padded(9)
    labels = labels_of_parts((V, mask[:, :4]), (T, mask[:, 4:]))
    return Case(transformers.DebertaV2Model(config), {"input_ids": words(9), "attention_mask": mask}, labels, 2)


def visual_bert() -> Case:
    model = transformers.VisualBertModel(transformers.VisualBertConfig(**SMALL, visual_embedding_dim=6))
    inputs = {
        "input_ids": words(5),
        "attention_mask": padded(5),
        "visual_embeds": numbers(BATCH, 4, 6),
        "visual_attention_mask": padded(4, 1),
    }
    return Case(model, inputs, labels_for(model.config, inputs), 2)


def vilt() -> Case:
    model = transformers.ViltModel(transformers.ViltConfig(**SMALL, image_size=16, patch_size=8, max_image_length=-1))
    mask = torch.ones(BATCH, 16, 16, dtype=torch.long)
    mask[1, :, 8:] = 0
    pixels = numbers(BATCH, 3, 16, 16)
    inputs = {"input_ids": words(5), "attention_mask": padded(5), "pixel_values": pixels, "pixel_mask": mask}
    return Case(model, inputs, labels_for(model.config, inputs), 2)


class Lxmert(torch.nn.Module):
    """LXMERT's pooled output and both streams as one tensor."""

    def __init__(self) -> None:
        super().__init__()
        some = {name: value for name, value in SMALL.items() if name != "num_hidden_layers"}
        config = transformers.LxmertConfig(**some, l_layers=1, x_layers=2, r_layers=1, visual_feat_dim=6)
        self.inner = transformers.LxmertModel(config)

    def forward(self, **inputs: Any) -> Any:
        out = self.inner(**inputs)
        both = torch.cat([out.language_output, out.vision_output], 1)
        return transformers.modeling_outputs.BaseModelOutput(last_hidden_state=both)


def lxmert() -> Case:
    model = Lxmert()
    inputs = {
        "input_ids": words(5),
        "attention_mask": padded(5),
        "visual_feats": numbers(BATCH, 4, 6),
        "visual_pos": torch.rand(BATCH, 4, 4),
        "visual_attention_mask": padded(4, 1),
    }
    return Case(model, inputs, labels_for(model.inner.config, inputs), 8)


def t5() -> Case:
    config = transformers.T5Config(
        d_model=16, d_kv=8, d_ff=16, num_layers=2, num_heads=HEADS, vocab_size=40, decoder_start_token_id=0
    )
    mask = padded(9)
    inputs = {"input_ids": words(9), "attention_mask": mask, "decoder_input_ids": words(6)}
    labels = [labels_of_parts((V, mask[:, :4]), (T, mask[:, 4:])), np.full((BATCH, 6), T)]
    return Case(transformers.T5ForConditionalGeneration(config), inputs, labels, 6)


def qwen2_vl() -> Case:
    text = {**SMALL, "num_key_value_heads": 1, "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2]}}
    vision = {"depth": 1, "embed_dim": 16, "num_heads": 2, "hidden_size": 16, "mlp_ratio": 1, "patch_size": 4}
    special = {"image_token_id": 1, "video_token_id": 2, "vision_start_token_id": 3, "vision_end_token_id": 4}
    config = transformers.Qwen2VLConfig(text_config=text, vision_config=vision, **special)
    model = transformers.Qwen2VLForConditionalGeneration(config)
    grid = torch.tensor([[2, 4, 4]] * BATCH)  # 2 times, 16 patches each, merged by 4: 8 tokens
    one = [5, 6, 3, *[2] * 8, 4, 7, 8, 9, 10]
    ids = torch.tensor([one] * BATCH)
    ids[1, -2:] = 11
    inputs = {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "pixel_values_videos": numbers(BATCH * 32, 3 * 2 * 4 * 4),
        "video_grid_thw": grid,
        "mm_token_type_ids": torch.where(ids == 2, 2, 0),
    }
    return Case(model, inputs, labels_for(config, inputs), 2)


def llava_onevision() -> Case:
    vision = {**VISION, "model_type": "siglip_vision_model", "vision_use_head": False}
    config = transformers.LlavaOnevisionConfig(
        text_config={**SMALL, "model_type": "qwen2", "num_key_value_heads": 1},
        vision_config=vision,
        image_token_index=1,
        video_token_index=2,
    )
    model = transformers.LlavaOnevisionForConditionalGeneration(config)
    return llava(model, 2 * 4 + 1)  # 2 frames, 16 patches each, pooled to 4; and the token of a new line


def video_llava() -> Case:
    config = transformers.VideoLlavaConfig(
        text_config={**SMALL, "model_type": "llama", "num_key_value_heads": 1},
        vision_config={**VISION, "model_type": "clip_vision_model"},
        image_token_index=1,
        video_token_index=2,
        vision_feature_layer=-1,
    )
    return llava(
        transformers.VideoLlavaForConditionalGeneration(config), 2 * 17
    )  # a token for each frame, and 16 patches


VISION = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2} | {
    "image_size": 16,
    "patch_size": 4,
}


def llava(model: Any, video: int) -> Case:
    """Two videos of two frames each; the second question is padded on the right."""
    ids = torch.tensor([[5, 6, *[2] * video, 7, 8, 9, 10]] * BATCH)
    ids[1, -2:] = 11
    inputs = {
        "input_ids": ids,
        "attention_mask": padded(ids.shape[1], 1),
        "pixel_values_videos": numbers(BATCH, 2, 3, 16, 16),
    }
    return Case(model, inputs, labels_for(model.config, inputs), 2)


class Own(torch.nn.Module):
    """No model of transformers: attention by `kind`."""

    class SomeAttention(torch.nn.Module):
        def __init__(self, kind: str) -> None:
            super().__init__()
            self.kind, self.inner = kind, torch.nn.Linear(16, 48)

        def forward(self, x: Any) -> Any:
            q, k, v = self.inner(x).view(BATCH, -1, 3, HEADS, 8).permute(2, 0, 3, 1, 4)
            if self.kind == "fused":
                out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            elif self.kind == "folded":
                q, k, v = (one.reshape(BATCH * HEADS, -1, 8) for one in (q, k, v))
                out = ((q @ k.transpose(1, 2) / 3).softmax(dim=-1) @ v).view(BATCH, HEADS, -1, 8)
            else:
                powers = (q @ k.transpose(-1, -2)).exp()
                out = powers / powers.sum(-1, keepdim=True) @ v
            return out.transpose(1, 2).reshape(BATCH, -1, 16)

    def __init__(self, kind: str) -> None:
        super().__init__()
        if kind == "torch":
            layer = torch.nn.TransformerEncoderLayer(16, HEADS, 16, batch_first=True)
            self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        else:
            self.layers = torch.nn.Sequential(self.SomeAttention(kind), self.SomeAttention(kind))
        self.router = torch.nn.Linear(16, 9)

    def forward(self, x: Any) -> Any:
        out = self.layers(x)
        routed = torch.softmax(self.router(out), -1)  # its axes match by luck
        return transformers.modeling_outputs.BaseModelOutput(last_hidden_state=out + routed.sum(-1, keepdim=True))


def own(kind: str) -> Case:
    return Case(Own(kind), {"x": numbers(BATCH, 9, 16)}, [V] * 4 + [T] * 5, 2)


CASES: dict[str, Callable[[], Case]] = {
    **{make.__name__: make for make in (bert, distilbert, deberta, visual_bert, vilt, lxmert, t5)},
    **{make.__name__: make for make in (qwen2_vl, llava_onevision, video_llava)},
    **{f"own {kind}": (lambda kind=kind: own(kind)) for kind in ("fused", "folded", "torch")},
}


@cache
def case(name: str) -> Case:
    with torch.random.fork_rng():
        torch.random.default_generator.manual_seed(0)
        made = CASES[name]()
        made.model.eval()
        with torch.no_grad():
            for parameter in made.model.parameters():  # attention far from uniform
                if parameter.ndim > 1:
                    parameter.normal_(0, 0.6)
    return made


@pytest.fixture(params=CASES)
def probed(request: pytest.FixtureRequest) -> Case:
    return case(request.param)


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What every intercepted softmax was given and gave."""
    from stressreel.evaluation.probes import interception

    found: list[tuple[Any, ...]] = []
    call = interception.Operation.__call__

    def noting(self: Any, scores: Any, weights: Any, grid: Any, tally: Any) -> Any:
        after = call(self, scores, weights, grid, tally)
        found.append((scores, weights, after, grid))
        return after

    monkeypatch.setattr(interception.Operation, "__call__", noting)
    return found


@pytest.mark.parametrize("operator", ["average", "knockout", "merge"])
def test_every_map_is_that_of_the_reference(probed: Case, captured: list[Any], operator: str) -> None:
    plain = probed.run()
    assert torch.equal(plain, probed.run())
    moving = 0
    for quadrants in ("unimodal", "crossmodal", "video", "text", "all"):
        captured.clear()
        out, report = probed.probe(quadrants, operator=operator)
        assert len(report.layers) == probed.count
        assert all(layer.runs == layer.hits > 0 for layer in report.layers)
        assert len(captured) == sum(layer.hits for layer in report.layers)
        for scores, weights, after, grid in captured:
            seen = (scores > torch.finfo(scores.dtype).min / 2).numpy()
            rows, columns = grid.asking[..., 0].numpy(), grid.asked[..., 0, :].numpy()
            expected = short_circuit(weights.numpy(), rows, columns, quadrants, seen, operator)
            assert np.abs(after.numpy() - expected).max() < 1e-5
        moved = float((out - plain).abs().max())
        assert (moved > 1e-6) == (report.moved > 0), (quadrants, moved, report)
        moving += moved > 1e-4
    assert moving >= (3 if operator == "average" else 1)
    assert torch.equal(plain, probed.run())


def test_with_one_modality_crossmodal_moves_nothing(probed: Case) -> None:
    from stressreel.evaluation.probes.interception import attention_of_transformers

    streams = probed.labels if isinstance(probed.labels, list) and not isinstance(probed.labels[0], int) else None
    same = [np.full_like(one, T) for one in streams] if streams else np.full_like(np.asarray(probed.labels), T)
    with attention_of_transformers(probed.model, "eager"):
        before = probed.run()
    if isinstance(probed.model, Own):  # which has no eager attention of its own
        before, _ = probed.probe("crossmodal", modality=np.zeros(9, int))
    for operator in ("average", "knockout", "merge"):
        out, report = probed.probe("crossmodal", modality=same, operator=operator)
        assert torch.equal(out, before)
        assert report.moved == 0


def test_the_attention_that_a_model_had_comes_back() -> None:
    for name in ("bert", "t5", "qwen2_vl"):
        model = case(name).model
        configs = [model.config, *(getattr(model.config, key) for key in model.config.sub_configs)]
        before = [config._attn_implementation for config in configs]
        assert "sdpa" in before
        hooks = sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())
        with pytest.raises(ZeroDivisionError), quag(model, "video", modality=case(name).labels):
            _ = 1 / (model.config._attn_implementation != "eager")
        assert [config._attn_implementation for config in configs] == before
        assert hooks == sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())


def test_eager_within_changes_nothing_by_itself() -> None:
    for name in ("bert", "t5", "qwen2_vl", "own fused"):
        one = case(name)
        blank = [np.zeros_like(each) for each in one.labels] if name == "t5" else np.zeros_like(np.asarray(one.labels))
        out, report = one.probe("all", modality=blank)
        assert float((out - one.run()).abs().max()) < 1e-4
        assert [layer.quadrants for layer in report.layers] == [{}] * one.count


@pytest.mark.parametrize(("name", "video"), [("llava_onevision", 9), ("video_llava", 34)])
def test_labels_and_layers_of_llava(name: str, video: int) -> None:
    one = case(name)
    expected = [T, T, *[V] * video, T, T, T, T]
    assert one.labels.tolist() == [expected, [*expected[:-1], 0]]
    _, report = one.probe("crossmodal")
    assert all("language_model" in layer.name for layer in report.layers)
    assert report.layers[0].quadrants["TV"].before > 0.01
    assert report.layers[0].quadrants["VT"].rows > 0  # video queries see the text before them


def test_only_fusion_is_asked_for() -> None:
    """Qwen2-VL's vision encoder has attention, too, and is reached by name."""
    one = case("qwen2_vl")
    _, report = one.probe("crossmodal")
    assert all("language_model" in layer.name for layer in report.layers)
    with pytest.raises(ProbeError, match=r"visual.blocks.0.attn \(0 of 1 runs\).*shapes.*labels \(2, 16\)"):
        one.probe("crossmodal", layers="*visual*")


def test_the_report_shows_an_empty_operation() -> None:
    """In a causal decoder, video queries see the text before them, never that behind."""
    one = case("qwen2_vl")
    _, report = one.probe("crossmodal")
    layer = report.layers[0]
    labels = one.labels[0]
    assert layer.quadrants["TV"].rows == pytest.approx((labels[3:] == T).sum() / len(labels), abs=0.1)
    sums = sum(share.before for share in layer.quadrants.values())
    assert sums == pytest.approx(1, abs=1e-5)
    for share in layer.quadrants.values():
        assert share.before == pytest.approx(share.after, abs=1e-5)
    behind = np.array([V] * 11 + [T] * 5)
    _, report = one.probe("VT", modality=behind)
    assert report.moved == 0
    assert report.layers[0].quadrants["VT"].rows == 0
    _, report = one.probe("VT", modality=behind, operator="knockout")
    assert report.moved == 0
    assert "VT 0.0% → 0.0% in 0% of rows" in str(report)


def test_knockout_moves_the_mass_and_counts_emptied_rows() -> None:
    _, report = case("bert").probe("crossmodal", operator="knockout")
    for layer in report.layers:
        assert layer.quadrants["VT"].after == layer.quadrants["TV"].after == 0
        assert layer.quadrants["VT"].before > 0.01
        assert layer.emptied == 0
    out, report = case("lxmert").probe("crossmodal", operator="knockout", layers="*visual_attention*")
    assert torch.isfinite(out).all()
    assert all(layer.emptied for layer in report.layers)
    assert [layer.runs for layer in report.layers] == [2, 2]  # one module, both ways


def test_heads_and_layers() -> None:
    one = case("bert")
    plain = one.run()
    first, report = one.probe("all", layers=0)
    assert [layer.name for layer in report.layers] == ["encoder.layer.0.attention.self"]
    named, _ = one.probe("all", layers=["*.layer.0.*"])
    assert torch.equal(first, named)
    assert not torch.equal(first, plain)
    half, _ = one.probe("all", heads=[0])
    both, _ = one.probe("all", heads=[0, 1])
    every, _ = one.probe("all")
    assert torch.equal(both, every)
    assert not torch.equal(half, every)
    for wrong in ({"layers": 2}, {"layers": "decoder*"}, {"heads": [2]}):
        with pytest.raises(UsageError):
            one.probe("all", **wrong)


def test_what_cannot_be_reached_is_refused() -> None:
    with pytest.raises(ProbeError, match="call no softmax that torch shows"):
        own("formula").probe("all")
    with pytest.raises(ProbeError, match="no attention module"), quag(torch.nn.Linear(2, 2), "all", modality=[1]):
        pass
    with pytest.raises(ProbeError, match="did not run"), quag(case("bert").model, "all", modality=[1]):
        pass
    with pytest.raises(ProbeError, match="shapes"):
        case("bert").probe("all", modality=[V, T])
    one = case("t5")
    given = {name: one.inputs[name] for name in ("input_ids", "attention_mask")}
    with (
        pytest.raises(ProbeError, match=r"did not run within the block: decoder\.block"),
        quag(one.model, "all", modality=one.labels),
    ):
        one.model.encoder(**given)


def test_labels_that_fit_nothing_or_too_much_are_refused() -> None:
    one = case("bert")
    for wrong in ([0.5, 1.0], [-1, 2], [[[1]]], []):
        with pytest.raises(InputError, match="labels must be integers"):
            one.probe("all", modality=wrong)
    length = np.asarray(one.labels).shape[1]
    streams = [np.full(length, V), np.full(length, T)]
    with pytest.raises(UsageError, match="say which is which"):
        one.probe("all", modality=streams)
    found, _ = one.probe("all", modality={"*.0.*": (one.labels, one.labels), "*": one.labels})
    assert torch.equal(found, one.probe("all")[0])
    with pytest.raises(UsageError, match="do not nest"), quag(one.model, "all", modality=one.labels):
        one.probe("all")


def test_generation_labels_new_tokens() -> None:
    one = case("qwen2_vl")
    options = {"max_new_tokens": 3, "do_sample": False, "pad_token_id": 0}
    ids = one.inputs["input_ids"]
    with torch.no_grad():
        with quag(one.model, "video", modality=one.labels) as report:
            found = one.model.generate(**one.inputs, **options)
        assert found.shape[1] == ids.shape[1] + 3
        assert [(layer.runs, layer.hits) for layer in report.layers] == [(3, 3)] * 2
        with (
            pytest.raises(ProbeError, match="1 of 3 runs"),
            quag(one.model, "video", modality=one.labels, generated=None),
        ):
            one.model.generate(**one.inputs, **options)


def test_gradients_flow() -> None:
    one = case("own torch")
    x = one.inputs["x"].clone().requires_grad_()
    with quag(one.model, "crossmodal", modality=one.labels):
        one.model(x).last_hidden_state.sum().backward()
    assert float(x.grad.abs().max()) > 0


def test_half_precision_is_computed_in_single() -> None:
    one = case("bert")
    half = transformers.BertModel(one.model.config).eval().to(torch.bfloat16)
    half.load_state_dict(one.model.state_dict())
    with torch.no_grad(), quag(half, "all", modality=one.labels):
        out = half(**one.inputs).last_hidden_state
    assert out.dtype == torch.bfloat16
    assert float((out.float() - one.probe("all")[0]).abs().mean()) < 0.05


@pytest.mark.parametrize("quadrants", ["video", "text", "all"])
def test_quag_attention_that_saves_work_has_the_numbers_of_merge(probed: Case, quadrants: str) -> None:
    expected, _ = probed.probe(quadrants, operator="merge")
    out, report = probed.probe(quadrants, operator="merge", save_work=True)
    mask = probed.inputs.get("attention_mask")
    kept = slice(None) if mask is None or mask.shape != out.shape[:2] else mask != 0
    assert float((out - expected)[kept].abs().max()) < 2e-4
    saving = probed.model.__class__.__name__ in ("BertModel", "DistilBertModel")
    assert [layer.saved for layer in report.layers] == [saving] * probed.count


def test_quag_attention_falls_back_where_keys_cannot_be_merged() -> None:
    one = case("bert")
    for options in ({"quadrants": "unimodal"}, {"quadrants": "video", "heads": [0]}):
        expected, _ = one.probe(**options, operator="merge")
        out, report = one.probe(**options, operator="merge", save_work=True)
        assert torch.allclose(out, expected, atol=1e-5)
        assert not any(layer.saved for layer in report.layers)
    assert one.model.config._attn_implementation == "sdpa"
    with pytest.raises(UsageError, match='operator="merge"'):
        one.probe("video", save_work=True)
