"""Shares of a plan: every unit in one of them, all about as long, whoever works it out."""

from __future__ import annotations

import pytest
from stressreel.core.build_settings import WorkShare, read_share
from stressreel.core.plan import Unit

UNITS = [Unit(f"u{n:03d}", "train", "v", {}, float(n * n % 17)) for n in range(101)]


@pytest.mark.parametrize("count", [1, 2, 3, 50, 101, 200])
def test_every_unit_is_in_one_share(count: int) -> None:
    shares = [WorkShare(number, count).of(UNITS) for number in range(1, count + 1)]
    found = [unit.id for share in shares for unit in share]
    assert sorted(found) == [unit.id for unit in UNITS]
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_shares_are_about_as_much_work() -> None:
    costs = [sum(unit.cost for unit in WorkShare(number, 4).of(UNITS)) for number in range(1, 5)]
    assert max(costs) - min(costs) <= max(unit.cost for unit in UNITS)


def test_reading() -> None:
    assert read_share("3/50") == WorkShare(3, 50)
    assert str(WorkShare(3, 50)) == "3/50"


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3", "1/3/4", "", "1.0/3", "٣/50"])
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(ValueError, match="is not in the form I/N, such as 3/50"):
        read_share(text)
