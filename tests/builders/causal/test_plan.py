"""Plans of causal questions with embeddings made up by hashing words, so that no model is needed."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from stressreel.annotations.causalchaos import CausalRow, read_causalchaos
from stressreel.annotations.samples.causal import write_causal_annotations
from stressreel.builders.causal.divisions import Timing, divide, leaks, plan_causal
from stressreel.builders.causal.prepare import make_confuser
from stressreel.builders.causal.settings import CausalSettings
from stressreel.builders.causal.tables import SPLITS
from stressreel.core.errors import InputError
from stressreel.core.numerics import rng_for
from stressreel.core.plan import Plan
from stressreel.language.words import text_key

PLAIN = CausalSettings(annotations="sample", render=False, confuse=0, num_options=4, balance="none")
TARGETS = (("options", "sources", "answer"), ("explanation_options", "explanation_sources", "explanation"))
Rows = tuple[CausalRow, ...]
STRICT = replace(PLAIN, splits=("ud", "ps"), num_options=5, balance="strict")


@cache
def vector(word: str) -> NDArray[np.float64]:
    return rng_for(0, word).normal(size=48)


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    vectors = np.stack([sum((vector(word) for word in text_key(text).split()), np.zeros(48)) for text in texts])
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    return read_causalchaos(write_causal_annotations(tmp_path_factory.mktemp("sample"))).rows


@pytest.fixture(scope="module")
def plain(rows: Rows) -> Plan:
    return plan_causal(rows, PLAIN, embed=embed)


@pytest.fixture(scope="module")
def strict(rows: Rows) -> Plan:
    """A plan of half the rows."""
    return plan_causal(rows[::2], replace(STRICT, confuse=2), embed=embed, confuser=make_confuser(rows, None))


def tables(plan: Plan) -> dict[tuple[str, str], list[dict[str, Any]]]:
    return {(u.payload["config"], u.split): u.payload["rows"] for u in plan.units if not u.source_id}


def with_options(plan: Plan, *names: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the rows of tables with options, and their table and split."""
    for (config, split), members in tables(plan).items():
        if config in names or (not names and config != "open_ended"):
            yield from ((config, split, row) for row in members)


def test_options_hold_the_right_one_and_its_sources(rows: Rows, plain: Plan) -> None:
    by_id = {row.qid: row for row in rows}
    split_of = {(config, row["qid"]): split for config, split, row in with_options(plain)}
    for config, split, row in with_options(plain):
        assert row["options"][row["answer_index"]] == by_id[row["qid"]].answer
        assert row["explanation_options"][row["explanation_index"]] == by_id[row["qid"]].explanation
        assert row["sources"][row["answer_index"]]["kind"] == "right"
        assert row["blind_guessable"] is None
        for text, source in zip(row["options"], row["sources"], strict=True):
            assert by_id[source["qid"]].answer == text
            assert split_of[config, source["qid"]] == split


def test_test_distractors_are_never_right_in_train(rows: Rows) -> None:
    again = [replace(row, qid=f"again{row.qid}", question=f"{row.question} again") for row in rows]
    settings = replace(PLAIN, keep_apart=False, splits=("ud",))
    ours, released = (plan_causal([*rows, *again], replace(settings, pool=pool), embed=embed).notes
                      for pool in ("split", "all"))  # fmt: skip
    for split in ("validation", "test"):
        assert ours["wrong_options_right_in_train"]["ud"][split]["answer"][0] == 0
    assert ours["right_options_in_train"]["ud"]["test"]["answer"][0] > 0
    assert released["wrong_options_right_in_train"]["ud"]["test"]["answer"][0] > 0


def test_overlapping_clips_lend_nothing_unless_they_may(rows: Rows) -> None:
    by_id = {row.qid: row for row in rows}
    for keep_apart in (True, False):
        plan = plan_causal(rows, replace(PLAIN, pool="all", keep_apart=keep_apart), embed=embed)
        lent = [(row["qid"], source["qid"]) for _, _, row in with_options(plan) for source in row["sources"]]
        assert any(by_id[one].overlaps(by_id[other]) for one, other in lent if one != other) != keep_apart


def test_clips_come_once_and_know_their_timing(rows: Rows) -> None:
    timing = Timing({"S90E01": 7}, {"S90E02": Fraction(24000, 1001)})
    plan = plan_causal([*rows, replace(rows[0], qid="x")], replace(PLAIN, render=True), embed=embed, timing=timing)
    clips = {unit.id: unit for unit in plan.units if unit.source_id}
    assert len(clips) == len(rows)
    assert {u.payload["offset"] for u in clips.values() if u.source_id == "S90E01"} == {7}
    assert {u.payload["rate"] for u in clips.values() if u.source_id == "S90E02"} == {"24000/1001"}


def test_impossible_plans_are_refused(rows: Rows) -> None:
    with pytest.raises(InputError, match="has too few questions"):
        plan_causal(rows[:4], PLAIN, embed=embed)
    with pytest.raises(InputError, match="--balance none"):  # without a parser
        plan_causal(rows, STRICT, embed=embed)


def test_notes_record_blind_baselines_and_train_overlap(rows: Rows, plain: Plan) -> None:
    found = plain.notes["blind"]["ud"]
    assert set(found) == {"validation", "test"}
    for blind in (blind for targets in found.values() for blind in targets.values()):
        assert all(0 <= right <= blind["questions"] for right in blind["right"].values())
        assert {"longest", "near_question", "twin", "right_in_train"} <= set(blind["right"])
    assert found["test"]["answer"]["right"]["right_in_train"] < found["test"]["answer"]["questions"] / 2
    lent = plan_causal(rows, replace(PLAIN, splits=("ud",), pool="all"), embed=embed).notes["blind"]["ud"]["test"]
    assert lent["answer"]["right"]["right_in_train"] == 0  # most wrong options are right in train


def test_balanced_options_are_right_somewhere_or_carried_over(strict: Plan, rows: Rows) -> None:
    by_id = {row.qid: row for row in rows}
    kinds, offered = set(), defaultdict(set)
    for _, _, row in with_options(strict, *STRICT.splits):
        for options, sources, right in TARGETS:
            assert len({text_key(text) for text in row[options]}) == 5
            for text, source in zip(row[options], row[sources], strict=True):
                kinds.add(source["kind"])
                same = text_key(text) == text_key(getattr(by_id[source["qid"]], right))
                assert same == (source["kind"] != "carried")
        answers, explanations = (Counter(each["qid"] for each in row[name]) for _, name, _ in TARGETS)
        assert answers == explanations  # a wrong answer comes together with its explanation
        offered[row["qid"]].add(frozenset(row["options"] + row["explanation_options"]))
    assert kinds == {"right", "hard", "carried"}
    # Otherwise, those that two divisions share would reveal the correct one.
    assert {len(some) for some in offered.values()} == {1}


def test_cosines_are_those_of_texts_and_questions(strict: Plan, rows: Rows) -> None:
    by_id = {row.qid: row for row in rows}
    for row in tables(strict)["ud", "train"]:
        for options, sources, right in TARGETS:
            for text, source in zip(row[options], row[sources], strict=True):
                if source["kind"] == "right":
                    continue
                questions = (by_id[qid].question for qid in (row["qid"], source["qid"]))
                correct, wrong, asked, lent = embed([row[options][row[f"{right}_index"]], text, *questions])
                assert source["cos_text"] == pytest.approx(correct @ wrong, abs=1e-4)
                assert source["cos_question"] == pytest.approx(asked @ lent, abs=1e-4)


def test_places_are_even_and_guessable_rows_counted(strict: Plan) -> None:
    for (config, split), members in tables(strict).items():
        if config not in STRICT.splits:
            continue
        for index in ("answer_index", "explanation_index"):
            counts = Counter(row[index] for row in members)
            assert max(counts.values()) - min(counts[place] for place in range(5)) <= 1
        flags = [row["blind_guessable"] for row in members]
        assert strict.notes[f"blind_guessable/{config}/{split}"] == sum(flags) <= len(flags) / 4
    assert {row["blind_guessable"] for row in tables(strict)["causal_confusion", "test"]} == {None}


@pytest.mark.full
def test_plan_ignores_row_order(strict: Plan, rows: Rows) -> None:
    confuser = make_confuser(rows, None)
    again = plan_causal(rows[::2][::-1], replace(STRICT, confuse=2), embed=embed, confuser=confuser)
    for name in (("ud", "train"), ("ud", "test"), ("causal_confusion", "test")):
        found, known = (sorted(tables(plan)[name], key=lambda row: row["qid"]) for plan in (again, strict))
        assert found == known


def clip(qid: int, episode: int = 1, start: int = 0, end: int = 10) -> CausalRow:
    return CausalRow(str(qid), f"E{episode}", start, end, "why", "because", "so")


rows_strategy = st.lists(
    st.tuples(st.integers(1, 6), st.integers(0, 900), st.integers(1, 99)), min_size=1, max_size=60
).map(lambda parts: [clip(number, episode, start, start + more) for number, (episode, start, more) in enumerate(parts)])


def sizes(split_of: dict[str, str]) -> tuple[int, ...]:
    counts = Counter(split_of.values())
    return tuple(counts[split] for split in SPLITS)


@given(rows_strategy, st.integers(0, 5))
def test_every_row_has_one_split_whatever_the_order(rows: list[CausalRow], seed: int) -> None:
    for scheme in ("ud", "ps", "un"):
        found = divide(scheme, rows, seed)
        assert found.keys() == {one.qid for one in rows}
        assert divide(scheme, rows[::-1], seed) == found
    places = {(one.episode, found[one.qid]) for one in rows}
    assert len(places) == len({one.episode for one in rows})  # un shares no episode


@given(rows_strategy)
def test_ps_goes_by_the_middle_of_the_clip(rows: list[CausalRow]) -> None:
    found = divide("ps", rows, 0)
    for one in rows:
        last = max(other.end_frame for other in rows if other.episode == one.episode)
        middle = (one.start_frame + one.end_frame) / 2
        expected = "train" if middle < 0.7 * last else "validation" if middle < 0.85 * last else "test"
        assert found[one.qid] == expected or min(abs(middle - share * last) for share in (0.7, 0.85)) <= 1e-6


def test_sizes_and_seeds() -> None:
    rows = [clip(number, number % 20) for number in range(100)]
    for scheme in ("ud", "un"):
        assert sizes(divide(scheme, rows, 0)) == (70, 15, 15)
        assert divide(scheme, rows, 0) != divide(scheme, rows, 1)
    assert divide("ps", rows[:20] + rows[40:60], 0, "rows")["0"] == "train"


def test_leaks_are_counted() -> None:
    """The last two rows overlap with each other alone."""
    places = [(1, 0, 10), (1, 0, 10), (1, 5, 20), (1, 20, 30), (2, 0, 10), (3, 0, 10), (3, 5, 20)]
    rows = [clip(number, *place) for number, place in enumerate(places)]
    split_of = dict(zip("0123456", ["train", *["test"] * 3, "validation", *["test"] * 2], strict=True))
    found = leaks(rows, split_of)
    assert found["test"] == {"rows": 5, "same": 1, "overlapping": 2, "episode": 3}
    assert found["validation"] == {"rows": 1, "same": 0, "overlapping": 0, "episode": 0}


@pytest.mark.shared
def test_sizes_of_the_release(shared: Path) -> None:
    rows = read_causalchaos(shared / "data" / "causalchaos" / "Annotations.csv").rows
    assert sizes(divide("ud", rows, 0)) == (3462, 741, 742)
    found = divide("un", rows, 0)
    episodes = {one.episode: found[one.qid] for one in rows}
    assert sizes(episodes) == (113, 24, 24)
    by_rows = sizes(divide("ps", rows, 0, "rows"))
    assert max(abs(a - b) for a, b in zip(by_rows, (3459, 757, 728), strict=True)) <= 1
    assert divide("ps", rows, 0, "rows")["85"] == "test"  # frames 1,600 to 2,100: from the episode's beginning
    assert divide("ps", rows, 0)["85"] == "train"
