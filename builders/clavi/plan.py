"""CLAVI: complement videos with the two actions of a pair exchanged, and 19 yes/no questions a video.

Rawal et al. 2024, "Dissecting Multimodality in VideoQA Transformer Models by Impairing Modality Fusion", section 5 and
appendix B.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...errors import InputError
from ...language.gerunds import phrase_identity
from ...records.options import content
from ...records.plan import Plan, Unit
from ...sources.actions import Action, AnnotatedVideo, Segment
from ...sources.charades_sta import same_doing
from ...sources.clavi import ReleasedPair
from ...templates import table_hashes
from .pairs import RULES, Candidate, Cuts, SameAction, draw_control, draw_cuts, same_key, with_ids
from .settings import ClaviSettings
from .tables import clavi_configs


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
) -> Plan:
    """Plan a build, before any video is touched.

    Args:
        videos: The annotated videos.
        controls: For each split, the actions that negative controls are drawn from.
        settings: See `ClaviSettings`.
        released: Pairs to rebuild as they are; by default they are selected by `settings.rules`.
        actions: Actions by class id, for `released`.
        limit: Plan only the first so many pairs by id.
        identity: What else decides the content: dataset version, tool versions, hashes of inputs.
        notes: Counts from reading, to be kept in `build.json`.

    Returns:
        The plan; one unit a pair, sorted by pair id.

    Raises:
        InputError: `released` names a video or class that the annotations do not have.
    """
    same: SameAction = same_key if settings.source == "actions" else same_doing
    cuts: dict[str, Cuts] = {}
    if released is None:
        select = RULES[settings.rules or "released"]
        candidates = with_ids([candidate for video in videos for candidate in select(video, same)])
    else:
        candidates = _rebuilt(videos, released, actions or {})
        cuts = {pair.id: Cuts(*pair.cuts_ms) for pair in released}
    candidates.sort(key=lambda candidate: candidate.id)
    counts = Counter[str]()
    units = []
    for candidate in candidates:
        control = draw_control(candidate, controls[candidate.video.split], settings.seed)
        if control is None:
            counts["pairs_without_negative_control"] += 1
            continue
        payload = planned_columns(candidate, cuts.get(candidate.id) or draw_cuts(candidate, settings.seed), control)
        cost = payload["out_b"] - payload["out_a"]
        units.append(Unit(candidate.id, candidate.video.split, candidate.video.id, payload, cost))
    tables = table_hashes() | (phrase_identity() if settings.source == "sta" else {})
    return Plan(
        builder="clavi",
        identity={**(identity or {}), "settings": content(settings), "limit": limit, "tables": tables},
        units=tuple(units[:limit]),
        configs=clavi_configs(settings.render),
        noun="pair",
        advice="Check the inputs, --split and --rules.",
        notes={**(notes or {}), **counts},
    )


def _rebuilt(
    videos: Sequence[AnnotatedVideo], released: Sequence[ReleasedPair], actions: Mapping[str, Action]
) -> list[Candidate]:
    """Find the videos and actions of released pairs."""
    by_id = {video.id: video for video in videos}
    absent = sorted({pair.video_id for pair in released if pair.video_id not in by_id})
    unknown = sorted({key for pair in released for key in (pair.a[0], pair.b[0]) if key not in actions})
    if absent or unknown:
        what = [
            f"videos {', '.join(absent[:20])}" + (f" and {len(absent) - 20} more" if len(absent) > 20 else "")
        ] * bool(absent)
        what += [f"classes {', '.join(unknown[:20])}"] * bool(unknown)
        raise InputError(
            f"--pairs names {' and '.join(what)} that the Charades annotations do not have. Give the CSV that the "
            "pairs were made from (the split that --split asks for, too)."
        )
    twice = sorted(name for name, count in Counter(pair.id for pair in released).items() if count > 1)
    if twice:
        raise InputError(f"--pairs gives these pairs more than once: {', '.join(twice[:20])}. Give each file once.")
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


def planned_columns(candidate: Candidate, cuts: Cuts, control: Action) -> dict[str, Any]:
    """Return everything that rows and videos need as JSON values, named like the columns of `pairs`."""
    video = candidate.video
    payload: dict[str, Any] = {"pair_id": candidate.id, "source_id": video.id, "subject": video.subject}
    for letter, action in (("a", candidate.a.action), ("b", candidate.b.action), ("c", control)):
        payload |= {
            f"class_{letter}": action.key,
            f"label_{letter}": action.label,
            f"phrase_{letter}": action.phrase,
            f"verb_{letter}": action.verb,
            f"objects_{letter}": sorted(action.objects | (action.words if letter == "c" else frozenset())),
        }
    for letter, segment in (("a", candidate.a), ("b", candidate.b)):
        payload |= {f"start_{letter}_s": segment.start_s, f"end_{letter}_s": segment.end_s}
    payload |= {name: value / 1000 for name, value in asdict(cuts).items()}
    return payload | {
        "other_actions": list(candidate.others),
        "source_verbs": sorted(video.verbs),
        "source_objects": sorted(video.objects),
    }
