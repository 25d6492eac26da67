"""Thirteen tasks that fail in different ways. All of them have the same three retries and the same policy."""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from typing import Any

import requests
from airflow.providers.http.hooks.http import HttpHook
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, task
from airflow.sdk.exceptions import AirflowException

from airflow_common_ai.policies import EvidenceRetryPolicy

SERVICE = os.environ.get("DEMO_SERVICE", "http://127.0.0.1:9")


def fetch(path: str) -> Any:
    response = requests.get(SERVICE + path, timeout=10)
    response.raise_for_status()
    return response.json()


with DAG(
    "failures",
    schedule="@once",
    is_paused_upon_creation=False,
    default_args={
        "retries": 3,
        "retry_delay": timedelta(seconds=2),
        # Nobody wants to wait in a demo: without this a network failure is retried after 5 to 30 seconds.
        "retry_policy": EvidenceRetryPolicy(max_delay=timedelta(seconds=3)),
    },
) as dag:

    @task
    def fetch_orders() -> None:
        fetch("/orders")

    @task
    def fetch_prices() -> None:
        fetch("/prices")

    @task
    def fetch_customers() -> None:
        fetch("/customers")

    @task
    def fetch_archive() -> None:
        fetch("/archive")

    @task
    def fetch_report() -> None:
        fetch("/report")

    @task
    def fetch_stock() -> None:
        # The hook raises its own exception *while handling* the one of requests, without `from`.
        HttpHook(method="GET", http_conn_id="demo_service").run("/stock")

    @task
    def connect_warehouse() -> None:
        with socket.socket() as unused:
            # Bound but not listening, so that nothing can answer on this port.
            unused.bind(("127.0.0.1", 0))
            socket.create_connection(unused.getsockname(), timeout=10)

    @task
    def read_upload() -> None:
        with open("/nowhere/upload.csv") as upload:
            upload.read()

    @task
    def parse_amount() -> None:
        float("12,50 EUR")

    @task
    def load_invoices() -> None:
        try:
            fetch("/invoices")
        except requests.RequestException as error:
            raise AirflowException("The invoices could not be loaded") from error

    @task
    def sync_regions() -> None:
        failed: list[Exception] = []
        for step in (lambda: fetch("/prices"), lambda: open("/nowhere/regions.csv").close()):
            try:
                step()
            except OSError as error:
                failed.append(error)
        raise ExceptionGroup("2 of 2 regions failed", failed)

    BashOperator(task_id="export_ledger", bash_command="ledger-exprot --all")

    # 75 is EX_TEMPFAIL of sysexits.h: try again later.
    BashOperator(task_id="send_mail", bash_command="test {{ ti.try_number }} -gt 1 || exit 75")

    for operator in (
        fetch_orders,
        fetch_prices,
        fetch_customers,
        fetch_archive,
        fetch_report,
        fetch_stock,
        connect_warehouse,
        read_upload,
        parse_amount,
        load_invoices,
        sync_regions,
    ):
        operator()
