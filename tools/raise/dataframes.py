# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "deltalake==1.6.6",
#     "numpy==2.4.6",
#     "openpyxl==3.1.5",
#     "pandas==3.1.1",
#     "pandera[pandas]==0.35.0",
#     "polars==2.1.0",
#     "pyarrow==26.0.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-28T00:00:00Z"
# ///
"""What pandas, polars, pyarrow, numpy, openpyxl, pandera and deltalake raise over tables and files that are not as expected."""

from __future__ import annotations

import os
import resource
from functools import partial
from pathlib import Path
from typing import Any

import deltalake
import numpy as np
import openpyxl
import pandas as pd
import pandera.pandas as pa_schema
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.json
import pyarrow.parquet as pq
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from pandera.errors import SchemaErrors
from servers.http import Answer, HttpServer, http_server
from servers.port import refused_port

family = Family(__file__, "pandas", servers={"http": http_server})
arrow_case = partial(family.case, library="pyarrow")
polars_case = partial(family.case, library="polars")
ORDERS = pd.DataFrame({"id": [1, 2, 2], "amount": [10.0, None, 30.0], "day": ["2026-01-31", "31.01.2026", "n/a"]})


class LoadError(Exception):
    """A user's own."""


def file(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def parquet(name: str = "orders.parquet", **columns: Any) -> str:
    pq.write_table(pa.table(columns or {"id": [1, 2, 3], "amount": [1.0, 2.0, 3.0]}), name)
    return name


def half(name: str) -> str:
    """Cut a file as a broken transfer leaves it."""
    content = Path(name).read_bytes()
    Path(name).write_bytes(content[: len(content) // 2])
    return name


def simple(add: Any, *cases: Any) -> None:
    for title, raises, function, *tags in cases:
        add(title, raises=raises, tags=tags)(lambda function=function: function())


simple(
    family.case,
    ("an empty file for pandas", "EmptyDataError", lambda: pd.read_csv(file("a.csv", "")), WRONG_READING),
    ("lines of another number of fields", "ParserError", lambda: pd.read_csv(file("a.csv", "id,amount\n1,2\n3,4,5,6\n"))),
    ("a quote that is never closed", "ParserError", lambda: pd.read_csv(file("a.csv", 'id,name\n1,"Ada\n2,Bob\n'), engine="python")),
    ("a file that is not UTF-8", "UnicodeDecodeError", lambda: pd.read_csv(file("a.csv", "id,name\n1,J\xfcrgen\n".encode("latin-1")))),
    ("a file that is not there for pandas", "FileNotFoundError", lambda: pd.read_csv("orders-2026-01-31.csv")),
    ("a column that is not in the file", "ValueError", lambda: pd.read_csv(file("a.csv", "id\n1\n"), usecols=["id", "amount"])),
    ("a column that is not in the frame", "KeyError", lambda: ORDERS["customer_id"]),
    ("a text that is no number", "ValueError", lambda: ORDERS["day"].astype("float64")),
    ("missing values that cannot be integers", "IntCastingNaNError", lambda: ORDERS["amount"].astype("int64")),
    ("a day of another format", "ValueError", lambda: pd.to_datetime(ORDERS["day"], format="%Y-%m-%d")),
    ("a day out of bounds", "OutOfBoundsDatetime", lambda: pd.to_datetime(["9999-12-31"]).as_unit("ns")),
    ("a merge that is not one to one", "MergeError", lambda: ORDERS.merge(ORDERS, on="id", validate="one_to_one")),
    ("a merge of a text with a number", "ValueError", lambda: ORDERS.merge(pd.DataFrame({"id": ["1"]}), on="id")),
    ("a merge on a column that is not there", "KeyError", lambda: ORDERS.merge(ORDERS, on="customer_id")),
    ("an index that has duplicates", ("InvalidIndexError", "ValueError"), lambda: ORDERS.set_index("id")["amount"].reindex([1, 2, 3])),
    ("a pivot with duplicates", "ValueError", lambda: ORDERS.pivot(index="id", columns="id", values="amount")),
    ("columns of another length", "ValueError", lambda: pd.DataFrame({"id": [1, 2], "amount": [1.0]})),
    ("a query of a name that is not defined", "Exception", lambda: ORDERS.query("amout > 10")),
    ("nothing to concatenate", "ValueError", lambda: pd.concat([]), WRONG_READING),
    ("JSON lines that are cut off", "ValueError", lambda: pd.read_json(file("a.json", '{"id": 1}\n{"id": '), lines=True), WRONG_READING),
    ("an Excel file that is a page", "ValueError", lambda: pd.read_excel(file("a.xlsx", "<html>login</html>"))),
    ("an engine that is not installed", "ImportError", lambda: pd.read_excel(file("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600))),
    ("a table of HTML that is not there", ("ValueError", "ImportError"), lambda: pd.read_html(file("a.html", "<p>none</p>"))),
    ("a parquet file that is cut off for pandas", "ArrowInvalid", lambda: pd.read_parquet(half(parquet())), WRONG_READING),
    ("a gzip file that is cut off for pandas", "EOFError", lambda: gzip_cut(), WRONG_READING),
    ("a folder instead of a file", ("IsADirectoryError", "PermissionError"), lambda: (os.mkdir("a.csv"), pd.read_csv("a.csv"))),
    ("the truth of a whole column", "ValueError", lambda: bool(ORDERS["amount"] > 1)),
    ("a time that is not there in spring", ("ValueError", "NonExistentTimeError"), lambda: pd.Timestamp("2026-03-29 02:30").tz_localize("Europe/Berlin")),
    ("a time that is there twice in autumn", ("ValueError", "AmbiguousTimeError"), lambda: pd.Timestamp("2026-10-25 02:30").tz_localize("Europe/Berlin")),
    ("times with and without a zone", "TypeError", lambda: pd.Timestamp("2026-01-31", tz="UTC") < pd.Timestamp("2026-01-31")),
)  # fmt: skip


def gzip_cut() -> Any:
    pd.DataFrame({"id": range(5000)}).to_csv("a.csv.gz")
    return pd.read_csv(half("a.csv.gz"))


@family.case("pandas reads a file over HTTP that is not there", raises="HTTPError")
def _(http: HttpServer) -> None:
    pd.read_csv(f"{http.answers(Answer(404))}/orders.csv?token={CANARY}")


@family.case("pandas reads a file over HTTP that answers 503", raises="HTTPError")
def _(http: HttpServer) -> None:
    pd.read_csv(f"{http.answers(Answer(503, '', {'Retry-After': '30'}))}/orders.csv")


@family.case("pandas reads a login page over HTTP", raises="ParserError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    page = "<!doctype html>\n<html>\n<body class=a, b, c>\n<p>Sign in</p>\n<i>,,,,,,</i>\n</body>\n"
    pd.read_csv(f"{http.answers(Answer(200, page))}/orders.csv")


@family.case("pandas reads a file over HTTP that is cut off", raises="IncompleteRead", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    pd.read_csv(f"{http.answers(Answer(200, 'id,amount' * 400, cut_after_bytes=100))}/orders.csv")


@family.case("pandas is refused by a file server", raises="URLError")
def _() -> None:
    with refused_port() as port:
        pd.read_csv(f"http://127.0.0.1:{port}/orders.csv")


@family.case("a bad line under a user's own exception", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    try:
        pd.read_csv(file("a.csv", "id,amount\n1,2\n3,4,5,6\n"))
    except pd.errors.ParserError as error:
        raise LoadError(f"file of 2026-01-31: {error}") from None


def with_little_memory(function: Any) -> Any:
    """Run with a limit on the address space, as a container has it."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000, before[1]))
    try:
        return function()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


simple(
    partial(family.case, library="numpy"),
    ("an array larger than memory", "MemoryError", lambda: with_little_memory(lambda: np.ones((40_000, 40_000)))),
    ("shapes that do not go together", "ValueError", lambda: np.ones((3, 2)) + np.ones((2, 3))),
    ("a matrix that is singular", "LinAlgError", lambda: np.linalg.inv(np.zeros((2, 2)))),
    ("a file of numpy that is cut off", ("ValueError", "EOFError"), lambda: (np.save("a.npy", np.ones(500)), np.load(half("a.npy"))), WRONG_READING),
    ("a file of numpy that holds objects", "ValueError", lambda: (np.save("a.npy", np.array([{}, []], dtype=object)), np.load("a.npy"))),
    ("a number that is too large for its type", "OverflowError", lambda: np.array([300], dtype="int8")),
    ("a row that is not there", "IndexError", lambda: np.ones(3)[5]),
)  # fmt: skip

INT8 = pa.int8()
simple(
    arrow_case,
    ("a file that is no parquet", "ArrowInvalid", lambda: pq.read_table(file("a.parquet", "id,amount\n1,2\n"))),
    ("a parquet file of no bytes", "ArrowInvalid", lambda: pq.read_table(file("a.parquet", b"")), WRONG_READING),
    ("a parquet file with a page that is damaged", ("OSError", "ArrowInvalid"), lambda: damaged()),
    ("a parquet column that is not there", "Exception", lambda: pq.read_table(parquet(), filters=[("customer", "=", 1)])),
    ("parquet files of two schemas", "Exception", lambda: two_schemas(), WRONG_READING),
    ("a parquet file that is not there", "FileNotFoundError", lambda: pq.read_table("orders/day=2026-01-31")),
    ("a bucket of S3 without a region", "OSError", lambda: pa.fs.S3FileSystem(endpoint_override="127.0.0.1:9", scheme="http", access_key="etl", secret_key=CANARY, connect_timeout=1, request_timeout=1, retry_strategy=pa.fs.AwsStandardS3RetryStrategy(1)).get_file_info("raw")),
    ("a cast that overflows", "ArrowInvalid", lambda: pa.array([300]).cast(INT8)),
    ("a cast that would truncate", "ArrowInvalid", lambda: pa.array([1.5]).cast(pa.int64())),
    ("mixed types of a column", "ArrowInvalid", lambda: pa.array([1, "two"])),
    ("a frame with mixed types to parquet", ("ArrowInvalid", "ArrowTypeError"), lambda: pd.DataFrame({"a": [1, "x", b"y"]}).to_parquet("a.parquet")),
    ("a decimal that does not fit", "ArrowInvalid", lambda: pa.array([12345.678]).cast(pa.decimal128(5, 2))),
    ("a CSV of another width for arrow", "ArrowInvalid", lambda: pyarrow.csv.read_csv(file("a.csv", "a,b\n1,2\n1,2,3\n"))),
    ("a CSV value of another type", "ArrowInvalid", lambda: pyarrow.csv.read_csv(file("a.csv", "a\nx\n"), convert_options=pyarrow.csv.ConvertOptions(column_types={"a": pa.int64()}))),
    ("JSON that arrow cannot parse", "ArrowInvalid", lambda: pyarrow.json.read_json(file("a.json", '{"a": 1}\n{"a": [')), WRONG_READING),
    ("a function that is not implemented", "ArrowNotImplementedError", lambda: pa.compute.sum(pa.array(["a"]))),
    ("a field that is not in the schema", "KeyError", lambda: pa.table({"id": [1]}).select(["amount"])),
    ("an IPC stream that ends early", ("ArrowInvalid", "OSError"), lambda: ipc_cut(), WRONG_READING),
    ("a file system that is unknown", ("ValueError", "ArrowInvalid"), lambda: pa.fs.FileSystem.from_uri("sftp://files.example/orders")),
)  # fmt: skip


def damaged() -> Any:
    parquet(id=list(range(20_000)))
    content = bytearray(Path("orders.parquet").read_bytes())
    content[4:400] = b"\xff" * 396
    Path("orders.parquet").write_bytes(content)
    return pq.read_table("orders.parquet")


def two_schemas() -> Any:
    os.mkdir("orders")
    parquet("orders/1.parquet", id=[1])
    parquet("orders/2.parquet", id=["one"])
    return pq.read_table("orders")


def ipc_cut() -> Any:
    table = pa.table({"id": list(range(5000))})
    with pa.OSFile("a.arrow", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_stream(Path(half("a.arrow")).read_bytes()).read_all()


FRAME = pl.DataFrame({"id": [1, 2, 2], "day": ["2026-01-31", "31.01.2026", None]})
simple(
    polars_case,
    ("a column that polars does not find", "ColumnNotFoundError", lambda: FRAME.select("customer_id")),
    ("a text that polars cannot cast", "InvalidOperationError", lambda: FRAME.select(pl.col("day").cast(pl.Int64))),
    ("a day that polars cannot parse", "InvalidOperationError", lambda: FRAME.select(pl.col("day").str.to_date("%Y-%m-%d"))),
    ("a value late in a CSV of another type", "ComputeError", lambda: pl.read_csv(file("a.csv", "a\n" + "1\n" * 200 + "x\n"))),
    ("a CSV that is empty for polars", "NoDataError", lambda: pl.read_csv(file("a.csv", "")), WRONG_READING),
    ("a CSV of another width for polars", "ComputeError", lambda: pl.read_csv(file("a.csv", "a,b\n1,2\n1,2,3\n"))),
    ("a parquet file that is cut off for polars", "ComputeError", lambda: pl.read_parquet(half(parquet())), WRONG_READING),
    ("files that polars does not find", "ComputeError", lambda: pl.scan_parquet("orders/*.parquet").collect(), WRONG_READING),
    ("frames of two schemas", "SchemaError", lambda: pl.concat([FRAME, pl.DataFrame({"id": ["x"], "day": ["y"]})])),
    ("frames of two widths", "ShapeError", lambda: pl.concat([FRAME, FRAME.select("id")])),
    ("a duplicate name of a column", "DuplicateError", lambda: FRAME.select(pl.col("id"), pl.col("id"))),
    ("a join that is not one to one in polars", "ComputeError", lambda: FRAME.join(FRAME, on="id", validate="1:1")),
    ("a row that polars does not find", ("NoRowsReturnedError", "OutOfBoundsError"), lambda: FRAME.row(by_predicate=pl.col("id") == 9)),
    ("more rows than one in polars", "TooManyRowsReturnedError", lambda: FRAME.row(by_predicate=pl.col("id") == 2)),
    ("SQL that polars does not know", ("SQLInterfaceError", "SQLSyntaxError"), lambda: pl.SQLContext(orders=FRAME).execute("update orders set id = 1")),
    ("a schema that does not hold", "SchemaError", lambda: pl.DataFrame({"id": [1]}).match_to_schema({"id": pl.String})),
    ("a strict cast that overflows in polars", "InvalidOperationError", lambda: pl.Series([300]).cast(pl.Int8)),
)  # fmt: skip


@polars_case("an object store that polars does not reach", raises="Exception")
def _() -> None:
    with refused_port() as port:
        options: Any = {"aws_endpoint_url": f"http://127.0.0.1:{port}", "aws_allow_http": "true", "aws_region": "eu-west-1",
            "aws_access_key_id": "etl", "aws_secret_access_key": CANARY, "max_retries": 0}  # fmt: skip
        pl.scan_parquet("s3://raw/orders.parquet", storage_options=options).collect()


@polars_case("an object store that denies polars", raises="Exception")
def _(http: HttpServer) -> None:
    body = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
    options: Any = {"aws_endpoint_url": http.answers(Answer(403, body)), "aws_allow_http": "true", "aws_region": "eu-west-1",
        "aws_access_key_id": "etl", "aws_secret_access_key": CANARY, "max_retries": 0}  # fmt: skip
    pl.scan_parquet("s3://raw/orders.parquet", storage_options=options).collect()


def workbook() -> str:
    book = openpyxl.Workbook()
    book.active.append(["id", "amount"])
    book.save("a.xlsx")
    return "a.xlsx"


simple(
    partial(family.case, library="openpyxl"),
    ("a workbook that is no zip", "BadZipFile", lambda: openpyxl.load_workbook(file("a.xlsx", "<html>login</html>")), WRONG_READING),
    ("a workbook that is cut off", "BadZipFile", lambda: openpyxl.load_workbook(half(workbook())), WRONG_READING),
    ("a workbook of the old format", "InvalidFileException", lambda: openpyxl.load_workbook(file("a.xls", b"\xd0\xcf\x11\xe0"))),
    ("a sheet that is not there", "KeyError", lambda: openpyxl.load_workbook(workbook())["Orders"]),
    ("a character that a cell cannot hold", "IllegalCharacterError", lambda: openpyxl.Workbook().active.append(["a\x00b"])),
    ("a frame for a sheet with more rows than fit", "ValueError", lambda: pd.DataFrame({"id": range(1_048_577)}).to_excel("a.xlsx")),
)  # fmt: skip

SCHEMA = pa_schema.DataFrameSchema({
    "id": pa_schema.Column(int, unique=True), "amount": pa_schema.Column(float, pa_schema.Check.ge(20), nullable=False),
    "customer": pa_schema.Column(str)})  # fmt: skip
simple(
    partial(family.case, library="pandera"),
    ("a frame without a column of the schema", "SchemaError", lambda: SCHEMA.validate(ORDERS)),
    ("everything that is wrong with a frame", "SchemaErrors", lambda: SCHEMA.validate(ORDERS, lazy=True)),
    ("a check of a value", "SchemaError", lambda: SCHEMA.select_columns(["amount"]).validate(ORDERS.dropna())),
    ("a type that cannot be coerced", ("SchemaError", "SchemaErrors"), lambda: pa_schema.DataFrameSchema({"day": pa_schema.Column(int, coerce=True)}).validate(ORDERS)),
)  # fmt: skip


@family.case("what is wrong with a frame under a user's own exception", raises="LoadError", library="pandera")
def _() -> None:
    try:
        SCHEMA.validate(ORDERS, lazy=True)
    except SchemaErrors as error:
        raise LoadError("orders of 2026-01-31 are not as agreed, please tell the shop") from error


def delta() -> str:
    deltalake.write_deltalake("orders", pa.table({"id": [1]}))
    return "orders"


def delta_conflict() -> None:
    one, other = deltalake.DeltaTable(delta()), deltalake.DeltaTable("orders")
    one.delete("id = 1")
    other.delete("id = 1")


simple(
    partial(family.case, library="deltalake"),
    ("a Delta table that is not there", "TableNotFoundError", lambda: deltalake.DeltaTable("orders")),
    ("rows that do not fit a Delta table", "Exception", lambda: deltalake.write_deltalake(delta(), pa.table({"id": ["x"]}), mode="append")),
    ("a Delta table that is there already", "DeltaError", lambda: deltalake.write_deltalake(delta(), pa.table({"id": [1]}), mode="error")),
    ("two who change a Delta table", "CommitFailedError", lambda: delta_conflict(), WRONG_READING),
    ("a version that a Delta table does not have", "DeltaError", lambda: deltalake.DeltaTable(delta(), version=7)),
    ("a constraint of a Delta table", "Exception", lambda: constraint()),
)  # fmt: skip


def constraint() -> None:
    deltalake.DeltaTable(delta()).alter.add_constraint({"positive": "id > 0"})
    deltalake.write_deltalake("orders", pa.table({"id": [-1]}), mode="append")


if __name__ == "__main__":
    family.run()
