from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from commands import rows, run
from stressreel.annotations.captions import CaptionedClip
from stressreel.builders.perturbed.estimate import affordable, estimate_suite, factors, probed_severities
from stressreel.builders.perturbed.plan import plan_perturbed
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.corruptions.registry import SEVERITIES, list_corruptions, visual_corruptions
from stressreel.video.encode import EncodeSettings
from stressreel.video.estimate import Estimate

ALL = tuple(visual_corruptions())
NOISE = ("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise")


def clips_of(count: int, span: tuple[float, float] | None = None) -> list[CaptionedClip]:
    start, end = span or (None, None)
    return [
        CaptionedClip(id=f"c{n}", source_id=f"v{n}", split="test", captions=("x",), start_s=start, end_s=end)
        for n in range(count)
    ]


def estimate(count: int, settings: PerturbedSettings, **sources: Path) -> Estimate:
    return estimate_suite(plan_perturbed(clips_of(count), settings), settings, sources, workers=2)


class TestTable:
    def test_every_perturbation_has_factors(self) -> None:
        assert list(factors()) == list(ALL)
        for name, row in factors().items():
            assert len(row.later) == len(row.encode_ns) == len(row.perturb_ns) == len(SEVERITIES), name
            assert min(*row.later, row.key, *row.encode_ns, row.stretch) > 0, name
            assert 0 <= row.contents <= 1, name

    def test_noise_does_not_compress(self) -> None:
        for name in NOISE:
            assert list(factors()[name].later) == sorted(factors()[name].later)
            assert factors()[name].later[4] > 20 * factors()["defocus_blur"].later[4]
            assert factors()[name].contents < 0.2


class TestWithoutVideos:
    """What is said from the table alone."""

    def test_the_suite_of_msrvtt(self) -> None:
        found = estimate(1000, PerturbedSettings(perturbations=ALL))
        assert 100e9 < found.total.size < 200e9
        assert found.disk == pytest.approx(found.total.size + 0.5e9)
        assert "without the videos: assumed are 320x240" in found.basis
        assert len(found.parts) == 91

    def test_parts_add_up(self) -> None:
        both = estimate(10, PerturbedSettings(perturbations=("jpeg", "freeze"), severities=(2, 4)))
        assert set(both.parts) == {("clean", 0), ("jpeg", 2), ("jpeg", 4), ("freeze", 2), ("freeze", 4)}
        twice = estimate(20, PerturbedSettings(perturbations=("jpeg", "freeze"), severities=(2, 4)))
        for part, cost in both.parts.items():
            assert twice.parts[part].size == pytest.approx(2 * cost.size)

    def test_crf_preset_and_lossless(self) -> None:
        settings = PerturbedSettings(perturbations=("jpeg",))
        usual = estimate(10, settings).total
        assert estimate(10, replace(settings, crf=17)).total.size == pytest.approx(2 * usual.size, rel=0.05)
        assert estimate(10, replace(settings, preset="slow")).total.cpu_s > 2 * usual.cpu_s
        assert estimate(10, replace(settings, lossless=True)).total.size > 20 * usual.size

    def test_parts_of_sources(self) -> None:
        settings = PerturbedSettings(perturbations=("mpeg1", "jpeg"))
        plan = plan_perturbed(clips_of(10, (2, 4)), settings)
        whole = estimate_suite(plan, settings, {}, workers=1)
        first = replace(settings, clip_first=True)
        cut = estimate_suite(plan_perturbed(clips_of(10, (2, 4)), first), first, {}, workers=1)
        assert whole.seconds == pytest.approx(10 * 2 * 11)
        assert whole.total.size == pytest.approx(cut.total.size)
        assert whole.parts["mpeg1", 1].cpu_s > 1.5 * cut.parts["mpeg1", 1].cpu_s  # the whole source passes the codec
        assert whole.parts["jpeg", 1].cpu_s == pytest.approx(cut.parts["jpeg", 1].cpu_s)
        assert whole.fixed.cpu_s > cut.fixed.cpu_s  # and is decoded


class TestProbe:
    def test_severities(self) -> None:
        settings = PerturbedSettings()
        assert probed_severities(settings) == (3,)
        assert probed_severities(replace(settings, severities=(5,))) == (5,)
        assert probed_severities(replace(settings, lossless=True)) == (1, 3, 5)
        assert probed_severities(replace(settings, crf=35, severities=(2, 3))) == (2, 3)

    def test_larger_pictures_get_fewer_stretches(self) -> None:
        shown = [c for c in list_corruptions() if c.scope != "index"]
        small, large = (affordable(area, shown, (3,), EncodeSettings()) for area in (320 * 240, 1280 * 720))
        assert small > 5 * large
        assert large == 1

    def test_sizes_do_not_depend_on_the_machine(self, msrvtt: Path) -> None:
        sources = {f"v{n}": path for n, path in enumerate(sorted((msrvtt / "videos" / "all").glob("*.mp4")))}
        settings = PerturbedSettings(perturbations=("jpeg", "freeze"), severities=(1, 3))
        once, again = (estimate(len(sources), settings, **sources) for _ in range(2))
        assert [cost.size for cost in once.parts.values()] == [cost.size for cost in again.parts.values()]

    @pytest.mark.parametrize(("more", "within"), [((), 0.3), (("--crf", 30), 0.35), (("--lossless",), 0.35)])
    def test_what_comes_out_of_the_sample(
        self, msrvtt: Path, tmp_path: Path, more: tuple[object, ...], within: float
    ) -> None:
        """Drawn clips: flat and moving smoothly, so unlike those the factors were measured on."""
        names = "gaussian_noise,defocus_blur,mpeg2"
        given = ("--msrvtt", msrvtt, "--perturbations", names, "--severity", "1,4", "--limit", 1, *more)
        done = run("build-perturbed", *given, "--out", tmp_path / "o", "--no-progress")
        assert done.code == 0, done.err
        real = {
            name: sum(len(row["video"]["bytes"]) for row in rows(tmp_path / "o", name)) for name in names.split(",")
        }
        settings = PerturbedSettings(
            perturbations=tuple(names.split(",")),
            severities=(1, 4),
            crf=30 if "--crf" in more else 23,
            lossless="--lossless" in more,
        )
        videos = sorted((msrvtt / "videos" / "all").glob("*.mp4"))[:1]
        found = estimate(1, settings, **{f"v{n}": path for n, path in enumerate(videos)})
        whole = sum(cost.size for (name, _), cost in found.parts.items() if name in real)
        assert whole == pytest.approx(sum(real.values()), rel=within)


@pytest.mark.shared
def test_what_comes_out_of_a_real_clip(shared: Path, tmp_path: Path) -> None:
    """A clip that the factors were not measured on, under one perturbation of each kind."""
    names = ("shot_noise", "motion_blur", "static_rotate", "mpeg1", "jumble")
    video = shared / "videos" / "msrvtt" / "video9771.mp4"
    (tmp_path / "c.csv").write_text("video,caption,start,end\nvideo9771,x,0,5\n")
    given = ("--captions", tmp_path / "c.csv", "--videos", video.parent, "--perturbations", ",".join(names))
    assert run("build-perturbed", *given, "--severity", "5", "--out", tmp_path / "o", "--no-progress").code == 0
    settings = PerturbedSettings(perturbations=names, severities=(5,))
    found = estimate_suite(plan_perturbed(clips_of(1, (0, 5)), settings), settings, {"v0": video}, workers=2)
    for name in names:
        real = sum(len(row["video"]["bytes"]) for row in rows(tmp_path / "o", name))
        said = sum(cost.size for (table, _), cost in found.parts.items() if table == name)
        assert said == pytest.approx(real, rel=0.3), name
