"""Write a sample dataset that comes with stressreel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..core.functions import public
from ..core.results import Result


@dataclass(frozen=True)
class Sample(Result):
    """Result of `sample`, with the folder that was written."""

    kind: str
    folder: Path

    def __str__(self) -> str:
        return f"wrote the {self.kind} sample to {self.folder}"


@public
def sample(folder: Path | str, *, kind: Literal["charades", "msrvtt", "causal"] = "charades") -> Sample:
    """Write a sample dataset, with annotations in the original format and animated videos.

    For example::

        stressreel sample charades
        stressreel sample clips --kind msrvtt

    Args:
        folder: Target folder.
        kind: Dataset whose format the sample has.

    Raises:
        OutputError: The folder cannot be written.
    """
    from ..annotations.samples import write_sample

    write_sample(kind, Path(folder))
    return Sample(kind, Path(folder))
