"""What the messages of Java exceptions say beyond their class: the system's own words, statuses, fixed sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from airflow_common_ai.evidence.logs.java_names import simple_name
from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.aws.codes import find_aws_code
from airflow_common_ai.evidence.protocols.grpc.codes import CODES as GRPC_CODES
from airflow_common_ai.evidence.protocols.http.judgement import judge
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.system import os_error

__all__ = ["read_message"]

_NOW, _SHORT, _MEDIUM = Wait.NOW, Wait.SHORT, Wait.MEDIUM
_MAX_CHARS = 4096
_JAVA = "OpenJDK 17"
_SPARK = "Apache Spark 3.5"
_HADOOP = "Apache Hadoop 3.3"
_HIVE = "Apache Hive 3"
_CLOUD = "AWS SDK for Java 1 and 2"

_TLS_LOST = yes("network", _SHORT, "the other side hung up during the TLS handshake", _JAVA)
_OWN_LIMIT = depends("permanent", _MEDIUM, "the application's own memory limit was hit", _SPARK)
_SETTING = no("permanent", "a setting of the Spark application is too small or wrong", _SPARK)
_METASTORE = depends("transient", _MEDIUM, "the Hive metastore could not be reached", _HIVE, 3)
_STOPPED = depends("transient", _MEDIUM, "the Spark application was stopped meanwhile", _SPARK, 3)

# Class or the end of its name, finding, words in its message, what they say better than the class.
_WORD_ROWS: tuple[tuple[str, str, str, Meaning], ...] = (
    (
        "IOException",
        "program_missing",
        r"^(?:Cannot run program .*)?error=(?:2|13),",
        no("permanent", "the program to run does not exist on this machine or is not executable", _JAVA),
    ),
    (
        "SSLException|SSLHandshakeException|SSLProtocolException",
        "tls_closed",
        r"(?:terminated the handshake|closed connection during handshake|peer shut down incorrectly"
        r"|closing inbound before|Connection reset|Broken pipe|[Rr]ead timed out|connection was aborted)",
        _TLS_LOST,
    ),
    (
        "SSLException|SSLHandshakeException|SSLProtocolException",
        "tls_refused",
        r"PKIX path|certificat|trustAnchors|Unsupported or unrecognized SSL message|No appropriate protocol"
        r"|handshake_failure|protocol_version|insufficient_security|unrecognized_name|No subject alternative",
        no("permanent", "the two sides do not agree on TLS, or a certificate is not trusted", _JAVA),
    ),
    # An initialiser that failed once is not run again in the same JVM: why it failed is in an earlier trace.
    (
        "NoClassDefFoundError",
        "class_not_initialised",
        r"^Could not initialize class",
        depends("permanent", _SHORT, "a Java class could not be set up", _JAVA),
    ),
    (
        "OutOfMemoryError",
        "no_thread",
        r"[Uu]nable to create (?:new )?native thread",
        depends("transient", _MEDIUM, "the machine has no thread or memory left", _JAVA, 3),
    ),
    (
        "JsonParseException|JsonMappingException|JSONException|JsonSyntaxException",
        "html_instead_of_json",
        r"Unexpected character \('<'|No content to map|Unexpected end-of-input|must begin with '\{' at 0",
        depends("network", _SHORT, "an HTML page or nothing at all came instead of JSON", "Jackson 2, org.json", 3),
    ),
    (
        "SQLException",
        "no_driver",
        r"^No suitable driver",
        no("permanent", "no JDBC driver on the class path is for this URL", "Java SE 17 java.sql"),
    ),
    (
        "RuntimeException|SparkException|IOException|ParquetCorruptedFooterException|FileFormatException",
        "damaged_file",
        r"is not a (?:Parquet|SequenceFile)|[Ee]xpected magic number|CANNOT_READ_FILE_FOOTER|Could not read footer"
        r"|Malformed ORC file|Not an Avro data file|Invalid sync!|corrupted? file: ",
        depends("data", _SHORT, "a file is damaged, cut short or of another format", "Parquet, ORC and Avro for Java"),
    ),
    (
        "IOException",
        "no_directory",
        r"^Mkdirs failed to create",
        depends("permanent", _SHORT, "a directory could not be made; a permission may be missing", _HADOOP),
    ),
    (
        "IOException",
        "filesystem_closed",
        r"^Filesystem closed",
        depends("transient", _SHORT, "the client of the file system was closed meanwhile", _HADOOP, 3),
    ),
    # Spark
    (
        "SparkException",
        "memory_limit",
        r"(?:exceeding (?:physical |virtual )?memory limits|bigger than spark\.driver\.maxResultSize"
        r"|OOM|exit(?:ed with)? code:? 52\b)",
        _OWN_LIMIT,
    ),
    (
        "SparkException",
        "setting",
        r"(?:Task not serializable|Kryo serialization failed|Could not parse Master URL|exceeds max allowed:"
        r"|Cannot broadcast the table that is larger)",
        _SETTING,
    ),
    (
        "SparkException",
        "broadcast_timeout",
        r"Could not execute broadcast in \d+ secs",
        depends("permanent", _MEDIUM, "a configured time limit of Spark was hit", _SPARK),
    ),
    (
        "SparkException",
        "executor_lost",
        r"(?:ExecutorLostFailure|FetchFailed|Slave lost|[Ee]xecutor (?:heartbeat timed out|decommission)"
        r"|Remote RPC client disassociated|Container marked as failed|Worker lost)",
        yes("transient", _MEDIUM, "a part of the Spark application was lost", _SPARK),
    ),
    (
        "SparkException",
        "stopped",
        r"(?:cancelled because SparkContext was shut down|SparkContext (?:was|has been) (?:shut ?down|stopped))",
        _STOPPED,
    ),
    ("IllegalStateException", "stopped", r"on a stopped (?:SparkContext|SparkSession)", _STOPPED),
    ("SparkException", "yarn_exited", r"Yarn application has already ended|YARN application has exited", _STOPPED),
    # Hive
    (
        "RuntimeException|HiveException|MetaException|AnalysisException",
        "metastore",
        r"Unable to instantiate \S*MetaStoreClient|Could not connect to meta ?store",
        _METASTORE,
    ),
    (
        "HiveSQLException|HiveException",
        "statement",
        r"FAILED: (?:Parse|Semantic)Exception",
        no("permanent", "the query itself is wrong, or what it refers to is missing", _HIVE),
    ),
    (
        "TTransportException",
        "thrift_login",
        r"validating the login|GSS initiate failed|Unsupported mechanism",
        depends("auth", _SHORT, "the login was refused, or there is no Kerberos ticket", _HIVE),
    ),
    # clouds
    (
        "SdkClientException|AmazonClientException",
        "no_credentials",
        r"Unable to load (?:AWS )?credentials|Failed to (?:load|refresh) credentials",
        depends("auth", _SHORT, "no credentials were found; the next process may fetch some", _CLOUD),
    ),
    (
        "SdkClientException|AmazonClientException",
        "connection",
        r"Unable to execute HTTP request|Unable to (?:contact|connect)|Data read has a different length",
        yes("network", _SHORT, "the connection could not be made or broke off", _CLOUD),
    ),
    # databases
    (
        "PSQLException",
        "connection",
        r"^(?:The connection attempt failed|Connection to \S+ refused|An I/O error occurred while sending)",
        yes("network", _SHORT, "the connection could not be made or broke off", "PostgreSQL JDBC 42"),
    ),
)
_WORDS = tuple(
    (re.compile(rf"(?:{classes})$"), re.compile(words), meaning.signal(f"jvm.{name}", Rank.CLASS))
    for classes, name, words, meaning in _WORD_ROWS
)

_STRERROR = {
    "Connection refused": "ECONNREFUSED",
    "Connection reset by peer": "ECONNRESET",
    "Connection reset": "ECONNRESET",
    "Broken pipe": "EPIPE",
    "Connection timed out": "ETIMEDOUT",
    "No route to host": "EHOSTUNREACH",
    "Network is unreachable": "ENETUNREACH",
    "Host is down": "EHOSTDOWN",
    "Software caused connection abort": "ECONNABORTED",
    "Address already in use": "EADDRINUSE",
    "Cannot assign requested address": "EADDRNOTAVAIL",
    "No buffer space available": "ENOBUFS",
    "No space left on device": "ENOSPC",
    "Disk quota exceeded": "EDQUOT",
    "Too many open files in system": "ENFILE",
    "Too many open files": "EMFILE",
    "Cannot allocate memory": "ENOMEM",
    "Resource temporarily unavailable": "EAGAIN",
    "Device or resource busy": "EBUSY",
    "Input/output error": "EIO",
    "Stale file handle": "ESTALE",
    "No locks available": "ENOLCK",
    "Read-only file system": "EROFS",
    "Permission denied": "EACCES",
    "Operation not permitted": "EPERM",
    "No such file or directory": "ENOENT",
    "Not a directory": "ENOTDIR",
    "Is a directory": "EISDIR",
    "File exists": "EEXIST",
    "File name too long": "ENAMETOOLONG",
    "File too large": "EFBIG",
    "Argument list too long": "E2BIG",
    "Exec format error": "ENOEXEC",
}
"""glibc's words, which Java puts into messages in place of the number: alone, behind a path, or in brackets."""
_SYSTEM_WORDS = re.compile(rf"(?:^|: |\(|, )({'|'.join(_STRERROR)})(?=$|\)|: | \()")
_IO_PACKAGE = re.compile(r"(?:^|\.)(?:java\.(?:io|net|nio)|sun\.nio|io\.netty|org\.apache\.hadoop)\.|IOException$")

# Words around the status, which most clients print in a place of its own.
_STATUS = re.compile(
    r"""
      \(Service:\ [^;,()]{1,80}[;,]\ Status\ Code:\ (?P<aws>\d{3})(?:[;,]\ Error\ Code:\ (?P<code>[\w.]{1,80}))?
    | HTTP\ response\ code:\ (?P<java>\d{3})\b                      # java.net.HttpURLConnection
    | ^Operation\ failed:\ .{0,400},\ (?P<abfs>\d{3}),\ [A-Z]{3,8}, # Hadoop's client of Azure storage
    | ^(?P<google>\d{3})\ [A-Z][A-Za-z' ]{2,40}(?:$|\n)             # GoogleJsonResponseException
    """,
    re.VERBOSE | re.DOTALL,
)
_AWS_MODEL = re.compile(r"(?:com\.amazonaws|software\.amazon)\..*\.model\.")
_REASON = re.compile(r"\"reason\"\s*:\s*\"(\w{1,80})\"")
_GRPC_CLASS = re.compile(r"(?:^|\.)io\.grpc\.Status(?:Runtime)?Exception$")
_GRPC_CODE = re.compile(r"([A-Z_]{5,30})(?::|$)")


def read_message(node: RedactedNode, observed_at: datetime) -> Iterator[Signal]:
    """Yield what the message of a Java exception says, if it says more than the class."""
    message = node.message[:_MAX_CHARS]
    if _GRPC_CLASS.search(node.type_path) and (match := _GRPC_CODE.match(message)) and match[1] in GRPC_CODES:
        yield GRPC_CODES[match[1]].signal(f"grpc.{match[1]}", Rank.STATUS)
        return
    if (answer := _STATUS.search(message)) is not None:
        yield from _read_answer(node, message, answer, observed_at)
        return
    if signal := _from_words(node, message) or _from_system(node, message):
        yield signal


def _read_answer(node: RedactedNode, message: str, answer: re.Match[str], observed_at: datetime) -> Iterator[Signal]:
    """Yield what the code and the status of a service say that a client printed into its message."""
    status = int(next(filter(None, answer.group("aws", "java", "abfs", "google"))))
    facts: dict[str, Fact] = {"http.status": status}
    code = answer["code"] or (simple_name(node.type_path) if _AWS_MODEL.search(node.type_path) else None)
    if answer["aws"] and code and (meaning := find_aws_code(code, message=message, status=status)):
        yield meaning.signal(f"aws.{code}", Rank.VENDOR_CODE)
    elif answer["google"] and (reason := _REASON.search(message)):
        facts["http.body.reason"] = reason[1]
    yield from judge(facts, message, observed_at)


def _from_words(node: RedactedNode, message: str) -> Signal | None:
    name = simple_name(node.type_path)
    found = (signal for kind, words, signal in _WORDS if kind.search(name) and words.search(message))
    return next(found, None)


def _from_system(node: RedactedNode, message: str) -> Signal | None:
    if not _IO_PACKAGE.search(node.type_path):
        return None
    match = _SYSTEM_WORDS.search(message.partition("\n")[0])
    return os_error.SIGNALS[_STRERROR[match[1]]] if match else None
