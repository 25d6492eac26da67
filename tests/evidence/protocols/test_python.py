"""What a class alone says: built-ins as Python raises them, libraries' own, and what is derived from them."""

from __future__ import annotations

import asyncio
import binascii
import builtins
import concurrent.futures
import configparser
import csv
import decimal
import importlib
import io
import multiprocessing.pool
import re
import socket
import struct
import sys
import threading
import tomllib
import zoneinfo
from collections.abc import Callable

import jinja2
import paramiko
import pydantic
import pymongo.errors
import pytest
import redis
import requests
import sqlalchemy
import sqlalchemy.pool
import yaml
from failure_reading import alive, codes, conclusion, conclusion_code, logged, printed
from http_reading import raised_by

from airflow_common_ai.evidence.model import Rank, Retry, kind_of
from airflow_common_ai.evidence.protocols.clients import classes as client_classes
from airflow_common_ai.evidence.protocols.python import builtin_classes, damaged_files, data_classes

Cause = Callable[[], object]


def recurse() -> object:
    return recurse()


def grow_while_looping() -> None:
    counts = {1: 1}
    for number in counts:
        counts[number + 1] = 1


class Order(pydantic.BaseModel):
    amount: int


RAISED: list[tuple[Cause, str, str]] = [
    (lambda: {}["missing"], "python.key_error", "data"),
    (lambda: [][1], "python.index_error", "data"),
    (lambda: int("abc"), "python.value_error", "data"),
    (lambda: len(5), "python.type_error", "data"),  # type: ignore[arg-type]
    (lambda: 1 / 0, "python.zero_division_error", "data"),
    (lambda: b"\xff".decode(), "python.unicode_decode_error", "data"),
    (lambda: "x".encode("no-such-encoding"), "python.lookup_error", "data"),
    (lambda: struct.unpack("i", b""), "python.struct.error", "data"),
    (lambda: binascii.unhexlify("x"), "python.binascii.error", "data"),
    (lambda: decimal.Decimal("x"), "python.decimal.invalid_operation", "data"),
    (lambda: list(csv.reader(['"a" b'], strict=True)), "python.csv.error", "data"),
    (lambda: tomllib.loads("x"), "python.tomllib.toml_decode_error", "data"),
    (lambda: yaml.safe_load("a: [1"), "python.yaml.parser_error", "data"),
    (lambda: Order(amount="many"), "python.pydantic_core.validation_error", "data"),  # type: ignore[arg-type]
    (lambda: zoneinfo.ZoneInfo("No/Where"), "python.key_error", "data"),
    (lambda: None.upper(), "python.attribute_error", "permanent"),  # type: ignore[attr-defined]
    (lambda: undefined, "python.name_error", "permanent"),  # type: ignore[name-defined]  # noqa: F821
    (lambda: importlib.import_module("no_such_module"), "python.module_not_found_error", "permanent"),
    (lambda: compile("1 +", "x", "eval"), "python.syntax_error", "permanent"),
    (recurse, "python.recursion_error", "permanent"),
    (lambda: re.compile("("), "python.re.error", "permanent"),
    (lambda: configparser.ConfigParser().read_string("x"), "python.configparser.error", "permanent"),
    (lambda: io.StringIO().fileno(), "python.io.unsupported_operation", "permanent"),
    (
        lambda: jinja2.Template("{{ x.y }}", undefined=jinja2.StrictUndefined).render(),
        "python.jinja2.undefined_error",
        "permanent",
    ),
    (lambda: jinja2.Environment().get_template("x"), "python.type_error", "data"),
    (
        lambda: jinja2.Environment(loader=jinja2.DictLoader({})).get_template("x"),
        "python.jinja2.template_not_found",
        "permanent",
    ),
    (lambda: jinja2.Template("{% for %}"), "python.jinja2.template_syntax_error", "permanent"),
    (lambda: asyncio.run(asyncio.sleep(0)) or asyncio.get_running_loop(), "python.event_loop", "permanent"),
]


@pytest.mark.parametrize(("cause", "code", "category"), RAISED, ids=[code for _, code, _ in RAISED])
def test_faults_of_code_and_data_are_final(cause: Cause, code: str, category: str) -> None:
    signal = conclusion(alive(raised_by(cause)))
    assert signal is not None
    assert (signal.code, signal.category, signal.retry, signal.rank) == (code, category, Retry.NO, Rank.CLASS)


@pytest.mark.parametrize(
    "cause", [lambda: {}["x"], lambda: int("x"), lambda: None.x, lambda: importlib.import_module("no_such_module")]
)
def test_a_log_is_enough_for_a_built_in(cause: Cause) -> None:
    error = raised_by(cause)
    assert conclusion_code(logged(error)) == conclusion_code(alive(error))


def test_memory_and_races_may_be_tried_again() -> None:
    memory = conclusion(alive(raised_by(lambda: bytearray(1 << 62))))
    race = conclusion(alive(raised_by(grow_while_looping)))
    assert memory is not None
    assert race is not None
    assert (memory.code, memory.category, memory.max_attempts) == ("python.memory_error", "transient", 3)
    assert (race.code, race.category, race.max_attempts) == ("python.changed_in_loop", "transient", 2)


@pytest.mark.parametrize(
    "error", [Exception("x"), RuntimeError("x"), OSError("x"), BaseException("x"), StopIteration(), Warning("x")]
)
def test_a_class_for_everything_says_nothing(error: BaseException) -> None:
    assert codes(alive(error), "python", "os") == []


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), asyncio.CancelledError(), concurrent.futures.CancelledError(), GeneratorExit()]
)
def test_a_wish_to_stop_is_a_hint(error: BaseException) -> None:
    assert conclusion(alive(error)) is None
    assert len(codes(alive(error), "(python", "python")) == 1


# Derived classes


class BadRow(ValueError):
    pass


class LoginFailed(ConnectionError):
    pass


class AuthError(ConnectionError):
    pass


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (BadRow("row 7"), "(python.value_error)"),
        (type("Missing", (KeyError,), {})("x"), "(python.key_error)"),
        (type("NotYet", (FileNotFoundError,), {})("x"), "(python.file_not_found_error)"),
        (type("Broken", (ConnectionError,), {})("x"), "python.connection_error"),
        (LoginFailed("x"), "(python.connection_error)"),
        (AuthError("x"), "(python.connection_error)"),
        (type("Slow", (TimeoutError,), {})("x"), "python.timeout_error"),
    ],
)
def test_a_derived_class_says_less_unless_it_asks_for_a_retry(error: BaseException, found: str) -> None:
    assert codes(alive(error), "python") == [found]


def test_a_subclass_of_the_library_itself_says_as_much_as_its_base() -> None:
    class CustomRedis(redis.exceptions.AuthenticationError):
        __module__ = "redis.exceptions"

    assert codes(alive(CustomRedis("no")), "python") == ["python.redis.authentication_error"]


# What people raise by hand


@pytest.mark.parametrize(
    "message",
    [
        "Request failed: HTTP 503",
        "got status code: 502 from the API",
        "expected 200, got response 500",
        "connection was reset by peer",
        "could not reach the warehouse",
        "Service temporarily unavailable",
        "timed out waiting for the file",
        "rate limit reached",
        "please try again later",
    ],
)
@pytest.mark.parametrize("cls", [ValueError, AssertionError])
def test_words_about_the_outside_world_take_the_certainty_from_a_class(cls: type[Exception], message: str) -> None:
    (found,) = codes(alive(cls(message)), "python")
    assert found.startswith("(")


@pytest.mark.parametrize(
    "message",
    [
        "amount must be positive",
        "invalid literal for int() with base 10: '503'",
        "time data '2026' does not match format '%d'",
        "expected 500 rows, got 432",
        "column connection_timeout is missing",
        "HTTP 404 for /orders",
    ],
)
@pytest.mark.parametrize("cls", [ValueError, AssertionError])
def test_words_about_the_data_leave_it_certain(cls: type[Exception], message: str) -> None:
    (found,) = codes(alive(cls(message)), "python")
    assert not found.startswith("(")


@pytest.mark.parametrize(
    "error",
    [KeyError("connection reset"), AttributeError("'X' object has no attribute 'timed out'"), NameError("timeout")],
)
def test_names_in_messages_of_the_interpreter_are_no_words(error: Exception) -> None:
    (found,) = codes(alive(error), "python")
    assert not found.startswith("(")


# Timeouts


def test_a_sockets_timeout_is_the_network() -> None:
    left, right = socket.socketpair()
    with left, right:
        left.settimeout(0.01)
        error = raised_by(lambda: left.recv(1))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == ("python.timed_out", "network", Retry.YES)


@pytest.mark.parametrize(
    "wait",
    [
        lambda: asyncio.run(asyncio.wait_for(asyncio.sleep(60), 0.01)),
        lambda: concurrent.futures.Future[None]().result(0.01),
    ],
)
def test_a_wait_of_the_codes_own_may_be_tried_four_times(wait: Cause) -> None:
    signal = conclusion(alive(raised_by(wait)))
    assert signal is not None
    assert (signal.code, signal.category, signal.max_attempts) == ("python.timeout_error", "network", 4)


def test_timeouts_that_are_limits_of_the_task_itself_are_no_network() -> None:
    with multiprocessing.pool.ThreadPool(1) as pool:
        waiting = raised_by(lambda: pool.apply_async(threading.Event().wait, (5,)).get(0.01))
    engine = sqlalchemy.create_engine(
        "sqlite://", poolclass=sqlalchemy.pool.QueuePool, pool_size=1, max_overflow=0, pool_timeout=0.01
    )
    with engine.connect():
        exhausted = raised_by(engine.connect)
    engine.dispose()
    for error, code, category in (
        (waiting, "python.multiprocessing.timeout_error", "permanent"),
        (exhausted, "python.sqlalchemy.timeout_error", "transient"),
    ):
        assert not isinstance(error, TimeoutError)
        signal = conclusion(alive(error))
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (code, category, Retry.DEPENDS)


# Clients


@pytest.mark.parametrize(
    ("error", "category", "retry"),
    [
        (redis.exceptions.AuthenticationError("WRONGPASS"), "auth", Retry.NO),
        (redis.exceptions.MaxConnectionsError("Too many connections"), "rate_limit", Retry.YES),
        (redis.exceptions.BusyLoadingError("loading"), "transient", Retry.YES),
        (redis.exceptions.ReadOnlyError("You can't write"), "transient", Retry.DEPENDS),
        (redis.exceptions.ConnectionError("Connection closed by server."), "network", Retry.YES),
        (redis.exceptions.TimeoutError("Timeout reading from socket"), "network", Retry.YES),
        (paramiko.AuthenticationException("Authentication failed."), "auth", Retry.NO),
        (paramiko.ssh_exception.IncompatiblePeer("no acceptable ciphers"), "permanent", Retry.NO),
        (paramiko.ChannelException(4, "Resource shortage"), "network", Retry.YES),
        (pymongo.errors.NotPrimaryError("not primary"), "transient", Retry.YES),
        (pymongo.errors.DuplicateKeyError("E11000"), "data", Retry.NO),
        (pymongo.errors.ConfigurationError("no such option"), "permanent", Retry.NO),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_librarys_base_class_would_get_wrong_is_settled(
    error: BaseException, category: str, retry: Retry
) -> None:
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.category, signal.retry) == (category, retry)


def test_a_tls_wrapper_without_a_reason_is_a_hint() -> None:
    assert conclusion(alive(requests.exceptions.SSLError("something"))) is None


def test_a_status_says_more_than_a_class() -> None:
    response = requests.Response()
    response.status_code = 404

    class NotThere(requests.HTTPError, KeyError):
        pass

    assert codes(alive(NotThere("x", response=response)), "python") == []


@pytest.mark.parametrize(
    ("type_path", "code"),
    [
        ("socket.timeout", "python.socket.timeout"),
        ("asyncio.exceptions.TimeoutError", "python.asyncio.timeout_error"),
        ("concurrent.futures._base.TimeoutError", "python.concurrent.timeout_error"),
        ("kafka.errors.NoBrokersAvailable", "python.kafka.no_brokers_available"),
        ("pandas.errors.EmptyDataError", "python.pandas.empty_data_error"),
        ("botocore.exceptions.EndpointConnectionError", "python.botocore.endpoint_connection_error"),
        ("KeyError", "python.key_error"),
    ],
)
def test_a_class_is_known_by_its_name_in_a_log(type_path: str, code: str) -> None:
    assert codes(printed(type_path, "x"), "python") == [code]


def test_a_class_of_the_same_name_in_another_library_is_another_class() -> None:
    assert codes(printed("mylib.errors.ConnectionError", "x"), "python") == ["python.name_connection"]
    assert codes(printed("mylib.errors.KeyError", "x"), "python") == []


# The tables

INSTALLED = """
    _csv _lzma _pickle aiohttp aiosmtplib anyio asyncio asyncssh binascii botocore.exceptions
    concurrent.futures.process concurrent.futures.thread configparser decimal dns.resolver elastic_transport
    google.auth.exceptions google.protobuf.json_format gzip h11 http.client io jinja2 jsonschema msgspec
    multiprocessing paramiko pydantic_core pymongo.errors redis.exceptions requests.exceptions shutil smtplib socket
    sqlalchemy.exc ssl struct tarfile tomllib urllib.error urllib3.exceptions websockets.exceptions
    xml.etree.ElementTree xml.parsers.expat yaml zipfile zlib
""".split()
TABLES = (builtin_classes.SIGNALS, data_classes.SIGNALS, client_classes.SIGNALS, damaged_files.SIGNALS)
ALL_CLASSES = {kind: signal for table in TABLES for kind, signal in table.items()}
# Names of other versions, and other names of the same class: logs print them all the same.
ALIASES = {
    "asyncio.TimeoutError",
    "concurrent.CancelledError",
    "concurrent.TimeoutError",
    "google.DataCorruption",
    "re.PatternError",
    "socket.timeout",
    "ssl.CertificateError",
    "zipfile.BadZipfile",
}


def loaded_kinds(roots: set[str]) -> set[str]:
    """Every exception class that a module of these packages holds, by where the class says that it lives."""
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] in roots]
    found = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    return {kind_of(f"{cls.__module__}.{cls.__qualname__}") for cls in found if issubclass(cls, BaseException)}


def test_every_class_in_the_tables_exists_where_its_library_is_installed() -> None:
    for module in INSTALLED:
        importlib.import_module(module)
    roots = {module.partition(".")[0] for module in INSTALLED}
    named = {kind for kind in ALL_CLASSES if kind.partition(".")[0] in roots}
    assert len(named) > 100
    assert named - loaded_kinds(roots) - ALIASES == set()


def test_every_built_in_in_the_tables_exists() -> None:
    assert [kind for kind in ALL_CLASSES if "." not in kind and not hasattr(builtins, kind)] == []


def test_no_class_stands_in_two_tables() -> None:
    assert sum(map(len, TABLES)) == len(ALL_CLASSES)
    assert len({signal.code for signal in ALL_CLASSES.values()}) >= len(ALL_CLASSES) - 4
