from typing import Any

import numpy as np
import pytest
from stressreel.core.errors import InputError, ProbeError, UsageError
from stressreel.evaluation.probes import TEXT, VIDEO, quag, short_circuit

torch = pytest.importorskip("torch", reason="QUAG needs torch: pip install 'stressreel[probes]'")
transformers = pytest.importorskip("transformers", reason="these models are transformers': install stressreel[probes]")
from fusion_models import CASES, case, own  # noqa: E402
from stressreel.evaluation.probes import interception  # noqa: E402

V, T = VIDEO, TEXT
QUICK = ("bert", "lxmert", "qwen2_vl", "own folded", "own torch")


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What every intercepted softmax was given and gave."""
    found: list[tuple[Any, ...]] = []
    call = interception.Operation.__call__

    def noting(self: Any, scores: Any, weights: Any, grid: Any, tally: Any) -> Any:
        found.append((scores, weights, after := call(self, scores, weights, grid, tally), grid))
        return after

    monkeypatch.setattr(interception.Operation, "__call__", noting)
    return found


@pytest.mark.parametrize("operator", ["average", "knockout", "merge"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.full) for name in CASES]
)
def test_every_map_equals_the_reference(name: str, captured: list[Any], operator: str) -> None:
    one = case(name)
    plain, moving = one.run(), 0
    for quadrants in ("unimodal", "crossmodal", "text"):
        captured.clear()
        out, report = one.probe(quadrants, operator=operator)
        assert len(report.layers) == one.count
        assert all(layer.runs == layer.hits > 0 for layer in report.layers)
        assert len(captured) == sum(layer.hits for layer in report.layers)
        for scores, weights, after, grid in captured:
            seen = (scores > torch.finfo(scores.dtype).min / 2).numpy()
            rows, columns = grid.queries[..., 0].numpy(), grid.keys[..., 0, :].numpy()
            expected = short_circuit(weights.numpy(), rows, columns, quadrants, seen, operator)
            assert np.abs(after.numpy() - expected).max() < 1e-5
        moved = float((out - plain).abs().max())
        assert (moved > 1e-6) == (report.moved > 0), (quadrants, moved, report)
        moving += moved > 1e-4
    assert moving >= (2 if operator == "average" else 1)
    assert torch.equal(plain, one.run())


def test_only_fusion_layers_are_probed_by_default() -> None:
    """Qwen2-VL's vision encoder has attention, too, and is reached by name. Its decoder is causal."""
    one = case("qwen2_vl")
    _, report = one.probe("crossmodal")
    assert all("language_model" in layer.name for layer in report.layers)
    with pytest.raises(ProbeError, match=r"visual.blocks.0.attn \(0 of 1 runs\).*shapes.*labels \(2, 16\)"):
        one.probe("crossmodal", layers="*visual*")
    shares, labels = report.layers[0].quadrants, one.labels[0]
    assert shares["TV"].rows == pytest.approx((labels[3:] == T).sum() / len(labels), abs=0.1)
    assert sum(share.before for share in shares.values()) == pytest.approx(1, abs=1e-5)
    assert [share.before for share in shares.values()] == pytest.approx([share.after for share in shares.values()])
    _, report = one.probe("VT", modality=np.array([V] * 11 + [T] * 5))  # the text comes behind
    assert (report.moved, report.layers[0].quadrants["VT"].rows) == (0, 0)


def test_knockout_removes_mass_and_counts_emptied_rows() -> None:
    _, report = case("bert").probe("crossmodal", operator="knockout")
    for layer in report.layers:
        assert layer.quadrants["VT"].after == layer.quadrants["TV"].after == layer.emptied == 0
        assert layer.quadrants["VT"].before > 0.01
    out, report = case("lxmert").probe("crossmodal", operator="knockout", layers="*visual_attention*")
    assert torch.isfinite(out).all()
    assert all(layer.emptied for layer in report.layers)
    assert [layer.runs for layer in report.layers] == [2, 2]  # one module, both ways


def test_heads_layers_and_labels_are_selected() -> None:
    one = case("bert")
    first, report = one.probe("all", layers=0)
    assert [layer.name for layer in report.layers] == ["encoder.layer.0.attention.self"]
    assert torch.equal(first, one.probe("all", layers=["*.layer.0.*"])[0])
    half, both, every = (one.probe("all", heads=heads)[0] for heads in ([0], [0, 1], None))
    assert torch.equal(both, every)
    assert not torch.equal(half, every)
    mapped, _ = one.probe("all", modality={"*.0.*": (one.labels, one.labels), "*": one.labels})
    assert torch.equal(mapped, every)
    for wrong in ({"layers": 2}, {"layers": "decoder*"}, {"heads": [2]}, {"modality": [np.full(9, V), np.full(9, T)]}):
        with pytest.raises(UsageError):
            one.probe("all", **wrong)
    for labels in ([0.5, 1.0], [-1, 2], [[[1]]], []):
        with pytest.raises(InputError, match="labels must be non-negative integers"):
            one.probe("all", modality=labels)
    with pytest.raises(UsageError, match="cannot be nested"), quag(one.model, "all", modality=one.labels):
        one.probe("all")


def test_unreached_layers_raise_an_error() -> None:
    bert, t5 = case("bert"), case("t5")
    for probed, labels, run, says in (
        (own("formula").model, [1], own("formula").run, "did not run"),
        (bert.model, [V, T], bert.run, "shapes"),
        (t5.model, t5.labels, lambda: t5.model.encoder(t5.inputs["input_ids"]), r"block: decoder\.block"),
        (torch.nn.Linear(2, 2), [1], bert.run, "no attention module"),
    ):
        with pytest.raises(ProbeError, match=says), quag(probed, "all", modality=labels):
            run()
    with pytest.raises(ProbeError, match="call no softmax that torch exposes"):
        own("formula").probe("all")


def test_generation_labels_new_tokens(captured: list[Any]) -> None:
    one = case("qwen2_vl")
    options = {"max_new_tokens": 3, "do_sample": False, "pad_token_id": 0}
    with torch.no_grad():
        with quag(one.model, "video", modality=one.labels, generated=V) as report:  # the first token is text
            one.model.generate(**one.inputs, **options)
        assert [(layer.runs, layer.hits) for layer in report.layers] == [(3, 3)] * 2
        last = captured[-1][-1]
        assert last.queries.flatten().tolist() == [V] * 2  # the last new token of both items
        assert last.keys.flatten().tolist() == [*one.labels[0], V, V, *one.labels[1], V, V]
        unlabelled = quag(one.model, "all", modality=one.labels, generated=None)
        with pytest.raises(ProbeError, match="1 of 3 runs"), unlabelled:
            one.model.generate(**one.inputs, **options)


def test_half_precision_works() -> None:
    one = case("bert")
    half = transformers.BertModel(one.model.config).eval().to(torch.bfloat16)
    half.load_state_dict(one.model.state_dict())
    with torch.no_grad(), quag(half, "all", modality=one.labels):
        out = half(**one.inputs).last_hidden_state
    assert out.dtype == torch.bfloat16
    assert float((out.float() - one.probe("all")[0]).abs().mean()) < 0.05
