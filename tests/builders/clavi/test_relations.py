"""`--relations`: every answer is recomputed from the frames of V and V′."""

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
from stressreel.builders.clavi import scores
from stressreel.builders.clavi.pairs import Candidate, Limits, candidate_relation, cuts_of, violated
from stressreel.builders.clavi.plan import plan_clavi, planned_columns
from stressreel.builders.clavi.questions import question_rows
from stressreel.builders.clavi.render import ClaviBuilder
from stressreel.builders.clavi.settings import RELATIONS, ClaviSettings, decided
from stressreel.core.errors import UsageError
from stressreel.core.plan import Unit
from stressreel.core.schema import Row
from stressreel.evaluation.metrics.bootstrap import estimates
from stressreel.video.index import FrameIndex

ALL = ClaviSettings(charades="sample", relations=("sequence", "overlap", "contain"))
INDEX = FrameIndex(
    Path("AAAAA.mp4"), np.arange(600), 600, Fraction("1/10"), Fraction(0), np.empty(0, dtype=np.int64)
)  # 60 s


def action(key: str) -> Action:
    return Action(key, key, f"doing {key}", f"verb {key}", frozenset([key]))


def video(*spans: tuple[str, float, float]) -> AnnotatedVideo:
    segments = tuple(Segment(action(key), start, end) for key, start, end in spans)
    return AnnotatedVideo("AAAAA", "train", "SUBJ", 60.0, segments, frozenset(), frozenset(), {})


SEQUENCE = Candidate(video(), Segment(action("a"), 5, 10), Segment(action("b"), 14, 20), (), "f" * 8)


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
            yield Candidate(video(), a, b, (), id=f"{found.total():08x}")


def shown(candidate: Candidate, settings: ClaviSettings) -> tuple[dict[str, Any], list[list[set[str]]]]:
    """The columns of a pair, and the actions visible in each frame of V and of V′."""
    pair = planned_columns(candidate, cuts_of(candidate, settings), action("c"), settings)
    edits = ClaviBuilder(settings).edits(INDEX, Unit(candidate.id, "train", "AAAAA", pair))
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


def test_every_relation_is_planned_with_borders() -> None:
    read = [video(("a", 5, 15), ("b", 10, 20), ("c", 24, 30))]
    pool = {"train": [action(key) for key in "abcdef"]}
    made = plan_clavi(read, pool, decided(replace(ALL, rules="paper")))
    found = {tuple(unit.payload[name] for name in ("out_a", "in_a", "in_b", "out_b")) for unit in made.units}
    assert len(found) == 3
    assert (5, 10, 15, 20) in found
    assert made.notes["pairs_overlap"] == 1
    assert plan_clavi(read, pool, decided(replace(ALL, rules="paper", relations=()))).units == ()
    with pytest.raises(UsageError, match=r"--relations contain .*--cuts balanced"):
        decided(replace(ALL, cuts="balanced"))


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
