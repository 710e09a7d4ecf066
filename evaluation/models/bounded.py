"""The HTTP client of an endpoint, which may be a stranger's: it is given only so much time, and read only so far."""

from __future__ import annotations

import asyncio
import zlib
from typing import Any

import httpx
import openai

MOST_BYTES = 4_000_000  # of an answer, packed and unpacked
KEPT = ("location", "retry-after", "retry-after-ms", "x-should-retry", "x-request-id")
"""Headers of an answer that `openai` and we look at; what others would do to its content is done here."""


class BoundedClient(openai.DefaultAsyncHttpxClient):
    """A client that reads whole answers within limits and follows no redirect. Proxies are those of the environment."""

    def __init__(self, seconds: float):
        """Allow each attempt so many seconds, from the connection to the last byte."""
        super().__init__(timeout=seconds, follow_redirects=False, headers={"Accept-Encoding": "identity"})
        self._seconds = seconds

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request and read its answer.

        Raises:
            httpx.TimeoutException: It takes too long.
            openai.OpenAIError: The answer is too long, or packed in another way; it is not asked for again.
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
            raise httpx.ReadTimeout(f"no whole answer within {self._seconds:g} s", request=request) from error
        headers = {name: response.headers[name] for name in KEPT if name in response.headers}
        return httpx.Response(response.status_code, headers=headers, content=content, request=request)


async def _content(response: httpx.Response) -> bytes:
    found = bytearray()
    async for piece in response.aiter_raw():
        found += piece
        if len(found) > MOST_BYTES:
            raise _too_long()
    packed = response.headers.get("Content-Encoding", "").strip().lower()
    if packed in ("", "identity"):
        return bytes(found)
    if packed not in ("gzip", "x-gzip", "deflate"):
        raise openai.OpenAIError(f"the answer is packed as {packed[:80]!r}, which was not asked for")
    try:
        content = zlib.decompressobj(wbits=47).decompress(bytes(found), MOST_BYTES + 1)
    except zlib.error as error:
        raise openai.OpenAIError(f"the answer cannot be unpacked ({error})") from error
    if len(content) > MOST_BYTES:
        raise _too_long()
    return content


def _too_long() -> openai.OpenAIError:
    return openai.OpenAIError(f"the answer has more than {MOST_BYTES:,} bytes, which no answer to a question has")
