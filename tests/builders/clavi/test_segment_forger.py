"""Builds from other collections than Charades, end to end; forged ones are found."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from commands import info, run
from forger import Change, Forgery, Row, failed, forge, outcomes
from stressreel.api.outputs import read
from stressreel.builders.clavi.questions import question_rows
from stressreel.builders.clavi.tables import QUESTIONS
from stressreel.records.checks import VerifyOptions

if TYPE_CHECKING:
    from conftest import Bars

HEADER = ("QID", "Filename", "Start Frame", "End Frame", "Question", "Answer", "Explanation")
EVENTS = [
    ("Tom", "kick the ball", "Jerry", "open a box", "Tom", "climb the tree"),
    ("Tom", "wash a plate", "Jerry", "paint the fence", "Tom", "read a book"),
    ("Jerry", "throw a stone", "Tom", "eat the cheese", "Jerry", "push the cart"),
    ("Jerry", "lift a chair", "Tom", "drink the milk", "Jerry", "hide the key"),
]
RATE = 10


def write_events(path: Path) -> Path:
    rows = []
    for episode in range(12):
        told = EVENTS[episode % len(EVENTS)]
        for place in range(3):
            subject, doing = told[2 * place : 2 * place + 2]
            start = 20 + 70 * place + episode
            question = f"Why did {subject} {doing}?"
            rows.append((len(rows), f"E{episode:02d}", start, start + 50, question, "To win.", "It was fun."))
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows])
    return path


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_events(tmp_path_factory.mktemp("events") / "Annotations.csv")


def build(out: Path, *options: object) -> Path:
    done = run("build-clavi", *options, "--same-by", "lemmas", "--out", out, "--workers", 1, "--no-progress")
    assert done.code == 0, done.err
    return out


@pytest.fixture(scope="module")
def built(events: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs of statements without videos; read only."""
    folder = tmp_path_factory.mktemp("forged")
    return build(folder / "clavi", "--causalchaos", events, "--fps", RATE, "--no-render")


def reword(forged: Forgery) -> None:
    for split, pairs in forged.tables["pairs"].items():
        forged.tables["questions"][split] = [
            QUESTIONS.encode(row) for pair in pairs for variant in range(2) for row in question_rows(pair, variant)
        ]


def with_pair(change: Callable[[Row], object]) -> Change:
    def work(forged: Forgery) -> None:
        change(forged.rows("pairs")[0])
        reword(forged)

    return work


def another_control(pair: Row) -> None:
    """Take B for the control, and forget that it is done there."""
    for name in ("class", "label", "phrase", "verb", "objects", "asked"):
        pair[f"{name}_c"] = pair[f"{name}_b"]
    pair["objects_c"] = sorted({*pair["objects_b"], pair["verb_b"]})
    for name in ("source_verbs", "source_objects", "clip_words"):
        pair[name] = [word for word in pair[name] if word not in pair["objects_c"]]


def other_words(pair: Row) -> None:
    pair |= {"phrase_a": "Tom flew a kite", "asked_a": "Did Tom fly a kite", "class_a": "Tom flew a kite"}


def left_out(forged: Forgery) -> None:
    pair = forged.rows("pairs")[0]
    for splits in forged.tables.values():
        for split, rows in splits.items():
            splits[split] = [row for row in rows if row["pair_id"] != pair["pair_id"]]


ROWS: dict[str, Change] = {
    "pairs.source": with_pair(lambda pair: pair.update(source="youcook2")),
    "pairs.asked_a": with_pair(lambda pair: pair.update(asked_a="Was Tom asleep")),
    "pairs.asked_c": with_pair(lambda pair: pair.update(asked_c="")),
    "pairs.phrase_b": with_pair(lambda pair: pair.update(phrase_b="nobody moved")),
    "a control that is done in the source": with_pair(another_control),
    "words of the clip that lack those of A": with_pair(lambda pair: pair.update(clip_words=[])),
    "words of the clip with those of C": with_pair(
        lambda p: p.update(clip_words=sorted({*p["clip_words"], p["verb_c"]}))
    ),
    "A longer than may be": with_pair(lambda pair: pair.update(start_a_s=0.0, end_a_s=37.0)),
    "an answer": lambda f: f.rows("questions")[0].update(answer=0),
    "a question of the other kind": lambda f: f.rows("questions")[4].update(question="Was Tom there at the end?"),
    "settings": lambda f: f.info["settings"].update(max_span=80.0),
    "collection": lambda f: f.info["settings"].update(collection="segments"),
    "source": lambda f: f.info["source"].update(license={"license": "mit"}),
}
ANNOTATIONS: dict[str, Change] = {
    "words of the clip": with_pair(lambda pair: pair.update(clip_words=sorted({*pair["clip_words"], "zip"}))),
    "other words": with_pair(other_words),
    "a pair left out": left_out,
    "sameness": lambda f: f.info.update(sameness={"by": "lemmas", "cosine": 0.5}),
    "timing": lambda f: f.info["timing"]["rates"].update(E00="25"),
    "notes": lambda f: f.info["notes"].update(pairs_in_reach=7),
}


@pytest.mark.parametrize("name", ROWS)
def test_fault_in_the_rows_is_found(built: Path, tmp_path: Path, name: str) -> None:
    assert failed(forge(built, tmp_path / "copy", ROWS[name]), VerifyOptions(decode=False), first=True)


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_fault_is_found_with_the_annotations(built: Path, events: Path, tmp_path: Path, name: str) -> None:
    copy = forge(built, tmp_path / "copy", ANNOTATIONS[name])
    assert failed(copy, VerifyOptions(decode=False, annotations=events.parent), first=True)


STEPS = ("open the door", "wash a plate", "paint the fence", "read a book", "throw a stone", "drink milk")


def other_doing(pair: Row) -> None:
    """Another phrase of A in all its columns and questions, under the annotation's own words."""
    pair["phrase_a"] = "flying a kite"  # the class, and so the id, stays
    pair |= {"verb_a": "fly", "objects_a": ["kite"], "source_verbs": sorted({*pair["source_verbs"], "fly"})}
    pair["source_objects"] = sorted({*pair["source_objects"], "kite"})
    pair["clip_words"] = sorted({*pair["clip_words"], "fly", "kite"})


@pytest.mark.parametrize("form", ["turn", "as-is"])
def test_words_forged_throughout_are_found_without_annotations(tmp_path: Path, form: str) -> None:
    table = tmp_path / "own.csv"
    with table.open("w", newline="") as file:
        rows = [
            (f"V{n}", 10 * k, 10 * k + 6, STEPS[(2 * n + k) % len(STEPS)], "train") for n in range(3) for k in range(3)
        ]
        csv.writer(file).writerows([("video", "start", "end", "phrase", "split"), *rows])
    out = build(tmp_path / "out", "--segments", table, "--phrases", form, "--no-render")

    def change(forged: Forgery) -> None:
        pair = forged.rows("pairs")[0]
        other_doing(pair)
        for row in forged.rows("pairs"):
            if row["source_id"] == pair["source_id"]:
                row |= {name: pair[name] for name in ("source_verbs", "source_objects")}
        reword(forged)

    found = outcomes(forge(out, tmp_path / "copy", change), VerifyOptions(decode=False))
    problems = [problem for outcome in found.values() for problem in outcome.problems]
    assert any("is worded 'flying a kite' (fly)" in problem for problem in problems)
    passed = outcomes(forge(out, tmp_path / "same", lambda forged: None), VerifyOptions(decode=False))
    assert not any("is worded" in problem for outcome in passed.values() for problem in outcome.problems)


def test_a_forger_who_changes_nothing_passes(built: Path, events: Path, tmp_path: Path) -> None:
    copy = forge(built, tmp_path / "copy", lambda forged: None, card=True)
    found = outcomes(copy, VerifyOptions(annotations=events.parent))
    assert {name: outcome.problems for name, outcome in found.items() if not outcome.passed} == {}
    assert all(outcome.passed for outcome in outcomes(copy, VerifyOptions()).values())


def test_the_card_says_whose_it_is_and_what_gives_it_away(built: Path) -> None:
    card = (built / "README.md").read_text()
    for words in ("# CLAVI from ", "Annotations are not exhaustive", "Order cue", "Control cue", "`asked_a`"):
        assert words in card
    assert "Charades" not in card


def test_statements_score_and_are_items(built: Path, tmp_path: Path) -> None:
    output = read(built)
    items = output.items(split="train")
    assert any(text.startswith("Did Jerry") for text in items.texts)
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps({"id": name, "answer": "no"}) + "\n" for name in items.ids))
    done = run("stressreel", "score", built, "--predictions", answers, "--split", "train")
    assert done.code == 0, done.err
    assert "CAcc_V" in done.out


def test_videos_of_statements_are_cut_where_their_frames_say(events: Path, bars: type[Bars], tmp_path: Path) -> None:
    """Frames are times by each video's own rate; every frame of V and V′ is where the plan puts it."""
    (tmp_path / "videos").mkdir()
    for episode in range(12):
        bars.write(tmp_path / "videos" / f"E{episode:02d}.mp4", frames=250, rate=Fraction(RATE))
    options = ("--videos", tmp_path / "videos", "--preset", "ultrafast", "--limit", 2)
    out = build(tmp_path / "out", "--causalchaos", events, *options)
    assert info(out)["timing"]["rates"]["E00"] == str(RATE)
    found = outcomes(out, VerifyOptions(sources=tmp_path / "videos", annotations=events.parent))
    assert {name: outcome.problems for name, outcome in found.items() if not outcome.passed} == {}
    pairs = [pair for split in info(out)["counts"]["pairs"] for pair in read_rows(out, "pairs", split)]
    shown = [row for split in info(out)["counts"]["videos"] for row in read_rows(out, "videos", split)]
    videos = {row["video_id"]: row for row in shown}
    for pair in pairs:
        first, second, third, stop = (pair[f"{cut}_frame"] for cut in ("out_a", "in_a", "in_b", "out_b"))
        swapped = [*range(third, stop), *range(second, third), *range(first, second)]
        for number, order in ((1, [*range(first, stop)]), (2, swapped)):
            path = tmp_path / "shown.mp4"
            path.write_bytes(videos[f"{pair['pair_id']}_{number}"]["video"]["bytes"])
            assert bars.read_codes(path) == order


def read_rows(out: Path, table: str, split: str) -> list[Row]:
    return [row for path in sorted((out / table).glob(f"{split}-*.parquet")) for row in pq.read_table(path).to_pylist()]
