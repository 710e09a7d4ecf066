"""Progress is shown where it is wanted and lasts, and what is said to be kept is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from stressreel.core import progress
from stressreel.core.progress import Progress, Working, counted, forget, keep, kept, showing, tick, tracked


class Beats:
    """In place of the threads that print now and then: prints when a test says so, so that no test reads a clock."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []

    def made(self, call: Callable[[], None], *, first: float, every: float) -> SimpleNamespace:
        self.calls.append(call)
        return SimpleNamespace(stop=lambda: self.calls.remove(call))

    def beat(self) -> None:
        for call in list(self.calls):
            call()


@pytest.fixture(autouse=True)
def beats(monkeypatch: pytest.MonkeyPatch) -> Iterator[Beats]:
    beats = Beats()
    monkeypatch.setattr(progress, "_Beat", beats.made)
    forget()
    yield beats
    assert not beats.calls
    forget()


def test_steps_show_lines_with_counts_and_rates(capsys: pytest.CaptureFixture[str], beats: Beats) -> None:
    with showing():
        for item in tracked([1, 2, 3, 4], "mining", "question"):
            if item == 3:
                beats.beat()
    first, last = capsys.readouterr().err.splitlines()
    assert first.startswith("mining: 2/4 questions, ")
    assert first.endswith(" left")
    assert last.startswith("mining: 4/4 questions, ")


def test_remaining_time_grows_while_the_last_items_take_long(
    capsys: pytest.CaptureFixture[str], beats: Beats, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with Progress("build", 1000, "render", shown=True) as shown:
        shown.advance(999)
        for now[0] in (100.0, 160.0, 400.0):
            beats.beat()
        shown.advance()
    lines = [line.rpartition(", ")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines == ["0:00 left", "1:00 left", "5:00 left", "done"]


def test_nothing_is_shown_unasked(capsys: pytest.CaptureFixture[str], beats: Beats) -> None:
    for wanted in (None, False):
        with showing(bool(wanted)), Working("scoring"):
            for _ in tracked([1, 2, 3, 4], "mining", "question"):
                beats.beat()
            beats.beat()
    assert capsys.readouterr().err == ""


def test_work_of_unknown_length_says_that_it_goes_on(capsys: pytest.CaptureFixture[str], beats: Beats) -> None:
    with showing(), Working("checking pictures"):
        list(counted([1, 2, 3]))
        beats.beat()
    assert "checking pictures: 3 done, 0:0" in capsys.readouterr().err


def test_only_what_is_kept_is_named() -> None:
    assert kept() == ""
    keep("pair", 0)
    assert kept() == ""
    keep("pair")
    keep("shard", 2000)
    assert kept() == "1 pair, 2,000 shards"


def test_the_end_is_said_once_and_not_before_the_last_piece_is_done(
    capsys: pytest.CaptureFixture[str], beats: Beats
) -> None:
    with Progress("build", 2, "render", shown=True, ticks=True) as shown:
        tick()
        tick()
        beats.beat()
        assert "done" not in capsys.readouterr().err
        shown.advance(2)
        beats.beat()
    assert capsys.readouterr().err.count("2/2 renders") == 1
