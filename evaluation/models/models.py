"""Interface of models that answer questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from ...core.errors import StressreelError
from .clips import View


@dataclass(frozen=True)
class Request:
    """A prompt, with frames or a video.

    Attributes:
        view: Frames or video; None for neither.
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
        cut: Whether the answer was truncated at `max_tokens`.
        input_tokens: Number of tokens in the request; None if unknown.
        output_tokens: Number of tokens in the answer; None if unknown.
        model: Name reported by the model, or "".
        effect: Measured effect of the probing condition, if any.
    """

    text: str
    cut: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str = ""
    effect: Mapping[str, float] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a journal."""
        return {name: value for name, value in asdict(self).items() if value is not None}


class Model(Protocol):
    """A model that answers requests."""

    @property
    def about(self) -> Mapping[str, Any]:
        """Properties that determine the answers, for the record: name, and parameters of requests."""

    @property
    def at_once(self) -> int:
        """Number of concurrent requests."""

    async def reply(self, request: Request) -> Reply:
        """Return the answer to a request.

        Raises:
            AnswerError: This request failed; others may succeed.
            StressreelError: Every request would fail.
        """

    async def finish(self) -> None:
        """Answer requests that wait for a batch to fill, since no more will follow."""

    async def close(self) -> None:
        """Close connections."""


class AnswerError(StressreelError, RuntimeError):
    """A request failed; the message is that of the server or decoder."""
