"""JSON that cannot be read: real readers, real clients, and every way in which a body can be cut."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import aiohttp
import httpx
import msgspec
import pydantic
import pytest
import requests
from failure_reading import alive, codes, conclusion, conclusion_code, logged, printed
from http_reading import raised_by
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import sockets

from airflow_common_ai.evidence.model import RedactedNode, Retry
from airflow_common_ai.evidence.protocols.python import json as json_errors

LOGIN_PAGE = b"\n<!doctype html><html><title>Sign in</title></html>"

Client = Callable[[str], object]


def with_requests(url: str) -> object:
    return requests.get(url, timeout=5).json()


def with_httpx(url: str) -> object:
    return httpx.get(url).json()


def with_aiohttp(url: str) -> object:
    async def get() -> object:
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            return await response.json()

    return asyncio.run(get())


CLIENTS = (with_requests, with_httpx, with_aiohttp)


def failure_of(client: Client, body: bytes) -> BaseException:
    with sockets.serve(sockets.say(sockets.http(body))) as port:
        return raised_by(lambda: client(f"http://127.0.0.1:{port}/"))


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (LOGIN_PAGE, "json.html"),
        (b"\xef\xbb\xbf<html>", "json.html"),
        (b"", "json.empty"),
        (b" \r\n", "json.empty"),
        (b'{"rows": [1, 2, {"name": "Ann', "json.cut"),
        (b'{"rows": [1, 2', "json.cut"),
        (b'{"rows": [1, 2], "next": tru', "json.cut"),
        (b'{"rows": [-', "json.cut"),
        (b'["Zo\\u00e', "json.cut"),
        (b"upstream connect error or disconnect/reset before headers", "json.not_json"),
    ],
)
def test_what_came_instead_of_json_is_worth_two_more_tries(body: bytes, code: str, client: Client) -> None:
    if client is with_aiohttp and not body.strip():
        body, code = b"x", "json.not_json"  # aiohttp reads nothing as None, without an error
    signal = conclusion(alive(failure_of(client, body)))
    assert signal is not None
    assert (signal.code, signal.category, signal.retry, signal.max_attempts) == (code, "network", Retry.DEPENDS, 3)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("body", [b'{"a": 1} {"b": 2}', b"{'a': 1}", b'{"a": 1,}', b'{"a": "\n"}', b'{"a" 1}'])
def test_json_that_is_whole_and_wrong_is_bad_data(body: bytes, client: Client) -> None:
    signal = conclusion(alive(failure_of(client, body)))
    assert signal is not None
    assert (signal.code, signal.category, signal.retry) == ("json.invalid", "data", Retry.NO)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("body", [LOGIN_PAGE, b'{"name": "Ann'])
def test_a_log_still_tells_that_it_is_worth_another_try(body: bytes, client: Client) -> None:
    signal = conclusion(logged(failure_of(client, body)))
    assert signal is not None
    assert (signal.category, signal.retry) == ("network", Retry.DEPENDS)


def test_a_page_of_the_wrong_type_is_not_read_as_a_good_answer() -> None:
    # aiohttp's error about it has the status 200.
    answer = sockets.http(LOGIN_PAGE, content_type="text/html")
    with sockets.serve(sockets.say(answer)) as port:
        error = raised_by(lambda: with_aiohttp(f"http://127.0.0.1:{port}/"))
    assert isinstance(error, aiohttp.ContentTypeError)
    signal = conclusion(alive(error))
    assert signal is not None
    assert signal.retry is not Retry.NO


short_text = st.text(max_size=6)
documents = st.recursive(
    st.sampled_from([None, True, False, 0, -7, 1.5, 1e-7, 2.5e300]) | short_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(short_text, inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(documents, min_size=1, max_size=3), st.booleans(), st.sampled_from([None, 2]))
def test_json_cut_anywhere_is_never_called_bad_data(document: object, is_ascii: bool, indent: int | None) -> None:
    text = json.dumps(document, ensure_ascii=is_ascii, indent=indent)
    for end in range(len(text)):
        error = raised_by(lambda cut=text[:end]: json.loads(cut))  # type: ignore[misc]
        node = RedactedNode("json.decoder.JSONDecodeError", message=str(error), facts=json_errors.probe(error))
        (signal,) = json_errors.read(node)
        assert signal.retry is Retry.DEPENDS, text[:end]


def test_a_plain_file_that_is_no_json_is_bad_data() -> None:
    error = raised_by(lambda: json.loads("name,age\nAnn,7\n"))
    assert conclusion_code(alive(error)) == "json.invalid"


def test_only_two_characters_of_the_text_are_copied() -> None:
    error = raised_by(lambda: json.loads("secret-token-value"))
    assert json_errors.probe(error) == {
        "json.pos": 0,
        "json.doc_length": 18,
        "json.doc_start": "se",
        "json.is_cut_word": False,
        "json.is_http": False,
    }


@pytest.mark.parametrize("doc", [None, b"bytes", 7])
def test_a_strangers_doc_is_left_alone(doc: object) -> None:
    error = ValueError("x")
    error.doc, error.pos = doc, 0  # type: ignore[attr-defined]
    assert json_errors.probe(error) == {}


# Readers without a position


class Row(pydantic.BaseModel):
    name: str


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "json.empty"),
        ("<html>", "json.html"),
        ('{"name": "An', "json.cut"),
        ('{"name": 1}', "python.pydantic_core.validation_error"),
    ],
)
def test_pydantic_reads_json_itself(text: str, code: str) -> None:
    error = raised_by(lambda: Row.model_validate_json(text))
    assert conclusion_code(alive(error)) == code


@pytest.mark.parametrize(
    ("text", "code"), [(b'{"a": "b', "json.cut"), (b"<html>", "json.html_or_empty"), (b"", "json.cut")]
)
def test_msgspec_reads_json_itself(text: bytes, code: str) -> None:
    assert conclusion_code(alive(raised_by(lambda: msgspec.json.decode(text)))) == code


@pytest.mark.parametrize(
    ("type_path", "message", "code"),
    [
        ("json.decoder.JSONDecodeError", "Expecting value: line 1 column 1 (char 0)", "json.html_or_empty"),
        ("requests.exceptions.JSONDecodeError", "Expecting value: line 1 column 1 (char 0)", "json.html_or_empty"),
        ("simplejson.errors.JSONDecodeError", "Expecting value: line 1 column 1 (char 0)", "json.html_or_empty"),
        ("orjson.JSONDecodeError", "unexpected end of data: line 1 column 9 (char 8)", "json.cut"),
        ("orjson.JSONDecodeError", "unexpected character: line 1 column 1 (char 0)", "json.html_or_empty"),
        ("orjson.JSONDecodeError", "Input is a zero-length, empty document: line 1 column 1 (char 0)", "json.empty"),
        ("ujson.JSONDecodeError", "Expected object or value", "json.html_or_empty"),
        ("json.decoder.JSONDecodeError", "Extra data: line 1 column 5 (char 4)", "json.invalid"),
        # It may be in the middle or at the end: only the text would tell.
        ("json.decoder.JSONDecodeError", "Expecting ',' delimiter: line 5 column 3 (char 120)", "json.unreadable"),
        ("client.GoError", "invalid character '<' looking for beginning of value", "json.html"),
        ("client.GoError", "unexpected end of JSON input", "json.cut"),
        ("client.NodeError", "Unexpected token < in JSON at position 0", "json.html"),
        ("airflow.exceptions.AirflowException", "Bad reply: Expecting value: line 1 column 1 (char 0)",
         "json.html_or_empty"),
    ],
)  # fmt: skip
def test_a_line_of_a_log_is_read_by_the_readers_own_words(type_path: str, message: str, code: str) -> None:
    assert codes(printed(type_path, message), "json") == [code]


@pytest.mark.parametrize(
    "message", ["Expecting value", "unexpected end", "Extra data", "expected value at line 1 column 10", "JSON"]
)
def test_near_misses_say_nothing(message: str) -> None:
    assert list(json_errors.read(RedactedNode("client.Error", message=message))) == []
