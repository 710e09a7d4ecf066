"""Decodes the same bytes once: most forgeries leave most videos as they are, and looking at one is a pure function."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from stressreel.builders.perturbed import pictures
from stressreel.video import thumbnails

LOOKING = ("builders.causal.checks", "builders.clavi.checks", "builders.perturbed.checks")


@pytest.fixture(scope="session", autouse=True)
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
