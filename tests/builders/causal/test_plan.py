"""Plans of causal questions with embeddings made up by hashing words, so that no model is needed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

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
from stressreel.core.plan import Plan
from stressreel.core.seeds import rng_for
from stressreel.language.words import text_key

PLAIN = CausalSettings(annotations="sample", render=False, confuse=0, num_options=4, balance="none")
STRICT = replace(PLAIN, splits=("ud", "ps"), num_options=5, balance="strict")


@cache
def vector(word: str) -> NDArray[np.float64]:
    return rng_for(0, word).normal(size=48)


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    vectors = np.stack([sum((vector(word) for word in text_key(text).split()), np.zeros(48)) for text in texts])
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[CausalRow, ...]:
    return read_causalchaos(write_causal_annotations(tmp_path_factory.mktemp("sample"))).rows


def tables(plan: Plan) -> dict[tuple[str, str], list[dict]]:
    return {(u.payload["config"], u.split): u.payload["rows"] for u in plan.units if not u.source_id}


class TestPlan:
    def test_options_hold_the_right_one_and_its_sources(self, rows: tuple[CausalRow, ...]) -> None:
        found = tables(plan_causal(rows, PLAIN, embed=embed))
        by_id = {row.qid: row for row in rows}
        for (config, split), members in found.items():
            if config == "open_ended":
                continue
            for row in members:
                assert row["options"][row["answer_index"]] == by_id[row["qid"]].answer
                assert row["explanation_options"][row["explanation_index"]] == by_id[row["qid"]].explanation
                assert row["sources"][row["answer_index"]]["kind"] == "right"
                for text, source in zip(row["options"], row["sources"], strict=True):
                    assert by_id[source["qid"]].answer == text
                    assert split in found_splits(found, config, source["qid"])

    def test_test_distractors_are_never_right_in_train(self, rows: tuple[CausalRow, ...]) -> None:
        again = [replace(row, qid=f"again{row.qid}", question=f"{row.question} again") for row in rows]
        plan = plan_causal([*rows, *again], replace(PLAIN, keep_apart=False), embed=embed)
        for scheme in PLAIN.splits:
            for split in ("validation", "test"):
                assert plan.notes["wrong_options_right_in_train"][scheme][split]["answer"][0] == 0
        assert plan.notes["right_options_in_train"]["ud"]["test"]["answer"][0] > 0
        released = plan_causal([*rows, *again], replace(PLAIN, keep_apart=False, pool="all"), embed=embed)
        assert released.notes["wrong_options_right_in_train"]["ud"]["test"]["answer"][0] > 0

    def test_overlapping_clips_lend_nothing_unless_they_may(self, rows: tuple[CausalRow, ...]) -> None:
        def overlapping(settings: CausalSettings) -> int:
            by_id = {row.qid: row for row in rows}
            plan = plan_causal(rows, settings, embed=embed)
            return sum(
                by_id[row["qid"]].overlaps(by_id[source["qid"]])
                for (config, _), members in tables(plan).items()
                for row in members
                for source in row.get("sources", [])
                if source["qid"] != row["qid"]
            )

        assert overlapping(replace(PLAIN, pool="all")) == 0
        assert overlapping(replace(PLAIN, pool="all", keep_apart=False)) > 0

    def test_clips_come_once_and_know_their_timing(self, rows: tuple[CausalRow, ...]) -> None:
        timing = Timing({"S90E01": 7}, {"S90E02": Fraction(24000, 1001)})
        plan = plan_causal([*rows, replace(rows[0], qid="x")], replace(PLAIN, render=True), embed=embed, timing=timing)
        clips = {unit.id: unit for unit in plan.units if unit.source_id}
        assert len(clips) == len(rows)
        assert {u.payload["offset"] for u in clips.values() if u.source_id == "S90E01"} == {7}
        assert {u.payload["rate"] for u in clips.values() if u.source_id == "S90E02"} == {"24000/1001"}

    def test_too_few_questions_are_refused(self, rows: tuple[CausalRow, ...]) -> None:
        with pytest.raises(InputError, match="has too few questions"):
            plan_causal(rows[:4], PLAIN, embed=embed)


def found_splits(found: dict[tuple[str, str], list[dict]], config: str, qid: str) -> list[str]:
    return [split for (name, split), rows in found.items() if name == config and any(r["qid"] == qid for r in rows)]


class TestAudit:
    def test_notes_record_blind_baselines_and_train_overlap(self, rows: tuple[CausalRow, ...]) -> None:
        notes = plan_causal(rows, PLAIN, embed=embed).notes
        found = notes["blind"]["ud"]
        assert set(found) == {"validation", "test"}
        for targets in found.values():
            for blind in targets.values():
                assert all(0 <= right <= blind["questions"] for right in blind["right"].values())
                assert {"longest", "near_question", "twin", "right_in_train"} <= set(blind["right"])
        assert found["test"]["answer"]["right"]["right_in_train"] < found["test"]["answer"]["questions"] / 2
        lent = plan_causal(rows, replace(PLAIN, splits=("ud",), pool="all"), embed=embed).notes["blind"]["ud"]["test"]
        assert lent["answer"]["right"]["right_in_train"] == 0  # most wrong options are right in train
        wrong, of = notes["wrong_options_right_in_train"]["ud"]["test"]["answer"]
        assert wrong == 0 < of  # --pool split lends none of them, where options are chosen by their scores


@pytest.fixture(scope="module")
def strict(rows: tuple[CausalRow, ...]) -> Plan:
    """A plan of half the rows."""
    confuser = make_confuser(rows, None)
    return plan_causal(rows[::2], replace(STRICT, confuse=2), embed=embed, confuser=confuser)


class TestBalanced:
    def test_every_option_is_right_somewhere_or_carried_over(self, strict: Plan, rows: tuple[CausalRow, ...]) -> None:
        by_id = {row.qid: row for row in rows}
        found = tables(strict)
        kinds = set()
        for (config, _), members in found.items():
            for row in members if config in STRICT.splits else []:
                for options, sources, right in (
                    ("options", "sources", "answer"),
                    ("explanation_options", "explanation_sources", "explanation"),
                ):
                    assert len({text_key(text) for text in row[options]}) == 5
                    for text, source in zip(row[options], row[sources], strict=True):
                        kinds.add(source["kind"])
                        same = text_key(text) == text_key(getattr(by_id[source["qid"]], right))
                        assert same == (source["kind"] != "carried")
                answers, explanations = (
                    Counter(source["qid"] for source in row[name]) for name in ("sources", "explanation_sources")
                )
                assert answers == explanations  # a wrong answer comes together with its explanation
        assert kinds == {"right", "hard", "carried"}

    def test_options_are_equal_across_divisions(self, strict: Plan, rows: tuple[CausalRow, ...]) -> None:
        """Otherwise, those that two divisions share would reveal the correct one."""
        found: dict[str, list[frozenset[str]]] = {}
        for (config, _), members in tables(strict).items():
            for row in members if config in STRICT.splits else ():
                found.setdefault(row["qid"], []).append(frozenset(row["options"] + row["explanation_options"]))
        assert all(len(some) == 2 and some[0] == some[1] for some in found.values())

    def test_cosines_are_those_of_the_texts_and_questions(self, strict: Plan, rows: tuple[CausalRow, ...]) -> None:
        by_id = {row.qid: row for row in rows}
        for row in tables(strict)["ud", "train"]:
            for options, sources, index in (
                ("options", "sources", "answer_index"),
                ("explanation_options", "explanation_sources", "explanation_index"),
            ):
                for text, source in zip(row[options], row[sources], strict=True):
                    if source["kind"] == "right":
                        continue
                    questions = (by_id[qid].question for qid in (row["qid"], source["qid"]))
                    right, wrong, asked, lent = embed([row[options][row[index]], text, *questions])
                    assert source["cos_text"] == pytest.approx(right @ wrong, abs=1e-4)
                    assert source["cos_question"] == pytest.approx(asked @ lent, abs=1e-4)

    def test_places_are_even_in_every_split(self, strict: Plan) -> None:
        for (config, _), members in tables(strict).items():
            for index in ("answer_index", "explanation_index") if config in STRICT.splits else ():
                counts = Counter(row[index] for row in members)
                assert max(counts.values()) - min(counts[place] for place in range(5)) <= 1

    @pytest.mark.full
    def test_plan_ignores_row_order(self, strict: Plan, rows: tuple[CausalRow, ...]) -> None:
        settings = replace(STRICT, confuse=2)
        again = tables(plan_causal(rows[::2][::-1], settings, embed=embed, confuser=make_confuser(rows, None)))
        expected = tables(strict)
        for name in (("ud", "train"), ("ud", "test"), ("causal_confusion", "test")):
            found, known = (sorted(some[name], key=lambda row: row["qid"]) for some in (again, expected))
            assert found == known

    def test_missing_parser_names_balance_option(self, rows: tuple[CausalRow, ...]) -> None:
        with pytest.raises(InputError, match="--balance none"):
            plan_causal(rows, STRICT, embed=embed)

    def test_rows_outside_of_the_balanced_subset_are_counted(self, strict: Plan, rows: tuple[CausalRow, ...]) -> None:
        found = tables(strict)
        for scheme in STRICT.splits:
            for split in ("train", "validation", "test"):
                flags = [row["blind_guessable"] for row in found[scheme, split]]
                assert strict.notes[f"blind_guessable/{scheme}/{split}"] == sum(flags) <= len(flags) / 4
        assert {row["blind_guessable"] for row in found["causal_confusion", "test"]} == {None}
        scored = tables(plan_causal(rows, PLAIN, embed=embed))
        assert {row["blind_guessable"] for row in scored["ud", "test"]} == {None}


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


@given(rows_strategy)
def test_un_shares_no_episode(rows: list[CausalRow]) -> None:
    found = divide("un", rows, 0)
    places = {(one.episode, found[one.qid]) for one in rows}
    assert len(places) == len({one.episode for one in rows})


@given(rows_strategy)
def test_ps_goes_by_the_middle_of_the_clip(rows: list[CausalRow]) -> None:
    found = divide("ps", rows, 0)
    for one in rows:
        last = max(other.end_frame for other in rows if other.episode == one.episode)
        middle = (one.start_frame + one.end_frame) / 2
        expected = "train" if middle < 0.7 * last else "validation" if middle < 0.85 * last else "test"
        if min(abs(middle - share * last) for share in (0.7, 0.85)) > 1e-6:
            assert found[one.qid] == expected


def test_sizes_and_seeds() -> None:
    rows = [clip(number, number % 20) for number in range(100)]
    for scheme in ("ud", "un"):
        assert sizes(divide(scheme, rows, 0)) == (70, 15, 15)
        assert divide(scheme, rows, 0) != divide(scheme, rows, 1)
    assert divide("ps", rows[:20] + rows[40:60], 0, "rows")["0"] == "train"


def test_leaks_are_counted() -> None:
    rows = [clip(0, 1, 0, 10), clip(1, 1, 0, 10), clip(2, 1, 5, 20), clip(3, 1, 20, 30), clip(4, 2)]
    split_of = {"0": "train", "1": "test", "2": "test", "3": "test", "4": "validation"}
    found = leaks(rows, split_of)
    assert found["test"] == {"rows": 3, "same": 1, "overlapping": 2, "episode": 3}
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
