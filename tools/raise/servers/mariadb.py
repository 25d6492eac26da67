"""A real MariaDB with a few tables and users."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness import CANARY

from servers.port import free_port
from servers.process import find_program, running_process, server_folder
from servers.tls import authority

__all__ = ["MariaDB", "mariadb", "mariadb_server"]

_INSTALL = "apt-get install mariadb-server"
_USER = "mysql"
_SETTINGS = {
    "max-connections": "12",
    "innodb-buffer-pool-size": "16M",
    "innodb-log-file-size": "8M",
    "innodb-flush-log-at-trx-commit": "0",
    "innodb-fast-shutdown": "2",
    "innodb-use-native-aio": "0",
    "max-allowed-packet": "1M",
    "skip-name-resolve": "ON",
    "sql-mode": "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY",
    "plugin-load-add": "auth_ed25519",
    "local-infile": "OFF",
    "innodb-deadlock-detect": "ON",
}


def _user(name: str, more: str = "", rights: str = "all on shop.*") -> str:
    return f"create user {name}@'127.0.0.1' identified by '{CANARY}' {more}; grant {rights} to {name}@'127.0.0.1';"


_CONTENT = f"""
create database shop character set utf8mb4;
create database private;
use shop;
create table customers (id int primary key, name varchar(20) not null, email varchar(80) unique) engine=innodb;
create table orders (
    id int primary key, customer_id int not null, amount decimal(8, 2), status enum('open', 'paid'), placed date,
    constraint fk_customer foreign key (customer_id) references customers (id), constraint positive check (amount >= 0)
) engine=innodb;
create table small (id int auto_increment primary key, word char(200)) engine=memory;
create table latin (word varchar(20) character set latin1);
create table tiny (id tinyint auto_increment primary key);
create view gone as select * from small;
insert into customers values (1, 'Ada', 'ada@shop.example'), (2, 'Bo', 'bo@shop.example');
insert into orders values (1, 1, 10, 'open', '2026-01-31'), (2, 2, 20, 'paid', '2026-01-31');
insert into tiny values (127);
create procedure check_balance(account int)
    signal sqlstate '45000' set message_text = 'account has no balance';
create procedure deep(n int) call deep(n + 1);
{_user("etl")}
{_user("reader", rights="select (id) on shop.customers")}
{_user("narrow", "with max_user_connections 1")}
{_user("frugal", "with max_queries_per_hour 2")}
{_user("seldom", "with max_connections_per_hour 1")}
{_user("cautious", "with max_updates_per_hour 1")}
{_user("only_tls", "require ssl")}
{_user("locked", "account lock")}
{_user("outdated", "password expire")}
create user modern@'127.0.0.1' identified via ed25519 using password('{CANARY}');
create or replace user root@'127.0.0.1' identified by '{CANARY}';
grant all on *.* to root@'127.0.0.1' with grant option;
"""


@dataclass(frozen=True)
class MariaDB:
    """A running server; its users all have the canary for a password."""

    port: int
    version: str
    socket: Path
    pid: int
    name: str = "MariaDB"

    def admin(self, statements: str) -> str:
        """Run statements as the superuser, over the local socket; return what they print."""
        program = find_program("mariadb", "mysql", install=_INSTALL)
        command = [program, "--no-defaults", "-N", "-B", "-u", "root", f"--socket={self.socket}"]
        done = subprocess.run(command, input=statements, capture_output=True, text=True, check=True, timeout=20)
        return done.stdout.strip()

    def kill_sessions(self, user: str = "etl", what: str = "connection") -> None:
        """End a user's sessions, or with ``query`` what they are doing."""
        for number in self.admin(f"select id from information_schema.processlist where user = '{user}'").split():
            with contextlib.suppress(subprocess.CalledProcessError):  # it is gone by itself
                self.admin(f"kill {what} {number}")

    def stop(self) -> None:
        """Tell the server to end; it throws its clients out."""
        os.kill(self.pid, signal.SIGTERM)


def mariadb() -> contextlib.AbstractContextManager[MariaDB]:
    """The server that the cases of a family share; speaks TLS to those who ask."""
    return mariadb_server()


@contextlib.contextmanager
def mariadb_server(**settings: str) -> Iterator[MariaDB]:
    """
    A server of one's own.

    :param settings: What it is set up with beyond the usual, with ``_`` for ``-``.
    """
    program = find_program("mariadbd", "/usr/sbin/mariadbd", install=_INSTALL)
    installer = find_program("mariadb-install-db", install=_INSTALL)
    with server_folder(_USER) as folder, authority() as own:
        data = folder / "data"
        _run(
            installer, "--no-defaults", f"--datadir={data}", f"--user={_USER}", "--skip-test-db",
            "--auth-root-authentication-method=normal",
        )  # fmt: skip
        certificate = folder / "server.pem"
        shutil.copy(own.issue().path, certificate)
        if os.geteuid() == 0:
            shutil.chown(certificate, _USER)
        port, place = free_port(), folder / "socket"
        words = {**_SETTINGS, **{name.replace("_", "-"): value for name, value in settings.items()}}
        if "ssl" not in settings:
            words |= {"ssl-cert": str(certificate), "ssl-key": str(certificate)}
        command = [program, "--no-defaults", f"--datadir={data}", f"--port={port}", f"--socket={place}"]
        command += [
            f"--tmpdir={folder}",
            "--bind-address=127.0.0.1",
            f"--pid-file={folder / 'pid'}",
            f"--secure-file-priv={folder}",
        ]
        command += [f"--{name}={value}" for name, value in words.items()]

        def is_ready() -> bool:
            return place.exists() and subprocess.run(
                ["mariadb-admin", "--no-defaults", f"--socket={place}", "-u", "root", "ping"],
                capture_output=True, check=False,
            ).returncode == 0  # fmt: skip

        with running_process(command, is_ready=is_ready, folder=folder, user=_USER) as process:
            server = MariaDB(port, "", place, process.pid)
            server.admin(_CONTENT)
            version = server.admin("select version()").partition("-")[0]
            yield MariaDB(port, version, place, process.pid)


def _run(*command: str) -> None:
    subprocess.run(
        command, check=True, capture_output=True, timeout=120, cwd="/", user=_USER if os.geteuid() == 0 else None
    )
