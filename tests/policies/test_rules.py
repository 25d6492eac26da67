"""Rules are checked when the Dag is parsed, with errors that say the fix, and match anywhere in the chain."""

from __future__ import annotations

import functools
import logging
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.sdk.definitions.retry_policy import RetryAction, RetryRule

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.model import RedactedEvidence
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor, from_json
from airflow_common_ai.policies.rules import FailureRule, check_rules


def evidence_of(exception: BaseException) -> RedactedEvidence:
    return Redactor().redact(collect(exception, observed_at=datetime(2026, 1, 1, tzinfo=UTC)))


def matches(rule: FailureRule, exception: BaseException) -> bool:
    evidence = evidence_of(exception)
    return rule.matches(exception, evidence, read_signals(evidence))


def wrapped() -> BaseException:
    try:
        try:
            raise ConnectionRefusedError(111, "Connection refused")
        except ConnectionRefusedError as error:
            raise RuntimeError("partition 2026-01-01 is not ready") from error
    except RuntimeError as error:
        return error


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (FailureRule(exception=RuntimeError), True),
        (FailureRule(exception=ConnectionRefusedError), True),
        (FailureRule(exception=OSError), True),
        (FailureRule(exception="builtins.ConnectionError"), True),
        (FailureRule(exception=[ValueError, "builtins.OSError"]), True),
        (FailureRule(exception=ValueError), False),
        (FailureRule(exception=ConnectionError, match="outermost"), False),
        (FailureRule(exception=ConnectionError, match="innermost"), True),
        (FailureRule(exception=RuntimeError, match="innermost"), False),
        (FailureRule(message=r"partition .* is not ready"), True),
        (FailureRule(message=r"partition .* is ready"), False),
        (FailureRule(exception=RuntimeError, message="refused"), False),
        (FailureRule(exception=OSError, message="refused"), True),
        (FailureRule(signal="os.errno == 111"), True),
        (FailureRule(signal="os.errno in {110, 111}"), True),
        (FailureRule(signal="os.errno not in {110, 111}"), False),
        (FailureRule(signal="os.errno > 111"), False),
        (FailureRule(signal="http.status in {403}"), False),
        (FailureRule(signal="os.*"), True),
        (FailureRule(signal="http.*"), False),
        (FailureRule(predicate=lambda error: "partition" in str(error)), True),
        (FailureRule(predicate=lambda error: isinstance(error.__cause__, ValueError)), False),
        (FailureRule(exception=ValueError, predicate=lambda error: True), False),
    ],
)
def test_a_rule_matches_when_all_its_conditions_hold_on_one_exception(rule: FailureRule, expected: bool) -> None:
    assert matches(rule, wrapped()) is expected


def test_a_predicate_that_raises_does_not_match_and_is_said(caplog: pytest.LogCaptureFixture) -> None:
    def broken(error: BaseException) -> bool:
        raise KeyError("hunter2")

    assert not matches(FailureRule(predicate=broken), ValueError("x"))
    assert "raised KeyError" in caplog.text
    assert "hunter2" not in caplog.text


def test_a_re_exported_path_matches_the_class_it_stands_for() -> None:
    import requests

    assert matches(FailureRule(exception="requests.HTTPError"), requests.exceptions.HTTPError("404"))


async def never_awaited(error: BaseException) -> bool:
    return False


class _Judge:
    def __call__(self, error: BaseException, strict: bool = False) -> bool:
        return True


@pytest.mark.parametrize(
    "predicate",
    [lambda *errors: True, lambda error, limit=3: True, _Judge(), bool, callable, functools.partial(isinstance, 5)],
)
def test_a_predicate_that_takes_the_exception_is_accepted(predicate: Callable[..., bool]) -> None:
    FailureRule(predicate=predicate)


@pytest.mark.parametrize(
    ("test", "value", "expected"),
    [
        ("http.header.x-quota == '0'", 0.0, True),
        ("http.header.x-quota == '0'", "0", True),
        ("http.header.x-quota < 5", "3", True),
        ("http.header.x-quota in {0, 1}", "7", False),
        ("http.header.server in {'cloudflare'}", "cloudflare", True),
        ("http.header.server < 5", "cloudflare", False),
    ],
)
def test_a_header_is_compared_as_a_number_where_it_is_one(test: str, value: str | float, expected: bool) -> None:
    name = test.split()[0]
    nodes = [{"type": "x.Error", "edge": "root", "facts": {name: value}}]
    evidence = from_json(
        {"observed_at": "2026-01-01T00:00:00+00:00", "is_truncated": False, "nodes": nodes}, Redactor()
    )
    assert FailureRule(signal=test).matches(ValueError(), evidence, ()) is expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs a condition"),
        (
            {"exception": OSError, "retry_delay": 60},
            r"retry_delay must be a timedelta .* got 60\. Use e\.g\. timedelta",
        ),
        ({"exception": OSError, "retry_delay": timedelta(seconds=-1)}, "between 0 and 7 days"),
        ({"exception": OSError, "retry_delay": timedelta(days=400)}, "between 0 and 7 days"),
        ({"exception": (OSError, ValueError)}, "a \\*list\\* of them, got the tuple"),
        ({"exception": int}, "must be an exception class or its dotted path"),
        ({"exception": "ValueError"}, "must be a dotted path such as 'builtins.ValueError'"),
        ({"exception": "builtins.ValueErorr"}, "module 'builtins' has no 'ValueErorr'"),
        ({"exception": "json.decoder.JSONDecodError"}, "module 'json.decoder' has no 'JSONDecodError'"),
        ({"exception": "xmlrpc.client.Faul"}, "module 'xmlrpc.client' has no 'Faul'"),
        ({"message": "("}, r"must be a regular expression.*re\.escape"),
        ({"message": 5}, "must be a regular expression"),
        ({"message": b"x"}, "must be a regular expression as text"),
        ({"message": ""}, "must be a regular expression as text"),
        ({"exception": []}, "must not be an empty list"),
        ({"signal": "http status 403"}, "is not understood. Use the code of a signal"),
        ({"signal": "http.status in 403"}, "'in' needs a set"),
        ({"signal": "http.status == {403}"}, "'==' needs one value"),
        ({"signal": "http.status == open('x')"}, "is not a literal value"),
        ({"signal": "htpp.429"}, r"no code begins with 'htpp'\. Did you mean 'http\.429'\?"),
        ({"signal": "awss.Throttling*"}, r"Did you mean 'aws\.Throttling\*'\?"),
        ({"signal": "nowhere.at_all"}, r"no code begins with 'nowhere'\. Use the code of a signal"),
        ({"signal": "http"}, r"is no whole code\. Use 'http\.\*' for all of them"),
        ({"signal": "http.status"}, r"is a fact and no code: compare it, e\.g\. 'http\.status == …'"),
        ({"signal": "htpp.status in {403}"}, r"no fact 'htpp\.status'\. Did you mean 'http\.status'\?"),
        ({"signal": "http.statsu == 403"}, r"Did you mean 'http\.status'\?"),
        ({"signal": "tls.x == 'x'"}, r"Facts of 'tls' are tls\.library, tls\.reason, tls\.verify_code\."),
        ({"signal": "exit.code >= 64"}, r"Facts begin with airflow, amqp, .*, process, "),
        ({"signal": "http.status in {'403'}"}, r"http\.status is a number and is never '403'\. Use 403 instead"),
        ({"signal": "http.status in {403, '404'}"}, r"never '404'\. Use 404 instead"),
        ({"signal": "http.status != '403'"}, r"never '403'\. Use 403 instead"),
        ({"signal": "http.status == None"}, r"is a number and is never None\.$"),
        ({"signal": "os.errno == True"}, r"is a number and is never True"),
        ({"signal": "os.errno == 'ENOSPC'"}, r"os\.errno is a number and is never 'ENOSPC'"),
        ({"signal": "sql.sqlstate in {40001}"}, r"sql\.sqlstate is a text and is never 40001\. Use '40001' instead"),
        ({"signal": "sql.sqlstate > 40000"}, r"sql\.sqlstate is a text and is never 40000\.$"),
        ({"signal": "kafka.fatal == 'true'"}, r"kafka\.fatal is True or False and is never 'true'\. Use True instead"),
        ({"predicate": "not callable"}, "must be a function"),
        ({"predicate": ValueError}, r"got <class 'ValueError'>.* a class goes in FailureRule\.exception"),
        ({"predicate": lambda: True}, r"called with the exception alone, .*: too many positional arguments\."),
        ({"predicate": lambda error, context: True}, r"does not take: missing a required argument: 'context'\. Use"),
        ({"predicate": lambda error, *, context: True}, r"missing a required .*argument: 'context'"),
        ({"predicate": never_awaited}, "must not be async"),
        ({"exception": OSError, "match": "first"}, "must be 'anywhere', 'outermost' or 'innermost'"),
        ({"exception": OSError, "max_attempts": 0}, "whole number of attempts from 1"),
        ({"exception": OSError, "max_attempts": True}, "whole number of attempts from 1"),
        ({"exception": OSError, "max_attempts": 2, "action": RetryAction.FAIL}, "only goes with action"),
        ({"exception": OSError, "action": "fail"}, r"must be a RetryAction, got 'fail'\. Use e\.g\. RetryAction\.FAIL"),
        ({"exception": OSError, "reason": ""}, "reason must be a text"),
    ],
)
def test_a_wrong_rule_fails_at_parse_with_the_fix(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        FailureRule(**options)


@pytest.mark.parametrize(
    "signal",
    [
        "aws.ACodeThatNobodyKnowsYet",
        "*",
        "*.timed_out",
        "kafka.fatal",
        "kafka.fatal == True",
        "http.header.x-company-quota == '0'",
        "process.exit_code >= 64",
    ],
)
def test_what_may_be_legitimate_is_accepted(signal: str) -> None:
    FailureRule(signal=signal)


def test_a_category_that_the_policy_does_not_have_fails_at_parse() -> None:
    rules = [FailureRule(exception=OSError, category="ratelimit")]
    with pytest.raises(ValueError, match=r"P\.rules\[0\]\.category must .*'ratelimit'\. Did you mean 'rate_limit'\?"):
        check_rules(rules, "P.rules")
    with pytest.raises(ValueError, match=r"Use one of rate_limit, auth, .*, or add it to them"):
        check_rules([FailureRule(exception=OSError, category="weather")], "P.rules")
    assert check_rules(rules, "P.rules", {"ratelimit"}) == tuple(rules)


def test_a_module_that_is_absent_here_is_a_warning_since_the_worker_may_have_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        FailureRule(exception="only_on_the_worker.errors.Busy")
    assert "'only_on_the_worker.errors.Busy'" in caplog.text


def test_checking_a_path_imports_nothing() -> None:
    program = (
        "import sys\n"
        "from airflow_common_ai.policies.class_path import check_class_path\n"
        "before = set(sys.modules)\n"
        "check_class_path('xmlrpc.client.Fault')\n"
        "check_class_path('boto3.exceptions.S3UploadFailedError')\n"
        "assert not {m for m in set(sys.modules) - before if m.startswith(('xmlrpc', 'boto3'))}\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (RetryRule(exception=OSError), r"must be a list of rules, got RetryRule"),
        (FailureRule(exception=OSError), "must be a list of rules"),
        ("rules", "must be a list of rules"),
        ([ValueError], r"Policy.rules\[0\] must be a RetryRule or a FailureRule, got type"),
        ([RetryRule(exception=OSError, retry_delay=60)], "retry_delay must be a timedelta"),  # type: ignore[arg-type]
        ([RetryRule(exception=OSError, retry_delay=timedelta(seconds=-5))], "between 0 and 7 days"),
    ],
)
def test_a_wrong_list_of_rules_fails_at_parse(rules: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        check_rules(rules, "Policy.rules")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"exception": "json.dumps"}, "and 'json.dumps' is none"),
        ({"exception": "json.JSONDecoder"}, "and 'json.JSONDecoder' is none"),
        (
            {"exception": OSError, "action": RetryAction.FAIL, "retry_delay": timedelta(seconds=3)},
            "retry_delay only goes with action=RetryAction.RETRY",
        ),
        (
            {"exception": OSError, "retry_delay": timedelta(seconds=-1)},
            r"got -1 s\. Use e\.g\. timedelta\(seconds=60\)",
        ),
    ],
)
def test_what_can_never_work_is_refused_when_the_dag_is_parsed(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        FailureRule(**arguments)
