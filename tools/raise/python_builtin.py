# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==46.0.3"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What the standard library raises: files, data, sockets, processes, TLS, archives, asyncio, urllib."""

from __future__ import annotations

import asyncio
import bz2
import codecs
import concurrent.futures
import configparser
import contextlib
import csv
import decimal
import fcntl
import gzip
import http.client
import importlib
import io
import json
import lzma
import os
import pickle
import queue
import resource
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tarfile
import threading
import time
import tomllib
import urllib.request
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
import zoneinfo
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, http_server, json_answer
from servers.port import refused_port
from servers.tls import HttpsServer, https_server

family = Family(
    __file__,
    "python",
    servers={
        "http": http_server,
        "https": https_server(),
        "expired": https_server(valid_days=(-30, -2)),
        "other_host": https_server("db.internal.example"),
        "self_signed": https_server(is_self_signed=True),
    },
)
NOBODY = 65534


# Files.
@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Without the rights of root, whom nothing is forbidden."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextlib.contextmanager
def limited(what: int, most: int) -> Iterator[None]:
    """With a lower limit of the operating system on this process."""
    before = resource.getrlimit(what)
    resource.setrlimit(what, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(what, before)


@family.case("a file that is not there", raises="FileNotFoundError")
def _() -> None:
    Path("exports/2026-01-31/orders.csv").read_text()


@family.case("a file that is named like a timeout and not there", raises="FileNotFoundError", tags=[WRONG_READING])
def _() -> None:
    Path("exports/connection_timeout_retries.csv").read_text()


@family.case("a file that nobody may read", raises="PermissionError")
def _() -> None:
    path = Path("orders.csv")
    path.touch(mode=0)
    Path.cwd().chmod(0o755)
    with as_nobody():
        path.read_text()


@family.case("a folder where a file was meant", raises="IsADirectoryError")
def _() -> None:
    Path("exports").mkdir()
    Path("exports").read_text()


@family.case("a file where a folder was meant", raises="NotADirectoryError")
def _() -> None:
    Path("exports").touch()
    Path("exports/orders.csv").read_text()


@family.case("a folder that is there already", raises="FileExistsError")
def _() -> None:
    Path("exports").mkdir()
    Path("exports").mkdir()


@family.case("a folder that is not empty", raises="OSError")
def _() -> None:
    Path("exports/day").mkdir(parents=True)
    Path("exports").rmdir()


@family.case("a disk that is full", raises="OSError")
def _() -> None:
    Path("/dev/full").write_text("x" * 100_000)


@family.case("a file over the limit on its size", raises="OSError")
def _() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with limited(resource.RLIMIT_FSIZE, 1024):
        Path("export.bin").write_bytes(b"x" * 4096)


@family.case("too many open files", raises="OSError")
def _() -> None:
    with contextlib.ExitStack() as files, limited(resource.RLIMIT_NOFILE, 64):
        for _ in range(100):
            files.enter_context(Path("/dev/null").open())


@family.case("a name that is too long", raises="OSError")
def _() -> None:
    Path("x" * 300).touch()


@family.case("links that go in circles", raises="OSError")
def _() -> None:
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    Path("a").read_text()


@family.case("a lock that somebody else holds", raises="BlockingIOError")
def _() -> None:
    with Path("job.lock").open("w") as first, Path("job.lock").open("w") as second:
        fcntl.flock(first, fcntl.LOCK_EX)
        fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)


@family.case("a program that is being written", raises="OSError", tags=[WRONG_READING])
def _() -> None:
    program = Path("transform")
    shutil.copy("/bin/true", program)
    with program.open("ab"):
        subprocess.run([program.absolute()], check=True)


@family.case("a file that was closed", raises="ValueError")
def _() -> None:
    file = Path("orders.csv").open("w")  # noqa: SIM115 - it is closed too early, which is the case
    file.close()
    file.write("late")


@family.case("a pipe that nobody reads", raises="BrokenPipeError")
def _() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb", buffering=0) as pipe:
        pipe.write(b"rows")


# Data.
for title, text in {
    "JSON cut off": '{"orders": [{"id": 1}, {"id"',
    "JSON that is empty": "",
    "JSON that is HTML": "<html><body>502 Bad Gateway</body></html>",
    "JSON with a wrong quote": "{'id': 1}",
    "JSON with something behind it": '{"id": 1}{"id": 2}',
    "JSON with a control character": '{"name": "a\tb"}',
    "JSON with a byte order mark": "\ufeff{}",
}.items():
    tags = [WRONG_READING] if text.startswith("<html") else []
    family.case(title, raises="JSONDecodeError", tags=tags)(lambda text=text: json.loads(text))


def csv_rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text), strict=True))


def unpickled_of_another_version() -> None:
    pickle.loads(b"cairflow_models_v1\nOrder\n.")


for title, raises, function in (
    ("CSV with a field over the limit", "Error", lambda: csv_rows("x" * 200_000)),
    ("CSV with a quote that never ends", "Error", lambda: csv_rows('a,"b\nc,d')),
    ("CSV without a column", "KeyError", lambda: [row["amount"] for row in csv.DictReader(io.StringIO("id\n1\n"))]),
    ("bytes that are not UTF-8", "UnicodeDecodeError", lambda: "Müller".encode("latin-1").decode()),
    ("a letter that Latin-1 has not", "UnicodeEncodeError", lambda: "Łódź".encode("latin-1")),
    ("a number that is a word", "ValueError", lambda: int("n/a")),
    ("an amount that is no decimal", "InvalidOperation", lambda: decimal.Decimal("12,50")),
    ("a date in another form", "ValueError", lambda: datetime.strptime("31/01/2026", "%Y-%m-%d")),
    ("a date that does not exist", "ValueError", lambda: datetime.fromisoformat("2026-02-30")),
    ("a time zone that nobody knows", "ZoneInfoNotFoundError", lambda: zoneinfo.ZoneInfo("Europe/Atlantis")),
    ("a division by zero", "ZeroDivisionError", lambda: 100 / len([])),
    ("a key that is missing", "KeyError", lambda: {"id": 1}["customer_id"]),
    ("an index that is too large", "IndexError", lambda: [][0]),
    ("an attribute of None", "AttributeError", lambda: None.strip()),  # type: ignore[attr-defined]
    ("a number added to a text", "TypeError", lambda: "total: " + 3),  # type: ignore[operator]
    ("an encoding that nobody knows", "LookupError", lambda: codecs.decode(b"x", "utf-99")),
    ("a struct that is too short", "error", lambda: struct.unpack("<Q", b"1234")),
    ("XML cut off", "ParseError", lambda: ElementTree.fromstring("<orders><order>")),
    ("TOML with a mistake", "TOMLDecodeError", lambda: tomllib.loads("[job\nretries = 3")),
    ("INI without a section", "MissingSectionHeaderError", lambda: configparser.ConfigParser().read_string("a = 1")),
    ("INI without an option", "NoOptionError", lambda: configparser.ConfigParser().get("DEFAULT", "bucket")),
    ("a pickle that is cut off", "UnpicklingError", lambda: pickle.loads(pickle.dumps([1, 2, 3] * 50)[:-20])),
    ("a pickle of a module that is gone", "ModuleNotFoundError", unpickled_of_another_version),
    ("a module that is not installed", "ModuleNotFoundError", lambda: importlib.import_module("acme_pipeline.orders")),
    ("a name that a module has not", "ImportError", lambda: exec("from json import loadz")),
    ("a recursion without end", "RecursionError", lambda: (nest := lambda n: nest(n + 1))(0)),
    ("more memory than there is", "MemoryError", lambda: bytearray(1 << 62)),
    ("an integer of too many digits", "ValueError", lambda: int("9" * 5000)),
    ("a check that fails", "AssertionError", lambda: exec("assert rows > 0, 'no rows were loaded'", {"rows": 0})),
    ("an exit with a message", "SystemExit", lambda: sys.exit("input folder is empty")),
    ("an exit with a code", "SystemExit", lambda: sys.exit(2)),
    ("something that is not implemented", "NotImplementedError", lambda: codecs.Codec().encode("x")),
    ("a syntax error in an expression", "SyntaxError", lambda: compile("amount >", "<rule>", "eval")),
):
    family.case(title, raises=raises)(function)


# Archives.
def broken_zip(damage: Callable[[bytearray], None]) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("orders.csv", "id,amount\n" * 500)
    data = bytearray(file.getvalue())
    damage(data)
    return io.BytesIO(bytes(data))


def wrong_checksum(data: bytearray) -> None:
    for at in (14, data.index(b"PK\x01\x02") + 16):  # in the local header and in the directory
        data[at : at + 4] = b"\0\0\0\0"


def tar_of(data: bytes) -> None:
    with tarfile.open(fileobj=io.BytesIO(data)):
        pass


def cut_in_half(data: bytearray) -> None:
    del data[len(data) // 2 :]


for title, raises, function in (
    ("a zip that is none", "BadZipFile", lambda: zipfile.ZipFile(io.BytesIO(b"<html>Service Unavailable</html>"))),
    ("a zip cut off", "BadZipFile", lambda: zipfile.ZipFile(broken_zip(cut_in_half))),
    (
        "a zip with a wrong checksum",
        "BadZipFile",
        lambda: zipfile.ZipFile(broken_zip(wrong_checksum)).read("orders.csv"),
    ),
    ("a zip without a member", "KeyError", lambda: zipfile.ZipFile(broken_zip(len)).read("refunds.csv")),
    ("a tar that is none", "ReadError", lambda: tar_of(b"x" * 1024)),
    ("a tar that is empty", "ReadError", lambda: tar_of(b"")),
    ("gzip that is none", "BadGzipFile", lambda: gzip.decompress(b"id,amount\n")),
    ("gzip cut off", "EOFError", lambda: gzip.decompress(gzip.compress(b"x" * 1000)[:-12])),
    ("gzip with a wrong checksum", "BadGzipFile", lambda: gzip.decompress(gzip.compress(b"x")[:-8] + b"\0" * 8)),
    ("zlib data that is none", "error", lambda: zlib.decompress(b"plain text")),
    ("bzip2 data that is none", "OSError", lambda: bz2.decompress(b"plain text, no bzip2")),
    ("xz data that is none", "LZMAError", lambda: lzma.decompress(b"plain text, no xz")),
):
    family.case(title, raises=raises)(function)


# Sockets.
@family.case("a connection that is refused", raises="ConnectionRefusedError")
def _() -> None:
    with refused_port() as port:
        socket.create_connection(("127.0.0.1", port), timeout=5)


@family.case("a connection that is reset", raises="ConnectionResetError")
def _(http: HttpServer) -> None:
    http.answers(Answer(is_reset=True))
    with socket.create_connection(("127.0.0.1", http.port), timeout=5) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        connection.recv(100)
        connection.recv(100)


@family.case("a connection that says nothing in time", raises="TimeoutError")
def _(http: HttpServer) -> None:
    http.answers(Answer(silent_s=5))
    with socket.create_connection(("127.0.0.1", http.port), timeout=0.2) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        connection.recv(100)


@family.case("a connection that nobody accepts in time", raises="TimeoutError")
def _() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, contextlib.ExitStack() as waiting:
        for _ in range(10):  # until the queue is full
            waiting.enter_context(socket.create_connection(listener.getsockname(), timeout=0.3))


@family.case("a port that is taken", raises="OSError")
def _() -> None:
    with socket.create_server(("127.0.0.1", 0)) as first:
        socket.create_server(first.getsockname())


@family.case("an address that is not ours", raises="OSError")
def _() -> None:
    socket.create_server(("192.0.2.1", 0))


@family.case("a socket that is not connected", raises="OSError")
def _() -> None:
    with socket.socket() as unconnected:
        unconnected.recv(10)


@family.case("a socket that was closed", raises="OSError")
def _() -> None:
    closed = socket.socket()
    closed.close()
    closed.send(b"x")


@family.case("a message over the limit of datagrams", raises="OSError")
def _() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        datagrams.sendto(b"x" * 70_000, ("127.0.0.1", 9))


@family.case("a Unix socket that is not there", raises="FileNotFoundError", tags=[WRONG_READING])
def _() -> None:
    with socket.socket(socket.AF_UNIX) as unix:
        unix.connect("postgres/.s.PGSQL.5432")


@family.case("a host name that does not exist", raises="gaierror")
def _() -> None:
    socket.getaddrinfo("warehouse.invalid", 5432)


@family.case("a service that nobody knows", raises="gaierror")
def _() -> None:
    socket.getaddrinfo("127.0.0.1", "no-such-service")


@family.case("a host name with a label that is too long", raises="UnicodeError")
def _() -> None:
    socket.getaddrinfo("x" * 70 + ".example", 80)


# TLS.
def shake_hands(server: HttpsServer, *, is_trusted: bool = True, host: str = "127.0.0.1") -> None:
    server.answers(Answer())
    context = ssl.create_default_context(cafile=str(server.root) if is_trusted else None)
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as plain:
        context.wrap_socket(plain, server_hostname=host)


@family.case("a certificate that has expired", raises="SSLCertVerificationError")
def _(expired: HttpsServer) -> None:
    shake_hands(expired)


@family.case("a certificate of an unknown authority", raises="SSLCertVerificationError")
def _(https: HttpsServer) -> None:
    shake_hands(https, is_trusted=False)


@family.case("a self-signed certificate", raises="SSLCertVerificationError")
def _(self_signed: HttpsServer) -> None:
    shake_hands(self_signed, is_trusted=False)


@family.case("a certificate for another host", raises="SSLCertVerificationError")
def _(other_host: HttpsServer) -> None:
    shake_hands(other_host)


@family.case("TLS asked of a plain server", raises="SSLError")
def _(http: HttpServer) -> None:
    http.answers(Answer(400))
    with socket.create_connection(("127.0.0.1", http.port), timeout=5) as plain:
        ssl.create_default_context().wrap_socket(plain, server_hostname="127.0.0.1")


@family.case("a TLS peer that hangs up in the handshake", raises="OSError", tags=[WRONG_READING])
def _() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=lambda: listener.accept()[0].close(), daemon=True).start()
        with socket.create_connection(listener.getsockname(), timeout=5) as plain:
            ssl.create_default_context().wrap_socket(plain, server_hostname="127.0.0.1")


@family.case("a key file that is not there", raises="FileNotFoundError")
def _() -> None:
    ssl.create_default_context().load_cert_chain("client.pem")


@family.case("a key file that is none", raises="SSLError")
def _() -> None:
    Path("client.pem").write_text("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n")
    ssl.create_default_context().load_cert_chain("client.pem")


# Processes.
def shell(script: str) -> None:
    subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True)


for title, script, tags in (
    ("a command that exits with 1", "exit 1", []),
    ("a command that prints its usage", "grep", []),
    ("a command that is not found", "load-orders --day 2026-01-31", []),
    ("a command that may not be run", "touch load; ./load", []),
    ("a command that exits with 75 to be tried again", "exit 75", [WRONG_READING]),
    ("a command that exits with 78 for its configuration", "exit 78", []),
    ("a command that exits with 137", "exit 137", []),
    ("a command that exits with 143", "exit 143", []),
    ("a command that is killed", "kill -KILL $$", []),
    ("a command that is told to end", "kill -TERM $$", []),
    ("a command that crashes", "kill -SEGV $$", []),
    ("a command that aborts", "kill -ABRT $$", []),
    ("a command that is refused a connection", "bash -c 'exec 3<>/dev/tcp/127.0.0.1/9'", [FROM_TEXT, WRONG_READING]),
    ("a command that does not find its input", "cat exports/orders.csv", [FROM_TEXT]),
    ("a command that fills the disk", "seq 100000 > /dev/full", [FROM_TEXT, WRONG_READING]),
    ("a script that goes on after a command that is not found", "fetch-orders; exit 3", [WRONG_READING]),
    ("a pipe whose first command fails unseen", "fetch-orders | gzip -t", [WRONG_READING]),
):
    family.case(title, raises="CalledProcessError", tags=tags)(lambda script=script: shell(script))


@family.case("a command that may not read its input", raises="CalledProcessError", tags=[FROM_TEXT])
def _() -> None:
    Path("orders.csv").touch(mode=0)
    Path.cwd().chmod(0o755)
    user = NOBODY if os.geteuid() == 0 else None
    subprocess.run(["cat", "orders.csv"], check=True, capture_output=True, text=True, user=user)


def python(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)


NO_ANSWER = """\
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname(), timeout=0.1).recv(1)
"""

for title, program, tags in (
    ("a Python program that cannot connect", "import socket; socket.create_connection(('127.0.0.1', 9))",
     [FROM_TEXT, WRONG_READING]),
    ("a Python program with a missing key", "{}['customer_id']", [FROM_TEXT]),
    ("a Python program without a module", "import acme_pipeline", [FROM_TEXT]),
    ("a Python program out of memory", "bytearray(1 << 62)", [FROM_TEXT]),
    ("a Python program that waits too long", NO_ANSWER, [FROM_TEXT, WRONG_READING]),
):  # fmt: skip
    family.case(title, raises="CalledProcessError", tags=tags)(lambda program=program: python(program))


@family.case("a command that takes too long", raises="TimeoutExpired")
def _() -> None:
    subprocess.run(["sleep", "5"], check=True, timeout=0.2)


@family.case("a program that is not there", raises="FileNotFoundError")
def _() -> None:
    subprocess.run(["load-orders", "--day", "2026-01-31"], check=True)


@family.case("a program that may not be run", raises="PermissionError")
def _() -> None:
    Path("load").write_text("#!/bin/sh\n")
    subprocess.run(["./load"], check=True)


@family.case("a program that is none", raises="OSError")
def _() -> None:
    Path("load").write_bytes(b"\x7fELF nonsense")
    Path("load").chmod(0o755)
    subprocess.run(["./load"], check=True)


@family.case("a worker process that is killed", raises="BrokenProcessPool", tags=[WRONG_READING])
def _() -> None:
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        pool.submit(os._exit, 9).result(timeout=10)


@family.case("a failure in a worker process", raises="ValueError")
def _() -> None:
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        pool.submit(int, "n/a").result(timeout=10)


# Threads and asyncio.
@family.case("a future that is not done in time", raises="TimeoutError")
def _() -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(time.sleep, 0.5).result(timeout=0.1)


@family.case("a queue with nothing in it", raises="Empty", tags=[WRONG_READING])
def _() -> None:
    queue.Queue().get(timeout=0.1)


@family.case("a barrier that is broken", raises="BrokenBarrierError", tags=[WRONG_READING])
def _() -> None:
    threading.Barrier(2).wait(timeout=0.1)


@family.case("a coroutine that is not done in time", raises="TimeoutError")
async def _() -> None:
    await asyncio.wait_for(asyncio.sleep(5), timeout=0.1)


@family.case("a timeout around a block", raises="TimeoutError")
async def _() -> None:
    async with asyncio.timeout(0.1):
        await asyncio.sleep(5)


@family.case("a task that is cancelled", raises="CancelledError", tags=[WRONG_READING])
async def _() -> None:
    task = asyncio.create_task(asyncio.sleep(5))
    await asyncio.sleep(0)
    task.cancel()
    await task


@family.case("a stream that ends too early", raises="IncompleteReadError")
async def _(http: HttpServer) -> None:
    http.answers(Answer(raw=b"short"))
    reader, writer = await asyncio.open_connection("127.0.0.1", http.port)
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    await reader.readexactly(100)


@family.case("a stream without the separator", raises="LimitOverrunError")
async def _(http: HttpServer) -> None:
    http.answers(Answer(200, "x" * 10_000))
    reader, writer = await asyncio.open_connection("127.0.0.1", http.port, limit=1024)
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    await reader.readuntil(b"END")


@family.case("a group of refused connections", raises="ExceptionGroup")
async def _() -> None:
    with refused_port() as port:
        async with asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(asyncio.open_connection("127.0.0.1", port))


@family.case("a group of a refused connection and bad data", raises="ExceptionGroup", tags=[WRONG_READING])
async def _() -> None:
    async def connect(port: int) -> None:
        socket.create_connection(("127.0.0.1", port))

    async def parse(amount: str) -> None:
        decimal.Decimal(amount)

    with refused_port() as port:
        async with asyncio.TaskGroup() as group:
            group.create_task(connect(port))
            group.create_task(parse("12,50"))


@family.case("an event loop that is closed", raises="RuntimeError")
def _() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    loop.call_soon(print)


# urllib and http.client.
def fetch(url: str, **options: Any) -> bytes:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {CANARY}"})
    with urllib.request.urlopen(request, timeout=1, **options) as answer:
        return bytes(answer.read())


for title, answer, raises, tags in (
    ("urllib meets 404", Answer(404), "HTTPError", []),
    ("urllib meets 401", Answer(401, headers={"WWW-Authenticate": "Bearer"}), "HTTPError", []),
    ("urllib meets 500", Answer(500), "HTTPError", []),
    ("urllib meets 503 with Retry-After", Answer(503, headers={"Retry-After": "20"}), "HTTPError", []),
    ("urllib meets 429 with a reason of its own", Answer(429, reason="Slow Down"), "HTTPError", []),
    ("urllib meets 403 that is a rate limit",
     json_answer(403, {"error": {"errors": [{"reason": "rateLimitExceeded"}]}}), "HTTPError", [WRONG_READING]),
    ("urllib meets redirects without end", Answer(302, headers={"Location": "/"}), "HTTPError", [WRONG_READING]),
    ("urllib meets a body that is cut off", Answer(200, "x" * 100, cut_after_bytes=10), "IncompleteRead", []),
    ("urllib meets silence", Answer(silent_s=5), "TimeoutError", []),
    ("urllib meets a connection that is closed", Answer(raw=b""), "RemoteDisconnected", []),
    ("urllib meets what is not HTTP", Answer(raw=b"220 mail ESMTP\r\n"), "BadStatusLine", []),
    ("urllib meets a reset", Answer(is_reset=True), "ConnectionResetError", []),
):  # fmt: skip
    family.case(title, raises=raises, tags=tags)(lambda http, answer=answer: fetch(http.answers(answer) + "/"))


@family.case("urllib is refused", raises="URLError")
def _() -> None:
    with refused_port() as port:
        fetch(f"http://127.0.0.1:{port}/")


@family.case("urllib does not find a host", raises="URLError")
def _() -> None:
    fetch("http://orders.invalid/")


@family.case("urllib does not trust a certificate", raises="URLError")
def _(https: HttpsServer) -> None:
    fetch(https.answers(Answer()))


@family.case("urllib meets a scheme that it does not know", raises="URLError")
def _() -> None:
    fetch("s3://bucket/orders.csv")


@family.case("urllib meets a URL without a scheme", raises="ValueError")
def _() -> None:
    fetch("orders.example/v1")


@family.case("http.client meets a space in a URL", raises="InvalidURL")
def _(http: HttpServer) -> None:
    http.answers(Answer())
    http_client = http_connection(http)
    http_client.request("GET", "/v1/orders of today")


@family.case("http.client is asked twice at once", raises="CannotSendRequest", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    http.answers(Answer(silent_s=1))
    http_client = http_connection(http)
    http_client.request("GET", "/")
    http_client.request("GET", "/")


def http_connection(server: HttpServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)


# One failure said in the words of another.
@family.case("a reset that is called a bad value", raises="ValueError", tags=[WRONG_READING])
def _() -> None:
    try:
        with refused_port() as port:
            socket.create_connection(("127.0.0.1", port))
    except OSError as error:
        raise ValueError("could not load the orders") from error


@family.case("a missing setting that is called a runtime error", raises="RuntimeError", tags=[WRONG_READING])
def _() -> None:
    try:
        os.environ["ORDERS_BUCKET"]
    except KeyError:
        raise RuntimeError("bad configuration")  # noqa: B904 - as many tasks do it


@family.case("a failure while cleaning up after a timeout", raises="FileNotFoundError", tags=[WRONG_READING])
def _() -> None:
    try:
        subprocess.run(["sleep", "5"], check=True, timeout=0.2)
    finally:
        Path("export.part").unlink()


@family.case("a failure whose reason was cut off", raises="RuntimeError", tags=[WRONG_READING])
def _() -> None:
    try:
        Path("/dev/full").write_text("x" * 100_000)
    except OSError:
        raise RuntimeError("export failed") from None


@family.case("a connection error that is only words", raises="Exception", tags=[FROM_TEXT, WRONG_READING])
def _() -> None:
    try:
        with refused_port() as port:
            socket.create_connection(("127.0.0.1", port))
    except OSError as error:
        text = f"upload failed: {error}"
    raise Exception(text)


@family.case("a connection string where a number was meant", raises="ValueError")
def _() -> None:
    int(f"postgresql://etl:{CANARY}@db.example:5432/sales")


@family.case("a command with its password among the arguments", raises="CalledProcessError")
def _() -> None:
    subprocess.run(["false", "--user", "etl", f"--password={CANARY}"], check=True)


if __name__ == "__main__":
    family.run()
