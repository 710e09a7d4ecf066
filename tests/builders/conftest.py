"""In a module, reads and decodes the same bytes once: both are pure, and most forgeries leave most bytes alone."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from stressreel.builders.perturbed import pictures
from stressreel.records import shards
from stressreel.records.schema import Row
from stressreel.video import thumbnails

SMALL = 100_000  # bytes of a shard that is kept: those without videos
LOOKING = ("builders.causal.checks", "builders.clavi.checks", "builders.perturbed.checks")


@pytest.fixture(scope="module", autouse=True)
def _looked_at_once() -> Iterator[None]:
    looks: dict[tuple[Any, ...], thumbnails.Look] = {}
    stretches: dict[tuple[Any, ...], pictures.Stretch] = {}
    look, make = thumbnails.look_at, pictures._make

    def look_at(content: bytes, *, pictures: bool = True, keep: Collection[int] = ()) -> thumbnails.Look:
        key = (hashlib.sha256(content).digest(), pictures, tuple(keep))
        if key not in looks:
            looks[key] = look(content, pictures=pictures, keep=keep)
        return looks[key]

    def make_once(clean: Path, *given: Any) -> pictures.Stretch:
        key = (hashlib.sha256(clean.read_bytes()).digest(), *given)
        if key not in stretches:
            stretches[key] = make(clean, *given)
        return stretches[key]

    with pytest.MonkeyPatch.context() as patch:
        for module in LOOKING:
            patch.setattr(f"stressreel.{module}.look_at", look_at)
        patch.setattr(pictures, "_make", make_once)
        yield


@pytest.fixture(scope="module", autouse=True)
def _read_once() -> Iterator[None]:
    kept: dict[tuple[Any, ...], bytes] = {}

    def read_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[Row]:
        content = path.read_bytes() if path.is_file() and path.stat().st_size <= SMALL else b""
        if not content:
            yield from shards.read_rows(path, columns)
            return
        key = (hashlib.sha256(content).digest(), None if columns is None else tuple(columns))
        if key not in kept:
            kept[key] = pickle.dumps(list(shards.read_rows(path, columns)))
        yield from pickle.loads(kept[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stressreel.records.output.read_rows", read_rows)
        yield
