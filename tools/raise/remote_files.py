# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "asyncssh==2.24.1",
#     "cryptography==50.0.2",
#     "paramiko==5.1.0",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What paramiko raises over SFTP."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import asyncssh
import paramiko
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.ssh import SshServer, ssh_server

family = Family(
    __file__,
    "paramiko",
    servers={
        "ssh": ssh_server(),
    },
)
TRAP = [WRONG_READING]
LAG_S = 0.4


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


def connect(port: int, **options: Any) -> paramiko.SSHClient:
    client = paramiko.SSHClient()
    client.set_missing_host_key_policy(options.pop("policy", paramiko.AutoAddPolicy()))
    usual = {"username": "etl", "password": CANARY, "look_for_keys": False, "allow_agent": False}
    times = {"timeout": 2, "banner_timeout": 1, "auth_timeout": 2, "channel_timeout": 2}
    client.connect("127.0.0.1", port, **{**usual, **times, **options})
    return client


def files(ssh: SshServer, **errors: asyncssh.SFTPError) -> paramiko.SFTPClient:
    ssh.reset()
    ssh.file_errors = {name.replace("__", ":").replace("_csv", ".csv"): error for name, error in errors.items()}
    return connect(ssh.port).open_sftp()


# Files.
@family.case("the file is not there", raises="FileNotFoundError")
def _(ssh: SshServer) -> None:
    files(ssh).get("orders.csv", "orders.csv")


@family.case("the folder is not there", raises="FileNotFoundError")
def _(ssh: SshServer) -> None:
    files(ssh).listdir("incoming")


@family.case("the local folder is not there", raises="FileNotFoundError", tags=TRAP)
def _(ssh: SshServer) -> None:
    client = files(ssh)
    (ssh.folder / "here.csv").write_text("id\n1\n")
    client.get("here.csv", "none/here.csv")


@family.case("the folder is there already", raises="OSError")
def _(ssh: SshServer) -> None:
    client = files(ssh)
    (ssh.folder / "archive").mkdir(exist_ok=True)
    client.mkdir("archive")


@family.case("the folder is not empty", raises="OSError")
def _(ssh: SshServer) -> None:
    client = files(ssh)
    (ssh.folder / "inbox" / "new").mkdir(parents=True, exist_ok=True)
    client.rmdir("inbox")


for title, error, raises, tags in (
    ("the file may not be written", asyncssh.SFTPPermissionDenied("Permission denied"), "PermissionError", []),
    ("the server's disk is full", asyncssh.SFTPFailure("No space left on device"), "OSError", []),
    ("the server's quota is used up", asyncssh.SFTPFailure("Disk quota exceeded"), "OSError", []),
    ("the server only says failure", asyncssh.SFTPFailure("Failure"), "OSError", []),
    ("the operation is not supported", asyncssh.SFTPOpUnsupported("Operation unsupported"), "OSError", []),
    ("the message is not understood", asyncssh.SFTPBadMessage("Bad message"), "OSError", []),
    ("the server has lost its connection", asyncssh.SFTPConnectionLost("Connection lost"), "OSError", []),
    ("the server has no connection to its store", asyncssh.SFTPNoConnection("No connection"), "OSError", []),
    ("the file is locked by another", asyncssh.SFTPFailure("The process cannot access the file because it is being"
     " used by another process."), "OSError", []),
    ("the server is too busy", asyncssh.SFTPFailure("Server is too busy, try again later"), "OSError", []),
    ("the account's transfers of the day are used up", asyncssh.SFTPFailure("Daily transfer limit exceeded"), "OSError", []),
    ("the server has too many files open", asyncssh.SFTPFailure("Too many open files"), "OSError", []),
    ("the file system is read-only", asyncssh.SFTPFailure("Read-only file system"), "OSError", []),
):  # fmt: skip

    @family.case(title, raises=raises, tags=[*tags, FROM_TEXT] if raises == "OSError" else tags)
    def _(ssh: SshServer, error: asyncssh.SFTPError = error) -> None:
        with files(ssh, orders_csv=error).open("orders.csv", "w") as file:
            file.write("id\n1\n")


@family.case("the disk fills up in mid transfer", raises="OSError", tags=[FROM_TEXT, WRONG_READING])
def _(ssh: SshServer) -> None:
    Path("orders.csv").write_bytes(b"1" * 100_000)
    files(ssh, write__orders_csv=asyncssh.SFTPFailure("No space left on device")).put("orders.csv", "orders.csv")


@family.case("the connection is lost in mid transfer", raises=("OSError", "EOFError", "SSHException"), tags=TRAP)
def _(ssh: SshServer) -> None:
    client = files(ssh)
    with client.open("partial.csv", "w") as file:
        file.write("id\n")
        ssh.drop()
        time.sleep(LAG_S)
        file.write("1\n" * 100_000)


@family.case("wrapped: the file is not there", raises="LoadError")
def _(ssh: SshServer) -> None:
    try:
        files(ssh).get("delivery.csv", "delivery.csv")
    except OSError as error:
        raise LoadError("the partner has not delivered") from error


@family.case("removing the part fails after the disk was full", raises="OSError", tags=TRAP)
def _(ssh: SshServer) -> None:
    client = files(
        ssh,
        write__orders_csv=asyncssh.SFTPFailure("No space left on device"),
        part_csv=asyncssh.SFTPPermissionDenied("Permission denied"),
    )
    Path("orders.csv").write_bytes(b"1" * 1000)
    try:
        client.put("orders.csv", "orders.csv")
    finally:
        client.remove("part.csv")


if __name__ == "__main__":
    family.run()
