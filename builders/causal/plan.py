"""CausalChaos: five options for the answer and for the explanation of every why-question, three divisions, confusions.

Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal Chains
Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), sections 3.3 and 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...negatives.confused_options import confuse_options
from ...negatives.confuser import Confuser
from ...negatives.confusion import Confusion, Kind, Unconfused
from ...negatives.mining import COSINE_DIGITS, REFUSALS, Item, Mined, Negative, OptionSet, arrange, mine, text_key
from ...progress import tracked
from ...records.files import sha256_text
from ...records.options import content
from ...records.plan import Plan, Unit
from ...records.schema import Row
from ...sources.causalchaos import CausalRow, first_by_id, overlaps
from .audit import Asked, audit, known_share
from .divisions import SPLITS, divide, leaks
from .settings import SCHEMES, CausalSettings, Scheme
from .tables import CLIPS, CONFUSED, OPEN, RIGHT, TARGETS, Target, causal_configs

Floats = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Floats]
Generated = Mapping[str, Mapping[Kind, Confusion | Unconfused]]
NOT_DRAWN = "enough others are there"


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
    drafts = Drafts(asked, settings, embed)
    found: dict[str, Any] = {"leaks": {}, "blind": {}, "wrong_options_right_in_train": {}, "right_options_in_train": {}}
    units: list[Unit] = []
    for scheme in settings.splits:
        choices = {target: drafts.choices(scheme, target) for target in TARGETS}
        found["leaks"][scheme] = {
            split: asdict(leak) for split, leak in leaks(asked, drafts.split_of[scheme]).items() if leak.rows
        }
        units += drafts.tables(scheme, scheme, choices)
        drafts.look(found, scheme, scheme, choices)
        if settings.confuse and confuser and scheme == settings.splits[0]:
            confused, outcomes = drafts.confused(scheme, choices, confuser, generated or {})
            if any(confused.values()):
                units += drafts.tables(CONFUSED, scheme, confused, outcomes)
                drafts.look(found, CONFUSED, scheme, confused)
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

    def __init__(self, rows: Sequence[CausalRow], settings: CausalSettings, embed: Embed):
        """Divide the rows and embed their texts."""
        self.rows, self.settings, self._embed = rows, settings, embed
        self.by_id = {row.qid: row for row in rows}
        self.number = {row.qid: number for number, row in enumerate(rows)}
        self.split_of = {scheme: divide(scheme, rows, settings.seed, settings.places) for scheme in settings.splits}
        self.questions = embed([row.question for row in rows])
        self.texts = {target: embed([text_of(row, target) for row in rows]) for target in TARGETS}
        self.apart: Mapping[str, tuple[str, ...]] = overlaps(rows, settings.apart_frames) if settings.keep_apart else {}
        self.keys = {target: {row.qid: text_key(text_of(row, target)) for row in rows} for target in TARGETS}
        self.extra: dict[str, Floats] = {}
        self.counts = Counter[str]()
        self._mined: dict[tuple[str, Target], Sequence[Mined]] = {}

    def trained(self, scheme: Scheme, target: Target) -> frozenset[str]:
        """Return the folded right options of train."""
        split_of = self.split_of[scheme]
        return frozenset(key for qid, key in self.keys[target].items() if split_of[qid] == "train")

    def choices(self, scheme: Scheme, target: Target) -> dict[str, OptionSet]:
        """Mine the wrong options of every row and put them in order.

        Raises:
            InputError: A question has no wrong option at all.
        """
        one_pool = self.settings.pool == "all"
        split_of = self.split_of[scheme]
        key = ("" if one_pool else scheme, target)
        if key not in self._mined:
            trained = frozenset[str]() if one_pool else self.trained(scheme, target)
            items = [
                Item(
                    row.qid,
                    row.question,
                    text_of(row, target),
                    "" if one_pool else split_of[row.qid],
                    lends=split_of[row.qid] == "train" or self.keys[target][row.qid] not in trained,
                )
                for row in self.rows
            ]
            self._mined[key] = mine(
                items,
                self.questions,
                self.texts[target],
                self.settings.mining,
                seed=self.settings.seed,
                kept_apart=self.apart,
                ranked_by=self.texts["explanation"] if self.settings.rank_by == "explanation" else None,
            )
        mined = self._mined[key]
        bare = [one for one in mined if not one.negatives]
        if bare:
            raise InputError(
                f"{len(bare)} questions have no wrong option in their split of {scheme} (the first is {bare[0].id}): "
                f"it has too few questions{_reasons(bare[0])}. Give more rows"
                f"{', or --pool all' if self.settings.pool == 'split' else ''}."
            )
        need = self.settings.mining.num_options - 1
        self.counts[f"{target}s_with_fewer_options"] += sum(len(one.negatives) < need for one in mined)
        for one in mined:
            for reason, count in one.refused.items():
                self.counts[f"{target}s_kept_from_these_{reason.replace(' ', '_')}"] += count
        if self.settings.mining.negatives == "hard":
            wide = sum(one.looked_at > self.settings.mining.top_k for one in mined)
            self.counts[f"{target}s_that_needed_more_candidates"] += wide
        return {
            one.id: arrange(text_of(self.by_id[one.id], target), one.negatives, self.settings.seed, one.id, target)
            for one in mined
        }

    def confused(
        self,
        scheme: Scheme,
        choices: Mapping[Target, Mapping[str, OptionSet]],
        confuser: Confuser,
        generated: Generated,
    ) -> tuple[dict[Target, dict[str, OptionSet]], dict[str, list[Row]]]:
        """Replace wrong options of the test by confusions.

        Returns:
            The options, and for each row what became of each way.
        """
        settings = self.settings
        tested = [row for row in self.rows if self.split_of[scheme][row.qid] == "test"]
        found: dict[Target, dict[str, OptionSet]] = {target: {} for target in TARGETS}
        outcomes: dict[str, list[Row]] = {row.qid: [] for row in tested}
        for target in TARGETS:
            for row in tracked(tested, f"confusing {target}s", "question"):
                right = text_of(row, target)
                choice, results = confuse_options(
                    right,
                    choices[target][row.qid],
                    confuser,
                    count=settings.confuse,
                    seed=settings.seed,
                    item_id=row.qid,
                    kind=target,
                    made=generated.get(right),
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
                            "kind": result.kind,
                            "place": kinds.index(result.kind) if result.kind in kinds else None,
                            "text": result.text if isinstance(result, Confusion) else None,
                            "note": note,
                        }
                    )
            self._place(tested, target, found[target])
        return found, outcomes

    def _place(self, tested: Sequence[CausalRow], target: Target, choices: dict[str, OptionSet]) -> None:
        """Set the cosine of confusions with the right option."""
        new = sorted({s.text for c in choices.values() for s in c.sources if s and self._is_new(s, target)})
        self.extra |= dict(zip(new, self._embed(new), strict=True)) if new else {}
        for row in tested:
            right = self.texts[target][self.number[row.qid]].astype(np.float64)
            choice = choices[row.qid]
            sources = tuple(
                replace(
                    source, cos_text=round(float(right @ self.extra[source.text].astype(np.float64)), COSINE_DIGITS)
                )
                if source and self._is_new(source, target)
                else source
                for source in choice.sources
            )
            choices[row.qid] = OptionSet(choice.options, choice.answer_index, tuple(sources))

    def _is_new(self, source: Negative, target: Target) -> bool:
        return source.text != text_of(self.by_id[source.id], target)

    def tables(
        self,
        config: str,
        scheme: Scheme,
        choices: Mapping[Target, Mapping[str, OptionSet]],
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
            }
            if outcomes is not None:
                values["confusions"] = outcomes[row.qid]
            rows.setdefault(self.split_of[scheme][row.qid], []).append(values)
        for split, members in rows.items():
            yield Unit(f".{config}.{split}", split, "", {"config": config, "rows": members}, tables=(config,))

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

    def look(
        self, found: dict[str, Any], config: str, scheme: Scheme, choices: Mapping[Target, Mapping[str, OptionSet]]
    ) -> None:
        """Count what blind guessers get right, and what training gives away of the options."""
        for target in TARGETS:
            trained = self.trained(scheme, target)
            for split in SPLITS:
                members = [q for q in choices[target] if self.split_of[scheme][q] == split]
                if not members:
                    continue
                blind = [self._asked(qid, target, choices[target][qid]) for qid in members]
                seen = trained if split != "train" else frozenset[str]()
                right = audit(blind, seen)
                if split == "train":
                    del right["seen_in_train"]
                if config != CONFUSED:
                    del right["twin"]
                chance = sum(1 / len(asked.texts) for asked in blind) / len(blind)
                place = found["blind"].setdefault(config, {}).setdefault(split, {})
                place[target] = {"questions": len(blind), "chance": round(chance, 6), "right": right}
                if split == "train":
                    continue
                wrong = [s.text for q in members for s in choices[target][q].sources if s]
                known = found["wrong_options_right_in_train"].setdefault(config, {}).setdefault(split, {})
                known[target] = list(known_share(wrong, trained))
                rights = [text_of(self.by_id[qid], target) for qid in members]
                known = found["right_options_in_train"].setdefault(config, {}).setdefault(split, {})
                known[target] = list(known_share(rights, trained))

    def _asked(self, qid: str, target: Target, choice: OptionSet) -> Asked:
        vectors = [
            self.texts[target][self.number[source.id if source else qid]]
            if source is None or not self._is_new(source, target)
            else self.extra[source.text]
            for source in choice.sources
        ]
        return Asked(
            self.by_id[qid].question,
            self.questions[self.number[qid]],
            choice.options,
            np.stack(vectors),
            choice.answer_index,
        )


def _reasons(one: Mined) -> str:
    """Describe why the other questions of its pool lend a question nothing."""
    counts = [f"{count:,} {reason} ({REFUSALS[reason]})" for reason, count in one.refused.items()]
    return f"; of its split it cannot have {', '.join(counts)}" if counts else ""


def text_of(row: CausalRow, target: Target) -> str:
    """Return the right option."""
    return row.answer if target == "answer" else row.explanation


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
        "score": source.score if source.kind in ("hard", "random") else None,
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
