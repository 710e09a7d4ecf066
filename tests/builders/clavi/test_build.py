"""Plans of pairs, the rows about them, and the frames that are cut."""

import json
import re
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
RELEASED = ReleasedPair("9b71c4ad", "AAAAA", ("a", 5, 10), ("b", 12.5, 17), ("c",), (4321, 10100, 12000, 18000))
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


def plan(settings: ClaviSettings | None = None, **more: Any) -> Plan:
    controls = more.pop("controls", {"train": POOL, "test": POOL})
    return plan_clavi(more.pop("videos", VIDEOS_READ), controls, settings or ClaviSettings(), **more)


def rebuilt(*released: ReleasedPair) -> Plan:
    return plan(ClaviSettings(rules=None), released=released, actions={each.key: each for each in POOL})


def rows_of(facts: dict[str, Any], **payload: str) -> dict[str, list[Row]]:
    (unit,) = rebuilt(RELEASED).units
    tables: dict[str, list[Row]] = {}
    for name, row in ClaviBuilder(ClaviSettings()).rows(replace(unit, payload=unit.payload | payload), facts):
        tables.setdefault(name, []).append(row)
    return tables


def test_a_payload_says_everything_in_json() -> None:
    made = plan(notes={"videos": 3})
    assert plan(videos=VIDEOS_READ[::-1], notes={"videos": 3}).hash == made.hash
    assert (made.splits, made.builder) == (("train", "test"), "clavi")
    pairs = [(u.source_id, u.split, u.payload["class_a"], u.payload["class_b"]) for u in made.units]
    assert sorted(pairs) == [("AAAAA", "train", "a", "b"), *(("BBBBB", "test", *ab) for ab in ("ab", "ac", "bc"))]
    assert [unit.id for unit in made.units] == sorted({unit.id for unit in made.units})
    notes = {"videos": 3, "segments": 7, "segments_too_short_or_long": 2, "pairs_in_reach": 4}
    assert {name: count for name, count in made.notes.items() if count} == {**notes, "videos_without_pairs": 1}
    assert plan(limit=2).units == made.units[:2]
    (payload,) = (unit.payload for unit in made.units if unit.source_id == "AAAAA")
    assert json.loads(json.dumps(payload)) == payload
    cuts = [payload[name] for name in ("out_a", "in_a", "in_b", "out_b")]
    assert cuts[0] <= 5 < 10 <= cuts[1] <= cuts[2] <= 12.5 < 17 <= cuts[3]
    assert payload["class_c"] in "defgh"
    assert (payload["label_a"], payload["phrase_b"], payload["verb_b"]) == ("Label a", "doing b", "verb b")
    assert (payload["objects_c"], payload["other_actions"]) == ([f"object {payload['class_c']}"], ["c"])


def test_every_setting_is_part_of_the_identity() -> None:
    one = plan()
    for name, value in {"seed": 1, "rules": "paper", "source": "sta", "crf": 20, "audio": "keep"}.items():
        other = plan(ClaviSettings(**{name: value}))
        assert one.hash != other.hash
        assert f"settings.{name}: {getattr(ClaviSettings(), name)} → {value}" in changed(one.identity, other.identity)


def test_pairs_without_control_are_counted() -> None:
    made = plan(controls={"train": POOL[:3], "test": POOL[5:]})
    assert {unit.split for unit in made.units} == {"test"}
    assert {unit.payload["class_c"] for unit in made.units} <= {"f", "g", "h"}
    assert made.notes["pairs_without_negative_control"] == 1


def test_released_pairs_are_rebuilt_or_refused() -> None:
    other = replace(RELEASED, id="00000000", a=("c", 1.5, 2), b=("e", 3, 4.5), others=())
    first, second = (unit.payload for unit in rebuilt(RELEASED, other).units)
    assert (first["class_a"], first["start_a_s"], first["end_a_s"], first["other_actions"]) == (*other.a, [])
    assert [second[name] for name in ("out_a", "in_a", "in_b", "out_b")] == [4.321, 10.1, 12.0, 18.0]
    wrong = [replace(RELEASED, video_id=f"V{number:04d}") for number in range(22)]
    with pytest.raises(InputError, match=r"V0000, .*, V0019 and 2 more and classes c157 "):
        rebuilt(RELEASED, *wrong, replace(RELEASED, b=("c157", 3, 4)))
    with pytest.raises(InputError, match="9b71c4ad"):
        rebuilt(RELEASED, RELEASED)


def test_rows_have_the_columns_of_their_tables() -> None:
    tables, bare = rows_of(FACTS), rows_of({})
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


def test_questions_follow_templates_in_order() -> None:
    phrases = {"phrase_a": "holding {x}", "phrase_b": "holding {y}", "phrase_c": "holding {}"}  # taken literally
    rows = rows_of(FACTS, **phrases)["questions"]
    assert [row["question_id"] for row in rows] == [f"9b71c4ad_{v}_{n:02d}" for v in (1, 2) for n in range(19)]
    for row, (variant, template) in zip(rows, [(v, t) for v in (0, 1) for t in load_questions()], strict=True):
        x, y = phrases[f"phrase_{template.x.lower()}"], phrases[f"phrase_{(template.y or 'A').lower()}"]
        assert row["question"] == re.sub(r"\{([xy])\}", r"%(\1)s", template.text) % {"x": x, "y": y}
        assert row["answer"] == template.answers[variant]
        assert (row["type"], row["subset"]) == (template.type, template.subset)


# The pieces


def index(pts: list[int], end: int, time_base: str = "1/10", zero: str = "0") -> FrameIndex:
    none = np.empty(0, dtype=np.int64)
    return FrameIndex(Path("AAAAA.mp4"), np.array(pts), end, Fraction(time_base), Fraction(zero), none)


def unit(out_a: float, in_a: float, in_b: float, out_b: float, **annotated: float) -> Unit:
    cuts = {"out_a": out_a, "in_a": in_a, "in_b": in_b, "out_b": out_b}
    times = {"start_a_s": out_a, "end_a_s": in_a, "start_b_s": in_b, "end_b_s": out_b}
    return Unit("9b71c4ad", "train", "AAAAA", cuts | times | annotated)


TEN_S = index(list(range(100)), 100)
LATE = index(list(range(20, 100)), 100)  # from 2 s to 10 s
HELD = index([*range(50), *range(60, 100)], 100)  # nothing new from 5 s to 6 s
SLIDES = index(list(range(0, 100, 20)), 100)  # a frame every two seconds
NTSC = index([1001 * n for n in range(120)], 120 * 1001, "1/30000")  # 29.97 frames a second
ODD = index([7, 8, 30, 31, 50, 90], 100, zero="7/10")


@pytest.mark.parametrize(
    ("frames", "cuts", "annotated", "edges"),
    [
        (TEN_S, (1.0, 3.0, 4.0, 9.0), {}, (10, 30, 40, 90)),
        (TEN_S, (1.001, 3.001, 4.001, 9.001), {}, (11, 31, 41, 91)),  # the first frame at or after
        (TEN_S, (0.999, 2.999, 3.999, 8.999), {}, (10, 30, 40, 90)),
        (TEN_S, (0.0, 0.1, 0.1, 0.2), {}, (0, 1, 1, 2)),  # no filler, one frame each
        (TEN_S, (1.0, 3.01, 3.09, 9.0), {}, (10, 31, 31, 90)),  # a filler between two frames
        (TEN_S, (0.0, 3.0, 4.0, 10.5), {}, (0, 30, 40, 100)),  # up to half a second more than there is
        (TEN_S, (1, 3, 4, 12), {"end_b_s": 10.5}, (10, 30, 40, 100)),
        (ODD, (0.05, 2.3, 2.4, 8.2), {}, (1, 2, 3, 5)),
        (NTSC, (0, 1.002, 2.001, 3.004), {}, (0, 31, 60, 91)),
        (LATE, (1.5, 4, 5, 10), {}, (0, 20, 30, 80)),
        (LATE, (0.5, 4, 5, 10), {"start_a_s": 1.6}, (0, 20, 30, 80)),  # only what precedes A is missing
        (HELD, (1, 4, 5.5, 9), {}, (10, 40, 50, 80)),
        (SLIDES, (1.5, 4, 4, 10), {}, (1, 2, 2, 5)),
    ],
)
def test_pieces_start_at_or_after_cuts(
    frames: FrameIndex, cuts: tuple[float, ...], annotated: dict[str, float], edges: tuple[int, ...]
) -> None:
    out_a, in_a, in_b, out_b = edges
    found = pieces(frames, unit(*cuts, **annotated))
    assert found == (range(out_a, in_a), range(in_a, in_b), range(in_b, out_b))


@pytest.mark.parametrize(
    ("frames", "cuts", "annotated", "detail"),
    [
        (TEN_S, (1, 3, 4, 12), {"end_b_s": 10.51}, "a picture from 0.00 to 10.00 s (100 frames)"),
        (TEN_S, (1, 3, 9.95, 10.4), {"end_b_s": 10.3}, "a single frame"),  # B begins after the last frame
        (TEN_S, (1.01, 1.09, 4, 9), {}, "a single frame"),  # A lies between two frames
        (TEN_S, (1, 3, 4.01, 4.09), {}, "a single frame"),  # B lies between two frames
        (LATE, (1.49, 4, 5, 9), {}, "from 2.00 to 10.00 s"),
        (LATE, (1, 4, 5, 9), {"start_a_s": 1.4}, "from 2.00 to 10.00 s"),
        (LATE, (1.6, 1.9, 4, 9), {}, "from 2.00 to 10.00 s"),
        (HELD, (1, 4, 5.4, 9), {}, "a single frame from 4.90 to 6.00 s"),
        (HELD, (1, 5.4, 7, 9), {}, "a single frame from 4.90 to 6.00 s"),
        (SLIDES, (1.4, 4, 4, 10), {}, "a single frame from 0.00 to 2.00 s"),
    ],
)
def test_pieces_without_their_picture_are_refused(
    frames: FrameIndex, cuts: tuple[float, ...], annotated: dict[str, float], detail: str
) -> None:
    with pytest.raises(VideoError) as caught:
        pieces(frames, unit(*cuts, **annotated))
    assert caught.value.reason == "too_short"
    assert detail in caught.value.detail
    assert f"the pair 9b71c4ad needs {cuts[0]:.3f} to {cuts[3]:.3f} s" in caught.value.detail


def test_balanced_cuts_swap_filler_halves() -> None:
    balanced = ClaviBuilder(decided(ClaviSettings(charades="sample", cuts="balanced")))
    for in_b, halves in ((4.0, (range(35, 40), range(30, 35))), (3.5, (range(32, 35), range(30, 32)))):
        v, complement = balanced.edits(TEN_S, unit(1, 3, in_b, 9))
        a, b = range(10, 30), range(round(10 * in_b), 90)
        assert (v, complement) == ((a, *halves, b), (b, *halves, a))
    assert balanced.settings.min_gap == 2.5
    released = ClaviBuilder(ClaviSettings()).edits(TEN_S, unit(1, 3, 4, 9))
    assert released == ((range(10, 90),), (range(40, 90), range(30, 40), range(10, 30)))


def test_missing_and_unreadable_sources_are_skipped(tmp_path: Path) -> None:
    broken = tmp_path / "AAAAA.mp4"
    broken.write_bytes(b"no video at all" * 100)
    (unit,) = rebuilt(RELEASED).units
    for videos, reason in (({}, "missing_video"), ({"AAAAA": str(broken)}, "unreadable_video")):
        skip = ClaviBuilder(ClaviSettings(), videos).missing(unit)
        assert skip
        assert (skip.unit_id, skip.source_id, skip.reason, skip.allowed) == ("9b71c4ad", "AAAAA", reason, True)
        assert "AAAAA" in skip.detail
