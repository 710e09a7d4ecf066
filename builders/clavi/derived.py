"""Derive the questions and videos of a CLAVI output again from its pairs, and the pairs from their segments."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from math import ceil
from typing import Any

import numpy as np

from ...annotations.actions import Action, AnnotatedVideo, Segment
from ...annotations.charades import class_actions
from ...core.numerics import rng_for
from ...core.output import FinishedOutput
from ...core.plan import Unit
from ...core.schema import Row
from ...language.events import Event
from ...language.phrases import Gerund
from ...templates import load_classes
from ...video.index import MOST_FRAMES
from ..runtime.table_checks import Derivation, Derived
from ..runtime.video_checks import ShownFrames
from .meaning import imply
from .pairs import Candidate, Cuts, Limits, candidate_relation, cuts_of, draw_control, draw_cuts, pair_key, violated
from .plan import planned_columns
from .render import FRAMES, SHARED, ClaviBuilder
from .settings import AMBIGUOUS, ClaviSettings, settings_of
from .sources import Collection, collection_of
from .tables import PAIRS, VIDEOS, configs

OF_SOURCE = ("subject", "source_verbs", "source_objects", "source_actions", "source_sha256")
CUTS = ("out_a", "in_a", "in_b", "out_b")
NO_LENGTH = 1e9  # seconds; longer than any video


def derived(output: FinishedOutput) -> Iterator[Derivation]:
    """Yield every row that follows from a pair, and contradictions within pairs."""
    settings = settings_of(output.info)
    tables = {config.name: config for config in configs(output.info)}
    builder = ClaviBuilder(settings)
    sources: dict[str, Row] = {}
    ids = {row["pair_id"] for row in output.rows(PAIRS.name, ["pair_id"])}
    for split in output.splits(PAIRS.name):
        videos = output.rows(VIDEOS.name, list(SHARED), split)
        for pair in output.rows(PAIRS.name, None, split):
            of_source = sources.setdefault(pair["source_id"], {name: pair[name] for name in OF_SOURCE if name in pair})
            a, b, c = (action_of(pair, letter, settings) for letter in "abc")
            if not (a and b and c):
                yield f"{pair['pair_id']}: it has a class or label that cannot be asked about"
                continue
            candidate = candidate_of(pair, a, b)
            yield from (f"{pair['pair_id']}: {problem}" for problem in contradictions(pair, candidate, c, settings))
            facts = {}
            if settings.render:
                v, _ = next(videos, dict.fromkeys(SHARED)), next(videos, None)
                frames = [pair[name] for name in FRAMES]
                count = frames[3] - frames[0]
                facts = {**v, "num_frames": count, "frames": frames, "sha256": ("", "")}
                facts["source_sha256"] = of_source["source_sha256"]
            payload = pair | derive_pair(pair, candidate, c, settings, ids) | of_source
            if settings.may_recur:
                payload[AMBIGUOUS] = pair[AMBIGUOUS]
            for table, row in builder.rows(Unit(pair["pair_id"], split, pair["source_id"], payload), facts):
                stored = tables[table].encode(row)
                yield Derived(table, split, {n: v for n, v in stored.items() if n not in ("sha256", "video")})


def derive_pair(
    pair: Row, candidate: Candidate, control: Action, settings: ClaviSettings, ids: set[str]
) -> dict[str, Any]:
    """Derive a pair from its two segments. If the pair was selected, its id, cuts and control are sampled again."""
    cuts = Cuts(*(round(pair[name] * 1000) for name in CUTS))
    if settings.selects:
        released = settings.cuts == "release" and candidate_relation(candidate) == "sequence"
        cuts = drawn_cuts(candidate, settings.seed, cuts.out_b) if released else cuts_of(candidate, settings)
        digest = hashlib.sha256(pair_key(candidate).encode()).hexdigest()
        digits = [digest[start : start + 8] for start in range(0, 64, 8)]  # later digits if the first ones are taken
        name = next(
            (candidate_id for candidate_id in digits if candidate_id == pair["pair_id"] or candidate_id not in ids), ""
        )
        candidate = replace(candidate, id=name)
    if settings.collection == "charades" and settings.source == "actions":
        annotated = [_classes()[key] for key in pair.get("source_actions", ()) if key in _classes()]
        usable = [action for action in _classes().values() if action.usable]
        if settings.controls == "all":
            control = draw_control(replace(candidate, id=pair["pair_id"]), usable, settings.seed, annotated) or control
    return planned_columns(candidate, cuts, control, settings)


@cache
def _classes() -> dict[str, Action]:
    return class_actions(load_classes())


def contradictions(pair: Row, candidate: Candidate, control: Action, settings: ClaviSettings) -> Iterator[str]:
    """Yield the rules that a pair violates, such as equal actions, limits, or a control that shares words."""
    a, b, limits = candidate.a, candidate.b, Limits.of(settings)
    if collection_of(settings).same(a.action, b.action):
        yield f"A and B are the same action, {a.action.phrase!r}"
    relation = candidate_relation(candidate)
    if relation == "sequence":
        outside = not (limits.lasts(a) and limits.lasts(b) and limits.hold(a, b))
    else:
        outside = bool(a.start_s >= b.start_s or violated(a, b, limits))
    if settings.selects and (outside or relation not in settings.relations):
        yield "A and B are outside the limits of length and distance"
    verbs, objects = {*pair["source_verbs"]}, {*pair["source_objects"]}
    if not {a.action.verb, b.action.verb} <= verbs:
        yield "source_verbs lacks a verb of A or B"
    if settings.implied == "drop" and any(imply(control, x) for x in (a.action, b.action)):
        yield f"{control.phrase!r} and A or B imply each other"
    if (keys := pair.get("source_actions")) is not None:
        annotated = [_classes()[key] for key in keys if key in _classes()]
        if {action.verb for action in annotated} != verbs or {
            name for action in annotated for name in action.objects
        } != objects:
            yield "source_actions does not match source_verbs and source_objects"
    verbs, words = ({*pair["clip_words"]},) * 2 if "clip_words" in pair else (verbs, verbs | objects)
    if shared := {pair["verb_c"]} & verbs | {*pair["objects_c"]} & words:
        yield f"{control.phrase!r} shares {', '.join(sorted(shared))} with what is annotated"


def action_of(pair: Row, letter: str, settings: ClaviSettings) -> Action | None:
    """Return an action by its class, or by converting its label again. Return None if questions cannot use it."""
    label, key, phrase, verb = (pair[f"{name}_{letter}"] for name in ("label", "class", "phrase", "verb"))
    objects, asked, words = frozenset(pair[f"objects_{letter}"]), pair.get(f"asked_{letter}") or "", frozenset[str]()
    charades = settings.collection == "charades"
    if charades and settings.source == "actions":
        action = _classes().get(key)
        paired = settings.rules == "paper" and letter != "c"  # the paper's rules also pair "Someone is …" classes
        return action if action and (action.usable or paired) else None
    turned = _phrase(collection_of(settings), label, settings.phrases == "as-is")
    if isinstance(turned, str):
        return None
    if turned:
        phrase, verb, asked = turned.phrase, turned.verb, turned.question if isinstance(turned, Event) else ""
        if isinstance(turned, Gerund) and charades:
            key, objects, words = turned.phrase, turned.objects, turned.words
    return Action(key, label, phrase, verb, objects, words=words, question=asked)


@lru_cache(maxsize=1 << 16)
def _phrase(collection: Collection, label: str, as_is: bool) -> Gerund | Event | str | None:
    return collection.phrase(label, as_is=as_is)


def candidate_of(pair: Row, a: Action, b: Action) -> Candidate:
    """Convert a pair back to a candidate. The length of its source is unknown, so it is treated as unlimited."""
    verbs, objects = (frozenset(pair[name]) for name in ("source_verbs", "source_objects"))
    video = AnnotatedVideo(pair["source_id"], "", pair["subject"], NO_LENGTH, (), verbs, objects, {})
    first, second = (Segment(action, pair[f"start_{n}_s"], pair[f"end_{n}_s"]) for n, action in (("a", a), ("b", b)))
    words = frozenset(pair.get("clip_words", ()))
    return Candidate(video, first, second, tuple(pair["other_actions"]), pair["pair_id"], words)


def drawn_cuts(candidate: Candidate, seed: int, out_b: int) -> Cuts:
    """Sample the cuts of a pair again. If the source must be shorter, assume the length that the pair's end implies."""
    drawn = draw_cuts(candidate, seed)
    if out_b >= drawn.out_b:
        return drawn
    end_b = round(candidate.b.end_s * 1000)
    share = float(rng_for(seed, "clavi", "extension", candidate.id).random(3)[1])
    length = end_b + ceil(max(out_b - end_b, 0) / share)
    return draw_cuts(replace(candidate, video=replace(candidate.video, length_s=(length + 0.25) / 1000)), seed)


def shown(output: FinishedOutput) -> Iterator[ShownFrames]:
    """Yield the order in which every V′ shows the frames of V."""
    for split in output.splits(PAIRS.name) if VIDEOS.name in output.info["counts"] else ():
        for pair in output.rows(PAIRS.name, ["pair_id", *FRAMES], split):
            out_a, in_a, in_b, out_b = edges = [pair[name] - pair[FRAMES[0]] for name in FRAMES]
            if max(edges) - min(edges) > MOST_FRAMES:
                continue  # more than any video has; reported by `derived` and `decoded`
            order = np.r_[in_b:out_b, in_a:in_b, out_a:in_a]
            yield ShownFrames(
                VIDEOS.name, split, (f"{pair['pair_id']}_2",), (f"{pair['pair_id']}_1",), order, VIDEOS.name
            )
