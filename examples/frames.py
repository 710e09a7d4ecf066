"""What the examples see of a video: a few small frames, their colours and how they change."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WIDTH, HEIGHT = 32, 24
COLOURS = 4  # levels of each of red, green and blue


def rows(out: Path, table: str, split: str = "*", columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Read the rows of a table, a row group in memory at a time."""
    for path in sorted((out / table).glob(f"{split}-*-of-*.parquet")):
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                yield from file.read_row_group(group, columns=columns).to_pylist()


def small_frames(video: bytes, first: int = 0, stop: int | None = None) -> NDArray[np.uint8]:
    """Decode the frames from `first` to before `stop`, as uint8 of shape (frames, 24, 32, 3)."""
    found = []
    with av.open(io.BytesIO(video)) as container:
        for number, frame in enumerate(container.decode(video=0)):
            if stop is not None and number >= stop:
                break
            if number >= first:
                found.append(frame.to_ndarray(format="rgb24", width=WIDTH, height=HEIGHT))
    return np.stack(found)


def changes(frames: NDArray[np.uint8]) -> Floats:
    """Give how much each pixel changes from one frame to the next; shape (frames - 1, 24, 32), at least one."""
    moved = np.abs(np.diff(frames.astype(np.float64), axis=0)).mean(axis=3)
    return moved if len(moved) else np.zeros((1, HEIGHT, WIDTH))


def colours(frames: NDArray[np.uint8]) -> Floats:
    """Give the share of each of 64 colours."""
    red, green, blue = np.moveaxis(frames // (256 // COLOURS), 3, 0).astype(np.int64)
    code = (red * COLOURS + green) * COLOURS + blue
    return np.bincount(code.ravel(), minlength=COLOURS**3) / code.size


def where_it_moves(frames: NDArray[np.uint8]) -> Floats:
    """Give the mean change in each of 6 x 8 fields of the picture."""
    return changes(frames).mean(axis=0).reshape(6, HEIGHT // 6, 8, WIDTH // 8).mean(axis=(1, 3)).ravel()


def ridge(inputs: Floats, outputs: Floats, weight: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Fit a ridge regression on standardised inputs and centred outputs."""
    mean, spread = inputs.mean(axis=0), inputs.std(axis=0) + 1e-6
    scaled, centre = (inputs - mean) / spread, outputs.mean(axis=0)
    gram = scaled.T @ scaled + weight * np.eye(scaled.shape[1])
    return mean, spread, np.linalg.solve(gram, scaled.T @ (outputs - centre)), centre


def predict(model: tuple[Floats, Floats, Floats, Floats], inputs: Floats) -> Floats:
    """Apply `ridge`; outputs stay centred."""
    mean, spread, weights, _ = model
    return (inputs - mean) / spread @ weights
