"""Error numbers of the operating system: raised by it, hidden in wrappers, and looked for where there are none."""

from __future__ import annotations

import asyncio
import errno
import mmap
import os
import smtplib
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from pathlib import Path

import aiohttp
import pytest
import requests
from failure_reading import alive, codes, conclusion, conclusion_code, logged, printed
from http_reading import raised_by
from loopback import sockets

from airflow_common_ai.evidence.model import Rank, RedactedNode, Retry
from airflow_common_ai.evidence.protocols.system import os_error

Cause = Callable[[Path], object]


def loop(folder: Path) -> None:
    (folder / "a").symlink_to(folder / "b")
    (folder / "b").symlink_to(folder / "a")
    (folder / "a").read_text()


def fill_the_disk(folder: Path) -> None:
    with open("/dev/full", "wb", buffering=0) as full:
        full.write(b"x")


def make_twice(folder: Path) -> None:
    (folder / "twice").mkdir()
    (folder / "twice").mkdir()


def remove_full_folder(folder: Path) -> None:
    (folder / "full" / "inner").mkdir(parents=True)
    (folder / "full").rmdir()


def bind_twice(folder: Path) -> None:
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(first.getsockname())


def read_nothing(folder: Path) -> None:
    left, right = socket.socketpair()
    with left, right:
        left.setblocking(False)
        left.recv(1)


def write_to_closed_pipe(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        os.write(writing, b"x")
    finally:
        os.close(writing)


def run_file(folder: Path, content: bytes, mode: int) -> None:
    program = folder / "program"
    program.write_bytes(content)
    program.chmod(mode)
    subprocess.run([str(program)], check=True)


RAISED: list[tuple[Cause, str, str, Retry]] = [
    (lambda folder: (folder / "none").read_text(), "os.enoent", "resource", Retry.NO),
    (lambda folder: os.listdir(folder / "none"), "os.enoent", "resource", Retry.NO),
    (lambda folder: (folder / "none").stat(), "os.enoent", "resource", Retry.NO),
    (lambda folder: folder.read_text(), "os.eisdir", "permanent", Retry.NO),
    (lambda folder: os.listdir("/etc/passwd"), "os.enotdir", "permanent", Retry.NO),
    (lambda folder: (folder / ("x" * 300)).read_text(), "os.enametoolong", "permanent", Retry.NO),
    (loop, "os.eloop", "permanent", Retry.NO),
    (make_twice, "os.eexist", "permanent", Retry.NO),
    (remove_full_folder, "os.enotempty", "permanent", Retry.NO),
    (lambda folder: os.lseek(os.open(folder, os.O_RDONLY), -1, os.SEEK_SET), "os.einval", "permanent", Retry.NO),
    (fill_the_disk, "os.enospc", "transient", Retry.DEPENDS),
    (lambda folder: mmap.mmap(-1, 1 << 62), "os.enomem", "transient", Retry.DEPENDS),
    (bind_twice, "os.eaddrinuse", "transient", Retry.YES),
    (lambda folder: socket.socket().bind(("192.0.2.1", 0)), "os.eaddrnotavail", "transient", Retry.YES),
    (read_nothing, "os.eagain", "transient", Retry.YES),
    (write_to_closed_pipe, "os.epipe", "network", Retry.YES),
    (lambda folder: socket.socket().getpeername(), "os.enotconn", "network", Retry.YES),
    (lambda folder: subprocess.run(["true", "x" * 10_000_000], check=True), "os.e2big", "permanent", Retry.NO),
    (lambda folder: run_file(folder, b"\x7fELF not really", 0o755), "os.enoexec", "permanent", Retry.NO),
]


@pytest.mark.parametrize(("cause", "code", "category", "retry"), RAISED)
def test_what_the_operating_system_raises_is_read_alive_and_from_its_log(
    cause: Cause, code: str, category: str, retry: Retry, tmp_path: Path
) -> None:
    error = raised_by(lambda: cause(tmp_path))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry, signal.rank) == (code, category, retry, Rank.OS)


def test_every_row_is_found_by_name_by_number_and_in_words() -> None:
    for name, signal in os_error.SIGNALS.items():
        number = getattr(errno, name)
        error = OSError(number, os.strerror(number), "/some/file")
        assert conclusion(alive(error)) == signal
        assert os_error.read_words(f"failed: [Errno {number}] {os.strerror(number)}: '/some/file'") == (signal,)
        assert os_error.read_words(f"connect {name} 127.0.0.1:80") == (signal,)


def test_every_no_is_final_and_every_depends_has_a_cap() -> None:
    for signal in os_error.SIGNALS.values():
        assert (signal.max_attempts is not None) == (signal.retry is Retry.DEPENDS)


# Starting a program


def test_a_missing_program_is_no_missing_data() -> None:
    for start in (
        lambda: subprocess.run(["no-such-program-here"], check=True),
        lambda: subprocess.Popen("/no/such/program"),
        lambda: os.execvp("no-such-program-here", ["x"]),
    ):
        signal = conclusion(alive(raised_by(start)))
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == ("os.exec_enoent", "permanent", Retry.NO)


def test_a_missing_working_directory_is_named_beside_the_program(tmp_path: Path) -> None:
    signal = conclusion(alive(raised_by(lambda: subprocess.run([sys.executable], cwd=tmp_path / "none", check=True))))
    assert signal is not None
    assert "working directory" in signal.sentence


def test_a_program_that_is_not_executable_is_no_matter_of_credentials(tmp_path: Path) -> None:
    signal = conclusion(alive(raised_by(lambda: run_file(tmp_path, b"#!/bin/sh\n", 0o644))))
    assert signal is not None
    assert (signal.code, signal.category, signal.retry) == ("os.exec_eacces", "permanent", Retry.NO)


# A socket's file


def test_a_missing_socket_of_a_local_daemon_is_tried_a_few_times_more(tmp_path: Path) -> None:
    async def ask() -> None:
        async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(tmp_path / "docker.sock"))) as session:
            await session.get("http://docker/version")

    error = raised_by(lambda: asyncio.run(ask()))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.retry, signal.max_attempts) == ("os.enoent_socket", Retry.DEPENDS, 3)


def test_a_missing_file_of_a_remote_server_is_not_taken_for_a_socket() -> None:
    # paramiko makes the error itself, with the server's words and without the path.
    assert conclusion_code(alive(OSError(errno.ENOENT, "No such file"))) == "os.enoent"
    assert conclusion_code(printed("builtins.FileNotFoundError", "[Errno 2] No such file")) == "os.enoent"


# Numbers that are no error number of the system


@pytest.mark.parametrize(
    "error",
    [
        requests.HTTPError("404 Client Error"),
        requests.ConnectionError("first", "second"),  # OSError's constructor takes the first for an errno
        urllib.error.HTTPError("http://127.0.0.1/", 404, "Not Found", Message(), None),
        urllib.error.URLError("no host given"),
        smtplib.SMTPAuthenticationError(535, b"no"),
        smtplib.SMTPServerDisconnected("gone"),
        aiohttp.ClientOSError(),
        OSError("just words"),
        OSError(True, "a truth"),
        OSError(0, "Error"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_oserror_without_a_number_has_no_number(error: OSError) -> None:
    assert os_error.probe(error) == {}


def test_a_number_on_a_class_that_is_no_oserror_is_a_drivers_own() -> None:
    class DriverError(Exception):
        errno = 2

    assert os_error.probe(DriverError("(2, 'x')")) == {}


def test_a_number_that_is_no_plain_number_is_not_believed() -> None:
    class Number(int):
        pass

    assert os_error.probe(OSError(Number(2), "x")) == {}


def test_the_name_counts_where_the_number_means_something_else_on_the_recording_machine() -> None:
    recorded_on_macos = RedactedNode(
        "builtins.ConnectionRefusedError", facts={"os.errno": 61, "os.error": "ECONNREFUSED"}
    )
    assert [signal.code for signal in os_error.read(recorded_on_macos)] == ["os.econnrefused"]
    no_data_on_linux = RedactedNode("builtins.OSError", facts={"os.errno": 61, "os.error": "ENODATA"})
    assert list(os_error.read(no_data_on_linux)) == []


def test_a_question_to_the_system_that_was_answered_no_does_not_fail_what_came_after_it(tmp_path: Path) -> None:
    def cause() -> None:
        try:
            tmp_path.mkdir()
        except FileExistsError:
            with sockets.refused_port() as port:
                socket.create_connection(("127.0.0.1", port))

    def start() -> None:
        try:
            subprocess.run(["no-such-program-here"], check=True)
        except FileNotFoundError:
            cause()

    for failing in (cause, start):
        error = raised_by(failing)
        assert [conclusion_code(alive(error)), conclusion_code(logged(error))] == ["os.econnrefused"] * 2


# Words


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))", "os.econnreset"),
        ("('Connection aborted.', PermissionError(13, 'Permission denied'))", "os.eacces"),
        ("(2003, \"Can't connect to MySQL server on 'db' ([Errno 111] Connection refused)\")", "os.econnrefused"),
        ("error sending request: tcp connect error: Connection refused (os error 111)", "os.econnrefused"),
        ("Error writing file '/tmp/x' (OS errno 28 - No space left on device)", "os.enospc"),
        ("[Errno 61] Connection refused", "os.econnrefused"),
        ("connect ECONNREFUSED 127.0.0.1:5432", "os.econnrefused"),
        ("ENOSPC: no space left on device, write", "os.enospc"),
        ("Cannot connect to host db:1 [Connect call failed ('127.0.0.1', 1)] [Errno 111]", "os.econnrefused"),
        ("<urlopen error [Errno 110] Connection timed out>", "os.etimedout"),
        ("[Errno 2] No such file or directory: '/data/in.csv'", "os.enoent"),
        ("Connection aborted (Caused by FileNotFoundError(2, 'No such file or directory'))", "os.enoent_socket"),
    ],
)  # fmt: skip
def test_wrappers_keep_the_number_in_their_words(message: str, code: str) -> None:
    assert codes(printed("client.SomeError", message), "os", "dns", "tls") == [code]


def test_attempts_at_several_addresses_that_all_failed_are_one_network_failure() -> None:
    message = "Multiple exceptions: [Errno 111] Connect call failed ('::1', 1), [Errno 101] Network is unreachable"
    assert codes(printed("builtins.OSError", message), "os") == ["os.econnrefused", "os.enetunreach"]


def test_numbers_that_contradict_each_other_are_hints() -> None:
    message = "[Errno 2] No such file or directory: 'a'; then [Errno 111] Connection refused"
    assert codes(printed("client.SomeError", message), "os") == ["(os.enoent)", "(os.econnrefused)"]


def test_a_number_in_a_long_log_is_a_hint() -> None:
    log = "\n".join([*(f"line {number}" for number in range(20)), "OSError: [Errno 28] No space left on device"])
    assert codes(printed("airflow.exceptions.AirflowException", log), "os") == ["(os.enospc)"]


@pytest.mark.parametrize(
    "message",
    [
        "[Errno 9999] x",
        "[Errno 404] not found",
        "error 111",
        "Errno 111",
        "KeyError(2, 'x')",
        "SSLError(1, '[SSL: X]')",
        "SSLEOFError(8, 'EOF')",
        "gaierror(8, 'x')",
        "/data/ECONNREFUSED_report.csv",
        "os error 2",
    ],
)
def test_near_misses_are_no_error_number(message: str) -> None:
    assert os_error.read_words(message) == ()


def test_a_file_named_like_an_error_does_not_outweigh_the_errors_own_number(tmp_path: Path) -> None:
    error = raised_by(lambda: (tmp_path / "EAI_AGAIN ECONNREFUSED [SSL: WRONG_VERSION_NUMBER]").read_text())
    assert codes(alive(error), "os", "dns", "tls") == ["os.enoent"]


@pytest.mark.parametrize("facts", [{"os.errno": "111"}, {"os.errno": 1.5}, {"os.errno": True}, {"os.errno": -1}])
def test_a_damaged_recording_says_nothing_and_breaks_nothing(facts: dict[str, str | int | float | bool]) -> None:
    assert list(os_error.read(RedactedNode("builtins.OSError", facts=facts))) == []
