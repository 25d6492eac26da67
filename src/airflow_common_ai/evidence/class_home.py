"""Where an exception class lives that a log names without its module.

Airflow's JSON log keeps of a class only its name, but of every stack frame the file. The file that raised is most
often of the package that the class is of.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping

from airflow_common_ai.evidence.exception_line import built_in_exception
from airflow_common_ai.evidence.type_path import type_path

__all__ = ["full_path"]

_NAMED_LIKE_BUILT_IN: Mapping[str, frozenset[str]] = {
    "ConnectionError": frozenset({"elastic_transport", "elasticsearch", "opensearchpy", "redis", "requests"}),
    "TimeoutError": frozenset({"asyncssh", "multiprocessing", "redis", "sqlalchemy", "urllib3"}),
    "SystemError": frozenset({"psycopg"}),
}
"""Packages with a class named like a built-in one. Source: the packages themselves, in 2026."""

_STANDARD_LIBRARY = """
    _csv.Error _lzma.LZMAError _pickle.PicklingError _pickle.UnpicklingError _queue.Empty
    asyncio.exceptions.CancelledError asyncio.exceptions.IncompleteReadError
    asyncio.exceptions.InvalidStateError asyncio.exceptions.LimitOverrunError
    binascii.Error
    concurrent.futures._base.BrokenExecutor concurrent.futures._base.CancelledError
    concurrent.futures._base.InvalidStateError concurrent.futures.process.BrokenProcessPool
    concurrent.futures.thread.BrokenThreadPool
    configparser.DuplicateOptionError configparser.DuplicateSectionError
    configparser.InterpolationSyntaxError configparser.MissingSectionHeaderError configparser.NoOptionError
    configparser.NoSectionError configparser.ParsingError
    dataclasses.FrozenInstanceError decimal.DivisionByZero decimal.InvalidOperation
    email.errors.HeaderParseError email.errors.MessageError email.errors.MessageParseError
    ftplib.error_perm ftplib.error_proto ftplib.error_reply ftplib.error_temp
    gzip.BadGzipFile
    http.client.BadStatusLine http.client.CannotSendHeader http.client.CannotSendRequest
    http.client.HTTPException http.client.ImproperConnectionState http.client.IncompleteRead
    http.client.InvalidURL http.client.LineTooLong http.client.NotConnected http.client.RemoteDisconnected
    http.client.ResponseNotReady http.client.UnknownProtocol
    imaplib.IMAP4.abort imaplib.IMAP4.error imaplib.IMAP4.readonly
    importlib.metadata.PackageNotFoundError io.UnsupportedOperation
    ipaddress.AddressValueError ipaddress.NetmaskValueError
    json.decoder.JSONDecodeError
    multiprocessing.context.AuthenticationError multiprocessing.context.BufferTooShort
    multiprocessing.context.ProcessError multiprocessing.context.TimeoutError
    multiprocessing.managers.RemoteError multiprocessing.pool.MaybeEncodingError
    netrc.NetrcParseError plistlib.InvalidFileException poplib.error_proto queue.Full re.error
    shutil.Error shutil.ReadError shutil.RegistryError shutil.SameFileError shutil.SpecialFileError
    smtplib.SMTPAuthenticationError smtplib.SMTPConnectError smtplib.SMTPDataError smtplib.SMTPException
    smtplib.SMTPHeloError smtplib.SMTPNotSupportedError smtplib.SMTPRecipientsRefused
    smtplib.SMTPResponseException smtplib.SMTPSenderRefused smtplib.SMTPServerDisconnected
    socket.gaierror socket.herror
    sqlite3.DataError sqlite3.DatabaseError sqlite3.IntegrityError sqlite3.InterfaceError
    sqlite3.InternalError sqlite3.NotSupportedError sqlite3.OperationalError sqlite3.ProgrammingError
    ssl.SSLCertVerificationError ssl.SSLEOFError ssl.SSLError ssl.SSLSyscallError ssl.SSLWantReadError
    ssl.SSLWantWriteError ssl.SSLZeroReturnError
    struct.error subprocess.CalledProcessError subprocess.TimeoutExpired
    tarfile.CompressionError tarfile.ExtractError tarfile.HeaderError tarfile.ReadError tarfile.StreamError
    tarfile.TruncatedHeaderError
    tomllib.TOMLDecodeError
    urllib.error.ContentTooShortError urllib.error.HTTPError urllib.error.URLError
    xml.etree.ElementTree.ParseError xml.parsers.expat.ExpatError xml.sax._exceptions.SAXParseException
    xmlrpc.client.Fault xmlrpc.client.ProtocolError xmlrpc.client.ResponseError
    zipfile.BadZipFile zipfile.LargeZipFile zlib.error zoneinfo._common.ZoneInfoNotFoundError
""".split()
"""Exceptions of the standard library, where they are defined. Source: Python 3.11."""

_PACKAGE = re.compile(r"[/\\](?:site-packages|dist-packages|python3(?:\.\d+)?)[/\\]([A-Za-z_]\w*)")
_NO_PACKAGES = frozenset({"site", "dist"})  # of `…/python3.11/site-packages/…`, what a word may hold
_WRAPPED = re.compile(r"\(([A-Za-z_][\w.]{0,200}\.[A-Za-z_]\w{0,99})\) ")
_NOT_SURE_OF = frozenset({"DataError", "DatabaseError", "IntegrityError", "InterfaceError", "InternalError"}) | frozenset(
    {"NotSupportedError", "OperationalError", "ProgrammingError", "HTTPError", "ProtocolError", "ReadError", "error"}
)
"""Names that the standard library has once and other libraries have too."""


def full_path(name: str, files: Iterable[str], *, message_above: str = "", is_no_built_in: bool = False) -> str:
    """
    Return the best guess at the path of a class, ``name`` alone if there is nothing to guess from.

    :param name: The name of the class.
    :param files: The files of the stack frames, the one that raised last.
    :param message_above: The message of the exception that this one is the reason of: SQLAlchemy's begins with
        ``(psycopg2.errors.UniqueViolation)``.
    :param is_no_built_in: It is known not to be the built-in class of this name.
    """
    wrapped = _WRAPPED.match(message_above)
    if wrapped and wrapped[1].rpartition(".")[2] == name:
        return wrapped[1]
    return name
