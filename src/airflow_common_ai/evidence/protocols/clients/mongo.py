"""MongoDB: the labels by which the server says what may be retried, and its error codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Retry, Signal, Wait
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes
from airflow_common_ai.evidence.protocols.number_table import NumberRow, signals_by_number

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("pymongo",)
PRINTED_MARKS = ("'codeName': '", "'errorLabels': ['")

_NOW, _SHORT, _MEDIUM, _LONG = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG
_CODES = "MongoDB src/mongo/base/error_codes.yml; pymongo 4.20.1"
_LABELS_SOURCE = "MongoDB error labels; pymongo 4.20.1"
_COSMOS = "Azure Cosmos DB for MongoDB, error 16500"

_MOVING = "the MongoDB cluster was moving, starting or stopping"
_UNREACHABLE = "a MongoDB server could not be reached"
_RACE = "another operation on the same data was faster"
_BUSY = "MongoDB is too busy"
_REFUSED = "the login or a permission was refused"
_MISSING = "there is no such collection, index or shard"
_WRONG = "the command or a document in it is wrong"
_NOT_DONE = "MongoDB does not do this, or not as it is configured"
_DUPLICATE = "the key is already in the collection"
_OWN_LIMIT = "a limit that was set for this operation was hit"

_ROWS: tuple[NumberRow, ...] = (
    (
        "91:ShutdownInProgress 94:NotYetInitialized 133:FailedToSatisfyReadPreference"
        " 134:ReadConcernMajorityNotAvailableYet 136:CappedPositionLost 145:PooledConnectionsDropped"
        " 149:NoConfigPrimary 189:PrimarySteppedDown 190:MasterSlaveConnectionFailure 199:ReplicaSetMonitorRemoved"
        " 216:ElectionInProgress 281:TransactionCoordinatorSteppingDown 303:SplitHorizonChange"
        " 10058:LegacyNotPrimary 10107:NotWritablePrimary 11600:InterruptedAtShutdown"
        " 11602:InterruptedDueToReplStateChange 13435:NotPrimaryNoSecondaryOk 13436:NotPrimaryOrSecondary"
        " 365:TemporarilyUnavailable",
        yes("transient", _SHORT, _MOVING, _CODES),
    ),
    (
        "6:HostUnreachable 89:NetworkTimeout 172:TransportSessionClosed 202:NetworkInterfaceExceededTimeLimit"
        " 262:ExceededTimeLimit 279:ClientDisconnect 317:ConnectionPoolExpired 384:ConnectionError"
        " 407:PooledConnectionAcquisitionExceededTimeLimit 9001:SocketException",
        yes("network", _SHORT, _UNREACHABLE, _CODES),
    ),
    ("7:HostNotFound 230:DNSHostNotFound", depends("network", _MEDIUM, _UNREACHABLE, _CODES, 3)),
    ("141:SSLHandshakeFailed", depends("network", _SHORT, "TLS failed", _CODES, 3)),
    (
        "24:LockTimeout 46:LockBusy 63:StaleShardVersion 107:LockFailed 112:WriteConflict"
        " 117:ConflictingOperationInProgress 143:CursorInUse 150:StaleEpoch 215:DatabaseDropPending"
        " 239:SnapshotTooOld 246:SnapshotUnavailable 249:StaleDbVersion 250:StaleChunkHistory 251:NoSuchTransaction"
        " 267:PreparedTransactionInProgress 272:MigrationConflict 314:ObjectIsBusy"
        " 358:InternalTransactionNotSupported 363:RetryableTransactionInProgress 412:UpdatesStillPending"
        " 13388:StaleConfig",
        yes("transient", _NOW, _RACE, _CODES),
    ),
    ("43:CursorNotFound", yes("transient", _SHORT, "the cursor has gone; it was idle for too long", _CODES)),
    (
        "175:QueryPlanKilled 237:CursorKilled 276:IndexBuildAborted 355:InterruptedDueToStorageChange",
        depends("transient", _SHORT, "the query was stopped by a change to what it read", _CODES, 3),
    ),
    (
        "402:ResourceExhausted 433:AdmissionQueueOverflow 449:RateLimitExceeded 261:TooManyLogicalSessions",
        yes("rate_limit", _MEDIUM, _BUSY, _CODES),
    ),
    ("16500:RequestRateTooLarge", yes("rate_limit", _MEDIUM, "rate limited", _COSMOS)),
    ("64:WriteConcernTimeout", depends("transient", _SHORT, "too few copies confirmed the write in time", _CODES, 3)),
    ("1:InternalError 8:UnknownError 96:OperationFailed", depends("transient", _SHORT, "MongoDB failed", _CODES, 3)),
    ("264:TooManyFilesOpen", depends("transient", _MEDIUM, _BUSY, _CODES, 3)),
    ("14031:OutOfDiskSpace", depends("transient", _LONG, "the server's disk is full", _CODES)),
    ("371:UserWritesBlocked", depends("transient", _LONG, "writes are blocked for now", _CODES)),
    (
        "50:MaxTimeMSExpired 146:ExceededMemoryLimit 290:TransactionExceededLifetimeLimitSeconds 11601:Interrupted",
        depends("permanent", _SHORT, _OWN_LIMIT, _CODES),
    ),
    (
        "292:QueryExceededMemoryLimitNoDiskUseAllowed",
        no("permanent", "the query sorts more than fits in memory and may not use the disk", _CODES),
    ),
    (
        "11:UserNotFound 13:Unauthorized 18:AuthenticationFailed 33:PrivilegeNotFound 31:RoleNotFound"
        " 214:AuthenticationRestrictionUnmet 334:MechanismUnavailable",
        no("auth", _REFUSED, _CODES),
    ),
    ("391:ReauthenticationRequired", depends("auth", _SHORT, "the session's login has expired", _CODES)),
    (
        "26:NamespaceNotFound 27:IndexNotFound 70:ShardNotFound 71:ReplicaSetNotFound 415:StreamProcessorDoesNotExist",
        no("resource", _MISSING, _CODES),
    ),
    ("11000:DuplicateKey 11001:DuplicateKey 12582:DuplicateKey 386:DuplicateKeyId", no("data", _DUPLICATE, _CODES)),
    ("48:NamespaceExists 68:IndexAlreadyExists", no("data", "it already exists, perhaps from an earlier try", _CODES)),
    (
        "2:BadValue 4:NoSuchKey 9:FailedToParse 14:TypeMismatch 15:Overflow 16:InvalidLength 22:InvalidBSON"
        " 28:PathNotViable 30:InvalidPath 40:ConflictingUpdateOperators 52:DollarPrefixedFieldName 53:InvalidIdField"
        " 56:EmptyFieldName 57:DottedFieldName 61:ShardKeyNotFound 66:ImmutableField 116:DocTooLargeForCapped"
        " 121:DocumentValidationFailure 170:TooManyMatchingDocuments 171:CannotIndexParallelArrays"
        " 241:ConversionFailure 257:TransactionTooLarge 260:InvalidResumeToken 357:InvalidBSONType"
        " 378:NonConformantBSON 10334:BSONObjectTooLarge",
        no("data", _WRONG, _CODES),
    ),
    (
        "20:IllegalOperation 59:CommandNotFound 67:CannotCreateIndex 72:InvalidOptions 73:InvalidNamespace"
        " 79:UnknownReplWriteConcern 85:IndexOptionsConflict 86:IndexKeySpecsConflict 100:UnsatisfiableWriteConcern"
        " 115:CommandNotSupported 123:NotAReplicaSet 166:CommandNotSupportedOnView 168:InvalidPipelineOperator"
        " 197:InvalidIndexSpecificationOption 238:NotImplemented 263:OperationNotSupportedInTransaction"
        " 280:ChangeStreamFatalError 286:ChangeStreamHistoryLost 291:NoQueryExecutionPlans 322:APIVersionError"
        " 323:APIStrictError 324:APIDeprecationError 376:ChangeStreamNotEnabled",
        no("permanent", _NOT_DONE, _CODES),
    ),
)
_SIGNALS: Mapping[int, Signal] = signals_by_number("mongo", _ROWS)

_LABELS: Mapping[str, Signal] = {
    label: meaning.signal(f"mongo.{label}", Rank.VERDICT)
    for label, meaning in (
        ("SystemOverloadedError", yes("rate_limit", _MEDIUM, _BUSY, _LABELS_SOURCE)),
        ("TransientTransactionError", yes("transient", _NOW, "the whole transaction may be run again", _LABELS_SOURCE)),
        (
            "UnknownTransactionCommitResult",
            yes("transient", _SHORT, "whether it was committed is not known; it may be run again", _LABELS_SOURCE),
        ),
        ("RetryableWriteError", yes("transient", _SHORT, "the write may be run again", _LABELS_SOURCE)),
        ("RetryableError", yes("transient", _SHORT, "the operation may be run again", _LABELS_SOURCE)),
    )
}
"""The first that an error carries speaks."""

_MAX_ITEMS = 100
_PRINTED_CODE = re.compile(r"'code': (\d{1,5})\b")
_PRINTED_LABELS = re.compile(r"'errorLabels': \[([^\]]{1,200})\]")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the code, the labels and, of a bulk write, the codes of its items; no document."""
    facts: dict[str, Fact] = {}
    if type(code := getattr(exception, "code", None)) is int:
        facts["mongo.code"] = code
    labels = getattr(exception, "_error_labels", None)
    if isinstance(labels, set | frozenset | list):
        facts |= _labels(str(label) for label in labels)
    details = getattr(exception, "details", None)
    if isinstance(details, Mapping):
        items = [*_items(details.get("writeErrors")), *_items(details.get("writeConcernErrors"))]
        if codes := list(dict.fromkeys(item.get("code") for item in items)):
            facts["mongo.item_codes"] = " ".join(str(code) for code in codes if type(code) is int)
    return facts


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the labels say, then the code, or the codes of a bulk write's items."""
    facts = {**_printed_facts(node.message), **node.facts}
    labels = str(facts.get("mongo.labels", "")).split()
    yield from (signal for label, signal in _LABELS.items() if label in labels)
    codes = str(facts.get("mongo.item_codes") or facts.get("mongo.code", "")).split()
    found = [signal for number, signal in _SIGNALS.items() if str(number) in codes]
    # One item that cannot succeed fails the whole write.
    yield from sorted(found, key=lambda signal: signal.retry is not Retry.NO)[:1]


def _printed_facts(message: str) -> dict[str, Fact]:
    """pymongo prints the server's whole answer behind its message."""
    _, mark, answer = message.partition("full error: {")
    if not mark and not any(printed in message for printed in PRINTED_MARKS):
        return {}
    answer = answer or message
    facts: dict[str, Fact] = {}
    codes = list(dict.fromkeys(_PRINTED_CODE.findall(answer)))
    if "'writeErrors': [" in answer:
        facts["mongo.item_codes"] = " ".join(codes)
    elif codes:
        facts["mongo.code"] = int(codes[-1])
    if match := _PRINTED_LABELS.search(answer):
        facts |= _labels(re.findall(r"\w+", match[1]))
    return facts


def _labels(labels: Iterable[str]) -> dict[str, Fact]:
    known = sorted(_LABELS.keys() & set(labels))
    return {"mongo.labels": " ".join(known)} if known else {}


def _items(value: object) -> list[Mapping[str, object]]:
    items = value[:_MAX_ITEMS] if isinstance(value, list) else []
    return [item for item in items if isinstance(item, Mapping)]
