"""A forger who knows every check and recomputes hashes, `build.json` and all that follows: each fault is found.

One fault for every column of every table, for every entry of `build.json`, and for every kind of tampering.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tampering
from forger import Change, Forgery, Row, failed, forge, load, outcomes
from stressreel.builders.clavi.pairs import draw_control, pair_key
from stressreel.builders.clavi.plan import planned_columns
from stressreel.builders.clavi.questions import question_rows
from stressreel.builders.clavi.row_checks import action_of, candidate_of, drawn_cuts, usable_actions
from stressreel.builders.clavi.tables import PAIRS, QUESTIONS, clavi_configs
from stressreel.records.checks import VerifyOptions
from stressreel.records.files import canonical_json, sha256_text
from stressreel.video.encode import EncodeSettings, Sound

if TYPE_CHECKING:
    from conftest import Bars, Track

SETTINGS = EncodeSettings(preset="ultrafast")
CUTS = ("out_a", "in_a", "in_b", "out_b")
FRAMES = tuple(f"{cut}_frame" for cut in CUTS)
RATE = 11
ANNOTATED = {
    "train": [
        ("SR0D4", "SRD4", "phone", "c015 1.50 5.60;c061 6.80 11.20;c143 14.10 19.00", "24.00"),
        ("SR0C3", "SRC3", "book", "c027 0.80 5.10;c097 6.20 10.90;c113 14.50 18.00", "24.00"),
    ],
    "test": [("SR2K0", "SRC3", "door", "c006 1.10 5.40;c107 6.50 10.70;c026 14.20 18.10", "24.00")],
}


@pytest.fixture(scope="module")
def sources(once: Callable[..., Path], bars: type[Bars], track: type[Track]) -> Path:
    """Three small videos with annotations, a pair in each; read only."""
    return once("annotated", lambda folder: write_sources(folder, bars, track))


def write_sources(folder: Path, bars: type[Bars], track: type[Track]) -> None:
    folder.mkdir()
    for split, videos in ANNOTATED.items():
        with (folder / f"Charades_v1_{split}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("id", "subject", "objects", "actions", "length"), *videos])
        for number, (name, *_) in enumerate(videos):
            first = 1000 * number + 500 * (split == "test")
            bars.write(folder / f"{name}.mp4", frames=264, rate=Fraction(RATE), first=first, track=track(rate=8000))


@pytest.fixture(scope="module")
def built(sources: Path, build_once: Callable[..., Path]) -> Path:
    """Three pairs; read only."""
    return build_once("build-clavi", "--charades", sources, "--workers", 1, "--preset", "ultrafast")


@pytest.fixture(scope="module")
def sounding(sources: Path, build_once: Callable[..., Path]) -> Path:
    """The first of them with its sound; read only."""
    options = ("--preset", "ultrafast", "--audio", "keep", "--split", "train", "--limit", "1")
    return build_once("build-clavi", "--charades", sources, "--workers", 1, *options)


def reword(forged: Forgery) -> None:
    """Ask every question again, about the pairs as they now are."""
    for split, pairs in forged.tables["pairs"].items():
        forged.tables["questions"][split] = [
            QUESTIONS.encode(row) for pair in pairs for variant in range(2) for row in question_rows(pair, variant)
        ]


def redraw(pair: Row, settings: dict[str, object]) -> Row:
    """Draw the id, the cuts and the control of a pair again, after its segments or its source changed."""
    a, b = (action_of(pair, letter, "actions") for letter in "ab")
    candidate = candidate_of(pair, a, b)
    candidate = replace(candidate, id=hashlib.sha256(pair_key(candidate).encode()).hexdigest()[:8])
    seed = int(settings["seed"])
    control = draw_control(candidate, usable_actions(), seed)
    return {**pair, **planned_columns(candidate, drawn_cuts(candidate, seed, 10**9), control)}


def with_pair(change: Callable[[Row], object], *, drawn: bool = False) -> Change:
    """Change the first pair, and with it everything that follows: its questions, and if drawn its id and cuts."""

    def work(forged: Forgery) -> None:
        pair = forged.tables["pairs"]["train"][0]
        before = pair["pair_id"]
        change(pair)
        if drawn:
            pair.update(redraw(pair, forged.info["settings"]))
            recut(forged)
        rename(forged, before, pair["pair_id"])
        for row in forged.rows("videos"):
            if row["pair_id"] == pair["pair_id"]:
                row["source_id"] = pair["source_id"]
        reword(forged)

    return work


def recut(forged: Forgery) -> None:
    """Cut the videos of the first pair anew where its cuts now are; what V showed is repeated as often as needed."""
    pair = forged.tables["pairs"]["train"][0]
    frames = {f"{cut}_frame": ceil(round(pair[cut] * 1000) * Fraction(RATE, 1000)) for cut in CUTS}
    if frames == {frame: pair[frame] for frame in FRAMES}:
        return
    pair |= frames
    count = pair["out_b_frame"] - pair["out_a_frame"]
    pictures = tampering.pictures_of(forged.tables["videos"]["train"][0]["video"]["bytes"])
    show(forged, np.resize(pictures, (count, *pictures.shape[1:])))
    for row in forged.tables["videos"]["train"][:2]:
        row.update(num_frames=count, duration_s=count / RATE)


def rename(forged: Forgery, before: str, after: str) -> None:
    for row in forged.rows("videos"):
        if row["pair_id"] == before:
            row["pair_id"], row["video_id"] = after, row["video_id"].replace(before, after)
            row["video"]["path"] = f"{row['video_id']}.mp4"


def another_class(letter: str, key: str) -> Callable[[Row], None]:
    """Describe that A, B or C was another class, with its label, phrase, verb and objects."""

    def change(pair: Row) -> None:
        pair[f"class_{letter}"] = key
        action = action_of(pair, letter, "actions")
        pair |= {
            f"label_{letter}": action.label,
            f"phrase_{letter}": action.phrase,
            f"verb_{letter}": action.verb,
            f"objects_{letter}": sorted(action.objects),
        }
        if letter != "c":
            pair["source_verbs"] = sorted({*pair["source_verbs"], action.verb})
            pair["source_objects"] = sorted({*pair["source_objects"], *action.objects})

    return change


def other_actions(pair: Row) -> None:
    """Describe that another action was done besides, with its verb and its objects."""
    other = next(action for action in usable_actions() if action.key == "c016")
    pair["other_actions"] = [other.key]
    pair["source_verbs"] = sorted({*pair["source_verbs"], other.verb})
    pair["source_objects"] = sorted({*pair["source_objects"], *other.objects})


def with_question(**values: object) -> Change:
    return lambda forged: forged.tables["questions"]["train"][4].update(values)


def with_videos(**values: object) -> Change:
    """Set other values in both videos of the first pair."""
    return lambda forged: [row.update(values) for row in forged.tables["videos"]["train"][:2]]


def with_video(**values: object) -> Change:
    return lambda forged: forged.tables["videos"]["train"][0].update(values)


def both(change: Callable[[Row], object]) -> Change:
    return lambda forged: [change(row) for row in forged.tables["videos"]["train"][:2]]


def add(name: str, amount: float) -> Callable[[Row], None]:
    return lambda row: row.update({name: row[name] + amount})


def shift_frames(pair: Row) -> None:
    pair.update({frame: pair[frame] + 3 for frame in FRAMES})


ANOTHER = "c015"

COLUMNS: dict[str, Change] = {
    "questions.question_id": with_question(question_id="3a3a3a3a_1_04"),
    "questions.video_id": lambda f: f.tables["questions"]["train"][4].update(video_id=f.rows("videos")[1]["video_id"]),
    "questions.source_id": lambda f: f.tables["questions"]["train"][4].update(source_id="other"),
    "questions.pair_id": lambda f: f.tables["questions"]["train"][4].update(pair_id=f.rows("pairs")[1]["pair_id"]),
    "questions.question": with_question(question="Is somebody there?"),
    "questions.answer": lambda f: [row.update(answer=1 - row["answer"]) for row in f.rows("questions")],
    "questions.type": with_question(type="E-NC"),
    "questions.type_id": with_question(type_id=3),
    "questions.subset": with_question(subset="other"),
    "questions.variant": with_question(variant="complement"),
    "questions.complement_question_id": lambda f: [
        row.update(complement_question_id=None) for row in f.rows("questions") if row["type"] == "BA-NC"
    ],
    "questions.counterpart_question_id": with_question(counterpart_question_id="3a3a3a3a_2_04"),
    "questions.template_id": with_question(template_id="e2"),
    "videos.video_id": with_video(video_id="3a3a3a3a_1"),
    "videos.pair_id": with_videos(pair_id="3a3a3a3a"),
    "videos.variant": with_video(variant="complement"),
    "videos.source_id": with_videos(source_id="SR2K0"),
    "videos.num_frames": both(add("num_frames", 1)),
    "videos.fps": lambda f: [row.update(fps=30.0, duration_s=row["num_frames"] / 30) for row in f.rows("videos")[:2]],
    "videos.width": with_videos(width=640),
    "videos.height": with_videos(height=480),
    "videos.duration_s": both(add("duration_s", 1e-4)),
    "videos.sha256": with_videos(sha256="0" * 64),
    "videos.video": lambda f: f.rows("videos")[1]["video"].update(path="complement_no.mp4"),
    "pairs.pair_id": with_pair(lambda pair: pair.update(pair_id="3a3a3a3a")),
    "pairs.source_id": with_pair(lambda pair: pair.update(source_id="SR9Z9"), drawn=True),
    "pairs.subject": with_pair(lambda pair: pair.update(subject="SRX9")),
    **{f"pairs.class_{letter}": with_pair(another_class(letter, ANOTHER), drawn=letter != "c") for letter in "abc"},
    **{f"pairs.label_{letter}": with_pair(lambda p, n=letter: p.update({f"label_{n}": "Eating"})) for letter in "abc"},
    **{f"pairs.phrase_{n}": with_pair(lambda pair, n=n: pair.update({f"phrase_{n}": "juggling"})) for n in "abc"},
    **{f"pairs.verb_{n}": with_pair(lambda pair, n=n: pair.update({f"verb_{n}": "juggle"})) for n in "abc"},
    **{f"pairs.objects_{n}": with_pair(lambda pair, n=n: pair.update({f"objects_{n}": ["ball"]})) for n in "abc"},
    "pairs.start_a_s": with_pair(add("start_a_s", 0.1), drawn=True),
    "pairs.end_a_s": with_pair(add("end_a_s", -0.1), drawn=True),
    "pairs.start_b_s": with_pair(add("start_b_s", 0.1), drawn=True),
    "pairs.end_b_s": with_pair(add("end_b_s", -0.1), drawn=True),
    **{f"pairs.{cut}": with_pair(add(cut, 0.001)) for cut in CUTS},
    **{f"pairs.{frame}": with_pair(add(frame, 1)) for frame in FRAMES},
    "pairs.other_actions": with_pair(other_actions, drawn=True),
    "pairs.source_verbs": with_pair(lambda p: p.update(source_verbs=sorted({*p["source_verbs"], "zip"})), drawn=True),
    "pairs.source_objects": with_pair(
        lambda pair: pair.update(source_objects=sorted({*pair["source_objects"], "zebra"})), drawn=True
    ),
    "pairs.source_sha256": with_pair(lambda pair: pair.update(source_sha256="0" * 64)),
}


def control_from_source(forged: Forgery) -> None:
    """Make the other action of the source the negative control, and forget that it is done there."""
    pair = forged.tables["pairs"]["train"][0]
    another_class("c", pair["other_actions"][0])(pair)
    pair["source_verbs"] = [verb for verb in pair["source_verbs"] if verb != pair["verb_c"]]
    pair["source_objects"] = [word for word in pair["source_objects"] if word not in pair["objects_c"]]
    pair["other_actions"] = ["c016"]
    reword(forged)


def one_class(pair: Row) -> None:
    another_class("b", pair["class_a"])(pair)


def to_the_test(forged: Forgery) -> None:
    """Move a pair, its videos and questions."""
    name = forged.tables["pairs"]["train"][0]["pair_id"]
    for splits in forged.tables.values():
        moved = [row for row in splits["train"] if row["pair_id"] == name]
        splits["train"] = [row for row in splits["train"] if row["pair_id"] != name]
        key = next(iter(moved[0]))
        splits["test"] = sorted([*splits["test"], *moved], key=lambda row: row[key])
    plan_hash(forged)


def without_a_pair(forged: Forgery, *, skipped: str = "") -> None:
    """Leave a pair out, silently or as a skip."""
    pair = forged.tables["pairs"]["train"][0]
    for splits in forged.tables.values():
        splits["train"] = [row for row in splits["train"] if row["pair_id"] != pair["pair_id"]]
    if skipped:
        skip = {"unit_id": pair["pair_id"], "source_id": pair["source_id"], "reason": skipped, "detail": "it is faulty"}
        forged.info["skips"] = {"count": 1, "by_reason": {skipped: 1}, "list": [skip]}


def plan_hash(forged: Forgery) -> None:
    """Hash the plan that the rows stand for."""
    info = forged.info
    identity = {name: info[name] for name in ("dataset_version", "tools", "inputs", "settings", "limit", "tables")}
    planned = [c.name for c in PAIRS.columns if c.name not in (*FRAMES, "source_sha256")]
    units = sorted(
        [row["pair_id"], split, row["source_id"], {name: row[name] for name in planned}]
        for split, rows in forged.tables["pairs"].items()
        for row in rows
    )
    info["plan_sha256"] = sha256_text(canonical_json([info["builder"], identity, units]))


def another_seed(forged: Forgery) -> None:
    forged.info["settings"]["seed"] = 1
    forged.info["command"] = forged.info["command"].replace("--seed 0", "--seed 1")


def backwards(forged: Forgery) -> None:
    for splits in forged.tables.values():
        splits["train"].reverse()


def repaint(name: str) -> Change:
    """Repaint V and V′ of the first pair in the same way."""

    def work(forged: Forgery) -> None:
        pictures = tampering.pictures_of(forged.tables["videos"]["train"][0]["video"]["bytes"])
        show(forged, tampering.REPAINTS[name](pictures))

    return work


def show(forged: Forgery, pictures: tampering.Pictures, sound: Sound | None = None) -> None:
    """Let the first pair show other pictures, V′ with the pieces exchanged."""
    order = tampering.order_of(forged.tables["pairs"]["train"][0])
    original, complement = forged.tables["videos"]["train"][:2]
    for row, frames in ((original, pictures), (complement, pictures[order])):
        row["video"]["bytes"] = tampering.written(frames, sound or tampering.sound_of(row["video"]["bytes"]), SETTINGS)


def another_pairs_clips(forged: Forgery) -> None:
    count = forged.tables["videos"]["train"][0]["num_frames"]
    other = tampering.pictures_of(forged.tables["videos"]["train"][2]["video"]["bytes"])
    show(forged, np.resize(other, (count, *other.shape[1:])))


def reversed_in_time(forged: Forgery) -> None:
    show(forged, tampering.pictures_of(forged.tables["videos"]["train"][0]["video"]["bytes"])[::-1])


def cut_elsewhere(forged: Forgery) -> None:
    """Cut both videos three frames later, and record that."""
    pictures = tampering.pictures_of(forged.tables["videos"]["train"][0]["video"]["bytes"])
    shift_frames(forged.tables["pairs"]["train"][0])
    show(forged, np.concatenate([pictures[3:], np.repeat(pictures[-1:], 3, axis=0)]))


def swapped_sound(forged: Forgery) -> None:
    """Copy the sound of V to V′."""
    original, complement = forged.tables["videos"]["train"][:2]
    sound = tampering.sound_of(original["video"]["bytes"])
    pictures = tampering.pictures_of(complement["video"]["bytes"])
    complement["video"]["bytes"] = tampering.written(pictures, sound, SETTINGS)


def resound(name: str) -> Change:
    def change(row: Row) -> None:
        content = row["video"]["bytes"]
        sound = tampering.SOUNDS[name](tampering.sound_of(content))
        row["video"]["bytes"] = tampering.written(tampering.pictures_of(content), sound, SETTINGS)

    return both(change)


def encoded(settings: EncodeSettings, tag: str = "") -> Change:
    def change(row: Row) -> None:
        content = row["video"]["bytes"]
        row["video"]["bytes"] = tampering.written(
            tampering.pictures_of(content), tampering.sound_of(content), settings, tag=tag
        )

    return both(change)


def other_rate(row: Row) -> None:
    content = row["video"]["bytes"]
    video = tampering.written(tampering.pictures_of(content), tampering.sound_of(content), SETTINGS, Fraction(12))
    row["video"]["bytes"] = video
    row.update(fps=12.0, duration_s=row["num_frames"] / 12)


def smaller(row: Row) -> None:
    content = row["video"]["bytes"]
    pictures = tampering.pictures_of(content)[:, ::2, ::2]
    row["video"]["bytes"] = tampering.written(pictures, tampering.sound_of(content), SETTINGS)
    row.update(width=pictures.shape[2], height=pictures.shape[1])


def appended(row: Row) -> None:
    row["video"]["bytes"] += b"\0\0\0\x10free" + row["variant"][:8].encode()


TAMPERING: dict[str, Change] = {
    "a control that is done in the source": control_from_source,
    "both actions of one class": with_pair(one_class, drawn=True),
    "a pair in the other split": to_the_test,
    "a pair left out": without_a_pair,
    "a pair said to be skipped": partial(without_a_pair, skipped="undecodable"),
    "rows in another order": backwards,
    "all four cut frames shifted": with_pair(shift_frames),
    "another pair's clips": another_pairs_clips,
    "reversed in time": reversed_in_time,
    "cut three frames later": cut_elsewhere,
    "another rate": both(other_rate),
    "smaller pictures": both(smaller),
    "bytes behind the video": both(appended),
    "a title": encoded(SETTINGS, tag="complement"),
    "worse quality": encoded(EncodeSettings(crf=40, preset="ultrafast")),
    "encoded twice": encoded(SETTINGS),
    **{f"videos {name}": repaint(name) for name in tampering.REPAINTS},
}
SOUNDS: dict[str, Change] = {
    "V′ with the sound of V": swapped_sound,
    **{name: resound(name) for name in tampering.SOUNDS},
}

BUILD: dict[str, Change] = {
    "command": lambda f: f.info.update(command=f.info["command"].replace("--seed 0", "--seed 7")),
    "inputs": lambda f: f.info["inputs"].update({"Charades_v1_train.csv": "0" * 64}),
    "settings": another_seed,
    "limit": lambda f: f.info.update(limit=3, command=f.info["command"].replace(" --out", " --limit 3 --out")),
    "split": lambda f: f.info.update(split="train"),
    "files": lambda f: f.info["files"].update(pairs=["Charades_v1_train.csv"]),
    "source": lambda f: f.info["source"].update(license={"license": "mit"}),
    "tables": lambda f: f.info["tables"].update({"clavi.yaml": "0" * 64}),
    "notes": lambda f: f.info["notes"].update(videos=4),
    "plan_sha256": lambda f: f.info.update(plan_sha256="0" * 64),
    "skips": lambda f: f.info["skips"].update(
        count=1, list=[{"unit_id": "3a3a3a3a", "source_id": "SR0A1", "reason": "missing_video", "detail": ""}]
    ),
}
FREE = {  # what its owner may call it, and what is counted or hashed from the rows
    *("builder", "dataset_version", "tools", "counts", "fingerprint", "fingerprints"),
}

# What cannot be told from the output alone: docs/outputs.md lists it for people.
ONLY_WITH_SOURCES = {
    *("pairs.source_id", "pairs.subject", "pairs.class_a", "pairs.class_b", "pairs.other_actions"),
    *("pairs.start_a_s", "pairs.end_a_s", "pairs.start_b_s", "pairs.end_b_s"),
    *("pairs.source_verbs", "pairs.source_objects", "pairs.source_sha256"),
    *("a pair in the other split", "a pair left out"),
    *("a pair said to be skipped", "another pair's clips", "reversed in time", "cut three frames later"),
    *("all four cut frames shifted", "smaller pictures", "bytes behind the video"),
    *("worse quality", "encoded twice"),
    *(f"videos {name}" for name in tampering.REPAINTS),
    *("inputs", "limit", "tables", "notes", "plan_sha256", "skips"),
}

FAULTS = {**COLUMNS, **TAMPERING, **BUILD}


def test_every_column_has_its_fault() -> None:
    columns = {f"{config.name}.{column.name}" for config in clavi_configs(render=True) for column in config.columns}
    assert set(COLUMNS) == columns


def test_every_entry_of_build_json_has_its_fault(built: Path) -> None:
    assert set(load(built).info) == {*BUILD, *FREE}


def test_a_forger_who_changes_nothing_passes(built: Path, sources: Path, tmp_path: Path) -> None:
    copy = forge(built, tmp_path / "copy", lambda forged: None, card=True)
    found = outcomes(copy, VerifyOptions(sources=sources), leave_out=())
    assert {name: outcome.problems for name, outcome in found.items() if not outcome.passed} == {}
    assert [name for name, outcome in found.items() if outcome.not_checked] == []


def test_without_sources_it_is_said_what_was_not_checked(built: Path) -> None:
    found = outcomes(built, VerifyOptions())
    assert {name for name, outcome in found.items() if outcome.not_checked} == {"annotations", "sources"}
    assert all(outcome.passed for outcome in found.values())


def found(copy: Path, sources: Path | None) -> dict[str, tuple[str, ...]]:
    """The first check that fails; videos are only decoded if the rows alone show nothing."""
    rows = failed(copy, VerifyOptions(decode=False, sources=sources), first=True)
    return rows or failed(copy, VerifyOptions(sources=sources), first=True)


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_found(built: Path, sources: Path, tmp_path: Path, name: str) -> None:
    copy = forge(built, tmp_path / "copy", FAULTS[name])
    alone = found(copy, None)
    assert (not alone) == (name in ONLY_WITH_SOURCES), alone
    assert alone or found(copy, sources), "not found with the sources"


@pytest.mark.parametrize("name", SOUNDS)
def test_other_sound_is_found(sounding: Path, sources: Path, tmp_path: Path, name: str) -> None:
    copy = forge(sounding, tmp_path / "copy", SOUNDS[name])
    assert not found(copy, None)
    assert found(copy, sources), "not found with the sources"


def test_sound_that_stays_passes(sounding: Path, sources: Path) -> None:
    assert failed(sounding, VerifyOptions(sources=sources)) == {}
