"""Errors of Azure's storage services, and how their clients are set up here."""

from __future__ import annotations

import base64
from typing import Any
from xml.sax.saxutils import escape

from harness.canary import CANARY

from servers.http import Answer

__all__ = ["AT_ONCE", "KEY", "QUICK", "storage_error"]

KEY = base64.b64encode(CANARY.encode()).decode()
QUICK: dict[str, Any] = {"retry_total": 0, "connection_timeout": 1, "read_timeout": 1}
AT_ONCE = "Time:2026-08-01T10:00:00.0000000Z"


def storage_error(
    status: int, code: str, message: str, *, headers: dict[str, str] | None = None, more: str = ""
) -> Answer:
    """Return an error in the form of https://learn.microsoft.com/rest/api/storageservices/status-and-error-codes2."""
    text = escape(f"{message}\nRequestId:0e3b7a4c-701e-0000-0000-000000000000\n{AT_ONCE}")
    body = f'<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code><Message>{text}</Message>{more}</Error>'
    return Answer(status, body, {"x-ms-error-code": code, "Content-Type": "application/xml", **(headers or {})})
