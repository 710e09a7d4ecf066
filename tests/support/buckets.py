"""An S3 server in this process, for tests: buckets of one's own, and requests that fail as they are told."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Fault = Callable[[str, str], bytes | None]
"""Gets a request's method and path; returns a status line to fail with, such as b"500 Down", or None."""


@dataclass
class Bucket:
    url: str
    environment: dict[str, str]
    fault: Fault = lambda method, path: None
    requests: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def serving() -> Iterator[Bucket]:
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    application: Any = DomainDispatcherApplication(create_backend_app)
    bucket = Bucket("s3://bucket", {})

    def answer(environ: dict[str, Any], start: Any) -> Any:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        bucket.requests.append((method, path))
        status = bucket.fault(method, path)
        if status is not None:
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start(status.decode(), [("Content-Type", "text/plain"), ("Content-Length", "0")])
            return [b""]
        return application(environ, start)

    server = make_server("127.0.0.1", 0, answer, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    bucket.environment = {
        "AWS_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in bucket.environment}
    os.environ.update(bucket.environment)
    try:
        _request(server.server_port, "PUT", "/bucket")
        yield bucket
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        server.shutdown()


def _request(port: int, method: str, path: str) -> None:
    from http.client import HTTPConnection

    connection = HTTPConnection("127.0.0.1", port)
    connection.request(method, path)
    assert connection.getresponse().status == 200
    connection.close()
