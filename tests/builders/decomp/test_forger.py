"""A forger of question graphs who knows every check: one fault for every column, and what only annotations show.

Which checks find what: `kinds`, `graphs`, `rules`, `texts` and `programs` all that follows from the roots' programs,
with nothing but the rows; `annotations` the answers, and of AGQA the roots' own texts and flags; `sources` and
`decoded` the videos.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from agqa_questions import agqa_rows, write_agqa
from forger import Change, Forgery, Row, failed, forge, load, outcomes
from stressreel.builders.decomp import source_checks
from stressreel.builders.decomp.inputs import Inputs, read_inputs
from stressreel.builders.decomp.settings import DecompSettings, settings_of
from stressreel.builders.decomp.tables import GRAPHS, QUESTIONS, VIDEOS, decomp_configs
from stressreel.builders.decomp.video_graphs import canonical_id
from stressreel.records.checks import VerifyOptions


@pytest.fixture(scope="module", autouse=True)
def _read_once() -> Iterator[None]:
    """Read the same annotations once: forgers leave them as they are."""
    kept: dict[str, Inputs] = {}

    def read(settings: DecompSettings, tools: Mapping[str, str] | None = None) -> Inputs:
        key = repr((settings, tools))
        if key not in kept:
            kept[key] = read_inputs(settings, tools)
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_checks, "read_inputs", read)
        yield


@pytest.fixture(scope="module")
def few(once: Callable[..., Path]) -> Path:
    """A few of AGQA's questions, and their scene graphs; read only."""
    return once("few-agqa", lambda folder: write_agqa(folder, agqa_rows(every=12)))


@pytest.fixture(scope="module")
def built(build_once: Callable[..., Path], few: Path) -> Path:
    """Their graphs; read only."""
    return build_once("build-decomp", "--agqa", few, "--graphs", few)


@pytest.fixture(scope="module")
def videos(build_once: Callable[..., Path]) -> Path:
    """Two videos of the drawn sample and what is asked of them; read only."""
    return build_once("build-decomp", "--charades", "sample", "--limit", 2)


def asked(forged: Forgery, **wanted: Any) -> Row:
    """The first question that has all this."""
    return next(row for row in forged.rows("questions") if all(row[name] == value for name, value in wanted.items()))


def inner(**values: Any) -> Change:
    """Change the first sub-question that is answered yes by the scene graph or by others."""
    return lambda forged: asked(forged, is_root=False, answer="yes").update(values)


def root(**values: Any) -> Change:
    return lambda forged: asked(forged, is_root=True, answer="yes").update(values)


def graph(**values: Any) -> Change:
    return lambda forged: largest(forged).update(values)


def largest(forged: Forgery) -> Row:
    return max(forged.rows("graphs"), key=lambda row: len(row["nodes"]))


def renamed(name: str, new: str, forged: Forgery) -> None:
    """Change the key of a question wherever it stands."""
    for row in forged.rows("questions"):
        row["key"] = new if row["key"] == name else row["key"]
    for row in forged.rows("graphs"):
        row["nodes"] = [new if key == name else key for key in row["nodes"]]
        row["root"] = new if row["root"] == name else row["root"]


def moved(forged: Forgery) -> None:
    """Change the video of the first one's rows."""
    first = forged.rows("questions")[0]["video_id"]
    for table in ("questions", "graphs"):
        for row in forged.rows(table):
            if row["video_id"] == first:
                row["video_id"] = "ABCDE"
                if table == "questions":
                    row["canonical_id"] = canonical_id("ABCDE", row["program"])


def meaning(forged: Forgery) -> None:
    """Let a sub-question mean another thing, hash and all."""
    row = asked(forged, is_root=False, kind="Object Exists")
    row.update(program="objExists(broom)", question="Does a broom exist?")
    row["canonical_id"] = canonical_id(row["video_id"], row["program"])


def less(forged: Forgery) -> None:
    """Leave out a root that is alone, with its graph."""
    alone = next(row["root"] for row in forged.rows("graphs") if row["isolated"])
    for table, name in (("questions", "key"), ("graphs", "root")):
        for rows in forged.tables[table].values():
            rows[:] = [row for row in rows if row[name] != alone]


def unanswered(forged: Forgery) -> None:
    asked(forged, is_root=False, answer="yes").update(answer=None, decided_by="", reason="no_graph")


def program(forged: Forgery) -> None:
    """Let a root be written otherwise: the same template, another object."""
    row = asked(forged, template="objExists")
    named = re.match(r"Exists\((\w+)", row["agqa_program"])
    other = "phone" if named and named[1] == "broom" else "broom"
    row["agqa_program"] = re.sub(r"^Exists\(\w+", f"Exists({other}", row["agqa_program"])


def edge(change: Callable[[Row], object]) -> Change:
    return lambda forged: change(next(each for each in largest(forged)["edges"] if len(each["children"]) == 2))


def turned_roots(forged: Forgery) -> None:
    """Turn all roots that are answered by yes and no, and what they decide."""
    for row in forged.rows("questions"):
        if row["answer"] in ("yes", "no"):
            row["answer"] = {"yes": "no", "no": "yes"}[row["answer"]]


ROWS: dict[str, Change] = {
    "questions.key": lambda f: renamed(asked(f, is_root=False)["key"], "another", f),
    "questions.question": inner(question="Does a cat exist?"),
    "questions.reason": lambda f: asked(f, answer=None).update(reason="because"),
    "questions.decided_by": inner(decided_by="the stars"),
    "questions.options": inner(options=[]),
    "questions.kind": inner(kind="And", group="Conjunction"),
    "questions.group": inner(group="Choose"),
    "questions.banned": inner(banned=True),
    "questions.program": meaning,
    "questions.canonical_id": inner(canonical_id="0" * 16),
    "questions.is_root": inner(is_root=True),
    "questions.template": root(template="actTime"),
    "questions.agqa_program": program,
    "questions.recomputed": inner(recomputed="yes"),
    "graphs.root": lambda f: largest(f).update(root=f.rows("graphs")[0]["root"]),
    "graphs.video_id": graph(video_id="ABCDE"),
    "graphs.template": graph(template="actTime"),
    "graphs.isolated": graph(isolated=True),
    "graphs.depth": graph(depth=9),
    "graphs.nodes": lambda f: largest(f)["nodes"].insert(0, largest(f)["nodes"].pop(1)),
    "graphs.edges.parent": edge(lambda each: each.update(parent=each["parent"] + 1)),
    "graphs.edges.rule": edge(lambda each: each.update(rule={"After": "Before"}.get(each["rule"], "After"))),
    "graphs.edges.children": edge(lambda each: each["children"].reverse()),
    "an edge left out": lambda f: largest(f)["edges"].pop(),
    "rows in another order": lambda f: f.rows("questions") and next(iter(f.tables["questions"].values())).reverse(),
    "settings": lambda f: f.info["settings"].update(seed=7),
    "command": lambda f: f.info.update(command=f.info["command"].replace("--seed 0", "--seed 7")),
    "source": lambda f: f.info["source"].update(license={"license": "mit"}),
    "split": lambda f: f.info.update(split="train"),
    "files": lambda f: f.info["files"].update(agqa=["test_balanced.txt"]),
}
ONLY_WITH_ANNOTATIONS: dict[str, Change] = {
    "questions.video_id": moved,
    "questions.answer": turned_roots,
    "an answer left out": unanswered,
    "questions.novel_composition": lambda f: asked(f, is_root=True, novel_composition=False).update(
        novel_composition=True
    ),
    "questions.more_steps": root(more_steps=True),
    "a root's own words": root(question="Did it rain?"),
    "a root's recomputed answer": root(recomputed="perhaps"),
    "a root left out": less,
    "inputs": lambda f: f.info["inputs"].update({"test_balanced.txt": "0" * 64}),
    "tables": lambda f: f.info["tables"].update({"agqa.yaml": "0" * 64}),
    "notes": lambda f: f.info["notes"].update(questions=1),
    "plan_sha256": lambda f: f.info.update(plan_sha256="0" * 64),
    "limit": lambda f: f.info.update(limit=1, command=f.info["command"].replace(" --out", " --limit 1 --out")),
    "skips": lambda f: f.info["skips"].update(
        count=1, list=[{"unit_id": "ABCDE", "source_id": "", "reason": "missing_video", "detail": ""}]
    ),
}


def video(**values: Any) -> Change:
    return lambda forged: forged.rows("videos")[0].update(values)


def exchanged(forged: Forgery) -> None:
    one, other = forged.rows("videos")
    for name in ("video", "num_frames", "fps", "width", "height", "duration_s"):
        if name == "video":
            one[name]["bytes"], other[name]["bytes"] = other[name]["bytes"], one[name]["bytes"]
        else:
            one[name], other[name] = other[name], one[name]


OF_VIDEOS: dict[str, Change] = {
    "videos.video_id": video(video_id="ABCDE"),
    "videos.num_frames": video(num_frames=1),
    "videos.fps": video(fps=25.0),
    "videos.width": video(width=2),
    "videos.height": video(height=2),
    "videos.duration_s": video(duration_s=1.0),
    "videos.sha256": video(sha256="0" * 64),
    "videos.video": exchanged,
    "a made root's words": root(question="Did it rain?"),
    "a made root's novelty": root(novel_composition=True),
}
FREE = {"builder", "dataset_version", "tools", "counts", "fingerprint", "fingerprints", "video_folders", "columns"}


def test_every_column_has_its_fault(built: Path, videos: Path) -> None:
    columns = {
        name
        for config in decomp_configs(settings_of(load(videos).info))
        for column in config.columns
        for name in [f"{config.name}.{column.name}"]
        for name in ([f"{name}.{field.name}" for field in column.fields] or [name])
    }
    faults = {**ROWS, **ONLY_WITH_ANNOTATIONS, **OF_VIDEOS}
    assert {name for name in faults if name.split(".")[0] in (QUESTIONS.name, GRAPHS.name, VIDEOS.name)} == columns
    assert set(load(built).info) <= {*faults, *FREE}


@pytest.mark.parametrize("which", ["agqa", "videos"])
def test_a_forger_who_changes_nothing_passes(which: str, built: Path, videos: Path, few: Path, tmp_path: Path) -> None:
    out, annotations = (built, few) if which == "agqa" else (videos, None)
    copy = forge(out, tmp_path / "copy", lambda forged: None, card=True)
    found = outcomes(copy, VerifyOptions(annotations=annotations), leave_out=("load_dataset", "decord"))
    assert {name: outcome.problems for name, outcome in found.items() if not outcome.passed} == {}
    assert [name for name, outcome in found.items() if outcome.not_checked] == []


def test_without_annotations_it_is_said_what_was_not_checked(built: Path) -> None:
    found = outcomes(built, VerifyOptions())
    assert {name for name, outcome in found.items() if outcome.not_checked} == {"annotations"}


@pytest.mark.parametrize("name", ROWS)
def test_a_fault_is_found_by_the_rows_alone(built: Path, tmp_path: Path, name: str) -> None:
    assert failed(forge(built, tmp_path / "copy", ROWS[name]), VerifyOptions(), first=True)


@pytest.mark.parametrize("name", ONLY_WITH_ANNOTATIONS)
def test_a_fault_is_found_with_annotations(built: Path, few: Path, tmp_path: Path, name: str) -> None:
    copy = forge(built, tmp_path / "copy", ONLY_WITH_ANNOTATIONS[name])
    assert "annotations" in failed(copy, VerifyOptions(annotations=few))


@pytest.mark.parametrize("name", OF_VIDEOS)
def test_a_fault_of_videos_and_made_questions_is_found(videos: Path, tmp_path: Path, name: str) -> None:
    assert failed(forge(videos, tmp_path / "copy", OF_VIDEOS[name]), VerifyOptions(), first=True)


def test_other_annotations_are_told(built: Path, few: Path, tmp_path: Path) -> None:
    rows = json.loads((few / "test_balanced.txt").read_text("utf-8"))
    next(iter(rows.values()))["question"] = "Did it rain?"
    found = failed(built, VerifyOptions(annotations=write_agqa(tmp_path / "other", rows)))
    assert any("SHA-256" in problem for problem in found["annotations"])
