"""A real SSH and SFTP server, asyncssh's, in a thread: it runs what it is told in a shell, or refuses as a case asks."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import asyncssh
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from harness import CANARY
from harness.servers import StartServer

from servers.process import server_folder

__all__ = ["SshServer", "host_key", "ssh_server"]

_START_WITHIN_S = 20
_SFTP_VERSION = 6


def host_key(name: str) -> asyncssh.SSHKey:
    """Return a host key, the same one each time: clients print it."""
    key = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return asyncssh.import_private_key(pem)


@dataclass
class SshServer:
    """A running server; user ``etl`` comes in with the canary for a password, others do not."""

    folder: Path
    """What SFTP shows as its root."""
    key: asyncssh.SSHKey
    port: int = 0
    name: str = "asyncssh"
    version: str | None = field(default_factory=lambda: version("asyncssh"))
    session_error: asyncssh.Error | None = None
    """Raised when a session is asked for."""
    file_errors: Mapping[str, asyncssh.SFTPError] = field(default_factory=dict)
    """Raised when a file of that name is opened, written, made or removed; the name may have ``write:`` before it."""
    connections: list[asyncssh.SSHServerConnection] = field(default_factory=list)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    def drop(self) -> None:
        """Cut all connections."""
        for connection in self.connections:
            self.loop.call_soon_threadsafe(connection.abort)

    def disconnect(self, code: int, reason: str) -> None:
        """Say good-bye on all connections."""
        for connection in self.connections:
            self.loop.call_soon_threadsafe(connection.disconnect, code, reason)

    def reset(self) -> None:
        """Forget what the last case wanted."""
        self.session_error, self.file_errors = None, {}
        self.connections.clear()


def ssh_server(**options: Any) -> StartServer:
    """
    Return what starts a server.

    :param options: Of ``asyncssh.listen``, e.g. the algorithms that it takes.
    """

    @contextlib.contextmanager
    def start() -> Iterator[SshServer]:
        with server_folder() as folder:
            server = SshServer(folder, host_key("loopback"))
            thread = threading.Thread(target=server.loop.run_forever, daemon=True)
            thread.start()
            acceptor = _wait(server, lambda: _listen(server, options))
            server.port = acceptor.get_port()
            try:
                yield server
            finally:
                server.loop.call_soon_threadsafe(acceptor.close)
                server.drop()
                server.loop.call_soon_threadsafe(server.loop.stop)
                thread.join(_START_WITHIN_S)

    return start


def _wait(server: SshServer, work: Callable[[], Any]) -> Any:
    return asyncio.run_coroutine_threadsafe(work(), server.loop).result(_START_WITHIN_S)


async def _listen(server: SshServer, options: Mapping[str, Any]) -> asyncssh.SSHAcceptor:
    return await asyncssh.listen(
        "127.0.0.1",
        0,
        server_factory=lambda: _Greeter(server),
        **{"server_host_keys": [server.key], **options},
    )


class _Greeter(asyncssh.SSHServer):
    def __init__(self, owner: SshServer) -> None:
        self._owner = owner

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._owner.connections.append(conn)
        self._connection = conn
        self._user = ""

    def begin_auth(self, username: str) -> bool:
        self._user = username
        if username == "banned":
            raise asyncssh.DisconnectError(asyncssh.DISC_BY_APPLICATION, "Too many authentication failures")
        return True

    def password_auth_supported(self) -> bool:
        return self._user != "keys"

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return False

    def validate_password(self, username: str, password: str) -> bool:
        if username == "outdated":
            raise asyncssh.PasswordChangeRequired("Your password has expired")
        return username == "etl" and password == CANARY

    def kbdint_auth_supported(self) -> bool:
        return False

    def session_requested(self) -> Any:
        if self._owner.session_error is not None:
            raise self._owner.session_error
        process = asyncssh.SSHServerProcess(_run, lambda channel: _Files(channel, self._owner), _SFTP_VERSION, False)
        return self._connection.create_server_channel(encoding=None), process

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, f"Connection to {dest_host} failed")


async def _run(process: asyncssh.SSHServerProcess[bytes]) -> None:
    if process.command is None:
        process.exit(0)
        return
    shell = await asyncio.create_subprocess_shell(
        process.command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await shell.communicate()
    process.stdout.write(output)
    process.stderr.write(errors)
    if shell.returncode is not None and shell.returncode < 0:
        process.exit_with_signal("KILL", False, "killed")
        return
    process.exit(shell.returncode or 0)


class _Files(asyncssh.SFTPServer):
    def __init__(self, channel: Any, owner: SshServer) -> None:
        super().__init__(channel, chroot=str(owner.folder).encode())
        self._owner = owner

    def _check(self, path: bytes, before: str = "") -> None:
        name = before + Path(path.decode()).name
        if name in self._owner.file_errors:
            raise self._owner.file_errors[name]

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        self._check(path)
        self._last = path
        return super().open(path, pflags, attrs)

    def open56(self, path: bytes, desired_access: int, flags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        self._check(path)
        self._last = path
        return super().open56(path, desired_access, flags, attrs)

    def write(self, file_obj: Any, offset: int, data: bytes) -> Any:
        self._check(self._last, "write:")
        return super().write(file_obj, offset, data)

    def read(self, file_obj: Any, offset: int, size: int) -> Any:
        self._check(self._last, "read:")
        return super().read(file_obj, offset, size)

    def remove(self, path: bytes) -> Any:
        self._check(path)
        return super().remove(path)

    def mkdir(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> Any:
        self._check(path)
        return super().mkdir(path, attrs)
