"""Oracle's error codes: ``ORA-`` of the server, ``DPY-`` and ``DPI-`` of python-oracledb."""

from __future__ import annotations

import re

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.sql.code_table import Row, code_table
from airflow_common_ai.evidence.protocols.sql.raised_in_sql import LATER_WORDS, RAISED, RAISED_FOR_NOW

__all__ = ["TABLE", "find_codes", "find_meaning"]

_NOW, _SHORT, _MEDIUM, _LONG = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG

_ORACLE = "Oracle Database error messages"
_DRIVER = "python-oracledb 26.1.0 and 2.5.1, errors.py"

_LOCK = "a lock or a deadlock was in the way"
_GONE = "the connection to the database was lost or could not be made"
_STARTING = "the database or its listener is starting, stopping or does not know the service yet"
_CONNECTIONS = "too many sessions or connections"
_MISSING = "a database object does not exist"
_STATEMENT = "the statement itself is wrong"
_MISUSE = "the code uses the driver wrongly"
_LOGIN = "the login was refused"
_CONSTRAINT = "the data breaks a rule of the schema"
_TYPE = "the data does not fit its type"
_NAME = "the connect string names something that does not exist"
_TIME_LIMIT = "a configured time limit was hit, or somebody cancelled it"
_TLS = "the server's certificate is not the expected one"

_ROWS: tuple[Row, ...] = (
    ("ORA-00060 ORA-08177 ORA-04061 ORA-04068", yes("transient", _NOW, _LOCK, _ORACLE)),
    ("ORA-00054 ORA-30006 ORA-04020 ORA-04021 ORA-14403", yes("transient", _SHORT, _LOCK, _ORACLE)),
    (
        "ORA-00022 ORA-00028 ORA-00031 ORA-00045 ORA-00378 ORA-00602 ORA-00603 ORA-00609 ORA-01012 ORA-01041 ORA-01043"
        " ORA-01089 ORA-01092 ORA-02396 ORA-03113 ORA-03114 ORA-03122 ORA-03135 ORA-12153 ORA-12537 ORA-12547"
        " ORA-12570 ORA-12583 ORA-27146 ORA-28511 ORA-56600 ORA-02399 ORA-25408",
        yes("network", _SHORT, _GONE, _DRIVER),
    ),
    (
        "ORA-03111 ORA-12170 ORA-12203 ORA-12500 ORA-12535 ORA-12541 ORA-12543 ORA-12545 ORA-12560 ORA-12564 ORA-12571"
        " ORA-12606",
        yes("network", _SHORT, _GONE, _ORACLE),
    ),
    (
        "DPY-1001 DPY-4011 DPY-4033 DPY-5006 DPY-6000 DPY-6004 DPY-6005 DPI-1010 DPI-1080",
        yes("network", _SHORT, _GONE, _DRIVER),
    ),
    ("ORA-00600 ORA-07445", depends("transient", _SHORT, "the database had an internal error", _ORACLE)),
    (
        "ORA-00376 ORA-01033 ORA-01034 ORA-01090 ORA-01109 ORA-01115 ORA-12514 ORA-12526 ORA-12527 ORA-12528 ORA-12757"
        " ORA-16456 DPY-6001",
        yes("transient", _MEDIUM, _STARTING, _DRIVER),
    ),
    (
        "ORA-16000",
        depends("transient", _SHORT, "the database is read-only, perhaps a standby after a failover", _ORACLE),
    ),
    (
        "ORA-00018 ORA-00020 ORA-12516 ORA-12518 ORA-12519 ORA-12520 ORA-24457 ORA-24459 ORA-24496",
        yes("rate_limit", _MEDIUM, _CONNECTIONS, _ORACLE),
    ),
    ("DPY-4005", depends("transient", _MEDIUM, "the task's own connection pool is exhausted", _DRIVER, 3)),
    ("ORA-02391", yes("rate_limit", _MEDIUM, _CONNECTIONS, _ORACLE)),
    (
        "ORA-01555 ORA-30036 ORA-04030 ORA-04031 ORA-01652",
        depends("transient", _MEDIUM, "undo, temp space or memory is full", _ORACLE),
    ),
    ("ORA-01653 ORA-01654 ORA-01536 ORA-19815", depends("permanent", _LONG, "the tablespace is full", _ORACLE)),
    ("ORA-01013 DPY-4024 DPI-1067 ORA-02395 ORA-02393", depends("permanent", _SHORT, _TIME_LIMIT, _ORACLE)),
    ("ORA-01005 ORA-01017 ORA-01045 ORA-28000 ORA-28001 ORA-28009 DPY-4001", no("auth", _LOGIN, _ORACLE)),
    ("ORA-01031 ORA-41900", no("auth", "a permission is missing", _ORACLE)),
    (
        "DPY-2033",
        depends("auth", _SHORT, "the access token has expired; the next process may fetch a new one", _DRIVER),
    ),
    ("ORA-00942 ORA-04043 ORA-00904 ORA-01435 ORA-01918 ORA-02289 ORA-06564", no("resource", _MISSING, _ORACLE)),
    ("ORA-12154 ORA-12505 DPY-4000 DPY-4018 DPY-4026 DPY-4027 DPY-6003", no("resource", _NAME, _ORACLE)),
    ("DPY-6002 DPY-6008 ORA-28860 ORA-29024", no("permanent", _TLS, _DRIVER)),
    (
        "ORA-00955 ORA-00957 ORA-01430 ORA-01408",
        no("data", "it already exists; an earlier attempt may have made it", _ORACLE),
    ),
    ("ORA-00001", no("data", "the row is already there; an earlier attempt may have written it", _ORACLE)),
    (
        "ORA-01400 ORA-01407 ORA-02290 ORA-02291 ORA-02292 ORA-14400 ORA-21525 ORA-40479 ORA-38104",
        no("data", _CONSTRAINT, _ORACLE),
    ),
    (
        "ORA-01403 ORA-01422 ORA-01426 ORA-01427 ORA-01438 ORA-01476 ORA-01722 ORA-01830 ORA-01839 ORA-01840 ORA-01841"
        " ORA-01843 ORA-01847 ORA-01858 ORA-01861 ORA-06502 ORA-12899 ORA-40441",
        no("data", _TYPE, _ORACLE),
    ),
    (
        "ORA-00900 ORA-00902 ORA-00903 ORA-00905 ORA-00907 ORA-00909 ORA-00911 ORA-00913 ORA-00917 ORA-00918 ORA-00920"
        " ORA-00921 ORA-00922 ORA-00923 ORA-00926 ORA-00928 ORA-00932 ORA-00933 ORA-00934 ORA-00936 ORA-00937 ORA-00947"
        " ORA-00972 ORA-00979 ORA-01008 ORA-01036 ORA-01756 ORA-01785 ORA-06550",
        no("permanent", _STATEMENT, _ORACLE),
    ),
    ("DPI-1047", no("permanent", "the Oracle Client library cannot be loaded here", _DRIVER)),
)

_DRIVER_THOUSANDS: dict[str, Meaning] = {
    "DPY-1": depends("permanent", _SHORT, _MISUSE, _DRIVER),
    "DPY-2": no("permanent", _MISUSE, _DRIVER),
    "DPY-3": no("permanent", "the driver cannot do this", _DRIVER),
    "DPY-4": no("data", _TYPE, _DRIVER),
    "DPY-5": depends("transient", _SHORT, "the driver did not understand the server's answer", _DRIVER, 3),
    "DPY-6": depends("network", _SHORT, _GONE, _DRIVER, 3),
    "DPY-8": no("data", _TYPE, _DRIVER),
}
"""The driver's own codes mean by their thousands what class of PEP 249 they are."""

TABLE = code_table("oracle", _ROWS)
"""Also what the codes mean where they are only printed."""

_WRAPPERS = frozenset({"ORA-00604", "ORA-02063", "ORA-04088", "ORA-06512", "ORA-12801", "ORA-29400", "ORA-29913"})
"""Say only where an error came up; the reason is the next line. Source: Oracle Database error messages."""

_CODE = re.compile(r"\b(?:ORA|DPY|DPI)-\d{4,5}\b")
_RAISED_BY_APPLICATION = re.compile(r"ORA-20\d{3}")


def find_codes(message: str) -> list[str]:
    """Return the codes in a message, in their order, without those that only say where."""
    return [code for code in _CODE.findall(message) if code not in _WRAPPERS]


def find_meaning(code: str, message: str) -> Meaning | None:
    """Return what a code means, by itself or else by its kind."""
    if _RAISED_BY_APPLICATION.fullmatch(code):
        return RAISED_FOR_NOW if re.search(LATER_WORDS, message, re.IGNORECASE) else RAISED
    return TABLE.codes.get(code) or _DRIVER_THOUSANDS.get(code[:5])
