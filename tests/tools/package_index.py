"""A package index on loopback, and wheels to put into it."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import ssl
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def make_wheel(name: str, version: str, files: Mapping[str, bytes], tag: str = "py3-none-any") -> bytes:
    """Return a wheel that installers accept."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    about = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n".encode()
    content = {**files, f"{info}/METADATA": metadata, f"{info}/WHEEL": about}
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for path, data in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow([path, f"sha256={digest}", len(data)])
    rows.writerow([f"{info}/RECORD", "", ""])
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as wheel:
        for path, data in content.items():
            wheel.writestr(path, data)
        wheel.writestr(f"{info}/RECORD", record.getvalue())
    return archive.getvalue()


@dataclass
class PackageIndex:
    """The simple index of PEP 503: a page a package, with links to its files beside it."""

    url: str = ""
    """Where the index is, ``…/simple``."""
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """Package to file name to content."""
    redirects: dict[str, str] = field(default_factory=dict)
    is_broken_off: bool = False
    """Each answer ends before its last byte."""
    requests: list[str] = field(default_factory=list)
    """What was asked for: the path, or the whole URL if this server was used as a proxy."""
    authorizations: set[str | None] = field(default_factory=set)

    def add(self, package: str, name: str, content: bytes) -> None:
        self.files.setdefault(package, {})[name] = content

    def answer(self, path: str) -> bytes | None:
        _, _, rest = path.partition("/simple/")
        package, _, name = rest.partition("/")
        files = self.files.get(package)
        if files is None or name:
            return None if files is None else files.get(name)
        links = (
            f'<a href="{file}#sha256={hashlib.sha256(data).hexdigest()}">{file}</a>' for file, data in files.items()
        )
        return f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>".encode()


@contextmanager
def serve(index: PackageIndex, tls: ssl.SSLContext | None = None) -> Iterator[PackageIndex]:
    """Serve an index on a free port of 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.requests.append(self.path)
            index.authorizations.add(self.headers["Authorization"])
            if self.path in index.redirects:
                self.send_response(302)
                self.send_header("Location", index.redirects[self.path])
                self.end_headers()
                return
            content = index.answer(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream")
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write((content or b"")[: -1 if index.is_broken_off else None])

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    index.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}/simple"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
