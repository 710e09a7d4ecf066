"""Progress is shown where it is wanted and lasts, and what is said to be kept is kept."""

import os
import pty
import re
import subprocess
import sys
import termios
import time

import pytest
from stressreel.core import progress
from stressreel.core.progress import Progress, Working, forget, keep, kept, showing, tick, timed, tracked


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.01)
    forget()
    yield
    forget()


def wait_for(capsys, text):
    """Return what was printed until a text occurred in it."""
    printed, began = "", time.monotonic()
    while text not in printed:
        assert time.monotonic() - began < 30, printed
        time.sleep(0.01)
        printed += capsys.readouterr().err
    return printed


def test_steps_show_lines_with_counts_and_times(capsys):
    with showing(), Working("stressreel mine"):
        wait_for(capsys, "stressreel mine: 00:0")
        for item in tracked([1, 2, 3, 4], "mining", "question"):
            if item == 3:
                line = wait_for(capsys, "mining: 2/4 questions in 00:0").splitlines()[-1]
                assert line.endswith(" left")
                time.sleep(0.05)
                assert "stressreel mine" not in capsys.readouterr().err  # only the innermost step is shown
    assert "mining: 4/4 questions in 00:0" in capsys.readouterr().err


def test_nothing_is_shown_unasked(capsys, monkeypatch):
    for wanted in (None, False):
        with showing(bool(wanted)), Working("scoring"), Progress("building", 4, "pair", shown=wanted):
            time.sleep(0.05)
    monkeypatch.setattr(progress, "LINE_EVERY_S", 60)
    with showing(), timed(), Working("scoring"):  # of short work only the times
        list(tracked([1, 2], "mining", "question"))
    assert re.fullmatch(r"mining: \d\.\d s\nscoring: \d\.\d s\n", capsys.readouterr().err)


def test_only_what_is_kept_is_named():
    keep("pair", 0)
    assert kept() == ""
    keep("pair")
    keep("shard", 2000)
    assert kept() == "1 pair, 2,000 shards"


def test_items_of_unfinished_units_count_once(capsys):
    with Progress("build", 9, "render", shown=True) as shown:
        tick()
        tick()
        wait_for(capsys, "2/9")
        shown.advance(2)
        tick()
        assert "4/9" not in wait_for(capsys, "3/9")


def test_a_terminal_shows_a_bar():
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    code = "from stressreel.core.progress import *\nwith Progress('build', 2, 'pair', shown=True) as it: it.advance(2)"
    subprocess.run([sys.executable, "-c", code], stderr=theirs, check=True)
    os.close(theirs)
    printed = os.read(ours, 10_000).decode()
    os.close(ours)
    assert re.search(r"\rbuild: 100%\|.* 2/2 ", printed)


LOST = """
import os, signal
from stressreel.core import progress
progress.listen_for_interrupts()
class Thing:
    def __del__(self):
        os.kill(os.getpid(), signal.{0})
thing = Thing()
del thing
print("lost")
progress.raise_if_interrupted()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_dropped_interrupt_is_raised_again(name):
    done = subprocess.run([sys.executable, "-c", LOST.format(name)], capture_output=True, text=True)
    assert done.stdout == "lost\n"
    assert done.stderr.endswith("KeyboardInterrupt\n")
