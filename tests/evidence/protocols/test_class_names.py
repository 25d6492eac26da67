"""A class that stands in no table may promise another try by its name; against one only a refused login speaks."""

from __future__ import annotations

import pytest
from failure_reading import alive, codes, conclusion, logged
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Retry

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS


@pytest.mark.parametrize(
    ("name", "category", "retry"),
    [
        ("RateLimitExceeded", "rate_limit", YES),
        ("TooManyRequestsError", "rate_limit", YES),
        ("ThrottledError", "rate_limit", YES),
        ("RequestTimeoutError", "network", DEPENDS),
        ("FSTimeoutError", "network", DEPENDS),
        ("DeadlineExceeded", "network", DEPENDS),
        ("ConnectionFailedError", "network", DEPENDS),
        ("AcmeConnectionException", "network", DEPENDS),
        ("UnreachableHostException", "network", DEPENDS),
        ("CommClosedError", "network", DEPENDS),
        ("ServiceUnavailable", "transient", DEPENDS),
        ("InternalServerError", "transient", DEPENDS),
        ("TemporaryFailException", "transient", DEPENDS),
        ("NodeDiedError", "transient", DEPENDS),
        ("CommitFailedException", "transient", DEPENDS),
        ("OptimisticLockError", "transient", DEPENDS),
        ("AuthenticationException", "auth", NO),
        ("LogonFailure", "auth", NO),
        ("AuthenticationError", "auth", NO),
        ("PermissionDenied", "auth", NO),
        ("InvalidTokenError", "auth", NO),
    ],
)
def test_a_name_says_what_kind_of_failure_it_is(name: str, category: str, retry: Retry) -> None:
    error = stand_in(f"acme_client.errors.{name}", "It did not work.")
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.category, signal.retry) == (category, retry)


@pytest.mark.parametrize(
    "name",
    ["TimeoutSettingsInvalid", "ConnectionStringInvalid", "LeaderNotFoundError", "PartitionNotFound", "ForbiddenWord",
     "RateLimitConfig", "AcmeError", "NonRetryableError", "NonTransientError", "InvalidTimeoutError",
     "UnknownTransport", "InvalidConnectionError", "NoConnectionError", "UnavailableColumnName",
     "NetworkPolicyViolation"],
)  # fmt: skip
def test_other_names_say_nothing(name: str) -> None:
    assert codes(alive(stand_in(f"acme_client.errors.{name}", "It did not work.")), "python.name_") == []


@pytest.mark.parametrize(
    ("name", "message", "code"),
    [
        ("AcmeConnectionError", 'FATAL:  password authentication failed for user "etl"', "text.login_refused"),
        ("RateLimitError", "You exceeded your current quota, please check your plan and billing details.",
         "text.billing"),
        ("AuthenticationError", "the directory said: connection refused", "text.connection_refused"),
        ("AuthenticationError", "401 from a proxy, please retry later", "text.unavailable"),
    ],
)  # fmt: skip
def test_words_that_settle_it_are_believed_before_a_name(name: str, message: str, code: str) -> None:
    signal = conclusion(alive(stand_in(f"acme_client.errors.{name}", message)))
    assert signal is not None
    assert signal.code == code


def test_a_refused_login_by_its_name_fails_nothing_beside_a_hint_that_it_may_pass() -> None:
    assert conclusion(alive(stand_in("acme_client.errors.LoginError", "the service did not respond"))) is None
