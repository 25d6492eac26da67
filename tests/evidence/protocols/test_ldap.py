"""What LDAP clients keep of a result. Stand-ins: none of the clients is installed here."""

from __future__ import annotations

import pytest
from failure_reading import alive, codes, conclusion, logged
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Retry
from airflow_common_ai.evidence.protocols.clients import ldap


def of_ldap3(code: int, name: str) -> Exception:
    """ldap3 2.9.1: a class a result, all of them ``LDAPOperationResult``."""
    class_name = f"LDAP{name[0].upper()}{name[1:]}Result"
    message = (
        f"{class_name} - {code} - {name} - None - 80090308: LdapErr: DSID-0C0903A9, data 52e - bindResponse - None"
    )
    return stand_in(f"ldap3.core.exceptions.{class_name}", message, result=code, description=name)


def of_python_ldap(code: int, name: str) -> Exception:
    """python-ldap 3.4: the class is named as OpenLDAP names the result, the argument is a dictionary."""
    return stand_in("ldap.LDAPError", {"result": code, "desc": name, "ctrls": []})


RESULTS = [
    (51, "busy", "transient", Retry.YES),
    (52, "unavailable", "transient", Retry.YES),
    (49, "invalidCredentials", "auth", Retry.NO),
    (50, "insufficientAccessRights", "auth", Retry.NO),
    (32, "noSuchObject", "resource", Retry.NO),
    (68, "entryAlreadyExists", "data", Retry.NO),
    (19, "constraintViolation", "data", Retry.NO),
    (53, "unwillingToPerform", "permanent", Retry.DEPENDS),
    (3, "timeLimitExceeded", "permanent", Retry.DEPENDS),
    (80, "other", "transient", Retry.DEPENDS),
]


@pytest.mark.parametrize("client", [of_ldap3, of_python_ldap])
@pytest.mark.parametrize(("code", "name", "category", "retry"), RESULTS)
def test_a_result_decides_whatever_client_raises_it_alive_and_in_a_log(
    client, code: int, name: str, category: str, retry: Retry
) -> None:
    error = client(code, name)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (f"ldap.{name}", category, retry)


def test_the_client_librarys_own_results_are_read() -> None:
    error = stand_in("ldap.SERVER_DOWN", {"result": -1, "desc": "Can't contact LDAP server"})
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == ("ldap.SERVER_DOWN", "network", Retry.YES)


def test_a_bind_that_failed_is_read_by_the_name_of_its_result() -> None:
    error = stand_in("ldap3.core.exceptions.LDAPBindError", "automatic bind not successful - invalidCredentials")
    assert codes(alive(error), "ldap.") == ["ldap.invalidCredentials"]


@pytest.mark.parametrize("result", [None, "49", True])
def test_other_values_in_the_place_of_the_result_are_left_alone(result: object) -> None:
    assert ldap.probe(stand_in("ldap3.core.exceptions.LDAPException", result=result)) == {}
