from dataclasses import replace

import pytest
from commands import rows, run
from stressreel.annotations.captions import CaptionedClip
from stressreel.builders.perturbed.estimate import estimate_suite
from stressreel.builders.perturbed.plan import plan_perturbed
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.corruptions.registry import visual_corruptions

ALL = tuple(visual_corruptions())
JPEG = PerturbedSettings(perturbations=("jpeg", "freeze"), severity=(2, 4))


def estimate(count, settings, span=(None, None), **sources):
    clips = [CaptionedClip(f"c{n}", f"v{n}", *span, ("x",), "test") for n in range(count)]
    return estimate_suite(plan_perturbed(clips, settings), settings, sources, workers=2)


def test_the_suite_of_msrvtt_from_the_table_alone():
    found = estimate(1000, PerturbedSettings(perturbations=ALL))
    assert 100e9 < found.total.size < 200e9
    assert found.disk == pytest.approx(found.total.size + 0.5e9)
    assert "without the videos, assuming 320x240" in found.basis
    assert len(found.parts) == 91


def test_what_the_options_change():
    usual = estimate(10, JPEG)
    assert set(usual.parts) == {("clean", 0), ("jpeg", 2), ("jpeg", 4), ("freeze", 2), ("freeze", 4)}
    twice = estimate(20, JPEG)
    assert all(twice.parts[part].size == pytest.approx(2 * cost.size) for part, cost in usual.parts.items())
    assert estimate(10, replace(JPEG, crf=17)).total.size == pytest.approx(2 * usual.total.size, rel=0.05)
    assert estimate(10, replace(JPEG, preset="slow")).total.cpu_s > 2 * usual.total.cpu_s
    assert estimate(10, replace(JPEG, lossless=True)).total.size > 15 * usual.total.size


def test_what_comes_out_of_the_sample(msrvtt, tmp_path):
    """Drawn clips: flat and moving smoothly, so unlike those the factors were measured on."""
    names = ("gaussian_noise", "defocus_blur", "mpeg2")
    given = ("--msrvtt", msrvtt, "--perturbations", ",".join(names), "--severity", "1,4", "--limit", 1)
    assert run("build-perturbed", *given, "--out", tmp_path / "o", "--no-progress").code == 0
    real = sum(len(row["video"]["bytes"]) for name in names for row in rows(tmp_path / "o", name))
    settings = PerturbedSettings(perturbations=names, severity=(1, 4))
    video = min((msrvtt / "videos" / "all").glob("*.mp4"))
    found = estimate(1, settings, v0=video)
    assert sum(cost.size for (name, _), cost in found.parts.items() if name in names) == pytest.approx(real, rel=0.3)
