# /// script
# requires-python = "==3.11.*"
# dependencies = ["pyspark==4.3.0"]
# [tool.uv]
# exclude-newer = "2026-11-28T00:00:00Z"
# ///
"""What PySpark raises from a Spark in local mode, whose tasks fail as they do on a cluster."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import CANARY, WRONG_READING, Family
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import functions as F
from pyspark.sql import types as T
from servers.port import refused_port
from servers.spark import SparkServer, spark_server

family = Family(__file__, "pyspark", servers={"spark": spark_server})


class AggregationFailed(Exception):
    """A user's own."""


def here(name: str) -> str:
    """Return a path of the case's own folder; Java has another working directory."""
    return f"file://{Path.cwd() / name}"


def written(name: str, content: str | bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return here(name)


def case(title: str, raises: str | tuple[str, ...], function: Callable[[Any], Any], *tags: str) -> None:
    @family.case(title, raises=raises, tags=tags)
    def _(spark: SparkServer) -> Any:
        return function(spark.session)


def statement(title: str, sql: str, raises: str | tuple[str, ...] = "AnalysisException", *tags: str) -> None:
    case(title, raises, lambda session: session.sql(sql).collect(), *tags)


@family.case("Java that is not there", raises="PySparkRuntimeError")
def _() -> None:
    os.environ["JAVA_HOME"] = "/opt/java-that-was-removed"
    launch_gateway()


statement("a table that does not exist", "select * from sales.orders")
statement("a column that does not exist", "select amuont from values (1, 2.0) as orders(id, amount)")
statement("a column that is ambiguous", "select id from values (1) a(id) join values (1) b(id)")
statement("a column that is not grouped", "select id, sum(amount) from values (1, 2.0) as orders(id, amount)")
statement("a function that does not exist", "select to_dat('2026-01-31')")
statement("a comparison of types that do not go together", "select array(1) = 1")
statement("a union of another width", "select 1 union select 1, 2")
statement("SQL with a typo", "selct 1", "ParseException")
statement("SQL that ends early", "select * from (select 1", "ParseException")
statement("a format that is not installed", "select * from delta.`/lake/orders`", "AnalysisException", WRONG_READING)
statement("a schema that does not exist", "use warehouse_prod")
statement("a statement that is not supported", "update orders set id = 1", ("AnalysisException", "Exception"))

statement("a division by zero", "select 1 / 0", "ArithmeticException")
statement("an overflow", "select cast(3000000000 as int)", "ArithmeticException")
statement("a sum that overflows", "select 9223372036854775807 + 1", "ArithmeticException")
statement("a text that is no number", "select cast('n/a' as int)", "NumberFormatException")
statement("a text that is no date", "select cast('31.01.2026' as date)", "DateTimeException")
statement(
    "a date of another pattern",
    "select to_date('31.01.2026', 'yyyy-MM-dd')",
    ("DateTimeException", "SparkUpgradeException"),
)
statement("an element that an array does not have", "select array(1, 2)[5]", "ArrayIndexOutOfBoundsException")
statement("a subquery of two rows", "select (select * from values (1), (2))", "Exception")
statement(
    "an error that the query raises itself",
    "select raise_error('no orders for 2026-01-31')",
    "SparkRuntimeException",
    WRONG_READING,
)
statement(
    "JSON that fails fast",
    "select from_json('{\"a\": 1', 'a int', map('mode', 'FAILFAST'))",
    "Exception",
    WRONG_READING,
)

case("a path that does not exist", "AnalysisException", lambda session: session.read.parquet(here("lake/orders")))
case(
    "a path that exists already",
    "AnalysisException",
    lambda session: (session.range(1).write.parquet(here("orders")), session.range(1).write.parquet(here("orders"))),
)
case(
    "a folder without data",
    "AnalysisException",
    lambda session: session.read.parquet(written("orders/_SUCCESS", "").rpartition("/")[0]),
    WRONG_READING,
)
case(
    "a parquet file that is a page",
    "Exception",
    lambda session: session.read.parquet(written("orders.parquet", "<html>Sign in</html>")).count(),
)
case(
    "a parquet file that is cut off",
    "Exception",
    lambda session: session.read.schema("id int").parquet(written("orders.parquet", b"PAR1" + b"\0" * 90)).collect(),
    WRONG_READING,
)
case(
    "a CSV file that fails fast",
    "Exception",
    lambda session: session.read.csv(
        written("a.csv", "1,2\nx,3\n"), schema="id int, amount int", mode="FAILFAST"
    ).collect(),
)
case(
    "a source that is not installed",
    ("AnalysisException", "Py4JJavaError"),
    lambda session: session.read.format("snowflake").load(),
)
case(
    "a stream from Kafka without its package",
    "AnalysisException",
    lambda session: session.readStream.format("kafka").option("subscribe", "orders").load(),
)
case(
    "a bucket without its package",
    "Py4JJavaError",
    lambda session: session.read.parquet("s3a://raw/orders").count(),
    WRONG_READING,
)
case(
    "a database without its driver",
    "Py4JJavaError",
    lambda session: session.read.jdbc(
        "jdbc:postgresql://127.0.0.1/shop", "orders", properties={"user": "etl", "password": CANARY}
    ),
    WRONG_READING,
)
case(
    "a setting of a running context",
    "AnalysisException",
    lambda session: session.conf.set("spark.executor.memory", "8g"),
)
case(
    "a setting that is no number",
    "IllegalArgumentException",
    lambda session: (
        session.conf.set("spark.sql.shuffle.partitions", "many"),
        session.range(2).repartition("id").collect(),
    ),
)
case(
    "rows of mixed types",
    ("PySparkTypeError", "PySparkValueError"),
    lambda session: session.createDataFrame([(1,), ({"a": 1},)], ["id"]),
)
case(
    "a row that does not hold its schema",
    ("PySparkTypeError", "PySparkValueError"),
    lambda session: session.createDataFrame([("x",)], "id int").collect(),
)
case(
    "null where none may be",
    ("PySparkValueError", "PySparkTypeError"),
    lambda session: session.createDataFrame([(None,)], T.StructType([T.StructField("id", T.LongType(), False)])),
)
case("a frame for pandas that is not installed", "Exception", lambda session: session.range(1).toPandas())
case(
    "the truth of a Spark column",
    "PySparkValueError",
    lambda session: session.range(1).filter(F.col("id") > 1 and F.col("id") < 5),
)
case("a file that changed its type", "Exception", lambda session: changed(session))
case("a file that vanished while it was read", "Exception", lambda session: vanished(session))
case(
    "a result larger than the driver takes",
    "Exception",
    lambda session: session.range(3_000_000).collect(),
    WRONG_READING,
)
case("a broadcast that takes too long", "Exception", lambda session: broadcast(session), WRONG_READING)
case("a job that was cancelled", "Exception", lambda session: cancelled(session), WRONG_READING)
case("a stream whose batch fails", "StreamingQueryException", lambda session: stream(session))
case(
    "a function that holds the context",
    ("PySparkRuntimeError", "PicklingError", "PySparkPicklingError"),
    lambda session: session.range(1).rdd.map(lambda x: session.range(1).count()).collect(),
)


def changed(session: Any) -> Any:
    session.range(5).selectExpr("cast(id as string) id").write.parquet(here("orders"))
    return session.read.schema("id timestamp").parquet(here("orders")).collect()


def vanished(session: Any) -> Any:
    session.range(5).write.parquet(here("orders"))
    frame = session.read.parquet(here("orders"))
    for part in Path("orders").glob("*.parquet"):
        part.unlink()
    return frame.collect()


def broadcast(session: Any) -> Any:
    slow = F.udf(lambda number: time.sleep(3) or number, "long")
    side = session.range(1).select(slow("id").alias("id"))
    session.conf.set("spark.sql.adaptive.enabled", "false")
    try:
        return session.range(5).join(F.broadcast(side), "id").collect()
    finally:
        session.conf.unset("spark.sql.adaptive.enabled")


def cancelled(session: Any) -> Any:
    threading.Timer(1.0, session.sparkContext.cancelAllJobs).start()
    slow = F.udf(lambda number: time.sleep(4) or number, "long")
    return session.range(1).select(slow("id")).collect()


def stream(session: Any) -> Any:
    def write(batch: Any, number: int) -> None:
        raise KeyError("customer_id")

    source = session.readStream.format("rate").load()
    query = source.writeStream.foreachBatch(write).option("checkpointLocation", here("checkpoint")).start()
    return query.awaitTermination(15)


# What goes on within a task, in Python.


NOBODY = 9  # a port where nobody listens; the process of a task does not have the helpers of this folder


def no_number(row: Any) -> int:
    return int("n/a")


def not_reached(row: Any) -> Any:
    return socket.create_connection(("127.0.0.1", NOBODY), timeout=1)


def not_resolved(row: Any) -> Any:
    return socket.create_connection(("features.invalid", 443), timeout=1)


def killed_helper(row: Any) -> Any:
    import subprocess

    return subprocess.run(["sh", "-c", "kill -9 $$"], check=True)


def no_memory(row: Any) -> Any:
    return bytearray(2**62)


def dies(row: Any) -> None:
    os._exit(137)


def not_installed(row: Any) -> Any:
    import orders_client  # type: ignore[import-not-found]  # noqa: F401


def too_many(row: Any) -> Any:
    raise AggregationFailed("feature service answered 429 Too Many Requests, Retry-After: 20")


for what, function, *tags in (
    ("is not given a number", no_number),
    ("does not reach a service", not_reached, WRONG_READING),
    ("does not resolve a host", not_resolved, WRONG_READING),
    ("has no memory", no_memory, WRONG_READING),
    ("runs a program that is killed", killed_helper, WRONG_READING),
    ("lacks a module", not_installed),
    ("is limited by a service", too_many, WRONG_READING),
):
    case(
        f"a function of a row that {what}",
        "PythonException",
        lambda session, function=function: session.range(1).select(F.udf(function, "long")("id")).collect(),
        *tags,
    )
for what, function, *tags in (
    ("is not given a number", no_number),
    ("does not reach a service", not_reached, WRONG_READING),
    ("ends its process", dies, WRONG_READING),
):
    case(
        f"a task of an RDD that {what}",
        ("Py4JJavaError", "PythonException"),
        lambda session, function=function: session.sparkContext.parallelize([1], 1).map(function).collect(),
        *tags,
    )


@family.case("a name node that refuses", raises="Exception")
def _(spark: SparkServer) -> None:
    with refused_port() as port:
        spark.session.read.text(f"hdfs://127.0.0.1:{port}/lake/orders").count()


@family.case("a name node that does not resolve", raises="Exception")
def _(spark: SparkServer) -> None:
    spark.session.read.text("hdfs://namenode.invalid/lake/orders").count()


@family.case("a task that failed under a user's own exception", raises="AggregationFailed", tags=[WRONG_READING])
def _(spark: SparkServer) -> None:
    try:
        spark.session.range(1).select(F.udf(not_reached, "long")("id")).collect()
    except PySparkException as error:
        raise AggregationFailed("daily aggregation has wrong data") from error


# From here on the session is worse with each case.
case(
    "heap of Java that is used up",
    "Exception",
    lambda session: session.sql("select length(concat(repeat('x', 1500000000), uuid()))").collect(),
    WRONG_READING,
)
case(
    "a context that was stopped",
    "Exception",
    lambda session: (session.sparkContext._jsc.stop(), session.range(1).count()),
)


@family.case("a driver that was killed", raises="Exception", tags=[WRONG_READING])
def _(spark: SparkServer) -> None:
    spark.session.sparkContext._gateway.proc.kill()
    spark.session.sparkContext._gateway.proc.wait()
    spark.session.range(1).count()


if __name__ == "__main__":
    family.run()
