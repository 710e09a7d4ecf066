"""An S3 server in this process, for tests: buckets of one's own, and requests that fail as they are told."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import serving as servers

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

    application: Any = DomainDispatcherApplication(create_backend_app)
    bucket = Bucket("s3://bucket", {})

    def answer(environ: dict[str, Any], start: Any) -> Any:
        asked = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        bucket.requests.append(asked)
        status = bucket.fault(*asked)
        if status is None:
            return application(environ, start)
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        start(status.decode(), [("Content-Type", "text/plain"), ("Content-Length", "0")])
        return [b""]

    with servers.serving(answer) as url, pytest.MonkeyPatch.context() as patch:
        bucket.environment = {
            **{"AWS_ENDPOINT": url, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"},
            **{"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"},
        }
        for name, value in bucket.environment.items():
            patch.setenv(name, value)
        urllib.request.urlopen(urllib.request.Request(f"{url}/bucket", method="PUT")).close()
        yield bucket
