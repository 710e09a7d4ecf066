"""Plan a CLAVI build: complement videos with two actions swapped, and 19 yes/no questions per video.

Rawal et al. 2024, "Dissecting Multimodality in VideoQA Transformer Models by Impairing Modality Fusion", section 5 and
appendix B.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from ...annotations.actions import Action, AnnotatedVideo, Segment
from ...annotations.clavi import ReleasedPair
from ...core.build_settings import content
from ...core.documents import parse_yaml, read_own
from ...core.errors import InputError
from ...core.plan import LeftOut, Part, Plan, Unit, bounded, counts_of
from ...templates import load_natural, table_hashes
from .meaning import Sameness, content_words, imply
from .pairs import (
    Candidate,
    Cuts,
    Limits,
    candidate_relation,
    cuts_of,
    draw_control,
    overlapping_pairs,
    paper_pairs,
    recurs,
    released_pairs,
    with_ids,
)
from .questions import DEFAULT, asked_of, forms_of, is_natural, templates_of
from .questions import TABLES as QUESTION_TABLES
from .segments import COUNTS, Controls, segment_pairs
from .selection import IN_NO_PAIR, WITHOUT_PAIRS, Losses, limit_and_balance, without_recurrences
from .settings import AMBIGUOUS, RELATIONS, ClaviSettings
from .sources import collection_of
from .tables import clavi_configs, pair_columns

TABLES = {  # question templates by collection
    "charades": ("charades_classes", "clavi"),
    "youcook2": ("clavi",),
}
WITHOUT_CONTROL = "pairs_without_negative_control"
REPLACED, IMPLIED = "negative_controls_replaced", "questions_left_out_implied"
TOO_SHORT = "segments_too_short_or_long"


@cache
def load_notes() -> dict[str, dict[str, str]]:
    """Load `notes.yaml`: how each count is worded, in the order of the card, and which option changes it."""
    notes: dict[str, dict[str, str]] = parse_yaml(read_own(Path(__file__).parent / "notes.yaml"))
    return notes


def plan_clavi(
    videos: Sequence[AnnotatedVideo],
    controls: Mapping[str, Sequence[Action]],
    settings: ClaviSettings,
    *,
    released: Sequence[ReleasedPair] | None = None,
    actions: Mapping[str, Action] | None = None,
    limit: int | None = None,
    identity: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
    sameness: Sameness | None = None,
    left_out: Sequence[LeftOut] = (),
) -> Plan:
    """Plan a build before any video is opened.

    Args:
        videos: The annotated videos.
        controls: Actions from which negative controls are sampled, by split.
        settings: The settings of the build.
        released: Pairs to rebuild unchanged; None to select pairs by `settings.rules`.
        actions: Actions by class id, for `released`.
        limit: Maximum number of pairs, which are the first by id.
        identity: Further inputs that determine the content: dataset version, tool versions, hashes of inputs.
        notes: Counts from loading, stored in `build.json`.
        sameness: Test for phrases with the same meaning; for collections other than Charades.
        left_out: What was left out in reading.

    Returns:
        The plan, with one unit per pair, sorted by pair id.

    Raises:
        InputError: `released` refers to a video or class that the annotations lack.
    """
    counts, losses = Counter[str](), Losses()
    cuts: dict[str, Cuts] = {}
    drawn: dict[str, Action | None] = {}
    if released is not None:
        candidates = _rebuilt(videos, released, actions or {})
        cuts = {pair.id: Cuts(*pair.cuts_ms) for pair in released}
    elif settings.collection == "charades":
        candidates = with_ids(_of_charades(videos, settings, counts, losses))
        drawn = _controls_of_pairs(candidates, settings) if settings.controls == "pairs" else {}
    else:
        candidates, drawn = _of_segments(videos, controls, settings, sameness or Sameness(), counts, losses)
    candidates.sort(key=lambda candidate: candidate.id)
    units: list[Unit] = []
    records = list(left_out)
    kept: list[Candidate] = []
    for candidate in candidates:
        control = (
            drawn[candidate.id]
            if candidate.id in drawn
            else _control(candidate, controls[candidate.video.split], settings, counts)
        )
        if control is None:
            counts[WITHOUT_CONTROL] += 1
            losses.pairs[candidate.video.id][WITHOUT_CONTROL] += 1
            continue
        kept.append(candidate)
        borders = cuts.get(candidate.id) or cuts_of(candidate, settings)
        payload = planned_columns(candidate, borders, control, settings)
        cost = payload["out_b"] - payload["out_a"]
        parts, uses = _origins(candidate)
        units.append(
            Unit(candidate.id, candidate.video.split, candidate.video.id, payload, cost, parts=parts, uses=uses)
        )
        dropped = 2 * settings.paraphrases * (len(templates_of(payload, settings)) - len(asked_of(payload, settings)))
        if dropped:
            counts[IMPLIED] += dropped
            video, why = candidate.video, load_notes()[IMPLIED]["words"]
            records.append(
                LeftOut("selection", "questions", candidate.id, IMPLIED, why, video.id, video.file, video.line, dropped)
            )
    noun = "segment" if settings.collection == "charades" and settings.source == "actions" else "phrase"
    if released is None:
        words = {name: note["words"] for name, note in load_notes().items()}
        records += losses.records(videos, kept, left_out, words, noun)
        totals = counts_of(records)
        counts.update({name: totals[name] for name in (IN_NO_PAIR, WITHOUT_PAIRS)})
    table_names = {*TABLES.get(settings.collection, ("clavi", "clavi_events"))}
    table_names |= {QUESTION_TABLES[relation] for relation in settings.relations}
    if settings.wording == "natural":
        table_names.add("clavi_natural")
    tables = table_hashes(*table_names)
    tables |= collection_of(settings).wording()
    return Plan(
        builder="clavi",
        identity={**(identity or {}), "settings": content(settings), "limit": limit, "tables": tables},
        units=tuple(units[:limit]),
        configs=clavi_configs(settings),
        noun="pair",
        use=noun,
        notes={**(notes or {}), **counts},
        remedies=_remedies(settings),
        left_out=bounded(records),
    )


def _control(
    candidate: Candidate, pool: Sequence[Action], settings: ClaviSettings, counts: Counter[str]
) -> Action | None:
    """Sample the negative control of a pair of Charades."""
    drawn = draw_control(candidate, pool, settings.seed)
    if settings.implied != "drop":
        return drawn
    annotated = {segment.action for segment in candidate.video.segments}
    control = draw_control(candidate, pool, settings.seed, annotated)
    counts[REPLACED] += control is not drawn
    return control


@dataclass(frozen=True)
class _Implied(Sameness):
    """Compares phrases of Charades by what `imply` says about their actions."""

    actions: Mapping[str, Action] = field(default_factory=dict)

    def resembles(self, phrase: str, phrases: Collection[str]) -> bool:
        return any(imply(self.actions[phrase], self.actions[other]) for other in phrases)


def _controls_of_pairs(candidates: Sequence[Candidate], settings: ClaviSettings) -> dict[str, Action | None]:
    """Sample the negative controls of pairs of Charades from the actions of all pairs of their split, by pair id."""
    drawn: dict[str, Action | None] = {}
    for split in dict.fromkeys(candidate.video.split for candidate in candidates):
        members, known = list[Candidate](), dict[str, Action]()
        for candidate in candidates:
            video = candidate.video
            if video.split == split:
                events = tuple(segment.action for segment in video.segments) if settings.implied == "drop" else ()
                members.append(replace(candidate, clip_words=video.verbs | video.objects, clip_events=events))
                known |= {action.phrase: action for action in (candidate.a.action, candidate.b.action, *events)}
        pool = {segment.action for member in members for segment in (member.a, member.b) if segment.action.usable}
        controls = Controls(
            sorted(pool, key=lambda action: action.key), members, _Implied(actions=known), settings.seed
        )
        drawn |= {member.id: controls.draw(member) for member in members}
    return drawn


def _origins(candidate: Candidate) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return where a pair comes from in the annotations, and its two segments."""
    video = candidate.video
    lines = [segment.line or video.line for segment in (candidate.a, candidate.b)]
    uses = tuple(
        Part(segment.action.label, video.file, (line,) if line else ())
        for segment, line in zip((candidate.a, candidate.b), lines, strict=True)
    )
    return (Part(candidate.id, video.file, tuple(dict.fromkeys(line for line in lines if line))),), uses


def _remedies(settings: ClaviSettings) -> dict[str, str]:
    """Return the option that changes each count of excluded pairs, or "" if there is none."""
    charades = settings.collection == "charades"
    remedies = {name: note["option"] for name, note in load_notes().items() if "option" in note}
    if not charades or settings.rules == "paper":
        remedies |= {name: "" for name, remedy in remedies.items() if remedy == "--rules paper"}
    if charades:
        remedies |= dict.fromkeys([WITHOUT_CONTROL, "pairs_left_out_same_meaning"], "")
    return remedies


def _of_charades(
    videos: Sequence[AnnotatedVideo], settings: ClaviSettings, counts: Counter[str], losses: Losses
) -> list[Candidate]:
    """Select pairs of each relation. For an action that contains another, the order is not balanced."""
    same, limits = collection_of(settings).same, Limits.of(settings)
    selected: list[Candidate] = []
    for relation in settings.relations:
        candidates: list[Candidate] = []
        for video in videos:
            of_video = Counter[str]()
            if relation != "sequence":
                candidates += overlapping_pairs(relation, video, same, limits, of_video)
            elif settings.rules == "paper":
                candidates += paper_pairs(video, same, limits, of_video)
            else:
                candidates += released_pairs(video, same, limits, of_video)
            losses.add_counts(video.id, of_video)
            counts.update(of_video)
        if settings.strict:
            qualified, candidates = candidates, without_recurrences(candidates, same, counts)
            losses.without("pairs_left_out_strict", qualified, candidates)
        if settings.wording == "natural" and settings.source == "sta":
            phrased = [c for c in candidates if is_natural(c.a.action.phrase) and is_natural(c.b.action.phrase)]
            counts["pairs_left_out_not_natural"] += len(candidates) - len(phrased)
            losses.without("pairs_left_out_not_natural", candidates, phrased)
            candidates = phrased
        evened = replace(settings, order="any") if relation == "contain" else settings
        selected += limit_and_balance(candidates, evened, counts, losses)
    if settings.relations == RELATIONS[:1]:
        for video in videos:
            short = [(segment, TOO_SHORT) for segment in video.segments if not limits.lasts(segment)]
            losses.segments[video.id] += short
    return selected


def _of_segments(
    videos: Sequence[AnnotatedVideo],
    controls: Mapping[str, Sequence[Action]],
    settings: ClaviSettings,
    sameness: Sameness,
    counts: Counter[str],
    losses: Losses,
) -> tuple[list[Candidate], dict[str, Action | None]]:
    """Select pairs of segments with free phrases, and sample their controls by pair id."""
    counts |= Counter(dict.fromkeys(COUNTS, 0))
    limits = Limits.of(settings)
    qualified: list[Candidate] = []
    for video in videos:
        of_video = Counter[str]()
        rejected = losses.segments[video.id]
        qualified += segment_pairs(video, sameness, limits, of_video, strict=settings.strict, rejected=rejected)
        losses.add_counts(video.id, of_video)
        counts.update(of_video)
    pools = {split: Controls(pool, [], sameness, settings.seed) for split, pool in controls.items()}
    candidates = [candidate for candidate in qualified if pools[candidate.video.split].has(candidate)]
    counts[WITHOUT_CONTROL] += len(qualified) - len(candidates)
    losses.without(WITHOUT_CONTROL, qualified, candidates)
    for split, count in sorted(Counter(candidate.video.split for candidate in qualified).items()):
        if not any(candidate.video.split == split for candidate in candidates):
            counts[f"{WITHOUT_CONTROL}_in_{split}"] = count
    candidates = with_ids(limit_and_balance(candidates, settings, counts, losses))
    drawn: dict[str, Action | None] = {}
    for split in dict.fromkeys(candidate.video.split for candidate in candidates):
        members = [candidate for candidate in candidates if candidate.video.split == split]
        pool = replace(pools[split], candidates=members)
        drawn |= {candidate.id: pool.draw(candidate) for candidate in members}
    return candidates, drawn


def _rebuilt(
    videos: Sequence[AnnotatedVideo], released: Sequence[ReleasedPair], actions: Mapping[str, Action]
) -> list[Candidate]:
    """Return candidates for the released pairs, with their videos and actions."""
    by_id = {video.id: video for video in videos}
    absent = sorted({pair.video_id for pair in released if pair.video_id not in by_id})
    unknown = sorted({key for pair in released for key in (pair.a[0], pair.b[0]) if key not in actions})
    if absent or unknown:
        lacking = []
        if absent:
            rest = f" and {len(absent) - 20} more" if len(absent) > 20 else ""
            lacking.append(f"videos {', '.join(absent[:20])}{rest}")
        if unknown:
            lacking.append(f"classes {', '.join(unknown[:20])}")
        raise InputError(
            f"--pairs names {' and '.join(lacking)} that are not in the Charades annotations. Use --charades to "
            "specify the annotations from which the pairs were made, and --split to specify their split."
        )
    twice = sorted(name for name, count in Counter(pair.id for pair in released).items() if count > 1)
    if twice:
        raise InputError(
            f"--pairs contains these pairs more than once: {', '.join(twice[:20])}. Specify each file only once."
        )
    return [
        Candidate(
            by_id[pair.video_id],
            Segment(actions[pair.a[0]], *pair.a[1:]),
            Segment(actions[pair.b[0]], *pair.b[1:]),
            pair.others,
            pair.id,
        )
        for pair in released
    ]


def natural_phrase(action: Action, settings: ClaviSettings) -> str:
    """Return the gerund of an action in questions of `--wording natural`."""
    if settings.source == "sta":
        return forms_of(action.phrase)["x"]
    return load_natural().phrases.get(action.key, {"x": action.phrase})["x"]


def planned_columns(
    candidate: Candidate, cuts: Cuts, control: Action, settings: ClaviSettings = DEFAULT
) -> dict[str, Any]:
    """Return the values of a pair's rows and videos as JSON, named after the columns of `pairs`."""
    video, collection = candidate.video, settings.collection
    natural = settings.wording == "natural"
    payload: dict[str, Any] = {
        "pair_id": candidate.id,
        "source_id": video.id,
        "subject": video.subject,
        "relation": candidate_relation(candidate),
    }
    letters = {"a": candidate.a.action, "b": candidate.b.action, "c": control}
    for letter, action in letters.items():
        objects = action.objects | (action.words if letter == "c" else frozenset())
        if letter == "c" and action.question:
            objects &= content_words(action)
        payload |= {
            f"class_{letter}": action.key,
            f"label_{letter}": action.label,
            f"phrase_{letter}": natural_phrase(action, settings) if natural else action.phrase,
            f"verb_{letter}": action.verb,
            f"objects_{letter}": sorted(objects),
        }
    values: dict[str, Any] = {f"asked_{letter}": action.question for letter, action in letters.items()}
    values |= {
        "source": collection,
        "clip_words": sorted(candidate.clip_words),
        AMBIGUOUS: settings.may_recur and recurs(candidate, cuts, collection_of(settings).same),
        "source_actions": sorted({segment.action.key for segment in video.segments}),
    }
    payload |= {column.name: values[column.name] for column in pair_columns(settings)}
    for letter, segment in (("a", candidate.a), ("b", candidate.b)):
        payload |= {f"start_{letter}_s": segment.start_s, f"end_{letter}_s": segment.end_s}
    payload |= {name: value / 1000 for name, value in vars(cuts).items()}
    return payload | {
        "other_actions": list(candidate.others),
        "source_verbs": sorted(video.verbs),
        "source_objects": sorted(video.objects),
    }
