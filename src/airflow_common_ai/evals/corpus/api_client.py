"""Asks the REST API of an Airflow, without trusting how much or how slowly it answers."""

from __future__ import annotations

import io
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["AirflowApiError", "ApiClient"]

_SILENCE_S = 30.0
_ANSWER_S = 300.0
"""Of a server that says nothing, and of one that keeps talking."""
_CHUNK_BYTES = 64 * 1024
_MAX_JSON_BYTES = 32 * 1024 * 1024

_WRONG_PLACE = "Check the URL, which ends before /api/v2, and the Dag's id."
_FIXES: Mapping[int, str] = {
    **dict.fromkeys((301, 302, 303, 307, 308), "A token must not be sent elsewhere: give the URL that it leads to."),
    401: "Set a valid token: they expire, after a day by default.",
    403: "Use the token of a user who may read Dag runs, task instances and task logs.",
    404: _WRONG_PLACE,
}


class AirflowApiError(Exception):
    """
    Airflow was not reached, or refused; the text says what to do.

    :param status: The HTTP status that it answered with, if it did.
    """

    def __init__(self, words: str, status: int | None = None) -> None:
        super().__init__(words)
        self.status = status


class ApiClient:
    """
    Only reads, and follows no redirect.

    :param url: Where Airflow's UI is, e.g. ``https://airflow.example.com``.
    :param token: What its API gave at ``/auth/token``.
    :param answer_s: Seconds that one answer may take.
    :raises ValueError: The URL or the token is none.
    """

    def __init__(self, url: str, token: str, *, answer_s: float = _ANSWER_S) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("the URL of an Airflow must be like https://airflow.example.com.")
        if parts.username or parts.password:
            raise ValueError("the URL must hold no password. Give a token in the environment or in a file.")
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise ValueError("the token is empty or not one word. Get one from Airflow's /auth/token.")
        self.place = parts.netloc
        self._url = url.rstrip("/").removesuffix("/api/v2") + "/api/v2"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._answer_s = answer_s
        self._opener = urllib.request.build_opener(_NoRedirect)

    def open(self, path: str, accepted: str = "application/json") -> BinaryIO:
        """
        Return the body of an answer, to be read in a ``with``.

        :raises AirflowApiError: There is none. Reading raises it too.
        """
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked
            self._url + path, headers={**self._headers, "Accept": accepted}
        )
        try:
            answer = self._opener.open(request, timeout=_SILENCE_S)
        except urllib.error.HTTPError as error:
            error.close()
            fix = _FIXES.get(error.code, "Look at the log of its API server.")
            raise AirflowApiError(f"{self.place} answered with HTTP {error.code}. {fix}", error.code) from None
        except (OSError, HTTPException) as error:
            raise AirflowApiError(f"{self.place} cannot be reached: {getattr(error, 'reason', error)}") from None
        return cast(BinaryIO, _Answer(answer, self.place, self._answer_s))

    def objects(self, path: str, name: str) -> list[Mapping[str, object]]:
        """
        Return the list of objects that an answer holds under a name.

        :raises AirflowApiError: There is none.
        """
        with self.open(path) as answer:
            text = self._whole(answer)
        try:
            found = json.loads(text)[name]
            if isinstance(found, list) and all(isinstance(one, dict) for one in found):
                return found
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        raise AirflowApiError(f"{self.place} does not answer as Airflow 3 does. {_WRONG_PLACE}")

    def _whole(self, answer: BinaryIO) -> bytes:
        text = bytearray()
        while piece := answer.read(_CHUNK_BYTES):
            text += piece
            if len(text) > _MAX_JSON_BYTES:
                raise AirflowApiError(f"{self.place} answers with more than {_MAX_JSON_BYTES // 1024**2} MiB.")
        return bytes(text)


class _Answer(io.RawIOBase):
    """The body of an answer, read as it comes, but not for ever."""

    def __init__(self, answer: HTTPResponse, place: str, answer_s: float) -> None:
        self._answer = answer
        self._place = place
        self._deadline = time.monotonic() + answer_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        try:
            piece = self._answer.read1(len(view))
            if not piece and self._answer.length:
                raise IncompleteRead(piece, self._answer.length)
        except (OSError, HTTPException) as error:
            raise AirflowApiError(f"{self._place} broke off in its answer: {type(error).__name__}") from None
        if time.monotonic() > self._deadline:
            raise AirflowApiError(f"{self._place} is too slow to answer.")
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._answer.close()
        super().close()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object, **__: object) -> None:
        """Follow none: the token would be sent along."""
