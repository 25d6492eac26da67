"""Raises failures in a real Spark and prints what Python sees of each, as ``spark.txt`` holds it.

Not run by the tests: it needs a Java runtime and the package ``pyspark``. Made with OpenJDK 17.0.15, pyspark 3.5.5
and Python 3.11.7 on Debian 12, in a folder of its own::

    python spark_failures.py 2>/dev/null > spark.txt

Everything is local; the one name that is looked up is under ``.invalid``, which never resolves.
"""

from __future__ import annotations

import glob
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession, functions
from pyspark.sql.types import IntegerType

os.environ["PYSPARK_PYTHON"] = sys.executable
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.extraJavaOptions", "-XX:MaxJavaStackTraceDepth=4")
    .config("spark.hadoop.ipc.client.connect.max.retries", "0")
    .config("spark.sql.ansi.enabled", "true")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")


def refused_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


def written(name: str, text: str) -> str:
    Path("data").mkdir(exist_ok=True)
    Path("data", name).write_text(text)
    return f"data/{name}"


def in_a_udf(function: Callable[[int], object]) -> None:
    spark.range(3).select(functions.udf(function, IntegerType())("id")).collect()


def read_what_is_gone() -> None:
    spark.range(3).repartition(1).write.mode("overwrite").parquet("data/gone.parquet")
    frame = spark.read.parquet("data/gone.parquet")
    for path in glob.glob("data/gone.parquet/*.parquet"):
        os.remove(path)
    frame.show()


def over_jdbc() -> None:
    reader = spark.read.format("jdbc").option("url", "jdbc:postgresql://127.0.0.1/db").option("dbtable", "orders")
    reader.option("driver", "org.postgresql.Driver").load()


FAILURES: dict[str, Callable[[], object]] = {
    "a missing table": lambda: spark.table("orders").show(),
    "a missing path": lambda: spark.read.parquet("/data/orders"),
    "a missing column": lambda: spark.range(3).select("price"),
    "a syntax error": lambda: spark.sql("selec 1"),
    "a path that exists": lambda: spark.range(3).write.parquet("/tmp"),
    "a missing driver": over_jdbc,
    "a missing data source": lambda: spark.read.format("delta").load("/data/orders"),
    "HDFS refuses": lambda: spark.read.text(f"hdfs://127.0.0.1:{refused_port()}/orders"),
    "HDFS on an unknown host": lambda: spark.read.text("hdfs://no-such-host.invalid:8020/orders"),
    "no S3 connector": lambda: spark.read.text("s3a://bucket/orders"),
    "an unknown scheme": lambda: spark.read.text("foo://bucket/orders"),
    "a function that fails": lambda: in_a_udf(lambda number: 1 // 0),
    "a function that cannot connect": lambda: in_a_udf(lambda number: socket.create_connection(("127.0.0.1", 1))),
    "a division": lambda: spark.sql("select 1/0").show(),
    "a cast": lambda: spark.sql("select cast('a' as int)").show(),
    "no Parquet": lambda: spark.read.parquet(written("orders.parquet", "hello world, no Parquet")).show(),
    "no JSON": lambda: spark.read.option("mode", "FAILFAST").schema("a int").json(written("a.json", "{a:")).show(),
    "a folder that may not be written": lambda: spark.range(3).write.parquet("/proc/orders"),
    "files that went meanwhile": read_what_is_gone,
    "no number, by Java": lambda: spark._jvm.java.lang.Integer.parseInt("x"),
    "an index, by Java": lambda: spark._jvm.java.util.ArrayList().get(3),
    "a missing file, by Java": lambda: spark._jvm.java.io.FileInputStream("/data/orders.csv"),
    "a refused connection, by Java": lambda: spark._jvm.java.net.Socket("127.0.0.1", refused_port()),
    "an unknown host, by Java": lambda: spark._jvm.java.net.Socket("no-such-host.invalid", 80),
}

for name, failure in FAILURES.items():
    try:
        failure()
    except Exception as error:
        print(f"=== {name} | {type(error).__module__}.{type(error).__qualname__}")
        print(error)
