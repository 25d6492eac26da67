"""A MongoDB server on loopback answers with errors; pymongo raises them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pymongo
import pymongo.collection
import pymongo.errors
import pytest
from failure_reading import alive, codes, conclusion, logged
from http_reading import raised_by
from loopback import broker_servers, sockets

from airflow_common_ai.evidence.model import Rank, Retry
from airflow_common_ai.evidence.protocols.clients import mongo

Act = Callable[[pymongo.collection.Collection[dict[str, Any]]], object]


def answered(answer: Mapping[str, Any], act: Act) -> BaseException:
    """Return what pymongo raises when a server answers like this."""
    with (
        sockets.serve(broker_servers.mongo_answers(answer)) as port,
        pymongo.MongoClient[dict[str, Any]]("127.0.0.1", port, serverSelectionTimeoutMS=10_000) as client,
    ):
        return raised_by(lambda: act(client.shop.orders))


def find(orders: pymongo.collection.Collection[dict[str, Any]]) -> object:
    return orders.find_one()


def insert(orders: pymongo.collection.Collection[dict[str, Any]]) -> object:
    return orders.insert_one({"_id": 1})


def insert_two(orders: pymongo.collection.Collection[dict[str, Any]]) -> object:
    return orders.insert_many([{"_id": 1, "card": "secret"}, {"_id": 2}], ordered=False)


def refusal(code: int, name: str, **fields: object) -> dict[str, object]:
    return {"ok": 0.0, "errmsg": "it did not work", "code": code, "codeName": name, **fields}


def items(*numbers: int) -> dict[str, object]:
    errors = [{"index": index, "code": code, "errmsg": "no"} for index, code in enumerate(numbers)]
    return {"ok": 1.0, "n": 0, "writeErrors": errors}


@pytest.mark.parametrize(
    ("answer", "act", "code", "category", "retry"),
    [
        (refusal(13, "Unauthorized"), find, "mongo.Unauthorized", "auth", Retry.NO),
        (refusal(18, "AuthenticationFailed"), find, "mongo.AuthenticationFailed", "auth", Retry.NO),
        (refusal(391, "ReauthenticationRequired"), find, "mongo.ReauthenticationRequired", "auth", Retry.DEPENDS),
        (refusal(189, "PrimarySteppedDown"), find, "mongo.PrimarySteppedDown", "transient", Retry.YES),
        (refusal(13436, "NotPrimaryOrSecondary"), find, "mongo.NotPrimaryOrSecondary", "transient", Retry.YES),
        (refusal(11600, "InterruptedAtShutdown"), find, "mongo.InterruptedAtShutdown", "transient", Retry.YES),
        (refusal(262, "ExceededTimeLimit"), find, "mongo.ExceededTimeLimit", "network", Retry.YES),
        (refusal(112, "WriteConflict"), find, "mongo.WriteConflict", "transient", Retry.YES),
        (refusal(43, "CursorNotFound"), find, "mongo.CursorNotFound", "transient", Retry.YES),
        (refusal(50, "MaxTimeMSExpired"), find, "mongo.MaxTimeMSExpired", "permanent", Retry.DEPENDS),
        (refusal(26, "NamespaceNotFound"), find, "mongo.NamespaceNotFound", "resource", Retry.NO),
        (refusal(2, "BadValue"), find, "mongo.BadValue", "data", Retry.NO),
        (refusal(16500, "RequestRateTooLarge"), find, "mongo.RequestRateTooLarge", "rate_limit", Retry.YES),
        (items(11000), insert, "mongo.DuplicateKey", "data", Retry.NO),
        (items(121), insert, "mongo.DocumentValidationFailure", "data", Retry.NO),
        (items(112, 112), insert_two, "mongo.WriteConflict", "transient", Retry.YES),
        (items(112, 11000), insert_two, "mongo.DuplicateKey", "data", Retry.NO),
        (
            {"ok": 1.0, "n": 1, "writeConcernError": {"code": 64, "codeName": "WriteConcernTimeout", "errmsg": "late"}},
            insert,
            "mongo.WriteConcernTimeout",
            "transient",
            Retry.DEPENDS,
        ),
    ],
)
def test_the_servers_code_decides_alive_and_in_a_log(
    answer: Mapping[str, Any], act: Act, code: str, category: str, retry: Retry
) -> None:
    error = answered(answer, act)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry, signal.rank) == (code, category, retry, Rank.VENDOR_CODE)


@pytest.mark.parametrize(
    ("labels", "code", "category"),
    [
        (["TransientTransactionError"], "mongo.TransientTransactionError", "transient"),
        (["RetryableWriteError"], "mongo.RetryableWriteError", "transient"),
        (
            ["UnknownTransactionCommitResult", "RetryableWriteError"],
            "mongo.UnknownTransactionCommitResult",
            "transient",
        ),
        (["RetryableError", "SystemOverloadedError"], "mongo.SystemOverloadedError", "rate_limit"),
    ],
)
def test_a_label_is_the_servers_own_verdict_and_beats_its_code(labels: list[str], code: str, category: str) -> None:
    error = answered(refusal(20, "IllegalOperation", errorLabels=labels), find)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (code, category, Retry.YES)
        assert signal.rank is Rank.VERDICT


def test_no_document_is_copied_out_of_a_bulk_write() -> None:
    error = answered(items(112, 11000), insert_two)
    assert isinstance(error, pymongo.errors.BulkWriteError)
    assert "secret" in str(error)
    assert mongo.probe(error) == {"mongo.code": 65, "mongo.item_codes": "112 11000"}


def test_a_code_that_nobody_here_knows_settles_nothing() -> None:
    assert conclusion(alive(answered(refusal(99999, "Location99999"), find))) is None


def test_an_unknown_label_says_nothing() -> None:
    error = answered(refusal(26, "NamespaceNotFound", errorLabels=["NoWritesPerformed"]), find)
    assert codes(alive(error), "mongo.") == ["mongo.NamespaceNotFound"]


def test_what_the_server_answered_is_read_in_the_words_of_another_exception() -> None:
    error = answered(refusal(189, "PrimarySteppedDown"), find)
    assert codes(alive(RuntimeError(f"the export failed: {error}")), "mongo.") == ["mongo.PrimarySteppedDown"]
