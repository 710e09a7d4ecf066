"""Units that go wrong where they are rendered, for executors on other machines."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import stressreel
from number_units import Numbers
from stressreel.core.errors import InputError, TransientError
from stressreel.core.plan import Facts, Unit

TEXT = "the encoder refused frame 7.\n  Choose another --preset, 100% of them are listed in x264."


@dataclass(frozen=True)
class Failing(Numbers):
    """Renders numbers; one unit fails the first so many times. `marks` holds a file for each time that one was
    rendered.
    """

    marks: Path = Path()
    fault: str = ""
    unit: str = "u03"
    times: int = 1
    seconds: float = 0.0

    def render(self, unit: Unit, folder: Path) -> Facts:
        facts = super().render(unit, folder)
        time.sleep(self.seconds)
        before = self.begun(unit.id)
        (self.marks / f"{unit.id}-{before}").write_text(str(stressreel.__file__))
        if unit.id == self.unit and before < self.times:
            if self.fault == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.fault == "transient":
                raise TransientError("the store is away")
            if self.fault == "input":
                raise InputError(TEXT)
            if self.fault == "file":
                raise FileNotFoundError(2, "No such file or directory")
        return facts

    def begun(self, unit_id: str) -> int:
        return len(list(self.marks.glob(f"{unit_id}-*")))
