"""What AWS error codes mean: the ones worth a row, and rules for the thousands that its services also use.

Of the rules and rows here the botocore service models are the measure: they say of many codes whether the service
itself was at fault, whether it may be retried, and with which status it comes.
"""

from __future__ import annotations

import re
from dataclasses import replace

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.code_table import CodeRow, CodeRule, CodeTable, words_of
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.http.words import kind_of_message
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["CANCELLATION_REASONS", "CODES", "STOP_REASONS", "find_aws_code"]

_NOW, _SHORT, _MEDIUM, _LONG = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG

_RETRIED = "botocore 1.44.8, retries/standard.py and _retry.json"
_MODELS = "botocore 1.44.8, service models"
_S3 = "Amazon S3 error responses"
_EC2 = "Amazon EC2 API error codes"
_IAM = "AWS common errors; IAM troubleshooting"
_LAMBDA = "AWS Lambda Invoke errors; botocore 1.44.8"
_ENDPOINTS = "Amazon Timestream, endpoint discovery; botocore 1.44.8 discovery.py"
_WORDS = "the words of the code, checked against the service models of botocore 1.44.8"

_THROTTLED = yes("rate_limit", _MEDIUM, "AWS throttles the requests", _RETRIED)
_IN_THE_WAY = yes("transient", _SHORT, "other work on the same thing is in the way", _MODELS)
_SERVICE_FAILED = yes("transient", _SHORT, "the AWS service failed", _MODELS)
_ACCOUNT_LIMIT = depends("permanent", _LONG, "a limit of the account or of the resource is used up", _MODELS)
_NO_CAPACITY = yes("transient", _LONG, "AWS has no capacity of this kind for now", _EC2)
_REFUSED = no("auth", "AWS refused; a permission granted just now may need a minute", _IAM)
_EXPIRED = depends("auth", _SHORT, "the credentials have expired; a new process gets new ones", _IAM)
_MISSING = no("resource", "it does not exist; what was created just now may not be visible yet", _MODELS)
_EXISTS = no("data", "it exists already, perhaps from an earlier try", _MODELS)
_LEAVING = no("resource", "it is being deleted", _MODELS)
_WRONG = no("data", "the request is wrong", _MODELS)
_NOT_EMPTY = no("data", "it is not empty", _S3)
_TOO_LARGE = no("data", "it is larger than the service takes", _MODELS)
_NOT_OFFERED = no("permanent", "it is switched off, or not offered here", _MODELS)
_KEY = no("permanent", "the KMS key cannot be used", "AWS KMS key states")
_LAMBDA_SETUP = no("permanent", "the Lambda function cannot start as it is configured", _LAMBDA)
_LOST_CONNECTION = yes("network", _SHORT, "the AWS service lost a connection", _WORDS)
_JOB_TIME = depends("permanent", _SHORT, "it took longer than its limit; the same work takes the same time", _MODELS)

_AT_A_TIME = yes("rate_limit", _MEDIUM, "too much at the same time; it frees when other work ends", _MODELS)

_HEAD_400 = depends("auth", _SHORT, "a HEAD answer hides its reason; expired credentials look like this", _S3)
"""The code ``400`` of a HEAD request, which has no body for a better one."""

_ROWS = (
    CodeRow(
        "Throttling ThrottlingException ThrottledException RequestThrottled RequestThrottledException TooManyRequests"
        " TooManyRequestsException ProvisionedThroughputExceeded RequestLimitExceeded BandwidthLimitExceeded SlowDown"
        " EC2Throttled",
        _THROTTLED,
        "rate",
    ),
    CodeRow(
        "KmsThrottled KMSThrottling EKSRequestThrottled ClientLimitExceeded CallRateLimitExceeded"
        " DependentServiceRequestThrottling Throttled ThrottledClient RateLimitExceeded TooManyUpdates RateExceeded"
        " ThrottlingError ReservedConcurrencyExceeded",
        _THROTTLED,
        "rate",
    ),
    CodeRow("TransactionInProgress PriorRequestNotComplete", _IN_THE_WAY),
    CodeRow("RequestTimeout IDPCommunication", yes("transient", _SHORT, "the request did not get through", _RETRIED)),
    CodeRow(
        "BadDigest XAmzContentSHA256Mismatch XAmzContentChecksumMismatch IncompleteBody",
        yes("network", _NOW, "the transfer was damaged", f"{_RETRIED}; {_S3}"),
    ),
    CodeRow(
        "ReplicatedWriteConflict TransactionConflict ConcurrentModification OptimisticLock OperationAborted"
        " ResourceConflict ResourceInUse ResourceNotReady SessionBusy ConditionalRequestConflict Conflict",
        _IN_THE_WAY,
        "conflict",
    ),
    CodeRow("DependencyViolation DeleteConflict", depends("transient", _MEDIUM, "something still uses it", _EC2, 3)),
    CodeRow(
        "InternalServer InternalServerError InternalFailure InternalError Internal InternalService ServiceException"
        " ServiceUnavailable Unavailable Dependency KMSInternal KeyUnavailable DependencyTimeout ServerInternal"
        " ServiceFailure ServerException InternalStreamFailure",
        _SERVICE_FAILED,
    ),
    CodeRow(
        "ConcurrentRunsExceeded ActiveStatementsExceeded ActiveSessionsExceeded CONCURRENT_QUERY_LIMIT_EXCEEDED"
        " ReservedFunctionConcurrentInvocationLimitExceeded ConcurrentInvocationLimitExceeded MaxConcurrentQueries"
        " TooManyConcurrentJobs",
        _AT_A_TIME,
    ),
    CodeRow(
        "InsufficientInstanceCapacity InsufficientCapacity UnfulfillableCapacity InsufficientHostCapacity"
        " SpotMaxPriceTooLow InsufficientCapacityOnHost InsufficientReservedInstanceCapacity ENILimitReached"
        " SubnetIPAddressLimitReached InsufficientFreeAddressesInSubnet InsufficientAddressCapacity",
        _NO_CAPACITY,
    ),
    CodeRow("LimitExceeded", _ACCOUNT_LIMIT, "limit"),
    CodeRow(
        "ServiceQuotaExceeded VcpuLimitExceeded InstanceLimitExceeded MaxSpotInstanceCountExceeded"
        " ResourceLimitExceeded TooManyBuckets CodeStorageExceeded",
        _ACCOUNT_LIMIT,
        "limit",
    ),
    CodeRow(
        "ExpiredToken RequestExpired TokenRefreshRequired CredentialsExpired ExpiredCredentials AuthExpired",
        _EXPIRED,
    ),
    CodeRow("RequestTimeTooSkewed", hint(depends("permanent", _LONG, "the clock of this worker is wrong", _IAM))),
    CodeRow(
        "InvalidSignature SignatureDoesNotMatch", no("auth", "the signature of the request is wrong", _IAM), "refused"
    ),
    CodeRow(
        "InvalidIdentityToken",
        depends("auth", _SHORT, "the web identity token was refused; its file may have been stale", _IAM),
    ),
    CodeRow(
        "AccessDenied UnauthorizedOperation Unauthorized AuthorizationError Authorization InvalidClientTokenId"
        " UnrecognizedClient AuthFailure OptInRequired KMSAccessDenied IDPRejectedClaim NotAuthorized Forbidden"
        " InvalidAccessKeyId MissingAuthenticationToken IncompleteSignature AllAccessDisabled AccountProblem"
        " InvalidToken PendingVerification NotSignedUp InvalidSecurity",
        _REFUSED,
        "refused",
    ),
    CodeRow(
        "NoSuchBucket NoSuchKey NoSuchUpload ResourceNotFound EntityNotFound QueueDoesNotExist NonExistentQueue"
        " NoSuchEntity NoSuchVersion",
        _MISSING,
    ),
    CodeRow("BucketAlreadyExists BucketAlreadyOwnedByYou", _EXISTS),
    CodeRow(
        "ExpiredIterator ExpiredNextToken", yes("transient", _SHORT, "a listing took too long; it begins anew", _MODELS)
    ),
    CodeRow("BucketNotEmpty RepositoryNotEmpty", _NOT_EMPTY),
    # Amazon Timestream tells its clients by and by where to go; botocore asks anew in a new process.
    CodeRow("InvalidEndpoint", yes("transient", _SHORT, "the address of the service has moved", _ENDPOINTS)),
    CodeRow("Validation Serialization InvalidParameterCombination", _WRONG, "invalid"),
    CodeRow(
        "ConditionalCheckFailed PreconditionFailed", no("data", "the condition of the request was not met", _MODELS)
    ),
    CodeRow("EntityTooLarge ItemCollectionSizeLimitExceeded MaxMessageLengthExceeded", _TOO_LARGE),
    CodeRow("EntityTooSmall InvalidRange InvalidPart InvalidPartOrder AuthorizationHeaderMalformed", _WRONG),
    CodeRow("InvalidObjectState", no("data", "the object is archived and must be restored first", _S3)),
    CodeRow("PermanentRedirect IllegalLocationConstraint", no("permanent", "the bucket is in another region", _S3)),
    CodeRow("TemporaryRedirect", yes("transient", _SHORT, "S3 moves the bucket's address just now", _S3)),
    CodeRow("NotImplemented MethodNotAllowed", _NOT_OFFERED),
    CodeRow("DryRunOperation", no("permanent", "the call was a dry run", _EC2)),
    # Lambda answers 502 and 500 for what only a new configuration mends.
    CodeRow(
        "InvalidRuntime InvalidZipFile InvalidSecurityGroupID InvalidSubnetID EC2AccessDenied EFSMountFailure"
        " SnapStart",
        _LAMBDA_SETUP,
    ),
    CodeRow("EC2Unexpected EFSIO EFSMountConnectivity EFSMountTimeout ENINotReady SnapStartNotReady", _SERVICE_FAILED),
    CodeRow("KMSDisabled KMSInvalidState KMSNotFound Disabled", _KEY),
    CodeRow("ModelNotReady ModelTimeout ModelStreamError", _SERVICE_FAILED),
    CodeRow(
        "ModelError", depends("data", _SHORT, "the model itself failed on this input", "SageMaker InvokeEndpoint", 3)
    ),
)


def _rule(words: str, meaning: Meaning, vague: str = "") -> CodeRule:
    return CodeRule(re.compile(words), meaning, vague)


_COUNTED = r"(?:number|max|maximum|limits?|quotas?|count)"

_RULES = (
    # What names a missing thing may name anything else, too: ProvisionedConcurrencyConfigNotFound.
    _rule(r"\b(?:not found|no such|not exists?|non ?existent)\b", _MISSING),
    _rule(
        r"\b(?:not accessible|inaccessible|access \w+ denied|access denied|permissions?\b(?! limit)"
        r"|privileges|unauthenticated|insufficient (?:\w+ )*policy)\b",
        _REFUSED,
        "refused",
    ),
    _rule(r"^(?:kms|xks)\b.*\b(?:disabled|invalid state|not found|key)\b", _KEY),
    _rule(r"\bthrottl|\brate (?:\w+ )*exceeded", _THROTTLED, "rate"),
    _rule(r"\b(?:concurrent|active)\b.*\b(?:exceeded|limit)|\bmax(?:imum)? concurrent\b", _AT_A_TIME),
    _rule(r"\b(?:size|length|bytes)\b.*\bexceed|\btoo (?:large|long)\b|\boversized\b", _TOO_LARGE),
    # InvalidNextToken is no credential, and InvalidOriginReadTimeout no timeout.
    _rule(
        r"^(?:\w+ )?invalid (?!.*\bstat(?:e|us)\b)"
        r"(?!(?:access key|auth\w*|client|credentials?|grant|identity|session|signature|subject|security|token)\b)",
        _WRONG,
        "invalid",
    ),
    _rule(r"\btoo many (?!requests|calls|updates|connections|\w+ requests|failed)", _ACCOUNT_LIMIT, "limit"),
    _rule(rf"\b{_COUNTED}\b.*\b(?:exceed\w*|reached)\b|\bover limit\b|\blimits? exceed", _ACCOUNT_LIMIT, "limit"),
    _rule(r"\b(?:statement|query|execution)\b.*\b(?:time ?out|timed out)", _JOB_TIME),
    _rule(r"\bnetwork (?:failure|error)|\bconnection (?:error|exception|failed|lost|closed)", _LOST_CONNECTION),
    # Glue says so of a crawler, Aurora of a database that it wakes.
    _rule(
        r"(?<!not )\b(?:running|stopping|resuming|restoring|transitioning|propagation|recently|retryable)\b",
        _IN_THE_WAY,
    ),
    _rule(r"\bshutdown\b|\bshutting down\b", _SERVICE_FAILED),
    _rule(r"\b(?:no free|insufficient) (?:\w+ )?(?:addresses|ips)\b", _NO_CAPACITY),
    # `in use` and `in progress` are other work, whatever is already so.
    _rule(r"\balready (?!.*\b(?:in use|in progress)\b)", _EXISTS),
    _rule(r"\bname (?:conflict|\w+ in use|in use)", _EXISTS),
    _rule(
        r"\b(?:disabled|deprecated|retired|suspended|deactivated|opted out|unavailable in)\b"
        r"|\bnot (?:allowed|enabled|supported|verified|confirmed|registered|in organi[sz]ation|available in)\b",
        _NOT_OFFERED,
    ),
    _rule(r"\b(?:mismatch|does not match|not valid|not modifiable|immutable|violation)\b", _WRONG, "invalid"),
)

CODES = CodeTable(_ROWS, _RULES)

_GENERIC_LIMITS = frozenset({"limit exceeded", "service quota exceeded", "service limit exceeded"})
_COUNTS_REQUESTS = re.compile(
    r"(?!.*DeliveryStream)(?:.*(?:Stream|Shard)"  # Kinesis
    r"|(?:Create|Update|Delete|Restore|Export|Import)\w*(?:Table|Backup$)|UpdateTimeToLive"  # DynamoDB
    r"|(?:Analyze|Classify|Compare|Describe|Detect|Get|Invoke|List|Post|Predict|Query|Recognize|Scan|Search|Send|Test"
    r"|Translate))"
)
"""Operations that create nothing, or whose service counts only what goes on: no count of things can be full."""
_COUNTS_JOBS = re.compile(r"Start")
_MAKES = re.compile(r"Create|Put|Register|Import|Restore")
_ROLE_REFUSED = re.compile(r"(?i)can ?not be assumed|unable to assume|assume role|sts:AssumeRole")
_ROLE_NOT_YET_THERE = depends("auth", _LONG, "the role cannot be assumed, perhaps not yet", _IAM)
"""Services call a role that was made just now an invalid parameter."""

_CHANGING = re.compile(
    r"\b(?:in|state:?|status:?|is) (?:an? |the |state |status )?['\"]?(?:[A-Z_]*IN_PROGRESS|CREATING|UPDATING|MODIFYING"
    r"|PENDING|STARTING|STOPPING|RESIZING|UPGRADING|PROVISIONING|REBOOTING|DELETING)\b|\bis currently being (?:\w+ed)\b"
)
_NOT_NOW = depends(
    "transient", _LONG, "not possible while it is being changed", "AWS API references, resource states", 4
)


def find_aws_code(code: str, *, operation: str = "", message: str = "", status: int | None = None) -> Meaning | None:
    """
    Return what an error code means.

    :param code: ``Error.Code``, e.g. ``ThrottlingException``, ``Client.RequestLimitExceeded`` or just ``404``.
    :param operation: The operation that was called, e.g. ``GetRecords``; empty if it is not known.
    :param message: The service's own message.
    :param status: The HTTP status, if there was one.
    :return: ``None`` for what only repeats the status, and for a code that says nothing.
    """
    if code.isdecimal():
        return _HEAD_400 if code == "400" and operation.startswith("Head") else None
    code = re.sub(r"^(?:Client|Server|AWS\.\w+)\.", "", code)
    words = re.sub(r" (?:exception|error|fault)$", "", words_of(code))
    if words in _GENERIC_LIMITS and (kind := kind_of_message(message, 400)) is not None and kind.name == "full":
        return kind.meaning
    if words in _GENERIC_LIMITS and _COUNTS_REQUESTS.match(operation):
        return _THROTTLED
    if words in _GENERIC_LIMITS and _COUNTS_JOBS.match(operation):
        return _AT_A_TIME
    if words.endswith(" deleting") and operation and not _MAKES.match(operation):
        return _LEAVING
    meaning = CODES.find(code, message=message, status=status)
    if meaning is not None and meaning.category == "data" and meaning.is_final:
        if _ROLE_REFUSED.search(message[:2048]):
            return _ROLE_NOT_YET_THERE
        if _CHANGING.search(message[:2048]):
            return _NOT_NOW
    return meaning


CANCELLATION_REASONS: dict[str, Meaning] = {
    reason: meaning
    for reasons, meaning in (
        ("ConditionalCheckFailed", no("data", "a condition in the transaction was not met", "DynamoDB transactions")),
        ("ValidationError ItemCollectionSizeLimitExceeded DuplicateItem", _WRONG),
        ("AccessDenied", _REFUSED),
        ("ThrottlingError ProvisionedThroughputExceeded RequestLimitExceeded", _THROTTLED),
        (
            "TransactionConflict",
            yes("transient", _SHORT, "another transaction used the same item", "DynamoDB transactions"),
        ),
    )
    for reason in reasons.split()
}
"""Why DynamoDB cancelled a transaction; the first of those that no retry mends decides, else the first of all."""

_EMR = "Amazon EMR ClusterStateChangeReason and ErrorDetail; botocore 1.44.8"

STOP_REASONS = CodeTable(
    (),
    (
        _rule(r"\bcapacity\b|^instance fleet timeout", replace(_NO_CAPACITY, source=_EMR)),
        _rule(r"^(?:internal error|instance failure)", yes("transient", _LONG, "the cluster lost its machines", _EMR)),
        _rule(
            r"^(?:validation error|bootstrap failure|step failure)",
            depends("permanent", _LONG, "the cluster could not run what it was given", _EMR),
        ),
        _rule(r"^user request", no("permanent", "somebody ended it", _EMR)),
    ),
)
"""Why a cluster of EMR ended."""
