"""
A server of lines, as mail and FTP servers are: it greets, then answers each command with what a case says.

Forms: https://www.rfc-editor.org/rfc/rfc5321 (SMTP), rfc959 (FTP), rfc9051 (IMAP), rfc1939 (POP3).
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from servers.broken import listener

__all__ = ["LineServer", "ftp_lines", "imap_lines", "pop_lines", "smtp_lines"]

Words = Mapping[str, str | None]
_SMTP: Words = {
    "": "220 mail.example ESMTP",
    "EHLO": "250-mail.example\r\n250-AUTH PLAIN LOGIN\r\n250 SIZE 10000000",
    "HELO": "250 mail.example",
    "AUTH": "235 2.7.0 Authentication successful",
    "MAIL": "250 2.1.0 Ok",
    "RCPT": "250 2.1.5 Ok",
    "DATA": "354 End data with <CR><LF>.<CR><LF>",
    ".": "250 2.0.0 Ok: queued",
    "RSET": "250 2.0.0 Ok",
    "QUIT": "221 2.0.0 Bye",
}
_FTP: Words = {
    "": "220 files.example FTP server",
    "USER": "331 Please specify the password.",
    "PASS": "230 Login successful.",
    "TYPE": "200 Switching to Binary mode.",
    "QUIT": "221 Goodbye.",
}
_POP: Words = {
    "": "+OK POP3 ready",
    "USER": "+OK",
    "PASS": "+OK logged in",
    "STAT": "+OK 2 320",
    "QUIT": "+OK bye",
}
_IMAP: Words = {
    "": "* OK [CAPABILITY IMAP4rev1] IMAP4rev1 ready",
    "CAPABILITY": "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\nTAG OK done",
    "LOGIN": "TAG OK logged in",
    "SELECT": "* 2 EXISTS\r\nTAG OK [READ-WRITE] selected",
    "LOGOUT": "* BYE\r\nTAG OK done",
}


class LineServer:
    """Cases run one after the other, so each simply sets what is answered from now on."""

    version: str | None = None

    def __init__(self, name: str, usual: Words, *, is_tagged: bool = False) -> None:
        self.name = name
        self.port = 0
        self._usual = usual
        self._is_tagged = is_tagged
        self._words = dict(usual)

    def answers(self, words: Words) -> int:
        """
        Answer commands with these words, all others as usual; return the port.

        :param words: By command, ``""`` for the greeting and ``.`` for the end of a message; ``TAG`` in them is the
            client's. ``None`` hangs up.
        """
        self._words = {**self._usual, **words}
        return self.port

    def talk(self, accepted: socket.socket) -> None:
        """Hold one conversation."""
        with accepted.makefile("rb") as reader:
            if not self._say(accepted, "", ""):
                return
            is_message = False
            for line in reader:
                text = line.decode("utf-8", "replace").strip()
                tag, _, rest = text.partition(" ") if self._is_tagged else ("", "", text)
                command = rest.partition(" ")[0].upper()
                if is_message and text != ".":
                    continue
                if not self._say(accepted, command, tag):
                    return
                is_message = command == "DATA" and str(self._words.get("DATA")).startswith("354")

    def _say(self, accepted: socket.socket, command: str, tag: str) -> bool:
        words = self._words.get(command, "TAG BAD unknown" if self._is_tagged else "502 Command not implemented")
        if words is None:
            return False
        accepted.sendall(words.replace("TAG", tag).encode() + b"\r\n")
        return not words.startswith(("421", "* BYE"))


def _starts(name: str, usual: Words, **options: Any) -> Callable[[], contextlib.AbstractContextManager[LineServer]]:
    @contextlib.contextmanager
    def start() -> Iterator[LineServer]:
        server = LineServer(name, usual, **options)
        with listener(server.talk) as port:
            server.port = port
            yield server

    return start


smtp_lines = _starts("loopback SMTP", _SMTP)
ftp_lines = _starts("loopback FTP", _FTP)
pop_lines = _starts("loopback POP3", _POP)
imap_lines = _starts("loopback IMAP", _IMAP, is_tagged=True)
