"""Servers on loopback, for tests."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from werkzeug.serving import WSGIRequestHandler, make_server


class Handler(WSGIRequestHandler):
    wbufsize = -1  # head and body in one packet

    def connection_dropped(self, error: BaseException, environ: Any = None) -> None:
        self.close_connection = True


@contextmanager
def serving(application: Callable[..., Any]) -> Iterator[str]:
    """Serve a WSGI application, which hangs up if it raises a ConnectionError; yield the URL."""
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
