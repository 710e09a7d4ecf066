"""Draw the contact sheet on the card of a suite."""

from __future__ import annotations

from itertools import takewhile

from ...core.output import FinishedOutput
from ...corruptions.registry import check_name
from ...data_cards.contact_sheet import Strip, contact_sheet, frames_at
from .settings import settings_of
from .tables import CLEAN

SIDE = 180
EARLY = 25  # last frame for the contact sheet; each of the 90 files is decoded up to it


def pixels_png(output: FinishedOutput) -> bytes | None:
    """Draw a frame of the first clip under every perturbation of pixels and severity, or return None without any."""
    settings = settings_of(output.info)
    corruptions = [corruption for name in settings.perturbations if (corruption := check_name(name)).scope != "index"]
    if not settings.render or not corruptions:
        return None
    columns = ["clip_id", "severity", "num_frames", "video"]
    clean = next(output.whole(CLEAN, columns))
    number = min(EARLY, clean["num_frames"] // 2)
    strips = [Strip("clean", f"frame {number} of clip {clean['clip_id']}", [(frames_at(clean, [number])[0], "")])]
    for corruption in corruptions:
        rows = takewhile(lambda row: row["clip_id"] == clean["clip_id"], output.whole(corruption.name, columns))
        frames = [
            (frames_at(row, [number])[0], f"{row['severity']}: {corruption.level(row['severity'])}") for row in rows
        ]
        strips.append(Strip(corruption.name, corruption.unit, frames))
    return contact_sheet(strips, SIDE)
