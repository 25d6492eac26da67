"""Protocols that answer every error with a 200 or a 500: GraphQL, SOAP and JSON-RPC say more in their own codes."""

from __future__ import annotations

import pytest
from failure_reading import alive, conclusion, logged, printed
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Retry

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS


def graphql(*errors: dict[str, object]) -> Exception:
    """What gql 4 raises: the errors as they came, and the first one printed."""
    return stand_in(
        "gql.transport.exceptions.TransportQueryError",
        str(errors[0]),
        bases=("gql.transport.exceptions.TransportError",),
        errors=list(errors),
    )


@pytest.mark.parametrize(
    ("code", "category", "retry"),
    [
        ("UNAUTHENTICATED", "auth", NO),
        ("FORBIDDEN", "auth", NO),
        ("BAD_USER_INPUT", "data", NO),
        ("GRAPHQL_VALIDATION_FAILED", "data", NO),
        ("THROTTLED", "rate_limit", YES),
        ("MAX_COST_EXCEEDED", "data", NO),
        ("INTERNAL_SERVER_ERROR", "transient", DEPENDS),
        ("TOO_MANY_REQUESTS_OF_A_TENANT", "rate_limit", YES),
    ],
)
def test_the_code_of_a_graphql_error_is_read_alive_and_printed(code: str, category: str, retry: Retry) -> None:
    error = graphql({"message": "No.", "extensions": {"code": code, "cost": 7}})
    for evidence in (alive(error), logged(error), printed("acme.LoadError", f"the shop said: {error}")):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (f"graphql.{code}", category, retry)


def test_github_names_the_type_instead() -> None:
    error = graphql({"type": "NOT_FOUND", "path": ["repository"], "message": "Could not resolve to a Repository."})
    assert [conclusion(one) for one in (alive(error), logged(error))] != [None, None]
    signal = conclusion(logged(error))
    assert signal is not None
    assert (signal.code, signal.retry) == ("graphql.NOT_FOUND", NO)


def test_one_error_that_stays_is_enough() -> None:
    errors = [{"message": "x", "extensions": {"code": code}} for code in ("THROTTLED", "FORBIDDEN")]
    signal = conclusion(alive(graphql(*errors)))
    assert signal is not None
    assert signal.code == "graphql.FORBIDDEN"


@pytest.mark.parametrize(
    "errors",
    [
        "no list",
        [None, 5, {"extensions": []}, {"extensions": {"code": 7}}, {"extensions": {"code": "a lower one"}}],
    ],
)
def test_errors_of_another_shape_say_nothing(errors: object) -> None:
    assert conclusion(alive(stand_in("gql.transport.exceptions.TransportQueryError", "No.", errors=errors))) is None


@pytest.mark.parametrize(
    ("code", "message", "name", "retry"),
    [
        ("soap:Server", "The order could not be booked", "Server", DEPENDS),
        ("SOAP-ENV:Server.Unavailable", "Oh", "Server", DEPENDS),
        ("{http://www.w3.org/2003/05/soap-envelope}Receiver", "Oh", "Receiver", DEPENDS),
        ("soap:VersionMismatch", "Oh", "VersionMismatch", NO),
        ("soap:MustUnderstand", "Oh", "MustUnderstand", NO),
        ("wsse:FailedAuthentication", "Oh", "FailedAuthentication", NO),
        ("soap:Client", "cvc-datatype-valid.1.2.1: '31.01.2026' is not a valid value for 'date'.", "invalid_value", NO),
        ("ns0:anything", "Oh", None, None),
        ("soap:Client", "Policy Falsified", None, None),
    ],
)
def test_the_code_of_a_soap_fault_says_whose_fault_it_was(
    code: str, message: str, name: str | None, retry: Retry | None
) -> None:
    signal = conclusion(alive(stand_in("zeep.exceptions.Fault", message, code=code, subcodes=None)))
    assert (signal and (signal.code, signal.retry)) == (name and (f"soap.{name}", retry))


def test_a_subcode_says_more_than_the_code() -> None:
    error = stand_in("zeep.exceptions.Fault", "No.", code="s:Sender", subcodes=["wsse:FailedAuthentication"])
    signal = conclusion(alive(error))
    assert signal is not None
    assert signal.code == "soap.FailedAuthentication"


def test_what_a_service_blames_on_us_is_believed_less_than_its_words() -> None:
    signal = conclusion(alive(stand_in("zeep.exceptions.Fault", "Rate limit exceeded", code="soap:Client")))
    assert signal is not None
    assert signal.retry is YES


@pytest.mark.parametrize(
    ("number", "retry"),
    [(-32700, NO), (-32600, NO), (-32601, NO), (-32602, NO), (-32603, DEPENDS), (-32005, YES), (-32042, None)],
)
def test_the_numbers_that_json_rpc_gives_to_errors_are_read(number: int, retry: Retry | None) -> None:
    message = f"the node answered {{'code': {number}, 'message': 'No.'}}"
    signal = conclusion(printed("acme.LoadError", message))
    assert (signal and signal.retry) == retry
