"""The codes of databases whose drivers are not here: stand-ins that keep them as the drivers do."""

# ruff: noqa: E501 - messages stand as the databases write them

from __future__ import annotations

import pytest
import sqlalchemy
from driver_stand_ins import (
    clickhouse_error,
    duckdb_error,
    odbc_error,
    oracle_error,
    snowflake,
    snowflake_error,
    sql_server_error,
    trino_error,
)
from failure_reading import alive, conclusion, conclusion_code, logged

from airflow_common_ai.evidence.model import Rank, Retry
from airflow_common_ai.evidence.protocols.sql import (
    clickhouse_codes,
    duckdb_classes,
    oracle_codes,
    snowflake_codes,
    sql_server_codes,
    trino_codes,
)

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS
Meanings = tuple[tuple[str, str, Retry], ...]


def each(meanings: Meanings) -> list[tuple[str, str, Retry]]:
    return [(code, category, retry) for codes, category, retry in meanings for code in codes.split()]


def assert_concluded(error: Exception, code: str, category: str, retry: Retry) -> None:
    """The error, its log, and SQLAlchemy around it all come to the same."""
    wrapped = sqlalchemy.exc.DBAPIError("SELECT :x", {"x": 1}, error)
    wrapped.__cause__ = error
    for evidence in (alive(error), logged(error), alive(wrapped), logged(wrapped)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (code, category, retry)
        assert signal.rank is Rank.VENDOR_CODE


ORACLE: Meanings = (
    ("00060 08177 00054 30006 04020 04021 04061 04068 14403", "transient", YES),
    ("00022 00028 00031 00045 00378 00602 00603 00609 01012 01041 01043 01089 01092 02396 03113 03114 03122 03135", "network", YES),
    ("12153 12537 12547 12570 12583 27146 28511 56600 12170 12535 12541 12545 12560 12571", "network", YES),
    ("02399 03111 12203 12500 12543 12564 12606 25408", "network", YES),
    ("00376 01033 01034 01090 01115 12514 12757 16456 01109 12526 12527 12528", "transient", YES),
    ("00600 07445 16000 01555 30036 04030 04031 01652", "transient", DEPENDS),
    ("00018 00020 12516 12518 12519 12520 24457 24459 24496 02391", "rate_limit", YES),
    ("01653 01654 01536 19815 01013 02393 02395", "permanent", DEPENDS),
    ("01005 01017 28000 28001 01031 01045 28009 41900", "auth", NO),
    ("00942 00904 04043 12154 12505 01435 01918 02289 06564", "resource", NO),
    ("00900 00902 00903 00905 00907 00909 00911 00913 00917 00918 00920 00921 00922 00923 00926 00928 00932", "permanent", NO),
    ("00933 00934 00936 00937 00947 00972 00979 01008 01036 01756 01785 06550 28860 29024", "permanent", NO),
    ("00001 01400 01438 02290 02291 02292 21525 40479 01722 01830 01843 01858 01861 12899 01476 00955", "data", NO),
    ("00957 01403 01407 01408 01422 01426 01427 01430 01839 01840 01841 01847 06502 14400 38104 40441 20001 20999", "data", NO),
)  # fmt: skip
ORACLE_DRIVER: Meanings = (
    ("DPY-1001 DPY-4011 DPY-4033 DPY-5006 DPY-6000 DPY-6004 DPY-6005 DPI-1010 DPI-1080", "network", YES),
    ("DPY-6001", "transient", YES),
    ("DPY-4005 DPY-5003", "transient", DEPENDS),
    ("DPY-6007", "network", DEPENDS),
    ("DPY-4024 DPI-1067 DPY-1003", "permanent", DEPENDS),
    ("DPY-2033", "auth", DEPENDS),
    ("DPY-4001", "auth", NO),
    ("DPY-4000 DPY-4018 DPY-4026 DPY-4027 DPY-6003", "resource", NO),
    ("DPY-6002 DPY-6008 DPI-1047 DPY-2014 DPY-3010", "permanent", NO),
    ("DPY-4007 DPY-8000", "data", NO),
)


class TestOracle:
    @pytest.mark.parametrize(("number", "category", "retry"), each(ORACLE))
    def test_the_server_s_codes(self, number: str, category: str, retry: Retry) -> None:
        code = f"ORA-{number}"
        assert_concluded(oracle_error(code, f"{code}: some words", int(number)), f"oracle.{code}", category, retry)

    @pytest.mark.parametrize(("code", "category", "retry"), each(ORACLE_DRIVER))
    def test_the_driver_s_codes(self, code: str, category: str, retry: Retry) -> None:
        assert_concluded(oracle_error(code, f"{code}: some words"), f"oracle.{code}", category, retry)

    def test_every_row_is_expected_above(self) -> None:
        assert set(oracle_codes.TABLE.codes) <= {f"ORA-{number}" for number, _, _ in each(ORACLE)} | {
            code for code, _, _ in each(ORACLE_DRIVER)
        }

    def test_an_internal_error_is_tried_once_more_though_the_driver_calls_it_a_lost_connection(self) -> None:
        message = (
            "DPY-4011: the database or network closed the connection\nORA-00600: internal error code, arguments: [x]"
        )
        assert_concluded(
            oracle_error("DPY-4011", message, 600, recoverable=True), "oracle.ORA-00600", "transient", DEPENDS
        )

    def test_a_code_that_only_says_where_gives_way_to_the_reason_behind_it(self) -> None:
        message = "ORA-00604: error occurred at recursive SQL level 1\nORA-04031: unable to allocate 4096 bytes"
        assert_concluded(oracle_error("ORA-00604", message, 604), "oracle.ORA-04031", "transient", DEPENDS)
        message = "ORA-12801: error signaled in parallel query server P001\nORA-01722: invalid number"
        assert_concluded(oracle_error("ORA-12801", message, 12801), "oracle.ORA-01722", "data", NO)

    def test_what_the_driver_calls_recoverable_is_retried_if_nothing_else_is_known(self) -> None:
        signal = conclusion(alive(oracle_error("ORA-54321", "ORA-54321: new", 54321, recoverable=True)))
        assert signal is not None
        assert (signal.code, signal.retry, signal.rank) == ("oracle.ORA-54321", YES, Rank.VERDICT)
        assert conclusion(alive(oracle_error("ORA-54321", "ORA-54321: new", 54321))) is None

    def test_an_application_error_is_not_failed_if_it_says_that_it_will_pass(self) -> None:
        signal = conclusion(alive(oracle_error("ORA-20001", "ORA-20001: feed not ready, try again later", 20001)))
        assert signal is None or signal.retry is not NO


SQL_SERVER: Meanings = (
    ("1205 1222 41301 41302 41305 41325 41839 3960 3961 1203 1204 1807 5061 13535 701 802 8628 8645 8651", "transient", YES),
    ("921 922 927 952 976 983 6005", "transient", YES),
    ("924 942 945 978 18461 3906 9002 1105 1101", "transient", DEPENDS),
    ("40501 10928 10929 49918 49919 49920", "rate_limit", YES),
    ("40197 40143 40540 40613 4221 42109 233 997 64 20 121 53 10053 10054 10060 258 11001 596 1219", "network", YES),
    ("20003 20004 20006 20017 20047", "network", YES),
    ("20002 20009", "network", DEPENDS),
    ("4060", "auth", DEPENDS),
    ("18456 229 230 916 15247 18470 40615 18450 18452 18486 18487 18488 4064 40532 40607 40914 262 297 300", "auth", NO),
    ("-2 40544 40549 40550 40551 40552 40553 8623", "permanent", DEPENDS),
    ("102 156 105 109 110 119 137 170 174 201 209 266 319 334 530 544 1934 3902 3903 4104 4145", "permanent", NO),
    ("8101 8120 8144 8145 8156", "permanent", NO),
    ("208 207 2812 911 3701 4902 15151", "resource", NO),
    ("2627 2601 547 515 8152 2628 245 8114 220 241 2714 1779 1801 1913 2705 206 213 232 242 248 257 295 296 512", "data", NO),
    ("8115 8134 4815 4832 4863 4864 4866 50000", "data", NO),
)  # fmt: skip


class TestSqlServer:
    @pytest.mark.parametrize(("number", "category", "retry"), each(SQL_SERVER))
    def test_its_numbers(self, number: str, category: str, retry: Retry) -> None:
        assert_concluded(sql_server_error(int(number), "Some words."), f"mssql.{number}", category, retry)

    @pytest.mark.parametrize(("number", "category", "retry"), each(SQL_SERVER))
    def test_the_same_numbers_behind_odbc(self, number: str, category: str, retry: Retry) -> None:
        words = f"[Microsoft][ODBC Driver 18 for SQL Server][SQL Server]Some words. ({number}) (SQLExecDirectW)"
        assert_concluded(odbc_error("42000", words), f"mssql.{number}", category, retry)

    def test_every_row_is_expected_above(self) -> None:
        assert set(sql_server_codes.TABLE.codes) - {number for number, _, _ in each(SQL_SERVER)} == {
            "3928",
            "3930",
            "42108",
        }

    def test_an_echo_of_an_earlier_error_settles_nothing(self) -> None:
        assert conclusion(alive(sql_server_error(3930, "The current transaction cannot be committed."))) is None

    @pytest.mark.parametrize(
        ("number", "message", "category", "retry"),
        [
            (
                20,
                "The instance of SQL Server you attempted to connect to does not support encryption.",
                "permanent",
                NO,
            ),
            (20002, "Login failed for user 'etl'. Adaptive Server connection failed", "auth", NO),
        ],
    )
    def test_the_words_tell_where_a_number_means_several_things(
        self, number: int, message: str, category: str, retry: Retry
    ) -> None:
        assert_concluded(sql_server_error(number, message), f"mssql.{number}", category, retry)

    def test_an_error_of_the_application_is_not_failed_if_it_says_that_it_will_pass(self) -> None:
        signal = conclusion(alive(sql_server_error(50000, "The queue is busy, try again.")))
        assert signal is None or signal.retry is not NO


class TestOdbc:
    @pytest.mark.parametrize(
        ("state", "words", "code", "category", "retry"),
        [
            ("HYT00", "[Microsoft][ODBC Driver 17 for SQL Server]Login timeout expired (0) (SQLDriverConnect)", "sql.HYT00", "network", YES),
            ("HYT00", "[Microsoft][ODBC Driver 17 for SQL Server]Query timeout expired (0) (SQLExecDirectW)", "sql.HYT00", "permanent", DEPENDS),
            ("08001", "[Microsoft][ODBC Driver 18 for SQL Server]SSL Provider: [error:0A000086:SSL routines::certificate verify failed:self-signed certificate] (-1) (SQLDriverConnect)", "sql.08001", "permanent", NO),
            ("08001", 'connection to server at "127.0.0.1", port 5432 failed: FATAL:  password authentication failed for user "etl"\n (101) (SQLDriverConnect)', "sql.08001", "auth", NO),
            ("08001", 'connection to server at "127.0.0.1", port 5432 failed: FATAL:  database "shop" does not exist\n (101) (SQLDriverConnect)', "sql.08001", "resource", NO),
            ("08S01", "[Microsoft][ODBC Driver 17 for SQL Server]TCP Provider: Error code 0x68 (104) (SQLExecDirectW)", "sql.08S01", "network", YES),
            ("HY000", "[ma-3.1.15]Can't connect to server on '127.0.0.1' (115) (2002) (SQLDriverConnect)", "mysql.2002", "network", YES),
            ("23000", "[MySQL][ODBC 8.0(w) Driver][mysqld-8.0.36]Duplicate entry '1' for key 't.PRIMARY' (1062) (SQLExecDirectW)", "mysql.1062", "data", NO),
            ("HY000", "[Oracle][ODBC][Ora]ORA-00060: deadlock detected while waiting for resource (60) (SQLExecDirectW)", "oracle.ORA-00060", "transient", YES),
            ("22000", "[Snowflake][Snowflake] (4) SQL compilation error (90105) (SQLExecDirectW)", "snowflake.090105", "permanent", NO),
            ("01000", "[unixODBC][Driver Manager]Can't open lib 'nope' : file not found (0) (SQLDriverConnect)", "sql.01000", "permanent", NO),
            ("IM002", "[unixODBC][Driver Manager]Data source name not found and no default driver specified (0) (SQLDriverConnect)", "sql.IM002", "permanent", NO),
        ],
    )  # fmt: skip
    def test_the_database_s_number_counts_and_the_state_where_there_is_none(
        self, state: str, words: str, code: str, category: str, retry: Retry
    ) -> None:
        assert_concluded(odbc_error(state, words), code, category, retry)

    def test_a_state_that_drivers_put_on_everything_settles_nothing(self) -> None:
        words = "[Microsoft][ODBC Driver 17 for SQL Server][SQL Server]Who knows. (77777) (SQLExecDirectW)"
        assert conclusion(alive(odbc_error("42000", words))) is None


SNOWFLAKE: Meanings = (
    ("000625", "transient", YES),
    ("000603 300002 300010 370001 000006 000015", "transient", DEPENDS),
    ("250001 250002 250003 250005 250006 250011 251011 251012 251016 252006 252007 252010 253002 253003 253009", "network", DEPENDS),
    ("254001 254002 254003 254004 254006 254008 254009 254011 254012 254013 254014 254015 254016 254017", "network", DEPENDS),
    ("254018 254019 255005 540001 000004 000014 290408 290504", "network", DEPENDS),
    ("000604 000630 090073 000005", "permanent", DEPENDS),
    ("390110 390112 390113 390114 390115 390138 390195 390318 390400 390999 290401 290403", "auth", DEPENDS),
    ("390100 390101 390135 390136 390137 390139 390140 390144 390189 390191 390192 390201 390302 390303 390420 390422 394300 394304", "auth", NO),
    ("251005 251006 251008 251010 251013 251014 251015 251017 251018 251019 251020 003001", "auth", NO),
    ("000606 090105 090106 001003 000904 000979 001044 002140 000939 000002 000003 000007 000008 000012", "permanent", NO),
    ("250004 250007 250012 251001 251002 251003 251007 251009 252008 255002 255004 255006", "permanent", NO),
    ("253001 253004 253005 253007 253008 254005 254007 254010", "permanent", NO),
    ("002003 002043 253006", "resource", NO),
    ("002002 100072 100035 100038 100040 100046 100051 100069 100071 100078 100080", "data", NO),
    ("252004 252005 252011 252012 255001", "data", NO),
)  # fmt: skip
_STATUSES_THAT_ARE_YES = {"290408", "290504"}


class TestSnowflake:
    @pytest.mark.parametrize(("number", "category", "retry"), each(SNOWFLAKE))
    def test_its_numbers(self, number: str, category: str, retry: Retry) -> None:
        retry = YES if number in _STATUSES_THAT_ARE_YES else retry
        assert_concluded(snowflake_error(int(number), None, "Some words."), f"snowflake.{number}", category, retry)

    def test_every_row_is_expected_above(self) -> None:
        assert set(snowflake_codes.TABLE.codes) <= {number for number, _, _ in each(SNOWFLAKE)}

    @pytest.mark.parametrize(
        ("number", "state", "message", "category", "retry"),
        [
            (250001, "08001", "Failed to connect to DB: acct.snowflakecomputing.com:443. Incorrect username or password was specified.", "auth", NO),
            (250001, "08001", "Failed to connect to DB: acct.snowflakecomputing.com:443. JWT token is invalid.", "auth", NO),
            (250001, "08001", "Failed to connect to DB: acct.snowflakecomputing.com:443. Your user account has been temporarily locked. Try again later.", "auth", DEPENDS),
            (250001, "08001", "Failed to connect to DB: acct.snowflakecomputing.com:443. Incoming request with IP/Token 10.0.0.1 is not allowed to access Snowflake.", "auth", NO),
            (250001, None, "Could not connect to Snowflake backend after 2 attempt(s).Aborting", "network", DEPENDS),
            (250001, "08001", "Failed to login: Invalid Snowflake response. Snowflake responded with error status: 403 Forbidden", "permanent", NO),
            (250001, "08001", "Failed to login: Invalid Snowflake response. Snowflake responded with error status: 503 Service Unavailable", "network", DEPENDS),
            (540001, "08001", "Failed to connect to DB. Verify the account name is correct: acct:443. 290000: HTTP 404: Not Found", "permanent", NO),
            (290503, None, "HTTP 503: Service Unavailable", "transient", YES),
            (290429, None, "HTTP 429: Too Many Requests", "rate_limit", YES),
            (290404, None, "HTTP 404: Not Found", "resource", DEPENDS),
            (608, "57P03", "Warehouse 'ETL' cannot be resumed.", "permanent", DEPENDS),
            (1789, "42000", "SQL compilation error: missing column specification", "permanent", NO),
            (100357, "P0000", "Python Interpreter Error", None, None),
            (100183, "22018", "Cannot parse.", "data", NO),
            (1757, "42601", "SQL compilation error: table is not a table", "permanent", NO),
        ],
    )  # fmt: skip
    def test_the_words_the_status_or_the_state_tell_where_the_number_does_not(
        self, number: int, state: str | None, message: str, category: str | None, retry: Retry | None
    ) -> None:
        error = snowflake_error(number, state, message)
        for evidence in (alive(error), logged(error)):
            signal = conclusion(evidence)
            assert (signal and signal.category, signal and signal.retry) == (category, retry)

    def test_version_5_keeps_a_bare_http_status(self) -> None:
        error = snowflake.OperationalError("HTTP 503: b'no'")
        error.errno, error.sqlstate, error.http_status = -1, None, 503
        assert conclusion_code(alive(error)) == "snowflake.290503"

    def test_a_request_to_log_in_again_is_one_retry(self) -> None:
        kind = type(
            "ReauthenticationRequest", (snowflake.ProgrammingError,), {"__module__": "snowflake.connector.errors"}
        )
        signal = conclusion(alive(kind("Session no longer exists")))
        assert signal is not None
        assert (signal.category, signal.max_attempts) == ("auth", 2)


TRINO: Meanings = (
    ("TRANSACTION_CONFLICT ADMINISTRATIVELY_PREEMPTED REMOTE_TASK_ERROR REMOTE_HOST_GONE PAGE_TRANSPORT_ERROR", "transient", YES),
    ("PAGE_TRANSPORT_TIMEOUT REMOTE_TASK_MISMATCH ABANDONED_TASK GENERIC_INTERNAL_ERROR", "transient", YES),
    ("NO_NODES_AVAILABLE SERVER_STARTING_UP SERVER_SHUTTING_DOWN CLUSTER_OUT_OF_MEMORY EXCEEDED_GLOBAL_MEMORY_LIMIT", "transient", YES),
    ("QUERY_QUEUE_FULL TOO_MANY_REQUESTS_FAILED", "rate_limit", YES),
    ("EXCEEDED_LOCAL_MEMORY_LIMIT EXCEEDED_TIME_LIMIT EXCEEDED_CPU_LIMIT EXCEEDED_SCAN_LIMIT EXCEEDED_SPILL_LIMIT", "permanent", DEPENDS),
    ("OUT_OF_SPILL_SPACE EXCEEDED_FUNCTION_MEMORY_LIMIT USER_CANCELED ADMINISTRATIVELY_KILLED", "permanent", DEPENDS),
    ("ABANDONED_QUERY", "network", DEPENDS),
    ("PERMISSION_DENIED", "auth", NO),
    ("TABLE_NOT_FOUND COLUMN_NOT_FOUND CATALOG_NOT_FOUND SCHEMA_NOT_FOUND NOT_FOUND ROLE_NOT_FOUND TABLE_HAS_NO_COLUMNS", "resource", NO),
    ("ALREADY_EXISTS TABLE_ALREADY_EXISTS COLUMN_ALREADY_EXISTS SCHEMA_ALREADY_EXISTS DIVISION_BY_ZERO INVALID_LITERAL", "data", NO),
    ("INVALID_CAST_ARGUMENT NUMERIC_VALUE_OUT_OF_RANGE INVALID_FUNCTION_ARGUMENT CONSTRAINT_VIOLATION SUBQUERY_MULTIPLE_ROWS", "data", NO),
    ("SYNTAX_ERROR TYPE_MISMATCH FUNCTION_NOT_FOUND", "permanent", NO),
)  # fmt: skip


class TestTrino:
    @pytest.mark.parametrize(("name", "category", "retry"), each(TRINO))
    def test_its_names(self, name: str, category: str, retry: Retry) -> None:
        assert_concluded(trino_error(name, "USER_ERROR"), f"trino.{name}", category, retry)

    def test_every_row_is_expected_above(self) -> None:
        assert set(trino_codes.TABLE.codes) == {name for name, _, _ in each(TRINO)}

    @pytest.mark.parametrize(
        ("kind", "category", "retry"),
        [
            ("USER_ERROR", "permanent", NO),
            ("INTERNAL_ERROR", "transient", DEPENDS),
            ("INSUFFICIENT_RESOURCES", "transient", DEPENDS),
            ("EXTERNAL", "transient", DEPENDS),
        ],
    )
    def test_an_unknown_name_means_what_its_type_says(self, kind: str, category: str, retry: Retry) -> None:
        assert_concluded(trino_error("HIVE_SOMETHING_NEW", kind), "trino.HIVE_SOMETHING_NEW", category, retry)


CLICKHOUSE: Meanings = (
    ("3 32 33 40 101 102 209 210 279", "network", YES),
    ("198", "network", DEPENDS),
    ("202 203", "rate_limit", YES),
    ("201", "rate_limit", DEPENDS),
    ("252 225 234 236 242 244 254 285 286 289 369 473 517 999", "transient", YES),
    ("319 341 379 243 49 1000 1001 1002", "transient", DEPENDS),
    ("159 160 394 241 158 307 396 229", "permanent", DEPENDS),
    ("164 192 193 194 195 291 497 516", "auth", NO),
    ("10 16 47 60 81 115", "resource", NO),
    ("57 58 82 253 256 6 7 20 21 22 25 26 27 38 41 53 69 72 117 128 131 153 349 376 441 469", "data", NO),
    ("1 2 34 35 36 42 43 44 46 48 50 56 62 377", "permanent", NO),
)  # fmt: skip


class TestClickHouse:
    @pytest.mark.parametrize(("number", "category", "retry"), each(CLICKHOUSE))
    def test_its_numbers(self, number: str, category: str, retry: Retry) -> None:
        assert_concluded(clickhouse_error(int(number), "Some words"), f"clickhouse.{number}", category, retry)

    def test_every_row_is_expected_above(self) -> None:
        assert set(clickhouse_codes.TABLE.codes) == {number for number, _, _ in each(CLICKHOUSE)}

    def test_memory_of_the_server_frees_up_but_the_query_s_own_limit_stays(self) -> None:
        assert_concluded(clickhouse_error(241, "Memory limit (total) exceeded"), "clickhouse.241", "transient", YES)
        assert_concluded(
            clickhouse_error(241, "Memory limit (for query) exceeded"), "clickhouse.241", "permanent", DEPENDS
        )


DUCKDB: Meanings = (
    ("ResourceInUseException", "transient", YES),
    ("TransactionException SerializationException OutOfMemoryException IOException", "transient", DEPENDS),
    ("HTTPException", "network", DEPENDS),
    ("InterruptException InternalException FatalException", "permanent", DEPENDS),
    ("ConstraintException ConversionException OutOfRangeException TypeMismatchException InvalidTypeException", "data", NO),
    ("InvalidInputException", "data", NO),
    ("ConnectionException", "permanent", NO),
    ("CatalogException", "resource", NO),
    ("PermissionException", "auth", NO),
    ("BinderException ParserException SyntaxException NotImplementedException DependencyException SequenceException", "permanent", NO),
)  # fmt: skip


class TestDuckDb:
    @pytest.mark.parametrize(("name", "category", "retry"), each(DUCKDB))
    def test_its_classes(self, name: str, category: str, retry: Retry) -> None:
        assert_concluded(duckdb_error(name, "Some Error: some words"), f"duckdb.{name}", category, retry)

    def test_every_row_is_expected_above(self) -> None:
        assert set(duckdb_classes.TABLE.codes) == {name for name, _, _ in each(DUCKDB)}

    @pytest.mark.parametrize(
        ("name", "message", "category", "retry"),
        [
            ("TransactionException", "TransactionContext Error: Conflict on tuple deletion!", "transient", YES),
            (
                "TransactionException",
                "TransactionContext Error: cannot commit - no transaction is active",
                "permanent",
                NO,
            ),
            (
                "IOException",
                'IO Error: Could not set lock on file "/x.db": Conflicting lock is held in python (PID 7).',
                "transient",
                YES,
            ),
            ("IOException", 'IO Error: No files found that match the pattern "/nope/x.csv"', "resource", NO),
            ("IOException", 'IO Error: Cannot open file "/x.db": No such file or directory', "resource", NO),
            ("IOException", "IO Error: Could not write file: No space left on device", "transient", DEPENDS),
            ("IOException", "IO Error: Could not establish connection error for HTTP GET", "network", YES),
            ("CatalogException", 'Catalog Error: Table with name "t" already exists!', "data", NO),
            ("CatalogException", 'Catalog write-write conflict on create with "t"', "transient", YES),
            ("BinderException", 'Binder Error: Referenced column "nope" not found in FROM clause!', "resource", NO),
        ],
    )
    def test_the_words_tell_where_a_class_means_several_things(
        self, name: str, message: str, category: str, retry: Retry
    ) -> None:
        assert_concluded(duckdb_error(name, message), f"duckdb.{name}", category, retry)


def test_a_file_that_duckdb_cannot_read_is_left_to_the_reader_of_damaged_files() -> None:
    error = duckdb_error(
        "InvalidInputException", "Invalid Input Error: No magic bytes found at end of file 'x.parquet'"
    )
    assert conclusion_code(alive(error)) == "damaged.parquet"


def test_a_class_of_the_user_s_own_that_derives_from_a_driver_s_keeps_the_code() -> None:
    error = sql_server_error(1205, "Deadlocked.")
    own = type("LoadError", (type(error),), {"__module__": "corp.etl"})(*error.args)
    assert conclusion_code(alive(own)) == "mssql.1205"
