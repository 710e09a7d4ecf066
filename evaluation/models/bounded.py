"""Provide an HTTP client that limits how long and how large the responses of untrusted endpoints may be."""

from __future__ import annotations

import asyncio
import zlib
from typing import Any

import httpx
import openai

MOST_BYTES = 4_000_000  # of a response, compressed and decompressed
# The response headers read by `openai` and this package; the effect of others on the content is handled here.
KEPT = ("location", "retry-after", "retry-after-ms", "x-should-retry", "x-request-id")


class BoundedClient(openai.DefaultAsyncHttpxClient):
    """HTTP client that reads complete responses within limits, uses the system's proxies, and ignores redirects."""

    def __init__(self, seconds: float):
        super().__init__(timeout=seconds, follow_redirects=False, headers={"Accept-Encoding": "identity"})
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
        raise openai.OpenAIError(f"the response is packed as {packed[:80]!r}, which was not requested")
    try:
        content = zlib.decompressobj(wbits=47).decompress(bytes(found), MOST_BYTES + 1)
    except zlib.error as error:
        raise openai.OpenAIError(f"the response cannot be unpacked ({error})") from error
    if len(content) > MOST_BYTES:
        raise _too_long()
    return content


def _too_long() -> openai.OpenAIError:
    return openai.OpenAIError(f"the response has more than {MOST_BYTES:,} bytes, which is the limit")
