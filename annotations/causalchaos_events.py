"""Turn CausalChaos questions into events: "Why was Jerry running?" presupposes that Jerry was running."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from ..language.cast import Cast, derive_cast
from ..language.events import event
from .actions import Annotations
from .causalchaos import read_causalchaos
from .drafts import VideoDraft, action_of, gather, split_by_video

RATE = Fraction(25)
ADVICE = "Each row is a why-question about the frames from Start Frame to End Frame of an episode."


def read_events(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    rate_of: Mapping[str, Fraction] | None = None,
    length_of: Mapping[str, float] | None = None,
    cast: Cast | None = None,
    seed: int = 0,
) -> Annotations:
    """Extract the events that why-questions presuppose, in file order.

    Each event consists of a statement and its yes/no question. Questions that presuppose no usable event are dropped
    and counted by reason.

    Args:
        path: Annotations in the layout of the released `Annotations.csv`; see `read_causalchaos`.
        columns: Column names that differ from the default.
        rate_of: Frames per second by episode. Other episodes default to 25 and are counted.
        length_of: Length in seconds by episode. Other episodes end with their last question.
        cast: The characters; defaults to the names detected in the texts.
        seed: Seed for assigning episodes to splits, as the dataset defines none.

    Raises:
        InputError: The file has another format, contains malformed rows, or has no usable question.
    """
    rows = read_causalchaos(path, columns)
    rates, lengths = rate_of or {}, length_of or {}
    if cast is None:
        cast = derive_cast(text for row in rows.rows for text in (row.question, row.answer, row.explanation))
    counts = Counter(rows.counts)
    drafts: dict[str, VideoDraft] = {}
    for row in rows.rows:
        if row.episode not in drafts:
            drafts[row.episode] = VideoDraft(row.episode, length_s=lengths.get(row.episode), file=path.name)
            counts["episodes_without_a_frame_rate"] += row.episode not in rates
        rate = rates.get(row.episode, RATE)
        times = float(row.start_frame / rate), float(row.end_frame / rate)
        found = action_of(event(row.question, cast), row.question)
        drafts[row.episode].add(found, row.question, times, counts, line=row.line)
    annotations = gather(drafts, [path], counts, ADVICE, split_by_video(drafts, seed))
    return replace(annotations, left_out=(*rows.left_out, *annotations.left_out))
