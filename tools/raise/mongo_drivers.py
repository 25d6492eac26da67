# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==46.0.3", "motor==3.7.1", "pymongo==4.19.0", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What MongoDB's drivers raise: pymongo, and motor around it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import Any

import bson
import bson.errors
import motor.motor_asyncio
import pymongo
import pymongo.errors
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs, port_that_resets
from servers.mongo import Mongo, mongo
from servers.port import refused_port
from servers.tls import https_server

family = Family(__file__, "pymongo", servers={"mongod": mongo, "https": https_server()}, is_wire_form=True)
plain = partial(family.case, is_wire_form=False)
motor_case = partial(family.case, library="motor")
QUICK_MS = 500


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


def connect(port: int, **options: Any) -> pymongo.MongoClient[Any]:
    usual = {
        "serverSelectionTimeoutMS": QUICK_MS,
        "connectTimeoutMS": QUICK_MS,
        "socketTimeoutMS": QUICK_MS,
        "retryReads": False,
        "retryWrites": False,
    }
    return pymongo.MongoClient("127.0.0.1", port, **{**usual, **options})


def orders(server: Mongo, **options: Any) -> Any:
    return connect(server.port, **options).shop.orders


def find(server: Mongo, **options: Any) -> None:
    orders(server, **options).find_one({"id": 1})


def insert(server: Mongo, **options: Any) -> None:
    orders(server, **options).insert_one({"id": 1})


def insert_many(server: Mongo, **options: Any) -> None:
    orders(server, **options).insert_many([{"id": 1}, {"id": 2}])


def sign_in(server: Mongo) -> None:
    find(server, username="etl", password=CANARY, authSource="admin", authMechanism="SCRAM-SHA-256")


def error(code: int, name: str, message: str, *labels: str, **more: Any) -> dict[str, Any]:
    told = {"ok": 0.0, "errmsg": message, "code": code, "codeName": name, **more}
    return {**told, "errorLabels": list(labels)} if labels else told


def write_error(code: int, message: str, **more: Any) -> dict[str, Any]:
    return {"n": 0, "writeErrors": [{"index": 0, "code": code, "errmsg": message, **more}]}


RETRY_WRITE = "RetryableWriteError"
OVERLOADED = ("SystemOverloadedError", "RetryableError")
TRAP = [WRONG_READING]
# Codes and names: https://www.mongodb.com/docs/manual/reference/error-codes/
for title, call, answer, raises, tags in (
    ("the password is wrong", sign_in, error(18, "AuthenticationFailed", "Authentication failed."), "OperationFailure", []),
    ("the mechanism is not enabled", sign_in, error(334, "MechanismUnavailable",
     "Received authentication for mechanism SCRAM-SHA-256 which is not enabled"), "OperationFailure", TRAP),
    ("nobody has signed in", find, error(13, "Unauthorized", "Command find requires authentication"), "OperationFailure", []),
    ("the user may not read the collection", find, error(13, "Unauthorized",
     "not authorized on shop to execute command { find: \"orders\" }"), "OperationFailure", []),
    ("the cloud service says only that authentication has failed", sign_in, error(8000, "AtlasError",
     "bad auth : Authentication failed."), "OperationFailure", []),
    ("the session must sign in again", find, error(391, "ReauthenticationRequired", "Reauthentication required"),
     "OperationFailure", TRAP),
    ("the cloud service's quota of space is used up", insert, error(8000, "AtlasError",
     "you are over your space quota, using 520 MB of 512 MB"), "OperationFailure", TRAP),
    ("the cloud service does not allow the command", find, error(8000, "AtlasError", "CMD_NOT_ALLOWED: find"),
     "OperationFailure", TRAP),
    ("the query takes longer than allowed", find, error(50, "MaxTimeMSExpired", "operation exceeded time limit"),
     "ExecutionTimeout", []),
    ("the primary steps down", find, error(189, "PrimarySteppedDown", "Not primary while stepping down"),
     "NotPrimaryError", []),
    ("the server is no primary", insert, error(10107, "NotWritablePrimary", "not primary", RETRY_WRITE),
     "NotPrimaryError", []),
    ("the server is a secondary and may not be read", find, error(13435, "NotPrimaryNoSecondaryOk",
     "not primary and secondaryOk=false"), "NotPrimaryError", TRAP),
    ("the server recovers", find, error(13436, "NotPrimaryOrSecondary", "node is in recovering or startup state"),
     "NotPrimaryError", []),
    ("the server shuts down", find, error(91, "ShutdownInProgress", "The server is in quiesce mode and will shut down"),
     "AutoReconnect", []),
    ("the operation was interrupted by a shutdown", find, error(11600, "InterruptedAtShutdown",
     "interrupted at shutdown"), "AutoReconnect", []),
    ("the operation was interrupted by a change of state", find, error(11602, "InterruptedDueToReplStateChange",
     "operation was interrupted"), "AutoReconnect", []),
    ("the operation was killed by an administrator", find, error(11601, "Interrupted", "operation was interrupted"),
     "OperationFailure", TRAP),
    ("the transaction conflicts with another", insert, error(112, "WriteConflict",
     "WriteConflict error: this operation conflicted with another operation. Please retry your operation or"
     " multi-document transaction.", "TransientTransactionError"), "OperationFailure", []),
    ("the lock is not to be had in time", insert, error(24, "LockTimeout",
     "Unable to acquire lock within a max lock request timeout of '5ms' milliseconds.", "TransientTransactionError"),
     "OperationFailure", []),
    ("the transaction is older than allowed", insert, error(251, "NoSuchTransaction",
     "Transaction 1 has been aborted.", "TransientTransactionError"), "OperationFailure", TRAP),
    ("the cursor is gone", find, error(43, "CursorNotFound", "cursor id 5 not found"), "CursorNotFound", []),
    ("the snapshot is too old", find, error(239, "SnapshotTooOld", "Read timestamp is older than the oldest available"),
     "OperationFailure", []),
    ("the server is overloaded", find, error(462, "IngressRequestRateLimitExceeded",
     "Rate limiter 'ingressRequest' rate exceeded", *OVERLOADED), "OperationFailure", []),
    ("requests per second of a service are exceeded", insert, error(16500, "16500",
     "Error=16500, RetryAfterMs=34, Details='Response status code does not indicate success: TooManyRequests (429)"),
     "OperationFailure", []),
    ("the logical sessions are used up", find, error(261, "TooManyLogicalSessions",
     "Unable to add session into the cache because the number of active sessions is too high"), "OperationFailure", []),
    ("the sort needs more memory than allowed", find, error(292, "QueryExceededMemoryLimitNoDiskUseAllowed",
     "Sort exceeded memory limit of 104857600 bytes, but did not opt in to external sorting."), "OperationFailure", []),
    ("the disk is full", insert, error(14031, "OutOfDiskSpace", "Cannot create data file: no space left on device"),
     "OperationFailure", []),
    ("the namespace does not exist", find, error(26, "NamespaceNotFound", "ns not found"), "OperationFailure", []),
    ("the collection exists already", find, error(48, "NamespaceExists", "Collection shop.orders already exists."),
     "OperationFailure", []),
    ("the index was made otherwise", find, error(86, "IndexKeySpecsConflict",
     "An existing index has the same name as the requested index."), "OperationFailure", []),
    ("the command does not exist", find, error(59, "CommandNotFound", "no such command: 'find'"), "OperationFailure", []),
    ("the operator is not known", find, error(2, "BadValue", "unknown operator: $whre"), "OperationFailure", []),
    ("the pipeline is not valid", find, error(40324, "Location40324", "Unrecognized pipeline stage name: '$mach'"),
     "OperationFailure", []),
    ("a value has the wrong type", find, error(14, "TypeMismatch", "Field 'limit' must be of type number"),
     "OperationFailure", []),
    ("a number is divided by zero", find, error(16608, "Location16608", "can't $divide by zero"), "OperationFailure", []),
    ("transactions need a replica set", insert, error(20, "IllegalOperation",
     "Transaction numbers are only allowed on a replica set member or mongos"), "OperationFailure", []),
    ("the server has an error of its own", find, error(1, "InternalError", "assertion src/mongo/db/exec.cpp:42"),
     "OperationFailure", []),
    ("a shard cannot be reached", find, error(6, "HostUnreachable", "Error connecting to shard1.shop.example:27018"),
     "OperationFailure", TRAP),
    ("a shard does not answer in time", find, error(202, "NetworkInterfaceExceededTimeLimit",
     "Couldn't get a connection within the time limit"), "OperationFailure", TRAP),
    ("no shard has a primary", find, error(133, "FailedToSatisfyReadPreference",
     "Could not find host matching read preference { mode: \"primary\" } for set shard1"), "OperationFailure", TRAP),
    ("the routes of a shard are stale", find, error(13388, "StaleConfig", "version mismatch detected for shop.orders"),
     "OperationFailure", TRAP),
    ("the key exists already", insert, write_error(11000,
     "E11000 duplicate key error collection: shop.orders index: _id_ dup key: { _id: 1 }",
     keyPattern={"_id": 1}, keyValue={"_id": 1}), "DuplicateKeyError", []),
    ("the document does not pass validation", insert, write_error(121, "Document failed validation"), "WriteError", []),
    ("the document is larger than allowed", insert, write_error(10334,
     "BSONObj size: 17000000 is invalid. Size must be between 0 and 16793600(16MB)"), "WriteError", []),
    ("several writes fail", insert_many, {"n": 0, "writeErrors": [
        {"index": 0, "code": 11000, "errmsg": "E11000 duplicate key error"},
        {"index": 1, "code": 121, "errmsg": "Document failed validation"}]}, "BulkWriteError", []),
    ("too few members confirm the write in time", insert, {"n": 1, "writeConcernError": {
        "code": 64, "codeName": "WriteConcernTimeout", "errmsg": "waiting for replication timed out",
        "errInfo": {"wtimeout": True}}}, "WTimeoutError", TRAP),
    ("the write concern cannot be met", insert, {"n": 1, "writeConcernError": {
        "code": 100, "codeName": "UnsatisfiableWriteConcern", "errmsg": "Not enough data-bearing nodes"}},
     "WriteConcernError", []),
    ("the write is not sure because of a shutdown", insert, {"n": 1, "writeConcernError": {
        "code": 91, "codeName": "ShutdownInProgress", "errmsg": "shutdown in progress"}}, "PyMongoError", TRAP),
    ("the write was stopped because of full storage", insert, write_error(8000,
     "write blocked: storage limit exceeded for cluster tier"), "WriteError", TRAP),
):  # fmt: skip

    @family.case(title, raises=raises, tags=tags)
    def _(mongod: Mongo, call: Callable[[Mongo], None] = call, answer: Any = answer) -> None:
        mongod.answers(answer)
        call(mongod)


@family.case("the server is too old for the driver", raises="ConfigurationError")
def _(mongod: Mongo) -> None:
    mongod.answers({}, greeting={"maxWireVersion": 5})
    find(mongod)


@family.case(
    "the server belongs to another replica set", raises=("ServerSelectionTimeoutError", "ConfigurationError"), tags=TRAP
)
def _(mongod: Mongo) -> None:
    mongod.answers({})
    find(mongod, replicaSet="warehouse", directConnection=False)


@family.case("the replica set has no primary", raises="ServerSelectionTimeoutError")
def _(mongod: Mongo) -> None:
    mongod.answers({}, greeting={"isWritablePrimary": False, "ismaster": False, "secondary": True, "primary": None})
    insert(mongod, replicaSet="shop")


@family.case("the connection breaks off in mid query", raises="AutoReconnect")
def _(mongod: Mongo) -> None:
    mongod.answers(None, to="find")
    find(mongod)


@family.case("the pool of connections is full", raises="WaitQueueTimeoutError", tags=TRAP)
def _(mongod: Mongo) -> None:
    mongod.answers({}, to="find", after_s=1)
    client = connect(mongod.port, maxPoolSize=1, waitQueueTimeoutMS=100, socketTimeoutMS=3000)

    def hold() -> None:
        with contextlib.suppress(pymongo.errors.PyMongoError):
            client.shop.orders.find_one()

    holder = Thread(target=hold)
    holder.start()
    time.sleep(QUICK_MS / 1000)
    try:
        client.shop.orders.find_one()
    finally:
        holder.join()


# What the driver finds by itself.
@plain("the connection is refused", raises="ServerSelectionTimeoutError", tags=TRAP)
def _() -> None:
    with refused_port() as port:
        connect(port).shop.orders.find_one()


@plain("the host name does not exist", raises="ServerSelectionTimeoutError", tags=TRAP)
def _() -> None:
    pymongo.MongoClient(
        f"mongodb://etl:{CANARY}@orders.invalid", serverSelectionTimeoutMS=QUICK_MS
    ).shop.orders.find_one()


@plain("the server does not answer in time", raises="ServerSelectionTimeoutError")
def _() -> None:
    with port_that_hangs() as port:
        connect(port, serverSelectionTimeoutMS=QUICK_MS * 2).shop.orders.find_one()


@plain("the server hangs up", raises="ServerSelectionTimeoutError", tags=TRAP)
def _() -> None:
    with port_that_closes(1) as port:
        connect(port).shop.orders.find_one()


@plain("the server resets the connection", raises="ServerSelectionTimeoutError", tags=TRAP)
def _() -> None:
    with port_that_resets() as port:
        connect(port).shop.orders.find_one()


@plain("the certificate is of an unknown authority", raises="ServerSelectionTimeoutError", tags=TRAP)
def _(https: Any) -> None:
    connect(https.port, tls=True).shop.orders.find_one()


@plain("the URI has options that contradict", raises="InvalidURI")
def _() -> None:
    pymongo.MongoClient(f"mongodb://etl:{CANARY}@127.0.0.1/?tlsInsecure=true&tlsAllowInvalidCertificates=true")


@plain("the URI has a password with an at sign", raises="InvalidURI")
def _() -> None:
    pymongo.MongoClient(f"mongodb://etl:{CANARY}@x@127.0.0.1/")


@plain("the URI has no port number", raises="ValueError")
def _() -> None:
    pymongo.MongoClient("mongodb://127.0.0.1:mongo/")


@plain("an SRV name that does not exist", raises="ConfigurationError", tags=TRAP)
def _() -> None:
    pymongo.MongoClient(f"mongodb+srv://etl:{CANARY}@shop.invalid/", connectTimeoutMS=QUICK_MS).shop.orders.find_one()


@plain("a document that cannot be made BSON", raises="InvalidDocument")
def _() -> None:
    bson.encode({"order": object()})


@plain("a number that is too large", raises="OverflowError")
def _() -> None:
    bson.encode({"order": 2**70})


@plain("an id that is none", raises="InvalidId")
def _() -> None:
    bson.ObjectId("order-1")


@plain("a document that is cut off", raises="InvalidBSON")
def _() -> None:
    bson.decode(bson.encode({"id": 1})[:-3])


@plain("a client that was closed", raises="InvalidOperation")
def _() -> None:
    client = connect(1)
    client.close()
    client.shop.orders.find_one()


@family.case("a document that is larger than the server allows", raises="DocumentTooLarge")
def _(mongod: Mongo) -> None:
    mongod.answers({})
    orders(mongod).insert_one({"text": "x" * 17_000_000})


@plain("a bulk without writes", raises="InvalidOperation")
def _() -> None:
    connect(1).shop.orders.bulk_write([])


# motor, and as tasks meet them.
def motor_orders(port: int) -> Any:
    return motor.motor_asyncio.AsyncIOMotorClient(
        "127.0.0.1", port, serverSelectionTimeoutMS=QUICK_MS, retryReads=False, retryWrites=False
    ).shop.orders


@motor_case("motor: the connection is refused", raises="ServerSelectionTimeoutError", is_wire_form=False, tags=TRAP)
async def _() -> None:
    with refused_port() as port:
        await motor_orders(port).find_one()


@motor_case("motor: the key exists already", raises="DuplicateKeyError")
async def _(mongod: Mongo) -> None:
    mongod.answers(write_error(11000, "E11000 duplicate key error collection: shop.orders"))
    await motor_orders(mongod.port).insert_one({"_id": 1})


@motor_case("motor: the primary steps down", raises="NotPrimaryError")
async def _(mongod: Mongo) -> None:
    mongod.answers(error(189, "PrimarySteppedDown", "Not primary while stepping down"))
    await motor_orders(mongod.port).find_one()


@family.case("wrapped: the query takes longer than allowed", raises="LoadError")
def _(mongod: Mongo) -> None:
    mongod.answers(error(50, "MaxTimeMSExpired", "operation exceeded time limit"))
    try:
        find(mongod)
    except pymongo.errors.PyMongoError as found:
        raise LoadError("cannot read the day's orders") from found


@family.case("wrapped in words: nobody has signed in", raises="LoadError", tags=[FROM_TEXT])
def _(mongod: Mongo) -> None:
    mongod.answers(error(13, "Unauthorized", "Command find requires authentication"))
    try:
        find(mongod)
    except pymongo.errors.PyMongoError as found:
        raise LoadError(f"read failed: {found}") from None


@family.case("tenacity gives up: the server is no primary", raises="RetryError")
def _(mongod: Mongo) -> None:
    mongod.answers(error(10107, "NotWritablePrimary", "not primary", RETRY_WRITE))
    tenacity.Retrying(stop=tenacity.stop_after_attempt(2))(insert, mongod)


@plain("tries of the driver's own within a deadline", raises="PyMongoError", tags=TRAP)
def _() -> None:
    with refused_port() as port, pymongo.timeout(0.3):
        connect(port, serverSelectionTimeoutMS=5000).shop.orders.find_one()


@plain("wrapped in words with the URI: no server can be selected", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    with refused_port() as port:
        uri = f"mongodb://etl:{CANARY}@127.0.0.1:{port}/shop?serverSelectionTimeoutMS={QUICK_MS}"
        try:
            pymongo.MongoClient(uri).shop.orders.find_one()
        except pymongo.errors.PyMongoError as found:
            raise LoadError(f"{uri}: {type(found).__name__}") from found


if __name__ == "__main__":
    family.run()
