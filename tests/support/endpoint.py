"""An OpenAI-compatible endpoint on loopback, for tests: it answers, fails or misbehaves as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from serving import serving

Behave = Callable[[dict[str, Any], int], Any]
"""Gets the request and how often the same came before; returns the answer's text, or an action of those below."""


@dataclass(frozen=True)
class Status:
    code: int
    message: str = "no"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Body:
    content: bytes
    kind: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Truncated:
    """Promise more than is sent, and hang up."""


@dataclass(frozen=True)
class Slow:
    """Wait, then say something."""

    seconds: float


@dataclass(frozen=True)
class Endless:
    """Begin an answer, and send the same piece for ever."""

    piece: bytes = b" "
    pause: float = 0.0


@dataclass
class Endpoint:
    url: str = ""
    behave: Behave = lambda request, before: "yes"
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    together: int = 0  # the most requests that were there at once
    sent: int = 0  # bytes of endless answers
    _running: int = 0
    _seen: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def parts(self) -> list[list[dict[str, Any]]]:
        """The pictures and the text of each request."""
        return [request["messages"][0]["content"] for request in self.requests]

    def texts(self) -> list[str]:
        """The text asked in each request, without the pictures' own line."""
        return [parts[-1]["text"] for parts in self.parts()]

    def pictures(self) -> list[int]:
        return [sum(part["type"] == "image_url" for part in parts) for parts in self.parts()]

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        request = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        with self._lock:
            self._running += 1
            self.together = max(self.together, self._running)
            self.requests.append(request)
            self.keys.add(environ.get("HTTP_AUTHORIZATION", ""))
            text = json.dumps(request["messages"])
            self._seen[text] += 1
        action = self.behave(request, self._seen[text] - 1)
        if isinstance(action, Slow):
            time.sleep(action.seconds)
        with self._lock:
            self._running -= 1
        if isinstance(action, Endless):
            start("200 OK", [("Content-Type", "application/json")])
            return self._endless(action)
        body = action if isinstance(action, Body) else Body(json.dumps(completion("yes")).encode())
        if isinstance(action, Status):
            error = {"error": {"message": action.message, "type": "error", "code": None}}
            body = Body(json.dumps(error).encode(), headers=action.headers)
        elif isinstance(action, str | dict):
            body = Body(json.dumps(action if isinstance(action, dict) else completion(action)).encode())
        headers = [*body.headers, ("Content-Type", body.kind), ("Content-Length", str(len(body.content)))]
        start(f"{action.code if isinstance(action, Status) else 200} so", headers)
        return [body.content[: len(body.content) // 2] if isinstance(action, Truncated) else body.content]

    def _endless(self, action: Endless) -> Iterator[bytes]:
        while True:  # until the client has gone
            yield action.piece
            self.sent += len(action.piece)
            time.sleep(action.pause)


def completion(text: str | None, finish: str = "stop") -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "loopback-1",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102},
    }


@contextmanager
def running(behave: Behave = lambda request, before: "yes") -> Iterator[Endpoint]:
    endpoint = Endpoint(behave=behave)
    with serving(endpoint) as url:
        endpoint.url = f"{url}/v1"
        yield endpoint
