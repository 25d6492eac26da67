"""What the words of a message say where no code, no status and no class says anything."""

# ruff: noqa: E501 - messages stand as they were written

from __future__ import annotations

import html
import json
from collections.abc import Iterator

import pytest
from word_reading import conclusive_codes, hinted_codes, read_message, sayings

from airflow_common_ai.evidence.model import Rank, Retry, Wait
from airflow_common_ai.evidence.protocols.text.patterns import TOPICS, Form, Pattern, Topic

MESSAGES = {
    # What libpq builds while it connects: no SQLSTATE comes with it.
    'connection to server at "10.1.2.3", port 5432 failed: FATAL:  password authentication failed for user "etl"': "login_refused",
    'FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "etl", database "dwh", no encryption': "login_refused",
    'connection to server at "h", port 5432 failed: FATAL:  role "etl" does not exist': "login_refused",
    'connection to server at "h", port 5432 failed: FATAL:  database "dwh" does not exist': "no_such_object",
    "connection failed: FATAL:  sorry, too many clients already": "too_many_connections",
    "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute": "too_many_connections",
    "FATAL:  the database system is starting up": "unavailable",
    "FATAL:  the database system is shutting down": "unavailable",
    "FATAL:  the database system is in recovery mode": "unavailable",
    'could not translate host name "db.corp" to address: Temporary failure in name resolution': "dns_try_again",
    'could not translate host name "db.corp" to address: Name or service not known': "host_unknown",
    'connection to server at "10.1.2.3", port 5432 failed: timeout expired': "connection_timed_out",
    "SSL SYSCALL error: EOF detected": "connection_lost",
    "SSL SYSCALL error: Connection reset by peer": "connection_lost",
    # PostgreSQL itself.
    "canceling statement due to statement timeout": "configured_time_limit",
    "canceling statement due to lock timeout": "locked",
    "canceling statement due to conflict with recovery\nDETAIL:  User query might have needed to see rows": "lost_race",
    "deadlock detected\nDETAIL:  Process 1 waits for ShareLock on transaction 2; blocked by process 3.": "deadlock",
    "could not serialize access due to concurrent update": "lost_race",
    'relation "orders" does not exist\nLINE 1: select * from orders\n                      ^': "no_such_object",
    'column "amount" of relation "orders" does not exist': "no_such_object",
    'permission denied for table "orders"': "permission_missing",
    'duplicate key value violates unique constraint "orders_pkey"\nDETAIL:  Key (id)=(1) already exists.': "bad_data",
    'null value in column "id" of relation "orders" violates not-null constraint': "bad_data",
    'invalid input syntax for type integer: "12a"': "bad_data",
    'syntax error at or near "FORM"\nLINE 1: select 1 FORM t': "bad_statement",
    'could not extend file "base/1/2": No space left on device': "disk",
    # MySQL.
    "(1040, 'Too many connections')": "too_many_connections",
    "(1045, \"Access denied for user 'etl'@'10.0.0.9' (using password: YES)\")": "login_refused",
    "(2013, 'Lost connection to MySQL server during query')": "connection_lost",
    "(2006, \"MySQL server has gone away (BrokenPipeError(32, 'Broken pipe'))\")": "connection_lost",
    "(1205, 'Lock wait timeout exceeded; try restarting transaction')": "locked",
    "(1213, 'Deadlock found when trying to get lock; try restarting transaction')": "deadlock",
    "(1146, \"Table 'dwh.orders' doesn't exist\")": "no_such_object",
    "(1054, \"Unknown column 'amount' in 'field list'\")": "no_such_object",
    "(1062, \"Duplicate entry '7' for key 'orders.PRIMARY'\")": "bad_data",
    "(3024, 'Query execution was interrupted, maximum statement execution time exceeded')": "configured_time_limit",
    "(1226, \"User 'etl' has exceeded the 'max_questions' resource (current value: 10)\")": "hourly_resource",
    # SQL Server, Oracle, Snowflake, SQLite.
    "[Microsoft][ODBC Driver 18 for SQL Server]Login timeout expired (0) (SQLDriverConnect)": "connection_timed_out",
    "[Microsoft][ODBC Driver 18 for SQL Server][SQL Server]Login failed for user 'etl'. (18456)": "login_refused",
    "Transaction (Process ID 55) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction.": "deadlock",
    "Violation of PRIMARY KEY constraint 'PK_orders'. Cannot insert duplicate key in object 'dbo.orders'.": "bad_data",
    "Invalid object name 'dbo.orders'.": "no_such_object",
    "Listener refused the connection with the following error": "connection_refused",
    "Object 'DWH.PUBLIC.ORDERS' does not exist or not authorized.": "no_such_object",
    "Statement reached its statement or warehouse timeout of 600 second(s) and was canceled.": "configured_time_limit",
    "Incorrect username or password was specified.": "login_refused",
    "UNIQUE constraint failed: orders.id": "bad_data",
    # Networks, in the words of several languages' libraries.
    "dial tcp 10.0.0.5:443: connect: connection refused": "connection_refused",
    "read tcp 10.0.0.5:4321->10.0.0.6:443: read: connection reset by peer": "connection_lost",
    "dial tcp: lookup api.corp on 10.0.0.2:53: no such host": "host_unknown",
    "net/http: TLS handshake timeout": "connection_timed_out",
    "dial tcp 10.0.0.5:443: i/o timeout": "connection_timed_out",
    "connect ECONNREFUSED 10.0.0.5:443": "connection_refused",
    "read ECONNRESET": "connection_lost",
    "getaddrinfo EAI_AGAIN api.corp": "dns_try_again",
    "java.net.SocketTimeoutException: Read timed out": "connection_timed_out",
    "java.net.UnknownHostException: api.corp": "host_unknown",
    "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))": "connection_lost",
    "curl: (28) Operation timed out after 30001 milliseconds with 0 bytes received": "deadline",
    "upstream connect error or disconnect/reset before headers. reset reason: connection termination": "connection_lost",
    "no healthy upstream": "gateway",
    "Can't contact LDAP server": "connection_refused",
    "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1006)": "tls_certificate",
    "x509: certificate signed by unknown authority": "tls_certificate",
    "<html>\n<head><title>504 Gateway Time-out</title></head>\n<body>nginx</body></html>": "gateway",
    "<html><body><h1>503 Service Unavailable</h1>No server is available to handle this request.</body></html>": "unavailable",
    # Rates, quotas, money.
    "Rate limit exceeded": "rate_limited",
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.": "rate_limited",
    "Please reduce your request rate.": "rate_limited",
    "You are being throttled": "rate_limited",
    "Request rate is large": "rate_limited",
    "toomanyrequests: You have reached your pull rate limit.": "rate_limited",
    "You exceeded your current quota, please check your plan and billing details.": "billing",
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing": "billing",
    "Billing has not been enabled for this project. Enable billing": "billing",
    "The engine is currently overloaded, please try again later": "unavailable",
    # Access.
    "Permission denied (publickey,gssapi-keyex,gssapi-with-mic).": "login_refused",
    "Host key verification failed.": "login_refused",
    "User: arn:aws:iam::123456789012:user/etl is not authorized to perform: s3:GetObject": "permission_missing",
    "The caller does not have permission": "access_denied",
    "Access Denied": "access_denied",
    "Incorrect API key provided: sk-***": "login_refused",
    "invalid_grant: Bad Request": "login_refused",
    "The security token included in the request is expired": "token_expired",
    "Token has expired": "token_expired",
    "Authentication token has expired.  The user must authenticate again.": "token_expired",
    # What is not there, what is wrong.
    "rsync: link_stat \"/in/x.csv\" failed: No such file or directory (2)": "not_found",
    "The specified bucket does not exist": "no_such_object",
    "Path does not exist: s3://lake/orders": "not_found",
    "manifest for corp/etl:7 not found: manifest unknown: manifest unknown": "no_such_object",
    "bash: line 1: dbt: command not found": "not_found",
    "ModuleNotFoundError: No module named 'pandas'": "no_such_object",
    "Compilation Error in model orders (models/orders.sql)": "bad_statement",
    "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens": "bad_data",
    # Memory, disks, machines, time.
    "java.lang.OutOfMemoryError: Java heap space": "own_memory_limit",
    "Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used": "own_memory_limit",
    "OutOfMemoryError: Container killed due to memory usage": "own_memory_limit",
    "CUDA out of memory. Tried to allocate 20.00 MiB": "own_memory_limit",
    "fork: Cannot allocate memory": "memory",
    "write error: No space left on device": "disk",
    "accept: Too many open files": "open_files",
    "0/5 nodes are available: 5 Insufficient cpu.": "no_capacity",
    "We currently do not have sufficient m5.large capacity in the Availability Zone you requested": "no_capacity",
    "The node was low on resource: memory. Container base was using 5Gi": "machine_lost",
    "Host EC2 (instance i-0abc) terminated.": "machine_lost",
    "Your Spot Task was interrupted.": None,
    "ExecutorLostFailure (executor 7 exited caused by one of the running tasks)": "machine_lost",
    "Task received SIGTERM signal": "machine_lost",
    "Pod took too long to start. More than 120s. Check the pod events in kubernetes.": "no_capacity",
    "SSH command timed out": "configured_time_limit",
    "Waiter error: max attempts reached": "configured_time_limit",
    "Query exceeded maximum time limit of 10.00m": "configured_time_limit",
    "JOB 77 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT": "configured_time_limit",
    # Locks and races.
    "database is locked": "locked",
    "Error acquiring the state lock": "locked",
    "io.delta.exceptions.ConcurrentAppendException: Files were added to the root of the table": "lost_race",
    "Operation cannot be fulfilled on pods \"x\": the object has been modified; please apply your changes": "lost_race",
}  # fmt: skip


@pytest.mark.parametrize(("message", "topic"), MESSAGES.items())
def test_a_message_of_a_real_system_is_understood(message: str, topic: str | None) -> None:
    assert conclusive_codes(message)[:1] == ([topic] if topic else [])


def _phrases(form: Form | None = None) -> Iterator[tuple[Topic, Pattern]]:
    return ((topic, pattern) for topic in TOPICS for pattern in topic.patterns if form is None or pattern.form is form)


def _codes(message: str) -> set[str]:
    return {signal.code for signal in read_message(message)}


ALL_PHRASES = pytest.mark.parametrize(
    ("topic", "pattern"),
    [pytest.param(topic, pattern, id=f"{topic.name}-{pattern.phrase}") for topic, pattern in _phrases()],
)


@ALL_PHRASES
def test_every_phrase_is_found_in_prose_in_json_and_in_html(topic: Topic, pattern: Pattern) -> None:
    for saying in sayings(pattern.phrase):
        code = f"text.{topic.name}"
        assert code in _codes(f"Job a7 ended: {saying}. Nothing else is known"), saying
        assert code in _codes(json.dumps({"status": "failed", "error": {"message": f"Ended: {saying}"}})), saying
        assert code in _codes(f"<html><body><h1>Oh</h1><p>{html.escape(saying)}</p></body></html>"), saying


@ALL_PHRASES
def test_no_phrase_is_found_in_a_name_a_path_a_quoted_value_or_a_statement(topic: Topic, pattern: Pattern) -> None:
    plain_words = [
        word for word in next(sayings(pattern.phrase)).replace('"', "").replace(",", "").split() if word.isalpha()
    ]
    words = " ".join(plain_words)
    if len(plain_words) < 2 or words != words.lower():
        return  # One word alone may be said; a name inside of a phrase is met as that name.
    for message in (
        f"reading table {words.replace(' ', '_')} took long",
        f"wrote file /tmp/{words.replace(' ', '-')}.log to disk",
        f"the method {words[0] + words.title().replace(' ', '')[1:]} has no attribute x",
        f"GET https://api.corp/{words.replace(' ', '/')}?{words.replace(' ', '=')} was slow",
        f'the column "{words}" holds 5 rows',
        f"select * from t where status = '{words}'",
        f"got unknown value '{words}' here",
    ):
        assert f"text.{topic.name}" not in _codes(message), message


@pytest.mark.parametrize(("topic", "pattern"), list(_phrases(Form.VAGUE)))
def test_a_vague_phrase_is_never_more_than_a_hint(topic: Topic, pattern: Pattern) -> None:
    for saying in sayings(pattern.phrase):
        assert all(signal.is_conclusive is False for signal in read_message(f"Job ended: {saying}")), saying


@pytest.mark.parametrize(("topic", "pattern"), [*_phrases(Form.EXACT), *_phrases(Form.VENDOR)])
def test_a_denied_phrase_says_nothing(topic: Topic, pattern: Pattern) -> None:
    saying = next(sayings(pattern.phrase))
    assert f"text.{topic.name}" not in _codes(f"The cause was not a {saying}")
    assert f"text.{topic.name}" not in _codes(f"Finished without any {saying}")


@pytest.mark.parametrize(("topic", "pattern"), [*_phrases(Form.EXACT), *_phrases(Form.VENDOR)])
def test_a_doubted_phrase_is_a_hint(topic: Topic, pattern: Pattern) -> None:
    saying = next(sayings(pattern.phrase))
    assert conclusive_codes(f"This may be caused by {saying}") == []


def test_no_phrase_is_listed_twice() -> None:
    phrases = [pattern.phrase for _, pattern in _phrases()]
    assert len(phrases) == len(set(phrases))


def test_every_phrase_names_who_writes_it() -> None:
    assert all(pattern.source for _, pattern in _phrases())


@pytest.mark.parametrize(
    "message",
    [
        "",
        "   ",
        "Task failed",
        "exit 1",
        "Es konnte keine Verbindung hergestellt werden: Zeitüberschreitung",
        "La connexion a été refusée",
        "接続が拒否されました",
        "requests to partner_timeout_events succeeded",
        "def connection_refused(): pass",
        "Unexpected result 'timeout' for column status",
        "Retrying in 5 seconds",
        "rate_limit=5 timeout=30",
        "timeout = 30",
        "loaded 5 rows from access_denied_log",
        "RetryError[<Future at 0x7f state=finished raised ConnectionError>]",
        "Max retries exceeded with url: /timeout",
        "maximum recursion depth exceeded",
        "current transaction is aborted, commands ignored until end of transaction block",
        "Response check returned False.",
        "Bash command failed. The command returned a non-zero exit code 1.",
    ],
)  # fmt: skip
def test_what_says_nothing_about_retrying_gives_no_signal(message: str) -> None:
    assert read_message(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "this is not a timeout",
        "no timeout configured",
        "the timeout setting must be positive",
        "an invalid timeout value",
        "finished without error",
        "connection refused errors were not seen",
        "the request was never throttled",
        "it wasn't caused by a deadlock",
    ],
)
def test_what_is_denied_or_only_talked_about_never_points_to_another_try(message: str) -> None:
    assert all(signal.retry is Retry.NO and not signal.is_conclusive for signal in read_message(message))


def test_what_is_not_retryable_is_no_hint_at_a_retry() -> None:
    assert [signal.retry for signal in read_message("the error is not retryable")] == [Retry.NO]
    assert [signal.retry for signal in read_message("the error is retryable")] == [Retry.YES]


def test_what_is_not_there_yet_is_a_hint() -> None:
    assert conclusive_codes('relation "orders" does not exist yet') == []
    assert hinted_codes('relation "orders" does not exist yet') == ["no_such_object"]


def test_a_key_that_was_not_found_is_a_name_and_no_message() -> None:
    assert read_message("'connection refused'", type_path="KeyError") == []


def test_the_notes_of_an_exception_are_read_too() -> None:
    signals = read_message("Job 7 failed", notes=("While loading orders", "the broker said: connection refused"))
    assert [signal.code for signal in signals] == ["text.connection_refused"]


def test_a_signal_says_what_was_read_and_who_writes_it_but_nothing_of_the_message() -> None:
    (signal,) = read_message('FATAL:  password authentication failed for user "bob-the-secret"')
    assert (signal.code, signal.category, signal.rank) == ("text.login_refused", "auth", Rank.TEXT)
    assert (signal.retry, signal.wait) == (Retry.NO, Wait.NONE)
    assert signal.source == "PostgreSQL 28P01"
    assert "bob" not in signal.sentence


class TestDisagreement:
    """Where the words of one message disagree about retrying."""

    def test_the_servers_own_sentence_beats_the_failure_of_another_address(self) -> None:
        message = (
            'connection to server at "localhost" (::1), port 5432 failed: Connection refused\n'
            "\tIs the server running on that host and accepting TCP/IP connections?\n"
            'connection to server at "localhost" (127.0.0.1), port 5432 failed: '
            'FATAL:  password authentication failed for user "etl"'
        )
        assert conclusive_codes(message) == ["login_refused"]
        assert hinted_codes(message) == ["connection_refused"]

    def test_a_sentence_that_would_fail_the_task_must_be_the_last_word(self) -> None:
        assert conclusive_codes("connection reset by peer; no such table: orders") == ["no_such_object"]
        assert conclusive_codes("no such table: orders; connection reset by peer") == []

    def test_otherwise_all_of_them_are_hints(self) -> None:
        message = "Can't connect to MySQL server; then no such table: orders"
        assert conclusive_codes(message) == []
        assert set(hinted_codes(message)) == {"connection_refused", "no_such_object"}

    def test_the_longer_phrase_is_meant_where_two_overlap(self) -> None:
        assert conclusive_codes("lock wait timeout exceeded") == ["locked"]
        assert conclusive_codes("canceling statement due to statement timeout") == ["configured_time_limit"]
        assert conclusive_codes("gateway timeout") == ["gateway"]

    def test_the_surer_and_then_the_milder_comes_first(self) -> None:
        assert conclusive_codes("The session has expired. Connection refused.") == [
            "connection_refused",
            "token_expired",
        ]

    def test_general_words_that_would_fail_the_task_are_hints_beside_any_that_would_retry_it(self) -> None:
        assert conclusive_codes("Access denied. Connection refused.") == []
        assert conclusive_codes("Access denied.") == ["access_denied"]


class TestLongTexts:
    """Only the beginning and the end of a long message are read, and the middle of a log proves nothing."""

    def test_words_at_either_end_are_found(self) -> None:
        noise = "and then some more\n" * 60_000
        assert conclusive_codes(f"connection refused\n{noise}") == ["connection_refused"]
        assert conclusive_codes(f"{noise}\nconnection refused") == ["connection_refused"]
        assert read_message(f"{noise}\nconnection refused\n{noise}") == []

    def test_no_word_is_read_that_is_only_the_half_of_one(self) -> None:
        half = "x" * 4082 + " connection refused_events " + "y " * 4096
        assert read_message(half) == []

    def test_what_a_log_reports_in_its_middle_is_a_hint(self) -> None:
        lines = ["all is well"] * 12
        log = "\n".join([*lines, "password authentication failed for user x", *lines])
        assert conclusive_codes(log) == []
        assert hinted_codes(log) == ["login_refused"]

    @pytest.mark.parametrize(
        "hostile",
        [
            "'a " * 350_000,
            '"' * 1_000_000,
            '\\"' * 500_000,
            "limit exceeded " * 70_000,
            "SELECT x " * 110_000 + "FROM",
            "<a " * 330_000,
            "\n" * 1_000_000,
            "exceeded a b c " * 60_000,
            "try again in " + "9" * 1_000_000,
            "=(" * 500_000,
            "\x00" * 1_000_000,
            "\x1b[" * 500_000,
            "({[\"'" * 200_000,
        ],
        ids=lambda text: repr(text[:12]),
    )
    def test_hostile_megabytes_are_read_without_an_error(self, hostile: str) -> None:
        assert len(read_message(hostile)) <= 3
