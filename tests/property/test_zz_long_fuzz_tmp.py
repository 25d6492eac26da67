"""Whatever is piped into ``airflow-common-ai explain``: it never crashes, and nothing of it acts on the terminal."""

from __future__ import annotations

import gzip
import json
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from airflow_common_ai.cli.app import app

EVENTS = [
    "Task failed with exception",
    "Task exited",
    "Trigger failed:",
    "::group::Pre Execute",
    "Retry policy decision",
]
PIECES = [
    *EVENTS,
    "Traceback (most recent call last):\n",
    '  File "/usr/lib/python3.11/site-packages/requests/models.py", line 3, in f\n',
    "    File /usr/lib/python3.11/site-packages/requests/models.py, line 3 in f\n",
    "requests.exceptions.HTTPError: 503 Server Error\n",
    ",OSError: [Errno 111] Connection refused\n",
    "\nThe above exception was the direct cause of the following exception:\n\n",
    "[2026-01-31T12:00:00.000000Z] ERROR - ",
    " source=task  loc=task_runner.py:1676 ",
    " exit_code=137 ",
    "\n",
    "{",
    "}",
    '{"timestamp": "2026-01-31", "level": "error", "event": "',
    '", "error_detail": [{"exc_type": "ValueError", "exc_value": "',
    '"}]}\n',
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\u202e",
    "\ud800",
    "\x00",
]

any_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.sampled_from(PIECES),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text() | st.sampled_from(EVENTS), below, max_size=4),
    max_leaves=12,
)
stacks = st.recursive(
    st.just([]),
    lambda below: st.lists(
        st.fixed_dictionaries(
            {"exc_type": st.sampled_from(["HTTPError", "OSError", "E\x1b[1m", ""]) | st.text() | any_json},
            optional={
                "exc_value": st.sampled_from(PIECES) | any_json,
                "exc_notes": st.lists(st.text() | any_json, max_size=2) | any_json,
                "is_cause": any_json,
                "syntax_error": any_json,
                "frames": st.lists(st.fixed_dictionaries({"filename": st.sampled_from(PIECES) | any_json}), max_size=2),
                "exceptions": st.lists(below, max_size=3) | any_json,
            },
        ),
        max_size=3,
    ),
    max_leaves=6,
)
records = st.fixed_dictionaries(
    {
        "timestamp": st.sampled_from(["2026-01-31T12:00:00Z", "0001-01-01T00:00:00+23:59", ""]) | any_json,
        "level": any_json,
        "event": st.sampled_from(EVENTS) | st.text() | any_json,
    },
    optional={"error_detail": stacks | any_json, "exception": any_json, "exit_code": any_json, "logger": any_json},
)
json_logs = st.lists(records, min_size=1, max_size=4).map(lambda lines: "\n".join(map(json.dumps, lines)))
documents = st.fixed_dictionaries({"content": st.lists(records | any_json, max_size=3) | any_json}).map(json.dumps)
plain_logs = st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=25).map("".join)

texts = (json_logs | documents | any_json.map(json.dumps) | plain_logs).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)
inputs = st.binary(max_size=2000) | texts | texts.map(gzip.compress) | texts.map(lambda data: b"\xff\xfe" + data)


@pytest.mark.parametrize("is_json", [False, True], ids=["text", "json"])
@settings(deadline=None, max_examples=2500, suppress_health_check=[HealthCheck.too_slow])
@given(data=inputs, try_number=st.integers(1, 30), retries=st.integers(0, 30), delay=st.floats(0, 31_536_000))
def test_any_input_is_judged_or_refused(
    data: bytes, try_number: int, retries: int, delay: float, is_json: bool
) -> None:
    options = ["--try-number", str(try_number), "--retries", str(retries), "--retry-delay", repr(delay)]

    result = CliRunner().invoke(app, ["explain", *options, *["--json"] * is_json], input=data)

    assert result.exit_code in (0, 2), result.exception
    shown = result.stdout if result.exit_code == 0 else result.stderr
    if is_json and result.exit_code == 0:
        assert json.loads(shown)["version"] == 1
    else:
        assert shown.strip()
        assert not any(unicodedata.category(char) in ("Cc", "Cs") and char != "\n" for char in shown)
        assert not any(unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF") for char in shown)


@given(data=json_logs | plain_logs)
@settings(deadline=None, max_examples=600, suppress_health_check=[HealthCheck.too_slow])
def test_text_and_json_tell_the_same_decision(data: str) -> None:
    log = data.encode("utf-8", "surrogatepass")

    text = CliRunner().invoke(app, ["explain"], input=log)
    as_json = CliRunner().invoke(app, ["explain", "--json"], input=log)

    assert text.exit_code == as_json.exit_code
    if text.exit_code == 0:
        assert f" - {json.loads(as_json.stdout)['decision']['code']}" in text.stdout
