"""Error numbers of the operating system: ``OSError.errno``, and ``[Errno 111]`` in the words of a wrapper."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import Iterator
from types import FrameType, TracebackType

from airflow_common_ai.evidence.model import Edge, Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import number_in, settle
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["SIGNALS", "probe", "read", "read_words"]

_NOW, _SHORT, _MEDIUM = Wait.NOW, Wait.SHORT, Wait.MEDIUM
_ERRNO = "errno(3); whether to retry is judgement"

# Name, number on Linux, what it says. A refused connection has no cap, although a wrong port looks the same: it
# is also what every restarting service says, and the task's own retries end it soon enough.
_ROWS: tuple[tuple[str, int, Meaning], ...] = (
    # the connection
    ("ECONNRESET", 104, yes("network", _SHORT, "the other side reset the connection", _ERRNO)),
    ("EPIPE", 32, yes("network", _SHORT, "the other side closed the connection while we wrote", _ERRNO)),
    ("ECONNABORTED", 103, yes("network", _SHORT, "the connection was aborted", _ERRNO)),
    ("ETIMEDOUT", 110, yes("network", _SHORT, "the connection timed out", _ERRNO)),
    ("ECONNREFUSED", 111, yes("network", _MEDIUM, "nothing listens there: service down, or wrong port", _ERRNO)),
    ("EHOSTUNREACH", 113, yes("network", _SHORT, "no route to the host", _ERRNO)),
    ("ENETUNREACH", 101, yes("network", _SHORT, "the network is unreachable", _ERRNO)),
    ("EHOSTDOWN", 112, yes("network", _SHORT, "the host is down", _ERRNO)),
    ("ENETDOWN", 100, yes("network", _SHORT, "the network is down", _ERRNO)),
    ("ENETRESET", 102, yes("network", _SHORT, "the network dropped the connection", _ERRNO)),
    ("ENOTCONN", 107, yes("network", _SHORT, "the connection was already gone", _ERRNO)),
    ("ESHUTDOWN", 108, yes("network", _SHORT, "the connection was already shut down", _ERRNO)),
    ("EPROTO", 71, yes("network", _SHORT, "the other side broke the protocol", _ERRNO)),
    ("EREMOTEIO", 121, yes("network", _SHORT, "the remote device failed", _ERRNO)),
    # what frees up by itself
    ("EAGAIN", 11, yes("transient", _SHORT, "a resource is temporarily unavailable", _ERRNO)),
    ("EINTR", 4, yes("transient", _NOW, "a system call was interrupted", _ERRNO)),
    ("EBUSY", 16, yes("transient", _SHORT, "the device or file is busy", _ERRNO)),
    ("ETXTBSY", 26, yes("transient", _SHORT, "the program file is being written", _ERRNO)),
    ("EDEADLK", 35, yes("transient", _NOW, "a file lock would have deadlocked", _ERRNO)),
    ("ENOLCK", 37, yes("transient", _SHORT, "no file locks were available", _ERRNO)),
    ("ESTALE", 116, yes("transient", _SHORT, "a network file handle went stale", _ERRNO)),
    ("EADDRINUSE", 98, yes("transient", _SHORT, "the local port is in use", _ERRNO)),
    ("ENOBUFS", 105, yes("transient", _SHORT, "the system ran out of socket buffers", _ERRNO)),
    ("EADDRNOTAVAIL", 99, yes("transient", _SHORT, "no local port or address was available", _ERRNO)),
    ("ENOMEM", 12, depends("transient", _MEDIUM, "the worker was out of memory", _ERRNO, 3)),
    ("ENFILE", 23, depends("transient", _MEDIUM, "the worker's system has too many open files", _ERRNO, 3)),
    ("ENOSPC", 28, depends("transient", _MEDIUM, "no space left on the device", _ERRNO, 3)),
    ("EDQUOT", 122, depends("transient", _MEDIUM, "the disk quota is used up", _ERRNO)),
    ("EIO", 5, depends("transient", _SHORT, "a disk or device failed to read or write", _ERRNO, 3)),
    # limits that a person lifts; a task leaks its files anew each try, but a busy neighbour does not
    ("EMFILE", 24, depends("permanent", _MEDIUM, "the process has too many open files", _ERRNO)),
    ("EMSGSIZE", 90, no("data", "the message is longer than a datagram may be", _ERRNO)),
    ("EFBIG", 27, no("permanent", "the file would exceed the size limit", _ERRNO)),
    # permissions
    ("EACCES", 13, no("auth", "permission denied by the operating system", _ERRNO)),
    ("EPERM", 1, no("auth", "the operating system does not permit this", _ERRNO)),
    ("EROFS", 30, no("auth", "the file system is read-only", _ERRNO)),
    # what another try will not change
    ("ENOENT", 2, no("resource", "the file or directory does not exist", _ERRNO)),
    ("ENOTDIR", 20, no("permanent", "a part of the path is not a directory", _ERRNO)),
    ("EISDIR", 21, no("permanent", "the path is a directory", _ERRNO)),
    ("ENAMETOOLONG", 36, no("permanent", "the file name is too long", _ERRNO)),
    ("ELOOP", 40, no("permanent", "symbolic links go round in a circle", _ERRNO)),
    ("ENOEXEC", 8, no("permanent", "the program is not for this machine, or has no #! line", _ERRNO)),
    ("E2BIG", 7, no("permanent", "the argument list is too long", _ERRNO)),
    ("ENOSYS", 38, no("permanent", "this system does not have that function", _ERRNO)),
    ("EINVAL", 22, no("permanent", "an argument is invalid", _ERRNO)),
    ("EXDEV", 18, no("permanent", "a file cannot be moved or linked across file systems", _ERRNO)),
    ("ENODEV", 19, no("permanent", "there is no such device", _ERRNO)),
    ("ENOTTY", 25, no("permanent", "there is no terminal to ask on", _ERRNO)),
    ("EMLINK", 31, no("permanent", "the file has too many links", _ERRNO)),
    ("EILSEQ", 84, no("data", "the bytes are no text of this encoding", _ERRNO)),
    ("ENOTSOCK", 88, no("permanent", "the code uses what is no socket as one", _ERRNO)),
    ("EPROTONOSUPPORT", 93, no("permanent", "this system does not have that protocol", _ERRNO)),
    ("EOPNOTSUPP", 95, no("permanent", "the operation is not supported there", _ERRNO)),
    ("EAFNOSUPPORT", 97, no("permanent", "this system does not have that kind of address", _ERRNO)),
    ("EEXIST", 17, no("permanent", "the file already exists", _ERRNO)),
    ("ENOTEMPTY", 39, no("permanent", "the directory is not empty", _ERRNO)),
)

SIGNALS = {name: meaning.signal(f"os.{name.lower()}", Rank.OS) for name, _, meaning in _ROWS}
"""What each error number says, by its symbolic name, which is the same on every system."""

_LINUX = {number: name for name, number, *_ in _ROWS}
# A developer's macOS, as far as its numbers mean nothing on Linux that we have a row for.
_MACOS = {
    51: "ENETUNREACH",
    53: "ECONNABORTED",
    54: "ECONNRESET",
    57: "ENOTCONN",
    60: "ETIMEDOUT",
    61: "ECONNREFUSED",
    64: "EHOSTDOWN",
    65: "EHOSTUNREACH",
}
_IN_WORDS = _MACOS | _LINUX
_ALIASES = {"EDEADLOCK": "EDEADLK", "EWOULDBLOCK": "EAGAIN", "ENOTSUP": "EOPNOTSUPP"}

# Starting a program: the missing thing is the program (or its working directory), not data.
_EXEC_SIGNALS = {
    "ENOENT": no(
        "permanent", "the program to run, or its working directory, does not exist on this worker", "execve(2) ENOENT"
    ).signal("os.exec_enoent", Rank.OS),
    "EACCES": no("permanent", "the program to run is not executable", "execve(2) EACCES").signal(
        "os.exec_eacces", Rank.OS
    ),
}
_EXEC_FUNCTIONS = {("subprocess", "_execute_child"), ("os", "_execvpe")}

# Python names the path in every error about a file. Without one, where code connects, in the arguments of a client's
# error or in words about a connection, it was a socket's file: a daemon that is down or restarting, such as Docker's
# or a local database's. Elsewhere OpenSSL raises it for certificates and keys, and SFTP for files on its server: the
# class, or the number alone, says the rest.
_SOCKET_FILE_MISSING = depends(
    "network",
    _MEDIUM,
    "a local socket does not exist: its daemon is down, or the path is wrong",
    "connect(2), unix(7)",
    3,
).signal("os.enoent_socket", Rank.OS)
_CONNECTS = frozenset({"connect", "sock_connect"})
_READS_CERTIFICATES = frozenset({"load_cert_chain", "load_verify_locations"})
_NO_NAMES: frozenset[str] = frozenset()
_USED_ELSEWHERE = "being used by another process"
_SHARING_VIOLATION = yes(
    "transient",
    _SHORT,
    "another process has the file open",
    "Windows ERROR_SHARING_VIOLATION, SMB STATUS_SHARING_VIOLATION",
).signal("os.sharing_violation", Rank.OS)
"""Windows and its file shares call a file that is open elsewhere EACCES too."""
_NO_SUCH_FILE = "No such file or directory"
"""glibc's words for ``ENOENT``; libraries that make the error themselves word it otherwise."""

# An errno of their own: OpenSSL's error classes and the resolver's codes start at 1 as well.
_OTHER_NUMBERS = (ssl.SSLError, socket.gaierror, socket.herror)

_BUILT_IN_ERRORS = (
    "OSError|IOError|BlockingIOError|ChildProcessError|BrokenPipeError|ConnectionAbortedError"
    "|ConnectionRefusedError|ConnectionResetError|FileExistsError|FileNotFoundError|InterruptedError"
    "|IsADirectoryError|NotADirectoryError|PermissionError|ProcessLookupError|TimeoutError"
)
_NUMBER = re.compile(
    rf"""
      \[Errno\ (\d{{1,3}})\]                        # str() of an OSError
    | \b(?:{_BUILT_IN_ERRORS})\((\d{{1,3}}),\ ['"]    # its repr(), as in urllib3's messages
    | \(os\ error\ (\d{{1,3}})\)                    # libraries written in Rust
    | \((?:OS\ errno|Errcode:)\ (\d{{1,3}})\b        # MySQL
    """,
    re.VERBOSE,
)
_NUMBER_MARKS = ("[Errno ", "Error(", "os error ", "(OS errno ", "(Errcode: ")
_NO_SOCKET = re.compile(
    r"[Uu]nix (?:domain )?socket\b.{0,200}No such file or directory|\bon socket \"/.{0,200}No such file or directory"
    r"|through socket '/.{0,200}' \(2(?: \"No such file or directory\")?\)"
    r"|\bdial unix /.{0,200}no such file or directory",
    re.DOTALL,
)
_SOCKET_MARKS = ("nix ", "socket")
_CONNECTING = re.compile(r"(?i)connect|socket")
_NAME = re.compile(r"E(?<!\w.)[A-Z0-9]{2,14}\b")
"""As Node.js prints it, and people do."""


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the error number, its name, and whether a path was named or a program was being started."""
    if not isinstance(exception, OSError) or isinstance(exception, _OTHER_NUMBERS):
        return {}
    number = exception.errno
    if type(number) is not int or number <= 0:  # requests and SMTP errors keep None or a text there
        return {}
    facts: dict[str, Fact] = {"os.errno": number}
    if name := errno.errorcode.get(number):
        facts["os.error"] = _ALIASES.get(name, name)
    if exception.filename is not None:
        facts["os.has_path"] = True
    if _is_exec(exception.__traceback__):
        facts["os.is_exec"] = True
    if number == errno.ENOENT and exception.filename is None and _is_connect(exception.__traceback__):
        facts["os.is_connect"] = True
    return facts


def _is_exec(traceback: TracebackType | None) -> bool:
    frame = _innermost_frame(traceback)
    return frame is not None and (frame.f_globals.get("__name__"), frame.f_code.co_name) in _EXEC_FUNCTIONS


def _is_connect(traceback: TracebackType | None) -> bool:
    """Whether the code that raised it calls a ``connect``, and nothing that reads a certificate."""
    frame = _innermost_frame(traceback)
    names = frozenset(frame.f_code.co_names) if frame is not None else _NO_NAMES
    return not names.isdisjoint(_CONNECTS) and names.isdisjoint(_READS_CERTIFICATES)


def _innermost_frame(traceback: TracebackType | None) -> FrameType | None:
    if traceback is None:
        return None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the error number of a node says."""
    number = number_in(node, "os.errno")
    if number is None:
        return
    name = str(node.facts.get("os.error", _LINUX.get(number)))
    if name == "EACCES" and _USED_ELSEWHERE in node.message:
        yield _SHARING_VIOLATION
    elif node.facts.get("os.is_exec") and name in _EXEC_SIGNALS:
        yield _EXEC_SIGNALS[name]
    elif name == "ENOENT" and not node.facts.get("os.has_path") and _NO_SUCH_FILE in node.message:
        if node.facts.get("os.is_connect") or node.edge is Edge.WRAPPED or _CONNECTING.search(node.message):
            yield _SOCKET_FILE_MISSING
    elif name in SIGNALS:
        yield SIGNALS[name]


def read_words(message: str) -> tuple[Signal, ...]:
    """Return what the error numbers in a message say."""
    return settle(_find(message), message)


def _find(message: str) -> Iterator[Signal]:
    if any(map(message.__contains__, _NUMBER_MARKS)):
        for match in _NUMBER.finditer(message):
            name = _IN_WORDS.get(int(match[match.lastindex or 0]))
            if name == "ENOENT" and _is_without_path(message, match.end()):
                if _CONNECTING.search(message):
                    yield _SOCKET_FILE_MISSING
            elif name is not None:
                yield SIGNALS[name]
    if any(map(message.__contains__, _SOCKET_MARKS)) and _NO_SOCKET.search(message):
        yield _SOCKET_FILE_MISSING
    for name in _NAME.findall(message):
        if name in SIGNALS:
            yield SIGNALS[name]


def _is_without_path(message: str, start: int) -> bool:
    words = message[start : start + len(_NO_SUCH_FILE) + 3].lstrip()
    return words.startswith(_NO_SUCH_FILE) and ":" not in words
