"""Checks that every column of a CLAVI output is what the others make it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from math import ceil

from ...language.event_questions import Event
from ...language.gerund_wording import Gerund
from ...language.gerunds import gerund
from ...records.output import FinishedOutput
from ...records.schema import Row
from ...seeds import rng_for
from ...sources.actions import Action, AnnotatedVideo, Segment
from ...sources.charades import class_actions
from ...templates import load_classes
from ..remade import differing_rows
from .pairs import Candidate, Cuts, Limits, draw_control, draw_cuts, pair_key
from .plan import planned_columns
from .questions import question_rows
from .render import FRAMES
from .sameness import content_words
from .settings import ClaviSettings
from .sources import collection_of
from .tables import ANSWERS, QUESTIONS, VARIANTS

OF_SOURCE = ("subject", "source_verbs", "source_objects", "source_sha256")
NO_LENGTH = 1e9  # seconds; a video that is longer than any


def settings_of(output: FinishedOutput) -> ClaviSettings:
    """Read the settings of a build out of `build.json`."""
    return ClaviSettings(**output.info["settings"])


def check_columns(output: FinishedOutput) -> Iterator[str]:
    """Every column that follows from others is what they make it.

    Questions are worded again from their pair, all their columns; a pair's labels, phrases, verbs and objects are those
    of its classes (or sentences), its id, cuts and negative control are drawn again; rows of one source agree.
    """
    settings = settings_of(output)
    sources: dict[str, Row] = {}
    ids = {row["pair_id"] for row in output.rows("pairs", ["pair_id"])}
    rendered = "videos" in output.info["counts"]
    for split in output.splits("pairs"):
        pairs = list(output.rows("pairs", None, split))
        for pair in pairs:
            yield from (f"{pair['pair_id']}: {problem}" for problem in pair_problems(pair, settings, ids))
            known = sources.setdefault(pair["source_id"], pair)
            for name in OF_SOURCE:
                if pair[name] != known[name]:
                    yield f"{pair['pair_id']}: {name} is not that of {known['pair_id']}, which has the same source"
            absent = [name for name in (*FRAMES, "source_sha256") if (pair[name] is not None) != rendered]
            yield from (f"{pair['pair_id']}: {name} is {pair[name]}" for name in absent)
        questions = [
            {**QUESTIONS.encode(row), "answer": ANSWERS.index(row["answer"])}
            for pair in pairs
            for variant in range(2)
            for row in question_rows(pair, variant)
        ]
        yield from differing_rows(
            f"questions/{split}", list(output.rows("questions", None, split)), questions, "question_id"
        )
        if not rendered:
            continue
        videos = [
            {
                "video_id": f"{pair['pair_id']}_{number}",
                "pair_id": pair["pair_id"],
                "variant": variant,
                "source_id": pair["source_id"],
            }
            for pair in pairs
            for number, variant in enumerate(VARIANTS, 1)
        ]
        found = list(output.rows("videos", ["video_id", "pair_id", "variant", "source_id"], split))
        yield from differing_rows(f"videos/{split}", found, videos, "video_id")


def pair_problems(pair: Row, settings: ClaviSettings, ids: set[str]) -> Iterator[str]:
    """Find what a pair's columns contradict each other in.

    Args:
        pair: The row.
        settings: The settings of the build.
        ids: The ids of all pairs.
    """
    letters = ("a", "b", "c")
    source = settings.source if settings.collection == "charades" else settings.collection
    actions = {letter: action_of(pair, letter, source) for letter in letters}
    unknown = [letter for letter, action in actions.items() if action is None]
    if unknown:
        yield from (
            f"class_{letter} {pair[f'class_{letter}']!r} is no class that may be asked about" for letter in unknown
        )
        return
    a, b, c = (action for action in actions.values() if action)
    if collection_of(settings).same(a, b):
        yield f"A and B are the same action, {a.phrase!r}"
    if source not in ("actions", "sta"):
        yield from _phrase_problems(a, b, c)
        yield from _wording_problems((a, b, c), settings)
    yield from _source_problems(pair, source, settings, a, b)
    candidate = candidate_of(pair, a, b)
    limits = Limits.of(settings)
    if settings.selects and not all(map(limits.lasts, (candidate.a, candidate.b))):
        yield f"an action lasts less than {limits.shortest} s, or longer than may be"
    elif settings.selects and not limits.hold(candidate.a, candidate.b):
        yield "A and B lie nearer or farther apart than may be"
    cuts = Cuts(*(round(pair[name] * 1000) for name in ("out_a", "in_a", "in_b", "out_b")))
    if settings.selects:
        digest = hashlib.sha256(pair_key(candidate).encode()).hexdigest()
        digits = [digest[start : start + 8] for start in range(0, 64, 8)]
        if next((some for some in digits if some == pair["pair_id"] or some not in ids), None) != pair["pair_id"]:
            yield f"its id is not that of its source and segments, {digits[0]}"
        cuts = drawn_cuts(candidate, settings.seed, cuts.out_b)
    control = c
    if source == "actions":
        control = draw_control(candidate, usable_actions(), settings.seed) or c
    for name, value in planned_columns(candidate, cuts, control, settings.collection).items():
        if pair[name] != value:
            yield f"{name} is {pair[name]!r}, not {value!r}"


def _phrase_problems(a: Action, b: Action, c: Action) -> Iterator[str]:
    """Compare phrases with their questions, and the control with A and B."""
    if len({bool(action.asked) for action in (a, b, c)}) > 1:
        yield "some phrases have subjects and some have none"
    for action in (a, b, c):
        shown = action.asked.endswith(("?", ".")) or not action.asked.partition(" ")[2].startswith(action.subject)
        if action.asked and (shown or not action.subject or not action.phrase.startswith(action.subject)):
            yield f"{action.asked!r} is not the question of {action.phrase!r}"
    for action in (a, b):
        if shared := content_words(action) & content_words(c):
            yield f"{c.phrase!r} shares {', '.join(sorted(shared))} with {action.phrase!r}"


def _wording_problems(actions: Sequence[Action], settings: ClaviSettings) -> Iterator[str]:
    """Word the annotations' own words again, where these alone decide the phrase."""
    turn = collection_of(settings).turn
    if turn is None:
        return
    for action in actions:
        found = _worded(turn, action.label, settings.phrases == "as-is")
        if isinstance(found, str):
            yield f"{action.label!r} cannot be asked about ({found})"
            continue
        if (found.phrase, found.verb) != (action.phrase, action.verb):
            yield f"{action.label!r} is worded {action.phrase!r} ({action.verb}), not {found.phrase!r} ({found.verb})"
        asked = found.asked if isinstance(found, Event) else ""
        if asked != action.asked:
            yield f"{action.label!r} is asked as {action.asked!r}, not {asked!r}"


@lru_cache(maxsize=1 << 16)
def _worded(turn: Callable[[str, bool], Gerund | Event | str], label: str, as_is: bool) -> Gerund | Event | str:
    return turn(label, as_is)


def _source_problems(pair: Row, source: str, settings: ClaviSettings, a: Action, b: Action) -> Iterator[str]:
    """Compare the source's verbs, objects and other actions with each other and with A and B."""
    others = pair["other_actions"]
    if source == "actions":
        known = class_actions(load_classes())
        yield from (f"other_actions names {name!r}, which is no class" for name in others if name not in known)
        seen = [a, b, *(known[name] for name in others if name in known)]
        if settings.rules == "released" and not any(known[name].usable for name in others if name in known):
            yield "no other action may be asked about"
    else:
        seen = [a, b]
    if len(set(others)) < len(others) or {a.key, b.key} & set(others):
        yield "other_actions names an action twice, or A or B"
    known_words = set(pair["source_objects"])
    if source not in ("actions", "sta"):
        known_words |= set(pair["source_verbs"])  # a word of free phrases may be of both kinds
    near = set(pair["clip_words"]) if "clip_words" in pair else None
    for name, missing in (
        ("clip_words", set() if near is None else set[str]().union(*map(content_words, (a, b))) - near),
        ("source_verbs", {action.verb for action in seen} - set(pair["source_verbs"])),
        ("source_objects", {word for action in seen for word in action.objects} - known_words),
    ):
        if missing:
            place = "clip" if name == "clip_words" else "source"
            yield f"{name} lacks {', '.join(sorted(missing))}, which is done in the {place}"


def action_of(pair: Row, letter: str, source: str) -> Action | None:
    """Read an action from its class or sentence; None if there is none that may be asked about.

    Of other collections than Charades it is what the pair says: only the annotations tell whether that is so.
    """
    if source == "actions":
        action = class_actions(load_classes()).get(pair[f"class_{letter}"])
        return action if action and action.usable else None
    label = pair[f"label_{letter}"]
    if source != "sta":
        key, phrase, verb = (pair[f"{name}_{letter}"] for name in ("class", "phrase", "verb"))
        objects, asked = frozenset(pair[f"objects_{letter}"]), pair.get(f"asked_{letter}") or ""
        return Action(key, label, phrase, verb, objects, asked=asked)
    found = sentence(label)
    if not isinstance(found, Gerund):
        return None
    return Action(found.phrase, label, found.phrase, found.verb, found.objects, words=found.words)


@cache
def sentence(label: str) -> Gerund | str:
    """Word a sentence as `sources.charades_sta` does."""
    return gerund(label)


@cache
def usable_actions() -> tuple[Action, ...]:
    """Return the classes that negative controls are drawn from."""
    return tuple(action for action in class_actions(load_classes()).values() if action.usable)


def candidate_of(pair: Row, a: Action, b: Action) -> Candidate:
    """Return the candidate that a pair was made from, of a video that is longer than any."""
    verbs, objects = (frozenset(pair[name]) for name in ("source_verbs", "source_objects"))
    video = AnnotatedVideo(pair["source_id"], "", pair["subject"], NO_LENGTH, (), verbs, objects, {})
    segments = [
        Segment(action, pair[f"start_{letter}_s"], pair[f"end_{letter}_s"]) for letter, action in (("a", a), ("b", b))
    ]
    words = frozenset(pair.get("clip_words", ()))
    return Candidate(video, segments[0], segments[1], tuple(pair["other_actions"]), pair["pair_id"], words)


def drawn_cuts(candidate: Candidate, seed: int, out_b: int) -> Cuts:
    """Draw the cuts of a pair again, of a source whose length is not known.

    Args:
        candidate: The pair, of a video that is longer than any.
        seed: The dataset's seed.
        out_b: Where the pair ends by its row, in milliseconds. If that is before what would be drawn, the source is as
            short as gives it; then `out_b` is free, and `in_a` and `in_b` follow from it.
    """
    drawn = draw_cuts(candidate, seed)
    if out_b >= drawn.out_b:
        return drawn
    end_b = round(candidate.b.end_s * 1000)
    share = float(rng_for(seed, "clavi", "extension", candidate.id).random(3)[1])
    length = end_b + ceil(max(out_b - end_b, 0) / share)
    return draw_cuts(replace(candidate, video=replace(candidate.video, length_s=(length + 0.25) / 1000)), seed)
