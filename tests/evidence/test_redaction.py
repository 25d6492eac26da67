"""The wall as its users see it: what passes, what does not, and what happens when a filter fails."""

from __future__ import annotations

import asyncio
import base64
import gzip
import html
import json
import math
import re
import shlex
import subprocess
import urllib.parse
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import boto3
import pydantic
import pytest
import requests
import sqlalchemy

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.cut import CUT_MARK, cut
from airflow_common_ai.evidence.fitting import MAX_MESSAGE_BYTES
from airflow_common_ai.evidence.model import Edge, Evidence, ExceptionNode, Fact, RedactedEvidence, RedactedNode
from airflow_common_ai.evidence.redaction import Redactor, from_json

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
WITHHELD = "[withheld: the redactor raised TypeError]"
PEM_LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"


def one_node(**fields: object) -> Evidence:
    return Evidence((ExceptionNode(**{"type_path": "builtins.ValueError", **fields}),), NOW)  # type: ignore[arg-type]


def masking(*secrets: str) -> Callable[[str], str]:
    """Mask as Airflow's masker does: every registered value, wherever it stands."""
    pattern = re.compile("|".join(map(re.escape, secrets)))
    return lambda text: pattern.sub("***", text)


def failing(error: BaseException) -> Callable[[str], str]:
    def fail(text: str) -> str:
        raise error

    return fail


class TestEveryStringPasses:
    def test_messages_notes_and_string_facts(self) -> None:
        evidence = one_node(
            message="password=hunter2", notes=("note: api_key=abcd12",), facts={"http.body.detail": "token=abc123"}
        )

        node = Redactor().redact(evidence).nodes[0]

        assert node.message == "password=***"
        assert node.notes == ("note: api_key=***",)
        assert node.facts == {"http.body.detail": "token=***"}

    def test_registered_secrets_in_string_facts_too(self) -> None:
        evidence = one_node(facts={"http.body.code": "code-s3cr3tvalue", "http.status": 401})

        node = Redactor(masking("s3cr3tvalue")).redact(evidence).nodes[0]

        assert node.facts == {"http.body.code": "code-***", "http.status": 401}

    def test_a_fact_whose_name_announces_a_secret_is_masked_whole(self) -> None:
        evidence = one_node(facts={"http.header.authorization": "anything at all", "http.header.x-request-id": "a1"})

        facts = Redactor().redact(evidence).nodes[0].facts

        assert facts == {"http.header.authorization": "***", "http.header.x-request-id": "a1"}

    def test_the_names_of_facts(self) -> None:
        key_id = "AKIA" + "A2B3C4D5E6F7G2H3"
        evidence = one_node(facts={f"http.header.{key_id}": 1, "x: hunter2value": 2})

        facts = Redactor(masking("hunter2value")).redact(evidence).nodes[0].facts

        assert facts == {"http.header.***": 1, "x: ***": 2}

    def test_names_of_classes_made_at_run_time(self) -> None:
        made = "jobs.Failed: postgres://etl:hunter2@db/prod for s3cr3tvalue"

        node = Redactor(masking("s3cr3tvalue")).redact(one_node(type_path=made, base_paths=(made,))).nodes[0]

        assert node.type_path == "jobs.Failed: postgres://etl:***@db/prod for ***"
        assert node.base_paths == (node.type_path,)

    def test_a_token_in_the_path_of_a_class(self) -> None:
        path = "jobs.Failed_" + "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5"

        assert Redactor().redact(one_node(type_path=path)).nodes[0].type_path == "jobs.Failed_***"

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("json.decoder.JSONDecodeError", "json.decoder.JSONDecodeError"),
            ("json.decoder.s3cr3tvalue", "json.decoder.***"),
            ("json.decoder.JSONDecodeError.s3cr3tvalue", "json.decoder.JSONDecodeError.***"),
            ("s3cr3tvalue.Error", "***.Error"),
            ("s3cr3tvalue", "***"),
            ("json.s3cr3tvalueError", "json.***Error"),
        ],
    )
    def test_a_class_that_is_named_like_a_secret_and_is_in_no_module(self, path: str, expected: str) -> None:
        node = Redactor(masking("s3cr3tvalue")).redact(one_node(type_path=path, base_paths=(path,))).nodes[0]

        assert (node.type_path, node.base_paths) == (expected, (expected,))

    def test_a_live_class_that_is_named_like_a_secret(self) -> None:
        made = type("s3cr3tvalue", (RuntimeError,), {})

        node = Redactor(masking("s3cr3tvalue")).redact(collect(made("failed"), observed_at=NOW)).nodes[0]

        assert node.type_path == f"{__name__}.***"
        assert "builtins.RuntimeError" in node.base_paths

    def test_a_class_of_a_package_that_is_installed_but_not_imported(self) -> None:
        path = "airflow.providers.postgres.hooks.postgres.NotImportedHere"

        node = Redactor(masking("postgres")).redact(one_node(type_path=path)).nodes[0]

        assert node.type_path == path

    def test_the_name_of_a_class_is_bounded(self) -> None:
        assert Redactor().redact(one_node(type_path="a" * 10_000)).nodes[0].type_path == "***"

    def test_the_rest_of_the_evidence_stays(self) -> None:
        nodes = (
            ExceptionNode("jobs.Failed", ("builtins.RuntimeError",), "failed"),
            ExceptionNode("builtins.OSError", (), "down", (), Edge.CAUSE, 0, {"os.errno": 111}, from_text=True),
        )

        redacted = Redactor().redact(Evidence(nodes, NOW, is_truncated=True))

        assert redacted == RedactedEvidence(
            (
                RedactedNode("jobs.Failed", ("builtins.RuntimeError",), "failed"),
                RedactedNode("builtins.OSError", (), "down", (), Edge.CAUSE, 0, {"os.errno": 111}, from_text=True),
            ),
            NOW,
            is_truncated=True,
        )
        assert all(type(node) is RedactedNode for node in redacted.nodes)

    def test_a_number_that_json_cannot_say_is_left_out(self) -> None:
        facts: dict[str, Fact] = {"a.nan": math.nan, "a.inf": math.inf, "a.zero": 0.0, "a.flag": True}

        assert Redactor().redact(one_node(facts=facts)).nodes[0].facts == {"a.zero": 0.0, "a.flag": True}


class TestOrdinaryWordsAsPasswords:
    """Somebody's password is ``postgres``: Airflow's masker then masks that word everywhere."""

    redactor = Redactor(masking("postgres", "default", "timeout", "requests", "password"))

    def test_paths_names_of_facts_and_numbers_survive(self) -> None:
        evidence = one_node(
            type_path="airflow.providers.postgres.hooks.postgres.PostgresTimeout",
            base_paths=("requests.exceptions.ConnectTimeout", "socket.timeout", "builtins.OSError"),
            facts={"timeout.default": 30, "http.status": 429, "sql.state": "28P01"},
        )

        node = self.redactor.redact(evidence).nodes[0]

        assert node.type_path == "airflow.providers.postgres.hooks.postgres.PostgresTimeout"
        assert node.is_a("requests.ConnectTimeout")
        assert node.facts == {"timeout.default": 30, "http.status": 429, "sql.state": "28P01"}

    def test_they_are_masked_in_messages(self) -> None:
        assert self.redactor.text("timeout of postgres") == "*** of ***"

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("postgresql://etl:hunter2@postgres:5432/default", "***ql://etl:***@***:5432/***"),
            ("password=hunter2", "***=***"),
            ("{'db_password': 'hunter2'}", "{'db_***': '***'}"),
            ("tool --password hunter2", "tool --*** ***"),
            ("<password>hunter2</password>", "<***>***</***>"),
        ],
    )
    def test_other_secrets_are_found_although_their_name_was_masked(self, text: str, expected: str) -> None:
        assert self.redactor.text(text) == expected


SECRETS = (
    "tiger",
    "hunter2",
    "hunter2secret",
    "pässwörd-ünï",
    "it's 5 o'clock",
    "{br}ace}x",
    "p@ss/w:rd#1?",
    "my secret pass phrase",
    'qu"ote\\back',
    "correct horse + battery",
)
LONG_TEXT = "some words without any secret, enough of them for several lines of base64 "
ENCODINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "quoted for a URL": lambda secret: urllib.parse.quote(secret, safe=""),
    "quoted for a path": urllib.parse.quote,
    "quoted for a form": urllib.parse.quote_plus,
    "quoted in small letters": lambda secret: re.sub(
        "%..", lambda m: m[0].lower(), urllib.parse.quote(secret, safe="")
    ),
    "quoted as SQLAlchemy does": lambda secret: urllib.parse.quote(secret, safe=" +"),
    "quoted twice": lambda secret: urllib.parse.quote(urllib.parse.quote(secret, safe=""), safe=""),
    "escaped in JSON": lambda secret: json.dumps(secret)[1:-1],
    "escaped in JSON twice": lambda secret: json.dumps(json.dumps(secret))[1:-1],
    "escaped in JSON and quoted": lambda secret: urllib.parse.quote(json.dumps(secret)),
    "every letter escaped": lambda secret: "".join(f"\\u{ord(letter):04x}" for letter in secret),
    "shown by repr": repr,
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 one letter on": lambda secret: base64.b64encode(f"a{secret}z".encode()).decode(),
    "base64 two letters on": lambda secret: base64.b64encode(f"ab{secret}z".encode()).decode(),
    "base64 for URLs": lambda secret: base64.urlsafe_b64encode(f"{secret}??>>".encode()).decode(),
    "base64 without padding": lambda secret: base64.b64encode(f"a{secret}".encode()).decode().rstrip("="),
    "base64 behind a prefix": lambda secret: "v1_" + base64.b64encode(f"login:{secret}".encode()).decode(),
    "base64 and quoted": lambda secret: urllib.parse.quote_plus(base64.b64encode(f"x{secret}".encode()).decode()),
    "JSON in base64": lambda secret: base64.b64encode(json.dumps({"pw": secret}).encode()).decode(),
    "percent signs before each byte": lambda secret: "".join(f"%{byte:02x}" for byte in secret.encode()),
    "percent signs in both cases": lambda secret: "".join(
        (f"%{byte:02x}", f"%{byte:02X}")[index % 2] for index, byte in enumerate(secret.encode())
    ),
    "percent signs with u": lambda secret: "".join(f"%u{ord(letter):04x}" for letter in secret),
    "octal escapes": lambda secret: "".join(f"\\{byte:03o}" for byte in secret.encode()),
    "hexadecimal escapes": lambda secret: "".join(f"\\x{byte:02x}" for byte in secret.encode()),
    "long escapes": lambda secret: "".join(f"\\U{ord(letter):08x}" for letter in secret),
    "escapes in braces": lambda secret: "".join(f"\\u{{{ord(letter):x}}}" for letter in secret),
    "escaped in JSON three times": lambda secret: json.dumps(json.dumps(json.dumps(secret))),
    "entities": lambda secret: "".join(f"&#{ord(letter)};" for letter in secret),
    "hexadecimal entities": lambda secret: "".join(f"&#x{ord(letter):X};" for letter in secret),
    "entities without an end": lambda secret: "".join(f"&#{ord(letter)}" for letter in secret),
    "named entities": html.escape,
    "quoted-printable": lambda secret: "".join(f"={byte:02X}" for byte in secret.encode()),
    "shown as bytes": lambda secret: repr(secret.encode()),
    "numbers of bytes": lambda secret: str(list(secret.encode())),
    "quoted for a shell": shlex.quote,
    "escaped for a shell": lambda secret: re.sub(r"(\W)", r"\\\1", secret),
    "a literal of SQL": lambda secret: "'" + secret.replace("'", "''") + "'",
    "a field of CSV": lambda secret: '"' + secret.replace('"', '""') + '"',
    "a value of ODBC": lambda secret: "{" + secret.replace("}", "}}") + "}",
    "with a colour inside": lambda secret: f"{secret[:2]}\x1b[0m{secret[2:]}",
    "with a zero width space inside": lambda secret: f"{secret[:2]}\u200b{secret[2:]}",
    "with a soft hyphen inside": lambda secret: f"{secret[:2]}\xad{secret[2:]}",
    "with zeros between": "\0".join,
    "hexadecimal": lambda secret: secret.encode().hex(),
    "hexadecimal in capitals": lambda secret: secret.encode().hex().upper(),
    "hexadecimal behind a digit": lambda secret: f"a{secret.encode().hex()}",
    "hexadecimal with colons": lambda secret: secret.encode().hex(":"),
    "hexadecimal of more": lambda secret: f"user={secret}x".encode().hex(),
    "hexadecimal of UTF-16": lambda secret: secret.encode("utf-16-le").hex(),
    "base32": lambda secret: base64.b32encode(secret.encode()).decode(),
    "base64 of UTF-16": lambda secret: base64.b64encode(secret.encode("utf-16-le")).decode(),
    "base64 of UTF-16, big end first": lambda secret: base64.b64encode(secret.encode("utf-16-be")).decode(),
    "base64 in lines": lambda secret: base64.encodebytes(f"{LONG_TEXT}{secret}{LONG_TEXT}".encode()).decode().strip(),
    "base64 in indented lines": lambda secret: "\n    ".join(
        re.findall(".{1,64}", base64.b64encode(f"{LONG_TEXT}{secret}{LONG_TEXT}".encode()).decode())
    ),
    "base64 in lines, in JSON": lambda secret: json.dumps(
        base64.encodebytes(f"{LONG_TEXT}{secret}{LONG_TEXT}".encode()).decode()
    ),
    "base64 of a zipped text": lambda secret: base64.b64encode(gzip.compress(f"{LONG_TEXT}{secret}".encode())).decode(),
    "base64 of hexadecimal": lambda secret: base64.b64encode(secret.encode().hex().encode()).decode(),
    "hexadecimal of base64": lambda secret: base64.b64encode(f"x{secret}".encode()).hex(),
    "base64 three times": lambda secret: base64.b64encode(
        base64.b64encode(base64.b64encode(f"x{secret}xyz".encode()))
    ).decode(),
    "base64 twice": lambda secret: base64.b64encode(base64.b64encode(f"x{secret}xyz".encode())).decode(),
}
CONTEXTS = (
    "failed near {} in line 3",
    "GET /x?value={}&page=2",
    "connecting to postgresql://etl:{}@db:5432/prod",
    "<{}>",
)


class TestRegisteredSecretsInOtherForms:
    @pytest.mark.parametrize("context", CONTEXTS)
    @pytest.mark.parametrize("encoding", ENCODINGS)
    @pytest.mark.parametrize("secret", SECRETS)
    def test_every_form_is_masked(self, secret: str, encoding: str, context: str) -> None:
        form = ENCODINGS[encoding](secret)

        redacted = Redactor(masking(*SECRETS)).text(context.format(form))

        assert form not in redacted
        assert "***" in redacted

    def test_an_entity_of_html(self) -> None:
        secret = "p<ss&w'rd"

        assert Redactor(masking(secret)).text(f"<p>{html.escape(secret)}</p>") == "<p>***</p>"

    def test_only_what_the_secret_covers_is_masked(self) -> None:
        text = "GET https://api.example.com/v1/items?name=a%20b&pw=p%40ss%2Fw%3Ard%231%3F&page=2"

        assert Redactor(masking(*SECRETS)).text(text) == (
            "GET https://api.example.com/v1/items?name=a%20b&pw=***&page=2"
        )

    def test_a_secret_of_several_lines(self) -> None:
        secret = "first line\nsecond line"

        assert Redactor(masking(secret)).text("got first%20line%0Asecond%20line.") == "got ***."

    @pytest.mark.parametrize(
        "text",
        [
            "manual__2026-01-01T00:00:00+00:00",
            "LIKE '%abc%' and 100%25 of it",
            "C:\\new\\table\\x",
            "eftixk72aD6Ap51TnqcoF8eFidJG9Z/2mkiDFu8yU9AS1ed4OpIszj7UDNEHGran",
            "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
            base64.b64encode(b"an ordinary sentence without any secret").decode(),
            "a+b+c and x%20y",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "0f8fad5b-d9cb-469f-a165-70867728950e at 0x7f3a5c0d1e80",
            b"an ordinary sentence without any secret".hex(),
            "MAC 68:75:6e:74:65:72, shape [104, 117, 110, 116, 101], 20260101T000000Z",
            "/usr/lib/python3.11/site-packages/sqlalchemy/engine/default.py",
            "org.apache.hadoop.fs.s3a.AWSClientIOException: getFileStatus on s3a://Bucket/Data/part-00000.parquet",
            "ABCDEFGHIJKLMNOP and ORA-01017",
        ],
    )
    def test_encoded_text_without_a_secret_stays(self, text: str) -> None:
        assert Redactor(masking(*SECRETS)).text(text) == text


class TestPatternsInOtherForms:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("url=https%3A%2F%2Fbob%3Ahunter2%40host%2Fpath", "url=https%3A%2F%2Fbob%3A***%40host%2Fpath"),
            ("redirect=%2Fx%3Fapi_key%3Dabcd1234%26page%3D2", "redirect=%2Fx%3Fapi_key%3D***%26page%3D2"),
            (r'body "{\"user\": \"bob\", \"pass\": \"x y\"}"', r'body "{\"user\": \"bob\", \"pass\": \"***\"}"'),
            (r"'line\npassword=hunter2\nline'", r"'line\npassword=***\nline'"),
            ("&lt;password&gt;hunter2&lt;/password&gt;", "&lt;password&gt;***&lt;/password&gt;"),
            ("\x1b[1mpassword\x1b[0m=\x1b[32mhunter2\x1b[0m", "\x1b[1mpassword\x1b[0m=\x1b[32m***\x1b[0m"),
            ("[1mpassword[0m: [32mhunter2[0m", "[1mpassword[0m: [32m***[0m"),
            (r"b'\x1b[1mpassword\x1b[0m=\x1b[32mhunter2\x1b[0m'", r"b'\x1b[1mpassword\x1b[0m=\x1b[32m***\x1b[0m'"),
            ("password\xa0=\u2009hunter2", "password\xa0=\u2009***"),
            ("pass\u200bword=\ufeffhunter2", "pass\u200bword=\ufeff***"),
            ("ｐａｓｓｗｏｒｄ＝hunter2", "ｐａｓｓｗｏｒｄ＝***"),
            ("p\u0430ssword: “hunter2”", "p\u0430ssword: “***”"),
            ("│ password │ hunter2 │", "│ password │ *** │"),
            ("p\0a\0s\0s\0w\0o\0r\0d\0=\0h\0u\0n\0t\0e\0r\0002", "p\0a\0s\0s\0w\0o\0r\0d\0=\0***"),
            ("data: " + b"password=hunter2".hex(), "data: ***"),
            (
                "powershell -enc " + base64.b64encode("password=hunter2".encode("utf-16-le")).decode(),
                "powershell -enc ***",
            ),
            ("C: " + base64.b64encode(b"\0bob\0hunter2").decode(), "C: ***"),
            ("data: " + base64.b64encode(b"postgres://etl:hunter2@db/prod").decode(), "data: ***"),
            ("data: " + base64.b64encode(b'{"password": "hunter2", "user": "bob"}').decode(), "data: ***"),
            ("cfg " + base64.b64encode(f"-----BEGIN PRIVATE KEY-----\n{PEM_LINE}\n".encode()).decode(), "cfg ***"),
        ],
    )
    def test_they_are_found(self, text: str, expected: str) -> None:
        assert Redactor().text(text) == expected


class TestUsersRedactor:
    def test_it_adds_to_ours(self) -> None:
        redactor = Redactor(masking("s3cr3tvalue"), extra=lambda text: text.replace("ACME", "<company>"))

        assert redactor.text("ACME s3cr3tvalue password=hunter2") == "<company> *** password=***"

    def test_it_sees_the_text_behind_the_registered_secrets(self) -> None:
        seen: list[str] = []

        def note(text: str) -> str:
            seen.append(text)
            return text

        Redactor(masking("s3cr3tvalue"), extra=note).text("got s3cr3tvalue")

        assert seen == ["got ***"]

    def test_what_it_returns_passes_everything_again(self) -> None:
        redactor = Redactor(masking("s3cr3tvalue"), extra=lambda text: "s3cr3tvalue password=hunter2")

        assert redactor.text("anything") == "*** password=***"
        assert redactor.redact(one_node(message="anything")).nodes[0].message == "*** password=***"

    def test_it_cannot_make_a_text_too_long(self) -> None:
        assert len(Redactor(extra=lambda text: "word " * 1_000_000).text("x").encode()) <= MAX_MESSAGE_BYTES


class StringWithMethods(str):
    """A string that says something else than it holds."""

    def __str__(self) -> str:
        return "password=hunter2"


class MadeUp(Exception):
    pass


class TestFailingFilter:
    @pytest.mark.parametrize(
        "redactor",
        [
            Redactor(mask_registered=failing(TypeError("hunter2"))),
            Redactor(extra=failing(TypeError("hunter2"))),
            Redactor(mask_registered=lambda text: None),  # type: ignore[arg-type,return-value]
            Redactor(extra=lambda text: text.encode()),  # type: ignore[arg-type,return-value]
        ],
    )
    def test_nothing_leaves(self, redactor: Redactor) -> None:
        evidence = one_node(
            type_path="requests.exceptions.HTTPError",
            base_paths=("builtins.OSError", "made up: name"),
            message="any message",
            notes=("any note",),
            facts={"http.status": 429, "http.body.code": "any", "any: name": 1, "os.fatal": False},
        )

        redacted = redactor.redact(evidence)

        assert redacted.nodes[0] == RedactedNode(
            type_path="requests.exceptions.HTTPError",
            base_paths=("builtins.OSError", WITHHELD),
            message=WITHHELD,
            notes=(WITHHELD,),
            facts={"http.status": 429, "http.body.code": WITHHELD, WITHHELD: 1, "os.fatal": False},
        )
        assert redactor.text("any message") == WITHHELD

    def test_one_failure_is_enough(self) -> None:
        def fail_on_notes(text: str) -> str:
            return text if "note" not in text else failing(KeyError("x"))(text)

        node = Redactor(fail_on_notes).redact(one_node(message="fine", notes=("a note",))).nodes[0]

        assert node.message == "[withheld: the redactor raised KeyError]"

    def test_the_name_of_its_error_is_a_built_in_one(self) -> None:
        class_name = "Leak: hunter2"
        error = type(class_name, (MadeUp, ValueError), {})("hunter2")

        assert Redactor(failing(error)).text("x") == "[withheld: the redactor raised ValueError]"

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("json.decoder.JSONDecodeError", "json.decoder.JSONDecodeError"),
            ("json.AKIA" + "A2B3C4D5E6F7G2H3", f"json.{WITHHELD}"),
            ("jobs.MadeAtRunTime", WITHHELD),
        ],
    )
    def test_of_type_paths_only_what_is_in_a_module_stays(self, path: str, expected: str) -> None:
        assert Redactor(failing(TypeError())).redact(one_node(type_path=path)).nodes[0].type_path == expected

    def test_the_text_in_place_of_others_stays_when_redacted_again(self) -> None:
        assert Redactor().text(WITHHELD) == WITHHELD

    def test_nothing_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(0)

        Redactor(failing(TypeError("hunter2"))).redact(one_node(message="hunter2"))

        assert caplog.records == []

    def test_a_subclass_of_str_becomes_a_plain_string(self) -> None:
        text = Redactor(extra=lambda text: StringWithMethods("fine")).text("x")

        assert type(text) is str
        assert text == "fine"

    @pytest.mark.parametrize("wish", [KeyboardInterrupt, SystemExit])
    def test_a_wish_to_stop_the_process_is_not_swallowed(self, wish: type[BaseException]) -> None:
        for redactor in (Redactor(failing(wish())), Redactor(extra=failing(wish()))):
            with pytest.raises(wish):
                redactor.text("x")
            with pytest.raises(wish):
                redactor.redact(one_node(message="x"))

    @pytest.mark.parametrize("error", [asyncio.CancelledError("hunter2"), GeneratorExit(), BaseException("hunter2")])
    def test_whatever_else_is_no_error_of_a_program_counts_as_one(self, error: BaseException) -> None:
        for redactor in (Redactor(failing(error)), Redactor(extra=failing(error))):
            assert redactor.text("x").startswith("[withheld: the redactor raised ")
            assert redactor.redact(one_node(message="x")).nodes[0].message == redactor.text("x")


class TestSize:
    def test_a_long_message_keeps_its_head_and_its_tail(self) -> None:
        message = "the head " + "filler " * 10_000 + "the tail"

        redacted = Redactor().redact(one_node(message=message)).nodes[0].message

        assert len(redacted.encode()) <= MAX_MESSAGE_BYTES
        assert redacted.startswith("the head")
        assert redacted.endswith("the tail")
        assert f" {CUT_MARK} " in redacted

    @pytest.mark.parametrize("letter", ["a", "é", "€", "😀", "\udcff"])
    @pytest.mark.parametrize("spacing", ["{}", "{} ", '"{}",'])
    def test_it_is_counted_in_bytes(self, letter: str, spacing: str) -> None:
        redacted = Redactor().text(spacing.format(letter * 9) * 4_000)

        assert len(redacted.encode(errors="surrogatepass")) <= MAX_MESSAGE_BYTES
        assert Redactor().text(redacted) == redacted

    def test_a_message_at_the_limit_is_not_cut(self) -> None:
        message = ("word " * MAX_MESSAGE_BYTES)[:MAX_MESSAGE_BYTES]

        assert Redactor().text(message) == message

    @pytest.mark.parametrize("shift", range(0, 24, 3))
    def test_no_half_word_is_left_at_a_cut(self, shift: int) -> None:
        word = "Zx9-secret-Zx9-secret"
        message = "." * shift + f" {word}" * 5_000

        redacted = Redactor().text(message)

        assert set(redacted.split()) <= {word, "." * shift, CUT_MARK}

    @pytest.mark.parametrize("shift", range(0, 24, 3))
    def test_no_half_word_is_left_where_the_collector_cut(self, shift: int) -> None:
        word = "Zx9-secret-Zx9-secret"
        collected = cut("." * shift + f" {word}" * 5_000, MAX_MESSAGE_BYTES)

        redacted = Redactor().text(collected)

        assert set(redacted.split()) <= {word, "." * shift, CUT_MARK}
        assert Redactor().text(redacted) == redacted

    def test_json_without_spaces_is_not_dropped_whole(self) -> None:
        message = "{" + ",".join(f'"field{index}":"value{index}"' for index in range(5_000)) + "}"

        redacted = Redactor().text(message)

        assert redacted.startswith('{"field0":"value0",')
        assert redacted.endswith('"field4999":"value4999"}')
        head, tail = redacted.split(f" {CUT_MARK} ")
        assert re.search(r'"field\d+":"value\d+"[,"]?$|:"?$', head)
        assert len(head) + len(tail) > MAX_MESSAGE_BYTES * 0.8

    def test_a_quoted_secret_of_several_words_that_is_cut(self) -> None:
        text = f'password="correct horse bat{CUT_MARK}ery staple" user=etl'

        assert Redactor().text(text) == 'password="***" user=etl'
        assert "horse" not in Redactor().text(f'error: password="correct horse bat{CUT_MARK}nothing of it')

    def test_a_dsn_that_is_cut(self) -> None:
        text = Redactor().text(f"cannot reach postgres://etl:hun{CUT_MARK}ter2@db/prod now")

        assert text == f"cannot reach {CUT_MARK} now"

    def test_a_private_key_that_is_cut_in_its_middle(self) -> None:
        key = f"-----BEGIN PRIVATE KEY-----\n{f'{PEM_LINE}{chr(10)}' * 400}-----END PRIVATE KEY-----"
        message = f"head\n{key}\ntail"

        redacted = Redactor().text(cut(message, 8_000))

        assert redacted == "head\n***\ntail"

    def test_the_first_half_of_a_private_key(self) -> None:
        text = f"head\n-----BEGIN RSA PRIVATE KEY-----\n{PEM_LINE}\n{PEM_LINE}{CUT_MARK}rest of it"

        assert Redactor().text(text) == "head\n***"

    def test_the_second_half_of_a_private_key(self) -> None:
        text = f"head{CUT_MARK}{PEM_LINE}\n{PEM_LINE}\n-----END RSA PRIVATE KEY-----\ntail"

        assert PEM_LINE[:8] not in Redactor().text(text)
        assert Redactor().text(text).endswith("tail")

    def test_a_mark_that_somebody_wrote_is_no_reason_to_drop_words(self) -> None:
        text = f"they wrote {CUT_MARK} here"

        assert Redactor().text(text) == text


class TestRealFailures:
    """What libraries raise, not what we think that they raise."""

    @staticmethod
    def redacted(raises: Callable[[], object]) -> str:
        with pytest.raises(BaseException) as caught:  # noqa: PT011 - each is another library's
            raises()
        return json.dumps(Redactor().redact(collect(caught.value, observed_at=NOW)).to_json(), ensure_ascii=False)

    def test_a_statement_of_sqlalchemy_with_its_parameters(self) -> None:
        def insert_twice() -> None:
            with sqlalchemy.create_engine("sqlite://").begin() as connection:
                connection.exec_driver_sql("create table users (name text unique, password text)")
                for _ in range(2):
                    connection.exec_driver_sql(
                        "insert into users (name, password) values (?, ?)", ("bob", "hunter2secret")
                    )

        redacted = self.redacted(insert_twice)

        assert "hunter2secret" not in redacted
        assert "UNIQUE constraint failed: users.name" in redacted

    def test_a_url_of_requests(self) -> None:
        redacted = self.redacted(
            lambda: requests.get("http://bob:hunter2@127.0.0.1:1/v1/items?api_key=abcd1234&page=2", timeout=1)
        )

        assert "abcd1234" not in redacted
        assert "hunter2" not in redacted
        assert "/v1/items?api_key=***&page=2" in redacted
        assert "[Errno 111] Connection refused" in redacted

    def test_a_presigned_url_of_boto3(self) -> None:
        client = boto3.client(
            "s3",
            region_name="us-east-1",
            aws_access_key_id="AKIA" + "A2B3C4D5E6F7G2H3",
            aws_secret_access_key="x" * 40,
            aws_session_token="IQoJb3JpZ2lu" + "X2VjEabcdefgh",
            endpoint_url="http://127.0.0.1:1",
        )
        url = client.generate_presigned_url("get_object", Params={"Bucket": "b", "Key": "data/part-0.parquet"})
        signature = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)["Signature"][0]

        redacted = self.redacted(lambda: requests.get(url, timeout=1))

        for secret in ("A2B3C4D5E6F7G2H3", "X2VjEabcdefgh", signature, urllib.parse.quote(signature, safe="")):
            assert secret not in redacted
        assert "/b/data/part-0.parquet" in redacted

    def test_a_command_line(self) -> None:
        redacted = self.redacted(
            lambda: subprocess.run(
                ["sh", "-c", "exit 3 # mysql -u root -phunter2 && curl -u bob:hunter3 https://x"], check=True
            )
        )

        assert "hunter" not in redacted
        assert "returned non-zero exit status 3" in redacted

    def test_a_rejected_setting_of_pydantic(self) -> None:
        class Settings(pydantic.BaseModel):
            db_password: int
            port: int

        redacted = self.redacted(lambda: Settings(db_password="hunter2", port="x"))  # type: ignore[arg-type]

        assert "hunter2" not in redacted
        assert "unable to parse string as an integer" in redacted
        assert "input_value='x'" in redacted

    def test_a_password_that_the_url_parser_took_for_a_port(self) -> None:
        redacted = self.redacted(lambda: urllib.parse.urlsplit("postgres://etl:hun/ter2@db/prod").port)

        assert "hun" not in redacted
        assert "Port could not be cast to integer value as" in redacted


class TestFromJson:
    def evidence(self) -> RedactedEvidence:
        nodes = (
            ExceptionNode("jobs.Failed", ("builtins.RuntimeError",), "failed", ("a note",), facts={"http.status": 429}),
            ExceptionNode(
                "builtins.OSError", edge=Edge.CAUSE, parent=0, from_text=True, facts={"a.b": 0.5, "c.d": True}
            ),
        )
        return Redactor().redact(Evidence(nodes, NOW, is_truncated=True))

    def test_it_reads_what_was_written(self) -> None:
        data = json.loads(json.dumps(self.evidence().to_json()))

        assert from_json(data, Redactor()) == self.evidence()

    def test_it_redacts_again(self) -> None:
        data = {
            "observed_at": NOW.isoformat(),
            "nodes": [{"type": "jobs.Failed", "edge": "root", "message": "password=hunter2 s3cr3tvalue"}],
        }

        assert from_json(data, Redactor(masking("s3cr3tvalue"))).nodes[0].message == "password=*** ***"

    def test_times_become_utc(self) -> None:
        data = {"observed_at": "2026-01-31T13:00:00+01:00", "nodes": [{"type": "a.B", "edge": "root"}]}

        assert from_json(data, Redactor()).observed_at == NOW

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            ({"nodes": None}, "nodes must be a list, got nothing."),
            ({"nodes": []}, "nodes must hold at least the exception that Airflow handed over, got none."),
            ({"nodes": [{"type": "a", "edge": "root"}] * 65}, "nodes may hold at most 64 items, got 65."),
            ({"nodes": ["hunter2"]}, "nodes[0] must be an object, got a value of type str."),
            ({"observed_at": "hunter2"}, "observed_at must be an ISO 8601 time with an offset"),
            ({"observed_at": "2026-01-31T12:00:00"}, "observed_at must be an ISO 8601 time with an offset"),
            ({"observed_at": 5}, "got 5."),
            ({"is_truncated": "yes"}, "is_truncated must be true or false, got a value of type str."),
            (
                {"hunter2": 1},
                "evidence may only have the fields is_truncated, nodes, observed_at; 1 others were found.",
            ),
        ],
    )
    def test_wrong_evidence_is_refused(self, change: dict[str, object], complaint: str) -> None:
        data = {"observed_at": NOW.isoformat(), "nodes": [{"type": "a.B", "edge": "root"}], **change}

        with pytest.raises(ValueError, match=re.escape(complaint)) as caught:
            from_json(data, Redactor())

        assert "hunter2" not in str(caught.value)

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            ({"type": None}, "nodes[1].type must be a string, got nothing."),
            ({"type": "x" * 2000}, "nodes[1].type may be at most 1024 characters long, got 2000."),
            ({"edge": "hunter2"}, "nodes[1].edge must be one of root, cause, context"),
            ({"edge": "root"}, "nodes[1].edge must be 'root' for the first node and for no other."),
            ({"parent": 1}, "nodes[1].parent must be the index of an earlier node, got 1."),
            ({"parent": -1}, "nodes[1].parent must be the index of an earlier node, got -1."),
            ({"parent": None}, "nodes[1].parent must be the index of an earlier node, got nothing."),
            ({"parent": False}, "nodes[1].parent must be the index of an earlier node, got False."),
            ({"message": 5}, "nodes[1].message must be a string, got 5."),
            ({"message": "x" * 70_000}, "nodes[1].message may be at most 65536 characters long, got 70000."),
            ({"notes": "hunter2"}, "nodes[1].notes must be a list, got a value of type str."),
            ({"notes": ["x"] * 65}, "nodes[1].notes may hold at most 64 items, got 65."),
            ({"bases": [["hunter2"]]}, "nodes[1].bases must be a string, got a value of type list."),
            ({"facts": []}, "nodes[1].facts must be an object, got a value of type list."),
            ({"facts": {"a": None}}, "nodes[1].facts must hold strings, booleans and finite numbers"),
            ({"facts": {"a": math.nan}}, "nodes[1].facts must hold strings, booleans and finite numbers"),
            ({"facts": {"a": 10**5000}}, "nodes[1].facts must hold strings, booleans and finite numbers"),
            ({"facts": {str(index): 1 for index in range(65)}}, "nodes[1].facts may hold at most 64 entries, got 65."),
            ({"from_text": 1}, "nodes[1].from_text must be true or false, got 1."),
            ({"hunter2": 1}, "nodes[1] may only have the fields bases, edge, facts"),
        ],
    )
    def test_a_wrong_node_is_refused(self, change: dict[str, object], complaint: str) -> None:
        second = {"type": "a.B", "edge": "cause", "parent": 0, **change}
        data = {"observed_at": NOW.isoformat(), "nodes": [{"type": "a.B", "edge": "root"}, second]}

        with pytest.raises(ValueError, match=re.escape(complaint)) as caught:
            from_json(data, Redactor())

        assert "hunter2" not in str(caught.value)

    def test_the_first_node_has_no_parent(self) -> None:
        data = {"observed_at": NOW.isoformat(), "nodes": [{"type": "a.B", "edge": "root", "parent": 0}]}

        with pytest.raises(ValueError, match=re.escape("nodes[0].parent must be left out")):
            from_json(data, Redactor())

    @pytest.mark.parametrize("data", [None, [], "x", 5, {}])
    def test_anything_else_is_refused(self, data: object) -> None:
        with pytest.raises(ValueError, match="must"):
            from_json(data, Redactor())


def test_the_digits_of_a_fraction_are_no_encoded_text() -> None:
    text = "timed out after 0.05000457400456071 seconds"
    assert Redactor().text(text) == text


def test_redacted_nodes_are_made_in_one_place_only() -> None:
    source = Path(__file__).parent.parent.parent / "src" / "airflow_common_ai"
    construction = re.compile(r"(?<!class )\bRedacted(?:Node|Evidence)\(")

    makers = {path.name for path in source.rglob("*.py") if construction.search(path.read_text(encoding="utf-8"))}

    assert makers == {"redaction.py"}
