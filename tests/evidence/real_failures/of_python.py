"""What Python's own library raises."""

# ruff: noqa: SIM115 - what is opened here is never open

from __future__ import annotations

import asyncio
import contextlib
import ftplib
import gzip
import importlib
import io
import json
import os
import smtplib
import socket
import sqlite3
import subprocess
import sys
import tarfile
import urllib.request
import xml.etree.ElementTree
import zipfile
from datetime import datetime
from pathlib import Path

from loopback import sockets
from loopback.http_server import Answer

from real_failures import Failures, Try

FAILURES = Failures()
row = FAILURES.row

row("builtins", "text is no integer", lambda t: int(t.name))
row("builtins", "text is no float", lambda t: float(t.name))
row("builtins", "text is no timestamp", lambda t: datetime.fromisoformat(t.name))
row("builtins", "timestamp in another format", lambda t: datetime.strptime(t.moment, "%d.%m.%Y"))
row("builtins", "key is missing", lambda t: {}[t.id])
row("builtins", "attribute is missing", lambda t: getattr(t.number, t.name))
row("builtins", "module is missing", lambda t: importlib.import_module(f"absent_{t.name}"))
row("builtins", "byte is no UTF-8", lambda t: (b"x" * t.number + b"\xff").decode())
row("builtins", "character is no ASCII", lambda t: ("x" * t.number + "é").encode("ascii"))
row("builtins", "wrong number of values", lambda t: dict([range(t.number)]))


row("os", "file is missing", lambda t: open(t.folder / t.name))
row("os", "file is a folder", lambda t: open(t.folder))
row("os", "folder is there already", lambda t: os.mkdir(t.folder))
row("os", "folder is not empty", lambda t: os.rmdir(_file(t).parent))
row("os", "part of the path is a file", lambda t: open(_file(t) / t.name))
row("os", "path is too long", lambda t: open(t.folder / (t.name * 100)))

row("socket", "connection refused", lambda t: socket.create_connection(("127.0.0.1", t.refused_port)))
row("socket", "name is no address", lambda t: socket.getaddrinfo(t.name, t.number, flags=socket.AI_NUMERICHOST))
row("socket", "service is unknown", lambda t: socket.getaddrinfo("127.0.0.1", t.name))
row("socket", "port is in use", lambda t: socket.create_server(("127.0.0.1", t.http.port), reuse_port=False))
row("socket", "silence", lambda t: _talk_to(t, sockets.stay_silent).recv(1))
row("socket", "connection reset", lambda t: _ask(_talk_to(t, sockets.reset)))


def _file(t: Try) -> Path:
    path = t.folder / f"{t.name}.csv"
    path.write_text("x" * t.number)
    return path


def _talk_to(t: Try, conversation: sockets.Conversation) -> socket.socket:
    port = t.closing.enter_context(sockets.serve(conversation))
    connection = t.closing.enter_context(socket.create_connection(("127.0.0.1", port)))
    connection.settimeout(0.1)
    return connection


def _ask(connection: socket.socket) -> bytes:
    connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
    return connection.recv(1)


row("asyncio", "group of one refused connection", lambda t: asyncio.run(_connect_in_group(t.refused_port)))
row("asyncio", "group of a missing file", lambda t: asyncio.run(_open_in_group(t)))
row("asyncio", "time limit", lambda t: asyncio.run(_wait_too_long(t)))


async def _connect_in_group(port: int) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.open_connection("127.0.0.1", port))


async def _open_in_group(t: Try) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(open, t.folder / t.name))


async def _wait_too_long(t: Try) -> None:
    try:
        await asyncio.wait_for(asyncio.sleep(t.number), timeout=0.001)
    except TimeoutError as error:
        raise RuntimeError(f"{t.id} did not finish in time") from error


row("json", "empty text", lambda t: json.loads(" " * t.number))
row("json", "text breaks off", lambda t: json.loads(f'{{"{t.name}": "{t.id}'))
row("json", "two values", lambda t: json.loads(f'{{"{t.name}": 1}} {t.number}'))
row("json", "comma is missing", lambda t: json.loads(f'{{"{t.name}": {t.number} "x": 1}}'))
row("json", "type has no JSON", lambda t: json.dumps({t.name: {1}}))

row("zipfile", "not a zip file", lambda t: zipfile.ZipFile(_file(t)))
row("zipfile", "member is missing", lambda t: _archive(t).read(t.name))
row("tarfile", "not a tar file", lambda t: tarfile.open(_file(t), "r:gz"))
row("gzip", "stream breaks off", lambda t: gzip.decompress(gzip.compress(t.id.encode() * t.number)[:-9]))
row("gzip", "not a gzip file", lambda t: gzip.decompress(t.id.encode()))
row("xml", "tag is not closed", lambda t: xml.etree.ElementTree.fromstring(f"<a>{t.name}"))
row("xml", "tags cross", lambda t: xml.etree.ElementTree.fromstring("\n" * t.number + "<a><b></a></b>"))


def _archive(t: Try) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(io.BytesIO(), "w")
    archive.writestr("other", t.id)
    return archive


def _python(t: Try, code: str) -> None:
    script = t.folder / f"{t.name}.py"
    script.write_text(f"import os, sys\n{code}")
    # -S -E: nothing is needed but a process that ends in a certain way, soon.
    subprocess.run([sys.executable, "-SE", script, f"--run={t.id}"], check=True, capture_output=True, timeout=20)


row("subprocess", "exit code 3", lambda t: _python(t, "sys.exit(3)"))
row("subprocess", "exit code 4", lambda t: _python(t, "sys.exit(4)"))
row("subprocess", "it printed no space", lambda t: _python(t, "sys.exit(sys.argv[0] + ': No space left on device')"))
row("subprocess", "it printed no rights", lambda t: _python(t, "sys.exit(sys.argv[0] + ': Permission denied')"))
row("subprocess", "killed", lambda t: _python(t, "os.kill(os.getpid(), 9)"))
row("subprocess", "terminated", lambda t: _python(t, "os.kill(os.getpid(), 15)"))
row("subprocess", "program is missing", lambda t: subprocess.run([t.folder / t.name]))
row("subprocess", "time limit", lambda t: subprocess.run(["sleep", "9"], timeout=0.05 + t.number / 1_000_000))


def _sqlite(t: Try, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        for statement in statements:
            database.execute(statement.format(table=f"t_{t.number}", name=t.name, number=t.number))


row("sqlite3", "table is missing", lambda t: _sqlite(t, "SELECT 1 FROM {table}"))
row("sqlite3", "column is missing", lambda t: _sqlite(t, "SELECT c_{number}"))
row("sqlite3", "function is missing", lambda t: _sqlite(t, "SELECT f_{number}()"))
row("sqlite3", "syntax", lambda t: _sqlite(t, "SELECT * FROM '{name}' {number}"))
row("sqlite3", "token", lambda t: _sqlite(t, "SELECT '{name}"))
row(
    "sqlite3",
    "unique key",
    lambda t: _sqlite(t, "CREATE TABLE {table} (k UNIQUE)", *["INSERT INTO {table} VALUES (1)"] * 2),
)
row(
    "sqlite3",
    "not null",
    lambda t: _sqlite(t, "CREATE TABLE {table} (k NOT NULL)", "INSERT INTO {table} VALUES (NULL)"),
)
row("sqlite3", "wrong number of bindings", lambda t: _sqlite(t, "SELECT " + "?, " * (t.number % 10) + "?"))

row("urllib", "status 404", lambda t: urllib.request.urlopen(t.url(Answer(404))))
row(
    "urllib", "status 503", lambda t: urllib.request.urlopen(t.url(Answer(503, headers={"Retry-After": f"{t.number}"})))
)
row("urllib", "connection refused", lambda t: urllib.request.urlopen(t.refused_url))
row("urllib", "no URL at all", lambda t: urllib.request.urlopen(t.name))
row("urllib", "hung up", lambda t: urllib.request.urlopen(t.url(Answer(raw=b""))))
row("urllib", "garbled answer", lambda t: urllib.request.urlopen(t.url(Answer(raw=t.id.encode()))))


def _replying(t: Try, *replies: str) -> int:
    """Serve a protocol of lines: a greeting, then one reply a line, the last one forever."""

    def conversation(connection: socket.socket) -> None:
        lines = connection.makefile("rwb")
        for reply in (*replies, *[replies[-1]] * 20):
            lines.write(f"{reply}\r\n".encode())
            lines.flush()
            if not lines.readline():
                return

    return t.closing.enter_context(sockets.serve(conversation))


def _mail(t: Try, *replies: str) -> None:
    with smtplib.SMTP("127.0.0.1", _replying(t, f"220 {t.name}", "250 hello", *replies), "here") as server:
        server.sendmail("from@example.com", [f"{t.name}@example.com"], "text")


row("smtplib", "recipient is unknown", lambda t: _mail(t, "250 ok", f"550 5.1.1 <{t.id}> no such user here"))
row("smtplib", "mailbox is full", lambda t: _mail(t, "250 ok", f"452 4.2.2 <{t.id}> mailbox full"))
row("smtplib", "sender is refused", lambda t: _mail(t, f"553 5.7.1 {t.id} sender rejected"))
row("smtplib", "service is closing", lambda t: smtplib.SMTP("127.0.0.1", _replying(t, f"421 {t.id} try again later")))


def _ftp(t: Try, *replies: str) -> None:
    with ftplib.FTP() as server:
        server.connect("127.0.0.1", _replying(t, f"220 {t.name}", *replies), timeout=5)
        server.login("user", t.id)
        server.sendcmd(f"SIZE {t.name}")


row("ftplib", "login is refused", lambda t: _ftp(t, f"530 Login incorrect, session {t.number}"))
row("ftplib", "file is missing", lambda t: _ftp(t, "230 welcome", f"550 {t.folder}/{t.name}.csv: No such file"))
row("ftplib", "service is busy", lambda t: _ftp(t, "230 welcome", f"450 {t.folder}/{t.name}.csv: File busy"))
