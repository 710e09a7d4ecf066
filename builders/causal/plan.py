"""Plan a CausalChaos build: five answer and five explanation options per why-question, in three divisions.

Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal Chains
Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), sections 3.3 and 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...annotations.causalchaos import CausalRow, first_by_id, overlaps
from ...core.errors import InputError
from ...core.files import sha256_text
from ...core.left_out import LeftOut, bounded
from ...core.plan import Part, Plan, Unit
from ...core.progress import tracked
from ...core.record import content
from ...core.schema import Row
from ...evaluation.blind.blind_questions import BlindQuestion
from ...evaluation.blind.option_baselines import guess_options
from ...language.words import text_key
from ...negatives.candidates import AdaptableTexts, Candidates
from ...negatives.confused_options import (
    ConfusedOptions,
    Outcome,
    QuestionOptions,
    Results,
    confuse_correct,
    confuse_evenly,
)
from ...negatives.confusion import KINDS, Confuser, Confusion
from ...negatives.mining import mine
from ...negatives.options import (
    COSINE_DIGITS,
    REFUSALS,
    Embed,
    GivenOptions,
    MinedOptions,
    Negative,
    OptionSet,
    QuestionRow,
    option_sets,
    plain_style,
)
from ...negatives.settings import strict
from .divisions import SPLITS, TRAIN, divide, leaks
from .given import Given
from .settings import SCHEMES, CausalSettings, Scheme
from .tables import CLIPS, CONFUSED, NAMES, OPEN, RIGHT, TARGETS, Target, causal_configs

Choices = Mapping[str, Mapping[str, OptionSet]]
"""Option sets by target and id."""
Generated = Mapping[str, Results]
"""Confusions of texts by a language model."""
NOT_DRAWN = "enough others are there"
SCORED = ("hard", "random")  # kinds of options chosen by score


@dataclass(frozen=True)
class Timing:
    """How annotated frame numbers relate to the video files.

    Attributes:
        offsets: Frames to add to the annotated numbers, by episode.
        rates: Frames per second at which annotators counted, by episode, for locating frames by time. Without a rate,
            an annotated number is the frame number in the file.
    """

    offsets: Mapping[str, int] = field(default_factory=dict)
    rates: Mapping[str, Fraction] = field(default_factory=dict)


def plan_causal(
    rows: Sequence[CausalRow],
    settings: CausalSettings,
    *,
    embed: Embed,
    confuser: Confuser | None = None,
    generated: Generated | None = None,
    timing: Timing | None = None,
    limit: int | None = None,
    identity: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
    given: Given | None = None,
    left_out: Sequence[LeftOut] = (),
) -> Plan:
    """Plan a build before any video is read: divide, mine, arrange and confuse options, and count overlaps.

    Args:
        rows: The annotations in file order, which the tables preserve.
        settings: See `CausalSettings`.
        embed: Function that embeds texts.
        confuser: Parser and confuser of texts; not needed if `settings.confuse` is 0 and options are not balanced.
        generated: Confusions by a language model.
        timing: Position of annotated frames in the files.
        limit: Maximum number of rows, which are the first by id.
        identity: Further inputs that determine the content: dataset version, tool versions, hashes of inputs.
        notes: Counts from loading.
        left_out: What was left out in reading.
        given: Options of an output that was built with other rounding, which are taken where the rules allow them.

    Returns:
        The plan: a unit per clip, and one per table and split.

    Raises:
        InputError: A question has no distractor because its split is too small.
    """
    planner = _Planner(list(first_by_id(rows, limit)), settings, embed, confuser, given)
    units: list[Unit] = []
    for scheme in settings.schemes:
        choices = planner.options(scheme)
        units += planner.choice_units(scheme, scheme, choices)
        planner.measure(scheme, scheme, choices, choices)
        if settings.confuse and confuser and scheme == settings.schemes[0]:
            confused, outcomes = planner.confused(scheme, choices, confuser, generated or {})
            if outcomes:
                units += planner.choice_units(CONFUSED, scheme, confused, outcomes)
                planner.measure(CONFUSED, scheme, confused, choices)
                planner.found["confusion"] = tally(outcomes)
    units += planner.open_units()
    if settings.split != "all":
        units = [unit for unit in units if unit.split == settings.split]
    if settings.render and units:
        units += clip_units(planner.rows, units, timing or Timing())
    return Plan(
        builder="causal",
        identity={**(identity or {}), "settings": content(settings), "limit": limit},
        units=tuple(sorted(units, key=lambda unit: unit.id)),
        configs=causal_configs(settings),
        noun="clip",
        notes={**(notes or {}), **planner.counts, **planner.found},
        left_out=bounded(left_out),
        remedies={_refusal(target, reason): remedy for target in TARGETS for reason, remedy in REFUSALS.items()},
    )


def _refusal(target: str, reason: str) -> str:
    return f"{target}s_kept_from_these_{reason.replace(' ', '_')}"


class _Planner:
    """The rows of a build, and the counts collected while planning it."""

    def __init__(
        self,
        rows: Sequence[CausalRow],
        settings: CausalSettings,
        embed: Embed,
        confuser: Confuser | None,
        given: Given | None,
    ):
        self.rows, self.settings, self._embed, self._confuser, self._given = rows, settings, embed, confuser, given
        self.by_id = {row.qid: row for row in rows}
        # Balanced options are those of all divisions, whichever are built.
        schemes = SCHEMES if strict(settings) else settings.schemes
        self.split_of = {scheme: divide(scheme, rows, settings.seed, settings.ps_by) for scheme in schemes}
        self._apart: Mapping[str, Sequence[str]] = overlaps(rows, settings.apart_frames) if settings.keep_apart else {}
        self._names = confuser.cast.names if confuser else ()
        self._guessable: dict[str, frozenset[str]] = {}
        self._mined: MinedOptions | None = None  # options that do not depend on the division
        self.counts = Counter[str]()
        self.found: dict[str, Any] = {
            "leaks": {
                scheme: {split: asdict(leak) for split, leak in leaks(rows, split_of).items() if leak.rows}
                for scheme, split_of in self.split_of.items()
                if scheme in settings.schemes
            },
            "blind": {},
            "wrong_options_right_in_train": {},
            "right_options_in_train": {},
        }

    def right(self, qid: str, target: Target) -> str:
        """Return the correct option as it is written among the options."""
        return self._in_style(text_of(self.by_id[qid], target))

    def _in_style(self, text: str) -> str:
        one_style = strict(self.settings) and self.settings.style == "one"
        return plain_style(text, self._names) if one_style else text

    @cached_property
    def _candidates(self) -> Candidates | None:
        """The candidates for all divisions."""
        if self._confuser is None or not strict(self.settings):
            return None
        mining, asked = self.settings, self._questions(*SCHEMES)
        return Candidates(
            asked,
            AdaptableTexts(asked, self._confuser, one_style=mining.style == "one"),
            self._embed,
            seed=self.settings.seed,
            same_question=mining.same_question,
            kept_apart=self._apart,
            train=TRAIN,
        )

    def _questions(self, *schemes: Scheme) -> list[QuestionRow]:
        """Return the rows with their splits in some divisions. Those of a pool are in train of the same divisions."""
        found = []
        for row in self.rows:
            splits = tuple(self.split_of[scheme][row.qid] for scheme in schemes)
            pool = splits[0] if len(splits) == 1 else "/".join(TRAIN if split == TRAIN else "" for split in splits)
            texts: dict[str, str] = {target: text_of(row, target) for target in TARGETS}
            pool = "" if self.settings.pool == "all" else pool
            found.append(QuestionRow(row.qid, row.question, texts, pool, row.episode, splits))
        return found

    def options(self, scheme: Scheme) -> Choices:
        """Mine the distractors of every row, and arrange the options.

        Raises:
            InputError: A question has no distractor.
        """
        together = strict(self.settings)
        asked = self._questions(*(SCHEMES if together else (scheme,)))
        given = self._given.mined(scheme) if self._given else None
        found = self._mined or self._mine(asked, given)
        division = SCHEMES.index(scheme) if together else 0
        if found.guessable:
            guessable = given.guessable & self.by_id.keys() if given else found.guessable[division]
            self._guessable[scheme] = guessable
            for split in SPLITS:
                some = [qid for qid, place in self.split_of[scheme].items() if place == split]
                self.counts[f"blind_guessable/{scheme}/{split}"] = sum(qid in guessable for qid in some)
        if together or self.settings.pool == "all":  # mining by score is then independent of the division
            self._mined = found
        for target, mined in found.mined.items():
            bare = [one for one in mined if not one.negatives]
            if bare:
                refused = [f"{count:,} {reason} ({REFUSALS[reason]})" for reason, count in bare[0].refused.items()]
                reasons = f"; those excluded for {bare[0].id} are {', '.join(refused)}" if refused else ""
                pool = ", or --pool all" if self.settings.pool == "split" else ""
                raise InputError(
                    f"{len(bare)} questions have no distractor in their split of {scheme} (the first is {bare[0].id}). "
                    f"The split has too few questions{reasons}. Provide more rows{pool}."
                )
            few = sum(len(one.negatives) < self.settings.num_options - 1 for one in mined)
            self.counts[f"{target}s_with_fewer_options"] += few
        return option_sets(asked, found, self.settings, f"{scheme}/", division)

    def _mine(self, asked: Sequence[QuestionRow], given: GivenOptions | None) -> MinedOptions:
        balanced = strict(self.settings)
        train = TRAIN if balanced or self.settings.pool == "split" else None
        found = mine(
            asked,
            self.settings,
            self._embed,
            candidates=self._candidates,
            train=train,
            kept_apart=self._apart,
            given=given,
        )
        for target, mined in found.mined.items():
            for one in mined:
                for reason, count in one.refused.items():
                    self.counts[_refusal(target, reason)] += count
            if self.settings.negatives == "hard" and not balanced:
                wide = sum(one.looked_at > self.settings.top_k for one in mined)
                self.counts[f"{target}s_that_needed_more_candidates"] += wide
        return found

    def confused(
        self, scheme: Scheme, choices: Choices, confuser: Confuser, generated: Generated
    ) -> tuple[dict[str, dict[str, OptionSet]], dict[str, list[Row]]]:
        """Replace distractors in the test split with confusions. Return options, and the `confusions` column by id."""
        tested = [row for row in self.rows if self.split_of[scheme][row.qid] == "test"]
        found: dict[str, dict[str, OptionSet]] = {}
        outcomes: dict[str, list[Row]] = {row.qid: [] for row in tested}
        for target in TARGETS:
            if self.settings.twins == "balanced":
                results = self._confuse_evenly(tested, target, choices[target], confuser)
            else:
                results = self._confuse_correct(tested, target, choices[target], confuser, generated)
            found[target] = self._with_cosines(target, {qid: one.choice for qid, one in results.items()})
            for qid, one in results.items():
                outcomes[qid] += [outcome_row(target, outcome) for outcome in one.outcomes]
        return found, outcomes

    def _confuse_evenly(
        self, tested: Sequence[CausalRow], target: Target, choices: Mapping[str, OptionSet], confuser: Confuser
    ) -> dict[str, ConfusedOptions]:
        other = next(name for name in TARGETS if name != target)
        asked = [
            QuestionOptions(
                row.qid,
                row.question,
                (self.right(row.qid, target), self.right(row.qid, other)),
                choices[row.qid],
            )
            for row in tested
        ]
        return confuse_evenly(
            asked,
            confuser,
            self._embed,
            most=self.settings.confuse,
            seed=self.settings.seed,
            kind=target,
            given=self._given.options(target) if self._given else None,
        )

    def _confuse_correct(
        self,
        tested: Sequence[CausalRow],
        target: Target,
        choices: Mapping[str, OptionSet],
        confuser: Confuser,
        generated: Generated,
    ) -> dict[str, ConfusedOptions]:
        found = {}
        for row in tracked(tested, f"confusing {target}s", "question"):
            right = self.right(row.qid, target)
            made = generated.get(text_of(row, target))
            results: Results = (
                {"negation": confuser.negation(right), "swap": confuser.swap(right)}
                if not made
                else {
                    kind: replace(one, text=self._in_style(one.text)) if isinstance(one, Confusion) else one
                    for kind, one in made.items()
                }
            )
            found[row.qid] = confuse_correct(
                choices[row.qid],
                results,
                count=self.settings.confuse,
                seed=self.settings.seed,
                item_id=row.qid,
                kind=target,
            )
        return found

    def _with_cosines(self, target: Target, choices: Mapping[str, OptionSet]) -> dict[str, OptionSet]:
        wanted = {s.text for one in choices.values() for s in one.sources if s and s.kind in KINDS}
        texts = sorted(wanted | {self.right(qid, target) for qid in choices})
        vector_of = dict(zip(texts, self._embed(texts).astype(np.float64), strict=True))

        def placed(source: Negative | None, right: str) -> Negative | None:
            if source is None or source.kind not in KINDS:
                return source
            cosine = float(vector_of[right] @ vector_of[source.text])
            return replace(source, cos_text=round(cosine, COSINE_DIGITS))

        return {
            qid: replace(one, sources=tuple(placed(source, self.right(qid, target)) for source in one.sources))
            for qid, one in choices.items()
        }

    def choice_units(
        self, config: str, scheme: Scheme, choices: Choices, outcomes: Mapping[str, list[Row]] | None = None
    ) -> Iterator[Unit]:
        """Yield one unit for each split of a table with options."""
        guessable = self._guessable.get(config)
        rows: dict[str, list[Row]] = {}
        for row in self.rows:
            if row.qid not in choices["answer"]:
                continue
            values = asked_of(row)
            for target, (options, index, sources) in NAMES.items():
                choice = choices[target][row.qid]
                values[options] = list(choice.options)
                values[index] = choice.answer_index
                values[sources] = [source_row(row.qid, source) for source in choice.sources]
            values["blind_guessable"] = None if guessable is None else row.qid in guessable
            if outcomes is not None:
                values["confusions"] = outcomes[row.qid]
            rows.setdefault(self.split_of[scheme][row.qid], []).append(values)
        yield from _table_units(config, rows)

    def open_units(self) -> Iterator[Unit]:
        """Yield one unit for each split of the open-ended table."""
        rows: dict[str, list[Row]] = {}
        for row in self.rows:
            places = {
                f"split_{scheme}": self.split_of[scheme][row.qid] if scheme in self.settings.schemes else None
                for scheme in SCHEMES
            }
            values = {**asked_of(row), "answer": row.answer, "explanation": row.explanation, **places}
            rows.setdefault(self.split_of[self.settings.schemes[0]][row.qid], []).append(values)
        yield from _table_units(OPEN, rows)

    def measure(self, config: str, scheme: Scheme, choices: Choices, learnt: Choices) -> None:
        """Count the correct answers of untrained blind baselines, and the options that are also correct in train."""
        split_of = self.split_of[scheme]
        for target in TARGETS:
            trained = {text_key(text_of(row, target)) for qid, row in self.by_id.items() if split_of[qid] == "train"}
            known = [self._asked(qid, target, one) for qid, one in learnt[target].items() if split_of[qid] == "train"]
            splits = [split for split in SPLITS if any(split_of[qid] == split for qid in choices[target])]
            if len(splits) > 1 and self.settings.split != "train":
                splits = [split for split in splits if split != "train"]
            for split in splits:
                members = {qid: one for qid, one in choices[target].items() if split_of[qid] == split}
                guessed = guess_options(
                    [self._asked(qid, target, one) for qid, one in members.items()],
                    known if split != "train" else (),
                    self._embed,
                    self.settings.seed,
                    trained=False,
                )
                self.found["blind"].setdefault(config, {}).setdefault(split, {})[target] = {
                    "questions": len(members),
                    "chance": round(sum(1 / len(one.options) for one in members.values()) / len(members), 6),
                    "right": {guess.name: round(float(guess.right.sum()), 3) for guess in guessed.guesses},
                }
                if split == "train":
                    continue
                wrong = [source.text for one in members.values() for source in one.sources if source]
                rights = [self.right(qid, target) for qid in members]
                for name, texts in (("wrong_options_right_in_train", wrong), ("right_options_in_train", rights)):
                    share = [sum(text_key(text) in trained for text in texts), len(texts)]
                    self.found[name].setdefault(config, {}).setdefault(split, {})[target] = share

    def _asked(self, qid: str, target: Target, choice: OptionSet) -> BlindQuestion:
        row = self.by_id[qid]
        return BlindQuestion(qid, row.question, choice.options, choice.answer_index, row.episode, part=target)


def _table_units(config: str, rows: Mapping[str, list[Row]]) -> Iterator[Unit]:
    for split, members in rows.items():
        yield Unit(f".{config}.{split}", split, "", {"config": config, "rows": members}, tables=(config,))


def text_of(row: CausalRow, target: Target) -> str:
    """Return the correct answer or explanation of a row."""
    return row.answer if target == "answer" else row.explanation


def clip_id(row: CausalRow) -> str:
    """Return the name of the clip that a row is about."""
    return f"{row.episode}_{row.start_frame}_{row.end_frame}"


def causal_row(row: Row) -> CausalRow:
    """Return the annotation from which a row of `open_ended` was made."""
    texts = (row["question"], row["answer"], row["explanation"])
    return CausalRow(row["qid"], row["episode"], row["start_frame"], row["end_frame"], *texts)


def asked_of(row: CausalRow) -> Row:
    """Return the columns listed in `ASKED`."""
    return {
        "qid": row.qid,
        "episode": row.episode,
        "start_frame": row.start_frame,
        "end_frame": row.end_frame,
        "clip_id": clip_id(row),
        "question": row.question,
    }


def source_row(qid: str, source: Negative | None) -> Row:
    """Return the source of an option as columns of `SOURCE_FIELDS`."""
    if source is None:
        return {"qid": qid, "kind": RIGHT, "cos_question": 1.0, "cos_text": 1.0, "score": None}
    return {
        "qid": source.id,
        "kind": source.kind,
        "cos_question": source.cos_question,
        "cos_text": source.cos_text,
        "score": source.score if source.kind in SCORED else None,
    }


def outcome_row(target: Target, outcome: Outcome) -> Row:
    """Return the outcome of a confusion as columns of `CONFUSION_FIELDS`."""
    made = outcome.result if isinstance(outcome.result, Confusion) else None
    note = made.ambiguous if made else getattr(outcome.result, "reason", "")
    return {
        "target": target,
        "of": outcome.of,
        "kind": outcome.result.kind,
        "place": outcome.position,
        "text": made.text if made else None,
        "note": NOT_DRAWN if made and outcome.position is None else note,
    }


def tally(outcomes: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """Count, by target and kind, confusions that became options, ambiguous ones, and the reasons for failures."""
    counts: dict[str, Any] = {}
    for target in TARGETS:
        for results in outcomes.values():
            for result in results:
                if result["target"] != target:
                    continue
                kind = counts.setdefault(target, {}).setdefault(
                    result["kind"], {"placed": 0, "ambiguous": 0, "not_placed": {}}
                )
                if result["place"] is None:
                    kind["not_placed"][result["note"]] = kind["not_placed"].get(result["note"], 0) + 1
                else:
                    kind["placed"] += 1
                    kind["ambiguous"] += bool(result["note"])
    return counts


def clip_units(rows: Sequence[CausalRow], units: Sequence[Unit], timing: Timing) -> Iterator[Unit]:
    """Yield one unit for each clip that rows of the units refer to."""
    wanted = {row["clip_id"] for unit in units for row in unit.payload["rows"]}
    found: dict[str, list[CausalRow]] = {}
    for row in rows:
        found.setdefault(clip_id(row), []).append(row)
    for name, members in found.items():
        if name not in wanted:
            continue
        row = members[-1]
        part = Part(name, row.file, tuple(each.line for each in members if each.line))
        rate = timing.rates.get(row.episode)
        payload = {
            "start_frame": row.start_frame,
            "end_frame": row.end_frame,
            "offset": timing.offsets.get(row.episode, 0),
            "rate": str(rate) if rate else None,
        }
        cost = float(row.end_frame - row.start_frame)
        yield Unit(name, CLIPS, row.episode, payload, cost, (CLIPS,), parts=(part,))


def table_hashes() -> dict[str, str]:
    """Return the hash of every word list that affects the content, to identify the build."""
    root = Path(__file__).parents[2]
    paths = [*(root / "language").glob("*.yaml"), *(root / "negatives").glob("*.yaml")]
    return {path.name: sha256_text(path.read_text(encoding="utf-8")) for path in sorted(paths)}
