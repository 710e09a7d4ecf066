"""A wish to stop is heard."""

import signal
import subprocess
import sys

import pytest
from stressreel.core import interrupt

LOST = """
import os, signal
from stressreel.core import interrupt
interrupt.listen()
class Thing:
    def __del__(self):
        os.kill(os.getpid(), signal.{0})
thing = Thing()
del thing
print("lost")
try:
    interrupt.check()
except KeyboardInterrupt:
    print("heard")
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_that_python_drops_is_heard_at_the_next_check(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", LOST.format(name)], capture_output=True, text=True, check=True)
    assert done.stdout == "lost\nheard\n"


def test_nothing_is_raised_unasked() -> None:
    interrupt.check()


def test_an_interrupt_is_raised_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupt, "_asked", [])
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    try:
        interrupt.listen()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])
