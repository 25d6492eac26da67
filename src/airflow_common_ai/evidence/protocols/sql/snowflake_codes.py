"""Snowflake's error numbers: six digits of the server, of the connector, and 290000 + status of the transport."""

from __future__ import annotations

from dataclasses import replace

from airflow_common_ai.evidence.model import Retry, Wait
from airflow_common_ai.evidence.protocols.http.status import status_meaning
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.sql.code_table import Row, WordsRow, code_table
from airflow_common_ai.evidence.protocols.sql.states import find_sqlstate

__all__ = ["TABLE", "find_meaning"]

_NOW, _SHORT, _MEDIUM, _LONG, _RESET = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG, Wait.RESET

_CONNECTOR = "snowflake-connector-python 3.18.1 and 5.2.0"
_SERVER = "Snowflake documentation of its error codes"

_GONE = "Snowflake could not be reached, or the login failed"
_LOGIN = "the login was refused"
_SESSION = "the session or its token has expired; the next process opens a new one"
_TLS = "the server's certificate could not be checked"
_TRANSFER = "the file could not be moved to or from the stage"
_STATEMENT = "the statement itself is wrong"
_CONFIGURED = "the connection is configured wrongly"
_TYPE = "the data does not fit its type"
_MISSING = "an object does not exist, or the role may not see it"

_ROWS: tuple[Row, ...] = (
    # the server, while it runs a statement
    ("000625", yes("transient", _MEDIUM, "too many statements wait for the same lock", _SERVER)),
    (
        "000604",
        depends("permanent", _SHORT, "the statement was cancelled, by a person or by the client's own limit", _SERVER),
    ),
    ("000630", depends("permanent", _SHORT, "the statement's or the warehouse's own time limit was hit", _SERVER)),
    ("000606", no("permanent", "no warehouse is in use", _SERVER)),
    ("090073", depends("permanent", _RESET, "the resource monitor's quota is used up until its period ends", _SERVER)),
    ("090105 090106", no("permanent", "no database or schema is in use", _SERVER)),
    ("000603 300002 300010 370001", depends("transient", _MEDIUM, "Snowflake had an internal error", _SERVER, 3)),
    ("001003 000904 000979 001044 002140 000939", no("permanent", _STATEMENT, _SERVER)),
    ("002003 002043", no("resource", _MISSING, _SERVER)),
    ("002002", no("data", "it already exists; an earlier attempt may have made it", _SERVER)),
    ("003001", no("auth", "a permission is missing", _SERVER)),
    ("100072", no("data", "the data breaks a rule of the schema", _SERVER)),
    (
        "100035 100038 100040 100046 100051 100069 100071 100078 100080 252004 252005 252011 252012 255001",
        no("data", _TYPE, _SERVER),
    ),
    ("000002", no("permanent", "Snowflake does not do this", _SERVER)),
    # the connector
    ("250001 250003 250005 250006 250011 540001", depends("network", _SHORT, _GONE, _CONNECTOR, 3)),
    ("251011 251012 251016 252010", depends("network", _SHORT, "Snowflake did not answer in time", _CONNECTOR, 4)),
    ("250002 252006 252007", depends("network", _SHORT, "the session was closed", _CONNECTOR, 3)),
    ("253002 253003 253009", depends("network", _SHORT, _TRANSFER, _CONNECTOR, 3)),
    ("253006", no("resource", "the file that was to be uploaded does not exist", _CONNECTOR)),
    ("253001 253004 253005 253007 253008", no("permanent", _TRANSFER, _CONNECTOR)),
    (
        "254001 254002 254003 254004 254006 254008 254009 254011 254012 254013 254014 254015 254016 254017 254018"
        " 254019",
        depends("network", _SHORT, _TLS, _CONNECTOR, 3),
    ),
    ("254005 254007 254010", no("permanent", "the server's certificate was revoked or is not valid", _CONNECTOR)),
    ("255005", depends("network", _SHORT, "the result broke off on its way", _CONNECTOR, 3)),
    (
        "250004 250007 250012 251001 251002 251003 251007 251009 252008 255002 255004 255006",
        no("permanent", _CONFIGURED, _CONNECTOR),
    ),
    # the login
    (
        "390110 390112 390113 390114 390115 390195 390318 390400",
        depends("auth", _SHORT, _SESSION, _CONNECTOR),
    ),
    (
        "251005 251006 251008 251010 251013 251014 251015 251017 251018 251019 251020 390100 390101 390135 390136"
        " 390137 390139 390140 390144 390189 390191 390192 390201 390302 390303 390420 390422 394300 394304",
        no("auth", _LOGIN, _CONNECTOR),
    ),
    ("390138", depends("auth", _SHORT, "the identity provider did not answer in time", _SERVER)),
    # version 5 of the connector gives the kind where the server gave no number
    ("000003 000007 000008 000012", no("permanent", _CONFIGURED, _CONNECTOR)),
    ("000004 000014", depends("network", _SHORT, "Snowflake did not answer in time", _CONNECTOR, 4)),
    ("000005", depends("permanent", _SHORT, "the statement was cancelled", _CONNECTOR)),
    ("000006 000015", depends("transient", _SHORT, "the connector had an internal error", _CONNECTOR, 3)),
)

_REFUSED = (
    r"password|JWT|token is invalid|invalid OAuth access token|authentication (?:failed|token|is required)"
    r"|\bMFA\b|\bDUO\b"
    r"|is not allowed to access"
    r"|network policy|user .{0,80}(?:disabled|locked|does not exist)"
    r"|role .{0,200}(?:does not exist|not authorized|not granted)"
)
_NOT_REACHED = r"could not connect to Snowflake backend|\b50[0234]\b|\btimed? ?out\b"
_LOCKED_FOR_NOW = depends("auth", _LONG, "the user is locked for a while after wrong passwords", _SERVER)
# The connector has retried a 403 itself by then.
_WRONG_ADDRESS = no("permanent", "the account name is wrong, or this address is not let in", _CONNECTOR)

# The connector puts these numbers on whatever happened at the login.
_CONNECTING = "250001 250003 250005 250006 540001"
_WORDS: tuple[WordsRow, ...] = (
    (_CONNECTING, "temporarily locked|try again later", _LOCKED_FOR_NOW),
    (_CONNECTING, _NOT_REACHED, depends("network", _SHORT, _GONE, _CONNECTOR, 4)),
    (_CONNECTING, _REFUSED, no("auth", _LOGIN, _SERVER)),
    (_CONNECTING, r"account name|\b40[34]\b", _WRONG_ADDRESS),
)

TABLE = code_table("snowflake", _ROWS, _WORDS)

_OTHER_LOGIN = depends("auth", _SHORT, _LOGIN, _CONNECTOR)
_NO_WAREHOUSE = depends("permanent", _SHORT, "the warehouse cannot be used", _SERVER)


def find_meaning(number: int, state: str | None, message: str) -> Meaning | None:
    """Return what an error means: by its number, by the status in it, or else by its SQLSTATE."""
    if found := TABLE.find(f"{number:06}", message):
        return found
    if 290300 <= number <= 290599:
        return _of_status(number - 290000)
    if 390000 <= number <= 394999:
        return _OTHER_LOGIN
    # Snowflake's own use of two standard states: 57P03 for warehouses, 42000 for what does not compile.
    if state == "57P03":
        return _NO_WAREHOUSE
    if state == "42000":
        return no("permanent", _STATEMENT, _SERVER)
    return find_sqlstate(state, message) if state else None


def _of_status(status: int) -> Meaning | None:
    """The transport retried this status already, 403 among them: network policies and proxies answer so, too."""
    meaning = status_meaning(status)
    if meaning is None or meaning.retry is not Retry.NO:
        return meaning
    return replace(meaning, retry=Retry.DEPENDS, wait=Wait.SHORT, max_attempts=2)
