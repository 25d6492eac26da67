"""Errors of Google's JSON services, and a login that gets new tokens from the same server. Depends on ``google-auth``."""

from __future__ import annotations

from typing import Any

from google.oauth2.credentials import Credentials
from harness.canary import CANARY

from servers.http import Answer, HttpServer, json_answer

__all__ = ["INFO", "TYPES", "credentials", "google_error", "refuses", "rpc_error"]

TYPES = "type.googleapis.com/google.rpc."
INFO = {"@type": f"{TYPES}ErrorInfo", "domain": "googleapis.com"}


def credentials(url: str) -> Any:
    """Return what a login gives: a token, and what to get the next one with."""
    keys = {"client_id": "1.apps.googleusercontent.example", "client_secret": CANARY, "refresh_token": CANARY}
    untyped: Any = Credentials
    return untyped(token=CANARY, token_uri=f"{url}/token", **keys)


def refuses(http: HttpServer, answer: Answer) -> str:
    """Answer with an error to everything but the wish for another token."""
    token = json_answer(200, {"access_token": CANARY, "expires_in": 3600, "token_type": "Bearer"})
    return http.routes(lambda request: token if request.path == "/token" else answer)


def google_error(status: int, reason: str, message: str, **more: Any) -> Answer:
    """Return an error in the form of https://cloud.google.com/storage/docs/json_api/v1/status-codes."""
    one = {"message": message, "domain": more.pop("domain", "global"), "reason": reason}
    headers = more.pop("headers", None)
    word = {"status": more["word"]} if "word" in more else {}
    return json_answer(status, {"error": {"errors": [one], "code": status, "message": message, **word}}, headers)


def rpc_error(status: int, word: str, message: str, *details: dict[str, Any]) -> Answer:
    """Return an error in the form of https://cloud.google.com/apis/design/errors#http_mapping."""
    return json_answer(
        status, {"error": {"code": status, "message": message, "status": word, "details": list(details)}}
    )
