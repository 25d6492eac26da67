"""The exact words in which HTTP clients print an answer, for failures of which only the text is left.

A traceback in a log has no attributes, but ``429 Client Error: Too Many Requests for url: …`` from a class named
``HTTPError`` is as good as one. Every row asks for the class *and* for the form. A few sentences are unmistakable in
anybody's words, such as those of an operator that quotes its client; what is looser is prose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from airflow_common_ai.evidence.model import Fact, RedactedNode
from airflow_common_ai.evidence.protocols.http.body import is_vendor_code, printed_body_facts
from airflow_common_ai.evidence.protocols.http.status import PHRASES
from airflow_common_ai.evidence.protocols.http.wait_headers import is_wait_header

__all__ = ["printed_facts"]

_MAX_CHARS = 8192

_STATUS = r"(?P<status>[1-5]\d\d)"


@dataclass(frozen=True, slots=True)
class _Wording:
    client: str
    classes: re.Pattern[str]
    """The whole class name. Its module does not count: logs often print the name alone."""
    form: re.Pattern[str]
    """Its groups ``status``, ``phrase`` and ``code`` become facts. Anchored wherever the library is exact."""


def _row(client: str, classes: str, form: str) -> _Wording:
    return _Wording(client, re.compile(classes), re.compile(form, re.ASCII))


_GOOGLE_CLASSES = (
    "MovedPermanently|NotModified|TemporaryRedirect|ResumeIncomplete|BadRequest|InvalidArgument|FailedPrecondition"
    "|OutOfRange|Unauthorized|Unauthenticated|Forbidden|PermissionDenied|NotFound|MethodNotAllowed|Conflict"
    "|AlreadyExists|Aborted|LengthRequired|PreconditionFailed|RequestRangeNotSatisfiable|TooManyRequests"
    "|ResourceExhausted|Cancelled|InternalServerError|Unknown|DataLoss|MethodNotImplemented|BadGateway"
    "|ServiceUnavailable|GatewayTimeout|DeadlineExceeded|GoogleAPICallError|ClientError|ServerError"
)
_AZURE_CLASSES = (
    r"HttpResponseError|ClientAuthenticationError|Resource\w+Error|ODataV4Error|DecodeError|\w*IncompleteReadError"
    r"|Cosmos\w+Error|ServiceBus\w+|CloudError|PartialBatchErrorException"
)
_ELASTIC_CLASSES = (
    "ApiError|TransportError|RequestError|NotFoundError|ConflictError|BadRequestError|AuthenticationException"
    "|AuthorizationException"
)

_WORDINGS = (
    _row(
        "requests, huggingface_hub, docker",
        r"\w*(?:HTTP|Http|API)\w*Error",
        rf"^{_STATUS} (?:Client|Server) Error(?:: | for )",
    ),
    _row("httpx", "HTTPStatusError", rf"^(?:(?:Client|Server) error|\w+ response) '{_STATUS} "),
    _row(
        "aiohttp",
        "ClientResponseError|ContentTypeError|WSServerHandshakeError|ClientHttpProxyError",
        rf"^{_STATUS}, message=",
    ),
    _row("urllib", "HTTPError", rf"^HTTP Error {_STATUS}: "),
    _row("urllib3", "MaxRetryError|ResponseError|RetryError", rf"too many {_STATUS} error responses"),
    _row("http.client", "OSError|ProxyError|MaxRetryError", rf"Tunnel connection failed: {_STATUS} "),
    _row("httpx, httpcore", "ProxyError", rf"^{_STATUS} [A-Z]"),
    _row("kubernetes", "ApiException", rf"^\({_STATUS}\)(?:\s+Reason: |$)"),
    _row("kubernetes, a class a status", r"\w+Exception", rf"^\({_STATUS}\)\s+Reason: "),
    _row("google-api-python-client", "HttpError", rf"^<HttpError {_STATUS} "),
    _row("google-api-core, werkzeug", _GOOGLE_CLASSES, rf"^(?:{_STATUS}|None) "),
    _row("openai, anthropic and their kin", r"\w+Error", rf"^Error code: {_STATUS}\b"),
    _row("pydantic-ai", "ModelHTTPError", rf"^status_code: {_STATUS}, "),
    _row("botocore, HEAD", r"\w+", rf"^An error occurred \({_STATUS}\) when calling the \w+ operation"),
    _row("botocore", r"\w+", r"^An error occurred \((?P<code>[A-Za-z][\w.:]{0,99})\) when calling the \w+ operation"),
    _row("Airflow's HttpHook", "AirflowException|HttpErrorException", rf"^{_STATUS}:(?P<phrase>[A-Za-z' -]{{0,40}})$"),
    _row("elasticsearch, opensearch-py", _ELASTIC_CLASSES, rf"^\w+\({_STATUS}, '(?:(?P<code>\w{{1,100}})')?"),
    _row(
        "azure, code",
        _AZURE_CLASSES,
        r"(?m)^(?:Error)?Code: ?(?P<code>[A-Za-z]\w{1,99})\s*$|^\((?P<code_>[A-Za-z]\w+)\) ",
    ),
    _row("azure, status", _AZURE_CLASSES, rf"(?mi)^Status(?: code)?: ?{_STATUS}\b"),
    _row("azure, phrase", _AZURE_CLASSES, r"^Operation returned an invalid status '(?P<phrase>[A-Za-z' -]{1,40})'"),
    _row("slack-sdk", "SlackApiError", r"The server responded with: \{"),
    _row("simple-salesforce", "SalesforceGeneralError", rf"^Error Code {_STATUS}\. Response content: "),
    _row(
        "PyGithub",
        r"GithubException|UnknownObjectException|BadCredentialsException|RateLimitExceededException",
        rf"(?:^|: ){_STATUS}(?: \{{|$)",
    ),
    _row("python-gitlab", r"Gitlab\w+", rf"^{_STATUS}: "),
    _row("jira", "JIRAError", rf"^JiraError HTTP {_STATUS} "),
    _row("twilio", "TwilioRestException", rf"\bHTTP {_STATUS} error: "),
    _row("tableauserverclient", r"ServerResponseError|\w*SignInError|NotSignedInError", rf"(?m)^\s*{_STATUS}\d\d\d: "),
    _row("websockets", "InvalidStatus(?:Code)?", rf"rejected WebSocket connection: HTTP {_STATUS}$"),
)

_QUOTED = re.compile(
    rf"""\b{_STATUS}\ (?:Client|Server)\ Error(?::\ [A-Z]|\.\ \()                       # requests, Hugging Face
    |(?:Client|Server)\ error\ '(?P<httpx>[45]\d\d)\ [A-Z]                              # httpx
    |\bHTTP\ [Ee]rror:?\ (?P<urllib>[45]\d\d)\b                                         # urllib, azure-identity
    |\bError\ code:\ (?P<openai>[45]\d\d)\ -\ \{{                                      # openai, anthropic
    |requested\ URL\ returned\ error:\ (?P<curl>[45]\d\d)\b                            # curl
    |failed\ with\ status\ code\ (?P<axios>[45]\d\d)\b                                # axios, fetch wrappers
    |[(\[]HTTP\ (?P<openstack>[45]\d\d)[)\]]                                          # OpenStack, Swift, ArangoDB
    |\bHTTP/[12](?:\.\d)?\ (?P<line>[45]\d\d)\b                                      # a status line
    |\breceived\ (?P<praw>[45]\d\d)\ HTTP\ response\b                                # prawcore
    |\bUnexpected\ Response:\ (?P<qdrant>[45]\d\d)\ \(                                # qdrant-client
    |\berror\ code\ (?P<mlflow>[45]\d\d)\ !=\ 200\b                                   # mlflow
    |\bAPIError\ Code:\ (?P<graph>[45]\d\d)\b                                        # msgraph-sdk
    |\bProtocolError\ for\ \S{{1,300}}:\ (?P<xmlrpc>[45]\d\d)\b                       # xmlrpc.client
    |\bgoogleapi:\ (?:got\ HTTP\ response\ code|Error)\ (?P<go>[45]\d\d)\b          # Google's clients in Go
    |\bnpm\ (?:ERR!|error)\ (?:code\ E)?(?P<npm>[45]\d\d)\b                          # npm
    |<title>(?P<title>[45]\d\d)\ [A-Z]                                               # pages of servers, proxies
    |\bStatus:?\ {{1,3}}(?P<said>[45]\d\d)(?=[.,;)\n]|$)                             # clients that are generated
    |(?<!exit\ )\b[Ss]tatus[ _]?[Cc]ode(?:\ is|\ was)?[:=]?\ ?(?P<words>[45]\d\d)\b
    """,
    re.ASCII | re.VERBOSE,
)
"""Sentences of HTTP clients that nobody writes by chance. Source: the clients' own code."""
_QUOTED_MARKS = (
    " Error", " error '", "HTTP", "Error code: ", "returned error: ", "tatus", "Response: ", "error code ", " Code: ",
    "for ", "googleapi: ", "npm ", "<title>",
)  # fmt: skip
"""Each of them holds one of these."""

_SALESFORCE_STATUS = {
    "SalesforceMoreThanOneRecord": 300,
    "SalesforceMalformedRequest": 400,
    "SalesforceExpiredSession": 401,
    "SalesforceAuthenticationFailed": 401,
    "SalesforceRefusedRequest": 403,
    "SalesforceResourceNotFound": 404,
}
"""Classes that do not print their status. Source: simple-salesforce 1.12.10 ``exceptions.py``."""

_STATUS_BY_PHRASE = {phrase.lower(): status for status, phrase in PHRASES.items()}

_BROKEN_ANSWER = re.compile(r"message=[\"'](?:Bad status line|Invalid |Got more than|Data after|Expected HTTP)")
"""aiohttp gives a garbled answer the status 400 that nobody sent."""
_SPENT_RETRIES = re.compile(r"too many \d{3} error responses|\(reached max retries: [1-9]")
_MIME_TYPE = re.compile(r"unexpected mimetype: ([\w/+.-]{1,60})", re.ASCII)
_HEADERS = "HTTP response headers: "
_HEADER = re.compile(r"'([A-Za-z][\w-]{1,60})': '([^'\n]{1,256})'", re.ASCII)
_WORD_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])")


def printed_facts(node: RedactedNode) -> dict[str, Fact]:
    """Return the facts that a client printed into its message, named as ``probe`` names them."""
    name, message = node.class_name, node.message[:_MAX_CHARS]
    matches = [form.search(message) for form in _forms_of(name)]
    if name not in _SALESFORCE_STATUS and not any(matches):
        return _quoted_facts(message)
    facts: dict[str, Fact] = {}
    if name in _SALESFORCE_STATUS:
        facts["http.status"] = _SALESFORCE_STATUS[name]
    for match in filter(None, matches):
        facts.update(_match_facts(match))
    if node.type_path.startswith("google.api_core."):
        # DataLoss is a 500 in HTTP, and Aborted a 409: the class tells more.
        facts["http.body.status"] = _WORD_BREAK.sub("_", name).upper()
    return {**printed_body_facts(message), **facts, **_other_facts(message)}


@lru_cache(maxsize=256)
def _forms_of(class_name: str) -> tuple[re.Pattern[str], ...]:
    """Return how the clients print an answer that have a class of this name."""
    return tuple(wording.form for wording in _WORDINGS if wording.classes.fullmatch(class_name))


def _quoted_facts(message: str) -> dict[str, Fact]:
    """Return the status that somebody's words quote; of several that differ none, since one may have been handled."""
    if not any(map(message.__contains__, _QUOTED_MARKS)):
        return {}
    statuses = {text for match in _QUOTED.finditer(message) for text in match.groups() if text}
    return {"http.status": int(statuses.pop())} if len(statuses) == 1 else {}


def _match_facts(match: re.Match[str]) -> dict[str, Fact]:
    found = {name.rstrip("_"): text for name, text in match.groupdict().items() if text is not None}
    status = int(found["status"]) if "status" in found else None
    if phrase := found.get("phrase"):
        status_of_phrase = _STATUS_BY_PHRASE.get(phrase.lower())
        if status_of_phrase is None or status not in (None, status_of_phrase):
            return {}
        status = status_of_phrase
    facts: dict[str, Fact] = {} if status is None else {"http.status": status}
    if is_vendor_code(found.get("code")):
        facts["http.body.code"] = found["code"]
    return facts


def _other_facts(message: str) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    if _BROKEN_ANSWER.search(message):
        facts["http.broken_answer"] = True
    if _SPENT_RETRIES.search(message):
        facts["http.retries_spent"] = True
    if match := _MIME_TYPE.search(message):
        facts["http.header.content-type"] = match[1]
    _, has_headers, headers = message.partition(_HEADERS)
    if has_headers:
        for name, value in _HEADER.findall(headers.partition("\nHTTP response body")[0]):
            if name.lower() == "date" or is_wait_header(name.lower()):
                facts[f"http.header.{name.lower()}"] = value
    return facts
