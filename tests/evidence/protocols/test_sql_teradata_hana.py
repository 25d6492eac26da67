"""Teradata prints its numbers, SAP HANA keeps them on the error."""

from __future__ import annotations

import pytest
from failure_reading import alive, conclusion, logged, printed
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Retry

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS


@pytest.mark.parametrize(
    ("number", "words", "category", "retry"),
    [
        (2631, "Transaction ABORTed due to deadlock.", "transient", YES),
        (3897, "The request was aborted as the database was restarted.", "transient", YES),
        (2633, "Too many load/unload tasks running: try again later", "rate_limit", YES),
        (2646, "No more spool space in etl.", "permanent", DEPENDS),
        (2644, "No more room in database etl.", "permanent", NO),
        (8017, "The UserId, Password or Account is invalid.", "auth", NO),
        (3523, "The user does not have SELECT access to etl.orders.", "auth", NO),
        (3807, "Object 'etl.orders' does not exist.", "resource", NO),
        (3706, "Syntax error: expected something.", "permanent", NO),
        (2801, "Duplicate unique prime key error in etl.orders.", "data", NO),
    ],
)
def test_a_number_of_teradata_is_read(number: int, words: str, category: str, retry: Retry) -> None:
    message = f"[Version 20.0.0.12] [Session 1010] [Teradata Database] [Error {number}] {words}"
    error = stand_in("teradatasql.OperationalError", f"{message}\n at gosqldriver/teradatasql.formatError")
    for evidence in (alive(error), logged(error), printed("acme.LoadError", f"the load failed: {message}")):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (f"teradata.{number}", category, retry)


@pytest.mark.parametrize(
    ("number", "words", "category", "retry"),
    [
        (131, "transaction rolled back by lock wait timeout: Lock-wait timeout exceeded", "transient", YES),
        (133, "transaction rolled back by detected deadlock", "transient", YES),
        (-10709, "Connection failed (RTE:[89006] System call 'connect' failed, rc=111)", "network", YES),
        (4, "cannot allocate enough memory", "transient", DEPENDS),
        (10, "authentication failed", "auth", NO),
        (258, "insufficient privilege: Not authorized", "auth", NO),
        (259, "invalid table name: Could not find table/view ORDERS", "resource", NO),
        (301, "unique constraint violated", "data", NO),
    ],
)
def test_a_number_of_hana_is_read(number: int, words: str, category: str, retry: Retry) -> None:
    error = stand_in("hdbcli.dbapi.Error", number, words, errorcode=number, errortext=words)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (f"hana.{number}", category, retry)
