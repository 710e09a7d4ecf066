from dataclasses import replace

import pytest
from commands import rows, run
from stressreel.annotations.captions import CaptionedClip
from stressreel.builders.perturbed.estimate import estimate_suite, factors
from stressreel.builders.perturbed.plan import plan_perturbed
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.corruptions.registry import SEVERITIES, visual_corruptions

ALL = tuple(visual_corruptions())
NOISE = ("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise")
JPEG = PerturbedSettings(perturbations=("jpeg", "freeze"), severities=(2, 4))


def estimate(count, settings, span=(None, None), **sources):
    clips = [CaptionedClip(f"c{n}", f"v{n}", *span, ("x",), "test") for n in range(count)]
    return estimate_suite(plan_perturbed(clips, settings), settings, sources, workers=2)


def test_every_perturbation_has_factors():
    assert list(factors()) == list(ALL)
    for row in factors().values():
        assert len(row.later) == len(row.encode_ns) == len(row.perturb_ns) == len(SEVERITIES)
        assert min(*row.later, row.key, *row.encode_ns) > 0
        assert 0 <= row.contents <= 1
    for row in map(factors().get, NOISE):  # noise does not compress
        assert list(row.later) == sorted(row.later)
        assert row.later[4] > 20 * factors()["defocus_blur"].later[4]


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


def test_parts_of_sources():
    settings = PerturbedSettings(perturbations=("mpeg1", "jpeg"))
    whole, cut = (estimate(10, replace(settings, clip_first=first), (2, 4)) for first in (False, True))
    assert whole.seconds == pytest.approx(10 * 2 * 11)
    assert whole.total.size == pytest.approx(cut.total.size)
    assert whole.parts["mpeg1", 1].cpu_s > 1.5 * cut.parts["mpeg1", 1].cpu_s  # the whole source passes the codec
    assert whole.parts["jpeg", 1].cpu_s == pytest.approx(cut.parts["jpeg", 1].cpu_s)
    assert whole.fixed.cpu_s > cut.fixed.cpu_s  # and is decoded


@pytest.mark.parametrize(
    ("more", "within"),
    [({}, 0.3), *(pytest.param(more, 0.35, marks=pytest.mark.full) for more in ({"crf": 30}, {"lossless": True}))],
)
def test_what_comes_out_of_the_sample(msrvtt, tmp_path, more, within):
    """Drawn clips: flat and moving smoothly, so unlike those the factors were measured on."""
    names = ("gaussian_noise", "defocus_blur", "mpeg2")
    given = ("--msrvtt", msrvtt, "--perturbations", ",".join(names), "--severity", "1,4", "--limit", 1)
    flags = [
        part for name, value in more.items() for part in ((f"--{name}",) if value is True else (f"--{name}", value))
    ]
    assert run("build-perturbed", *given, *flags, "--out", tmp_path / "o", "--no-progress").code == 0
    real = sum(len(row["video"]["bytes"]) for name in names for row in rows(tmp_path / "o", name))
    settings = PerturbedSettings(perturbations=names, severities=(1, 4), **more)
    video = min((msrvtt / "videos" / "all").glob("*.mp4"))
    found = estimate(1, settings, v0=video)
    assert sum(cost.size for (name, _), cost in found.parts.items() if name in names) == pytest.approx(real, rel=within)
