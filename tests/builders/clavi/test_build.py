from __future__ import annotations

import json
import pickle
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stressreel.annotations.actions import Action, AnnotatedVideo, Segment
from stressreel.annotations.clavi import ReleasedPair
from stressreel.builders.clavi.plan import plan_clavi
from stressreel.builders.clavi.questions import question_rows
from stressreel.builders.clavi.render import ClaviBuilder, pieces
from stressreel.builders.clavi.settings import ClaviSettings
from stressreel.builders.clavi.tables import PAIRS, QUESTIONS, VIDEOS
from stressreel.core.errors import InputError, VideoError
from stressreel.core.plan import Plan, Unit, changed
from stressreel.core.schema import Row
from stressreel.templates import load_questions
from stressreel.video.index import FrameIndex

Span = tuple[str, float, float]


def action(key: str) -> Action:
    return Action(key, f"Label {key}", f"doing {key}", f"verb {key}", frozenset([f"object {key}"]))


def video(name: str, *spans: Span, split: str = "train") -> AnnotatedVideo:
    segments = tuple(Segment(action(key), start, end) for key, start, end in spans)
    keys = [segment.action.key for segment in segments]
    verbs, objects = ({f"{what} {key}" for key in keys} for what in ("verb", "object"))
    return AnnotatedVideo(name, split, "SUBJ", 60.0, segments, frozenset(verbs), frozenset(objects), {})


VIDEOS_READ = [
    video("AAAAA", ("a", 5, 10), ("b", 12.5, 17), ("c", 30, 33)),
    video("BBBBB", ("a", 1, 5.25), ("b", 12, 17), ("c", 25, 30), ("d", 40, 41), split="test"),
    video("CCCCC"),
]
POOL = [action(key) for key in "abcdefgh"]
CONTROLS = {"train": POOL, "test": POOL}
RELEASED = ReleasedPair("9b71c4ad", "AAAAA", ("a", 5, 10), ("b", 12.5, 17), ("c",), (4321, 10100, 12000, 18000))


def plan(settings: ClaviSettings | None = None, **more: Any) -> Plan:
    return plan_clavi(more.pop("videos", VIDEOS_READ), CONTROLS, settings or ClaviSettings(), **more)


def rows_of(unit: Unit, facts: dict[str, Any], settings: ClaviSettings | None = None) -> dict[str, list[Row]]:
    tables: dict[str, list[Row]] = {}
    for name, row in ClaviBuilder(settings or ClaviSettings()).rows(unit, facts):
        tables.setdefault(name, []).append(row)
    return tables


FACTS = {
    "frames": [100, 200, 250, 400],
    "num_frames": 300,
    "fps": 29.97,
    "width": 640,
    "height": 480,
    "duration_s": 10.01,
    "source_sha256": "s" * 64,
    "sha256": ["1" * 64, "2" * 64],
    "files": {"1.mp4": 1000, "2.mp4": 1001},
}


# The plan


def test_every_selected_pair_is_one_unit_sorted_by_id() -> None:
    made = plan()
    pairs = [(u.source_id, u.split, u.payload["class_a"], u.payload["class_b"]) for u in made.units]
    assert sorted(pairs) == [("AAAAA", "train", "a", "b"), *(("BBBBB", "test", *ab) for ab in ("ab", "ac", "bc"))]
    assert [unit.id for unit in made.units] == sorted({unit.id for unit in made.units})
    assert all(unit.payload["pair_id"] == unit.id for unit in made.units)
    assert made.splits == ("train", "test")
    assert made.builder == "clavi"


def test_a_payload_says_everything_in_json() -> None:
    (unit,) = (unit for unit in plan().units if unit.source_id == "AAAAA")
    payload = unit.payload
    assert json.loads(json.dumps(payload)) == payload
    cuts = [payload.pop(name) for name in ("out_a", "in_a", "in_b", "out_b")]
    control = payload["class_c"]
    assert control in "defgh"
    assert cuts[0] <= 5 < 10 <= cuts[1] <= cuts[2] <= 12.5 < 17 <= cuts[3]
    assert all(round(cut * 1000) / 1000 == cut for cut in cuts)
    assert payload == {
        "pair_id": unit.id,
        "source_id": "AAAAA",
        "subject": "SUBJ",
        **{f"class_{letter}": key for letter, key in zip("abc", f"ab{control}", strict=True)},
        **{f"label_{letter}": f"Label {key}" for letter, key in zip("abc", f"ab{control}", strict=True)},
        **{f"phrase_{letter}": f"doing {key}" for letter, key in zip("abc", f"ab{control}", strict=True)},
        **{f"verb_{letter}": f"verb {key}" for letter, key in zip("abc", f"ab{control}", strict=True)},
        **{f"objects_{letter}": [f"object {key}"] for letter, key in zip("abc", f"ab{control}", strict=True)},
        "start_a_s": 5,
        "end_a_s": 10,
        "start_b_s": 12.5,
        "end_b_s": 17,
        "other_actions": ["c"],
        "source_verbs": ["verb a", "verb b", "verb c"],
        "source_objects": ["object a", "object b", "object c"],
    }


def test_the_order_of_videos_changes_nothing() -> None:
    assert plan(videos=VIDEOS_READ[::-1]).hash == plan().hash


def test_another_video_more_changes_no_other_unit() -> None:
    more = [*VIDEOS_READ, video("DDDDD", ("a", 5, 10), ("b", 12.5, 17), ("c", 30, 33))]
    units = {unit.id: unit for unit in plan(videos=more).units}
    assert len(units) == 5
    assert all(units[unit.id] == unit for unit in plan().units)


@pytest.mark.parametrize(
    ("settings", "difference"),
    [
        (ClaviSettings(seed=1), "settings.seed: 0 → 1"),
        (ClaviSettings(rules="paper"), "settings.rules: released → paper"),
        (ClaviSettings(source="sta"), "settings.source: actions → sta"),
        (ClaviSettings(render=False), "settings.render: True → False"),
        (ClaviSettings(crf=20), "settings.crf: 23 → 20"),
        (ClaviSettings(preset="slow"), "settings.preset: veryfast → slow"),
        (ClaviSettings(audio="keep"), "settings.audio: drop → keep"),
    ],
)
def test_every_setting_is_part_of_the_identity(settings: ClaviSettings, difference: str) -> None:
    one, other = plan(), plan(settings)
    assert one.hash != other.hash
    assert difference in changed(one.identity, other.identity)


def test_seed_changes_cuts_and_controls_but_not_ids() -> None:
    units = [plan(ClaviSettings(seed=seed)).units for seed in range(12)]
    assert len({tuple(unit.id for unit in drawn) for drawn in units}) == 1
    assert len({drawn[0].payload["out_a"] for drawn in units}) > 6
    assert len({drawn[0].payload["class_c"] for drawn in units}) > 1


def test_limit_and_given_identity_are_part_of_the_identity() -> None:
    one = plan(identity={"inputs": {"a.csv": "1"}, "dataset_version": "1.0.0"})
    for other, difference in (
        (plan(limit=3, identity=one.identity), "limit: absent → 3"),
        (plan(identity={"inputs": {"a.csv": "2"}, "dataset_version": "1.0.0"}), "inputs.a.csv: 1 → 2"),
        (plan(identity={"inputs": {"a.csv": "1"}, "dataset_version": "1.0.1"}), "dataset_version: 1.0.0 → 1.0.1"),
    ):
        assert changed(one.identity, other.identity) == [difference]
        assert one.hash != other.hash


def test_the_tables_that_word_the_questions_are_part_of_the_identity() -> None:
    assert set(plan().identity["tables"]) == {"charades_classes.yaml", "clavi.yaml"}
    assert {"charades_classes.yaml", "clavi.yaml"} < set(plan(ClaviSettings(source="sta")).identity["tables"])


def test_limit_takes_the_first_pairs_by_id() -> None:
    assert plan(limit=2).units == plan().units[:2]
    assert plan(limit=99).units == plan().units


@pytest.mark.parametrize(("render", "names"), [(True, "questions videos pairs"), (False, "questions pairs")])
def test_videos_are_a_table_only_if_they_are_made(render: bool, names: str) -> None:
    made = plan(ClaviSettings(render=render))
    assert [config.name for config in made.configs] == names.split()
    assert [config.name for config in made.configs if config.default] == ["questions"]
    assert ClaviBuilder(ClaviSettings(render=render)).renders(made.units[0]) is render


def test_pairs_without_a_negative_control_are_left_out_and_counted() -> None:
    made = plan_clavi(VIDEOS_READ, {"train": POOL[:3], "test": POOL}, ClaviSettings(), notes={"videos": 3})
    assert {unit.split for unit in made.units} == {"test"}
    read = {"videos": 3, "segments": 7, "segments_too_short_or_long": 2, "pairs_in_reach": 4}
    assert made.notes == {**read, "pairs_without_negative_control": 1}
    assert plan(notes={"videos": 3}).notes == read


def test_controls_come_from_the_pool_of_their_split() -> None:
    made = plan_clavi(VIDEOS_READ, {"train": POOL[:5], "test": POOL[5:]}, ClaviSettings())
    drawn = {unit.split: {u.payload["class_c"] for u in made.units if u.split == unit.split} for unit in made.units}
    assert drawn["train"] <= {"d", "e"}
    assert drawn["test"] <= {"f", "g", "h"}


def given(*released: ReleasedPair) -> Plan:
    return plan(ClaviSettings(rules=None), released=released, actions={each.key: each for each in POOL})


def test_given_pairs_are_planned_as_they_are() -> None:
    other = replace(RELEASED, id="00000000", a=("c", 1.5, 2), b=("e", 3, 4.5), others=())
    made = given(RELEASED, other)
    assert [unit.id for unit in made.units] == ["00000000", "9b71c4ad"]
    first, second = (unit.payload for unit in made.units)
    assert (first["class_a"], first["start_a_s"], first["end_a_s"]) == other.a
    assert (first["class_b"], first["start_b_s"], first["end_b_s"]) == other.b
    assert first["other_actions"] == []
    assert [second[name] for name in ("out_a", "in_a", "in_b", "out_b")] == [4.321, 10.1, 12.0, 18.0]
    assert second["other_actions"] == ["c"]
    assert second["class_c"] in "defgh"


def test_given_pairs_must_be_in_the_annotations() -> None:
    wrong = [replace(RELEASED, video_id=f"V{number:04d}") for number in range(22)]
    with pytest.raises(InputError) as caught:
        given(RELEASED, *wrong, replace(RELEASED, b=("c157", 3, 4)))
    assert str(caught.value) == (
        f"--pairs names videos {', '.join(pair.video_id for pair in wrong[:20])} and 2 more and classes c157 that the "
        "Charades annotations do not have. Give the CSV that the pairs were made from (the split that --split asks "
        "for, too)."
    )
    with pytest.raises(InputError, match=r"^--pairs names classes c157 that"):
        given(replace(RELEASED, a=("c157", 3, 4)))
    with pytest.raises(InputError, match=r"^--pairs names videos ELSE that"):
        given(replace(RELEASED, video_id="ELSE"))


def test_a_pair_given_twice_is_refused() -> None:
    with pytest.raises(InputError, match="9b71c4ad"):
        given(RELEASED, RELEASED)


# The rows


def test_a_unit_has_38_questions_one_pair_and_two_videos() -> None:
    (unit,) = given(RELEASED).units
    tables = rows_of(unit, FACTS)
    assert {name: len(rows) for name, rows in tables.items()} == {"questions": 38, "pairs": 1, "videos": 2}
    for config in (QUESTIONS, PAIRS, VIDEOS):
        for row in tables[config.name]:
            assert list(row) == [column.name for column in config.columns]
            config.encode(row)


def test_without_videos_there_are_questions_and_the_pair_without_frames() -> None:
    (unit,) = given(RELEASED).units
    tables = rows_of(unit, {})
    assert {name: len(rows) for name, rows in tables.items()} == {"questions": 38, "pairs": 1}
    assert tables["questions"] == rows_of(unit, FACTS)["questions"]
    (pair,), (rendered,) = tables["pairs"], rows_of(unit, FACTS)["pairs"]
    names = ["out_a_frame", "in_a_frame", "in_b_frame", "out_b_frame", "source_sha256"]
    assert {name for name, value in pair.items() if value != rendered[name]} == set(names)
    assert [pair[name] for name in names] == [None] * 5
    assert [rendered[name] for name in names] == [100, 200, 250, 400, "s" * 64]
    assert {name: value for name, value in pair.items() if name not in names} == {
        name: value for name, value in unit.payload.items() if name not in names
    }


def test_the_two_videos_share_all_but_variant_and_file() -> None:
    (unit,) = given(RELEASED).units
    one, other = rows_of(unit, FACTS)["videos"]
    shared = {
        "pair_id": "9b71c4ad",
        "source_id": "AAAAA",
        **{name: FACTS[name] for name in ("num_frames", "fps", "width", "height", "duration_s")},
    }
    assert one == {
        **shared,
        "video_id": "9b71c4ad_1",
        "variant": "original",
        "sha256": "1" * 64,
        "video": "1.mp4",
    }
    assert other == {
        **shared,
        "video_id": "9b71c4ad_2",
        "variant": "complement",
        "sha256": "2" * 64,
        "video": "2.mp4",
    }


def test_questions_are_numbered_in_the_order_of_the_templates_and_worded_with_the_phrases() -> None:
    (unit,) = given(RELEASED).units
    rows = rows_of(unit, FACTS)["questions"]
    assert [row["question_id"] for row in rows] == [f"9b71c4ad_{v}_{n:02d}" for v in (1, 2) for n in range(19)]
    phrases = {letter: unit.payload[f"phrase_{letter.lower()}"] for letter in "ABC"}
    for row, (variant, template) in zip(rows, [(v, t) for v in (0, 1) for t in load_questions()], strict=True):
        expected = template.text.replace("{x}", phrases[template.x]).replace("{y}", phrases[template.y or "A"])
        assert row["question"] == expected
        assert (row["video_id"], row["pair_id"]) == (f"9b71c4ad_{variant + 1}", "9b71c4ad")
        assert row["variant"] == ("original", "complement")[variant]
        assert (row["answer"], row["type_id"]) == (template.answers[variant], template.type_ids[variant])
        assert (row["type"], row["subset"], row["template_id"]) == (
            template.type,
            template.subset,
            template.template_id,
        )


def test_links_of_questions_point_back_to_the_right_video_and_time() -> None:
    (unit,) = given(RELEASED).units
    rows = {row["question_id"]: row for row in rows_of(unit, FACTS)["questions"]}
    opposite = {"before": "after", "after": "before", "beginning?": "end?", "end?": "beginning?"}
    for name, row in rows.items():
        counterpart = rows[row["counterpart_question_id"]]
        assert counterpart["counterpart_question_id"] == name
        assert (counterpart["question"], counterpart["type"]) == (row["question"], row["type"])
        assert {counterpart["variant"], row["variant"]} == {"original", "complement"}
        flips = row["type"] in ("BE", "BA")
        assert (counterpart["answer"] != row["answer"]) is flips
        if row["complement_question_id"] is None:
            assert row["type"] in ("E", "E-NC")
            continue
        complement = rows[row["complement_question_id"]]
        assert complement["complement_question_id"] == name
        assert complement["video_id"] == row["video_id"]
        assert complement["question"].split() == [opposite.get(word, word) for word in row["question"].split()]
        assert (complement["answer"] != row["answer"]) is flips
    for variant in ("original", "complement"):
        answers = Counter(row["answer"] for row in rows.values() if row["variant"] == variant)
        assert answers == {"yes": 6, "no": 13}


def test_phrases_with_braces_are_taken_literally() -> None:
    phrases = {"phrase_a": "holding {x}", "phrase_b": "holding {y}", "phrase_c": "holding {}"}
    pair = {"pair_id": "0", "source_id": "v", **phrases}
    worded = [row["question"] for row in question_rows(pair, 0)]
    assert worded[0] == "Was someone holding {x}?"
    assert "Did holding {x} happen before holding {y}?" in worded


# The pieces


def index(pts: list[int], end: int, time_base: str = "1/10", zero: str = "0") -> FrameIndex:
    return FrameIndex(
        Path("AAAAA.mp4"), np.array(pts), end, Fraction(time_base), Fraction(zero), np.empty(0, dtype=np.int64)
    )


TEN_S = index(list(range(100)), 100)


def unit(out_a: float, in_a: float, in_b: float, out_b: float, end_b_s: float | None = None) -> Unit:
    cuts = {"out_a": out_a, "in_a": in_a, "in_b": in_b, "out_b": out_b, "end_b_s": end_b_s or out_b}
    return Unit("9b71c4ad", "train", "AAAAA", cuts)


@pytest.mark.parametrize(
    ("cuts", "frames"),
    [
        ((1.0, 3.0, 4.0, 9.0), (10, 30, 40, 90)),
        ((1.001, 3.001, 4.001, 9.001), (11, 31, 41, 91)),  # the first frame at or after
        ((0.999, 2.999, 3.999, 8.999), (10, 30, 40, 90)),
        ((0.901, 2.9, 3.901, 8.9), (10, 29, 40, 89)),
        ((0.0, 0.1, 0.1, 0.2), (0, 1, 1, 2)),  # no filler, one frame each
        ((1.0, 3.01, 3.09, 9.0), (10, 31, 31, 90)),  # a filler between two frames
        ((0.0, 3.0, 4.0, 10.0), (0, 30, 40, 100)),
        ((0.0, 3.0, 4.0, 10.5), (0, 30, 40, 100)),  # up to half a second more than there is
        ((0.0, 3.0, 4.0, 9.901), (0, 30, 40, 100)),
        ((0.0, 3.0, 4.0, 9.9), (0, 30, 40, 99)),
    ],
)
def test_pieces_start_with_the_first_frame_at_or_after_a_cut(
    cuts: tuple[float, float, float, float], frames: tuple[int, int, int, int]
) -> None:
    a, filler, b = pieces(TEN_S, unit(*cuts))
    assert (a.start, a.stop, b.start, b.stop) == frames
    assert filler == range(frames[1], frames[2])
    assert bool(filler) is (frames[1] < frames[2])


def test_pieces_go_by_timestamps_not_by_rate() -> None:
    late = index([7, 8, 30, 31, 50, 90], 100, zero="7/10")
    assert [late.seconds(n) for n in range(7)] == [Fraction(s, 10) for s in (0, 1, 23, 24, 43, 83, 93)]
    assert pieces(late, unit(0.05, 2.3, 2.4, 4.4)) == (range(1, 2), range(2, 3), range(3, 5))


def test_cuts_are_compared_exactly_where_binary_fractions_are_not() -> None:
    assert Fraction(0.1) > Fraction(1, 10)
    tenths = index(list(range(0, 2000, 100)), 2000, "1/1000")
    assert pieces(tenths, unit(0.1, 0.3, 0.6, 0.7)) == (range(1, 3), range(3, 6), range(6, 7))
    ntsc = index([1001 * n for n in range(120)], 120 * 1001, "1/30000")  # 29.97 frames a second
    assert pieces(ntsc, unit(0, 1.001, 2.002, 3.003)) == (range(30), range(30, 60), range(60, 90))
    assert pieces(ntsc, unit(0, 1.002, 2.001, 3.004)) == (range(31), range(31, 60), range(60, 91))


@pytest.mark.parametrize(
    ("cuts", "end_b_s", "fits"),
    [
        ((1, 3, 4, 12), 10.5, True),
        ((1, 3, 4, 12), 10.51, False),
        ((1, 3, 9.95, 10.4), 10.3, False),  # B begins after the last frame
        ((1, 3, 9.9, 10.4), 10.3, True),
        ((1.01, 1.09, 4, 9), 9, False),  # A lies between two frames
        ((1.01, 1.11, 4, 9), 9, True),
        ((1, 3, 4.01, 4.09), 4.09, False),  # B lies between two frames
        ((1, 3, 4.01, 4.11), 4.11, True),
    ],
)
def test_a_video_that_is_too_short_says_so(cuts: tuple[float, float, float, float], end_b_s: float, fits: bool) -> None:
    if fits:
        pieces(TEN_S, unit(*cuts, end_b_s))
        return
    with pytest.raises(VideoError) as caught:
        pieces(TEN_S, unit(*cuts, end_b_s))
    assert caught.value.reason == "too_short"
    assert caught.value.detail == (
        f"AAAAA.mp4: the video shows 100 frames in 10.00 s; the pair needs {cuts[0]:.3f} to {cuts[3]:.3f} s"
    )


# The builder


def test_a_builder_and_its_units_cross_process_borders() -> None:
    builder = ClaviBuilder(ClaviSettings(seed=3), {"AAAAA": "/somewhere/AAAAA.mp4"})
    made = plan()
    assert pickle.loads(pickle.dumps((builder, made.units))) == (builder, made.units)


def test_sources_that_are_missing_or_do_not_open_are_told(tmp_path: Path) -> None:
    broken = tmp_path / "AAAAA.mp4"
    broken.write_bytes(b"no video at all" * 100)
    (unit,) = given(RELEASED).units
    missing = ClaviBuilder(ClaviSettings()).missing(unit)
    assert missing
    assert (missing.unit_id, missing.source_id, missing.reason) == ("9b71c4ad", "AAAAA", "missing_video")
    assert missing.detail == "there is no file AAAAA.mp4"
    unreadable = ClaviBuilder(ClaviSettings(), {"AAAAA": str(broken)}).missing(unit)
    assert unreadable
    assert unreadable.reason == "unreadable_video"
    assert unreadable.detail.startswith("AAAAA.mp4: Invalid data found")
    assert missing.allowed
    assert unreadable.allowed
