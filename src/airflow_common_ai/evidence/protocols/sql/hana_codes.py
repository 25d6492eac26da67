"""SAP HANA's error codes, which its driver keeps as ``errorcode``; those below zero are the driver's own."""

from __future__ import annotations

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes
from airflow_common_ai.evidence.protocols.sql.code_table import Row, code_table

__all__ = ["TABLE"]

_HANA = "SAP HANA SQL Reference, SQL Error Codes; hdbcli 2.27"
_NOW, _SHORT, _MEDIUM = Wait.NOW, Wait.SHORT, Wait.MEDIUM

_ROWS: tuple[Row, ...] = (
    ("131 146", yes("transient", _SHORT, "a lock was not free in time", _HANA)),
    ("133 138", yes("transient", _NOW, "deadlock, or a conflict with another transaction", _HANA)),
    ("129", depends("transient", _SHORT, "the transaction was rolled back", _HANA, 3)),
    ("4", depends("transient", _MEDIUM, "HANA has no memory left", _HANA, 3)),
    ("-10709 -10807 -10108 -10821", yes("network", _SHORT, "the connection was lost or could not be made", _HANA)),
    ("10 414 415 416", no("auth", "the login was refused", _HANA)),
    ("258", no("auth", "a permission is missing", _HANA)),
    ("259 260 362", no("resource", "a database object does not exist", _HANA)),
    ("257", no("permanent", "the statement itself is wrong", _HANA)),
    ("287 301 461", no("data", "the data breaks a rule of the schema", _HANA)),
    ("274 303 304 339", no("data", "the data does not fit its type", _HANA)),
)

TABLE = code_table("hana", _ROWS)
