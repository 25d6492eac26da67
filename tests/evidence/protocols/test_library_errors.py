"""Errors of libraries that keep neither code nor cause: their class, or a few exact words, say what they are."""

from __future__ import annotations

import pytest
from failure_reading import alive, conclusion, logged
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Retry

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS
SSH = "paramiko.ssh_exception.SSHException"
REDIS = "redis.exceptions.ResponseError"


@pytest.mark.parametrize(
    ("type_path", "message", "category", "retry"),
    [
        (SSH, "Server '[127.0.0.1]:22' not found in known_hosts", "auth", NO),
        (SSH, "not a valid RSA private key file", "auth", NO),
        (SSH, "No authentication methods available", "auth", NO),
        (SSH, "Incompatible ssh peer (no acceptable kex algorithm)", "permanent", NO),
        (SSH, "Timeout opening channel.", "network", YES),
        (SSH, "Error reading SSH protocol banner", "network", YES),
        (REDIS, "Background save already in progress", "transient", YES),
        (REDIS, "DB index is out of range", "data", NO),
        (REDIS, "increment or decrement would overflow", "data", NO),
        ("redis.exceptions.LockError", "Cannot release a lock that's not owned or is already unlocked.",
         "permanent", NO),
        ("redis.exceptions.LockError", "Unable to acquire lock within the time specified", "transient", DEPENDS),
        ("polars.exceptions.ColumnNotFoundError", 'unable to find column "customer_id"', "data", NO),
        ("pandas.errors.IntCastingNaNError", "Cannot convert non-finite values", "data", NO),
        ("dbt.exceptions.DbtProjectError", "Runtime Error\n  No dbt_project.yml found", "permanent", NO),
        ("dbt.exceptions.TargetNotFoundError", "depends on a source named 'crm.raw'", "resource", NO),
        ("kubernetes.config.config_exception.ConfigException", "Service host/port is not set.", "permanent", NO),
        ("pymongo.errors.InvalidOperation", "Cannot use MongoClient after close", "permanent", NO),
        ("hvac.exceptions.VaultDown", "Vault is sealed", "transient", YES),
        ("hvac.exceptions.InvalidPath", "None, on get http://vault:8200/v1/secret", "resource", NO),
        ("jwt.exceptions.ExpiredSignatureError", "Signature has expired", "auth", DEPENDS),
        ("jwt.exceptions.InvalidSignatureError", "Signature verification failed", "auth", NO),
        ("builtins.RuntimeError", "Cannot send a request, as the client has been closed.", "permanent", NO),
        ("builtins.RuntimeError", "Event loop is closed", "permanent", NO),
    ],
)  # fmt: skip
def test_a_librarys_own_error_is_understood(type_path: str, message: str, category: str, retry: Retry) -> None:
    bases = () if type_path.startswith("builtins.") else ("builtins.Exception",)
    error = RuntimeError(message) if not bases else stand_in(type_path, message)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.category, signal.retry) == (category, retry)


@pytest.mark.parametrize("type_path", ["polars.exceptions.InvalidOperationError", "dbt.exceptions.CompilationError"])
def test_words_about_a_connection_are_believed_before_a_class_of_data(type_path: str) -> None:
    signal = conclusion(alive(stand_in(type_path, "could not read s3://lake: connection reset by peer")))
    assert signal is not None
    assert signal.retry is YES


def test_an_input_that_ended_too_early_is_read_again() -> None:
    signal = conclusion(alive(EOFError("Compressed file ended before the end-of-stream marker was reached")))
    assert signal is not None
    assert signal.retry is not NO


def test_a_document_that_exists_already_is_no_race_that_another_try_may_win() -> None:
    item = {
        "_index": "orders",
        "status": 409,
        "error": {
            "type": "version_conflict_engine_exception",
            "reason": "[1]: version conflict, document already exists",
        },
    }
    for action, retry in (("create", NO), ("index", YES)):
        error = stand_in("opensearchpy.helpers.errors.BulkIndexError", "1 document(s) failed to index.",
                         [{action: item}], errors=[{action: item}])  # fmt: skip
        if action == "index":
            item["error"] = {"type": "version_conflict_engine_exception", "reason": "required seqNo [1]"}
        signal = conclusion(alive(error))
        assert signal is not None
        assert signal.retry is retry


def test_the_status_that_databricks_sql_keeps_in_its_context_is_read() -> None:
    for status, retry in ((503, YES), (403, NO)):
        error = stand_in("databricks.sql.exc.RequestError", "Error during request to server",
                         bases=("databricks.sql.exc.Error",), context={"http-code": status})  # fmt: skip
        signal = conclusion(alive(error))
        assert signal is not None
        assert signal.retry is retry
