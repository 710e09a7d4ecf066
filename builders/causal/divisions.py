"""Plan a CausalChaos build: five answer and five explanation options per why-question, in three divisions.

Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal Chains
Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), sections 3.3 and 4. Each division is 70:15:15: UD samples
uniformly at random; PS divides by position in the episode; UN divides by episode, so that episodes of validation and
test are unseen in training.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from ...annotations.causalchaos import CausalRow, first_by_id, overlaps
from ...core.build_settings import content
from ...core.disputed import DISPUTED, refuse_unknown
from ...core.files import sha256_text
from ...core.numerics import rng_for
from ...core.plan import LeftOut, Part, Plan, Unit, bounded
from ...core.schema import Row
from ...evaluation.blind.blind_questions import BlindQuestion
from ...evaluation.blind.option_baselines import guess_options
from ...language.words import text_key
from ...negatives.confusion import Confuser
from ...negatives.options import (
    REFUSALS,
    Embed,
    OptionSet,
)
from ...negatives.settings import strict
from .options import Choices, EarlierTables, Generated, OptionPlanner, refusal_count
from .settings import SCHEMES, CausalSettings, Scheme
from .tables import (
    CLIPS,
    CONFUSED,
    NAMES,
    OPEN,
    SPLITS,
    TARGETS,
    TRAIN,
    Target,
    asked_of,
    causal_configs,
    clip_id,
    source_row,
    text_of,
)

ClipOrder = Literal["frames", "rows"]
TRAIN_ENDS, VALIDATION_ENDS = Fraction(70, 100), Fraction(85, 100)


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
    earlier: EarlierTables | None = None,
    left_out: Sequence[LeftOut] = (),
    disputed: Mapping[str, str] = MappingProxyType({}),
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
        disputed: Why questions are left out, by id, after the others have their options.
        earlier: Options of an output that was built with other rounding, which are taken where the rules allow them.

    Returns:
        The plan: a unit per clip, and one per table and split.

    Raises:
        InputError: A question has no distractor because its split is too small, or a disputed one does not exist.
    """
    rows = first_by_id(rows, limit)
    # Balanced options are those of all divisions, whichever are built.
    schemes = SCHEMES if strict(settings) else settings.schemes
    split_of = {scheme: divide(scheme, rows, settings.seed, settings.ps_by) for scheme in schemes}
    planner = OptionPlanner(rows, split_of, settings, embed, confuser, earlier, disputed)
    splits = [(qid, split) for scheme in settings.schemes for qid, split in split_of[scheme].items()]
    refuse_unknown(disputed.keys() - {qid for qid, split in splits if settings.split in ("all", split)})
    lost = [
        LeftOut("selection", "question", row.qid, DISPUTED, disputed[row.qid], row.episode, row.file, row.line)
        for row in rows
        if row.qid in disputed
    ]
    measured: dict[str, Any] = {
        "leaks": {
            scheme: {split: leak for split, leak in leaks(planner.kept, split_of[scheme]).items() if leak["rows"]}
            for scheme in settings.schemes
        },
        "blind": {},
        "wrong_options_right_in_train": {},
        "right_options_in_train": {},
    }
    units: list[Unit] = []
    for scheme in settings.schemes:
        choices = planner.options(scheme)
        kept = without_disputed(planner, choices)
        units += choice_units(planner, scheme, scheme, kept)
        audit(planner, measured, scheme, scheme, kept, kept)
        if settings.confuse and confuser and scheme == settings.schemes[0]:
            confused, outcomes = planner.confused(scheme, choices, confuser, generated or {})
            confused = without_disputed(planner, confused)
            outcomes = {row.qid: outcomes[row.qid] for row in planner.kept if row.qid in outcomes}
            if outcomes:
                units += choice_units(planner, CONFUSED, scheme, confused, outcomes)
                audit(planner, measured, CONFUSED, scheme, confused, kept)
                measured["confusion"] = tally(outcomes)
    units += open_units(planner)
    if settings.split != "all":
        units = [unit for unit in units if unit.split == settings.split]
    if settings.render and units:
        units += clip_units(rows, units, timing or Timing())
    return Plan(
        builder="causal",
        identity={**(identity or {}), "settings": content(settings), "limit": limit},
        units=tuple(sorted(units, key=lambda unit: unit.id)),
        configs=causal_configs(settings),
        noun="clip",
        notes={**(notes or {}), **planner.counts, **measured},
        left_out=bounded([*left_out, *lost]),
        remedies={refusal_count(target, reason): remedy for target in TARGETS for reason, remedy in REFUSALS.items()},
    )


def without_disputed(planner: OptionPlanner, choices: Choices) -> dict[str, dict[str, OptionSet]]:
    """Return the option sets of the questions that nobody disputed."""
    kept = [row.qid for row in planner.kept]
    return {target: {qid: sets[qid] for qid in kept if qid in sets} for target, sets in choices.items()}


def divide(scheme: Scheme, rows: Sequence[CausalRow], seed: int, ps_by: ClipOrder = "frames") -> dict[str, str]:
    """Return the split of every row, by id.

    The order of the rows matters only to PS by rows. UD divides rows at random: 4,945 yield 3,462, 741 and 742, as in
    the release. UN divides entire episodes at random: 161 yield 113, 24 and 24, as in the release.

    Args:
        scheme: The division.
        rows: The rows.
        seed: Seed of UD and UN.
        ps_by: Order in PS; see `divide_by_position`.
    """
    if scheme == "ud":
        return _drawn([row.qid for row in rows], seed, scheme)
    if scheme == "un":
        split_of = _drawn([row.episode for row in rows], seed, scheme)
        return {row.qid: split_of[row.episode] for row in rows}
    return divide_by_position(rows, ps_by)


def divide_by_position(rows: Sequence[CausalRow], ps_by: ClipOrder) -> dict[str, str]:
    """Divide by position (PS): the first 70% of an episode are train, up to 85% validation, the rest test.

    Args:
        rows: The rows.
        ps_by: "frames": the position of a row is the middle of its clip, and an episode ends with the last annotated
            frame, so no video is needed. "rows": the position is the row's order among those of its episode in the
            file, as in the released split (3,460/757/728 rows; the release has 3,459/757/728). Clips from the beginning
            of an episode may then be in its test split, because the file is not in temporal order.
    """
    by_episode: dict[str, list[CausalRow]] = {}
    for row in rows:
        by_episode.setdefault(row.episode, []).append(row)
    split_of: dict[str, str] = {}
    for members in by_episode.values():
        if ps_by == "rows":
            split_of |= _cut([row.qid for row in members])
            continue
        last = max(row.end_frame for row in members)
        for row in members:
            position = Fraction(row.start_frame + row.end_frame, 2 * last)
            split_of[row.qid] = SPLITS[(position >= TRAIN_ENDS) + (position >= VALIDATION_ENDS)]
    return {row.qid: split_of[row.qid] for row in rows}


def _drawn(names: Iterable[str], seed: int, scheme: str) -> dict[str, str]:
    """Divide distinct names at random, whatever their order."""
    ordered = sorted(set(names))
    permutation = rng_for(seed, "split", scheme).permutation(len(ordered))
    return _cut([ordered[index] for index in permutation.tolist()])


def _cut(names: Sequence[str]) -> dict[str, str]:
    """Divide names 70:15:15 in their order."""
    ends = [round(share * len(names)) for share in (TRAIN_ENDS, VALIDATION_ENDS)]
    return {name: SPLITS[sum(index >= end for end in ends)] for index, name in enumerate(names)}


def leaks(rows: Sequence[CausalRow], split_of: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Count how far validation and test overlap with train.

    Returns:
        By split: "rows"; "same", the rows whose clip also belongs to a row of train; "overlapping", those whose clip
        shares a frame with one of train, including "same"; "episode", those whose episode occurs in train.
    """
    neighbours = overlaps(rows)
    trained = [row for row in rows if split_of[row.qid] == TRAIN]
    clips, episodes = {clip_id(row) for row in trained}, {row.episode for row in trained}
    counts: dict[str, dict[str, int]] = {}
    for split in SPLITS[1:]:
        members = [row for row in rows if split_of[row.qid] == split]
        counts[split] = {
            "rows": len(members),
            "same": sum(clip_id(row) in clips for row in members),
            "overlapping": sum(any(split_of[qid] == TRAIN for qid in neighbours[row.qid]) for row in members),
            "episode": sum(row.episode in episodes for row in members),
        }
    return counts


def choice_units(
    planner: OptionPlanner,
    config: str,
    scheme: Scheme,
    choices: Choices,
    outcomes: Mapping[str, list[Row]] | None = None,
) -> Iterator[Unit]:
    """Yield one unit for each split of a table with options."""
    guessable = planner.guessable.get(config)
    rows: dict[str, list[Row]] = {}
    for row in planner.rows:
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
        rows.setdefault(planner.split_of[scheme][row.qid], []).append(values)
    yield from _table_units(config, rows)


def open_units(planner: OptionPlanner) -> Iterator[Unit]:
    """Yield one unit for each split of the open-ended table."""
    rows: dict[str, list[Row]] = {}
    for row in planner.kept:
        splits_by_scheme = {
            f"split_{scheme}": planner.split_of[scheme][row.qid] if scheme in planner.settings.schemes else None
            for scheme in SCHEMES
        }
        values = {**asked_of(row), "answer": row.answer, "explanation": row.explanation, **splits_by_scheme}
        rows.setdefault(planner.split_of[planner.settings.schemes[0]][row.qid], []).append(values)
    yield from _table_units(OPEN, rows)


def _table_units(config: str, rows: Mapping[str, list[Row]]) -> Iterator[Unit]:
    for split, members in rows.items():
        yield Unit(f".{config}.{split}", split, "", {"config": config, "rows": members}, tables=(config,))


def audit(
    planner: OptionPlanner, notes: dict[str, Any], config: str, scheme: Scheme, choices: Choices, learnt: Choices
) -> None:
    """Count the correct answers of untrained blind baselines, and the options that are also correct in train."""
    split_of = planner.split_of[scheme]
    for target in TARGETS:
        trained = {text_key(text_of(row, target)) for row in planner.kept if split_of[row.qid] == "train"}
        training = [
            _blind_question(planner, qid, target, choice)
            for qid, choice in learnt[target].items()
            if split_of[qid] == "train"
        ]
        splits = [split for split in SPLITS if any(split_of[qid] == split for qid in choices[target])]
        if len(splits) > 1 and planner.settings.split != "train":
            splits = [split for split in splits if split != "train"]
        for split in splits:
            members = {qid: choice for qid, choice in choices[target].items() if split_of[qid] == split}
            guessed = guess_options(
                [_blind_question(planner, qid, target, choice) for qid, choice in members.items()],
                training if split != "train" else (),
                planner.embed,
                planner.settings.seed,
                trained=False,
            )
            notes["blind"].setdefault(config, {}).setdefault(split, {})[target] = {
                "questions": len(members),
                "chance": round(sum(1 / len(choice.options) for choice in members.values()) / len(members), 6),
                "right": {guess.name: round(float(guess.right.sum()), 3) for guess in guessed.guesses},
            }
            if split == "train":
                continue
            wrong = [source.text for choice in members.values() for source in choice.sources if source]
            rights = [planner.right(qid, target) for qid in members]
            for name, texts in (("wrong_options_right_in_train", wrong), ("right_options_in_train", rights)):
                share = [sum(text_key(text) in trained for text in texts), len(texts)]
                notes[name].setdefault(config, {}).setdefault(split, {})[target] = share


def _blind_question(planner: OptionPlanner, qid: str, target: Target, choice: OptionSet) -> BlindQuestion:
    row = planner.by_id[qid]
    return BlindQuestion(qid, row.question, choice.options, choice.answer_index, row.episode, part=target)


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
    needed = {row["clip_id"] for unit in units for row in unit.payload["rows"]}
    rows_by_clip: dict[str, list[CausalRow]] = {}
    for row in rows:
        rows_by_clip.setdefault(clip_id(row), []).append(row)
    for name, members in rows_by_clip.items():
        if name not in needed:
            continue
        row = members[-1]
        part = Part(name, row.file, tuple(member.line for member in members if member.line))
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
