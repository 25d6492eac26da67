"""SSH servers on loopback refuse channels, sessions and files; paramiko and asyncssh raise why."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import asyncssh
import paramiko
import pytest
from failure_reading import alive, codes, conclusion, logged, printed
from http_reading import raised_by
from loopback import sockets
from stand_ins import raised

from airflow_common_ai.evidence.model import Retry
from airflow_common_ai.evidence.protocols.clients import ssh

HOST_KEY = paramiko.ECDSAKey.generate()


class Refusing(paramiko.ServerInterface):
    """Lets everybody in and opens no channel."""

    def __init__(self, reason: int) -> None:
        self._reason = reason

    def check_auth_password(self, username: str, password: str) -> int:
        return paramiko.AUTH_SUCCESSFUL

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return self._reason


def open_a_channel(reason: int) -> None:
    def conversation(connection: socket.socket) -> None:
        transport = paramiko.Transport(connection)
        transport.add_server_key(HOST_KEY)
        transport.start_server(server=Refusing(reason))
        transport.join()

    with sockets.serve(conversation) as port, contextlib.closing(paramiko.Transport(("127.0.0.1", port))) as client:
        client.connect(username="user", password="password")
        client.open_session()


@pytest.mark.parametrize(
    ("reason", "code", "category", "retry"),
    [
        (1, "ssh.channel_prohibited", "auth", Retry.DEPENDS),
        (2, "ssh.channel_connect_failed", "network", Retry.YES),
        (3, "ssh.channel_type_unknown", "permanent", Retry.NO),
        (4, "ssh.channel_resource_shortage", "network", Retry.YES),
    ],
)
def test_why_a_channel_was_not_opened_decides_alive_and_in_a_log(
    reason: int, code: str, category: str, retry: Retry
) -> None:
    error = raised_by(lambda: open_a_channel(reason))
    assert isinstance(error, paramiko.ChannelException)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (code, category, retry)


class Disconnecting(asyncssh.SSHServer):
    """Says goodbye as soon as somebody is there."""

    def __init__(self, reason: int) -> None:
        self._reason = reason

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn

    def begin_auth(self, username: str) -> bool:
        self._connection.disconnect(self._reason, "that is why")
        return False


def connect(reason: int) -> None:
    async def session() -> None:
        key = asyncssh.generate_private_key("ssh-ed25519")
        async with (
            asyncssh.listen("127.0.0.1", 0, server_host_keys=[key], server_factory=lambda: Disconnecting(reason)) as on,
            asyncssh.connect("127.0.0.1", on.get_port(), known_hosts=None, username="user", config=None),
        ):
            pass

    asyncio.run(session())


@pytest.mark.parametrize(
    ("reason", "code", "category", "retry"),
    [
        (asyncssh.DISC_HOST_NOT_ALLOWED_TO_CONNECT, "ssh.host_not_allowed", "auth", Retry.NO),
        (asyncssh.DISC_SERVICE_NOT_AVAILABLE, "ssh.service_not_available", "transient", Retry.YES),
        (asyncssh.DISC_BY_APPLICATION, "ssh.by_application", "network", Retry.YES),
        (asyncssh.DISC_TOO_MANY_CONNECTIONS, "ssh.too_many_connections", "rate_limit", Retry.YES),
    ],
)
def test_why_the_server_disconnected_decides(reason: int, code: str, category: str, retry: Retry) -> None:
    error = raised_by(lambda: connect(reason))
    assert isinstance(error, asyncssh.DisconnectError)
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.code, signal.category, signal.retry) == (code, category, retry)


@pytest.mark.parametrize(
    ("error", "code", "category", "retry"),
    [
        (asyncssh.ChannelOpenError(2, "x"), "ssh.channel_connect_failed", "network", Retry.YES),
        (asyncssh.ConnectionLost("x"), "ssh.connection_lost", "network", Retry.YES),
        (asyncssh.PermissionDenied("x"), "ssh.no_more_auth_methods", "auth", Retry.NO),
        (asyncssh.KeyExchangeFailed("x"), "ssh.key_exchange_failed", "permanent", Retry.NO),
        (asyncssh.SFTPNoSuchFile("x"), "sftp.no_such_file", "resource", Retry.NO),
        (asyncssh.SFTPPermissionDenied("x"), "sftp.permission_denied", "auth", Retry.NO),
        (asyncssh.SFTPConnectionLost("x"), "sftp.connection_lost", "network", Retry.YES),
        (asyncssh.SFTPFailure("x"), "sftp.failure", "transient", Retry.DEPENDS),
    ],
)
def test_a_class_of_asyncssh_carries_its_code_and_is_known_in_a_log(
    error: Exception, code: str, category: str, retry: Retry
) -> None:
    signal, of_the_log = conclusion(alive(error)), conclusion(logged(raised(error)))
    assert signal is not None
    assert of_the_log is not None
    assert (signal.code, signal.category, signal.retry) == (code, category, retry)
    assert (of_the_log.category, of_the_log.retry) == (category, retry)


def test_a_code_that_nobody_here_knows_leaves_it_to_the_class() -> None:
    unknown = paramiko.ChannelException(77, "Unheard of")
    assert ssh.probe(unknown) == {"ssh.channel_code": 77}
    assert codes(alive(unknown), "ssh.") == []
    assert codes(printed("paramiko.ssh_exception.ChannelException", str(unknown)), "ssh.") == []
