"""MySQL's error numbers, raised by PyMySQL: a server of ours answers with any of them."""

# ruff: noqa: E501 - messages stand as MySQL writes them

from __future__ import annotations

from collections.abc import Callable

import pymysql
import pytest
import sqlalchemy
from failure_reading import alive, conclusion, conclusion_code, logged, printed
from loopback import sockets
from loopback.database_servers import mysql_denies, mysql_refuses

from airflow_common_ai.evidence.model import Rank, RedactedEvidence, Retry, Signal, Wait
from airflow_common_ai.evidence.protocols.sql.mysql_codes import TABLE

# Numbers of one kind, category, whether to retry.
MEANINGS = (
    ("1213 1205 1412 3572 1614 1613 1615 1192 1689 3058 3101 3132 3133 1053 1077 1078 1079 1080 3168 1037 1041 1135", "transient", Retry.YES),
    ("8022 8027 8028 9001 9002 9003 9004 9005 9007", "transient", Retry.YES),
    ("1290 1836 1792 1207 2014 1021 1026 1114 1038 1206 1461 1030 1180 1297", "transient", Retry.DEPENDS),
    ("2001 2002 2003 2004 2006 2012 2013 2027 2055 1042 1043 1152 1158 1159 1160 1161 1184 1189 1190 1927 4031", "network", Retry.YES),
    ("2005 2026", "network", Retry.DEPENDS),
    ("1040 1203 1637", "rate_limit", Retry.YES),
    ("1226", "rate_limit", Retry.DEPENDS),
    ("3024 1317 1968 1969", "permanent", Retry.DEPENDS),
    ("1129 1046 1052 1055 1056 1058 1059 1063 1064 1065 1066 1067 1068 1069 1070 1071 1074 1075 1093 1101 1103 1104 1110", "permanent", Retry.NO),
    ("1111 1113 1115 1117 1118 1140 1149 1166 1170 1171 1193 1210 1215 1222 1231 1235 1241 1248 1267 1273 1286 1298", "permanent", Retry.NO),
    ("1318 1415 1418 1709 1822 1845 1846 3948 1197", "permanent", Retry.NO),
    ("1044 1045 1130 1142 1143 1211 1227 1251 1370 1419 1698 1820 1862 2049 2059 2061 3118 3159", "auth", Retry.NO),
    ("3955", "auth", Retry.DEPENDS),
    ("1008 1049 1051 1054 1072 1091 1109 1146 1176 1305 1449 1824", "resource", Retry.NO),
    ("1007 1050 1060 1061 1304 1826 1022 1062 1169 1586 1048 1216 1217 1364 1451 1452 1526 1557 1748 1761 1859 3819", "data", Retry.NO),
    ("1263 4025 1136 1153 1242 1261 1262 1264 1265 1292 1300 1365 1366 1367 1406 1411 1416 1690 2020 3140 3141 3143", "data", Retry.NO),
    ("1194 1195 1034 1035 1644", "data", Retry.NO),
)  # fmt: skip
EACH_MEANING = [(int(number), category, retry) for numbers, category, retry in MEANINGS for number in numbers.split()]


def connect(port: int) -> object:
    return pymysql.connect(host="127.0.0.1", port=port, user="etl", password="x", connect_timeout=10, ssl_disabled=True)


def refused(number: int, message: str = "some words") -> Exception:
    """What PyMySQL raises when it is answered with this error."""
    with sockets.serve(mysql_refuses(number, message)) as port, pytest.raises(pymysql.err.Error) as caught:
        connect(port)
    return caught.value


def denied(number: int, state: str, message: str) -> Exception:
    """What SQLAlchemy makes of it."""
    with (
        sockets.serve(mysql_denies(number, state, message)) as port,
        pytest.raises(sqlalchemy.exc.DBAPIError) as caught,
    ):
        sqlalchemy.create_engine(f"mysql+pymysql://etl:x@127.0.0.1:{port}/shop").connect()
    return caught.value


def concluded(evidence: RedactedEvidence) -> Signal:
    signal = conclusion(evidence)
    assert signal is not None
    return signal


@pytest.mark.parametrize(("number", "category", "retry"), EACH_MEANING)
def test_a_number_means_the_same_raised_and_logged(number: int, category: str, retry: Retry) -> None:
    error = refused(number)
    for evidence in (alive(error), logged(error)):
        signal = concluded(evidence)
        assert (signal.code, signal.category, signal.retry) == (f"mysql.{number}", category, retry)
        assert signal.rank is Rank.VENDOR_CODE


def test_every_row_of_the_table_is_expected_above() -> None:
    assert set(TABLE.codes) - {str(number) for number, _, _ in EACH_MEANING} == {"0"}  # the closed connection below


@pytest.mark.parametrize("seen", [alive, logged])
@pytest.mark.parametrize(
    ("number", "state"),
    [(1213, "40001"), (1205, "HY000"), (1062, "23000"), (1045, "28000"), (1040, "08004"), (1146, "42S02")],
)
def test_sqlalchemy_around_the_driver_changes_nothing(
    number: int, state: str, seen: Callable[..., RedactedEvidence]
) -> None:
    assert conclusion_code(seen(denied(number, state, "some words"))) == f"mysql.{number}"


@pytest.mark.parametrize(
    ("number", "message", "category", "retry"),
    [
        (
            1290,
            "The MySQL server is running with the --read-only option so it cannot execute this statement",
            "transient",
            Retry.DEPENDS,
        ),
        (
            1290,
            "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement",
            "permanent",
            Retry.NO,
        ),
        (1047, "WSREP has not yet prepared node for application use", "transient", Retry.YES),
        (2013, "Lost connection to MySQL server during query (timed out)", "network", Retry.DEPENDS),
        (2026, "SSL connection error: certificate verify failed", "permanent", Retry.NO),
        (1030, 'Got error 28 "No space left on device" from storage engine InnoDB', "transient", Retry.DEPENDS),
        (1180, 'Got error 149 "Lock deadlock; Retry transaction" during COMMIT', "transient", Retry.YES),
    ],
)
def test_the_words_tell_where_a_number_means_several_things(
    number: int, message: str, category: str, retry: Retry
) -> None:
    for seen in (alive, logged):
        signal = concluded(seen(refused(number, message)))
        assert (signal.code, signal.category, signal.retry) == (f"mysql.{number}", category, retry)


def test_a_full_disk_of_the_server_waits_long() -> None:
    assert concluded(alive(refused(1030, "Got error 28 from storage engine"))).wait is Wait.LONG


def test_what_the_database_s_own_code_signals_is_not_failed_if_it_says_that_it_will_pass() -> None:
    signal = conclusion(alive(refused(1644, "the queue is locked, retry later")))
    assert signal is None or signal.retry is not Retry.NO


def test_a_closed_connection_is_a_lost_one() -> None:
    closed = pymysql.connect(host="127.0.0.1", defer_connect=True)
    with pytest.raises(pymysql.err.InterfaceError) as caught:
        closed.ping(reconnect=False) if closed.open else closed.query("SELECT 1")
    assert caught.value.args == (0, "")
    assert concluded(alive(caught.value)).code == "mysql.0"


@pytest.mark.parametrize("seen", [alive, logged])
def test_nobody_listening_is_a_network_failure(seen: Callable[..., RedactedEvidence]) -> None:
    with sockets.refused_port() as port, pytest.raises(pymysql.err.OperationalError) as caught:
        connect(port)
    signal = concluded(seen(caught.value))
    assert (signal.category, signal.retry) == ("network", Retry.YES)


def test_the_class_settles_nothing_where_the_number_is_unknown() -> None:
    error = refused(9999)
    assert type(error) is pymysql.err.OperationalError
    assert conclusion(alive(error)) is None


@pytest.mark.parametrize(
    ("type_path", "message", "code"),
    [
        ("MySQLdb.OperationalError", "(1205, 'Lock wait timeout exceeded; try restarting transaction')", "mysql.1205"),
        ("mysql.connector.errors.InternalError", "1213 (40001): Deadlock found when trying to get lock", "mysql.1213"),
        (
            "mysql.connector.errors.InterfaceError",
            "2003: Can't connect to MySQL server on 'db:3306' (Errno 111: Connection refused)",
            "mysql.2003",
        ),
        ("mysql.connector.errors.OperationalError", "MySQL Connection not available", "sql.connection_lost"),
        ("asyncmy.errors.OperationalError", '(1045, "Access denied for user")', "mysql.1045"),
    ],
)
def test_a_line_of_a_log_tells_the_number(type_path: str, message: str, code: str) -> None:
    assert conclusion_code(printed(type_path, message)) == code


class StandInForMySqlConnector(Exception):
    """Keeps its code as mysql.connector 26.10 and mariadb do; its module is set below."""

    def __init__(self, errno: object, sqlstate: str | None = None) -> None:
        super().__init__(errno, "some words", sqlstate)
        self.errno = errno
        self.sqlstate = sqlstate


StandInForMySqlConnector.__module__ = "mysql.connector.errors"


@pytest.mark.parametrize(
    ("errno", "sqlstate", "code"),
    [
        (1213, "40001", "mysql.1213"),
        (-1, None, None),
        ("1213", None, None),
        (True, None, None),
        (7777, "23000", "sql.23000"),
    ],
)
def test_a_number_is_taken_only_if_it_is_one(errno: object, sqlstate: str | None, code: str | None) -> None:
    assert conclusion_code(alive(StandInForMySqlConnector(errno, sqlstate))) == code
