"""An SMTP server, as aiosmtpd has it, that refuses by the local part of an address. Depends on ``aiosmtpd``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, ClassVar

from aiosmtpd.controller import Controller  # type: ignore[import-not-found]  # only where it runs
from aiosmtpd.smtp import AuthResult  # type: ignore[import-not-found]  # only where it runs
from harness import CANARY

from servers.port import free_port

__all__ = ["Mail", "mail_server"]


@dataclass(frozen=True)
class Mail:
    """A running server; ``etl`` may log in with the canary."""

    port: int
    version: str | None
    name: str = "aiosmtpd"


class _Postmaster:
    """Answers by the local part of an address."""

    said: ClassVar = {
        "full": "452 4.2.2 The mailbox is over its quota",
        "nobody": "550 5.1.1 No such user here",
        "greylisted": "451 4.7.1 Greylisted, please try again in 300 seconds",
        "limited": "450 4.7.0 Too many messages from this sender, rate limit exceeded",
        "blocked": "554 5.7.1 Relay access denied",
        "daily": "550 5.4.5 Daily sending quota exceeded",
        "moved": "551 5.1.6 User has moved",
    }

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        answer = self.said.get(address.partition("@")[0])
        if answer:
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if "virus" in envelope.rcpt_tos[0]:
            return "554 5.6.0 Message rejected: content is not allowed"
        if "busy" in envelope.rcpt_tos[0]:
            return "421 4.3.2 Service shutting down"
        return "552 5.3.4 Message size exceeds fixed limit" if "large" in envelope.rcpt_tos[0] else "250 OK"


@contextlib.contextmanager
def mail_server() -> Iterator[Mail]:
    def knows(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        return AuthResult(success=data.login == b"etl" and data.password == CANARY.encode(), handled=False)

    port = free_port()
    controller = Controller(
        _Postmaster(), hostname="127.0.0.1", port=port, authenticator=knows, auth_require_tls=False, auth_required=True
    )
    controller.start()
    try:
        yield Mail(port, version("aiosmtpd"))
    finally:
        controller.stop()
