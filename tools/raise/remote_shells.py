# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "asyncssh==2.24.1",
#     "cryptography==50.0.2",
#     "paramiko==5.1.0",
#     "tenacity==9.2.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What paramiko raises when signing in and running commands."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Thread
from typing import Any

import asyncssh
import paramiko
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs, port_that_resets, port_that_says
from servers.port import refused_port
from servers.ssh import SshServer, host_key, ssh_server

family = Family(
    __file__,
    "paramiko",
    servers={
        "ssh": ssh_server(),
        "other_exchange": ssh_server(kex_algs=["diffie-hellman-group16-sha512"]),
        "other_cipher": ssh_server(encryption_algs=["chacha20-poly1305@openssh.com"]),
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


def run(client: paramiko.SSHClient, command: str) -> None:
    """Run a command as operators do: raise if it says no."""
    _, output, errors = client.exec_command(command, timeout=3)
    code = output.channel.recv_exit_status()
    if code:
        raise LoadError(
            f"command {command.split()[0]} failed with exit status {code}: {errors.read().decode().strip()}"
        )


def session_fails(ssh: SshServer, error: asyncssh.Error) -> None:
    ssh.reset()
    ssh.session_error = error
    try:
        run(connect(ssh.port), "true")
    finally:
        ssh.reset()


# Who may.
@family.case("the password is wrong", raises="AuthenticationException")
def _(ssh: SshServer) -> None:
    connect(ssh.port, password=f"old-{CANARY}")


@family.case("the password has expired", raises="SSHException", tags=TRAP)
def _(ssh: SshServer) -> None:
    connect(ssh.port, username="outdated")


@family.case("passwords are not taken", raises="BadAuthenticationType")
def _(ssh: SshServer) -> None:
    connect(ssh.port, username="keys")


@family.case("there is nothing to sign in with", raises="SSHException", tags=TRAP)
def _(ssh: SshServer) -> None:
    connect(ssh.port, password=None)


@family.case("the key is not known to the server", raises="AuthenticationException")
def _(ssh: SshServer) -> None:
    connect(ssh.port, username="keys", password=None, pkey=paramiko.RSAKey.generate(2048))


@family.case("the server bans after too many failures", raises=("SSHException", "EOFError"), tags=TRAP)
def _(ssh: SshServer) -> None:
    connect(ssh.port, username="banned")


@family.case("the file of the key is not there", raises="FileNotFoundError")
def _(ssh: SshServer) -> None:
    connect(ssh.port, password=None, key_filename="/etc/etl/id_ed25519")


@family.case("the file of the key needs a passphrase", raises="PasswordRequiredException")
def _() -> None:
    paramiko.RSAKey.generate(2048).write_private_key_file("id_rsa", password=CANARY)
    paramiko.RSAKey.from_private_key_file("id_rsa")


@family.case("the passphrase of the key is wrong", raises="SSHException")
def _() -> None:
    paramiko.RSAKey.generate(2048).write_private_key_file("id_rsa", password=CANARY)
    paramiko.RSAKey.from_private_key_file("id_rsa", password=f"old-{CANARY}")


@family.case("the file of the key holds no key", raises="SSHException")
def _() -> None:
    Path("id_rsa").write_text("ssh-rsa AAAA etl@shop\n")
    paramiko.RSAKey.from_private_key_file("id_rsa")


@family.case("the key is of another kind than said", raises="SSHException")
def _() -> None:
    asyncssh.generate_private_key("ssh-ed25519").write_private_key("id_rsa")
    paramiko.RSAKey.from_private_key_file("id_rsa")


# Which host it is.
@family.case("the host key has changed", raises="BadHostKeyException")
def _(ssh: SshServer) -> None:
    client = paramiko.SSHClient()
    stored = host_key("the one before").export_public_key().decode().split()[1]
    Path("known").write_text(f"[127.0.0.1]:{ssh.port} ssh-ed25519 {stored}\n")
    client.load_host_keys("known")
    client.connect("127.0.0.1", ssh.port, username="etl", password=CANARY, look_for_keys=False, allow_agent=False)


@family.case("the host is not known", raises="SSHException", tags=TRAP)
def _(ssh: SshServer) -> None:
    connect(ssh.port, policy=paramiko.RejectPolicy())


@family.case("no way of exchanging keys in common", raises="IncompatiblePeer")
def _(other_exchange: SshServer) -> None:
    connect(other_exchange.port, disabled_algorithms={"kex": ["diffie-hellman-group16-sha512"]})


@family.case("no cipher in common", raises="IncompatiblePeer")
def _(other_cipher: SshServer) -> None:
    connect(other_cipher.port)


# No way to the server.
@family.case("the connection is refused", raises="NoValidConnectionsError")
def _() -> None:
    with refused_port() as port:
        connect(port)


@family.case("the host name does not exist", raises="gaierror")
def _() -> None:
    paramiko.SSHClient().connect("files.invalid", username="etl", password=CANARY)


@family.case("the server says nothing", raises="SSHException")
def _() -> None:
    with port_that_hangs() as port:
        connect(port, banner_timeout=LAG_S)


@family.case("the server hangs up before its banner", raises="SSHException", tags=TRAP)
def _() -> None:
    with port_that_closes() as port:
        connect(port)


@family.case("the server resets the connection", raises="SSHException")
def _() -> None:
    with port_that_resets() as port:
        connect(port)


@family.case("the server is none of SSH", raises="SSHException", tags=TRAP)
def _() -> None:
    with port_that_says(b"HTTP/1.1 400 Bad Request\r\n\r\n", first=True) as port:
        connect(port)


@family.case("the server has too many that sign in", raises="SSHException", tags=TRAP, is_wire_form=True)
def _() -> None:
    # https://man.openbsd.org/sshd_config#MaxStartups
    with port_that_says(b"Exceeded MaxStartups\r\n", first=True) as port:
        connect(port)


@family.case("the server speaks version 1", raises="SSHException")
def _() -> None:
    with port_that_says(b"SSH-1.5-old\r\n", first=True) as port:
        connect(port)


@family.case("the connection breaks off while keys are exchanged", raises=("SSHException", "EOFError"))
def _() -> None:
    with port_that_says(b"SSH-2.0-OpenSSH_9.6\r\n", first=True) as port:
        connect(port)


@family.case("the user may not log in while the machine goes down", raises="LoadError", tags=[FROM_TEXT])
def _(ssh: SshServer) -> None:
    ssh.reset()
    words = "System is going down. Unprivileged users are not permitted to log in anymore."
    run(connect(ssh.port), f"echo '{words}' >&2; exit 254")


# Sessions.
for title, code, reason, tags in (
    ("a session is prohibited", asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "open failed", TRAP),
    ("a session cannot be opened", asyncssh.OPEN_CONNECT_FAILED, "open failed", []),
    ("the kind of session is not known", asyncssh.OPEN_UNKNOWN_CHANNEL_TYPE, "unknown channel type", []),
    ("no more sessions on the connection", asyncssh.OPEN_RESOURCE_SHORTAGE, "no more sessions", []),
):

    @family.case(title, raises="ChannelException", tags=tags)
    def _(ssh: SshServer, code: int = code, reason: str = reason) -> None:
        session_fails(ssh, asyncssh.ChannelOpenError(code, reason))


@family.case("a tunnel to a host that cannot be reached", raises="ChannelException")
def _(ssh: SshServer) -> None:
    ssh.reset()
    way = connect(ssh.port).get_transport()
    if way is not None:
        way.open_channel("direct-tcpip", ("db.internal.example", 5432), ("127.0.0.1", 0), timeout=2)


@family.case("a command gives no output in time", raises="TimeoutError")
def _(ssh: SshServer) -> None:
    ssh.reset()
    _, output, _ = connect(ssh.port).exec_command("sleep 2", timeout=LAG_S)
    output.read()


@family.case("the client is closed already", raises=("SSHException", "AttributeError"), tags=TRAP)
def _(ssh: SshServer) -> None:
    ssh.reset()
    client = connect(ssh.port)
    client.close()
    client.exec_command("true")


@family.case("the connection is lost before a command", raises=("SSHException", "EOFError", "OSError"))
def _(ssh: SshServer) -> None:
    ssh.reset()
    client = connect(ssh.port)
    ssh.drop()
    time.sleep(LAG_S)
    client.exec_command("true")


for title, command in (
    ("a command is not found", "load_orders --day 2026-01-31"),
    ("a command may not be run", "/etc/passwd"),
    ("a command was killed by a signal", "kill -9 $$"),
    ("a command ran out of memory", "echo 'MemoryError' >&2; exit 137"),
    ("a command's input file is missing", "cat /data/orders.csv"),
    ("a command's disk is full", "cp /etc/passwd /dev/full"),
    ("a command cannot resolve a host", "getent hosts db.invalid || { echo 'psql: error: could not translate host name"
     " \"db.invalid\" to address: Name or service not known' >&2; exit 2; }"),
    ("a command's Python raises a KeyError", "python3 -c \"{}['amount']\""),
    ("a command's Python is refused by a server", "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 1))'"),
    ("a command was stopped by timeout", "timeout 0.1 sleep 2"),
):  # fmt: skip

    @family.case(title, raises="LoadError", tags=[FROM_TEXT])
    def _(ssh: SshServer, command: str = command) -> None:
        ssh.reset()
        run(connect(ssh.port), command)


@family.case("the connection is lost in mid command", raises="LoadError", tags=[FROM_TEXT, WRONG_READING])
def _(ssh: SshServer) -> None:
    ssh.reset()
    client = connect(ssh.port)
    Thread(target=lambda: (time.sleep(LAG_S), ssh.drop())).start()
    run(client, "sleep 2")


# As tasks meet them.
@family.case("wrapped in words: the password is wrong", raises="LoadError", tags=[FROM_TEXT])
def _(ssh: SshServer) -> None:
    try:
        connect(ssh.port, password=f"old-{CANARY}")
    except paramiko.SSHException as error:
        raise LoadError(f"cannot fetch: {error}") from None


@family.case("tenacity gives up: the server hangs up before its banner", raises="RetryError", tags=TRAP)
def _() -> None:
    with port_that_closes() as port:
        tenacity.Retrying(stop=tenacity.stop_after_attempt(2))(connect, port)


if __name__ == "__main__":
    family.run()
