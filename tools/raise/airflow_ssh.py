# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "apache-airflow-providers-sftp==7.0.0",
#     "apache-airflow-providers-ssh==7.0.1",
#     "apache-airflow-task-sdk==1.3.2",
#     "asyncssh==2.24.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""SSH and SFTP that fail below Airflow's hooks and operators, against a real server on this machine."""

from __future__ import annotations

import json
import os
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import asyncssh
from airflow.providers.sftp.hooks.sftp import SFTPHook
from airflow.providers.sftp.operators.sftp import SFTPOperator
from airflow.providers.sftp.sensors.sftp import SFTPSensor
from airflow.providers.ssh.hooks.ssh import SSHHook
from airflow.providers.ssh.operators.ssh import SSHOperator
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, http_server
from servers.port import refused_port
from servers.ssh import SshServer, ssh_server

CONTEXT: Any = {"ti": None, "params": {}}


def host_key() -> asyncssh.SSHKey:
    """The same every time, since clients print it."""
    seed = b"a key of the loopback SSH server"
    return asyncssh.import_private_key(
        ed25519.Ed25519PrivateKey.from_private_bytes(seed).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
        )
    )


family = Family(
    __file__,
    "apache-airflow-providers-ssh",
    servers={"ssh": ssh_server(server_host_keys=[host_key()]), "http": http_server},
)
ssh_case = partial(family.case, wrapped_by="SSHOperator")
sftp_case = partial(family.case, library="apache-airflow-providers-sftp", wrapped_by="SFTPHook")


def ssh_connect(port: int, **words: Any) -> None:
    more = words.pop("extra", {})
    extra = {"no_host_key_check": "true", "conn_timeout": 2, "look_for_keys": "false", "allow_agent": "false", **more}
    settings = {"conn_type": "ssh", "host": "127.0.0.1", "port": port, "login": "etl", "password": CANARY, **words}
    os.environ["AIRFLOW_CONN_EDGE"] = json.dumps({**settings, "extra": extra})


def ssh_run(port: int, command: str = "true", cmd_timeout: float = 5, **words: Any) -> Any:
    ssh_connect(port, **words)
    return SSHOperator(
        task_id="load", ssh_conn_id="edge", command=command, cmd_timeout=cmd_timeout, do_xcom_push=False
    ).execute(CONTEXT)


for title, command, tags in (
    ("SSH command exits with 1", "exit 1", []),
    ("SSH command exits with 2", "exit 2", []),
    ("SSH command is not found", "spark-submitt load.py", []),
    ("SSH command is not executable", "touch load.sh; ./load.sh", []),
    ("SSH command is killed", "kill -KILL $$", [WRONG_READING]),
    ("SSH command exits with 137", "bash -c 'kill -KILL $$'; exit 137", []),
    ("SSH command exits with 143", "exit 143", []),
    ("SSH command exits with 255", "exit 255", [WRONG_READING]),
    ("SSH command exits with 75", "exit 75", []),
):
    ssh_case(title, raises="AirflowException", tags=tags)(lambda ssh, command=command: ssh_run(ssh.port, command))


@ssh_case("SSH command takes too long", raises="AirflowException", tags=[WRONG_READING])
def _(ssh: SshServer) -> None:
    ssh_run(ssh.port, "sleep 3", cmd_timeout=0.5)


@ssh_case("SSH connection is dropped while a command runs", tags=[WRONG_READING])
def _(ssh: SshServer) -> None:
    started = ssh.folder / "started"

    def drop() -> None:
        for _ in range(100):
            if started.exists():
                ssh.drop()
                return
            time.sleep(0.1)

    threading.Thread(target=drop, daemon=True).start()
    ssh_run(ssh.port, f"touch {started}; sleep 4")


@ssh_case("SSH password is wrong", raises=("AuthenticationException", "AirflowException"))
def _(ssh: SshServer) -> None:
    ssh_run(ssh.port, password=f"{CANARY}-old")


@ssh_case("SSH password has expired", raises=("SSHException", "AirflowException"), tags=[WRONG_READING])
def _(ssh: SshServer) -> None:
    ssh_run(ssh.port, login="outdated")


@ssh_case("SSH is refused", tags=[FROM_TEXT], limit_s=60)
def _() -> None:
    with refused_port() as port:
        ssh_run(port)


@ssh_case("SSH host is none", limit_s=60)
def _() -> None:
    ssh_run(22, host="edge.invalid")


@ssh_case("SSH port speaks HTTP", tags=[WRONG_READING], limit_s=60)
def _(http: HttpServer) -> None:
    http.answers(Answer(raw=b"HTTP/1.1 400 Bad Request\r\n\r\n"))
    ssh_run(http.port)


@ssh_case("SSH connection id is none", raises="AirflowNotFoundException")
def _() -> None:
    SSHOperator(task_id="load", ssh_conn_id="edge", command="true").execute(CONTEXT)


@ssh_case("SSH operator has no command", raises="AirflowException")
def _(ssh: SshServer) -> None:
    ssh_connect(ssh.port)
    SSHOperator(task_id="load", ssh_conn_id="edge").execute(CONTEXT)


@ssh_case("SSH key file is none", raises=("FileNotFoundError", "AirflowException"))
def _(ssh: SshServer) -> None:
    ssh_run(ssh.port, extra={"key_file": "/opt/airflow/.ssh/id_ed25519"})


@ssh_case("SSH private key is none", raises="AirflowException", wrapped_by="SSHHook")
def _(ssh: SshServer) -> None:
    ssh_connect(
        ssh.port,
        extra={"private_key": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{CANARY}\n-----END OPENSSH PRIVATE KEY-----"},
    )
    SSHHook("edge").get_conn()


@ssh_case("SSH host key is not known", raises=("SSHException", "AirflowException"), limit_s=60)
def _(ssh: SshServer) -> None:
    ssh_run(ssh.port, extra={"no_host_key_check": "false"})


@ssh_case("SSH host key has changed", raises=("SSHException", "AirflowException"), tags=[WRONG_READING], limit_s=60)
def _(ssh: SshServer) -> None:
    other = "AAAAC3NzaC1lZDI1NTE5AAAAIGJ1dCBhbm90aGVyIGtleSB0aGFuIHRoZSBzZXJ2ZXIgaGFz"
    ssh_run(ssh.port, extra={"no_host_key_check": "false", "host_key": f"ssh-ed25519 {other}"})


# SFTP.
def sftp(ssh: SshServer) -> SFTPHook:
    ssh_connect(ssh.port)
    return SFTPHook("edge")


@sftp_case("SFTP file is none", raises="FileNotFoundError")
def _(ssh: SshServer) -> None:
    sftp(ssh).retrieve_file("/orders/2026-01-31.csv", "orders.csv")


@sftp_case("SFTP folder is none", raises="FileNotFoundError")
def _(ssh: SshServer) -> None:
    sftp(ssh).delete_directory("/orders")


@sftp_case("SFTP folder is not empty", raises="OSError")
def _(ssh: SshServer) -> None:
    (ssh.folder / "full").mkdir(exist_ok=True)
    (ssh.folder / "full" / "orders.csv").write_text("x")
    sftp(ssh).delete_directory("/full")


@sftp_case("SFTP folder is there already", raises="OSError")
def _(ssh: SshServer) -> None:
    (ssh.folder / "orders2").mkdir(exist_ok=True)
    with sftp(ssh).get_managed_conn() as client:
        client.mkdir("/orders2")


@sftp_case("SFTP local file is none", raises="FileNotFoundError", tags=[WRONG_READING])
def _(ssh: SshServer) -> None:
    sftp(ssh).store_file("/orders.csv", "/data/orders.csv")


for title, words in {
    "SFTP operator does not find its file": {
        "local_filepath": "out.csv",
        "remote_filepath": "/2026-01-31.csv",
        "operation": "get",
    },
    "SFTP operator does not find its local file": {
        "local_filepath": "/data/orders.csv",
        "remote_filepath": "/o.csv",
        "operation": "put",
    },
    "SFTP operator does not find the folder to write": {
        "local_filepath": "orders.csv",
        "remote_filepath": "/no/such/o.csv",
        "operation": "put",
    },
}.items():

    @sftp_case(title, wrapped_by="SFTPOperator")
    def _(ssh: SshServer, words: dict[str, str] = words) -> None:
        Path("orders.csv").write_text("1,2")
        ssh_connect(ssh.port)
        SFTPOperator(task_id="load", ssh_conn_id="edge", **words).execute(CONTEXT)


@sftp_case("SFTP operator password is wrong", wrapped_by="SFTPOperator")
def _(ssh: SshServer) -> None:
    ssh_connect(ssh.port, password=f"{CANARY}-old")
    SFTPOperator(task_id="load", ssh_conn_id="edge", local_filepath="o", remote_filepath="/o", operation="get").execute(
        CONTEXT
    )


@sftp_case("SFTP operator is refused", wrapped_by="SFTPOperator", limit_s=60)
def _() -> None:
    with refused_port() as port:
        ssh_connect(port)
        SFTPOperator(
            task_id="load", ssh_conn_id="edge", local_filepath="o", remote_filepath="/o", operation="get"
        ).execute(CONTEXT)


@sftp_case("SFTP operation is none", raises="TypeError", wrapped_by="SFTPOperator")
def _(ssh: SshServer) -> None:
    SFTPOperator(
        task_id="load", ssh_conn_id="edge", local_filepath="o", remote_filepath="/o", operation="fetch"
    ).execute(CONTEXT)


@sftp_case("SFTP sensor waits too long", raises="AirflowSensorTimeout", tags=[WRONG_READING], wrapped_by="SFTPSensor")
def _(ssh: SshServer) -> None:
    ssh_connect(ssh.port)
    SFTPSensor(task_id="wait", path="/2026-01-31.csv", sftp_conn_id="edge", poke_interval=0.1, timeout=0.3).execute(
        CONTEXT
    )


if __name__ == "__main__":
    family.run()
