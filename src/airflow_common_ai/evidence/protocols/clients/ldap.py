"""LDAP directories: the result code, as ldap3 and python-ldap keep it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.model import Fact, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import number_in
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes
from airflow_common_ai.evidence.protocols.number_table import NumberRow, signals_by_name, signals_by_number

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("ldap3", "ldap")
PRINTED_MARKS = ()

_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM
_CODES = "RFC 4511 §4.1.9; ldap3 2.9.1; whether to retry is judgement"
_CLIENT = "OpenLDAP ldap.h, client-side results"

_ROWS: tuple[NumberRow, ...] = (
    ("51:busy 52:unavailable", yes("transient", _MEDIUM, "the directory is busy or unavailable", _CODES)),
    (
        "80:other 71:affectsMultipleDSAs 113:lcupResourcesExhausted",
        depends("transient", _SHORT, "the directory failed", _CODES, 3),
    ),
    ("3:timeLimitExceeded", depends("permanent", _SHORT, "a configured time limit was hit", _CODES)),
    ("11:adminLimitExceeded", depends("permanent", _SHORT, "a limit of the directory", _CODES)),
    ("4:sizeLimitExceeded", no("permanent", "the search finds more entries than the directory gives", _CODES)),
    ("10:referral", no("permanent", "the directory refers to another one", _CODES)),
    # Active Directory answers so to an unfinished login, a policy, a closed database.
    ("1:operationsError 53:unwillingToPerform", depends("permanent", _SHORT, "the directory will not do it", _CODES)),
    (
        "7:authMethodNotSupported 8:strongerAuthRequired 13:confidentialityRequired 48:inappropriateAuthentication"
        " 49:invalidCredentials 50:insufficientAccessRights 123:authorizationDenied",
        no("auth", "the login or a permission was refused", _CODES),
    ),
    ("32:noSuchObject", no("resource", "there is no such entry", _CODES)),
    ("68:entryAlreadyExists 20:attributeOrValueExists", no("data", "it already exists", _CODES)),
    (
        "2:protocolError 16:noSuchAttribute 17:undefinedAttributeType 18:inappropriateMatching 19:constraintViolation"
        " 21:invalidAttributeSyntax 34:invalidDNSyntax 64:namingViolation 65:objectClassViolation"
        " 66:notAllowedOnNonLeaf 67:notAllowedOnRDN 69:objectClassModsProhibited 122:assertionFailed",
        no("data", "the request or the entry is wrong", _CODES),
    ),
    ("12:unavailableCriticalExtension", no("permanent", "the directory does not do this", _CODES)),
    ("81:SERVER_DOWN -1:SERVER_DOWN 91:CONNECT_ERROR -11:CONNECT_ERROR",
     yes("network", _SHORT, "the directory could not be reached", _CLIENT)),
    ("85:TIMEOUT -5:TIMEOUT", depends("network", _SHORT, "the directory did not answer in time", _CLIENT, 3)),
)  # fmt: skip
_SIGNALS: Mapping[int, Signal] = signals_by_number("ldap", _ROWS)
_BY_NAME: Mapping[str, Signal] = signals_by_name("ldap", _ROWS)

_PRINTED_CODE = re.compile(r"LDAP\w{1,60}Result - (\d{1,4}) - |'result': (-?\d{1,4}), 'desc'")
_PRINTED_NAME = re.compile(r"bind not successful - (\w{1,60})$")
"""``LDAPBindError`` keeps only the name."""


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the result code, which python-ldap keeps in a dictionary."""
    code = getattr(exception, "result", None)
    if exception.args and isinstance(exception.args[0], Mapping):
        code = exception.args[0].get("result")
    return {"ldap.result": code} if type(code) is int else {}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the result code says."""
    code = number_in(node, "ldap.result")
    if code is None and (match := _PRINTED_CODE.search(node.message)):
        code = int(match[1] or match[2])
    name = _PRINTED_NAME.search(node.message)
    signal = _SIGNALS.get(code) if code is not None else _BY_NAME.get(name[1]) if name else None
    if signal is not None:
        yield signal
