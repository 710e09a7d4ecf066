"""A wish to stop is heard."""

import subprocess
import sys

import pytest

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
try:
    progress.raise_if_interrupted()
except KeyboardInterrupt:
    print("heard")
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_that_python_drops_is_heard_at_the_next_check(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", LOST.format(name)], capture_output=True, text=True, check=True)
    assert done.stdout == "lost\nheard\n"
