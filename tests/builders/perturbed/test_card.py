from __future__ import annotations

import io
import re
import subprocess
from math import inf, log10

import numpy as np
import pyarrow.parquet as pq
import pytest
import stressreel
import yaml
from cards import fields_not_needed, render_card
from PIL import Image, ImageColor
from stressreel.annotations.captions import CAPTIONS
from stressreel.annotations.msrvtt import MSRVTT, SAMPLE
from stressreel.annotations.youcook2 import YOUCOOK2
from stressreel.builders.perturbed.card import AMONG, FRAMES, decibels, grows, spread
from stressreel.builders.perturbed.figures import BAR, LABEL, MARGIN, perturbed_figures, telling_frame
from stressreel.builders.perturbed.settings import PerturbedSettings, settings_of
from stressreel.builders.perturbed.tables import COLUMNS, VIDEO
from stressreel.core.output import FinishedOutput, open_output
from stressreel.core.source import Source
from stressreel.corruptions.registry import check_name, list_corruptions
from stressreel.corruptions.visual.engine import Recipe
from stressreel.data_cards.plots import GREY
from stressreel.data_cards.sheets import Sheet
from stressreel.video.ffmpeg import find_ffmpeg
from stressreel.video.pyav import to_rgb
from stressreel.video.thumbnails import frames_of

NAMES = ("impulse_noise", "mpeg1", "reverse_sampling", "jumble", "freeze")
SEVERITIES = (1, 3, 5)
FAST = ("--preset", "ultrafast", "--no-progress")


@pytest.fixture(scope="module")
def output(msrvtt, build_once) -> FinishedOutput:
    arguments = ("--perturbations", ",".join(NAMES), "--severity", "1,3,5", "--limit", 2, *FAST)
    return open_output(build_once("build-perturbed", "--msrvtt", msrvtt, *arguments))


@pytest.fixture(scope="module")
def recipes(msrvtt, build_once) -> FinishedOutput:
    """All 18, without videos."""
    return open_output(build_once("build-perturbed", "--msrvtt", msrvtt, "--no-render"))


@pytest.fixture(scope="module")
def parts(two_parts, build_once) -> FinishedOutput:
    """Two parts of one video, without loss."""
    given = ("--captions", two_parts / "c.csv", "--perturbations", "sampling,reverse_sampling,jpeg")
    return open_output(build_once("build-perturbed", *given, "--severity", 4, "--lossless", *FAST))


def card(output) -> str:
    return (output.path / "README.md").read_text(encoding="utf-8")


def head(text: str) -> dict:
    return yaml.safe_load(text.split("---\n")[1])


def section(text: str, title: str) -> str:
    return re.split(r"\n#{2,3} ", text[text.index(f"# {title}\n") :])[0]


def tables(text: str) -> list[list[list[str]]]:
    """All tables, without their rules."""
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    rows = [[line.strip("|").split("|") for line in block.splitlines()] for block in blocks]
    return [[[cell.strip() for cell in row] for row in (block[0], *block[2:])] for block in rows]


def strengths(text: str, title: str) -> dict[str, list[str]]:
    (table,) = tables(section(text, title))
    return {row[0].strip("`"): row[1:] for row in table[1:]}


def rows(output, name: str) -> list[dict]:
    return pq.read_table(next((output.path / name).glob("*.parquet"))).to_pylist()


class TestText:
    def test_it_is_what_the_shards_give_again(self, output, recipes, parts):
        for build in (output, recipes, parts):
            assert card(build) == render_card(build.path, build.info) == render_card(build.path, build.info)
            assert str(build.path) not in card(build)

    @pytest.mark.parametrize("field", ["fingerprint", "command", "tools", "inputs", "tables", "settings", "limit"])
    def test_a_missing_field_is_an_error(self, recipes, field):
        info = {name: value for name, value in recipes.info.items() if name != field}
        with pytest.raises(LookupError):
            render_card(recipes.path, info)

    def test_every_field_of_the_template_is_needed(self, output):
        assert fields_not_needed(output) == []

    def test_the_head_lists_the_shards_that_are_there(self, output):
        configs = head(card(output))["configs"]
        listed = {
            (config["config_name"], entry["split"], path.name)
            for config in configs
            for entry in config["data_files"]
            for path in output.path.glob(entry["path"])
        }
        there = {(path.parent.name, path.name.split("-")[0], path.name) for path in output.path.glob("*/*.parquet")}
        assert listed == there
        assert [config["config_name"] for config in configs] == ["clean", *NAMES]
        assert [config["config_name"] for config in configs if config.get("default")] == ["clean"]

    def test_every_column_is_explained(self, output, recipes):
        for build, columns in ((output, (*COLUMNS, VIDEO)), (recipes, COLUMNS)):
            table = tables(section(card(build), "Tables"))[1]
            assert {row[0]: row[2] for row in table[1:]} == {f"`{c.name}`": c.meaning for c in columns}

    def test_every_perturbation_is_there_with_its_levels(self, recipes):
        levels, origins = tables(section(card(recipes), "Perturbations"))
        corruptions = list_corruptions()
        assert len(levels) == len(origins) == 1 + len(corruptions)
        for corruption, row, origin in zip(corruptions, levels[1:], origins[1:], strict=True):
            assert row[0] == origin[0] == f"`{corruption.name}`"
            assert [row[1], row[3]] == [corruption.family, corruption.unit]
            assert [cell.split(" (")[0] for cell in row[4:]] == [corruption.level(s) for s in range(1, 6)]
            assert origin[1:] == [corruption.source, corruption.differs, corruption.grows or "yes"]
        assert {row[0]: row[5] for row in levels}["`mpeg1`"] == "40"

    def test_rows_are_counted(self, output):
        table = tables(section(card(output), "Tables"))[0]
        assert table[0] == ["config", "test", "all", ""]
        assert [row[1:3] for row in table[1:]] == [["2", "2"]] + [["6", "6"]] * len(NAMES)

    def test_how_it_was_made(self, output, recipes, parts):
        text = card(output)
        assert output.info["command"] in text
        assert output.info["fingerprint"] in text
        assert "--limit 2" in text
        assert "CRF 23, preset ultrafast" in text
        assert "A clip is a whole file" in text
        assert "A draw for each frame: `impulse_noise`.\n" in text
        assert "One draw for the clip: `jumble`, `freeze`.\n" in text
        assert "Nothing is drawn: `mpeg1`, `reverse_sampling`.\n" in text
        assert 'load_dataset("OUT", "impulse_noise", split="test")  # 6 rows, 3 for each clip' in text
        assert "The whole source is perturbed and then cut" in card(parts)
        assert "without loss" in card(parts)
        assert "`--limit" not in card(recipes)
        assert 'stressreel.load("OUT", "gaussian_noise", videos="DIR", severity=3)' in card(recipes)

    def test_cut_first(self, parts):
        info = parts.info | {"settings": parts.info["settings"] | {"clip_first": True}}
        text = render_card(parts.path, info)
        assert "cut out before it is perturbed" in text
        assert "those of the frames shown, orange" in text
        assert "those of the frames shown, in the source, orange" in card(parts)

    def test_skips_and_notes(self, recipes):
        skips = {"count": 3, "by_reason": {"too_short": 2, "strange": 1}, "list": []}
        notes = {"clips": 7, "odd_ones": 4, "ends_past_the_length": 0}
        text = render_card(recipes.path, recipes.info | {"skips": skips, "notes": notes})
        assert "| the source video ends before a clip starts | 2 |" in text
        assert "| strange | 1 |" in text
        assert "| clips read | 7 |" in text
        assert "| odd ones | 4 |" in text
        assert "past the video's length" not in text

    @pytest.mark.parametrize(
        ("source", "licence", "words", "absent"),
        [
            (SAMPLE, "cc0-1.0", "This is not MSR-VTT", "zhou2018"),
            (MSRVTT, "other", "Share recipes, not videos", "zhou2018"),
            (YOUCOOK2, "other", "zhou2018towards", "xu2016"),
            (CAPTIONS, "unknown", "Whose videos are these", "xu2016"),
        ],
        ids=lambda value: value.key if isinstance(value, Source) else "",
    )
    def test_licences_and_citations(self, recipes, source, licence, words, absent):
        text = render_card(recipes.path, recipes.info | {"source": source.as_json()})
        fields = head(text)
        assert fields["license"] == licence
        assert ("license_link" in fields) == (licence == "other")
        assert words in text
        assert absent not in text
        assert text.count("{schiappa2022") == text.count("{hendrycks2019") == 1
        assert ("| paper |" in text) == (licence == "other")

    def test_without_videos_nothing_is_measured(self, recipes):
        text = card(recipes)
        assert "Strength" not in text
        assert "Size of files" not in text
        assert ".png" not in text
        assert not (recipes.path / "figures").exists()
        assert perturbed_figures(recipes) == {}


class TestNumbers:
    def test_sizes(self, output):
        lengths = {
            name: {(row["clip_id"], row["severity"]): len(row["video"]["bytes"]) for row in rows(output, name)}
            for name in ("clean", *NAMES)
        }
        clean = sum(lengths["clean"].values())
        for name, (total, *ratios) in strengths(card(output), "Size of files").items():
            assert int(total.replace(",", "")) == sum(lengths[name].values())
            found = [sum(size for (_, s), size in lengths[name].items() if s == severity) for severity in SEVERITIES]
            assert ratios == [f"{size / clean:.2f}" for size in found]
        numbers = {row[0]: row[1] for row in tables(section(card(output), "Numbers"))[0]}
        assert int(numbers["bytes of video"].replace(",", "")) == sum(map(lambda x: sum(x.values()), lengths.values()))

    def test_counts(self, output):
        numbers = {row[0]: row[1] for row in tables(section(card(output), "Numbers"))[0]}
        clips = rows(output, "clean")
        minutes = sum(row["num_frames"] / row["fps"] for row in clips) / 60
        assert numbers["clips"] == numbers["source videos"] == numbers["captions"] == "2"
        assert numbers["perturbed clips"] == "30"
        assert numbers["all clips last; clean and perturbed together"] == f"{minutes:.2f} min; {minutes * 16:.2f} min"

    @pytest.mark.parametrize("name", ["impulse_noise", "mpeg1"])
    def test_psnr(self, output, name):
        def frames(content: bytes) -> list[np.ndarray]:
            return [frame.to_ndarray().astype(float) for frame in frames_of(content)]

        clean = {row["clip_id"]: frames(row["video"]["bytes"]) for row in rows(output, "clean")}
        errors: dict[int, list[float]] = {}
        for row in rows(output, name):
            original, found = clean[row["clip_id"]], frames(row["video"]["bytes"])
            for number in spread(AMONG, FRAMES):
                errors.setdefault(row["severity"], []).append(((found[number] - original[number]) ** 2).mean())
        expected = [10 * log10(255**2 / np.mean(errors[severity])) for severity in SEVERITIES]
        *shown, growing = strengths(card(output), "Strength: pixels")[name]
        assert shown == [f"{value:.1f}" for value in expected]
        assert growing == ("yes" if name in ("impulse_noise", "mpeg1") else "not throughout")

    def test_psnr_is_ffmpegs(self, output, tmp_path):
        """Over all frames of a clip: the same definition as FFmpeg's filter."""
        files = []
        for name in ("clean", "impulse_noise"):
            files.append(tmp_path / f"{name}.mp4")
            files[-1].write_bytes(rows(output, name)[0]["video"]["bytes"])
        given = [str(argument) for file in files for argument in ("-i", file)]
        done = subprocess.run(
            [find_ffmpeg(), *given, "-lavfi", "psnr", "-f", "null", "-"], capture_output=True, text=True
        )
        expected = float(re.search(r"average:([\d.]+)", done.stderr)[1])
        planes = [[frame.to_ndarray().astype(float) for frame in frames_of(file.read_bytes())] for file in files]
        errors = [((one - other) ** 2).mean() for one, other in zip(*planes, strict=True)]
        assert decibels(errors) == pytest.approx(expected, abs=0.01)

    def test_displacements(self, output):
        table = strengths(card(output), "Strength: order")
        for name in ("reverse_sampling", "jumble", "freeze"):
            for place, severity in enumerate(SEVERITIES):
                total = frames = 0
                for row in rows(output, "clean"):
                    numbers = np.arange(row["num_frames"], dtype=np.uint8)
                    clip = np.broadcast_to(numbers[:, None, None, None], (len(numbers), 1, 1, 3))
                    shown = stressreel.corrupt(clip, name, severity=severity, key=row["source_id"])[:, 0, 0, 0]
                    total += np.abs(shown.astype(int) - numbers).sum()
                    frames += len(numbers)
                assert table[name][place] == f"{total / frames:.1f}"
        assert table["freeze"][-1] == "yes"
        assert table["jumble"][-1] == "not throughout"

    def test_displacements_of_parts(self, parts):
        """The source has 90 frames; the parts start at frames 36 and 15 and have 42 and 30."""
        numbers = np.r_[36:78, 15:45]
        table = strengths(card(parts), "Strength: order")
        assert table["sampling"] == [f"{(numbers % 16).mean():.1f}"]
        assert table["reverse_sampling"] == [f"{np.abs((89 - numbers) // 16 * 16 - numbers).mean():.1f}"]

    def test_spread(self):
        assert spread(3, 5) == [0, 1, 2]
        assert spread(100, 4) == [12, 37, 62, 87]
        assert spread(0, 4) == []

    def test_grows(self):
        assert grows({1: 30.0, 2: 29.9}, falling=True)
        assert not grows({1: 30.0, 2: 29.96}, falling=True)
        assert grows({2: 5.0, 1: 4.0}, falling=False)
        assert not grows({1: 4.0, 2: 4.0}, falling=False)
        assert not grows({1: inf, 2: inf}, falling=True)
        assert decibels([0.0]) == inf


class TestPictures:
    def test_they_are_named_and_have_no_metadata(self, output):
        assert {path.name for path in (output.path / "figures").iterdir()} == {"pixels.png", "temporal.png"}
        for path in (output.path / "figures").iterdir():
            assert f"(figures/{path.name})" in card(output)
            assert not re.search(rb"tEXt|iTXt|zTXt|tIME|eXIf", path.read_bytes()[:2000])
            with Image.open(path) as picture:
                assert 500 < picture.width < 1200
                assert picture.info == {}

    def test_they_are_the_same_every_time(self, output):
        for name, content in perturbed_figures(output).items():
            assert content == (output.path / "figures" / name).read_bytes()

    def test_the_clean_frame_is_on_top(self, output):
        with Image.open(io.BytesIO((output.path / "figures" / "pixels.png").read_bytes())) as picture:
            sheet = np.asarray(picture)
        row = rows(output, "clean")[0]
        settings = settings_of(output.info)
        number = telling_frame(row, [n for n in settings.perturbations if check_name(n).scope != "index"], settings)
        frame = [to_rgb(frame) for frame in frames_of(row["video"]["bytes"])][number]
        expected = np.asarray(Image.fromarray(frame).resize((180, 135), Image.Resampling.BOX), int)
        shown = sheet[MARGIN : MARGIN + 135, LABEL : LABEL + 180]
        assert np.abs(shown.astype(int) - expected).max() <= 1

    def test_only_those_that_are_in_the_build(self, output):
        for names, file in ((["mpeg1"], "pixels.png"), (["freeze"], "temporal.png")):
            settings = output.info["settings"] | {"perturbations": names}
            counts = {name: output.info["counts"][name] for name in ("clean", *names)}
            build = FinishedOutput(output.path, output.info | {"settings": settings, "counts": counts})
            assert set(perturbed_figures(build)) == {file}
            assert re.findall(r"figures/(\w+\.png)", render_card(build.path, build.info)) == [file]

    def test_frames_from_outside_a_part_are_grey(self, parts):
        assert set(perturbed_figures(parts)) == {"pixels.png", "temporal.png"}
        sheet = Sheet(40, BAR)
        sheet.bar(np.array([-0.1, 0.0, 0.99, 1.0]), 0, 0, 40, BAR)
        with Image.open(io.BytesIO(sheet.png())) as picture:
            colours = [picture.getpixel((10 * place + 5, 2)) for place in range(4)]
        assert colours[0] == colours[3] == ImageColor.getrgb(GREY)
        assert len({*colours}) == 3


def test_the_frame_of_the_sheet_is_turned_at_every_severity():
    """A frame whose angle is near 0 looks as if nothing were done to it."""
    row = {"clip_id": "v", "source_id": "v", "num_frames": 200, "first_frame": 0}
    rising = np.add.outer(np.arange(96), np.arange(128)).astype(np.uint8)[..., None]
    for seed in range(12):
        settings = PerturbedSettings(perturbations=("jpeg", "rotation"), seed=seed)
        number = telling_frame(row, settings.perturbations, settings)
        assert 0 <= number <= 25
        for severity in settings.severities:
            recipe = Recipe(check_name("rotation"), severity, seed, "v")
            changes = [np.abs(recipe.frame(rising, n).astype(int) - rising).mean() for n in range(26)]
            assert changes[number] > max(changes) / 4


def test_without_a_shaking_camera_the_frame_is_as_before():
    settings = PerturbedSettings(perturbations=("jpeg", "static_rotate"))
    row = {"clip_id": "v", "source_id": "v", "num_frames": 20, "first_frame": 0}
    assert telling_frame(row, settings.perturbations, settings) == 10
