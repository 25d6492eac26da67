"""Where an exception class lives that a log names without its module.

Airflow's JSON log keeps the bare name of a class, but the file of each stack frame, and what raised is most often in
the package that the class is of.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence

from airflow_common_ai.evidence.logs.exception_line import built_in_exception
from airflow_common_ai.evidence.type_path import type_path

__all__ = ["STANDARD_LIBRARY", "class_home"]

STANDARD_LIBRARY: Mapping[str, frozenset[str]] = {
    row.split()[0]: frozenset(row.split()[1:])
    for row in (
        "asyncio CancelledError IncompleteReadError InvalidStateError LimitOverrunError",
        "binascii Error",
        "concurrent BrokenExecutor BrokenProcessPool BrokenThreadPool CancelledError InvalidStateError",
        "configparser DuplicateOptionError DuplicateSectionError InterpolationSyntaxError"
        " MissingSectionHeaderError NoOptionError NoSectionError ParsingError",
        "csv Error",
        "dataclasses FrozenInstanceError",
        "decimal DivisionByZero InvalidOperation",
        "email HeaderParseError MessageError MessageParseError",
        "ftplib error_perm error_proto error_reply error_temp",
        "gzip BadGzipFile",
        "http BadStatusLine CannotSendHeader CannotSendRequest HTTPException ImproperConnectionState"
        " IncompleteRead InvalidURL LineTooLong NotConnected RemoteDisconnected ResponseNotReady"
        " UnknownProtocol",
        "imaplib abort error readonly",
        "importlib PackageNotFoundError",
        "io UnsupportedOperation",
        "ipaddress AddressValueError NetmaskValueError",
        "json JSONDecodeError",
        "lzma LZMAError",
        "multiprocessing AuthenticationError BufferTooShort MaybeEncodingError ProcessError RemoteError TimeoutError",
        "netrc NetrcParseError",
        "pickle PicklingError UnpicklingError",
        "plistlib InvalidFileException",
        "poplib error_proto",
        "queue Empty Full",
        "re error",
        "shutil Error ReadError RegistryError SameFileError SpecialFileError",
        "smtplib SMTPAuthenticationError SMTPConnectError SMTPDataError SMTPException SMTPHeloError"
        " SMTPNotSupportedError SMTPRecipientsRefused SMTPResponseException SMTPSenderRefused"
        " SMTPServerDisconnected",
        "socket gaierror herror",
        "sqlite3 DataError DatabaseError IntegrityError InterfaceError InternalError NotSupportedError"
        " OperationalError ProgrammingError",
        "ssl SSLCertVerificationError SSLEOFError SSLError SSLSyscallError SSLWantReadError SSLWantWriteError"
        " SSLZeroReturnError",
        "struct error",
        "subprocess CalledProcessError TimeoutExpired",
        "tarfile CompressionError ExtractError HeaderError ReadError StreamError TruncatedHeaderError",
        "tomllib TOMLDecodeError",
        "urllib ContentTooShortError HTTPError URLError",
        "xml ExpatError ParseError SAXParseException",
        "xmlrpc Fault ProtocolError ResponseError",
        "zipfile BadZipFile LargeZipFile",
        "zlib error",
        "zoneinfo ZoneInfoNotFoundError",
    )
}
"""Packages and the exceptions in them. Source: Python 3.11."""

_LIKE_A_BUILT_IN: Mapping[str, frozenset[str]] = {
    "ConnectionError": frozenset({"elastic_transport", "elasticsearch", "opensearchpy", "redis", "requests"}),
    "SyntaxError": frozenset({"dns", "psycopg", "psycopg2"}),
    "SystemError": frozenset({"psycopg", "psycopg2"}),
    "TimeoutError": frozenset({"asyncssh", "multiprocessing", "redis", "sqlalchemy", "urllib3"}),
}
"""Packages with a class that is named like a built-in one. Source: the packages themselves."""

_OF_MANY_LIBRARIES = frozenset(
    "DataError DatabaseError Error HTTPError IntegrityError InterfaceError InternalError InvalidURL NotSupportedError"
    " OperationalError ParseError ProgrammingError ProtocolError ReadError error".split()
)
"""Names that alone do not tell the library."""

_PACKAGE = re.compile(r"[/\\](?:(?:site|dist)-packages|python3\.\d+)[/\\](?!(?:site|dist)-packages)([A-Za-z_]\w*)")
_WRAPPED = re.compile(r"\(((?:[A-Za-z_]\w{0,99}\.){1,8}[A-Za-z_]\w{0,99})\) ")


def class_home(name: str, files: Sequence[str], *, message_above: str = "") -> str:
    """
    Return the path of a class as far as it can be told: ``builtins.OSError``, ``requests.HTTPError``, ``MyError``.

    :param name: The class's own name.
    :param files: The files of the stack frames, outermost first.
    :param message_above: What the exception says whose reason this one is; SQLAlchemy begins with the path, as in
        ``(psycopg2.errors.UniqueViolation) duplicate key``.
    """
    wrapped = _WRAPPED.match(message_above)
    if wrapped and wrapped[1].endswith(f".{name}"):
        return wrapped[1]
    files = [file for file in files if file.endswith(".py")]  # templates and compiled files tell no package
    built_in = built_in_exception(name)
    if built_in and not (files and _package_of(files[-1]) in _LIKE_A_BUILT_IN.get(name, ())):
        return type_path(built_in)
    for file in reversed(files):
        package = _package_of(file)
        if package is None:
            break  # the user's own file
        if package not in sys.stdlib_module_names or name in STANDARD_LIBRARY.get(package, ()):
            return f"{package}.{name}"
        # Else it was raised anew with the stack of another one, or by compiled code that this package calls.
    homes = [package for package, names in STANDARD_LIBRARY.items() if name in names]
    return f"{homes[0]}.{name}" if len(homes) == 1 and name not in _OF_MANY_LIBRARIES else name


def _package_of(file: str) -> str | None:
    found = _PACKAGE.search(file)
    return found[1] if found else None
