"""Snowflake's answers to its own drivers, by what went wrong, over plain HTTP.

The drivers' protocol is the JSON that they themselves read; codes and what they mean are explained here:
https://docs.snowflake.com/en/developer-guide/python-connector/python-connector-api#exceptions
https://docs.snowflake.com/en/user-guide/snowflake-client-connectivity-troubleshooting
"""

from __future__ import annotations

from dataclasses import dataclass

from servers.http import Answer, HttpServer, Request, json_answer

__all__ = ["LOGIN_FAILURES", "QUERY_FAILURES", "Failure", "serve"]


@dataclass(frozen=True)
class Failure:
    """What Snowflake says in a body whose status is 200."""

    code: str
    sqlstate: str
    message: str

    def answer(self) -> Answer:
        data = {"errorCode": self.code, "sqlState": self.sqlstate, "queryId": "01b2c3d4-0000-1111-0000-00000000a00e"}
        return json_answer(200, {"data": data, "code": self.code, "message": self.message, "success": False})


_LOGGED_IN = {
    "token": "session", "masterToken": "master", "sessionId": 7, "parameters": [],
    "sessionInfo": {"databaseName": "SHOP", "schemaName": "RAW", "warehouseName": "LOAD_WH", "roleName": "ETL"},
}  # fmt: skip

LOGIN_FAILURES = {
    "a wrong password": Failure("390100", "08001", "Incorrect username or password was specified."),
    "a user who is locked out for a while": Failure(
        "390102", "08001", "Your user account has been temporarily locked due to too many failed login attempts. "
        "Try again after 15 minutes or contact your account administrator."),
    "a user who is disabled": Failure("390101", "08001", "User access disabled. Contact your local system administrator."),
    "an address that the network policy does not allow": Failure(
        "390420", "08001", "Incoming request with IP/Token 203.0.113.7 is not allowed to access Snowflake. Contact your account "
        "administrator."),
    "a key pair's token that is not valid": Failure("390144", "08001", "JWT token is invalid. [4f2c7a9e-1b7d-4d25-8a3c-0f3a9c1b2d4e]"),
    "an OAuth token that has expired": Failure("390318", "08001", "OAuth access token expired. [4f2c7a9e-1b7d-4d25-8a3c-0f3a9c1b2d4e]"),
    "an OAuth token that is not valid": Failure("390303", "08001", "Invalid OAuth access token. [4f2c7a9e-1b7d-4d25-8a3c-0f3a9c1b2d4e]"),
    "a role that does not exist or is not granted": Failure(
        "390189", "08001", "Role 'LOADER' specified in the connect string does not exist or not authorized. Contact your local "
        "system administrator, or attempt to login with another role."),
    "a password that must be changed": Failure("390106", "08001", "Specified password has expired. Password must be changed."),
    "a second factor that is missing": Failure(
        "394300", "08001", "Multi-factor authentication is required for this account. Log in to Snowsight to enroll."),
}  # fmt: skip

QUERY_FAILURES = {
    "a table that does not exist or is not granted": Failure(
        "002003", "42S02", "SQL compilation error:\nObject 'SHOP.RAW.INVOICES' does not exist or not authorized."),
    "a schema that does not exist": Failure("002043", "02000", "SQL compilation error:\nObject does not exist, or operation cannot be performed."),
    "a column that does not exist": Failure("000904", "42000", "SQL compilation error: error line 1 at position 7\ninvalid identifier 'COLOUR'"),
    "a table that exists": Failure("002002", "42710", "SQL compilation error:\nObject 'ORDERS' already exists."),
    "a typo": Failure("001003", "42000", "SQL compilation error:\nsyntax error line 1 at position 0 unexpected 'selct'."),
    "a schema without permission": Failure(
        "003001", "42501", "SQL access control error:\nInsufficient privileges to operate on schema 'RAW'"),
    "no warehouse that is active": Failure(
        "000606", "57P03", "No active warehouse selected in the current session.  Select an active warehouse with the "
        "'use warehouse' command."),
    "a warehouse whose monitor is used up": Failure(
        "090073", "22000", "Warehouse 'LOAD_WH' cannot be resumed because resource monitor 'MONTHLY' has exceeded its quota."),
    "an account that has not been paid": Failure(
        "000666", "57014", "Your account is suspended due to lack of payment method. Add a payment method to continue."),
    "a lock that too many wait for": Failure(
        "000625", "57014", "Statement '01b2c3d4-0000-2222-0000-00000000b00e' has locked table 'ORDERS' in transaction "
        "1790000000000000000 and this lock has not yet been released.\nYour statement '01b2c3d4-0000-1111-0000-00000000a00e' was "
        "aborted because the number of waiters for this lock exceeds the 20 statements limit."),
    "a statement over its limit of time": Failure(
        "000630", "57014", "Statement reached its statement or warehouse timeout of 3,600 second(s) and was canceled."),
    "a statement that was canceled": Failure("000604", "57014", "SQL execution canceled"),
    "an error inside Snowflake": Failure(
        "000603", "XX000", "SQL execution internal error:\nProcessing aborted by error 300010:391167117; incident 4382718."),
    "a session that is gone": Failure("390111", "08003", "Session no longer exists.  New login required to access the service."),
    "a value that is no number": Failure("100038", "22018", "Numeric value 'n/a' is not recognized"),
    "a value that is no timestamp": Failure("100035", "22007", "Timestamp '2026-02-30' is not recognized"),
    "a division by zero": Failure("100051", "22012", "Division by zero"),
    "null where none may be": Failure("100072", "22000", "NULL result in a non-nullable column"),
    "JSON that cannot be parsed": Failure("100069", "22P02", "Error parsing JSON: unknown keyword \"nan\", pos 7"),
    "a text too long for its column": Failure(
        "100078", "22000", "String 'A name that is longer than twenty' is too long and would be truncated"),
    "a file with another number of columns": Failure(
        "100080", "22000", "Number of columns in file (7) does not match that of the corresponding table (6), use file format option "
        "error_on_column_count_mismatch=false to ignore this error\n  File 'orders/2026-01-31.csv', line 3, character 1"),
    "a file of the stage that is not there": Failure(
        "091016", "22000", "Remote file 's3://shop-raw/orders/2026-01-31.csv' was not found. There are several potential causes. The "
        "file might not exist. The required credentials may be missing or invalid."),
    "a stage whose bucket denies access": Failure(
        "003167", "42601", "Error assuming AWS_ROLE:\nUser: arn:aws:iam::123456789012:user/abcd is not authorized to perform: "
        "sts:AssumeRole on resource: arn:aws:iam::123456789012:role/loader"),
    "a row merged twice": Failure("100090", "42P18", "Duplicate row detected during DML action\nRow Values: [1, \"Ada\"]"),
    "a deadlock": Failure("000612", "40001", "Transaction aborted: deadlock detected on table 'ORDERS'."),
}  # fmt: skip


def serve(http: HttpServer, *, login: Answer | None = None, query: Answer | None = None) -> None:
    """Answer a driver: the login, the one query that matters, and whatever it does besides."""

    def route(request: Request) -> Answer:
        if "/session/v1/login-request" in request.path:
            return login or json_answer(200, {"data": _LOGGED_IN, "code": None, "message": None, "success": True})
        if "/queries/v1/query-request" in request.path and query:
            return query
        return json_answer(200, {"data": {}, "code": None, "message": None, "success": True})

    http.routes(route)
