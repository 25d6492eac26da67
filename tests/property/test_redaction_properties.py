"""What holds of the wall for any text."""

from __future__ import annotations

import json
import re
import string
from datetime import UTC, datetime

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from airflow_common_ai.evidence.cut import CUT_MARK, cut
from airflow_common_ai.evidence.fitting import MAX_MESSAGE_BYTES, drop_halves, fit
from airflow_common_ai.evidence.model import Edge, Evidence, ExceptionNode, Fact
from airflow_common_ai.evidence.redaction import Redactor, from_json
from airflow_common_ai.evidence.secret_patterns import PATTERNS, find_secrets, mask_spans, suspect

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
REGISTERED = ("s3cr3tvalue", "two words of it", "postgres", "p@ss/w:rd")
REDACTOR = Redactor(lambda text: re.sub("|".join(map(re.escape, REGISTERED)), "***", text))

FRAGMENTS = st.sampled_from(
    [
        *("password", "token", "secret_key", "api-key", "Authorization", "Cookie", "DB_PW", "key", "sig", "--password"),
        *(
            "=",
            ": ",
            ":",
            '": "',
            "='",
            '="',
            "=>",
            "'",
            '"',
            "`",
            '\\"',
            "\\n",
            "\\",
            ",",
            ";",
            "&",
            "?",
            "(",
            ")",
            "{",
            "}",
        ),
        *(
            "[",
            "]",
            "<",
            ">",
            "|",
            "*",
            "***",
            "****",
            "@",
            "://",
            "%40",
            "%3D",
            "%25",
            "+",
            "&quot;",
            "\n",
            "\t",
            " ",
            "  ",
        ),
        *(
            "Bearer ",
            "Basic ",
            "https",
            "postgres://u:",
            "@host",
            ".example.com",
            ":5432/",
            "/x",
            "-p",
            "mysql ",
            "echo ",
        ),
        *(
            "hunter2",
            "AKIAABCDEFGHIJKLMNOP",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
            "sk-abc***",
            "xoxb-1234567890",
        ),
        *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", CUT_MARK),
        *(
            "4111 1111 1111 1111",
            "DE89370400440532013000",
            "a1B2",
            "é",
            "İ",
            "K",
            "\udcff",
            "00",
            "-",
            ".",
            "word",
            " is ",
            "is",
            "the",
        ),
        *(
            "cGFzc3dvcmQ9aHVudGVyMg==",
            "cABhAHMAcwB3AG8AcgBkAD0AaAAxAA==",
            "70617373776f72643d68756e74657232",
            "czNjcjN0dmFsdWU=",
            "73336372337476616c7565",
            "s3cr3t\x1b[0mvalue",
            "\\163\\063cr3tvalue",
            "&#115;3cr3tvalue",
            "\x1b[1m",
            "\u200b",
            "\xa0",
            "＝",
            "ｐａｓｓword",
            ": |\n  ",
            ":\n  ",
            " | ",
            "\n---+---\n",
            "user,password\nbob,",
            " -> ",
            " for bob",
            "scott/tiger",
            *REGISTERED,
            "p%40ss%2Fw%3Ard",
            "two+words+of+it",
            "insert into t (password) values (",
        ),
    ]
)
TEXTS = st.lists(st.one_of(FRAGMENTS, st.text(max_size=4)), max_size=24).map("".join)
NAMES = st.one_of(st.from_regex(r"[a-z]{1,6}(\.[A-Za-z_]{1,8}){0,3}", fullmatch=True), TEXTS)
FACTS = st.dictionaries(NAMES, st.one_of(TEXTS, st.booleans(), st.integers(-(2**63), 2**63), st.floats()), max_size=4)


@st.composite
def failures(draw: st.DrawFn) -> Evidence:
    nodes = [
        ExceptionNode(
            type_path=draw(NAMES),
            base_paths=tuple(draw(st.lists(NAMES, max_size=2))),
            message=draw(TEXTS),
            notes=tuple(draw(st.lists(TEXTS, max_size=2))),
            edge=Edge.CAUSE if index else Edge.ROOT,
            parent=index - 1 if index else None,
            facts=draw(FACTS),
            from_text=draw(st.booleans()),
        )
        for index in range(draw(st.integers(1, 3)))
    ]
    return Evidence(tuple(nodes), NOW, draw(st.booleans()))


def again(redacted_nodes: tuple[ExceptionNode, ...], is_truncated: bool) -> Evidence:
    return Evidence(redacted_nodes, NOW, is_truncated)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
@example("password=***x")
@example("a" * 40_000)
def test_redacting_a_text_again_changes_nothing(text: str) -> None:
    redacted = REDACTOR.text(text)

    assert REDACTOR.text(redacted) == redacted


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(failures())
def test_redacting_a_failure_again_changes_nothing(evidence: Evidence) -> None:
    redacted = REDACTOR.redact(evidence)

    assert REDACTOR.redact(again(redacted.nodes, redacted.is_truncated)) == redacted


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(failures())
def test_a_redacted_failure_goes_to_json_and_back(evidence: Evidence) -> None:
    redacted = REDACTOR.redact(evidence)

    assert from_json(json.loads(json.dumps(redacted.to_json(), allow_nan=False)), REDACTOR) == redacted


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.sampled_from(REGISTERED), TEXTS)
def test_no_registered_secret_survives(before: str, secret: str, after: str) -> None:
    assert secret not in REDACTOR.text(f"{before}{secret}{after}")


SEALED = st.text("ZQXJ" + string.digits, min_size=12, max_size=30).map(lambda text: f"Zq9{text}")
"""A password that stands nowhere else by chance."""
TEMPLATES = st.sampled_from(
    [
        "password={}",
        "DB_PASSWORD={} x",
        "{{'password': '{}'}}",
        '{{"client_secret": "{}"}}',
        r"{{\"password\": \"{}\"}}",
        "password: {}\n",
        "--password {} --x",
        "postgres://u:{}@db:5432/x",
        "Authorization: Bearer {}",
        "https://x?access_token={}&a=b",
        "PWD={};UID=x",
        "<password>{}</password>",
        "mysql -u root -p{} db",
        "curl -u bob:{} https://x",
        "Set-Cookie: session={}; Path=/\n",
        "CREATE USER x IDENTIFIED BY '{}'",
        "p%3Dx%26password%3D{}%26b",
        "the password is {}, which",
        "aws_secret_access_key {}",
        "\x1b[1mpassword\x1b[0m=\x1b[32m{}\x1b[0m",
        "password\xa0=\u200b{}\u200b",
        "ｐａｓｓｗｏｒｄ：{}\n",
        "password: |\n  {}\nuser: bob\n",
        "\n| user | password |\n|---|---|\n| bob | {} |\n",
        "\nuser,password\nbob,{}\n",
        "connect etl/{}@orcl",
    ]
)
PROSE = st.lists(
    st.sampled_from(
        ["could", "not", "connect", "to", "db.example.com:5432", "[Errno 111]", "at", "line", "42", "\n", "é"]
    ),
    max_size=12,
).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(PROSE, TEMPLATES, SEALED, PROSE)
def test_a_secret_is_found_wherever_it_stands(before: str, template: str, secret: str, after: str) -> None:
    redacted = Redactor().text(f"{before} {template.format(secret)} {after}")

    assert secret not in redacted
    assert secret[:8] not in redacted
    assert secret[-8:] not in redacted


@settings(max_examples=200, deadline=None)
@given(PROSE, TEMPLATES, SEALED, PROSE)
def test_the_text_around_a_secret_stays(before: str, template: str, secret: str, after: str) -> None:
    redacted = Redactor().text(f"{before} {template.format(secret)} {after}")

    assert redacted.startswith(f"{before} ")
    assert redacted.endswith(f" {after}")


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_looking_a_text_over_first_loses_no_secret(text: str) -> None:
    text = text.replace("İ", "I")

    assert mask_spans(text, find_secrets(text, suspect(text))) == mask_spans(text, find_secrets(text, PATTERNS))


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.integers(0, 400), st.integers(1, 400))
def test_no_word_touches_a_cut(text: str, limit: int, more: int) -> None:
    text = (text.replace(CUT_MARK, "").replace("\udcff", "") + " word") * 8
    words = set(re.split(r"\s+", text)) | set(re.findall(r"[^\s,;&|\"'<>{}()\[\]]+", text))

    left = drop_halves(cut(text, limit + more)).replace(CUT_MARK, " ")

    assert set(left.split()) <= words


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.integers(1, 3_000))
def test_what_fits_stays_and_the_rest_is_made_to_fit(text: str, times: int) -> None:
    long = text * times
    fitting = fit(long)

    assert len(fitting.encode(errors="surrogatepass")) <= MAX_MESSAGE_BYTES
    assert fit(fitting) == fitting
    if len(long.encode(errors="surrogatepass")) <= MAX_MESSAGE_BYTES:
        assert fitting == long


def test_the_facts_of_a_failure_keep_their_types() -> None:
    facts: dict[str, Fact] = {"a.int": 1, "a.flag": True, "a.float": 0.5, "a.text": "x"}
    node = REDACTOR.redact(Evidence((ExceptionNode("a.B", facts=facts),), NOW)).nodes[0]

    assert {name: type(fact) for name, fact in node.facts.items()} == {
        "a.int": int,
        "a.flag": bool,
        "a.float": float,
        "a.text": str,
    }
