"""What can be asked: a model behind an endpoint, or one that runs here, gets a text with pictures and replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from ...core.errors import StressreelError
from .clips import View


@dataclass(frozen=True)
class Request:
    """What a model gets once.

    Attributes:
        text: What is asked.
        view: What is shown; None: nothing.
        max_tokens: How long the answer may be.
        condition: What is done to the model meanwhile; see `run.Call`.
    """

    text: str
    view: View | None
    max_tokens: int
    condition: str = ""


@dataclass(frozen=True)
class Reply:
    """What a model answers.

    Attributes:
        text: Its words, as they came.
        cut: Whether it ended because it may not be longer.
        input_tokens: Tokens of the request, as the model counts; None if it does not say.
        output_tokens: Tokens of the answer, likewise.
        model: What the model calls itself; "" if it does not say.
        effect: What was done to the model meanwhile, in numbers; None: nothing.
    """

    text: str
    cut: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str = ""
    effect: Mapping[str, float] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as a line of a journal has it."""
        return {name: value for name, value in asdict(self).items() if value is not None}


class Model(Protocol):
    """A model that can be asked."""

    @property
    def about(self) -> Mapping[str, Any]:
        """What decides its answers, for the record: its name, and the parameters of requests."""

    @property
    def at_once(self) -> int:
        """How many requests it takes at once."""

    async def reply(self, request: Request) -> Reply:
        """Return its answer.

        Raises:
            AnswerError: This request got none; others may.
            StressreelError: No request can get one.
        """

    async def close(self) -> None:
        """Let go of connections."""


class AnswerError(StressreelError, RuntimeError):
    """A request got no answer: the reason is the server's or the decoder's."""
