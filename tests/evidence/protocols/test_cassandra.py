"""What cassandra-driver 3.30.1 prints of a server's error. Stand-ins: the driver is not installed here."""

from __future__ import annotations

import pytest
from failure_reading import alive, codes, conclusion, logged
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Retry

ERRORS = [
    ("Unavailable", "1000 [Unavailable exception]", "unavailable", "transient", Retry.YES),
    ("WriteTimeout", "1100 [Coordinator node timed out waiting]", "write_timeout", "transient", Retry.YES),
    ("ReadTimeout", "1200 [Coordinator node timed out waiting]", "read_timeout", "transient", Retry.YES),
    ("ReadFailure", "1300 [Replica(s) failed to execute read]", "read_failure", "transient", Retry.DEPENDS),
    ("protocol.OverloadedErrorMessage", "1001 [Coordinator node overloaded]", "overloaded", "rate_limit", Retry.YES),
    ("protocol.ServerError", "0000 [Server error]", "server_error", "transient", Retry.DEPENDS),
    ("AuthenticationFailed", "0100 [Bad credentials]", "bad_credentials", "auth", Retry.NO),
    ("Unauthorized", "2100 [Unauthorized]", "unauthorized", "auth", Retry.NO),
    ("InvalidRequest", "2200 [Invalid query]", "invalid", "permanent", Retry.NO),
    ("protocol.SyntaxException", "2000 [Syntax error in CQL query]", "syntax_error", "permanent", Retry.NO),
]


@pytest.mark.parametrize(("name", "error", "code", "category", "retry"), ERRORS)
def test_the_code_in_the_message_decides_alive_and_in_a_log(
    name: str, error: str, code: str, category: str, retry: Retry
) -> None:
    raised = stand_in(f"cassandra.{name}", f'Error from server: code={error} message="words"')
    for evidence in (alive(raised), logged(raised)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (f"cassandra.{code}", category, retry)


def test_what_a_server_said_is_read_in_any_exception() -> None:
    message = 'cannot load orders: Error from server: code=1001 [Coordinator node overloaded] message="words"'
    assert codes(alive(RuntimeError(message)), "cassandra.") == ["cassandra.overloaded"]


@pytest.mark.parametrize(
    ("of_a_host", "code"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "os.econnrefused"),
        (stand_in("cassandra.AuthenticationFailed", "no"), "python.cassandra.authentication_failed"),
    ],
)
def test_what_a_host_said_goes_before_that_no_host_was_available(of_a_host: Exception, code: str) -> None:
    hosts = {"127.0.0.1:9042": of_a_host}
    error = stand_in("cassandra.cluster.NoHostAvailable", "Unable to connect to any servers", hosts, errors=hosts)
    signal = conclusion(alive(error))
    assert signal is not None
    assert signal.code == code


def test_a_timeout_of_the_driver_itself_is_a_network_failure() -> None:
    signal = conclusion(alive(stand_in("cassandra.OperationTimedOut", "errors={}, last_host=10.0.0.1")))
    assert signal is not None
    assert (signal.category, signal.retry) == ("network", Retry.YES)
