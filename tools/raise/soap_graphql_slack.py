# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "gql[aiohttp,requests]==4.4.0",
#     "slack-sdk==3.48.0",
#     "tenacity==9.2.1",
#     "zeep==4.3.3",
# ]
# [tool.uv]
# exclude-newer = "2026-11-28T00:00:00Z"
# ///
"""What clients raise whose services say in the body what went wrong: SOAP faults, GraphQL errors, and Slack's ok=false.

Forms: https://www.w3.org/TR/2000/NOTE-SOAP-20000508/#_Toc478383507, https://spec.graphql.org/October2021/#sec-Errors,
https://api.slack.com/web#responses
"""

from __future__ import annotations

from functools import partial
from typing import Any

import slack_sdk
import tenacity
import zeep
from gql import Client, gql
from gql.transport.requests import RequestsHTTPTransport
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, Request, html, http_server, json_answer
from servers.port import refused_port
from slack_sdk.webhook import WebhookClient

family = Family(__file__, "slack-sdk", servers={"http": http_server}, is_wire_form=True)
soap_case = partial(family.case, library="zeep")
gql_case = partial(family.case, library="gql")


class NotifyError(Exception):
    """A user's own."""


# Slack: nearly everything is 200.


def post(url: str, **options: Any) -> Any:
    client = slack_sdk.WebClient(token=f"xoxb-{CANARY}", base_url=f"{url}/api/", timeout=1, retry_handlers=[])
    return client.chat_postMessage(channel="#loads", text="loaded", **options)


def not_ok(error: str, status: int = 200, headers: dict[str, str] | None = None, **more: Any) -> Answer:
    return json_answer(status, {"ok": False, "error": error, **more}, headers)


for title, answer, *tags in (
    ("too many calls", not_ok("ratelimited", 429, {"Retry-After": "30"})),
    ("too many calls with status 200", not_ok("ratelimited"), WRONG_READING),
    ("rate_limited of a message", not_ok("rate_limited"), WRONG_READING),
    ("a message limit of the workspace", not_ok("message_limit_exceeded"), WRONG_READING),
    ("a token that is wrong", not_ok("invalid_auth")),
    ("a token that was revoked", not_ok("token_revoked")),
    ("a token that expired", not_ok("token_expired")),
    ("no token", not_ok("not_authed")),
    ("an account that is inactive", not_ok("account_inactive")),
    ("a scope that is missing", not_ok("missing_scope", needed="chat:write", provided="users:read")),
    ("a policy that restricts", not_ok("restricted_action")),
    ("a channel that is not found", not_ok("channel_not_found")),
    ("a bot that is not in the channel", not_ok("not_in_channel"), WRONG_READING),
    ("a channel that is archived", not_ok("is_archived")),
    ("a message that is too long", not_ok("msg_too_long")),
    (
        "blocks that are invalid",
        not_ok("invalid_blocks", errors=["unsupported type: datepicker [json-pointer:/blocks/0]"]),
    ),
    ("an internal error", not_ok("internal_error")),
    ("a fatal error with 500", not_ok("fatal_error", 500)),
    ("a service that is unavailable", not_ok("service_unavailable", 503)),
    ("a request that timed out there", not_ok("request_timeout"), WRONG_READING),
    ("a page instead of JSON", html(502, "<html>Bad Gateway</html>")),
    ("an organisation that moves", not_ok("team_added_to_org"), WRONG_READING),
    ("a login that is refused for the address", not_ok("access_denied")),
    ("a method that is deprecated", not_ok("method_deprecated")),
):
    family.case(f"Slack says {title}", raises="SlackApiError", tags=tags)(
        lambda http, answer=answer: post(http.answers(answer))
    )


@family.case("Slack is silent", raises="TimeoutError")
def _(http: HttpServer) -> None:
    post(http.answers(Answer(silent_s=4)))


@family.case("Slack is refused", raises="URLError")
def _() -> None:
    with refused_port() as port:
        post(f"http://127.0.0.1:{port}")


@family.case("Slack file that is not there", raises="FileNotFoundError", tags=[])
def _(http: HttpServer) -> None:
    client = slack_sdk.WebClient(token=f"xoxb-{CANARY}", base_url=f"{http.url}/api/")
    client.files_upload_v2(channel="C1", file="report.pdf")


@family.case("Slack webhook that is gone, by a user", raises="NotifyError", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    url = f"{http.answers(Answer(404, 'no_service'))}/services/T0/B0/{CANARY}"
    response = WebhookClient(url, timeout=1).send(text="loaded")
    if response.status_code != 200:
        raise NotifyError(f"Slack answered {response.status_code}: {response.body}")


# GraphQL: errors beside data, or instead of it.


def query(url: str, timeout: float = 1) -> Any:
    transport = RequestsHTTPTransport(f"{url}/graphql", headers={"X-Shopify-Access-Token": CANARY}, timeout=timeout)
    return Client(transport=transport).execute(gql("query { orders(first: 250) { nodes { id } } }"))


def graphql_errors(*errors: Any, status: int = 200, data: Any = None) -> Answer:
    return json_answer(status, {"data": data, "errors": [*errors]})


for title, answer, *tags in (
    ("a throttled query", graphql_errors({"message": "Throttled", "extensions": {"code": "THROTTLED",
        "cost": {"requestedQueryCost": 752, "throttleStatus": {"currentlyAvailable": 120, "restoreRate": 50.0}}}})),
    ("a query that costs too much", graphql_errors({"message": "Query cost is 2406, which exceeds the single query max "
        "cost limit (1000).", "extensions": {"code": "MAX_COST_EXCEEDED", "cost": 2406, "maxCost": 1000}}),
        WRONG_READING),
    ("a limit of an hour as GitHub says it", graphql_errors({"type": "RATE_LIMITED", "message": "API rate limit exceeded "
        "for user ID 1."})),
    ("a field that does not exist", graphql_errors({"message": "Field 'nodez' doesn't exist on type 'OrderConnection'",
        "locations": [{"line": 1, "column": 35}], "extensions": {"code": "undefinedField"}})),
    ("a user who is not signed in", graphql_errors({"message": "You must be logged in", "path": ["orders"],
        "extensions": {"code": "UNAUTHENTICATED"}}), WRONG_READING),
    ("access that is denied", graphql_errors({"message": "Access denied for orders field. Required access: "
        "`read_orders` access scope.", "extensions": {"code": "ACCESS_DENIED"}})),
    ("an internal error", graphql_errors({"message": "Internal error. Looks like something went wrong on our end.",
        "extensions": {"code": "INTERNAL_SERVER_ERROR", "requestId": "9a1c"}}), WRONG_READING),
    ("a resolver that ran into a timeout", graphql_errors({"message": "Something went wrong while executing your query. "
        "This may be the result of a timeout, or it could be a GitHub bug."}), WRONG_READING),
    ("a node that is not found", graphql_errors({"type": "NOT_FOUND", "path": ["repository"], "message": "Could not "
        "resolve to a Repository with the name 'shop/loads'."})),
    ("part of the data only", graphql_errors({"message": "stock service did not answer", "path": ["orders", 3],
        "extensions": {"code": "DOWNSTREAM_SERVICE_ERROR"}}, data={"orders": []})),
):  # fmt: skip
    gql_case(f"GraphQL says {title}", raises="TransportQueryError", tags=tags)(
        lambda http, answer=answer: query(http.answers(answer))
    )

for title, answer, raises in (
    (
        "GraphQL with status 401",
        Answer(401, '{"errors": "[API] Invalid API key or access token"}'),
        "TransportQueryError",
    ),
    ("GraphQL with status 429", Answer(429, "", {"Retry-After": "2.0"}), "TransportServerError"),
    ("GraphQL with status 402 for a shop that is frozen", Answer(402, "Payment Required"), "TransportServerError"),
    ("GraphQL with status 503", Answer(503), "TransportServerError"),
    ("GraphQL that is a page", html(200), "TransportProtocolError"),
    ("GraphQL that is silent", Answer(silent_s=4), "Exception"),
    ("GraphQL that is reset", Answer(is_reset=True), "Exception"),
):
    gql_case(title, raises=raises)(lambda http, answer=answer: query(http.answers(answer)))


@gql_case("GraphQL query with a syntax error", raises="GraphQLSyntaxError")
def _(http: HttpServer) -> None:
    gql("query { orders(first: 250 { nodes }")


# SOAP: one service, described well enough for a client.
WSDL = """<?xml version="1.0"?>
<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
 xmlns:t="urn:orders" xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:orders" name="Orders">
 <types><xsd:schema targetNamespace="urn:orders" elementFormDefault="qualified">
  <xsd:element name="GetOrders"><xsd:complexType><xsd:sequence>
   <xsd:element name="day" type="xsd:date"/></xsd:sequence></xsd:complexType></xsd:element>
  <xsd:element name="GetOrdersResponse"><xsd:complexType><xsd:sequence>
   <xsd:element name="count" type="xsd:int"/></xsd:sequence></xsd:complexType></xsd:element>
 </xsd:schema></types>
 <message name="In"><part name="parameters" element="t:GetOrders"/></message>
 <message name="Out"><part name="parameters" element="t:GetOrdersResponse"/></message>
 <portType name="OrdersPort"><operation name="GetOrders"><input message="t:In"/><output message="t:Out"/></operation></portType>
 <binding name="OrdersBinding" type="t:OrdersPort"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
  <operation name="GetOrders"><soap:operation soapAction="urn:GetOrders"/>
   <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
 <service name="Orders"><port name="Orders" binding="t:OrdersBinding"><soap:address location="{url}/orders"/></port></service>
</definitions>"""


def ask_soap(http: HttpServer, answer: Answer, day: Any = "2026-01-31") -> Any:
    def route(request: Request) -> Answer:
        return (
            Answer(200, WSDL.replace("{url}", http.url), {"Content-Type": "text/xml"})
            if request.method == "GET"
            else answer
        )

    url = http.routes(route)
    transport = zeep.Transport(timeout=1, operation_timeout=1)
    transport.session.auth = ("etl", CANARY)
    return zeep.Client(f"{url}/orders?wsdl", transport=transport).service.GetOrders(day=day)


def envelope(body: str, status: int = 200) -> Answer:
    text = f'<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>{body}</s:Body></s:Envelope>'
    return Answer(status, text, {"Content-Type": "text/xml; charset=utf-8"})


def fault(code: str, text: str, detail: str = "") -> Answer:
    more = f"<detail>{detail}</detail>" if detail else ""
    return envelope(f"<s:Fault><faultcode>{code}</faultcode><faultstring>{text}</faultstring>{more}</s:Fault>", 500)


for title, answer, *tags in (
    ("of the server", fault("s:Server", "java.lang.NullPointerException"), FROM_TEXT),
    ("of the client for a date", fault("s:Client", "cvc-datatype-valid.1.2.1: '31.01.2026' is not a valid value for 'date'."),
        WRONG_READING),
    ("of a session that is invalid", fault("sf:INVALID_SESSION_ID", "INVALID_SESSION_ID: Invalid Session ID found in "
        "SessionHeader: Illegal Session"), WRONG_READING),
    ("of a login", fault("wsse:FailedAuthentication", "The security token could not be authenticated"), WRONG_READING),
    ("of a request limit", fault("sf:REQUEST_LIMIT_EXCEEDED", "REQUEST_LIMIT_EXCEEDED: TotalRequests Limit exceeded."),
        WRONG_READING),
    ("of a concurrency limit", fault("ns:ExceededConcurrentRequestLimit", "The maximum number of concurrent requests was "
        "exceeded. Your request is blocked.", "<code>EXCEEDED_CONCURRENT_REQUEST_LIMIT</code>"), WRONG_READING),
    ("of a server that is busy", fault("s:Server.Busy", "The service is too busy. Try again later."), FROM_TEXT),
    ("of a header that was not understood", fault("s:MustUnderstand", "Header wsse:Security was not understood")),
    ("of a database that timed out behind it", fault("s:Server", "Timeout expired. The timeout period elapsed prior to "
        "completion of the operation or the server is not responding."), FROM_TEXT),
    ("of an order that does not exist", fault("s:Server", "Order 4711 not found"), FROM_TEXT, WRONG_READING),
):  # fmt: skip
    soap_case(f"SOAP fault {title}", raises="Fault", tags=tags)(lambda http, answer=answer: ask_soap(http, answer))

for title, answer, raises, *tags in (
    ("SOAP with status 401", html(401, "<html>Unauthorized</html>"), "Fault", WRONG_READING),
    ("SOAP with status 503 and a page", html(503, "<html>Service Unavailable</html>"), "Fault",
        WRONG_READING),
    ("SOAP with a page and status 200", html(200), "Exception", WRONG_READING),
    ("SOAP with nothing", Answer(200, "", {"Content-Type": "text/xml"}), "Exception"),
    ("SOAP that is cut off", Answer(200, "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Bo",
        {"Content-Type": "text/xml"}), "TransportError", WRONG_READING),
    ("SOAP that is silent", Answer(silent_s=4), "ReadTimeout"),
):  # fmt: skip
    soap_case(title, raises=raises, tags=tags)(lambda http, answer=answer: ask_soap(http, answer))


@soap_case("SOAP argument that is missing", raises="ValidationError")
def _(http: HttpServer) -> None:
    ask_soap(http, Answer(), day=None)


@soap_case("SOAP operation that is not there", raises="AttributeError")
def _(http: HttpServer) -> None:
    url = http.answers(Answer(200, WSDL.replace("{url}", http.url), {"Content-Type": "text/xml"}))
    zeep.Client(f"{url}/orders?wsdl").service.GetOrder(day="2026-01-31")


@soap_case("SOAP description that is a login page", raises="Exception", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    zeep.Client(http.answers(html(200)) + "/orders?wsdl")


@soap_case("SOAP description that is not found", raises="HTTPError")
def _(http: HttpServer) -> None:
    zeep.Client(http.answers(Answer(404)) + "/orders?wsdl")


@soap_case("SOAP server that is busy until tenacity gives up", raises="RetryError")
def _(http: HttpServer) -> None:
    busy = fault("s:Server.Busy", "The service is too busy. Try again later.")
    tenacity.retry(stop=tenacity.stop_after_attempt(2))(ask_soap)(http, busy)


if __name__ == "__main__":
    family.run()
