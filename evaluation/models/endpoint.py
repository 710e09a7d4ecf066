"""Ask models behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...core.documents import parse_json
from ...core.errors import InputError, UsageError, one_line
from ...core.extras import import_extra
from ..tasks import prompts
from . import AnswerError, Reply, Request

if TYPE_CHECKING:
    from ...language.chat import Completion

TEMPERATURE = 0
MOST_TEXT = 100_000  # characters of an answer
MOST_NAME = 200  # characters of the name that a model reports
BUSY = (408, 409, 429, 502, 503, 504)  # status codes that say nothing about the request
OURS = ("model", "messages", "stream", "n")
"""Fields of a request that `--request` may not change."""


@dataclass
class Endpoint:
    """A model behind an OpenAI-compatible endpoint.

    Attributes:
        url: Base URL, such as "http://localhost:8000/v1".
        model: Name of the model on the server.
        per_minute: Maximum number of requests per minute; 0 for no limit.
        retries: Maximum number of retries of a request after transient errors.
        timeout: Timeout of each attempt in seconds, including the complete response.
        key_variable: Environment variable that contains the API key.
        request: Additional fields of each request. None removes a default field.
    """

    url: str
    model: str
    seed: int = 0
    at_once: int = 8
    per_minute: int = 0
    retries: int = 5
    timeout: float = 120.0
    key_variable: str = "OPENAI_API_KEY"
    request: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Create the client without sending anything.

        Raises:
            UsageError: The URL is invalid or contains a secret.
            InputError: The package `openai` is not installed.
        """
        check_address(self.url)
        chat = import_extra("...language.chat", __package__, what="--endpoint")
        self._errors = chat.openai
        self._client = chat.ChatClient(self.url, (self.key_variable,), retries=self.retries, timeout=self.timeout)
        self._next = 0.0
        self._answered = False

    @property
    def about(self) -> Mapping[str, Any]:
        """Properties that determine the answers, for the record of a run."""
        parts = urlsplit(self.url)
        return {
            "endpoint": f"{parts.scheme}://{parts.netloc}{parts.path}",
            "model": self.model,
            "temperature": TEMPERATURE,
            "seed": self.seed,
            "request": dict(self.request),
        }

    async def reply(self, request: Request) -> Reply:
        """Send a request; see `Model.reply`."""
        await self._turn()
        fields: dict[str, Any] = {
            "max_tokens": request.max_tokens,
            "temperature": TEMPERATURE,
            "seed": self.seed,
            **self.request,
        }
        content = await asyncio.to_thread(content_of, request)
        openai, plain = self._errors, self._client.plain
        try:
            completion: Completion = await self._client.complete(
                self.model,
                [{"role": "user", "content": content}],
                {name: value for name, value in fields.items() if value is not None},
            )
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            if self._answered:  # the error then concerns this request only
                raise AnswerError(plain(error)) from None
            rejected = (
                f"the key in {self.key_variable}"
                if self._client.key
                else f"requests without a key ({self.key_variable} is not set)"
            )
            raise InputError(
                f"{self.about['endpoint']} rejects {rejected} ({plain(error)}). Set {self.key_variable} in the "
                "environment, or name another variable with --key-variable."
            ) from None
        except openai.NotFoundError as error:
            if self._answered:
                raise AnswerError(plain(error)) from None
            raise InputError(
                f"{self.about['endpoint']} does not offer the model {self.model!r}, or has no chat completions API "
                f"({plain(error)}). Check --model and --endpoint, which usually ends in /v1."
            ) from None
        except openai.OpenAIError as error:
            if moved := self._redirect(error):
                raise (AnswerError if self._answered else InputError)(moved) from None
            status = getattr(error, "status_code", None)
            sent_video = request.view is not None and request.view.video is not None
            if sent_video and not self._answered and status is not None and status not in BUSY:
                raise InputError(
                    f"{self.about['endpoint']} does not accept this video, sent as video_url ({plain(error)}). "
                    "If the server or model does not support video, use --send frames."
                ) from None
            raise AnswerError(plain(error)) from None
        except ValueError as error:
            raise AnswerError(f"the response is not a chat completion: {plain(error)}") from None
        reply = self._read(completion)
        self._answered = True
        return reply

    async def finish(self) -> None:
        """Do nothing, because requests are never batched."""

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def _turn(self) -> None:
        if self.per_minute:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + 60 / self.per_minute
            await asyncio.sleep(start - now)

    def _redirect(self, error: Any) -> str:
        """Describe a redirect, or return "". Redirects are not followed, since they would forward the key."""
        response = getattr(error, "response", None)
        if response is None or not response.is_redirect:
            return ""
        target = self._client.plain(response.headers.get("location", "nowhere"))
        return (
            f"{self.about['endpoint']} answers with a redirect ({response.status_code}) to {target}. It is not "
            "followed, since that would send the key and the questions there. To use it, pass it as --endpoint."
        )

    def _read(self, completion: Completion) -> Reply:
        text, ended = completion.text or completion.refusal, completion.finish_reason
        if not text and ended not in ("stop", "length", None):
            raise AnswerError(f"the response has no answer: finish_reason {self._client.plain(ended)}")
        if len(text) > MOST_TEXT:
            raise AnswerError(f"the answer has {len(text):,} characters; the limit is {MOST_TEXT:,}")
        counts = completion.input_tokens, completion.output_tokens
        return Reply(text, ended == "length", *counts, one_line(completion.model[:MOST_NAME]))


def check_address(url: str) -> None:
    """Raise UsageError if a URL cannot be an endpoint, or contains a user, password or query."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 -- reading it checks it
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            "--endpoint is not a URL. Pass the base URL of an OpenAI-compatible API, such as http://localhost:8000/v1."
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            "--endpoint contains a user name, a password, a query or a fragment, which would be stored in the record. "
            "Set the key in an environment variable; see --key-variable."
        )


def parsed_request(value: str | dict[str, Any]) -> dict[str, Any]:
    """Parse the value of `--request`, which is a JSON object or its text.

    Raises:
        UsageError: The value is not a JSON object, or sets a field that depends on the question.
    """
    try:
        fields = parse_json(value) if isinstance(value, str) else value
    except ValueError as error:
        raise UsageError(
            f"--request is not valid JSON ({error}). Example: '{{\"max_completion_tokens\": 64}}'."
        ) from None
    if not isinstance(fields, dict):
        raise UsageError("--request must be a JSON object, such as '{\"max_completion_tokens\": 64}'.")
    if reserved := sorted(set(fields) & set(OURS)):
        raise UsageError(f"--request cannot set {', '.join(reserved)}, because the questions determine these fields.")
    return fields


def content_of(request: Request) -> list[dict[str, Any]]:
    """Return the parts of a message, with the frames or the video before the question."""
    parts: list[dict[str, Any]] = []
    if request.view is not None and request.view.video is not None:
        parts.append({"type": "video_url", "video_url": {"url": _data_url("video/mp4", request.view.video)}})
    elif request.view is not None:
        parts.append({"type": "text", "text": prompts()["frames"]})
        parts += [
            {"type": "image_url", "image_url": {"url": _data_url("image/jpeg", picture)}}
            for picture in request.view.jpegs
        ]
    return [*parts, {"type": "text", "text": request.text}]


def _data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
