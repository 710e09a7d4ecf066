from dataclasses import replace

import pytest
from commands import rows, run
from stressreel.annotations.captions import CaptionedClip
from stressreel.builders.perturbed.prepare import estimate_suite, plan_perturbed
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.corruptions.registry import visual_corruptions

JPEG = PerturbedSettings(perturbations=("jpeg", "freeze"), severity=(2, 4))


def estimate(count, settings, span=(None, None), **sources):
    clips = [CaptionedClip(f"c{n}", f"v{n}", *span, ("x",), "test") for n in range(count)]
    return estimate_suite(plan_perturbed(clips, settings), settings, sources, workers=2)


def test_msrvtt_suite_without_videos():
    suite = estimate(1000, PerturbedSettings(perturbations=tuple(visual_corruptions())))
    assert 100e9 < suite.size_bytes < 200e9
    assert suite.peak_disk_bytes == suite.size_bytes + 500e6
    assert "without the videos, assuming 76,800 pixels" in suite.basis
    assert len(suite.parts) == 91


def test_size_by_number_crf_preset_and_lossless():
    usual = estimate(10, JPEG)
    levels = [("clean", 0), ("jpeg", 2), ("jpeg", 4), ("freeze", 2), ("freeze", 4)]
    assert [(part.table, part.severity) for part in usual.parts] == levels
    assert estimate(20, JPEG).size_bytes == pytest.approx(2 * usual.size_bytes)
    assert estimate(10, replace(JPEG, crf=17)).size_bytes == pytest.approx(2 * usual.size_bytes, rel=0.05)
    assert estimate(10, replace(JPEG, preset="slow")).cpu_seconds > 2 * usual.cpu_seconds
    assert estimate(10, replace(JPEG, lossless=True)).size_bytes > 15 * usual.size_bytes
    long = estimate(10, JPEG, span=(0.0, 15.0))  # sources of 316 s do not fit into memory
    assert long.peak_disk_bytes == pytest.approx(2 * long.size_bytes + 2 * 230_400 * 9480 * 1.5)


def test_estimate_is_within_30_percent(msrvtt, tmp_path):
    """Drawn clips: flat and moving smoothly, so unlike those on which the factors were measured."""
    names = ("gaussian_noise", "defocus_blur", "mpeg2")
    options = ("--msrvtt", msrvtt, "--perturbations", ",".join(names), "--severity", "1,4", "--limit", 1)
    assert run("build-perturbed", *options, "--out", tmp_path / "o", "--no-progress").code == 0
    settings = PerturbedSettings(perturbations=names, severity=(1, 4))
    suite = estimate(1, settings, v0=min((msrvtt / "videos" / "all").glob("*.mp4")))
    for name in ("clean", *names):
        real = sum(len(row["video"]["bytes"]) for row in rows(tmp_path / "o", name))
        assert sum(part.size_bytes for part in suite.parts if part.table == name) == pytest.approx(real, rel=0.3)
