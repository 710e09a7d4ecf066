"""Send chat completions to OpenAI-compatible endpoints, and limit how long and how large their responses may be."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import openai

from ..core.documents import parse_json, shortened
from ..core.errors import UsageError

if TYPE_CHECKING:
    import httpx
else:  # the package that `openai` sends requests with: httpx, or httpx2 from version 3 on
    httpx = import_module(openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])

MOST_BYTES = 4_000_000  # of a response, compressed and decompressed
MOST_TOKENS = 10**12  # maximum plausible number of tokens
# The response headers read by `openai` and this package; the effect of others on the content is handled here.
KEPT = ("location", "retry-after", "retry-after-ms", "x-should-retry", "x-request-id")


@dataclass(frozen=True)
class Completion:
    """The first choice of a chat completion.

    Attributes:
        text: The answer, or None if the message has no content.
        refusal: The text of a refusal, or "".
        finish_reason: Why the answer ended, which is not validated.
        input_tokens: Number of tokens in the request, or None if unknown or implausible.
        output_tokens: Number of tokens in the answer, or None if unknown or implausible.
        model: Name that the model reports, or "".
    """

    text: str | None
    refusal: str
    finish_reason: Any
    input_tokens: int | None
    output_tokens: int | None
    model: str

    @classmethod
    def of(cls, response: Any) -> Completion:
        """Read the JSON value of a response, or raise ValueError with the value if it is not a chat completion."""
        choices = _field(response, "choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message, usage = _field(choice, "message"), _field(response, "usage")
        text, refusal, model = _field(message, "content"), _field(message, "refusal"), _field(response, "model")
        if message is None or not (text is None or isinstance(text, str)):
            raise ValueError(response)
        counts = [_field(usage, name) for name in ("prompt_tokens", "completion_tokens")]
        sent, received = (count if type(count) is int and 0 <= count < MOST_TOKENS else None for count in counts)
        refusal, model = (value if isinstance(value, str) else "" for value in (refusal, model))
        return cls(text, refusal, _field(choice, "finish_reason"), sent, received, model)


class ChatClient:
    """A client of one endpoint, which must be closed. The API key is read from the environment and never written.

    Attributes:
        key: The API key, or "".
    """

    def __init__(self, url: str, key_variables: Sequence[str], *, retries: int, timeout: float):
        """Create the client without sending anything.

        Args:
            url: Base URL, such as "http://localhost:8000/v1".
            key_variables: Environment variables of which the first that is set contains the API key.
            retries: Maximum number of retries of a request after transient errors.
            timeout: Timeout of each attempt in seconds, including the complete response.

        Raises:
            UsageError: The URL is invalid, or the key contains spaces or non-ASCII characters.
        """
        variable = next((name for name in key_variables if os.environ.get(name, "").strip()), "")
        self.key = os.environ.get(variable, "").strip()
        if not (self.key.isascii() and self.key.isprintable()) or " " in self.key:
            raise UsageError(f"the key in {variable} contains spaces or non-ASCII characters.")
        try:
            self._client = openai.AsyncOpenAI(
                base_url=url,
                api_key=self.key or "none",
                max_retries=retries,
                timeout=timeout,
                http_client=BoundedClient(timeout),
            )
        except httpx.InvalidURL as error:
            raise UsageError(f"the URL of the endpoint is invalid: {error}.") from None

    async def complete(
        self, model: str, messages: Sequence[Mapping[str, Any]], fields: Mapping[str, Any]
    ) -> Completion:
        """Send a request with additional fields, and return the completion.

        Raises:
            openai.OpenAIError: The endpoint did not answer, or answered with an error or a redirect.
            ValueError: The response is not a chat completion.
        """
        chat: Any = self._client.chat.completions.with_raw_response
        sent = await chat.create(model=model, messages=messages, extra_body=dict(fields))
        return Completion.of(parse_json(sent.content.decode()))

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    def plain(self, error: object) -> str:
        """Return the text of an error without the key."""
        text = " ".join(str(error).split()) or type(error).__name__
        cause = getattr(error, "__cause__", None)
        if cause is not None and str(cause) and str(cause) not in text:
            text = f"{text} ({' '.join(str(cause).split())})"
        return shortened(text.replace(self.key, "<key>") if self.key else text)


class BoundedClient(openai.DefaultAsyncHttpxClient):
    """HTTP client that reads complete responses within limits, uses the system's proxies, and ignores redirects."""

    def __init__(self, seconds: float):
        super().__init__(timeout=seconds, follow_redirects=False, verify=_certificates())
        self._seconds = seconds

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request, and read the complete response.

        Raises:
            httpx.TimeoutException: No complete response arrived in time.
            openai.OpenAIError: The response is too long or has an unsupported encoding.
        """
        request.headers["Accept-Encoding"] = "identity"
        try:
            async with asyncio.timeout(self._seconds):
                response = await super().send(request, **{**options, "stream": True})
                try:
                    content = await _content(response)
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise httpx.ReadTimeout(f"no complete response within {self._seconds:g} s", request=request) from error
        headers = {name: response.headers[name] for name in KEPT if name in response.headers}
        return httpx.Response(response.status_code, headers=headers, content=content, request=request)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # takes 20 ms, so it is shared by all clients


async def _content(response: httpx.Response) -> bytes:
    packed = response.headers.get("Content-Encoding", "").strip().lower()
    if packed not in ("", "identity", "gzip", "deflate"):  # others unpack a small piece to gigabytes
        raise openai.OpenAIError(f"the response is packed as {packed[:80]!r}, which was not requested")
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > MOST_BYTES:
            raise openai.OpenAIError(f"the response has more than {MOST_BYTES:,} bytes, which is the limit")
    return bytes(content)
