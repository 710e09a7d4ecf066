"""The search for circular garbage is off inside, and as it was after."""

from __future__ import annotations

import gc

import pytest
from stressreel.builders.runtime.collection import uncollected


def test_off_inside_and_as_before_after() -> None:
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="x"), uncollected():
        raise ValueError("x")
    assert gc.isenabled()
