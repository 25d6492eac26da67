"""Spark in local mode: a driver with its executor in one Java process. Scripts that use this depend on ``pyspark``."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.servers import ServerUnavailable

from servers.process import server_folder

__all__ = ["SparkServer", "spark_server"]

_JAVA_HOMES = "/usr/lib/jvm/java-17*"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-Dsun.reflect.inflationThreshold=2147483647",  # or stacks differ from run to run
    "spark.driver.memory": "512m",
    "spark.driver.maxResultSize": "2m",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.broadcastTimeout": "1",
    "spark.hadoop.ipc.client.connect.max.retries": "0",
    "spark.hadoop.ipc.client.connect.max.retries.on.timeouts": "0",
    "spark.hadoop.ipc.client.connect.timeout": "1000",
}


class SparkServer:
    """A running session, as :attr:`session`."""

    name = "Apache Spark in local mode"

    def __init__(self, session: Any) -> None:
        self.session = session
        self.version: str | None = session.version


@contextlib.contextmanager
def spark_server() -> Iterator[SparkServer]:
    """A session whose tasks are tried four times, as on a cluster."""
    java = _java_home()
    if java is None:
        raise ServerUnavailable("There is no Java 17. Get it with: apt-get install openjdk-17-jre-headless")
    from pyspark.sql import SparkSession  # type: ignore[import-not-found, unused-ignore]

    before = Path.cwd()
    with server_folder() as folder:
        os.environ.update(JAVA_HOME=str(java), SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
        os.chdir(folder)  # where Java writes what it writes
        builder = SparkSession.builder.master("local[1,4]").config("spark.sql.warehouse.dir", f"{folder}/warehouse")
        for name, value in _SETTINGS.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        os.chdir(before)
        session.sparkContext.setLogLevel("OFF")
        process: subprocess.Popen[bytes] = session.sparkContext._gateway.proc
        try:
            yield SparkServer(session)
        finally:
            process.kill()
            process.wait()


def _java_home() -> Path | None:
    homes = sorted(Path("/").glob(_JAVA_HOMES.lstrip("/")))
    if homes:
        return homes[0]
    found = shutil.which("java")
    return Path(found).resolve().parent.parent if found else None
