"""Plans of pairs, the questions about them, and the frames that are cut.

With `--relations`, every answer is recomputed from the frames of V and V′.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stressreel.annotations.actions import Action, AnnotatedVideo, Segment
from stressreel.annotations.clavi import ReleasedPair
from stressreel.builders.clavi import scores
from stressreel.builders.clavi.pairs import Candidate, Limits, candidate_relation, cuts_of, violated
from stressreel.builders.clavi.plan import plan_clavi, planned_columns
from stressreel.builders.clavi.questions import question_rows
from stressreel.builders.clavi.render import ClaviBuilder, pieces
from stressreel.builders.clavi.settings import RELATIONS, ClaviSettings, decided
from stressreel.core.errors import InputError, UsageError, VideoError
from stressreel.core.plan import Plan, Unit
from stressreel.core.schema import Row
from stressreel.evaluation.metrics.bootstrap import estimates
from stressreel.templates import load_questions
from stressreel.video.index import FrameIndex

Span = tuple[str, float, float]
ALL = ClaviSettings(charades="sample", relations=RELATIONS)


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


def plan(settings: ClaviSettings | None = None, **more: Any) -> Plan:
    controls = more.pop("controls", {"train": POOL, "test": POOL})
    return plan_clavi(more.pop("videos", VIDEOS_READ), controls, settings or ClaviSettings(), **more)


def rebuilt(*released: ReleasedPair) -> Plan:
    return plan(ClaviSettings(rules=None), released=released, actions={each.key: each for each in POOL})


def test_a_payload_says_everything_in_json() -> None:
    made = plan(notes={"videos": 3})
    assert plan(videos=VIDEOS_READ[::-1], notes={"videos": 3}).hash == made.hash
    pairs = [(u.source_id, u.split, u.payload["class_a"], u.payload["class_b"]) for u in made.units]
    assert sorted(pairs) == [("AAAAA", "train", "a", "b"), *(("BBBBB", "test", *ab) for ab in ("ab", "ac", "bc"))]
    assert [unit.id for unit in made.units] == sorted({unit.id for unit in made.units})
    notes = {"videos": 3, "segments": 7, "segments_too_short_or_long": 2, "pairs_in_reach": 4}
    assert {name: count for name, count in made.notes.items() if count} == {**notes, "videos_without_pairs": 1}
    assert plan(limit=2).units == made.units[:2]
    assert plan(ClaviSettings(crf=20)).hash != plan().hash
    (payload,) = (unit.payload for unit in made.units if unit.source_id == "AAAAA")
    assert json.loads(json.dumps(payload)) == payload
    assert (payload["label_a"], payload["phrase_b"], payload["verb_b"]) == ("Label a", "doing b", "verb b")
    assert (payload["objects_c"], payload["other_actions"]) == ([f"object {payload['class_c']}"], ["c"])
    scarce = plan(controls={"train": POOL[:3], "test": POOL[5:]})
    assert {(unit.split, unit.payload["class_c"]) for unit in scarce.units} <= {("test", key) for key in "fgh"}
    assert scarce.notes["pairs_without_negative_control"] == 1


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


# The pieces


def index(pts: list[int], end: int, time_base: str = "1/10", zero: str = "0") -> FrameIndex:
    none = np.empty(0, dtype=np.int64)
    return FrameIndex(Path("AAAAA.mp4"), np.array(pts), end, Fraction(time_base), Fraction(zero), none)


def unit(out_a: float, in_a: float, in_b: float, out_b: float, **annotated: float) -> Unit:
    cuts = {"out_a": out_a, "in_a": in_a, "in_b": in_b, "out_b": out_b}
    times = {"start_a_s": out_a, "end_a_s": in_a, "start_b_s": in_b, "end_b_s": out_b}
    return Unit("9b71c4ad", "train", "AAAAA", cuts | times | annotated)


SOURCES = {
    "ten seconds": index(list(range(100)), 100),
    "from 2 s to 10 s": index(list(range(20, 100)), 100),
    "nothing new from 5 s to 6 s": index([*range(50), *range(60, 100)], 100),
    "29.97 frames a second": index([1001 * n for n in range(120)], 120 * 1001, "1/30000"),
    "odd": index([7, 8, 30, 31, 50, 90], 100, zero="7/10"),
}
with Path(__file__).with_name("pieces.csv").open(encoding="utf-8", newline="") as file:
    PIECES = list(csv.DictReader(file))


@pytest.mark.parametrize("case", PIECES, ids=lambda case: f"{case['source']} {case['cuts']}")
def test_pieces_start_at_or_after_cuts(case: dict[str, str]) -> None:
    """The edges of the pieces in frames, or what is said of a picture that is not there."""
    annotated = {name: float(case[name]) for name in ("start_a_s", "end_b_s") if case[name]}
    cuts = [float(each) for each in case["cuts"].split()]
    if case["edges"]:
        out_a, in_a, in_b, out_b = map(int, case["edges"].split())
        found = pieces(SOURCES[case["source"]], unit(*cuts, **annotated))
        assert found == (range(out_a, in_a), range(in_a, in_b), range(in_b, out_b))
        return
    with pytest.raises(VideoError) as caught:
        pieces(SOURCES[case["source"]], unit(*cuts, **annotated))
    assert caught.value.reason == "too_short"
    assert case["refused"] in caught.value.detail
    assert f"the pair 9b71c4ad needs {cuts[0]:.3f} to {cuts[3]:.3f} s" in caught.value.detail


def test_balanced_cuts_swap_filler_halves() -> None:
    balanced = ClaviBuilder(decided(ClaviSettings(charades="sample", cuts="balanced")))
    for in_b, halves in ((4.0, (range(35, 40), range(30, 35))), (3.5, (range(32, 35), range(30, 32)))):
        v, complement = balanced.edits(SOURCES["ten seconds"], unit(1, 3, in_b, 9))
        a, b = range(10, 30), range(round(10 * in_b), 90)
        assert (v, complement) == ((a, *halves, b), (b, *halves, a))
    assert balanced.settings.min_gap == 2.5
    with pytest.raises(UsageError, match=r"--relations contain .*--cuts balanced"):
        decided(replace(ALL, cuts="balanced"))
    released = ClaviBuilder(ClaviSettings()).edits(SOURCES["ten seconds"], unit(1, 3, 4, 9))
    assert released == ((range(10, 90),), (range(40, 90), range(30, 40), range(10, 30)))


# The questions


def test_questions_follow_templates_in_order() -> None:
    phrases = {"phrase_a": "holding {x}", "phrase_b": "holding {y}", "phrase_c": "holding {}"}  # taken literally
    pair = rebuilt(RELEASED).units[0].payload | phrases
    rows = [row for variant in (0, 1) for row in question_rows(pair, variant)]
    assert [row["question_id"] for row in rows] == [f"9b71c4ad_{v}_{n:02d}" for v in (1, 2) for n in range(19)]
    for row, (variant, template) in zip(rows, [(v, t) for v in (0, 1) for t in load_questions()], strict=True):
        x, y = phrases[f"phrase_{template.x.lower()}"], phrases[f"phrase_{(template.y or 'A').lower()}"]
        assert row["question"] == re.sub(r"\{([xy])\}", r"%(\1)s", template.text) % {"x": x, "y": y}
        assert row["answer"] == template.answers[variant]
        assert (row["type"], row["subset"]) == (template.type, template.subset)


EMPTY = video("AAAAA")
SEQUENCE = Candidate(EMPTY, Segment(action("a"), 5, 10), Segment(action("b"), 14, 20), (), "f" * 8)


MINUTE = index(list(range(600)), 600)


def random_pairs(count: int) -> Iterator[Candidate]:
    """Pairs whose times satisfy the rules, half of them overlaps."""
    rng = np.random.default_rng(37)
    found = Counter[str]()
    while found.total() < 2 * count:
        start, first, second, end = sorted(rng.uniform(0, 59, 4).round(2).tolist())
        relation = ("overlap", "contain")[found["overlap"] >= count]
        ends = {"overlap": (second, end), "contain": (end, second)}[relation]
        a, b = Segment(action("a"), start, ends[0]), Segment(action("b"), first, ends[1])
        if not violated(a, b, Limits()):
            found[relation] += 1
            yield Candidate(EMPTY, a, b, (), id=f"{found.total():08x}")


def shown(candidate: Candidate, settings: ClaviSettings) -> tuple[dict[str, Any], list[list[set[str]]]]:
    """The columns of a pair, and the actions visible in each frame of V and of V′."""
    pair = planned_columns(candidate, cuts_of(candidate, settings), action("c"), settings)
    edits = ClaviBuilder(settings).edits(MINUTE, Unit(candidate.id, "train", "AAAAA", pair))
    segments = {"a": candidate.a, "b": candidate.b}

    def visible(frame: int) -> set[str]:
        return {key for key, segment in segments.items() if segment.start_s <= frame / 10 < segment.end_s}

    return pair, [[visible(frame) for piece in edit for frame in piece] for edit in edits]


def is_true(question: str, frames: list[set[str]]) -> bool:
    """Whether a question's answer is yes, from the actions of every frame."""
    times = {key: [n for n, visible in enumerate(frames) if key in visible] for key in "abc"}
    kind = re.sub(r"doing [abc]", "…", question)
    x, y = (times[key] for key in re.findall(r"doing ([abc])", question))
    if kind == "Was the person … while …?":
        return bool({*x} & {*y})
    if kind == "Was the person already … when they started …?":
        return bool(x and y) and y[0] in x and x[0] < y[0]
    if match := re.fullmatch(r"Did … start (before|after) … started\?", kind):
        return bool(x and y) and (x[0] < y[0] if match[1] == "before" else x[0] > y[0])
    match = re.fullmatch(r"Did … happen in the (first|last) third of …\?", kind)
    assert match, question
    third = (y[-1] + 1 - y[0]) / 3
    low = y[0] if match[1] == "first" else y[-1] + 1 - third
    inside = [low <= n and n + 1 <= low + third for n in x]
    assert all(inside) or not any(inside)
    return all(inside)


@pytest.mark.parametrize("cuts", ["release", "balanced"])
def test_every_answer_is_true_of_the_frames(cuts: Any) -> None:
    relations = ALL.relations if cuts == "release" else ("sequence", "overlap")
    settings = decided(replace(ALL, cuts=cuts, relations=relations))
    asked = Counter[str]()
    for candidate in random_pairs(60):
        if candidate_relation(candidate) not in settings.relations:
            continue
        pair, frames = shown(candidate, settings)
        assert Counter(map(frozenset, frames[0])) == Counter(map(frozenset, frames[1]))
        assert frames[0] != frames[1]
        for variant in (0, 1):
            for row in question_rows(pair, variant, settings):
                asked[row["type"], row["answer"]] += 1
                assert is_true(row["question"], frames[variant]) == (row["answer"] == "yes"), (row, candidate)
    kinds = ("AW", "SB", "TH") if cuts == "release" else ("AW", "SB")
    assert all(asked[kind, "yes"] == asked[kind, "no"] > 0 for kind in kinds)
    assert (asked["W", "no"], asked["W-NC", "yes"]) == (0, 0)


@pytest.mark.parametrize("settings", [ALL, replace(ALL, wording="natural", paraphrases=3)], ids=["paper", "natural"])
def test_links_are_symmetric_and_complement_flips(settings: ClaviSettings) -> None:
    for candidate in [SEQUENCE, *random_pairs(5)]:
        pair = shown(candidate, ALL)[0] | {"class_a": "c008", "class_b": "c020", "class_c": "c095"}
        rows = {row["question_id"]: row for v in (0, 1) for row in question_rows(pair, v, settings)}
        for name, row in rows.items():
            other, flips = rows[row["counterpart_question_id"]], row["subset"] == "complement"
            assert flips is (row["type"] in ("BE", "BA", "AW", "SB", "TH"))
            assert (other["question"], other["counterpart_question_id"]) == (row["question"], name)
            assert {other["variant"], row["variant"]} == {"original", "complement"}
            assert (other["answer"] != row["answer"]) is flips
            assert abs(row["type_id"] - other["type_id"]) in (15, 16, 17)
            assert RELATIONS[row["type_id"] // 32] == candidate_relation(candidate)
            if link := row["complement_question_id"]:
                assert (rows[link]["complement_question_id"], rows[link]["video_id"]) == (name, row["video_id"])
                assert (rows[link]["answer"] != row["answer"]) is flips
            if flips:
                is_q = row["type_id"] % 16 in (0, 4, 8)
                assert (row["answer"] == "yes") is (is_q == (row["variant"] == "original"))


def test_scores_of_other_relations_are_separate() -> None:
    rows: list[Row] = []
    for number, candidate in enumerate([*random_pairs(6), SEQUENCE]):
        pair = shown(candidate, ALL)[0] | {"source_id": f"S{number % 7}"}
        rows += [row for variant in (0, 1) for row in question_rows(pair, variant, ALL)]
    for row in rows:
        row["answer"] = ("no", "yes").index(row["answer"])
    questions = scores.questions_from({name: [row[name] for row in rows] for name in scores.COLUMNS})
    blind = np.where(questions.variant == 1, questions.answer[questions.counterpart], questions.answer)
    per_relation = {"CAcc_V overlap", "CAcc_V contain", "CAcc_T overlap", "CAcc_T contain"}
    for picks, values in ((questions.answer, (1, 1, 1)), (blind, (0, 0.5, 11 / 19))):
        counted = scores.count(questions, picks)
        found = {name: each.value for name, each in estimates(counted, scores.measure).items()}
        assert per_relation <= found.keys()
        assert (found["CAcc_V overlap"], found["CAcc_T contain"], found["CAcc_V"]) == pytest.approx(values)
        types = {row[0]: row[2] for row in scores.tables(counted)[0].rows}
        assert (types["E"], types["SB"], types["TH"]) == (4, 6 * 8, 6 * 4)
    alone = scores.questions_from({name: [row[name] for row in rows[-38:]] for name in scores.COLUMNS})
    assert not per_relation & estimates(scores.count(alone, alone.answer), scores.measure).keys()
