"""A real PostgreSQL with a few tables and roles, and more of them for cases that stop, break or set up one otherwise."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness import CANARY

from servers.port import free_port
from servers.process import find_program, running_process, server_folder
from servers.tls import authority

__all__ = ["Postgres", "postgres", "postgres_cluster", "postgres_replica", "wait_until"]

_INSTALL = "apt-get install postgresql"
_USER = "postgres"
_DOES_NOT_WAIT = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "16MB",
    "lc_messages": "C",
    "max_connections": "20",
    "deadlock_timeout": "100ms",
    "max_locks_per_transaction": "10",
    "max_wal_senders": "2",
    "wal_level": "replica",
    "password_encryption": "scram-sha-256",
    "log_min_messages": "log",
}
_ACCESS = """
local all postgres trust
local replication postgres trust
hostssl warehouse only_tls 127.0.0.1/32 scram-sha-256
host warehouse not_from_here 127.0.0.1/32 reject
host warehouse only_tls 127.0.0.1/32 reject
host all postgres 127.0.0.1/32 scram-sha-256
host all visitor 127.0.0.1/32 trust
host all etl,reader,narrow,no_login 127.0.0.1/32 scram-sha-256
host replication postgres 127.0.0.1/32 scram-sha-256
"""
_CONTENT = f"""
alter role postgres password '{CANARY}';
create role etl login password '{CANARY}';
create role reader login password '{CANARY}';
create role narrow login password '{CANARY}' connection limit 1;
create role no_login password '{CANARY}';
create role only_tls login password '{CANARY}';
create role not_from_here login password '{CANARY}';
create database warehouse;
create database private;
revoke connect on database private from public;
create database ascii encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0;
create database latin encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0;
\\connect warehouse
create table customers (id int primary key, name varchar(20) not null, email text unique);
create table orders (
    id int primary key, customer_id int not null references customers, amount numeric(8, 2) check (amount >= 0),
    placed_at timestamptz default now(), note text
);
create table bookings (room int, during tsrange, constraint no_overlap exclude using gist (during with &&));
create table secrets (id int);
create type mood as enum ('sad', 'ok');
create table moods (id int, mood mood);
create sequence run_ids maxvalue 2;
create function check_balance(account int) returns void language plpgsql as $$
    begin raise exception 'account % has no balance for 2026-01-31', account; end $$;
create function deep(n int) returns int language plpgsql as $$ begin return deep(n + 1); end $$;
insert into customers values (1, 'Ada', 'ada@shop.example'), (2, 'Bo', 'bo@shop.example');
insert into orders values (1, 1, 10), (2, 2, 20);
grant create on schema public to etl;
grant all on customers, orders, bookings, moods to etl;
grant select on orders to reader;
grant usage on run_ids to etl;
"""


@dataclass(frozen=True)
class Postgres:
    """A running server; its users all have the canary for a password."""

    port: int
    version: str
    folder: Path
    pid: int
    binaries: Path
    tls_root: Path | None = None
    name: str = "PostgreSQL"

    def dsn(self, user: str = "etl", database: str = "warehouse", **more: str) -> str:
        """Return a connection string as libpq's drivers take it."""
        options = {"connect_timeout": "3", "gssencmode": "disable", "sslmode": "disable", **more}
        words = " ".join(f"{name}={value}" for name, value in options.items())
        return f"host=127.0.0.1 port={self.port} user={user} password={CANARY} dbname={database} {words}"

    def url(self, driver: str, user: str = "etl", database: str = "warehouse") -> str:
        """Return a connection string as SQLAlchemy takes it."""
        return f"postgresql+{driver}://{user}:{CANARY}@127.0.0.1:{self.port}/{database}"

    def admin(self, *statements: str, database: str = "warehouse") -> str:
        """Run statements as the superuser, over the local socket; return what they print."""
        command = [str(self.binaries / "psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder)]
        command += ["-p", str(self.port), "-U", _USER, "-d", database]
        done = subprocess.run(
            command, input=";\n".join(statements), capture_output=True, text=True, check=True, timeout=20
        )
        return done.stdout.strip()

    def kill_backend(self, signal_number: int, user: str = "etl") -> None:
        """Send a signal to the processes of a user's sessions, as the kernel's memory killer does."""
        for pid in self.admin(f"select pid from pg_stat_activity where usename = '{user}'").split():
            os.kill(int(pid), signal_number)

    def signal(self, signal_number: int) -> None:
        """Send a signal to the server: SIGTERM waits for clients, SIGINT throws them out, SIGQUIT dies."""
        os.kill(self.pid, signal_number)


@contextlib.contextmanager
def postgres() -> Iterator[Postgres]:
    """The server that the cases of a family share; speaks TLS to those who ask."""
    with authority() as own, postgres_cluster(tls=True, root=own.root, certificate=own.issue().path) as server:
        yield server


@contextlib.contextmanager
def postgres_cluster(
    *,
    settings: Mapping[str, str] | None = None,
    tls: bool = False,
    root: Path | None = None,
    certificate: Path | None = None,
    ready_line: str | None = None,
) -> Iterator[Postgres]:
    """
    A server of one's own.

    :param settings: What it is set up with beyond the usual.
    :param ready_line: Wait for this in its log, not for its readiness: it will not become ready.
    """
    program = Path(find_program("/usr/lib/postgresql/*/bin/postgres", install=_INSTALL))
    with server_folder(_USER) as folder:
        data = folder / "data"
        _run(
            program.parent / "initdb", "-D", str(data), "-A", "trust", "--no-sync", "-E", "UTF8", "--locale", "C.UTF-8"
        )
        (data / "pg_hba.conf").write_text(_ACCESS)
        more = dict(settings or {})
        if tls and certificate:
            own = folder / "server.pem"
            shutil.copy(certificate, own)
            _give(own)
            more |= {"ssl": "on", "ssl_cert_file": str(own), "ssl_key_file": str(own)}
        with _running(program, folder, data, {}, None) as server:
            _fill(server)
        if ready_line:
            (data / "recovery.signal").touch()
            _give(data / "recovery.signal")
        with _running(program, folder, data, more, ready_line, root) as server:
            yield server


@contextlib.contextmanager
def postgres_replica(primary: Postgres, **settings: str) -> Iterator[Postgres]:
    """A server that follows another, and cancels queries that are in its way at once."""
    with server_folder(_USER) as folder:
        data = folder / "data"
        backup = primary.binaries / "pg_basebackup"
        _run(
            backup,
            "-D",
            str(data),
            "-h",
            str(primary.folder),
            "-p",
            str(primary.port),
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
        )
        more = {"max_standby_streaming_delay": "0", "max_standby_archive_delay": "0", **settings}
        program = primary.binaries / "postgres"
        line = "started streaming" if "hot_standby" in settings else None
        with _running(program, folder, data, more, line) as server:
            yield server


@contextlib.contextmanager
def _running(
    program: Path,
    folder: Path,
    data: Path,
    settings: Mapping[str, str],
    ready_line: str | None,
    root: Path | None = None,
) -> Iterator[Postgres]:
    port = free_port()
    words = {**_DOES_NOT_WAIT, **settings, "unix_socket_directories": str(folder), "listen_addresses": "127.0.0.1"}
    command = [str(program), "-D", str(data), "-p", str(port)]
    command += [word for name, value in words.items() for word in ("-c", f"{name}={value}")]
    ready = program.parent / "pg_isready"
    log = folder / "server.log"

    def is_ready() -> bool:
        if ready_line:
            return ready_line in log.read_text("utf-8", "replace")
        return subprocess.run([ready, "-q", "-h", str(folder), "-p", str(port)], check=False).returncode == 0

    with running_process(command, is_ready=is_ready, folder=folder, user=_USER) as process:
        version = (data / "PG_VERSION").read_text().strip()
        yield Postgres(port, version, folder, process.pid, program.parent, root)


def _fill(server: Postgres) -> None:
    command = [str(server.binaries / "psql"), "-Xq", "-v", "ON_ERROR_STOP=1", "-h", str(server.folder), "-U", _USER]
    subprocess.run([*command, "-p", str(server.port), "postgres"], input=_CONTENT, text=True, check=True, timeout=60)


def _run(*command: str | Path) -> None:
    is_root = os.geteuid() == 0
    subprocess.run(command, check=True, capture_output=True, timeout=120, user=_USER if is_root else None, cwd="/")


def _give(path: Path) -> None:
    path.chmod(0o600)
    if os.geteuid() == 0:
        shutil.chown(path, _USER)


def wait_until(condition: str, server: Postgres, within_s: float = 5) -> None:
    """Wait until a query as the superuser says true, e.g. that a session waits for a lock."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline and server.admin(condition) != "t":
        time.sleep(0.05)
