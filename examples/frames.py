"""Read rows of an output and compute simple features of videos, such as colours and motion, for the examples."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from stressreel.api.audit import NEEDS_TRAIN
from stressreel.core.errors import InputError, StressreelError
from stressreel.core.output import FinishedOutput, open_output

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WIDTH, HEIGHT = 32, 24
COLOURS = 4  # levels of each colour channel


def run(main: Callable[[], None]) -> None:
    """Run an example. If the input is invalid, print one line and exit with 1."""
    try:
        main()
    except (StressreelError, OSError) as error:
        sys.exit(f"Error: {error}")


def opened(path: Path, builder: str) -> FinishedOutput:
    """Open an output. Raise InputError if another benchmark built it."""
    output = open_output(path)
    if output.info["builder"] != builder:
        raise InputError(
            f"{path} is an output of build-{output.info['builder']}; expected an output of build-{builder}."
        )
    return output


def rows(output: FinishedOutput, table: str, columns: list[str], split: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, one row group at a time. Raise InputError if rows or columns are missing."""
    lacks = "rows"
    for row in output.whole(table, columns, split):
        lacks = next((name for name in columns if name not in row), "")
        if lacks:
            break
        yield row
    if lacks:
        where = f"table {table}" + f", split {split}" * (split is not None)
        settings = output.info["settings"]
        hint = " It was built with --no-render." * (not settings.get("render", True))
        hint += " It was built with --embed no." * (settings.get("embed") == "no")
        if split == "train" and split not in output.splits(table):
            hint = f" {NEEDS_TRAIN}"
        raise InputError(f"{output.path}, {where}, has no {lacks}.{hint}")


def small_frames(video: bytes) -> NDArray[np.uint8]:
    """Decode all frames of a video as a uint8 array of shape (frames, 24, 32, 3)."""
    with av.open(io.BytesIO(video)) as container:
        decoded = container.decode(video=0)
        return np.stack([frame.to_ndarray(format="rgb24", width=WIDTH, height=HEIGHT) for frame in decoded])


def chosen_frames(video: bytes, numbers: Ints, width: int, height: int) -> NDArray[np.uint8]:
    """Decode frames, given by ascending numbers, as a uint8 array of shape (frames, height, width, 3)."""
    with av.open(io.BytesIO(video)) as container:
        decoded = list(container.decode(video=0))
    return np.stack([decoded[one].to_ndarray(format="rgb24", width=width, height=height) for one in numbers])


def changes(frames: NDArray[np.uint8]) -> Floats:
    """Return how much each pixel changes between consecutive frames: (frames - 1, 24, 32), or zeros for one frame."""
    moved = np.abs(np.diff(frames.astype(np.float64), axis=0)).mean(axis=3)
    return moved if len(moved) else np.zeros((1, HEIGHT, WIDTH))


def colours(frames: NDArray[np.uint8]) -> Floats:
    """Return the share of pixels that have each of 64 colours."""
    red, green, blue = np.moveaxis(frames // (256 // COLOURS), 3, 0).astype(np.int64)
    code = (red * COLOURS + green) * COLOURS + blue
    return np.bincount(code.ravel(), minlength=COLOURS**3) / code.size


def where_it_moves(frames: NDArray[np.uint8]) -> Floats:
    """Return the mean change in each cell of a 6 × 8 grid."""
    return changes(frames).mean(axis=0).reshape(6, HEIGHT // 6, 8, WIDTH // 8).mean(axis=(1, 3)).ravel()


def ridge(inputs: Floats, outputs: Floats, weight: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Fit a ridge regression on standardized inputs and centred outputs."""
    mean, spread = inputs.mean(axis=0), inputs.std(axis=0) + 1e-6
    scaled, centre = (inputs - mean) / spread, outputs.mean(axis=0)
    gram = scaled.T @ scaled + weight * np.eye(scaled.shape[1])
    return mean, spread, np.linalg.solve(gram, scaled.T @ (outputs - centre)), centre


def predict(model: tuple[Floats, Floats, Floats, Floats], inputs: Floats) -> Floats:
    """Apply a regression fitted by `ridge`. Its outputs remain centred."""
    mean, spread, weights, _ = model
    return (inputs - mean) / spread @ weights
