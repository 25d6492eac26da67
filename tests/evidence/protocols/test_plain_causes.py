"""Where a general code stands beside plain words: what passes is retried, what only a person mends is not.

Each table holds the near miss, too: the same words, or the same code, where they mean something else.
"""

from __future__ import annotations

import gzip
import lzma
import ssl
import zlib
from collections.abc import Callable

import pytest
from botocore.exceptions import ClientError, CredentialRetrievalError, NoCredentialsError
from failure_reading import NOW, alive, conclusion, printed
from google.auth.exceptions import OAuthError, RefreshError
from http_reading import answer_node, raised_by
from word_reading import conclusive_codes

from airflow_common_ai.evidence.model import Edge, RedactedEvidence, RedactedNode, Retry
from airflow_common_ai.evidence.protocols.http.banners import greets_otherwise

YES, NO, DEPENDS, OPEN = Retry.YES, Retry.NO, Retry.DEPENDS, None


def settled(evidence: RedactedEvidence) -> Retry | None:
    signal = conclusion(evidence)
    return signal.retry if signal else None


def answered(status: int | None, message: str = "", *, code: str = "", reason: str = "") -> RedactedEvidence:
    facts = {"status": status, "body.message": message, "body.code": code, "body.reason": reason}
    return RedactedEvidence((answer_node({name: fact for name, fact in facts.items() if fact}),), NOW)


def refused_by_aws(operation: str, code: str, message: str, status: int = 400) -> BaseException:
    response = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, operation)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        # what a client was in the midst of, and what is gone for good
        (answered(410, "The requested upload session is no longer available"), YES),
        (answered(410, "The provided continue parameter is too old to display a consistent list"), YES),
        (printed("kubernetes.client.exceptions.ApiException", "(410)\nReason: Expired: too old resource version"), YES),
        (answered(404, "No search context found", code="search_context_missing_exception"), YES),
        (answered(400, "cursor has expired", code="CURSOR_EXPIRED"), YES),
        (answered(410, "This bucket was deleted"), NO),
        (answered(404, "No such cursor type"), NO),
        # the predecessor that is still going, and what is there to stay
        (answered(409, 'object is being deleted: jobs "etl" already exists', reason="AlreadyExists"), YES),
        (answered(409, 'jobs "etl" already exists', reason="AlreadyExists"), NO),
        # a container that starts, and one that cannot
        (answered(400, 'container "main" in pod "p" is waiting to start: PodInitializing', reason="BadRequest"), YES),
        (answered(400, 'container "main" is not valid for pod p', reason="BadRequest"), NO),
        # a client that keeps the phrase of a status, but no status
        (answered(None, "The warehouse is not ready yet", code="BAD_REQUEST"), YES),
        (answered(None, "The name of the warehouse has a blank", code="BAD_REQUEST"), NO),
        # counts of what is stored, and of what ends by itself
        (answered(429, "Cannot create 1 Volume(s) (estimated count: 500, limit: 500)", code="RESOURCE_EXHAUSTED"), NO),
        (answered(429, "Too many requests for this volume", code="RESOURCE_EXHAUSTED"), YES),
        (answered(409, "The repository is not empty"), NO),
        (answered(409, "Another commit is in progress"), YES),
        # a daemon that reports its own trouble, and one that names another's
        (answered(500, 'Get "https://r.example/v2/": x509: certificate has expired or is not yet valid'), NO),
        (answered(500, "x509: certificate signed by unknown authority", reason="InternalError"), NO),
        (answered(500, "unauthorized: incorrect username or password"), NO),
        (answered(500, 'could not select device driver "nvidia" with capabilities: [[gpu]]'), NO),
        (answered(500, 'failed calling webhook "v": context deadline exceeded', reason="InternalError"), YES),
        (answered(500, "certificate store is being reloaded"), YES),
        (answered(498, "Flex tier capacity exceeded, try again later", code="capacity_exceeded"), YES),
        (answered(498, "The session has expired"), DEPENDS),
        (answered(402, "An error occurred while processing the card.", code="processing_error"), YES),
        (answered(402, "The card was declined.", code="card_declined"), NO),
        (answered(526), NO),
        (answered(525), DEPENDS),
        # a clock is wrong on this worker only
        (answered(403, "Clock skew too great", code="RequestTimeTooSkewed"), OPEN),
        (answered(403, "The request date header too far in the future"), OPEN),
        # asked to wait, and asked for something else
        (answered(409, "Please retry using exponential backoff"), YES),
        (answered(400, "Unknown region. Retry your request with the name of a region"), NO),
    ],
)  # fmt: skip
def test_the_words_of_an_answer_decide_where_its_code_is_general(
    evidence: RedactedEvidence, expected: Retry | None
) -> None:
    assert settled(evidence) is expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (refused_by_aws("AddJobFlowSteps", "ValidationException", "Maximum number of active jobs exceeded"), YES),
        (refused_by_aws("RunJobFlow", "ValidationException", "The list of active steps must not be null"), NO),
        (refused_by_aws("Query", "InvalidEndpointException", "The requested endpoint is not valid."), YES),
        (refused_by_aws("ListRules", "LimitExceededException", "Cannot exceed quota for RulesPerAccount: 300"), NO),
        (refused_by_aws("ListRules", "LimitExceededException", "Rate exceeded"), YES),
        (refused_by_aws("StartExecution", "StateMachineDeleting", "State machine is being deleted"), NO),
        (refused_by_aws("CreateStateMachine", "StateMachineDeleting", "State machine is being deleted"), YES),
        (refused_by_aws("DeleteRepository", "RepositoryNotEmptyException", "It contains images", 400), NO),
        (refused_by_aws("GetRecords", "ExpiredIteratorException", "The iterator has expired"), YES),
        (refused_by_aws("PutObject", "RequestTimeTooSkewed", "The difference is too large.", 403), OPEN),
        (refused_by_aws("Converse", "ValidationException", "Retry your request with another model."), NO),
        (NoCredentialsError(), OPEN),
        (
            CredentialRetrievalError(
                provider="custom-process", error_msg="Missing required key in response: 'AccessKeyId'"
            ),
            NO,
        ),
        (CredentialRetrievalError(provider="custom-process", error_msg="timeout of the vault"), DEPENDS),
    ],
)
def test_aws_is_read_beyond_the_general_code(error: BaseException, expected: Retry | None) -> None:
    assert settled(alive(error)) is expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RefreshError("Unable to acquire impersonated credentials", '{"error": {"code": 403}}'), NO),
        (RefreshError("Unable to acquire impersonated credentials", '{"error": {"code": 503}}'), YES),
        (RefreshError("Reauthentication is needed. Please run a login."), NO),
        (RefreshError("The credentials do not contain the necessary fields need to refresh the access token."), NO),
        (RefreshError("Failed to retrieve x from the Google Compute Engine metadata service. Status: 404"), NO),
        (OAuthError("Error code invalid_grant: The subject is none."), NO),
        (RefreshError("The refresh did not go well"), DEPENDS),
    ],
)
def test_a_login_at_google_is_given_up_only_for_a_named_reason(error: BaseException, expected: Retry) -> None:
    assert settled(alive(error)) is expected


@pytest.mark.parametrize(
    ("type_path", "message", "expected"),
    [
        ("azure.servicebus.exceptions.ServiceBusConnectionError", "Error condition: amqp:unauthorized-access.", NO),
        ("azure.eventhub.exceptions.ConnectError", "Error condition: amqp:not-found\n No such hub", NO),
        ("azure.eventhub.exceptions.ConnectError", "Error condition: com.microsoft:server-busy", YES),
        ("azure.eventhub.exceptions.ConnectError", "Error condition: amqp:connection:forced", YES),
        ("paramiko.ssh_exception.AuthenticationException", "Authentication failed: transport shut down or saw EOF",
         DEPENDS),
        ("paramiko.ssh_exception.AuthenticationException", "Authentication failed.", NO),
        ("aiosmtplib.errors.SMTPAuthenticationError", "(535, '5.7.8 authentication failed')", NO),
        ("dns.resolver.NoNameservers", "All nameservers failed to answer: Server a answered REFUSED", NO),
        ("dns.resolver.NoNameservers", "All failed: Server a answered REFUSED; Server b answered SERVFAIL", YES),
        ("google.protobuf.text_format.ParseError", "2:4 : Couldn't parse float: many", NO),
        ("cimpl.KafkaException", 'KafkaError{FATAL,code=_UNSUPPORTED_FEATURE,val=-165,str="not supported"}', NO),
        ("cimpl.KafkaException", 'KafkaError{FATAL,code=_TIMED_OUT,val=-185,str="slow"}', DEPENDS),
        ("cimpl.KafkaException", 'KafkaError{code=_SSL,val=-181,str="SSL: certificate verify failed"}', NO),
        ("cimpl.KafkaException", 'KafkaError{code=_SSL,val=-181,str="SSL: handshake broke off"}', DEPENDS),
        ("neo4j.exceptions.TransientError", "{message: It would use more than the limit of 2.0 MiB}", YES),
        ("neo4j.exceptions.ClientError", "{message: Node(5) already exists}", OPEN),
        ("_duckdb.InvalidInputException", "Values were not provided for the following parameters: 1", NO),
        ("_duckdb.IOException", 'IO Error: Extension "spatial" not found.', NO),
        ("_duckdb.IOException", "IO Error: Connection error for HTTP GET", YES),
        ("EcsTaskFailToStart", "CannotPullContainerError: failed to resolve reference r.example/a:1: not found", NO),
        ("EcsTaskFailToStart", "CannotPullContainerError: the registry is slow", DEPENDS),
        ("pyspark.errors.PythonException", "No module named 'shop' SQLSTATE: 38000", NO),
        ("pyspark.errors.PythonException", "An exception was thrown from the worker SQLSTATE: 38000", OPEN),
        ("SparkException", "[FAILED_READ_FILE.FILE_NOT_EXIST] File does not exist.", YES),
    ],
)  # fmt: skip
def test_a_class_yields_to_the_cause_that_its_words_name(type_path: str, message: str, expected: Retry | None) -> None:
    assert settled(printed(type_path, message)) is expected


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda: gzip.decompress(b"PK\x03\x04 an archive of another kind"), NO),
        (lambda: gzip.decompress(b"<!doctype html>"), DEPENDS),
        (lambda: gzip.decompress(b'{"error": "busy"}'), DEPENDS),
        (lambda: gzip.decompress(gzip.compress(b"orders" * 99)[:-9]), DEPENDS),
        (lambda: lzma.decompress(b"id;name"), OPEN),
        (lambda: lzma.decompress(lzma.compress(b"orders" * 99)[:40]), DEPENDS),
        (lambda: zlib.decompress(b"id;name"), OPEN),
        (lambda: zlib.decompress(zlib.compress(b"orders" * 99)[:10]), DEPENDS),
    ],
)
def test_a_file_of_another_format_is_told_from_one_that_is_cut_short(
    read: Callable[[], object], expected: Retry | None
) -> None:
    assert settled(alive(raised_by(read))) is expected


def test_a_certificate_file_that_is_missing_is_no_socket() -> None:
    missing = raised_by(lambda: ssl.create_default_context().load_cert_chain("/nowhere/client.pem"))
    assert settled(alive(missing)) is NO


def test_a_file_that_an_sftp_server_lacks_is_no_socket() -> None:
    missing = FileNotFoundError(2, "No such file or directory")
    error = RuntimeError("cannot fetch the day's orders: [Errno 2] No such file or directory")
    error.__cause__ = missing
    assert settled(alive(error)) is NO


def test_a_path_that_a_connection_does_not_find_is_a_socket() -> None:
    words = "('Connection aborted.', FileNotFoundError(2, 'No such file or directory'))"
    nodes = (
        RedactedNode("requests.exceptions.ConnectionError", message=words),  # type: ignore[arg-type]
        RedactedNode(
            "builtins.FileNotFoundError",  # type: ignore[arg-type]
            message="[Errno 2] No such file or directory",  # type: ignore[arg-type]
            edge=Edge.WRAPPED,
            parent=0,
            facts={"os.errno": 2, "os.error": "ENOENT"},
        ),
    )
    assert settled(RedactedEvidence(nodes, NOW)) is DEPENDS


@pytest.mark.parametrize(
    "message",
    [
        "('Connection aborted.', BadStatusLine('SSH-2.0-dropbear_2024.86\\r\\n'))",
        "220 mail.example ESMTP",
        "illegal status line: bytearray(b'-ERR unknown command')",
        "BadStatusLine('\\x15\\x03\\x03\\x00\\x02\\x02P')",
        "400, message:\n  Expected HTTP/, RTSP/ or ICE/:\n\n    b'* OK IMAP4rev1 ready'",
    ],
)
def test_the_greeting_of_another_protocol_is_known(message: str) -> None:
    assert greets_otherwise(message)
    evidence = printed("http.client.BadStatusLine", message)
    assert settled(evidence) is NO


@pytest.mark.parametrize("message", ["HTTP/1.1 2", "", "2201 rows", "the SSH-2.0 gateway closed", "''"])
def test_half_an_answer_is_no_greeting(message: str) -> None:
    assert not greets_otherwise(message)
    assert settled(printed("http.client.BadStatusLine", message)) is YES


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("could not parse `7,5` as dtype `f64` at column 'amount'", ["bad_data"]),
        ("Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9000", ["bad_data"]),
        ("schema mismatch: int is not string", ["bad_data"]),
        ("missing required column day", ["bad_data"]),
        ("failed to parse the document", ["doubtful_data"]),
        ("Unable to locate credentials", []),
        ("Env var required but not provided: 'DBT_USER'", ["bad_statement"]),
    ],
)
def test_words_say_whether_data_is_wrong_or_perhaps_cut_short(message: str, expected: list[str]) -> None:
    assert conclusive_codes(message) == expected


ACME = "acme.errors.LoadFailed"


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        # whoever counts lets us in again
        (printed(ACME, "Request denied: client exceeded 300 calls/5min"), YES),
        (printed(ACME, "Request denied: client exceeded 300 rows/file"), OPEN),
        (printed(ACME, "AccessControlException: Queue root.etl already has 100 applications, cannot accept it"), YES),
        (printed(ACME, "the folder already has 100 files"), OPEN),
        # somebody else was first
        (printed(ACME, "Requirement failed: branch main has changed: expected id 30, found 31"), YES),
        (printed(ACME, "the schema of the file has changed: expected 30 columns"), OPEN),
        (printed(ACME, "Transaction collision: automatic transaction rollback."), YES),
        (printed(ACME, "the row was changed by another session"), YES),
        (alive(refused_by_aws("UpdateStack", "ValidationError", "Stack:a is in UPDATE_IN_PROGRESS state")), DEPENDS),
        (alive(refused_by_aws("UpdateStack", "ValidationError", "Stack:a is in ROLLBACK_COMPLETE state")), NO),
        (alive(PermissionError(13, "The file is being used by another process")), YES),
        (alive(PermissionError(13, "Permission denied")), NO),
        # what others make is not there yet
        (printed(ACME, "partner file of monday not delivered yet, expected by 06:00"), YES),
        (printed(ACME, "partner file of monday was not delivered"), OPEN),
        # what is gone, or was never granted
        (printed(ACME, 'failed to resolve reference "reg.io/etl:v1": reg.io/etl:v1: not found'), NO),
        (printed(ACME, 'failed to resolve reference "reg.io/etl:v1": dial tcp: i/o timeout'), YES),
        (printed(ACME, "the refresh token is invalid or was revoked"), NO),
        (printed(ACME, "Client certificate CN=etl-prod expired on 2026-01-01"), NO),
        (answered(429, "You are using a trial key, which is limited to 1000 API calls / month."), NO),
        (answered(429, "You are limited to 1000 API calls / minute."), YES),
        (answered(500, "Please reduce the amount of data you're asking for, then retry your request"), NO),
        (answered(500, "Please reduce the number of concurrent requests"), YES),
    ],
)  # fmt: skip
def test_the_words_of_a_service_tell_what_passes_from_what_does_not(
    evidence: RedactedEvidence, expected: Retry | None
) -> None:
    assert settled(evidence) is expected
