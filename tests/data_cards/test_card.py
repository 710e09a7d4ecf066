from __future__ import annotations

import json
import re
import struct
from dataclasses import replace

import pytest
import yaml
from cards import fields_not_needed, render_card, write_card
from click.testing import CliRunner
from figures import painted
from stressreel.annotations.actions import AnnotatedVideo, Segment
from stressreel.annotations.charades import CHARADES, SAMPLE, class_actions
from stressreel.annotations.samples.cache import cached_sample
from stressreel.builders import benchmark_of
from stressreel.builders.clavi.plan import plan_clavi
from stressreel.builders.clavi.render import ClaviBuilder
from stressreel.builders.clavi.settings import ClaviSettings
from stressreel.builders.clavi.tables import PAIRS, QUESTIONS, VIDEOS
from stressreel.builders.parts import card_of
from stressreel.builders.runtime.build import Options, run
from stressreel.builders.runtime.output import claim
from stressreel.cli.commands import make
from stressreel.core.card_file import BEGIN, END
from stressreel.core.errors import InputError
from stressreel.core.output import FinishedOutput, open_output
from stressreel.data_cards.card import card_checks, hub_fields
from stressreel.templates import load_classes

ACTIONS = class_actions(load_classes())
FIGURES = {"durations.png", "types.png", "actions.png", "verbs.png", "objects.png"}
COMMAND = "build-clavi --charades CHARADES_DIR --source actions --no-render --out OUT"


def video(name: str, split: str, *classes: str, length: float = 60.0) -> AnnotatedVideo:
    """A video in which each action lasts 5 s and the last one keeps away from the first two."""
    starts = [1.0, 10.0, 30.0]
    segments = tuple(Segment(ACTIONS[key], start, start + 5) for key, start in zip(classes, starts, strict=True))
    return AnnotatedVideo(
        id=name,
        split=split,
        subject=f"P{name}",
        length_s=length,
        segments=segments,
        verbs=frozenset(segment.action.verb for segment in segments),
        objects=frozenset(thing for segment in segments for thing in segment.action.objects),
        columns={},
    )


ANNOTATED = (
    video("AAAAA", "train", "c000", "c008", "c026"),
    video("BBBBB", "train", "c061", "c008", "c033", length=70.0),
    video("CCCCC", "test", "c000", "c061", "c026"),
)


def build(folder, videos=ANNOTATED, *, origin=CHARADES, line=COMMAND, notes=None, **changes):
    settings = ClaviSettings(render=False, **changes)
    usable = [action for action in ACTIONS.values() if action.usable]
    controls = {"train": usable, "test": usable}
    identity = {"tools": {"stressreel": "0"}, "inputs": {"a.csv": "0" * 64}, "source": origin.as_json()}
    plan = plan_clavi(videos, controls, settings, identity=identity, notes=notes)
    info = {"builder": plan.builder, "dataset_version": "1.2.3", "command": line, **plan.identity}
    with claim(folder) as output:
        builder = ClaviBuilder(settings)
        run(plan, builder, output, Options(progress=False), info=info, write_card=write_card, say=lambda text: None)
    return open_output(folder)


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    with painted():
        return build(
            tmp_path_factory.mktemp("card") / "out", notes={"videos": 3, "ends_clamped_to_length": 0, "odd_ones": 7}
        )


def card(output) -> str:
    return (output.path / "README.md").read_text(encoding="utf-8")


def head(output) -> dict:
    return yaml.safe_load(card(output).split("---\n")[1])


def table(text: str, first: str) -> list[list[str]]:
    """The rows of the table whose head begins with `first`."""
    lines = text[text.index(f"\n{first} |") + 1 :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0], *lines[2:])]


def test_the_card_is_what_the_shards_give_again(output):
    assert card(output) == render_card(output.path, output.info) == render_card(output.path, output.info)


def test_the_card_does_not_depend_on_the_place(output, tmp_path):
    other = build(tmp_path / "elsewhere", notes=output.info["notes"])
    assert card(other) == card(output)
    assert str(tmp_path) not in card(other)


def test_the_head_lists_the_shards_that_are_there(output):
    listed = {
        (config["config_name"], entry["split"], path.name)
        for config in head(output)["configs"]
        for entry in config["data_files"]
        for path in output.path.glob(entry["path"])
    }
    there = {(path.parent.name, path.name.split("-")[0], path.name) for path in output.path.glob("*/*.parquet")}
    assert listed == there
    assert {name for name, _, _ in there} == {"questions", "pairs"}
    assert [config["config_name"] for config in head(output)["configs"] if config.get("default")] == ["questions"]


def test_the_head_says_licence_size_and_tasks(output):
    fields = head(output)
    assert fields["license"] == "other"
    assert fields["license_name"] == "charades-non-commercial"
    assert fields["license_link"].endswith("charades/license.txt")
    assert fields["task_categories"] == ["video-text-to-text", "visual-question-answering"]
    assert fields["language"] == ["en"]
    assert fields["size_categories"] == ["n<1K"]


@pytest.mark.parametrize(
    ("rows", "name"), [(999, "n<1K"), (1000, "1K<n<10K"), (114_342, "100K<n<1M"), (10**7, "n>10M")]
)
def test_sizes(rows, name):
    counts = {"questions": {"train": rows - 1, "test": 1}, "pairs": {"train": 1}}
    assert hub_fields([], {"counts": counts, "fingerprint": ""})["size_categories"] == [name]


def test_load_dataset_opens_every_config(output, tmp_path):
    datasets = pytest.importorskip("datasets")
    for config, name in ((QUESTIONS, None), (PAIRS, "pairs")):
        loaded = datasets.load_dataset(str(output.path), name, cache_dir=str(tmp_path))
        assert {split: len(rows) for split, rows in loaded.items()} == output.info["counts"][config.name]
        assert loaded["train"].column_names == [column.name for column in config.columns]
    streamed = datasets.load_dataset(str(output.path), "pairs", split="train", streaming=True)
    assert next(iter(streamed))["pair_id"] == next(output.rows("pairs"))["pair_id"]


def test_every_column_is_explained(output):
    text = card(output)
    for config in (QUESTIONS, PAIRS):
        section = text[text.index(f"### `{config.name}`") :].split("\n## ")[0]
        listed = {row[0]: row[2] for row in table(section, "| column")[1:]}
        assert listed == {f"`{column.name}`": column.meaning for column in config.columns}
    assert f"### `{VIDEOS.name}`" not in text


def test_the_numbers_are_those_of_the_rows(output):
    text = card(output)
    pairs = list(output.rows("pairs"))
    questions = list(output.rows("questions"))
    durations = [row[f"end_{letter}_s"] - row[f"start_{letter}_s"] for row in pairs for letter in "ab"]
    lengths = [row["out_b"] - row["out_a"] for row in pairs]
    numbers = {row[0]: row[1] for row in table(text, "| | this build")[1:]}
    assert numbers["videos (V and V′)"] == str(2 * len(pairs))
    assert numbers["questions"] == str(len(questions))
    assert numbers["duration of an action"].startswith(f"{sum(durations) / len(durations):.2f} ± 0.00 s, 5.00 to 5.00")
    assert numbers["duration of a video"].startswith(f"{sum(lengths) / len(lengths):.2f} ± ")
    assert numbers["duration of a video"].endswith(f"{min(lengths):.2f} to {max(lengths):.2f} s")
    swapped, asked = ({row[f"class_{letter}"] for row in pairs for letter in part} for part in ("ab", "abc"))
    assert numbers["action classes: A and B; with C"] == f"{len(swapped)}; {len(asked)}"
    for kind, *_, train, test, yes, no in table(text, "| type")[1:-1]:
        of_it = [row for row in questions if row["type"] == kind]
        assert int(yes) == sum(row["answer"] for row in of_it)
        assert int(no) + int(yes) == int(train) + int(test) == len(of_it)
    always_no = table(text, "| baseline")[1]
    assert always_no[:3] == ["no to everything", "68.4 %", "50.0 %"]
    assert "| odd ones | 7 |" in text
    assert "moved back" not in text


def test_the_card_says_how_the_build_was_made(output):
    text = card(output)
    assert COMMAND in text
    assert output.info["fingerprint"] in text
    assert "1.2.3" in text
    assert "--rules released" in text
    assert "Gao, Jiyang" not in text
    assert "Everything that was planned was written." in text
    assert "distribute the data to a third party" in text


@pytest.mark.parametrize("field", ["fingerprint", "command", "dataset_version", "tools", "inputs", "settings", "limit"])
def test_a_missing_field_is_an_error(output, field):
    info = {name: value for name, value in output.info.items() if name != field}
    with pytest.raises(LookupError):
        render_card(output.path, info)


def test_every_field_of_the_template_is_needed(output, build_once):
    segments = cached_sample("charades") / "segments.csv"
    own = build_once("build-clavi", "--segments", segments, "--same-by", "lemmas", "--no-render")
    assert set(fields_not_needed(output)) & set(fields_not_needed(open_output(own))) == set()


def test_the_sample_is_not_charades(tmp_path):
    sample = build(tmp_path / "out", origin=SAMPLE)
    assert "This is not Charades." in card(sample)
    assert head(sample)["license"] == "cc0-1.0"
    assert "license_link" not in head(sample)
    assert "to a third party" not in card(sample)
    folder = build(tmp_path / "folder", line="build-clavi --charades samples-of-mine --out OUT")
    assert "This is not Charades." not in card(folder)


def test_one_split_and_sentences(tmp_path):
    output = build(tmp_path / "out", ANNOTATED[:2], source="sta", rules="paper")
    text = card(output)
    assert 'split="train"' in text
    assert "split `test`" not in text
    assert "all other source videos" in text
    assert "--rules paper" in text
    assert "Gao, Jiyang" in text
    assert [entry["split"] for entry in head(output)["configs"][0]["data_files"]] == ["train"]


def test_rendered_videos_and_skips(output, monkeypatch):
    made = [{"duration_s": seconds, "fps": 30.0, "width": 640, "height": 480} for seconds in (10.0, 10.0, 20.0, 20.0)]
    original = FinishedOutput.rows
    info = output.info | {
        "counts": output.info["counts"] | {"videos": {"train": 2, "test": 2}},
        "settings": output.info["settings"] | {"render": True, "crf": 18, "audio": "keep"},
        "limit": 5,
        "skips": {"count": 3, "by_reason": {"too_short": 2, "strange": 1}, "list": []},
    }
    asked = []

    def rows(self, config, columns=None, split=None):
        asked.append((config, columns))
        if config != "videos":
            return original(self, config, columns, split)
        return iter({"train": made[:2], "test": made[2:]}.get(split, made))

    monkeypatch.setattr(FinishedOutput, "rows", rows)
    counted = FinishedOutput.counted
    monkeypatch.setattr(FinishedOutput, "counted", lambda self, *of: [] if of[0] == "videos" else counted(self, *of))
    text = render_card(output.path, info)
    assert 'load_dataset("OUT", "videos"' in text
    assert "Keep the videos to yourself" in text
    assert "| duration of a video | 15.00 ± 5.00 s, 10.00 to 20.00 s |" in text
    assert "CRF 18" in text
    assert "sound cut and swapped" in text
    assert "All videos have 30.00 frames a second. All videos have 640 × 480 pixels." in text
    assert "--limit 5" in text
    assert "| the source video ends before B does | 2 |" in text
    assert "| strange | 1 |" in text
    assert {f"`{column.name}`" for column in VIDEOS.columns} <= set(re.findall(r"`\w+`", text))
    assert all(columns and "video" not in columns for _, columns in asked)


def chunks(png: bytes) -> dict[str, bytes]:
    found, place = {}, 8
    while place < len(png):
        (size,) = struct.unpack(">I", png[place : place + 4])
        found[png[place + 4 : place + 8].decode()] = png[place + 8 : place + 8 + size]
        place += size + 12
    return found


def test_figures_are_there_without_date_or_version(output):
    assert {path.name for path in (output.path / "figures").iterdir()} == FIGURES
    for name in FIGURES:
        assert f"(figures/{name})" in card(output)
        found = chunks((output.path / "figures" / name).read_bytes())
        assert not {"tEXt", "iTXt", "zTXt", "tIME"} & set(found)
        width, height = struct.unpack(">II", found["IHDR"][:8])
        assert width == 1080
        assert 200 < height < 4000


@pytest.mark.usefixtures("paint")
def test_figures_are_the_same_every_time(output, tmp_path):
    other = build(tmp_path / "again")
    for name in FIGURES:
        assert (other.path / "figures" / name).read_bytes() == (output.path / "figures" / name).read_bytes()


def test_an_unknown_builder_is_an_error(output):
    with pytest.raises(InputError, match="'other'"):
        render_card(output.path, output.info | {"builder": "other"})


def test_the_command_writes_the_card_again(output, tmp_path):
    copy = build(tmp_path / "out", notes=output.info["notes"])
    (copy.path / "README.md").unlink()
    for figure in (copy.path / "figures").iterdir():
        figure.unlink()
    done = CliRunner().invoke(make("card"), [str(copy.path)], catch_exceptions=False)
    assert done.exit_code == 0
    assert card(copy) == card(output)
    assert {path.name for path in (copy.path / "figures").iterdir()} == FIGURES


def test_the_command_wants_a_finished_build(output, tmp_path):
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(InputError, match="not the output of a build"):
            CliRunner().invoke(make("card"), [str(folder)], catch_exceptions=False)
    (tmp_path / ".build").mkdir()
    with pytest.raises(InputError, match="not finished"):
        CliRunner().invoke(make("card"), [str(tmp_path)], catch_exceptions=False)
    (tmp_path / "build.json").write_text(json.dumps({"builder": "clavi"}))
    with pytest.raises(InputError, match="damaged"):
        CliRunner().invoke(make("card"), [str(tmp_path)], catch_exceptions=False)


def test_phrases_do_not_break_tables_or_figures(tmp_path):
    odd = replace(ACTIONS["c000"], phrase="holding $1 | $2 clothes_that *shine*")
    segments = ANNOTATED[0].segments
    videos = [replace(ANNOTATED[0], segments=(replace(segments[0], action=odd), *segments[1:]))]
    text = card(build(tmp_path / "out", videos))
    assert len({line.count(" | ") for line in text.splitlines() if re.match(r"\| \d\d \|", line)}) == 1


def noted(output, notes: str) -> None:
    """Write notes between the marks of a card, as an editor does."""
    path = output.path / "README.md"
    path.write_text(card(output).replace(END, f"{notes}\n\n{END}"), encoding="utf-8")


def findings(output, name: str = "card") -> list[str]:
    benchmark = benchmark_of(output)
    return list(card_checks(benchmark.configs(output.info), card_of(benchmark))[name](output))


def test_own_text_between_the_marks_passes_and_outlives_every_rewriting(output, tmp_path):
    copy = build(tmp_path / "out", notes=output.info["notes"])
    assert card(copy).endswith(f"{BEGIN}\n\n{END}\n")
    noted(copy, "## Contact\n\nWrite to *me*. | {{ not a template }}\n<!-- mine -->")
    edited = card(copy)
    assert findings(copy) == []
    CliRunner().invoke(make("card"), [str(copy.path)], catch_exceptions=False)
    assert card(copy) == edited
    with claim(copy.path) as held:
        held.clear()
    assert "## Contact" in (copy.path / "README.md").read_text("utf-8")
    assert card(build(tmp_path / "out", notes=output.info["notes"])) == edited


def test_text_elsewhere_in_the_card_fails_and_is_overwritten(output, tmp_path):
    copy = build(tmp_path / "out", notes=output.info["notes"])
    noted(copy, "mine")
    kept = card(copy)
    for edited in (f"{kept}more\n", kept.replace(BEGIN, f"more\n{BEGIN}"), kept.replace("# ", "# More ", 1)):
        (copy.path / "README.md").write_text(edited, encoding="utf-8")
        (problem,) = findings(copy)
        assert "README.md is not the card" in problem
        CliRunner().invoke(make("card"), [str(copy.path)], catch_exceptions=False)
        assert card(copy) == kept
    (copy.path / "README.md").write_text(kept.replace(END, ""), encoding="utf-8")
    assert findings(copy)


def test_notes_with_the_line_ends_of_windows_pass(output, tmp_path):
    copy = build(tmp_path / "out", notes=output.info["notes"])
    noted(copy, "one\ntwo")
    (copy.path / "README.md").write_bytes(card(copy).replace("\n", "\r\n").encode())
    assert findings(copy) == []
