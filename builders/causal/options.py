"""Choose the options of CausalChaos questions: mined distractors, and confusions.

If an output was built on another machine, where rounding may change which distractors are chosen, its own are taken
where the rules allow them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...annotations.causalchaos import CausalRow, overlaps
from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...core.progress import tracked
from ...core.schema import Row
from ...negatives.candidates import AdaptableTexts, Candidates
from ...negatives.confused_options import (
    ConfusedOptions,
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
    ROOM,
    EarlierOptions,
    Embed,
    MinedOptions,
    Negative,
    OptionSet,
    QuestionRow,
    option_sets,
    plain_style,
    shuffled,
)
from ...negatives.settings import strict
from .settings import SCHEMES, CausalSettings, Scheme
from .tables import CONFUSED, NAMES, RIGHT, SPLITS, TARGETS, TRAIN, Target, outcome_row, text_of

Choices = Mapping[str, Mapping[str, OptionSet]]
"""Option sets by target and id."""
Generated = Mapping[str, Results]
"""Confusions of texts by a language model."""


@dataclass(frozen=True)
class EarlierTables:
    """The rows of the tables with options, by table and question."""

    tables: Mapping[str, Mapping[str, Row]]
    settings: CausalSettings

    @classmethod
    def read(cls, output: FinishedOutput, settings: CausalSettings) -> EarlierTables:
        """Read the rows of an output."""
        names = [name for name in (*settings.schemes, CONFUSED) if name in output.info["counts"]]
        return cls({name: {row["qid"]: row for row in output.rows(name)} for name in names}, settings)

    def mined(self, table: str) -> EarlierOptions:
        """Return the distractors of a table in the order in which they were chosen."""
        rows = self.tables.get(table, {})
        return EarlierOptions(
            {target: {qid: self._negatives(row, target) for qid, row in rows.items()} for target in NAMES},
            frozenset(qid for qid, row in rows.items() if row["blind_guessable"]),
        )

    def _negatives(self, row: Row, target: Target) -> list[Negative]:
        options, index, sources = (row[name] for name in NAMES[target])
        order = shuffled(len(options), self.settings.seed, row["qid"], target, index)
        negatives = {
            position: Negative(source["qid"], text, 0.0, 0.0, 0.0, source["kind"])
            for position, text, source in zip(order, options, sources, strict=False)
            if source["kind"] != RIGHT
        }
        return [negatives[position] for position in sorted(negatives)]

    def options(self, target: Target) -> dict[str, Sequence[str]]:
        """Return the options with confusions, by question."""
        return {qid: row[NAMES[target][0]] for qid, row in self.tables.get(CONFUSED, {}).items()}

    def rounded(self, table: str, row: Row) -> Row:
        """Return a row with the cosines of the output, where they differ from its own only by rounding."""
        stored = self.tables.get(table, {}).get(row["qid"], {})
        return {**row, **{name: self._rounded(row[name], stored.get(name, ())) for _, _, name in NAMES.values()}}

    def _rounded(self, own: Sequence[Row], stored: Sequence[Row]) -> list[Row]:
        if len(own) != len(stored):
            return list(own)
        room = {"cos_question": ROOM, "cos_text": ROOM, "score": 3 * ROOM * self.settings.alpha}
        return [
            {
                **source,
                **{name: stored_source[name] for name in room if _near(source[name], stored_source[name], room[name])},
            }
            for source, stored_source in zip(own, stored, strict=True)
        ]


def _near(first: float | None, second: float | None, room: float) -> bool:
    return first is not None and second is not None and abs(first - second) <= room


class OptionPlanner:
    """Mines and confuses the options of a build's questions, and counts what the rules exclude."""

    def __init__(
        self,
        rows: Sequence[CausalRow],
        split_of: Mapping[Scheme, Mapping[str, str]],
        settings: CausalSettings,
        embed: Embed,
        confuser: Confuser | None,
        earlier: EarlierTables | None,
        disputed: Collection[str] = (),
    ):
        self.rows, self.split_of, self.settings, self.embed = rows, split_of, settings, embed
        self._confuser, self._earlier = confuser, earlier
        self.by_id = {row.qid: row for row in rows}
        self.kept = [row for row in rows if row.qid not in disputed]
        self._apart: Mapping[str, Sequence[str]] = overlaps(rows, settings.apart_frames) if settings.keep_apart else {}
        self._names = confuser.cast.names if confuser else ()
        self._mined: MinedOptions | None = None  # options that do not depend on the division
        self.guessable: dict[str, frozenset[str]] = {}
        self.counts = Counter[str]()

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
        mining, questions = self.settings, self._questions(*SCHEMES)
        return Candidates(
            questions,
            AdaptableTexts(questions, self._confuser, one_style=mining.style == "one"),
            self.embed,
            seed=self.settings.seed,
            same_question=mining.same_question,
            kept_apart=self._apart,
            train=TRAIN,
        )

    def _questions(self, *schemes: Scheme) -> list[QuestionRow]:
        """Return the rows with their splits in some divisions. Those of a pool are in train of the same divisions."""
        questions = []
        for row in self.rows:
            splits = tuple(self.split_of[scheme][row.qid] for scheme in schemes)
            pool = splits[0] if len(splits) == 1 else "/".join(TRAIN if split == TRAIN else "" for split in splits)
            texts: dict[str, str] = {target: text_of(row, target) for target in TARGETS}
            pool = "" if self.settings.pool == "all" else pool
            questions.append(QuestionRow(row.qid, row.question, texts, pool, row.episode, splits))
        return questions

    def options(self, scheme: Scheme) -> Choices:
        """Mine the distractors of every row, and arrange the options.

        Raises:
            InputError: A question has no distractor.
        """
        together = strict(self.settings)
        questions = self._questions(*(SCHEMES if together else (scheme,)))
        stored = self._earlier.mined(scheme) if self._earlier else None
        mined_options = self._mined or self._mine(questions, stored)
        division = SCHEMES.index(scheme) if together else 0
        if mined_options.guessable:
            guessable = stored.guessable & self.by_id.keys() if stored else mined_options.guessable[division]
            self.guessable[scheme] = guessable
            for split in SPLITS:
                members = [row.qid for row in self.kept if self.split_of[scheme][row.qid] == split]
                self.counts[f"blind_guessable/{scheme}/{split}"] = sum(qid in guessable for qid in members)
        if together or self.settings.pool == "all":  # mining by score is then independent of the division
            self._mined = mined_options
        for target, mined in mined_options.mined.items():
            bare = [row_options for row_options in mined if not row_options.negatives]
            if bare:
                refused = [f"{count:,} {reason} ({REFUSALS[reason]})" for reason, count in bare[0].refused.items()]
                reasons = f"; those excluded for {bare[0].id} are {', '.join(refused)}" if refused else ""
                pool = ", or --pool all" if self.settings.pool == "split" else ""
                raise InputError(
                    f"{len(bare)} questions have no distractor in their split of {scheme} (the first is {bare[0].id}). "
                    f"The split has too few questions{reasons}. Provide more rows{pool}."
                )
            few = sum(len(row_options.negatives) < self.settings.num_options - 1 for row_options in mined)
            self.counts[f"{target}s_with_fewer_options"] += few
        return option_sets(questions, mined_options, self.settings, f"{scheme}/", division)

    def _mine(self, questions: Sequence[QuestionRow], stored: EarlierOptions | None) -> MinedOptions:
        balanced = strict(self.settings)
        train = TRAIN if balanced or self.settings.pool == "split" else None
        mined_options = mine(
            questions,
            self.settings,
            self.embed,
            candidates=self._candidates,
            train=train,
            kept_apart=self._apart,
            earlier=stored,
        )
        for target, mined in mined_options.mined.items():
            for row_options in mined:
                for reason, count in row_options.refused.items():
                    self.counts[refusal_count(target, reason)] += count
            if self.settings.negatives == "hard" and not balanced:
                wide = sum(row_options.looked_at > self.settings.top_k for row_options in mined)
                self.counts[f"{target}s_that_needed_more_candidates"] += wide
        return mined_options

    def confused(
        self, scheme: Scheme, choices: Choices, confuser: Confuser, generated: Generated
    ) -> tuple[dict[str, dict[str, OptionSet]], dict[str, list[Row]]]:
        """Replace distractors in the test split with confusions. Return options, and the `confusions` column by id."""
        tested = [row for row in self.rows if self.split_of[scheme][row.qid] == "test"]
        confused: dict[str, dict[str, OptionSet]] = {}
        outcomes: dict[str, list[Row]] = {row.qid: [] for row in tested}
        for target in TARGETS:
            if self.settings.twins == "balanced":
                results = self._confuse_evenly(tested, target, choices[target], confuser)
            else:
                results = self._confuse_correct(tested, target, choices[target], confuser, generated)
            confused[target] = self._with_cosines(target, {qid: options.choice for qid, options in results.items()})
            for qid, options in results.items():
                outcomes[qid] += [outcome_row(target, outcome) for outcome in options.outcomes]
        return confused, outcomes

    def _confuse_evenly(
        self, tested: Sequence[CausalRow], target: Target, choices: Mapping[str, OptionSet], confuser: Confuser
    ) -> dict[str, ConfusedOptions]:
        companion = next(name for name in TARGETS if name != target)
        questions = [
            QuestionOptions(
                row.qid,
                row.question,
                (self.right(row.qid, target), self.right(row.qid, companion)),
                choices[row.qid],
            )
            for row in tested
        ]
        return confuse_evenly(
            questions,
            confuser,
            self.embed,
            most=self.settings.confuse,
            seed=self.settings.seed,
            kind=target,
            earlier=self._earlier.options(target) if self._earlier else None,
        )

    def _confuse_correct(
        self,
        tested: Sequence[CausalRow],
        target: Target,
        choices: Mapping[str, OptionSet],
        confuser: Confuser,
        generated: Generated,
    ) -> dict[str, ConfusedOptions]:
        confused = {}
        for row in tracked(tested, f"confusing {target}s", "question"):
            right = self.right(row.qid, target)
            written = generated.get(text_of(row, target))
            results: Results = (
                {"negation": confuser.negation(right), "swap": confuser.swap(right)}
                if not written
                else {
                    kind: replace(confusion, text=self._in_style(confusion.text))
                    if isinstance(confusion, Confusion)
                    else confusion
                    for kind, confusion in written.items()
                }
            )
            confused[row.qid] = confuse_correct(
                choices[row.qid],
                results,
                count=self.settings.confuse,
                seed=self.settings.seed,
                item_id=row.qid,
                kind=target,
            )
        return confused

    def _with_cosines(self, target: Target, choices: Mapping[str, OptionSet]) -> dict[str, OptionSet]:
        confusions = {s.text for choice in choices.values() for s in choice.sources if s and s.kind in KINDS}
        texts = sorted(confusions | {self.right(qid, target) for qid in choices})
        vector_of = dict(zip(texts, self.embed(texts).astype(np.float64), strict=True))

        def placed(source: Negative | None, right: str) -> Negative | None:
            if source is None or source.kind not in KINDS:
                return source
            cosine = float(vector_of[right] @ vector_of[source.text])
            return replace(source, cos_text=round(cosine, COSINE_DIGITS))

        return {
            qid: replace(choice, sources=tuple(placed(source, self.right(qid, target)) for source in choice.sources))
            for qid, choice in choices.items()
        }


def refusal_count(target: str, reason: str) -> str:
    """Return the name under which distractors of a target that were excluded for a reason are counted."""
    return f"{target}s_kept_from_these_{reason.replace(' ', '_')}"
