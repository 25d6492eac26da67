"""MySQL's and MariaDB's error numbers, those of the client included.

The class says nothing here: PyMySQL makes an ``OperationalError`` of every number that it has no class for.
"""

from __future__ import annotations

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes
from airflow_common_ai.evidence.protocols.sql.code_table import Row, WordsRow, code_table
from airflow_common_ai.evidence.protocols.sql.raised_in_sql import LATER_WORDS, RAISED, RAISED_FOR_NOW

__all__ = ["TABLE"]

_NOW, _SHORT, _MEDIUM, _LONG, _RESET = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG, Wait.RESET

_MYSQL = "MySQL 8.4 error reference; PyMySQL 1.2.4"
_MARIADB = "MariaDB 10.11 error codes"
_CLIENT = "MySQL 8.4 client error reference; PyMySQL 1.2.4"
_TIDB = "TiDB error codes"

_LOCK = "a lock or a deadlock was in the way"
_RACE = "another transaction was faster; the whole transaction has to be run again"
_GONE = "the connection to the database was lost or could not be made"
_CONNECTIONS = "too many connections"
_TIME_LIMIT = "a configured time limit was hit, or somebody killed the query"
_READ_ONLY = "the server is read-only, perhaps a replica after a failover"
_LOGIN = "the login was refused"
_PERMISSION = "a permission is missing"
_MISSING = "a database object does not exist"
_EXISTS = "it already exists; an earlier attempt may have made it"
_CONSTRAINT = "the data breaks a rule of the schema"
_TYPE = "the data does not fit its column"
_STATEMENT = "the statement itself is wrong"
_FULL = "the server's disk or a table is full"
_MEMORY = "the server is short of memory or threads"

_ROWS: tuple[Row, ...] = (
    ("1213 1412 1613 1614 1615 3058 3101 3132", yes("transient", _NOW, _RACE, _MYSQL)),
    ("1205 1192 1689 3133 3572", yes("transient", _SHORT, _LOCK, _MYSQL)),
    ("8022 8027 8028 9007", yes("transient", _NOW, _RACE, _TIDB)),
    ("9001 9002 9003 9004 9005", yes("transient", _SHORT, "a part of the cluster did not answer", _TIDB)),
    (
        "0 2001 2002 2003 2004 2006 2012 2013 2027 2055 1042 1043 1152 1158 1159 1160 1161 1184 1189 1190 4031",
        yes("network", _SHORT, _GONE, _CLIENT),
    ),
    ("1927", yes("network", _SHORT, _GONE, _MARIADB)),
    ("2005", depends("network", _MEDIUM, "the host name of the database is not known", _CLIENT, 3)),
    ("2026", depends("network", _SHORT, "TLS with the database failed", _CLIENT, 3)),
    ("2014", depends("transient", _SHORT, "the connection was out of step", _CLIENT)),
    ("1053 1077 1078 1079 1080 3168", yes("transient", _MEDIUM, "the server is shutting down or starting", _MYSQL)),
    ("1290 1836", depends("transient", _MEDIUM, _READ_ONLY, _MYSQL, 3)),
    ("1792 1207", depends("transient", _SHORT, "the transaction is read-only", _MYSQL)),
    ("1040 1203 1637", yes("rate_limit", _MEDIUM, _CONNECTIONS, _MYSQL)),
    ("1226", depends("rate_limit", _RESET, "the account's hourly allowance is used up", _MYSQL)),
    ("1129", no("permanent", "the server has blocked this host; an administrator must run FLUSH HOSTS", _MYSQL)),
    ("1021 1026 1114", depends("transient", _LONG, _FULL, _MYSQL)),
    ("1037 1041 1135", yes("transient", _MEDIUM, _MEMORY, _MYSQL)),
    ("1038 1206 1461", depends("transient", _MEDIUM, _MEMORY, _MYSQL)),
    ("1197", no("permanent", "the transaction is larger than the server allows", _MYSQL)),
    ("1030 1180 1297", depends("transient", _SHORT, "the storage engine failed", _MYSQL, 3)),
    ("3024 1317", depends("permanent", _SHORT, _TIME_LIMIT, _MYSQL)),
    ("1968 1969", depends("permanent", _SHORT, _TIME_LIMIT, _MARIADB)),
    (
        "1045 1130 1251 1698 1820 1862 2049 2059 2061 3118 3159",
        no("auth", _LOGIN, _MYSQL),
    ),
    ("3955", depends("auth", _LONG, "the account is locked for a while after wrong passwords", _MYSQL)),
    ("1044 1142 1143 1211 1227 1370 1419", no("auth", _PERMISSION, _MYSQL)),
    ("1008 1049 1051 1054 1072 1091 1109 1146 1176 1305 1449 1824", no("resource", _MISSING, _MYSQL)),
    ("1007 1050 1060 1061 1304 1826", no("data", _EXISTS, _MYSQL)),
    ("1022 1062 1169 1586", no("data", "the row is already there; an earlier attempt may have written it", _MYSQL)),
    (
        "1048 1216 1217 1364 1451 1452 1526 1557 1748 1761 1859 3819 1263",
        no("data", _CONSTRAINT, _MYSQL),
    ),
    ("4025", no("data", _CONSTRAINT, _MARIADB)),
    (
        "1136 1153 1242 1261 1262 1264 1265 1292 1300 1365 1366 1367 1406 1411 1416 1690 2020 3140 3141 3143",
        no("data", _TYPE, _MYSQL),
    ),
    (
        "1046 1052 1055 1056 1058 1059 1063 1064 1065 1066 1067 1068 1069 1070 1071 1074 1075 1093 1101 1103 1104 1110"
        " 1111 1113 1115 1117 1118 1140 1149 1166 1170 1171 1193 1210 1215 1222 1231 1235 1241 1248 1267 1273 1286 1298"
        " 1318 1415 1418 1709 1822 1845 1846 3948",
        no("permanent", _STATEMENT, _MYSQL),
    ),
    ("1194 1195 1034 1035", no("data", "a table's file is damaged", _MYSQL)),
    ("1644", RAISED),
)

_WORDS: tuple[WordsRow, ...] = (
    (
        "1290",
        "secure-file-priv|skip-grant|skip-networking|local-infile",
        no("permanent", "a server option forbids it", _MYSQL),
    ),
    ("1047", "WSREP", yes("transient", _MEDIUM, "the Galera node is not ready", _MARIADB)),
    (
        "2013",
        r"\btimed out",
        depends("network", _SHORT, "the database did not answer within the client's own limit", _CLIENT, 3),
    ),
    (
        "2026",
        "certificate verify failed|hostname mismatch",
        no("permanent", "the server's certificate is not trusted", _CLIENT),
    ),
    ("1030", "error 28|No space left", depends("transient", _LONG, _FULL, _MYSQL)),
    ("1180", "Galera|WSREP|deadlock|conflict", yes("transient", _NOW, _RACE, _MARIADB)),
    ("1644", LATER_WORDS, RAISED_FOR_NOW),
)

TABLE = code_table("mysql", _ROWS, _WORDS)
