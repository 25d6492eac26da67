"""DuckDB's exception classes: it has no numbers, but one class for each kind of error."""

from __future__ import annotations

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes
from airflow_common_ai.evidence.protocols.sql.code_table import Row, WordsRow, code_table

__all__ = ["TABLE"]

_NOW, _SHORT, _MEDIUM, _LONG = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG

_DUCKDB = "duckdb 2.0.1"

_STATEMENT = "the statement itself is wrong"
_MISSING = "a database object or file does not exist"
_EXISTS = "it already exists; an earlier attempt may have made it"
_TYPE = "the data does not fit its type"
_LOCK = "another process has the database open"
_NOT_READABLE = "an input is not what DuckDB can read"
_GONE = "a file elsewhere could not be reached"

_ROWS: tuple[Row, ...] = (
    (
        "TransactionException SerializationException",
        depends("transient", _NOW, "the transaction was aborted", _DUCKDB, 3),
    ),
    ("ResourceInUseException", yes("transient", _SHORT, _LOCK, _DUCKDB)),
    ("OutOfMemoryException", depends("transient", _MEDIUM, "the worker has no memory left for the query", _DUCKDB, 3)),
    ("IOException", depends("transient", _SHORT, "a file or the network failed", _DUCKDB, 3)),
    ("ConnectionException", no("permanent", "the code uses a connection that it has closed", _DUCKDB)),
    ("HTTPException", depends("network", _SHORT, _GONE, _DUCKDB, 3)),
    ("InterruptException", depends("permanent", _SHORT, "the query was interrupted", _DUCKDB)),
    ("InternalException FatalException", depends("permanent", _SHORT, "DuckDB had an internal error", _DUCKDB)),
    ("ConstraintException", no("data", "the data breaks a rule of the schema", _DUCKDB)),
    ("ConversionException OutOfRangeException TypeMismatchException InvalidTypeException", no("data", _TYPE, _DUCKDB)),
    ("InvalidInputException", no("data", _NOT_READABLE, _DUCKDB)),
    ("CatalogException", no("resource", _MISSING, _DUCKDB)),
    ("PermissionException", no("auth", "DuckDB may not do this", _DUCKDB)),
    (
        "BinderException ParserException SyntaxException NotImplementedException DependencyException SequenceException",
        no("permanent", _STATEMENT, _DUCKDB),
    ),
)

_WORDS: tuple[WordsRow, ...] = (
    # Whether a file is damaged or was cut short is another reader's question.
    (
        "InvalidInputException IOException",
        "magic bytes|too small to be a parquet",
        hint(depends("data", _SHORT, _NOT_READABLE, _DUCKDB)),
    ),
    (
        "TransactionException",
        r"\bconflict|write-write",
        yes("transient", _NOW, "another transaction was faster", _DUCKDB),
    ),
    ("TransactionException", "no transaction is active|within a transaction", no("permanent", _STATEMENT, _DUCKDB)),
    ("IOException", "could not set lock|conflicting lock", yes("transient", _SHORT, _LOCK, _DUCKDB)),
    (
        "IOException",
        "no such file|no files found|does not exist|extension .{1,300} not found",
        no("resource", _MISSING, _DUCKDB),
    ),
    ("IOException", "file too large", no("permanent", "the file would exceed the size limit", _DUCKDB)),
    ("IOException", "no space left", depends("transient", _LONG, "the disk is full", _DUCKDB)),
    (
        "IOException",
        "could not (?:establish )?connect|connection error|time[d ]?out",
        yes("network", _SHORT, _GONE, _DUCKDB),
    ),
    ("CatalogException", "already exists", no("data", _EXISTS, _DUCKDB)),
    ("CatalogException", "write-write conflict", yes("transient", _NOW, "another transaction was faster", _DUCKDB)),
    ("BinderException", "referenced (?:column|table) .{1,200} not found", no("resource", _MISSING, _DUCKDB)),
)

TABLE = code_table("duckdb", _ROWS, _WORDS)
