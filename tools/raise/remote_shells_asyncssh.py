# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "asyncssh==2.24.1",
#     "cryptography==50.0.2",
#     "fabric==3.2.3",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What asyncssh raises, and fabric."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from pathlib import Path
from typing import Any

import asyncssh
import fabric
from harness import CANARY, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs
from servers.port import refused_port
from servers.ssh import SshServer, ssh_server

family = Family(
    __file__,
    "asyncssh",
    servers={
        "ssh": ssh_server(),
        "other_exchange": ssh_server(kex_algs=["diffie-hellman-group16-sha512"]),
    },
)
asyncssh_case = family.case
fabric_case = partial(family.case, library="fabric")
TRAP = [WRONG_READING]
LAG_S = 0.4
LATEST_SFTP = 6


# asyncssh.
async def async_connect(port: int, **options: Any) -> asyncssh.SSHClientConnection:
    usual = {"username": "etl", "password": CANARY, "known_hosts": None, "client_keys": [], "agent_path": None}
    times = {"connect_timeout": 2, "login_timeout": 2}
    return await asyncssh.connect("127.0.0.1", port, config=None, **{**usual, **times, **options})


@asyncssh_case("asyncssh: the password is wrong", raises="PermissionDenied")
async def _(ssh: SshServer) -> None:
    await async_connect(ssh.port, password=f"old-{CANARY}")


@asyncssh_case("asyncssh: the host key is not known", raises="HostKeyNotVerifiable")
async def _(ssh: SshServer) -> None:
    Path("known").write_text("")
    await async_connect(ssh.port, known_hosts="known")


@asyncssh_case("asyncssh: no way of exchanging keys in common", raises="KeyExchangeFailed")
async def _(other_exchange: SshServer) -> None:
    await async_connect(other_exchange.port, kex_algs=["curve25519-sha256"])


@asyncssh_case("asyncssh: the connection is refused", raises="ConnectionRefusedError")
async def _() -> None:
    with refused_port() as port:
        await async_connect(port)


@asyncssh_case("asyncssh: the server says nothing", raises=("Error", "TimeoutError"))
async def _() -> None:
    with port_that_hangs() as port:
        await async_connect(port, connect_timeout=LAG_S, login_timeout=LAG_S)


@asyncssh_case("asyncssh: the server hangs up", raises="ConnectionLost")
async def _() -> None:
    with port_that_closes(1) as port:
        await async_connect(port)


@asyncssh_case("asyncssh: a command exits with one", raises="ProcessError")
async def _(ssh: SshServer) -> None:
    ssh.reset()
    async with await async_connect(ssh.port) as connection:
        await connection.run("echo 'permission denied for table orders' >&2; exit 1", check=True)


@asyncssh_case("asyncssh: a command was killed", raises="ProcessError")
async def _(ssh: SshServer) -> None:
    ssh.reset()
    async with await async_connect(ssh.port) as connection:
        await connection.run("kill -9 $$", check=True)


@asyncssh_case("asyncssh: a command takes too long", raises="TimeoutError")
async def _(ssh: SshServer) -> None:
    ssh.reset()
    async with await async_connect(ssh.port) as connection:
        await connection.run("sleep 2", timeout=LAG_S)


@asyncssh_case("asyncssh: no more sessions", raises="ChannelOpenError")
async def _(ssh: SshServer) -> None:
    ssh.reset()
    ssh.session_error = asyncssh.ChannelOpenError(asyncssh.OPEN_RESOURCE_SHORTAGE, "no more sessions")
    try:
        await (await async_connect(ssh.port)).run("true")
    finally:
        ssh.reset()


@asyncssh_case("asyncssh: the server is shut down", raises=("DisconnectError", "ChannelOpenError", "ConnectionLost"))
async def _(ssh: SshServer) -> None:
    ssh.reset()
    connection = await async_connect(ssh.port)
    ssh.disconnect(asyncssh.DISC_BY_APPLICATION, "server is shut down for maintenance")
    await asyncio.sleep(LAG_S)
    await connection.run("true", check=True)


for title, error in (
    ("the file is not there", asyncssh.SFTPNoSuchFile("No such file")),
    ("the file may not be read", asyncssh.SFTPPermissionDenied("Permission denied")),
    ("the server's disk is full", asyncssh.SFTPNoSpaceOnFilesystem("No space left on device")),
    ("the server's quota is used up", asyncssh.SFTPQuotaExceeded("Disk quota exceeded")),
    ("the file is locked by another", asyncssh.SFTPLockConflict("Locked by another")),
    ("the file system is read-only", asyncssh.SFTPWriteProtect("Write protected")),
):

    @asyncssh_case(f"asyncssh: {title}", raises="SFTPError")
    async def _(ssh: SshServer, error: asyncssh.SFTPError = error) -> None:
        ssh.reset()
        ssh.file_errors = {"orders.csv": error}
        async with (
            await async_connect(ssh.port) as connection,
            connection.start_sftp_client(sftp_version=LATEST_SFTP) as client,
        ):
            await client.open("orders.csv", "w")


# fabric.
def remote(port: int, **options: Any) -> fabric.Connection:
    usual = {"password": CANARY, "look_for_keys": False, "allow_agent": False, "banner_timeout": 1}
    return fabric.Connection("127.0.0.1", "etl", port, connect_timeout=2, connect_kwargs={**usual, **options})


@fabric_case("fabric: a command exits with one", raises="UnexpectedExit")
def _(ssh: SshServer) -> None:
    ssh.reset()
    remote(ssh.port).run("echo 'rsync: connection unexpectedly closed' >&2; exit 12", hide=True, in_stream=False)


@fabric_case("fabric: a command with a password in it fails", raises="UnexpectedExit")
def _(ssh: SshServer) -> None:
    ssh.reset()
    command = f"PGPASSWORD={CANARY} sh -c 'echo FATAL: database shop does not exist >&2; exit 2'"
    remote(ssh.port).run(command, hide=True, in_stream=False)


@fabric_case("fabric: a command takes too long", raises="CommandTimedOut")
def _(ssh: SshServer) -> None:
    ssh.reset()
    remote(ssh.port).run("sleep 2", hide=True, in_stream=False, timeout=1)


@fabric_case("fabric: the password is wrong", raises="AuthenticationException")
def _(ssh: SshServer) -> None:
    ssh.reset()
    remote(ssh.port, password=f"old-{CANARY}").run("true", hide=True, in_stream=False)


@fabric_case("fabric: the connection is refused", raises="NoValidConnectionsError")
def _() -> None:
    with refused_port() as port:
        remote(port).run("true", hide=True, in_stream=False)


@fabric_case("fabric: the file to be put is not there", raises="FileNotFoundError")
def _(ssh: SshServer) -> None:
    ssh.reset()
    remote(ssh.port).put("orders.csv")


@asyncssh_case("several hosts at once: one refuses and one says no", raises="ExceptionGroup")
async def _(ssh: SshServer) -> None:
    with refused_port() as port:
        async with asyncio.TaskGroup() as group:
            group.create_task(_late(async_connect(port)))
            group.create_task(_late(async_connect(ssh.port, password=f"old-{CANARY}")))


async def _late(connecting: Any) -> None:
    """Wait a moment before failing, so that the others fail as well."""
    try:
        await connecting
    finally:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(LAG_S)


if __name__ == "__main__":
    family.run()
