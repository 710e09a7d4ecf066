from collections import Counter
from dataclasses import replace

import pytest
from stressreel.annotations.captions import CaptionedClip
from stressreel.builders.perturbed.prepare import estimate_suite, plan_perturbed
from stressreel.builders.perturbed.render import PerturbedBuilder
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.builders.runtime.build import RunSettings, check_skips
from stressreel.core.errors import BuildError
from stressreel.core.plan import Skip
from stressreel.corruptions.registry import visual_corruptions

JPEG = PerturbedSettings(perturbations=("jpeg", "freeze"), severity=(2, 4))


def clip(name, source, *span, captions=("a dog runs",)):
    return CaptionedClip(name, source, *(span or (None, None)), captions, "test")


def plan(**fields):
    clips = [clip("v", "v", captions=("a dog runs", "a cat sits")), clip("w", "w")]
    return plan_perturbed(clips, PerturbedSettings(**{"perturbations": (), "severity": (3,)} | fields))


def test_pair_has_row_for_each_caption():
    pairs = ("jpeg:typos", "jpeg:ocr", "freeze:ocr")
    planned = plan(perturbations=("jpeg", "freeze"), text_perturbations=("typos", "ocr"), pairs=pairs)
    assert [config.name for config in planned.configs] == ["clean", "jpeg", "freeze", "typos", "ocr", "multimodal"]
    builder = PerturbedBuilder(PerturbedSettings(severity=(3,), render=False, pairs=pairs))
    built = [row for u in planned.units if u.source_id for name, row in builder.rows(u, {}) if name == "multimodal"]
    assert Counter(row["perturbation"] for row in built) == dict.fromkeys(pairs, 3)
    assert all(row["perturbation"] == f"{row['visual']}:{row['text']}" and row["severity"] == 3 for row in built)
    assert {row["caption_id"] for row in built if row["clip_id"] == "v"} == {"v#0", "v#1"}


def test_hash_covers_settings_of_captions():
    chosen = {"text_perturbations": ("typos", "all_male")}
    others = [{"caption_style": "auto"}, {"text_mode": "released"}, {"seed": 1}, {"text_perturbations": ("typos",)}]
    assert len({plan(**chosen | other).hash for other in [{}, *others]}) == 5


def test_share_of_skips_counts_each_clip_once():
    cut = [clip(f"c{number}", f"v{number // 3}", number, number + 1.0) for number in range(6)]
    planned = plan_perturbed(cut, PerturbedSettings(perturbations=("jpeg", "jumble")))
    short = [Skip(name, "v0", "too_short", "", "part") for name in ("c0", "c1")]
    check_skips(planned, short, RunSettings(max_skip=0.34))
    with pytest.raises(BuildError, match=r"2 of 6 clips \(33.3%\)"):
        check_skips(planned, short, RunSettings(max_skip=0.33))
    with pytest.raises(BuildError, match=r"4 of 6 clips \(66.7%\)"):
        check_skips(planned, [short[0], Skip("v1.jpeg", "v1", "undecodable", ""), short[0]], RunSettings(max_skip=0.3))


def test_longest_units_start_first():
    clips = [clip("a_0", "a", 0.0, 10.0), clip("a_1", "a", 20.0, 25.0), clip("b_0", "b", 5.0, 95.0)]
    settings = PerturbedSettings(perturbations=("gaussian_noise", "freeze"))
    costs = {unit.id: unit.cost for unit in plan_perturbed(clips, settings).units}
    assert sorted(costs, key=lambda name: -costs[name]) == [
        "b.gaussian_noise", "a.gaussian_noise", "b.freeze", "b.clean", "a.freeze", "a.clean"
    ]  # fmt: skip
    assert costs["b.freeze"] == pytest.approx(6 * costs["a.freeze"])
    assert costs["a.freeze"] > 0
    assert [unit.cost for unit in plan_perturbed([clip("a", "a")], settings).units] == [0.0]


def estimate(count, settings, *span):
    clips = [clip(f"c{number}", f"v{number}", *span) for number in range(count)]
    return estimate_suite(plan_perturbed(clips, settings), settings, {}, workers=2)


def test_msrvtt_estimate_without_videos():
    suite = estimate(1000, PerturbedSettings(perturbations=tuple(visual_corruptions())))
    assert 100e9 < suite.size_bytes < 200e9
    assert suite.peak_disk_bytes == suite.size_bytes + 500e6
    assert "76,800 pixels" in suite.basis
    assert len(suite.parts) == 1 + 5 * len(visual_corruptions())


def test_estimate_grows_with_count_and_quality():
    usual = estimate(10, JPEG)
    levels = [("clean", 0), ("jpeg", 2), ("jpeg", 4), ("freeze", 2), ("freeze", 4)]
    assert [(part.table, part.severity) for part in usual.parts] == levels
    assert estimate(20, JPEG).size_bytes == pytest.approx(2 * usual.size_bytes)
    assert estimate(10, replace(JPEG, crf=17)).size_bytes == pytest.approx(2 * usual.size_bytes, rel=0.05)
    assert estimate(10, replace(JPEG, preset="slow")).cpu_seconds > 2 * usual.cpu_seconds
    assert estimate(10, replace(JPEG, lossless=True)).size_bytes > 15 * usual.size_bytes
    long = estimate(10, JPEG, 0.0, 15.0)  # sources of 316 s do not fit into memory
    assert long.peak_disk_bytes == pytest.approx(2 * long.size_bytes + 2 * 230_400 * 9480 * 1.5)
