import json
import re
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
from stressreel.builders.clavi.render import ClaviBuilder, pieces
from stressreel.builders.clavi.settings import ClaviSettings, decided
from stressreel.builders.clavi.tables import clavi_configs
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


def test_a_payload_says_everything_in_json() -> None:
    made = plan(notes={"videos": 3})
    assert plan(videos=VIDEOS_READ[::-1], notes={"videos": 3}).hash == made.hash
    assert (made.splits, made.builder) == (("train", "test"), "clavi")
    pairs = [(u.source_id, u.split, u.payload["class_a"], u.payload["class_b"]) for u in made.units]
    assert sorted(pairs) == [("AAAAA", "train", "a", "b"), *(("BBBBB", "test", *ab) for ab in ("ab", "ac", "bc"))]
    assert [unit.id for unit in made.units] == sorted({unit.id for unit in made.units})
    assert {name: count for name, count in made.notes.items() if count} == {
        **{"videos": 3, "segments": 7, "segments_too_short_or_long": 2, "pairs_in_reach": 4},
        "videos_without_pairs": 1,
    }
    assert plan(limit=2).units == made.units[:2]
    (unit,) = (unit for unit in made.units if unit.source_id == "AAAAA")
    payload = unit.payload
    assert json.loads(json.dumps(payload)) == payload
    cuts = [payload[name] for name in ("out_a", "in_a", "in_b", "out_b")]
    assert cuts[0] <= 5 < 10 <= cuts[1] <= cuts[2] <= 12.5 < 17 <= cuts[3]
    assert payload["class_c"] in "defgh"
    assert (payload["label_a"], payload["phrase_b"], payload["verb_b"]) == ("Label a", "doing b", "verb b")
    assert (payload["objects_c"], payload["other_actions"]) == ([f"object {payload['class_c']}"], ["c"])


def test_every_setting_is_part_of_the_identity() -> None:
    one = plan()
    changes = {"seed": 1, "rules": "paper", "source": "sta", "render": False, "crf": 20, "audio": "keep"}
    for name, value in changes.items():
        other = plan(ClaviSettings(**{name: value}))
        assert one.hash != other.hash
        assert f"settings.{name}: {getattr(ClaviSettings(), name)} → {value}" in changed(one.identity, other.identity)


def test_pairs_without_control_are_counted() -> None:
    made = plan_clavi(VIDEOS_READ, {"train": POOL[:3], "test": POOL[5:]}, ClaviSettings())
    assert {unit.split for unit in made.units} == {"test"}
    assert {unit.payload["class_c"] for unit in made.units} <= {"f", "g", "h"}
    assert made.notes["pairs_without_negative_control"] == 1


def given(*released: ReleasedPair) -> Plan:
    return plan(ClaviSettings(rules=None), released=released, actions={each.key: each for each in POOL})


def test_released_pairs_are_rebuilt_or_refused() -> None:
    other = replace(RELEASED, id="00000000", a=("c", 1.5, 2), b=("e", 3, 4.5), others=())
    first, second = (unit.payload for unit in given(RELEASED, other).units)
    assert tuple(first[f"{name}_a{unit}"] for name, unit in (("class", ""), ("start", "_s"), ("end", "_s"))) == other.a
    assert first["other_actions"] == []
    assert [second[name] for name in ("out_a", "in_a", "in_b", "out_b")] == [4.321, 10.1, 12.0, 18.0]
    wrong = [replace(RELEASED, video_id=f"V{number:04d}") for number in range(22)]
    with pytest.raises(
        InputError, match=r"^--pairs names videos V0000, .*, V0019 and 2 more and classes c157 that are not"
    ):
        given(RELEASED, *wrong, replace(RELEASED, b=("c157", 3, 4)))
    with pytest.raises(InputError, match="9b71c4ad"):
        given(RELEASED, RELEASED)


# The rows


def test_unit_yields_38_questions_and_two_videos() -> None:
    (unit,) = given(RELEASED).units
    tables, bare = rows_of(unit, FACTS), rows_of(unit, {})
    assert {name: len(rows) for name, rows in tables.items()} == {"questions": 38, "pairs": 1, "videos": 2}
    for config in clavi_configs(ClaviSettings(rules=None)):
        for row in tables[config.name]:
            assert list(row) == [column.name for column in config.columns]
            config.encode(row)
    assert bare == {"questions": tables["questions"], "pairs": bare["pairs"]}
    (pair,), (rendered,) = bare["pairs"], tables["pairs"]
    frames = {"out_a_frame": 100, "in_a_frame": 200, "in_b_frame": 250, "out_b_frame": 400, "source_sha256": "s" * 64}
    assert rendered == pair | frames
    assert pair == rendered | dict.fromkeys(frames)
    one, other = tables["videos"]
    ids = {"video_id": "9b71c4ad_2", "variant": "complement", "sha256": "2" * 64, "video": "2.mp4"}
    assert other == one | ids


def test_question_order_and_wording_follow_templates() -> None:
    (unit,) = given(RELEASED).units
    phrases = {"phrase_a": "holding {x}", "phrase_b": "holding {y}", "phrase_c": "holding {}"}  # taken literally
    rows = rows_of(replace(unit, payload=unit.payload | phrases), FACTS)["questions"]
    assert [row["question_id"] for row in rows] == [f"9b71c4ad_{v}_{n:02d}" for v in (1, 2) for n in range(19)]
    for row, (variant, template) in zip(rows, [(v, t) for v in (0, 1) for t in load_questions()], strict=True):
        x, y = phrases[f"phrase_{template.x.lower()}"], phrases[f"phrase_{(template.y or 'A').lower()}"]
        worded = re.sub(r"\{([xy])\}", r"%(\1)s", template.text) % {"x": x, "y": y}
        assert row["question"] == worded
        assert (row["answer"], row["type"], row["subset"]) == (
            template.answers[variant],
            template.type,
            template.subset,
        )


def test_question_links_are_symmetric() -> None:
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


# The pieces


def index(pts: list[int], end: int, time_base: str = "1/10", zero: str = "0") -> FrameIndex:
    return FrameIndex(
        Path("AAAAA.mp4"), np.array(pts), end, Fraction(time_base), Fraction(zero), np.empty(0, dtype=np.int64)
    )


TEN_S = index(list(range(100)), 100)


def unit(out_a: float, in_a: float, in_b: float, out_b: float, **annotated: float) -> Unit:
    cuts = {"out_a": out_a, "in_a": in_a, "in_b": in_b, "out_b": out_b}
    times = {"start_a_s": out_a, "end_a_s": in_a, "start_b_s": in_b, "end_b_s": out_b}
    return Unit("9b71c4ad", "train", "AAAAA", cuts | times | annotated)


def test_pieces_start_at_or_after_cuts() -> None:
    for cuts, frames in (
        ((1.0, 3.0, 4.0, 9.0), (10, 30, 40, 90)),
        ((1.001, 3.001, 4.001, 9.001), (11, 31, 41, 91)),  # the first frame at or after
        ((0.999, 2.999, 3.999, 8.999), (10, 30, 40, 90)),
        ((0.0, 0.1, 0.1, 0.2), (0, 1, 1, 2)),  # no filler, one frame each
        ((1.0, 3.01, 3.09, 9.0), (10, 31, 31, 90)),  # a filler between two frames
        ((0.0, 3.0, 4.0, 10.5), (0, 30, 40, 100)),  # up to half a second more than there is
    ):
        a, filler, b = pieces(TEN_S, unit(*cuts))
        assert (a.start, a.stop, b.start, b.stop) == frames
        assert filler == range(frames[1], frames[2])


def test_balanced_cuts_swap_filler_halves() -> None:
    balanced = ClaviBuilder(decided(ClaviSettings(charades="sample", cuts="balanced")))
    for in_b, halves in ((4.0, (range(35, 40), range(30, 35))), (3.5, (range(32, 35), range(30, 32)))):
        v, complement = balanced.edits(TEN_S, unit(1, 3, in_b, 9))
        a, b = range(10, 30), range(round(10 * in_b), 90)
        assert (v, complement) == ((a, *halves, b), (b, *halves, a))
    assert balanced.settings.min_gap == 2.5
    released = ClaviBuilder(ClaviSettings()).edits(TEN_S, unit(1, 3, 4, 9))
    assert released == ((range(10, 90),), (range(40, 90), range(30, 40), range(10, 30)))


def test_pieces_use_exact_timestamps() -> None:
    late = index([7, 8, 30, 31, 50, 90], 100, zero="7/10")
    assert [late.seconds(n) for n in range(7)] == [Fraction(s, 10) for s in (0, 1, 23, 24, 43, 83, 93)]
    assert pieces(late, unit(0.05, 2.3, 2.4, 8.2)) == (range(1, 2), range(2, 3), range(3, 5))
    tenths = index(list(range(0, 2000, 100)), 2000, "1/1000")
    assert pieces(tenths, unit(0.1, 0.3, 0.6, 0.7)) == (range(1, 3), range(3, 6), range(6, 7))
    ntsc = index([1001 * n for n in range(120)], 120 * 1001, "1/30000")  # 29.97 frames a second
    assert pieces(ntsc, unit(0, 1.002, 2.001, 3.004)) == (range(31), range(31, 60), range(60, 91))


def test_a_video_that_is_too_short_is_refused() -> None:
    for cuts, end_b_s in (((1, 3, 4, 12), 10.5), ((1, 3, 9.9, 10.4), 10.3)):
        pieces(TEN_S, unit(*cuts, end_b_s=end_b_s))
    for cuts, end_b_s in (
        ((1, 3, 4, 12), 10.51),
        ((1, 3, 9.95, 10.4), 10.3),  # B begins after the last frame
        ((1.01, 1.09, 4, 9), 9),  # A lies between two frames
        ((1, 3, 4.01, 4.09), 4.09),  # B lies between two frames
    ):
        with pytest.raises(VideoError) as caught:
            pieces(TEN_S, unit(*cuts, end_b_s=end_b_s))
        assert caught.value.reason == "too_short"
        picture, wanted = caught.value.detail.split(", but ")
        assert wanted == f"the pair 9b71c4ad needs {cuts[0]:.3f} to {cuts[3]:.3f} s"
        if cuts[3] == 12:
            assert picture == "AAAAA.mp4 has a picture from 0.00 to 10.00 s (100 frames)"
        else:
            assert picture.startswith("AAAAA.mp4 has a single frame from ")


def test_late_picture_is_refused() -> None:
    late = index(list(range(20, 100)), 100)  # from 2 s to 10 s
    assert pieces(late, unit(1.5, 4, 5, 10)) == (range(20), range(20, 30), range(30, 80))
    assert pieces(late, unit(0.5, 4, 5, 10, start_a_s=1.6))[0] == range(20)  # only what precedes A is missing
    for cuts, start_a_s in (((1.49, 4, 5, 9), 1.49), ((1, 4, 5, 9), 1.4), ((0, 1.9, 4, 9), 0), ((1.6, 1.9, 4, 9), 1.6)):
        with pytest.raises(VideoError) as caught:
            pieces(late, unit(*cuts, start_a_s=start_a_s))
        assert (caught.value.reason, "from 2.00 to 10.00 s" in caught.value.detail) == ("too_short", True)


def test_frame_held_across_cut_is_refused() -> None:
    held = index([*range(50), *range(60, 100)], 100)  # nothing new from 5 s to 6 s
    assert pieces(held, unit(1, 4, 5.5, 9))[2] == range(50, 80)
    for cuts in ((1, 4, 5.4, 9), (1, 5.4, 7, 9)):
        with pytest.raises(VideoError, match=r"a single frame from 4\.90 to 6\.00 s, but the pair 9b71c4ad"):
            pieces(held, unit(*cuts))
    slides = index(list(range(0, 100, 20)), 100)  # a frame every two seconds
    assert pieces(slides, unit(1.5, 4, 4, 10)) == (range(1, 2), range(2, 2), range(2, 5))
    with pytest.raises(VideoError, match=r"a single frame from 0\.00 to 2\.00 s"):
        pieces(slides, unit(1.4, 4, 4, 10))


def test_missing_and_unreadable_sources_are_skipped(tmp_path: Path) -> None:
    broken = tmp_path / "AAAAA.mp4"
    broken.write_bytes(b"no video at all" * 100)
    (unit,) = given(RELEASED).units
    for videos, reason, detail in (
        ({}, "missing_video", "there is no video file of the name AAAAA"),
        ({"AAAAA": str(broken)}, "unreadable_video", "AAAAA.mp4: Invalid data found"),
    ):
        skip = ClaviBuilder(ClaviSettings(), videos).missing(unit)
        assert skip
        assert (skip.unit_id, skip.source_id, skip.reason, skip.allowed) == ("9b71c4ad", "AAAAA", reason, True)
        assert skip.detail.startswith(detail)
