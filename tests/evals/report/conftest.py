"""A real browser, and a server that whatever escapes from a report would call."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, sync_playwright

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")  # no longer: while it is open, an event loop runs in this thread
def browser() -> Iterator[Browser]:
    """The system's own Chromium, without a window; none is ever fetched."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        pytest.fail(
            f"found none of {', '.join(_PROGRAMS)}: reports are looked at in a real browser. Install one, on Debian "
            "with `apt-get install chromium`."
        )
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


class Canary:
    """Keeps the path of every request that reaches it."""

    def __init__(self) -> None:
        self.called: list[str] = []
        called = self.called

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                called.append(self.path)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def canary() -> Iterator[Canary]:
    server = Canary()
    yield server
    server.close()
