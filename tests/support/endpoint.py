"""An OpenAI-compatible endpoint on loopback, for tests: it answers, fails or misbehaves as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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

    def texts(self) -> list[str]:
        """The text asked in each request, without the pictures' own line."""
        return [request["messages"][0]["content"][-1]["text"] for request in self.requests]

    def pictures(self) -> list[int]:
        return [
            sum(part["type"] == "image_url" for part in request["messages"][0]["content"]) for request in self.requests
        ]

    def begin(self, request: dict[str, Any], key: str) -> Any:
        with self._lock:
            self._running += 1
            self.together = max(self.together, self._running)
            self.requests.append(request)
            self.keys.add(key)
            text = json.dumps(request["messages"])
            before = self._seen[text]
            self._seen[text] += 1
        return self.behave(request, before)

    def end(self) -> None:
        with self._lock:
            self._running -= 1


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

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            action = endpoint.begin(request, self.headers.get("Authorization", ""))
            try:
                if isinstance(action, Slow):
                    time.sleep(action.seconds)
                    action = "yes"
                self._send(action)
            except OSError:  # the client has gone
                self.close_connection = True
            finally:
                endpoint.end()

        def _send(self, action: Any) -> None:
            status, headers, kind = 200, (), "application/json"
            if isinstance(action, Endless):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.end_headers()
                self.close_connection = True
                while True:  # until the client has gone
                    self.wfile.write(action.piece)
                    endpoint.sent += len(action.piece)
                    time.sleep(action.pause)
            if isinstance(action, Status):
                status, headers = action.code, action.headers
                content = json.dumps({"error": {"message": action.message, "type": "error", "code": None}}).encode()
            elif isinstance(action, Body):
                content, kind, headers = action.content, action.kind, action.headers
            else:
                finished = (
                    action if isinstance(action, dict) else completion(action if isinstance(action, str) else "yes")
                )
                content = json.dumps(finished).encode()
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if isinstance(action, Truncated):
                content = content[: len(content) // 2]
                self.close_connection = True
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Print nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """Print nothing: a client that was killed has gone."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
