"""Ask models the questions of an output, and store their answers as predictions.

This module defines the interface of all models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ...core.errors import StressreelError

if TYPE_CHECKING:
    from .clip_sources import View


@dataclass(frozen=True)
class Request:
    """A prompt, with frames, a video or neither.

    Attributes:
        view: The frames or the video, or None.
        max_tokens: Maximum number of tokens in the answer.
        condition: Name of the probing condition; see `run.Call`.
    """

    text: str
    view: View | None
    max_tokens: int
    condition: str = ""


@dataclass(frozen=True)
class Reply:
    """The answer to a request.

    Attributes:
        cut: Whether the answer was cut off at `max_tokens`.
        input_tokens: Number of tokens in the request, or None if unknown.
        output_tokens: Number of tokens in the answer, or None if unknown.
        model: Name that the model reports, or "".
        effect: Measured effect of the probing condition, if any.
    """

    text: str
    cut: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str = ""
    effect: Mapping[str, float] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields as they are stored in a journal."""
        return {name: value for name, value in asdict(self).items() if value is not None}


class Model(Protocol):
    """Interface of models that answer requests."""

    @property
    def about(self) -> Mapping[str, Any]:
        """Properties that determine the answers, such as the model's name and parameters of requests."""

    @property
    def at_once(self) -> int:
        """Number of requests that are answered concurrently."""

    async def reply(self, request: Request) -> Reply:
        """Return the answer to a request.

        Raises:
            AnswerError: This request failed, but others may succeed.
            StressreelError: Every request would fail.
        """

    async def finish(self) -> None:
        """Answer requests that wait for a batch to fill, because no more will follow."""

    async def close(self) -> None:
        """Close all connections."""


class AnswerError(StressreelError, RuntimeError):
    """Raised when a single request fails. The message is that of the server or decoder."""
