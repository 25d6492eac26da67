# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "gspread==6.2.1",
#     "hubspot-api-client==12.0.0",
#     "requests==2.34.2",
#     "simple-salesforce==1.12.10",
#     "tableauserverclient==0.42",
#     "tenacity==9.2.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-28T00:00:00Z"
# ///
"""What clients of business services raise: Salesforce, Tableau, HubSpot, Google Sheets.

Forms: https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/errorcodes.htm,
https://help.tableau.com/current/api/rest_api/en-us/REST/rest_api_concepts_errors.htm,
https://developers.hubspot.com/docs/api-reference/error-handling,
https://developers.google.com/workspace/sheets/api/troubleshoot-api-errors
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gspread
import hubspot
import tableauserverclient
import tenacity
from harness import CANARY, WRONG_READING, Family
from servers.elsewhere import session_to
from servers.http import Answer, HttpServer, Request, html, http_server, json_answer
from servers.port import refused_port
from simple_salesforce import Salesforce

family = Family(__file__, "simple-salesforce", servers={"http": http_server}, is_wire_form=True)


class SyncFailed(Exception):
    """A user's own."""


def salesforce(url: str) -> Salesforce:
    return Salesforce(session_id=CANARY, instance="shop.my.salesforce.example", session=session_to(url))


def sobject_error(status: int, code: str, message: str, **more: Any) -> Answer:
    return json_answer(status, [{"message": message, "errorCode": code, **more}])


def query(url: str) -> Any:
    return salesforce(url).query("select Id from Opportunity where CloseDate = TODAY")


def create(url: str) -> Any:
    return salesforce(url).Contact.create({"LastName": "Lovelace"})


def log_in(url: str) -> Any:
    return Salesforce("etl@shop.example", CANARY, CANARY, session=session_to(url))


def login_fault(code: str, message: str) -> Answer:
    body = (
        '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:sf="urn:fault.partner.soap.sforce.com">'
        f"<soapenv:Body><soapenv:Fault><faultcode>sf:{code}</faultcode><faultstring>{message}</faultstring><detail>"
        f"<sf:LoginFault><sf:exceptionCode>{code}</sf:exceptionCode><sf:exceptionMessage>{message}</sf:exceptionMessage>"
        "</sf:LoginFault></detail></soapenv:Fault></soapenv:Body></soapenv:Envelope>"
    )
    return Answer(500, body, {"Content-Type": "text/xml"})


def table(library: str, who: str, cases: Any) -> None:
    """Add a case for each row: title, what is asked, the answer, the class, tags."""
    for title, ask, answer, raises, *tags in cases:
        family.case(f"{who} {title}", raises=raises, tags=tags, library=library)(
            lambda http, answer=answer, ask=ask: ask(http.answers(answer))
        )


table("simple-salesforce", "Salesforce", (
    ("requests of a day are used up", query, sobject_error(403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded."),
        "SalesforceRefusedRequest", WRONG_READING),
    ("requests at once are too many", query, sobject_error(403, "REQUEST_LIMIT_EXCEEDED", "ConcurrentRequests (Concurrent "
        "API Requests) Limit exceeded."), "SalesforceRefusedRequest", WRONG_READING),
    ("API is disabled", query, sobject_error(403, "API_DISABLED_FOR_ORG", "The REST API is not enabled for this "
        "Organization."), "SalesforceRefusedRequest"),
    ("access to an object is refused", create, sobject_error(403, "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY",
        "insufficient access rights on cross-reference id"), "SalesforceRefusedRequest"),
    ("session expired", query, sobject_error(401, "INVALID_SESSION_ID", "Session expired or invalid"),
        "SalesforceExpiredSession"),
    ("query with a field that is not there", query, sobject_error(400, "INVALID_FIELD", "\nselect Idd from Opportunity\n"
        "       ^\nERROR at Row:1:Column:8\nNo such column 'Idd' on entity 'Opportunity'."), "SalesforceMalformedRequest"),
    ("query of a type that is not there", query, sobject_error(400, "INVALID_TYPE", "sObject type 'Oportunity' is not "
        "supported."), "SalesforceMalformedRequest"),
    ("query that ran too long", query, sobject_error(400, "QUERY_TIMEOUT", "Your query request was running for too long."),
        "SalesforceMalformedRequest", WRONG_READING),
    ("row that is locked", create, sobject_error(400, "UNABLE_TO_LOCK_ROW", "unable to obtain exclusive access to this "
        "record or 1 records: 0015g00000AbCdE", fields=[]), "SalesforceMalformedRequest", WRONG_READING),
    ("duplicate", create, sobject_error(400, "DUPLICATE_VALUE", "duplicate value found: Ext_Id__c duplicates value on "
        "record with id: 0035g00000"), "SalesforceMalformedRequest"),
    ("field that is missing", create, sobject_error(400, "REQUIRED_FIELD_MISSING", "Required fields are missing: [Company]",
        fields=["Company"]), "SalesforceMalformedRequest"),
    ("trigger that failed", create, sobject_error(400, "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "ContactTrigger: execution of "
        "BeforeInsert caused by: System.LimitException: Too many SOQL queries: 101"), "SalesforceMalformedRequest"),
    ("storage that is full", create, sobject_error(400, "STORAGE_LIMIT_EXCEEDED", "storage limit exceeded"),
        "SalesforceMalformedRequest", WRONG_READING),
    ("record that is not there", lambda url: salesforce(url).Contact.get("0035g0000000000"), sobject_error(404, "NOT_FOUND",
        "The requested resource does not exist"), "SalesforceResourceNotFound"),
    ("cursor that is gone", query, sobject_error(400, "INVALID_QUERY_LOCATOR", "invalid query locator"),
        "SalesforceMalformedRequest", WRONG_READING),
    ("server error", query, sobject_error(500, "UNKNOWN_EXCEPTION", "An unexpected error occurred. Please include this "
        "ErrorId if you contact support: 1234-5678 (-123)"), "SalesforceGeneralError"),
    ("server that is unavailable", query, sobject_error(503, "SERVER_UNAVAILABLE", "The server is temporarily unavailable"),
        "SalesforceGeneralError"),
    ("maintenance", query, html(503, "<html>We are down for maintenance.</html>"), "SalesforceGeneralError"),
    ("login with a wrong password", log_in, login_fault("INVALID_LOGIN", "INVALID_LOGIN: Invalid username, password, "
        "security token; or user locked out."), "SalesforceAuthenticationFailed"),
    ("login too often in an hour", log_in, login_fault("LOGIN_RATE_EXCEEDED", "LOGIN_RATE_EXCEEDED: Login Rate Exceeded"),
        "SalesforceAuthenticationFailed", WRONG_READING),
    ("login while it is under maintenance", log_in, login_fault("SERVER_UNAVAILABLE", "SERVER_UNAVAILABLE: The org is "
        "undergoing maintenance"), "SalesforceAuthenticationFailed", WRONG_READING),
    ("is silent", query, Answer(silent_s=4), "ReadTimeout"),
))  # fmt: skip


@family.case("Salesforce is refused", raises="ConnectionError")
def _() -> None:
    with refused_port() as port:
        query(f"http://127.0.0.1:{port}")


@family.case("Salesforce row that stays locked until tenacity gives up", raises="RetryError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    locked = sobject_error(400, "UNABLE_TO_LOCK_ROW", "unable to obtain exclusive access to this record")
    tenacity.retry(stop=tenacity.stop_after_attempt(2))(create)(http.answers(locked))


@family.case("Salesforce limit under a user's own exception", raises="SyncFailed", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    try:
        query(http.answers(sobject_error(403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.")))
    except Exception as error:
        raise SyncFailed("not allowed to read opportunities") from error


# Tableau. https://help.tableau.com/current/api/rest_api/en-us/REST/rest_api_ref_authentication.htm
TSC = tableauserverclient
XML = {"Content-Type": "application/xml"}


def ts_response(content: str, status: int = 200) -> Answer:
    return Answer(
        status, f'<?xml version="1.0"?><tsResponse xmlns="http://tableau.com/api">{content}</tsResponse>', XML
    )


def ts_error(code: int, summary: str, detail: str) -> Answer:
    error = f'<error code="{code}"><summary>{summary}</summary><detail>{detail}</detail></error>'
    return ts_response(error, code // 1000)


SIGNED_IN = ts_response(f'<credentials token="{CANARY}"><site id="s1" contentUrl=""/><user id="u1"/></credentials>')


def tableau(http: HttpServer, answer: Answer, call: Callable[[Any], Any], signs_in: Answer = SIGNED_IN) -> None:
    http.routes(lambda request: signs_in if request.path.endswith("/auth/signin") else answer)
    server = TSC.Server(http.url, use_server_version=False, http_options={"timeout": 1})
    server.version = "3.20"
    server.auth.sign_in(TSC.PersonalAccessTokenAuth("loads", CANARY))
    call(server)


JOB = '<job id="j1" mode="Asynchronous" type="RefreshExtract" progress="100" createdAt="2026-01-31T04:00:00Z" '
for title, answer, raises, *tags in (
    ("refresh that is queued already", ts_error(409093, "Resource Conflict", "Job for 'Orders' extract refresh is already "
        "queued. Not queuing a duplicate."), "ServerResponseError", WRONG_READING),
    ("datasource that is not there", ts_error(404004, "Resource Not Found", "Datasource 'd1' could not be found."),
        "ServerResponseError"),
    ("user who may not refresh", ts_error(403004, "Forbidden", "User does not have permission to refresh the "
        "datasource."), "ServerResponseError"),
    ("session that ran out", ts_error(401002, "Unauthorized Access", "Invalid authentication credentials were provided."),
        "NotSignedInError"),
    ("value that is bad", ts_error(400003, "Bad Request", "Bad value in request body."), "ServerResponseError"),
    ("version that is not supported", ts_error(404003, "Resource Not Found", "API version 2.1 is not supported."),
        "ServerResponseError"),
    ("capacity that is used up", ts_error(429000, "Too Many Requests", "Too many requests in progress."),
        "ServerResponseError"),
    ("server error", ts_error(500000, "Internal Server Error", "There was an unexpected error."), "InternalServerError"),
    ("gateway that has no server", html(502, "<html>Bad Gateway</html>"), "Exception"),
    ("page instead of XML", html(200), ("NonXMLResponseError", "ParseError"), WRONG_READING),
    ("server that is silent", Answer(silent_s=4), "Exception"),
):  # fmt: skip
    family.case(f"Tableau {title}", raises=raises, tags=tags, library="tableauserverclient")(
        lambda http, answer=answer: tableau(http, answer, lambda server: server.datasources.get_by_id("d1"))
    )

for title, note in (
    ("whose database refused the login", "com.tableausoftware.nativeapi.exceptions.DataSourceException: Invalid username or "
        "password. Unable to connect to the server db.internal.example."),
    ("that ran over its limit", "The query time resource limit (7200 seconds) was exceeded."),
    ("that has no disk left", "There was a problem writing the extract: not enough disk space."),
):  # fmt: skip

    @family.case(
        f"Tableau job {title}", raises="JobFailedException", tags=[WRONG_READING], library="tableauserverclient"
    )
    def _(http: HttpServer, note: str = note) -> None:
        done = f'{JOB}completedAt="2026-01-31T06:00:00Z" finishCode="1"><extractRefreshJob><notes>{note}</notes></extractRefreshJob></job>'
        tableau(http, ts_response(done), lambda server: server.jobs.wait_for_job("j1", timeout=3))


for title, code, detail in (
    ("token that expired", 401001, "The personal access token you provided is invalid."),
    ("site that is suspended", 403002, "The site is suspended."),
):

    @family.case(f"Tableau sign-in with a {title}", raises="TableauError", library="tableauserverclient")
    def _(http: HttpServer, code: int = code, detail: str = detail) -> None:
        tableau(http, SIGNED_IN, str, signs_in=ts_error(code, "Signin Error", detail))


def read_contacts(url: str) -> Any:
    api = hubspot.Client.create(access_token=CANARY).crm.contacts.basic_api
    api.api_client.configuration.host = url
    api.api_client.configuration.retries = 0
    return api.get_page(limit=100, _request_timeout=1)


def hub_error(status: int, category: str, message: str, **more: Any) -> Answer:
    return json_answer(status, {"status": "error", "message": message, "correlationId": "aeb5f871-7f07-4993-9211-075dc63e7cbf",
        "category": category, **more})  # fmt: skip


table("hubspot-api-client", "HubSpot", (
    ("limit of ten seconds", read_contacts, hub_error(429, "RATE_LIMITS", "You have reached your ten_secondly_rolling limit.",
        errorType="RATE_LIMIT", policyName="TEN_SECONDLY_ROLLING"), "ApiException"),
    ("limit of the day", read_contacts, hub_error(429, "RATE_LIMITS", "You have reached your daily limit.",
        errorType="RATE_LIMIT", policyName="DAILY"), "ApiException", WRONG_READING),
    ("token that expired", read_contacts, hub_error(401, "EXPIRED_AUTHENTICATION", "The OAuth token used to make this call "
        "expired 3 second(s) ago."), "ApiException"),
    ("scopes that are missing", read_contacts, hub_error(403, "MISSING_SCOPES", "This app hasn't been granted all required "
        "scopes to make this call.", errors=[{"context": {"requiredGranularScopes": ["crm.objects.contacts.read"]}}]),
        "ApiException"),
    ("object that is not there", read_contacts, hub_error(404, "OBJECT_NOT_FOUND", "resource not found"), "ApiException"),
    ("property that is not there", read_contacts, hub_error(400, "VALIDATION_ERROR", "Property values were not valid: "
        "Property \"ltv\" does not exist"), "ApiException"),
    ("contact that exists already", read_contacts, hub_error(409, "CONFLICT", "Contact already exists. Existing ID: 1201"),
        "ApiException"),
    ("migration of an account", read_contacts, hub_error(477, "MIGRATION", "The account is being migrated between data hosting "
        "locations"), "ApiException", WRONG_READING),
    ("timeout at its edge", read_contacts, Answer(524, "error code: 524"), "ApiException"),
    ("is silent", read_contacts, Answer(silent_s=4), "Exception"),
))  # fmt: skip


def read_sheet(url: str) -> Any:
    from google.auth.credentials import AnonymousCredentials

    client = gspread.Client(AnonymousCredentials(), session=session_to(url))
    return client.open_by_key("1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms").worksheet("Orders").get_all_values()


def sheet_error(code: int, status: str, message: str) -> Answer:
    return json_answer(code, {"error": {"code": code, "message": message, "status": status}})


table("gspread", "Sheets", (
    ("reads of a minute", read_sheet, sheet_error(429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Read requests' and "
        "limit 'Read requests per minute per user' of service 'sheets.googleapis.com' for consumer 'project_number:1234'."),
        "APIError", WRONG_READING),
    ("permission", read_sheet, sheet_error(403, "PERMISSION_DENIED", "The caller does not have permission"),
        ("APIError", "PermissionError")),
    ("spreadsheet that is not there", read_sheet, sheet_error(404, "NOT_FOUND", "Requested entity was not found."),
        ("SpreadsheetNotFound", "APIError")),
    ("document that is an Excel file", read_sheet, sheet_error(400, "FAILED_PRECONDITION", "This operation is not supported for "
        "this document"), "APIError"),
    ("service that is unavailable", read_sheet, sheet_error(503, "UNAVAILABLE", "The service is currently unavailable."),
        "APIError"),
    ("internal error as a page", read_sheet, html(500, "<html><title>Error 500 (Server Error)!!1</title></html>"), "APIError"),
))  # fmt: skip


@family.case("Sheets worksheet that is not there", raises="WorksheetNotFound", library="gspread")
def _(http: HttpServer) -> None:
    sheets = {
        "sheets": [
            {"properties": {"sheetId": 0, "title": "Sheet1", "index": 0, "sheetType": "GRID", "gridProperties": {}}}
        ]
    }

    def route(request: Request) -> Answer:
        return json_answer(200, {"spreadsheetId": "1B", "properties": {"title": "Orders"}, **sheets})

    read_sheet(http.routes(route))


if __name__ == "__main__":
    family.run()
