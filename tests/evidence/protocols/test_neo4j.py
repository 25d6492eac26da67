"""Neo4j's status codes say by their second part whether another try may help."""

from __future__ import annotations

import pytest
from failure_reading import alive, conclusion, logged, printed
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Retry

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS


def said(code: str, message: str = "It did not work.") -> Exception:
    """What the driver of Neo4j 6 raises: class by class of code, and the code in the words."""
    kind = code.split(".")[1]
    return stand_in(
        f"neo4j.exceptions.{kind}",
        f"{{neo4j_code: {code}}} {{message: {message}}} {{gql_status: 50N42}}",
        bases=("neo4j.exceptions.Neo4jError", "neo4j.exceptions.GqlError", "builtins.Exception"),
    )


@pytest.mark.parametrize(
    ("code", "name", "category", "retry"),
    [
        ("Neo.TransientError.Transaction.DeadlockDetected", "Transaction.DeadlockDetected", "transient", YES),
        ("Neo.TransientError.Cluster.ANameOfTomorrow", "Cluster.ANameOfTomorrow", "transient", YES),
        ("Neo.TransientError.Transaction.Terminated", "Transaction.Terminated", "transient", DEPENDS),
        ("Neo.ClientError.Cluster.NotALeader", "Cluster.NotALeader", "transient", YES),
        ("Neo.ClientError.Security.AuthorizationExpired", "Security.AuthorizationExpired", "auth", YES),
        ("Neo.ClientError.Security.TokenExpired", "Security.TokenExpired", "auth", DEPENDS),
        ("Neo.ClientError.Security.Unauthorized", "Security.Unauthorized", "auth", NO),
        ("Neo.ClientError.Security.CredentialsExpired", "Security.CredentialsExpired", "auth", NO),
        ("Neo.ClientError.Statement.SyntaxError", "Statement.SyntaxError", "permanent", NO),
        ("Neo.ClientError.Schema.ConstraintValidationFailed", "Schema.ConstraintValidationFailed", "data", NO),
        ("Neo.ClientError.Database.DatabaseNotFound", "Database.DatabaseNotFound", "resource", NO),
        ("Neo.ClientError.Anything.Else", "Anything.Else", "permanent", NO),
        ("Neo.DatabaseError.General.UnknownError", "General.UnknownError", "transient", DEPENDS),
    ],
)
def test_a_code_says_whether_to_try_again(code: str, name: str, category: str, retry: Retry) -> None:
    for evidence in (alive(said(code)), logged(said(code)), printed("acme.LoadError", f"the graph said {code}: no")):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (f"neo4j.{name}", category, retry)


def test_memory_that_others_use_up_is_waited_for_whatever_the_words_about_sizes() -> None:
    words = "The allocation of an extra 2.0 MiB would use more than the limit 1.4 GiB. Currently using 1.4 GiB."
    signal = conclusion(alive(said("Neo.TransientError.General.MemoryPoolOutOfMemoryError", words)))
    assert signal is not None
    assert signal.retry is YES


@pytest.mark.parametrize("message", ["Neo.ClientErrors are listed", "see NeoClientError.Security", "the matrix: Neo."])
def test_what_only_looks_like_a_code_is_none(message: str) -> None:
    assert conclusion(printed("acme.LoadError", message)) is None


def test_a_port_that_speaks_http_stays_the_wrong_one() -> None:
    words = "Cannot to connect to Bolt service on ResolvedIPv4Address(('127.0.0.1', 80)) (looks like HTTP)"
    signal = conclusion(alive(stand_in("neo4j.exceptions.ServiceUnavailable", words)))
    assert signal is not None
    assert (signal.code, signal.retry) == ("neo4j.other_protocol", NO)
