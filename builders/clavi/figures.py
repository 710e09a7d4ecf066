"""Draw the figure on the card of a CLAVI build."""

from __future__ import annotations

from itertools import accumulate, pairwise

from ...core.output import FinishedOutput
from ...core.schema import Row
from ...core.shards import chosen_rows
from ...data_cards.contact_sheet import Strip, contact_sheet, frames_at
from .relations import PIECES, relation_of

FRAMES, SIDE = 10, 96
BORDERS = ("out_a", "in_a", "in_b", "out_b")


def swap_png(output: FinishedOutput, pair: Row) -> bytes:
    """Draw frames of V and of V′ at equal distances, with the actions that each piece shows below."""
    videos = sorted(
        chosen_rows(output.shards("videos"), "pair_id", {pair["pair_id"]}), key=lambda row: str(row["video_id"])
    )
    pieces = PIECES[relation_of(pair)]
    lengths = [stop - start for start, stop in pairwise(pair[name] for name in BORDERS)]
    return contact_sheet(
        [
            _strip(videos[0], "V", f"A: {pair['phrase_a']}", pieces, lengths),
            _strip(videos[1], "V′", f"B: {pair['phrase_b']}", pieces[::-1], lengths[::-1]),
        ],
        SIDE,
    )


def _strip(video: Row, title: str, details: str, pieces: tuple[str, ...], lengths: list[float]) -> Strip:
    middles = [(2 * number + 1) / (2 * FRAMES) for number in range(FRAMES)]
    frames = frames_at(video, [int(middle * video["num_frames"]) for middle in middles])
    stops = [stop / sum(lengths) for stop in accumulate(lengths)]
    shown = [next((piece for piece, stop in zip(pieces, stops, strict=True) if at < stop), "") for at in middles]
    return Strip(title, details, list(zip(frames, shown, strict=True)))
