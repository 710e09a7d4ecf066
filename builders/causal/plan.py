"""CausalChaos: five options for the answer and for the explanation of every why-question, three divisions, confusions.

Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal Chains
Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), sections 3.3 and 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...annotations.causalchaos import CausalRow, first_by_id, overlaps
from ...core.errors import InputError
from ...core.files import sha256_text
from ...core.options import content
from ...core.plan import Plan, Unit
from ...core.progress import tracked
from ...core.schema import Row
from ...evaluation.blind.asked import Asked
from ...evaluation.blind.options import guess_options
from ...language.text_key import text_key
from ...negatives.candidates import QuestionRow
from ...negatives.confused_options import confuse_options
from ...negatives.confuser import Confuser
from ...negatives.confusion import KINDS, Confusion, Kind, Unconfused
from ...negatives.mining import COSINE_DIGITS, REFUSALS, Mined, MinedOptions, Negative, OptionSet
from ...negatives.options import mine_options, option_sets
from ...negatives.settings import strict
from ...negatives.style import plain_style
from ...negatives.twins import Told, balanced_twins
from .divisions import SPLITS, divide, leaks
from .settings import SCHEMES, CausalSettings, Scheme
from .tables import CLIPS, CONFUSED, OPEN, RIGHT, TARGETS, Target, causal_configs

Floats = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Floats]
Choices = Mapping[str, Mapping[str, OptionSet]]
Generated = Mapping[str, Mapping[Kind, Confusion | Unconfused]]
NOT_DRAWN = "enough others are there"
SCORED = ("hard", "random")  # kinds of options that were chosen by a score


@dataclass(frozen=True)
class Timing:
    """How annotated frames lie in the files of one's own copies.

    Attributes:
        offsets: By episode, frames to add to the annotated numbers.
        rates: By episode, frames per second that the annotators counted at; their frames are found by time then.
            Without, a frame number is the number of the frame in the file.
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
) -> Plan:
    """Plan a build, before any video is touched: divide, mine, put in order, confuse, and look for leaks.

    Args:
        rows: The annotations, in the order of their file, which the tables keep.
        settings: See `CausalSettings`.
        embed: Gives the embeddings of texts, float32, each of length 1.
        confuser: Makes confusions; not needed if `settings.confuse` is 0.
        generated: Confusions by the right option, made elsewhere (by a language model).
        timing: Where annotated frames are in the files.
        limit: Take only the first so many rows by id.
        identity: What else decides the content: dataset version, tool versions, hashes of inputs.
        notes: Counts from reading.

    Returns:
        The plan: a unit for each clip, and one for each table and split.

    Raises:
        InputError: A question has no wrong option at all, because its split is too small.
    """
    asked = list(first_by_id(rows, limit))
    drafts = Drafts(asked, settings, embed, confuser)
    found: dict[str, Any] = {"leaks": {}, "blind": {}, "wrong_options_right_in_train": {}, "right_options_in_train": {}}
    units: list[Unit] = []
    for scheme in settings.splits:
        choices = drafts.options(scheme)
        found["leaks"][scheme] = {
            split: asdict(leak) for split, leak in leaks(asked, drafts.split_of[scheme]).items() if leak.rows
        }
        units += drafts.tables(scheme, scheme, choices)
        drafts.look(found, scheme, scheme, choices, choices)
        if settings.confuse and confuser and scheme == settings.splits[0]:
            confused, outcomes = drafts.confused(scheme, choices, confuser, generated or {})
            if any(confused.values()):
                units += drafts.tables(CONFUSED, scheme, confused, outcomes)
                drafts.look(found, CONFUSED, scheme, confused, choices)
                found["confusion"] = tally(outcomes)
    units += drafts.open_ended()
    if settings.only != "all":
        units = [unit for unit in units if unit.split == settings.only]
    if settings.render and units:
        units += clip_units(asked, units, timing or Timing())
    return Plan(
        builder="causal",
        identity={**(identity or {}), "settings": content(settings), "limit": limit},
        units=tuple(sorted(units, key=lambda unit: unit.id)),
        configs=causal_configs(settings),
        noun="clip",
        notes={**(notes or {}), **drafts.counts, **found},
        remedies={
            f"{target}s_kept_from_these_{reason.replace(' ', '_')}": remedy
            for target in TARGETS
            for reason, remedy in REFUSALS.items()
        },
    )


class Drafts:
    """The rows of a build while they are planned."""

    def __init__(self, rows: Sequence[CausalRow], settings: CausalSettings, embed: Embed, reader: Confuser | None):
        """Divide the rows and embed their texts."""
        self.rows, self.settings, self._embed, self._reader = rows, settings, embed, reader
        self.by_id = {row.qid: row for row in rows}
        self.number = {row.qid: number for number, row in enumerate(rows)}
        self.split_of = {scheme: divide(scheme, rows, settings.seed, settings.places) for scheme in settings.splits}
        self.apart: Mapping[str, tuple[str, ...]] = overlaps(rows, settings.apart_frames) if settings.keep_apart else {}
        self.keys = {target: {row.qid: text_key(text_of(row, target)) for row in rows} for target in TARGETS}
        self._vector_of: dict[str, Floats] = {}
        self.counts = Counter[str]()
        self.guessable: dict[str, frozenset[str]] = {}
        self._one_pool: MinedOptions | None = None

    def trained(self, scheme: Scheme, target: Target) -> frozenset[str]:
        """Return the folded right options of train."""
        split_of = self.split_of[scheme]
        return frozenset(key for qid, key in self.keys[target].items() if split_of[qid] == "train")

    def right(self, qid: str, target: Target) -> str:
        """Return the right option, as it stands among the options."""
        return right_text(self.by_id[qid], target, self.settings, self._names)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return self._reader.cast.names if self._reader else ()

    def options(self, scheme: Scheme) -> Choices:
        """Mine the wrong options of every row and put them in order.

        Raises:
            InputError: A question has no wrong option at all.
        """
        split_of, one_pool = self.split_of[scheme], self.settings.pool == "all"
        asked = [
            QuestionRow(
                row.qid,
                row.question,
                {target: text_of(row, target) for target in TARGETS},
                "" if one_pool else split_of[row.qid],
                row.episode,
                split_of[row.qid],
            )
            for row in self.rows
        ]
        found = self._one_pool or self._mine(asked)
        if found.guessable is not None:
            self.guessable[scheme] = found.guessable
            for split in SPLITS:
                some = [row.id for row in asked if row.split == split]
                self.counts[f"blind_guessable/{scheme}/{split}"] = sum(qid in found.guessable for qid in some)
        elif one_pool:
            self._one_pool = found  # the divisions differ in nothing that mining looks at
        for target, mined in found.mined.items():
            bare = [one for one in mined if not one.negatives]
            if bare:
                pool = ", or --pool all" if self.settings.pool == "split" else ""
                raise InputError(
                    f"{len(bare)} questions have no wrong option in their split of {scheme} (the first is "
                    f"{bare[0].id}): it has too few questions{_reasons(bare[0])}. Give more rows{pool}."
                )
            few = sum(len(one.negatives) < self.settings.mining.num_options - 1 for one in mined)
            self.counts[f"{target}s_with_fewer_options"] += few
        return option_sets(asked, found, self.settings, f"{scheme}/")

    def _mine(self, asked: Sequence[QuestionRow]) -> MinedOptions:
        """Mine the wrong options of a division, and count what kept others away."""
        balanced = strict(self.settings)
        train = "train" if balanced or self.settings.pool == "split" else None
        found = mine_options(
            asked, self.settings, self._embed, confuser=self._reader, train=train, kept_apart=self.apart
        )
        for target, mined in found.mined.items():
            for one in mined:
                for reason, count in one.refused.items():
                    self.counts[f"{target}s_kept_from_these_{reason.replace(' ', '_')}"] += count
            if self.settings.mining.negatives == "hard" and not balanced:
                wide = sum(one.looked_at > self.settings.mining.top_k for one in mined)
                self.counts[f"{target}s_that_needed_more_candidates"] += wide
        return found

    def confused(
        self,
        scheme: Scheme,
        choices: Choices,
        confuser: Confuser,
        generated: Generated,
    ) -> tuple[dict[str, dict[str, OptionSet]], dict[str, list[Row]]]:
        """Replace wrong options of the test by confusions.

        Returns:
            The options, and for each row what became of each way.
        """
        settings = self.settings
        tested = [row for row in self.rows if self.split_of[scheme][row.qid] == "test"]
        found: dict[str, dict[str, OptionSet]] = {target: {} for target in TARGETS}
        outcomes: dict[str, list[Row]] = {row.qid: [] for row in tested}
        for target in TARGETS:
            if settings.twins == "balanced":
                self._twins(tested, target, choices, confuser, found, outcomes)
                continue
            for row in tracked(tested, f"confusing {target}s", "question"):
                right = self.right(row.qid, target)
                choice, results = confuse_options(
                    right,
                    choices[target][row.qid],
                    confuser,
                    count=settings.confuse,
                    seed=settings.seed,
                    item_id=row.qid,
                    kind=target,
                    made=self._generated(row, target, generated),
                )
                found[target][row.qid] = choice
                kinds = [source.kind if source else RIGHT for source in choice.sources]
                for result in results:
                    note = result.ambiguous if isinstance(result, Confusion) else result.reason
                    if isinstance(result, Confusion) and result.kind not in kinds:
                        note = NOT_DRAWN
                    outcomes[row.qid].append(
                        {
                            "target": target,
                            "of": RIGHT,
                            "kind": result.kind,
                            "place": kinds.index(result.kind) if result.kind in kinds else None,
                            "text": result.text if isinstance(result, Confusion) else None,
                            "note": note,
                        }
                    )
            self._place(tested, target, found[target])
        return found, outcomes

    def _generated(
        self, row: CausalRow, target: Target, generated: Generated
    ) -> Mapping[Kind, Confusion | Unconfused] | None:
        """Return the confusions that a model made of a right option, in the style of the options."""
        made = generated.get(text_of(row, target))
        return made and {
            kind: replace(one, text=in_style(one.text, self.settings, self._names))
            if isinstance(one, Confusion)
            else one
            for kind, one in made.items()
        }

    def _twins(
        self,
        tested: Sequence[CausalRow],
        target: Target,
        choices: Choices,
        confuser: Confuser,
        found: dict[str, dict[str, OptionSet]],
        outcomes: dict[str, list[Row]],
    ) -> None:
        """Turn right and wrong options round, so that a twin is as often wrong as any option."""
        rights = {row.qid: self.right(row.qid, target) for row in tested}
        told = [
            Told(
                row.qid,
                row.question,
                (rights[row.qid], *(self.right(row.qid, other) for other in TARGETS if other != target)),
                choices[target][row.qid],
            )
            for row in tested
        ]
        for qid, paired in balanced_twins(
            told, confuser, self._embed, most=self.settings.confuse, seed=self.settings.seed, kind=target
        ).items():
            found[target][qid] = paired.choice
            for turned in paired.turned:
                made = turned.result if isinstance(turned.result, Confusion) else None
                note = made.ambiguous if made else getattr(turned.result, "reason", "")
                outcomes[qid].append(
                    {
                        "target": target,
                        "of": turned.of,
                        "kind": turned.result.kind,
                        "place": turned.place,
                        "text": made.text if made else None,
                        "note": NOT_DRAWN if made and turned.place is None else note,
                    }
                )
        self._place(tested, target, found[target])

    def _place(self, tested: Sequence[CausalRow], target: Target, choices: dict[str, OptionSet]) -> None:
        """Set the cosine of confusions with the right option."""
        self._learn(s.text for c in choices.values() for s in c.sources if s and s.kind in KINDS)
        self._learn(self.right(row.qid, target) for row in tested)
        for row in tested:
            right = self._vector_of[self.right(row.qid, target)].astype(np.float64)
            choice = choices[row.qid]
            sources = tuple(
                replace(
                    source,
                    cos_text=round(float(right @ self._vector_of[source.text].astype(np.float64)), COSINE_DIGITS),
                )
                if source and source.kind in KINDS
                else source
                for source in choice.sources
            )
            choices[row.qid] = OptionSet(choice.options, choice.answer_index, tuple(sources))

    def _learn(self, texts: Iterable[str]) -> None:
        """Embed texts that are not known yet."""
        new = sorted(set(texts) - self._vector_of.keys())
        if new:
            self._vector_of |= dict(zip(new, self._embed(new), strict=True))

    def tables(
        self,
        config: str,
        scheme: Scheme,
        choices: Choices,
        outcomes: Mapping[str, list[Row]] | None = None,
    ) -> Iterator[Unit]:
        """Yield a unit for each split of a table with choices."""
        rows: dict[str, list[Row]] = {}
        for row in self.rows:
            if row.qid not in choices["answer"]:
                continue
            answer, explanation = (choices[target][row.qid] for target in TARGETS)
            values = {
                **asked_of(row),
                "options": list(answer.options),
                "answer_index": answer.answer_index,
                "explanation_options": list(explanation.options),
                "explanation_index": explanation.answer_index,
                "sources": [source_row(row.qid, source) for source in answer.sources],
                "explanation_sources": [source_row(row.qid, source) for source in explanation.sources],
                "blind_guessable": self._flag(config, row.qid),
            }
            if outcomes is not None:
                values["confusions"] = outcomes[row.qid]
            rows.setdefault(self.split_of[scheme][row.qid], []).append(values)
        for split, members in rows.items():
            yield Unit(f".{config}.{split}", split, "", {"config": config, "rows": members}, tables=(config,))

    def _flag(self, config: str, qid: str) -> bool | None:
        """Return whether a row is outside of the balanced subset; None where there is none."""
        return qid in self.guessable[config] if config in self.guessable else None

    def open_ended(self) -> Iterator[Unit]:
        """Yield a unit for each split of the open-ended table."""
        rows: dict[str, list[Row]] = {}
        for row in self.rows:
            places = {
                f"split_{scheme}": self.split_of[scheme][row.qid] if scheme in self.split_of else None
                for scheme in SCHEMES
            }
            values = {**asked_of(row), "answer": row.answer, "explanation": row.explanation, **places}
            rows.setdefault(self.split_of[self.settings.splits[0]][row.qid], []).append(values)
        for split, members in rows.items():
            yield Unit(f".{OPEN}.{split}", split, "", {"config": OPEN, "rows": members}, tables=(OPEN,))

    def look(self, found: dict[str, Any], config: str, scheme: Scheme, choices: Choices, learnt: Choices) -> None:
        """Count what blind guessers get right that are not trained, and what training gives away of the options.

        Args:
            found: Where the counts go.
            config: The table.
            scheme: The division.
            choices: The options of the table.
            learnt: The options of the division, whose train split the guessers know.
        """
        for target in TARGETS:
            split_of, trained = self.split_of[scheme], self.trained(scheme, target)
            self._learn(text for row in self.rows for text in (row.question, self.right(row.qid, target)))
            self._learn(text for some in (choices, learnt) for one in some[target].values() for text in one.options)
            known = [self._asked(qid, target, one) for qid, one in learnt[target].items() if split_of[qid] == "train"]
            for split in SPLITS:
                members = [q for q in choices[target] if split_of[q] == split]
                if not members:
                    continue
                blind = [self._asked(qid, target, choices[target][qid]) for qid in members]
                guessed = guess_options(
                    blind,
                    known if split != "train" else (),
                    partial(_stacked, self._vector_of),
                    self.settings.seed,
                    trained=False,
                )
                place = found["blind"].setdefault(config, {}).setdefault(split, {})
                place[target] = {
                    "questions": len(blind),
                    "chance": round(sum(1 / len(asked.options) for asked in blind) / len(blind), 6),
                    "right": {guess.name: round(float(guess.right.sum()), 3) for guess in guessed.guesses},
                }
                if split == "train":
                    continue
                wrong = [s.text for q in members for s in choices[target][q].sources if s]
                rights = [self.right(qid, target) for qid in members]
                for name, texts in (("wrong_options_right_in_train", wrong), ("right_options_in_train", rights)):
                    share = [sum(text_key(text) in trained for text in texts), len(texts)]
                    found[name].setdefault(config, {}).setdefault(split, {})[target] = share

    def _asked(self, qid: str, target: Target, choice: OptionSet) -> Asked:
        row = self.by_id[qid]
        return Asked(qid, row.question, choice.options, choice.answer_index, row.episode, part=target)


def _stacked(vectors: Mapping[str, Floats], texts: Sequence[str]) -> Floats:
    return np.stack([vectors[text] for text in texts])


def _reasons(one: Mined) -> str:
    """Describe why the other questions of its pool lend a question nothing."""
    counts = [f"{count:,} {reason} ({REFUSALS[reason]})" for reason, count in one.refused.items()]
    return f"; of its split it cannot have {', '.join(counts)}" if counts else ""


def text_of(row: CausalRow, target: Target) -> str:
    """Return the right option."""
    return row.answer if target == "answer" else row.explanation


def right_text(row: CausalRow, target: Target, settings: CausalSettings, names: tuple[str, ...]) -> str:
    """Return the right option as it stands among the options: in their style, where they have one."""
    return in_style(text_of(row, target), settings, names)


def in_style(text: str, settings: CausalSettings, names: tuple[str, ...]) -> str:
    """Return a text in the style of the options, where they have one."""
    return plain_style(text, names) if strict(settings) and settings.mining.style == "one" else text


def clip_id(row: CausalRow) -> str:
    """Name the clip of a row."""
    return f"{row.episode}_{row.start_frame}_{row.end_frame}"


def causal_row(row: Row) -> CausalRow:
    """Return the annotation that a row of `open_ended` was made from."""
    texts = (row["question"], row["answer"], row["explanation"])
    return CausalRow(row["qid"], row["episode"], row["start_frame"], row["end_frame"], *texts)


def asked_of(row: CausalRow) -> Row:
    """Return the columns `ASKED`."""
    return {
        "qid": row.qid,
        "episode": row.episode,
        "start_frame": row.start_frame,
        "end_frame": row.end_frame,
        "clip_id": clip_id(row),
        "question": row.question,
    }


def source_row(qid: str, source: Negative | None) -> Row:
    """Write where an option comes from."""
    if source is None:
        return {"qid": qid, "kind": RIGHT, "cos_question": 1.0, "cos_text": 1.0, "score": None}
    return {
        "qid": source.id,
        "kind": source.kind,
        "cos_question": source.cos_question,
        "cos_text": source.cos_text,
        "score": source.score if source.kind in SCORED else None,
    }


def tally(outcomes: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """Count what became of each way to confuse: placed, ambiguous ones among these, and why others were not."""
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
    """Yield a unit for each clip that some row is about."""
    wanted = {row["clip_id"] for unit in units for row in unit.payload["rows"]}
    for name, row in {clip_id(row): row for row in rows}.items():
        if name not in wanted:
            continue
        rate = timing.rates.get(row.episode)
        payload = {
            "start_frame": row.start_frame,
            "end_frame": row.end_frame,
            "offset": timing.offsets.get(row.episode, 0),
            "rate": str(rate) if rate else None,
        }
        yield Unit(name, CLIPS, row.episode, payload, float(row.end_frame - row.start_frame), (CLIPS,))


def table_hashes() -> dict[str, str]:
    """Hash every word list that decides the content, for the identity of a build."""
    root = Path(__file__).parents[2]
    paths = [*(root / "language").glob("*.yaml"), *(root / "negatives" / "tables").glob("*.yaml")]
    return {path.name: sha256_text(path.read_text(encoding="utf-8")) for path in sorted(paths)}
