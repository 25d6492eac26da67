"""What of a model's requests and answers may be kept: no key, no secret, and not where the server stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from airflow_common_ai.evidence.redaction import TextFilter
from airflow_common_ai.evidence.secret_patterns import MASK, Name, kind_of_name, mask_spans
from airflow_common_ai.evidence.secret_search import SecretSearch

__all__ = ["Scrubber"]

_KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms")
"""Of an answer: others name organizations, and set cookies."""

_REFUSALS = (400, 422)
"""Of a form or a setting, which is then left out: part of how a server is asked. Other errors are trouble."""

_SERVER = "http://the-model"
_SECRET_NAMES = (Name.SECRET, Name.TOKEN, Name.AUTHORIZATION, Name.COOKIE)
_ALSO_SECRET = frozenset({"key", "sig", "signature"})
"""Parameters of a URL, e.g. of Google's Generative Language API."""
_LOGPROB = "token"
"""What a list of token probabilities calls each piece of the answer."""
_MAX_ROUNDS = 8
_MAX_TEXT_CHARS = 1024 * 1024


class Scrubber:
    """
    Takes secrets out of requests and answers, the same way each time, so that a scrubbed request still matches.

    :param mask_registered: Masks the secrets that Airflow knows by value.
    """

    def __init__(self, mask_registered: TextFilter | None = None) -> None:
        self._mask_registered: TextFilter = mask_registered or (lambda text: text)
        self._search = SecretSearch(mask_registered)
        self._request_body: Callable[[bytes], bytes] = lru_cache(maxsize=16)(self._scrubbed_body)

    def request(self, request: Any) -> Any:
        """Return a request of vcrpy's as it is kept and compared; it hands over a copy."""
        request.uri = f"{_SERVER}{request.path}{self._query(urlsplit(request.uri).query)}"
        request.headers = {"Content-Type": request.headers.get("Content-Type", "application/json")}
        if request.body:
            body = request.body
            request.body = self._request_body(body.encode() if isinstance(body, str) else bytes(body))
        return request

    def response(self, response: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return an answer of vcrpy's as it is kept; ``None`` if the server was in trouble."""
        if response["status"]["code"] >= 400 and response["status"]["code"] not in _REFUSALS:
            return None
        headers = {name.lower(): values for name, values in response["headers"].items()}
        return {
            "status": {"code": response["status"]["code"], "message": response["status"].get("message") or ""},
            "headers": {name: headers[name] for name in _KEPT_HEADERS if name in headers},
            "body": {"string": self._scrubbed_body(bytes(response["body"]["string"] or b""))},
        }

    def text(self, text: str) -> str:
        """Return a text without its secrets, whatever its length."""
        if len(text) > _MAX_TEXT_CHARS:
            raise ValueError(f"a text of {len(text)} characters is too long to look for secrets in")
        text = self._mask_registered(text)
        for _ in range(_MAX_ROUNDS):
            (spans,) = self._search.find([text])
            masked = mask_spans(text, spans)
            if masked == text:
                return text
            text = masked
        return MASK

    def _query(self, query: str) -> str:
        parameters = [
            (name, MASK if name.lower() in _ALSO_SECRET or kind_of_name(name) in _SECRET_NAMES else self.text(value))
            for name, value in parse_qsl(query, keep_blank_values=True)
        ]
        return f"?{urlencode(parameters)}" if parameters else ""

    def _scrubbed_body(self, body: bytes) -> bytes:
        text = body.decode("utf-8", "replace")
        try:
            value = json.loads(text)
        except ValueError:  # a stream of events, or no JSON at all
            return "\n".join(map(self._scrubbed_line, text.split("\n"))).encode()
        return json.dumps(self._scrubbed(value)).encode()

    def _scrubbed_line(self, line: str) -> str:
        prefix, colon, rest = line.partition(": ")
        try:
            value = json.loads(rest) if prefix == "data" else None
        except ValueError:
            value = None
        return f"{prefix}{colon}{json.dumps(self._scrubbed(value))}" if isinstance(value, dict) else self.text(line)

    def _scrubbed(self, value: object) -> object:
        value = _slim(value, self.text)
        texts = list(dict.fromkeys(_texts_in(value)))
        together = "\n".join(texts)
        if len(together) <= _MAX_TEXT_CHARS and self.text(together) == together:
            return _mapped(value, {})
        return _mapped(value, {text: self.text(text) for text in texts})


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts_in(item)


def _mapped(value: object, masked: Mapping[str, str], name: str = "") -> object:
    """Return a value with its texts replaced, and with those masked whose name says what they are."""
    if isinstance(value, str):
        is_secret = bool(value) and name != _LOGPROB and kind_of_name(name) in _SECRET_NAMES
        return MASK if is_secret else masked.get(value, value)
    if isinstance(value, list):
        return [_mapped(item, masked, name) for item in value]
    if isinstance(value, dict):
        return {key: _mapped(item, masked, str(key)) for key, item in value.items()}
    return value


def _slim(answer: object, scrubbed: TextFilter) -> object:
    """
    Leave out where a local server keeps the model, and how probable the tokens were that were not chosen.

    The latter are nine tenths of an answer, and nobody reads them. Tokens that spell a secret go as well.
    """
    if not isinstance(answer, dict):
        return answer
    model = answer.get("model")
    if isinstance(model, str) and model.startswith("/"):
        answer["model"] = PurePosixPath(model).name
    choices = answer.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        logprobs = choice.get("logprobs") if isinstance(choice, dict) else None
        content = logprobs.get("content") if isinstance(logprobs, dict) else None
        tokens = [token for token in content if isinstance(token, dict)] if isinstance(content, list) else []
        for token in tokens:
            token.update(top_logprobs=[], bytes=None)
            token.pop("id", None)
        spelled = "".join(str(token.get(_LOGPROB, "")) for token in tokens)
        if scrubbed(spelled) != spelled:
            choice["logprobs"] = None
    return answer
