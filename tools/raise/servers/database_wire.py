"""Three databases' protocols, as far as it takes to let a client in, or not, and to fail what it asks.

Microsoft SQL Server: https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-tds
Redshift and Vertica, which speak PostgreSQL's: https://www.postgresql.org/docs/current/protocol-message-formats.html
Oracle's listener, which answers a CONNECT with REFUSE and a description:
https://docs.oracle.com/en/database/oracle/oracle-database/19/netag/troubleshooting-oracle-net-services.html
"""

from __future__ import annotations

import contextlib
import socket
import struct

from servers.broken import listener

__all__ = ["oracle_listener_that_refuses", "pgwire_that_fails", "sql_server_that_fails"]

_PRELOGIN, _LOGIN, _ANSWER = 0x12, 0x10, 0x04
_END_OF_MESSAGE = 1
_ASKED = "invoices".encode("utf-16-le")
"""The statement that fails has it; what drivers say by themselves, such as SET and BEGIN, goes well."""
_SSL_REQUEST, _LAST_VERSION_OF_MESSAGES = 80877103, 5 << 16
_REFUSE = 4


def sql_server_that_fails(
    number: int, severity: int, message: str, *, at_login: bool = False, closes: bool = False
) -> contextlib.AbstractContextManager[int]:
    """
    A port that speaks TDS.

    :param at_login: Say it to who logs in, and not to the first statement.
    :param closes: Hang up after it was said.
    """
    error = _tds_error(number, severity, message)

    def talk(client: socket.socket) -> None:
        while True:
            kind, body = _tds_packet(client)
            if kind == _PRELOGIN:
                options = b"\x00\x00\x0b\x00\x06\x01\x00\x11\x00\x01\xff"
                _tds_send(client, options + b"\x10\x00\x07\xd0\x00\x00" + b"\x02")  # and no encryption
            elif kind == _LOGIN:
                _tds_send(client, error + _tds_done(2) if at_login else _tds_login_ack() + _tds_done(0))
                if at_login:
                    return
            elif _ASKED not in body:
                _tds_send(client, _tds_done(0))
            else:
                _tds_send(client, error + _tds_done(2))
                if closes:
                    return

    return listener(talk)


def pgwire_that_fails(
    sqlstate: str, message: str, *, severity: str = "ERROR", at_login: bool = False
) -> contextlib.AbstractContextManager[int]:
    """A port that speaks PostgreSQL's protocol, and fails the login or the first statement."""
    fields = (b"S" + severity.encode(), b"C" + sqlstate.encode(), b"M" + message.encode())
    error = _pg_message(b"E", b"".join(field + b"\0" for field in fields) + b"\0")
    ready = _pg_message(b"Z", b"I")

    def talk(client: socket.socket) -> None:
        while True:
            (length,) = struct.unpack("!I", _exactly(client, 4))
            (version,) = struct.unpack("!I", _exactly(client, length - 4)[:4])
            if version < _LAST_VERSION_OF_MESSAGES:
                break
            client.sendall(b"N")
        if at_login:
            client.sendall(error)
            return
        known = _pg_message(b"S", b"server_protocol_version\x000\0") + _pg_message(
            b"S", b"protocol_version\x00196608\0"
        )
        client.sendall(_pg_message(b"R", struct.pack("!I", 0)) + known + _pg_message(b"K", b"\0" * 8) + ready)
        while True:
            kind, body = _exactly(client, 1), _exactly(client, struct.unpack("!I", _exactly(client, 4))[0] - 4)
            if kind == b"Q" and body[:5].lower() == b"begin":
                client.sendall(_pg_message(b"C", b"BEGIN\0") + ready)
            elif kind == b"Q":
                client.sendall(error + ready)
            elif kind == b"P" and b"begin" in body.lower():
                client.sendall(_pg_message(b"1", b"") + _pg_message(b"n", b""))
            elif kind == b"P":
                client.sendall(error)
            elif kind == b"S":
                client.sendall(ready)
            elif kind == b"X":
                return

    return listener(talk)


def oracle_listener_that_refuses(code: int) -> contextlib.AbstractContextManager[int]:
    """A port that refuses with an error of Oracle's listener, such as 12514."""
    words = f"(DESCRIPTION=(TMP=)(VSNNUM=318767104)(ERR={code})(ERROR_STACK=(ERROR=(CODE={code})(EMFI=4))))".encode()
    body = struct.pack("!BBH", 4, 0, len(words)) + words
    packet = struct.pack("!HHBBH", len(body) + 8, 0, _REFUSE, 0, 0) + body

    def talk(client: socket.socket) -> None:
        client.recv(4096)
        client.sendall(packet)
        client.recv(4096)

    return listener(talk)


def _exactly(client: socket.socket, size: int) -> bytes:
    content = b""
    while len(content) < size:
        part = client.recv(size - len(content))
        if not part:
            raise ConnectionError("the client went away")
        content += part
    return content


def _tds_packet(client: socket.socket) -> tuple[int, bytes]:
    body = b""
    while True:
        kind, status, length = struct.unpack("!BBH", _exactly(client, 4))
        _exactly(client, 4)
        body += _exactly(client, length - 8)
        if status & _END_OF_MESSAGE:
            return kind, body


def _tds_send(client: socket.socket, body: bytes) -> None:
    client.sendall(struct.pack("!BBHHBB", _ANSWER, _END_OF_MESSAGE, len(body) + 8, 51, 1, 0) + body)


def _tds_text(text: str, size: str) -> bytes:
    return struct.pack(f"<{size}", len(text)) + text.encode("utf-16-le")


def _tds_error(number: int, severity: int, message: str) -> bytes:
    rest = struct.pack("<iBB", number, 1, severity) + _tds_text(message, "H") + _tds_text("SQLPROD", "B")
    rest += _tds_text("", "B") + struct.pack("<i", 1)
    return b"\xaa" + struct.pack("<H", len(rest)) + rest


def _tds_login_ack() -> bytes:
    rest = b"\x01" + b"\x74\x00\x00\x04" + _tds_text("Microsoft SQL Server", "B") + b"\x10\x00\x07\xd0"
    return b"\xad" + struct.pack("<H", len(rest)) + rest


def _tds_done(status: int) -> bytes:
    return b"\xfd" + struct.pack("<HHQ", status, 0, 0)


def _pg_message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body
