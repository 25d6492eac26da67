"""An SSH server with SFTP, as asyncssh has it, over an empty folder. Scripts that use this depend on ``asyncssh``."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path

import asyncssh
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from harness import CANARY

from servers.process import server_folder

__all__ = ["SshServer", "ssh_server"]


class _Access(asyncssh.SSHServer):
    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        if username == "outdated":
            raise asyncssh.PasswordChangeRequired("Your password has expired")
        return username == "etl" and password == CANARY


class SshServer:
    """A running server; ``etl`` may log in with the canary. Commands run in the server's folder."""

    name = "asyncssh"

    def __init__(self, port: int, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        self.port = port
        self.folder = folder
        self.version: str | None = version("asyncssh")
        self._loop = loop

    def hang_up(self) -> None:
        """Drop every connection, go on listening."""
        self._loop.call_soon_threadsafe(_abort_all)


_open: set[asyncssh.SSHServerProcess[str]] = set()


def _abort_all() -> None:
    for process in list(_open):
        process.channel.get_connection().abort()


async def _run(folder: Path, process: asyncssh.SSHServerProcess[str]) -> None:
    _open.add(process)
    try:
        command = process.command or "true"
        child = await asyncio.create_subprocess_exec(
            "bash", "-c", command, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await child.communicate()
        process.stdout.write(out.decode())
        process.stderr.write(err.decode())
        code = child.returncode or 0
        if code < 0:
            process.exit_with_signal({9: "KILL", 15: "TERM", 11: "SEGV"}.get(-code, "ABRT"))
        else:
            process.exit(code)
    finally:
        _open.discard(process)


def _host_key() -> asyncssh.SSHKey:
    """The same at every start, since clients print it."""
    key = ed25519.Ed25519PrivateKey.from_private_bytes(b"a key of the loopback SSH server"[:32])
    return asyncssh.import_private_key(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    )


async def _listen(folder: Path) -> asyncssh.SSHAcceptor:
    return await asyncssh.listen(
        "127.0.0.1",
        0,
        server_factory=_Access,
        server_host_keys=[_host_key()],
        process_factory=partial(_run, folder),
        sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=str(folder).encode()),
    )


@contextlib.contextmanager
def ssh_server() -> Iterator[SshServer]:
    """A server on a loop of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    with server_folder() as folder:
        listener = asyncio.run_coroutine_threadsafe(_listen(folder), loop).result(20)
        try:
            yield SshServer(listener.get_port(), folder, loop)
        finally:
            loop.call_soon_threadsafe(listener.close)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(5)
