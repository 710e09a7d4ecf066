from __future__ import annotations

import json
import re
import shutil
import struct
import sys

import pytest
import yaml
from cards import fields_not_needed, render_card, write_card
from click.testing import CliRunner
from stressreel.annotations.actions import AnnotatedVideo, Segment
from stressreel.annotations.charades import CHARADES, SAMPLE, class_actions
from stressreel.annotations.samples.cache import cached_sample
from stressreel.builders import benchmark_of
from stressreel.builders.clavi.plan import plan_clavi
from stressreel.builders.clavi.render import ClaviBuilder
from stressreel.builders.clavi.settings import ClaviSettings
from stressreel.builders.clavi.tables import PAIRS, QUESTIONS, VIDEOS
from stressreel.builders.parts import card_of
from stressreel.builders.runtime.build import RunSettings, run
from stressreel.builders.runtime.output import claim
from stressreel.cli.commands import load_command
from stressreel.core.card_file import BEGIN, END
from stressreel.core.errors import InputError
from stressreel.core.output import open_output
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
        run(plan, builder, output, RunSettings(progress=False), info=info, write_card=write_card, say=lambda text: None)
    return open_output(folder)


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    notes = {"videos": 3, "ends_clamped_to_length": 0, "odd_ones": 7}
    return build(tmp_path_factory.mktemp("card") / "out", notes=notes)


def card(output) -> str:
    return (output.path / "README.md").read_text(encoding="utf-8")


def head(output) -> dict:
    return yaml.safe_load(card(output).split("---\n")[1])


def table(text: str, first: str) -> list[list[str]]:
    """The rows of the table whose head begins with `first`."""
    lines = text[text.index(f"\n{first} |") + 1 :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0], *lines[2:])]


def test_the_card_is_what_the_shards_give_again_in_any_place(output, tmp_path):
    copy = shutil.copytree(output.path, tmp_path / "elsewhere")
    (copy / "README.md").unlink()
    assert CliRunner().invoke(load_command("card"), [str(copy)], catch_exceptions=False).exit_code == 0
    assert card(open_output(copy)) == card(output) == render_card(output.path, output.info)
    assert str(tmp_path) not in card(output)
    assert all(f"`{column.name}` | " in card(output) for table in (QUESTIONS, PAIRS) for column in table.columns)
    for said in (COMMAND, output.info["fingerprint"], "1.2.3", "--rules released", "| odd ones | 7 |"):
        assert said in card(output)
    assert "moved back" not in card(output)


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
    fields = head(output)
    assert (fields["license"], fields["license_name"]) == ("other", "charades-non-commercial")
    assert (fields["language"], fields["size_categories"]) == (["en"], ["n<1K"])
    assert fields["task_categories"] == ["video-text-to-text", "visual-question-answering"]


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


def test_sizes():
    for rows, name in ((999, "n<1K"), (1000, "1K<n<10K"), (114_342, "100K<n<1M"), (10**7, "n>10M")):
        counts = {"questions": {"train": rows - 1, "test": 1}, "pairs": {"train": 1}}
        assert hub_fields([], {"counts": counts, "fingerprint": ""})["size_categories"] == [name]


@pytest.mark.parametrize("field", ["fingerprint", "command", "dataset_version", "tools", "inputs", "settings", "limit"])
def test_a_missing_field_is_an_error(output, field):
    info = {name: value for name, value in output.info.items() if name != field}
    with pytest.raises(LookupError):
        render_card(output.path, info)
    with pytest.raises(InputError, match="'other'"):
        render_card(output.path, output.info | {"builder": "other"})


@pytest.mark.full
def test_every_field_of_the_template_is_needed(output, build_once):
    segments = cached_sample("charades") / "segments.csv"
    own = build_once("build-clavi", "--segments", segments, "--same-by", "lemmas", "--no-render")
    assert set(fields_not_needed(output)) & set(fields_not_needed(open_output(own))) == set()


def test_the_sample_is_not_charades(output, tmp_path):
    sample = render_card(output.path, output.info | {"source": SAMPLE.as_json()})
    assert "This is not Charades." in sample
    assert "license: cc0-1.0" in sample
    assert "license_link" not in sample
    assert "third party" not in sample
    foreign = {**SAMPLE.as_json(), "license": {"license": "other", "license_name": "für alle"}}
    assert "license_name: für alle" in render_card(output.path, output.info | {"source": foreign})
    assert "This is not Charades." not in card(output)
    assert "a third party in any form" in card(output)


def test_one_split_and_sentences(tmp_path):
    output = build(tmp_path / "out", ANNOTATED[:2], source="sta", rules="paper")
    text = card(output)
    assert 'split="train"' in text
    assert "split `test`" not in text
    assert "all other source videos" in text
    assert "--rules paper" in text
    assert "Gao, Jiyang" in text
    assert [entry["split"] for entry in head(output)["configs"][0]["data_files"]] == ["train"]


def test_rendered_videos_and_skips(built):
    skips = {"count": 3, "by_reason": {"too_short": 2, "strange": 1}, "list": []}
    text = render_card(built, open_output(built).info | {"limit": 5, "skips": skips})
    assert 'load_dataset("OUT", "videos"' in text
    assert "sound" in text
    assert "--limit 5" in text
    assert "| the source video is too short | 2 |" in text
    assert "| strange | 1 |" in text
    assert all(f"| `{column.name}` |" in text for column in VIDEOS.columns)


def test_a_card_never_waits_for_what_is_not_installed(output, monkeypatch):
    for name in ("sklearn", "sentence_transformers", "torch", "nltk", "textblob"):
        monkeypatch.setitem(sys.modules, name, None)
    assert render_card(output.path, output.info) == card(output)


@pytest.mark.usefixtures("paint")
def test_figures_have_no_date_and_no_version(output):
    benchmark = card_of(benchmark_of(output))
    drawn = benchmark.figures(output, benchmark.measure(output))
    assert set(drawn) == FIGURES
    for name, content in drawn.items():
        assert f"(figures/{name})" in card(output)
        assert not re.search(rb"tEXt|iTXt|zTXt|tIME", content)
        width, height = struct.unpack(">II", content[16:24])
        assert width == 1080
        assert 200 < height < 4000


def test_the_command_wants_a_finished_build(output, tmp_path):
    def refused(folder, words):
        with pytest.raises(InputError, match=words):
            CliRunner().invoke(load_command("card"), [str(folder)], catch_exceptions=False)

    refused(tmp_path, "not the output of a build")
    refused(tmp_path / "absent", "does not exist")
    (tmp_path / ".build").mkdir()
    refused(tmp_path, "unfinished")
    (tmp_path / "build.json").write_text(json.dumps({"builder": "clavi"}))
    refused(tmp_path, "damaged")


def noted(output, notes: str) -> None:
    """Write notes between the marks of a card, as an editor does."""
    path = output.path / "README.md"
    path.write_text(card(output).replace(END, f"{notes}\n\n{END}"), encoding="utf-8")


def findings(output, name: str = "card") -> list[str]:
    benchmark = benchmark_of(output)
    return list(card_checks(benchmark.configs(output.info), card_of(benchmark))[name](output))


def test_own_text_between_the_marks_passes_and_outlives_every_rewriting(output, tmp_path):
    copy = open_output(shutil.copytree(output.path, tmp_path / "out"))
    assert card(copy).endswith(f"{BEGIN}\n\n{END}\n")
    noted(copy, "## Contact\n\nWrite to *me*. | {{ not a template }}\n<!-- mine -->")
    kept = card(copy)
    (copy.path / "README.md").write_bytes(kept.replace("\n", "\r\n").encode())
    assert findings(copy) == []
    for edited in (f"{kept}more\n", kept.replace(BEGIN, f"more\n{BEGIN}"), kept.replace("# ", "# More ", 1)):
        (copy.path / "README.md").write_text(edited, encoding="utf-8")
        (problem,) = findings(copy)
        assert "README.md does not match the content" in problem
        CliRunner().invoke(load_command("card"), [str(copy.path)], catch_exceptions=False)
        assert card(copy) == kept
    (copy.path / "README.md").write_text(kept.replace(END, ""), encoding="utf-8")
    assert findings(copy)
    (copy.path / "README.md").write_text(kept, encoding="utf-8")
    with claim(copy.path) as held:
        held.clear()
    assert card(build(tmp_path / "out", notes=output.info["notes"])) == kept
