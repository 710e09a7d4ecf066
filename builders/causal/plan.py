"""Plan a CausalChaos build: five answer and five explanation options per why-question, in three divisions.

Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal Chains
Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), sections 3.3 and 4. Each division is 70:15:15: UD samples
uniformly at random; PS divides by position in the episode; UN divides by episode, so that episodes of validation and
test are unseen in training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from ...annotations.causalchaos import CausalRow, first_by_id, overlaps
from ...core.files import sha256_text
from ...core.left_out import LeftOut, bounded
from ...core.plan import Part, Plan, Unit
from ...core.record import content
from ...core.schema import Row
from ...core.seeds import rng_for
from ...evaluation.blind.blind_questions import BlindQuestion
from ...evaluation.blind.option_baselines import guess_options
from ...language.text_key import text_key
from ...negatives.confuser import Confuser
from ...negatives.options import REFUSALS, Embed, OptionSet
from ...negatives.settings import strict
from .options import Choices, Generated, Given, OptionPlanner, refusal_count
from .settings import SCHEMES, CausalSettings, Scheme
from .tables import (
    CLIPS,
    CONFUSED,
    NAMES,
    OPEN,
    SPLITS,
    TARGETS,
    Target,
    asked_of,
    causal_configs,
    clip_id,
    source_row,
    text_of,
)

Places = Literal["frames", "rows"]
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
    rows = first_by_id(rows, limit)
    # Balanced options are those of all divisions, whichever are built.
    schemes = SCHEMES if strict(settings) else settings.schemes
    split_of = {scheme: divide(scheme, rows, settings.seed, settings.ps_by) for scheme in schemes}
    planner = OptionPlanner(rows, split_of, settings, embed, confuser, given)
    measured: dict[str, Any] = {
        "leaks": {
            scheme: {split: asdict(leak) for split, leak in leaks(rows, split_of[scheme]).items() if leak.rows}
            for scheme in settings.schemes
        },
        "blind": {},
        "wrong_options_right_in_train": {},
        "right_options_in_train": {},
    }
    units: list[Unit] = []
    for scheme in settings.schemes:
        choices = planner.options(scheme)
        units += choice_units(planner, scheme, scheme, choices)
        audit(planner, measured, scheme, scheme, choices, choices)
        if settings.confuse and confuser and scheme == settings.schemes[0]:
            confused, outcomes = planner.confused(scheme, choices, confuser, generated or {})
            if outcomes:
                units += choice_units(planner, CONFUSED, scheme, confused, outcomes)
                audit(planner, measured, CONFUSED, scheme, confused, choices)
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
        left_out=bounded(left_out),
        remedies={refusal_count(target, reason): remedy for target in TARGETS for reason, remedy in REFUSALS.items()},
    )


def divide(scheme: Scheme, rows: Sequence[CausalRow], seed: int, places: Places = "frames") -> dict[str, str]:
    """Return the split of every row, by id.

    `seed` does not affect PS, whose order is determined by `places`; see `by_place`.
    """
    if scheme == "ud":
        return at_random(rows, seed)
    return by_episode(rows, seed) if scheme == "un" else by_place(rows, places)


def at_random(rows: Sequence[CausalRow], seed: int) -> dict[str, str]:
    """Divide rows at random (UD), whatever their order: 4,945 rows yield 3,462, 741 and 742, as in the release."""
    return _drawn(sorted(row.qid for row in rows), seed, "ud")


def by_episode(rows: Sequence[CausalRow], seed: int) -> dict[str, str]:
    """Divide entire episodes at random (UN): 161 episodes yield 113, 24 and 24, as in the release."""
    split_of = _drawn(sorted({row.episode for row in rows}), seed, "un")
    return {row.qid: split_of[row.episode] for row in rows}


def by_place(rows: Sequence[CausalRow], places: Places = "frames") -> dict[str, str]:
    """Divide by position (PS): the first 70% of an episode are train, up to 85% validation, the rest test.

    Args:
        rows: The rows.
        places: "frames": the position of a row is the middle of its clip, and an episode ends with the last annotated
            frame, so no video is needed. "rows": the position is the row's order among those of its episode in the
            file, as in the released split (3,460/757/728 rows; the release has 3,459/757/728). Clips from the beginning
            of an episode may then be in its test split, because the file is not in temporal order.
    """
    members: dict[str, list[CausalRow]] = {}
    for row in rows:
        members.setdefault(row.episode, []).append(row)
    found: dict[str, str] = {}
    for episode in members.values():
        if places == "rows":
            ends = [round(share * len(episode)) for share in (TRAIN_ENDS, VALIDATION_ENDS)]
            found |= {row.qid: SPLITS[sum(number >= end for end in ends)] for number, row in enumerate(episode)}
            continue
        last = max(row.end_frame for row in episode)
        for row in episode:
            place = Fraction(row.start_frame + row.end_frame, 2 * last)
            found[row.qid] = SPLITS[(place >= TRAIN_ENDS) + (place >= VALIDATION_ENDS)]
    return {row.qid: found[row.qid] for row in rows}


def _drawn(names: Sequence[str], seed: int, scheme: str) -> dict[str, str]:
    ends = [round(share * len(names)) for share in (TRAIN_ENDS, VALIDATION_ENDS)]
    order = rng_for(seed, "split", scheme).permutation(len(names)).tolist()
    return {names[place]: SPLITS[sum(number >= end for end in ends)] for number, place in enumerate(order)}


@dataclass(frozen=True)
class Leak:
    """How much a split overlaps with train.

    Attributes:
        same: Rows whose clip also belongs to a row of train.
        overlapping: Rows whose clip shares a frame with one of train, including `same`.
        episode: Rows whose episode occurs in train.
    """

    rows: int
    same: int
    overlapping: int
    episode: int


def leaks(rows: Sequence[CausalRow], split_of: Mapping[str, str]) -> dict[str, Leak]:
    """Count how many validation and test rows share frames with train."""
    by_id = {row.qid: row for row in rows}
    others = overlaps(rows)
    seen = {row.episode for row in rows if split_of[row.qid] == "train"}

    def trained(row: CausalRow, close: Callable[[CausalRow], bool]) -> bool:
        return any(split_of[other] == "train" and close(by_id[other]) for other in others[row.qid])

    def counted(split: str) -> Leak:
        part = [row for row in rows if split_of[row.qid] == split]
        same = sum(
            trained(row, lambda o, r=row: (o.start_frame, o.end_frame) == (r.start_frame, r.end_frame))  # type: ignore[misc]
            for row in part
        )
        overlapping = sum(trained(row, lambda _: True) for row in part)
        return Leak(len(part), same, overlapping, sum(row.episode in seen for row in part))

    return {split: counted(split) for split in ("validation", "test")}


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
    for row in planner.rows:
        places = {
            f"split_{scheme}": planner.split_of[scheme][row.qid] if scheme in planner.settings.schemes else None
            for scheme in SCHEMES
        }
        values = {**asked_of(row), "answer": row.answer, "explanation": row.explanation, **places}
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
        trained = {text_key(text_of(row, target)) for qid, row in planner.by_id.items() if split_of[qid] == "train"}
        known = [
            _blind_question(planner, qid, target, one)
            for qid, one in learnt[target].items()
            if split_of[qid] == "train"
        ]
        splits = [split for split in SPLITS if any(split_of[qid] == split for qid in choices[target])]
        if len(splits) > 1 and planner.settings.split != "train":
            splits = [split for split in splits if split != "train"]
        for split in splits:
            members = {qid: one for qid, one in choices[target].items() if split_of[qid] == split}
            guessed = guess_options(
                [_blind_question(planner, qid, target, one) for qid, one in members.items()],
                known if split != "train" else (),
                planner.embed,
                planner.settings.seed,
                trained=False,
            )
            notes["blind"].setdefault(config, {}).setdefault(split, {})[target] = {
                "questions": len(members),
                "chance": round(sum(1 / len(one.options) for one in members.values()) / len(members), 6),
                "right": {guess.name: round(float(guess.right.sum()), 3) for guess in guessed.guesses},
            }
            if split == "train":
                continue
            wrong = [source.text for one in members.values() for source in one.sources if source]
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
    paths = [*(root / "language").glob("*.yaml"), *(root / "negatives" / "tables").glob("*.yaml")]
    return {path.name: sha256_text(path.read_text(encoding="utf-8")) for path in sorted(paths)}
