# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "elasticsearch==9.5.1",
#     "jira==3.10.5",
#     "meilisearch==0.43.0",
#     "notion-client==3.1.0",
#     "opensearch-py==3.2.0",
#     "pygithub==2.10.0",
#     "python-gitlab==8.6.0",
#     "tenacity==9.2.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-28T00:00:00Z"
# ///
"""What clients of developers' services and of search engines raise.

Forms: https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api, https://docs.gitlab.com/api/rest/,
https://developer.atlassian.com/cloud/jira/platform/rest/v3/intro/, https://developers.notion.com/reference/status-codes,
https://www.elastic.co/docs/api/doc/elasticsearch/, https://docs.opensearch.org/latest/api-reference/,
https://www.meilisearch.com/docs/reference/errors/error_codes
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import elasticsearch
import github
import gitlab
import jira
import meilisearch
import notion_client
import opensearchpy
import tenacity
from elasticsearch import helpers
from harness import CANARY, WRONG_READING, Family
from servers.http import Answer, HttpServer, Request, html, http_server, json_answer
from servers.port import refused_port

family = Family(__file__, "pygithub", servers={"http": http_server}, is_wire_form=True)


class IndexingFailed(Exception):
    """A user's own."""


def table(library: str, who: str, ask: Any, cases: Any) -> None:
    """Add a case for each row: title, the answer, the class, tags."""
    for title, answer, raises, *tags in cases:
        family.case(f"{who} {title}", raises=raises, tags=tags, library=library)(
            lambda http, answer=answer: ask(http.answers(answer))
        )


def ask_github(url: str) -> Any:
    options: Any = {"retry": None, "timeout": 1, "seconds_between_requests": 0}
    return github.Github(auth=github.Auth.Token(CANARY), base_url=url, **options).get_repo("shop/loads")


def gh_error(status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> Answer:
    return json_answer(
        status, {"message": message, "documentation_url": "https://docs.github.com/rest", **more}, headers
    )


EXHAUSTED = {
    "x-ratelimit-limit": "5000",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": str(int(time.time()) + 900),
}
table("pygithub", "GitHub", ask_github, (
    ("limit of an hour", gh_error(403, "API rate limit exceeded for user ID 1.", EXHAUSTED), "RateLimitExceededException",
        WRONG_READING),
    ("limit of an hour as 429", gh_error(429, "API rate limit exceeded for user ID 1.", EXHAUSTED), "GithubException"),
    ("secondary limit", gh_error(403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try "
        "again.", {"Retry-After": "60"}), "RateLimitExceededException", WRONG_READING),
    ("secondary limit without a wait", gh_error(403, "You have exceeded a secondary rate limit and have been temporarily "
        "blocked from content creation."), "RateLimitExceededException", WRONG_READING),
    ("credentials that are bad", gh_error(401, "Bad credentials"), "BadCredentialsException"),
    ("token that single sign-on does not allow", gh_error(403, "Resource protected by organization SAML enforcement. You must "
        "grant your Personal Access token access to this organization."), "GithubException"),
    ("token without the permission", gh_error(403, "Resource not accessible by personal access token"), "GithubException"),
    ("repository that is not there", gh_error(404, "Not Found"), "UnknownObjectException"),
    ("repository that was blocked", gh_error(451, "Repository access blocked", block={"reason": "dmca"}), "GithubException"),
    ("repository that is archived", gh_error(403, "Repository was archived so is read-only."), "GithubException",
        WRONG_READING),
    ("repository that is empty", gh_error(409, "Git Repository is empty."), "GithubException", WRONG_READING),
    ("validation", gh_error(422, "Validation Failed", errors=[{"resource": "Issue", "field": "title", "code": "missing_field"}]),
        "GithubException"),
    ("server error", gh_error(500, "Server Error"), "GithubException"),
    ("unicorn", html(502, "<html><title>Unicorn! &middot; GitHub</title></html>"), "GithubException"),
    ("is silent", Answer(silent_s=4), "Exception"),
))  # fmt: skip


def ask_gitlab(url: str) -> Any:
    return gitlab.Gitlab(url, private_token=f"glpat-{CANARY}", timeout=1, retry_transient_errors=False).projects.get(
        "shop/loads"
    )


def start_pipeline(url: str) -> Any:
    api = gitlab.Gitlab(url, private_token=f"glpat-{CANARY}", timeout=1)
    return api.projects.get(1, lazy=True).pipelines.create({"ref": "main"}, obey_rate_limit=False)


RESET = {"RateLimit-Remaining": "0", "RateLimit-Reset": str(int(time.time()) + 45), "Retry-After": "45"}
table("python-gitlab", "GitLab", ask_gitlab, (
    ("token that was revoked", json_answer(401, {"error": "invalid_token", "error_description": "Token was revoked. You have to "
        "re-authorize from the user."}), "GitlabAuthenticationError"),
    ("scope that is missing", json_answer(403, {"error": "insufficient_scope", "error_description": "The request requires higher "
        "privileges than provided by the access token.", "scope": "api"}), "GitlabGetError"),
    ("project that is not there", json_answer(404, {"message": "404 Project Not Found"}), "GitlabGetError"),
    ("server error", json_answer(500, {"message": "500 Internal Server Error"}), "GitlabGetError"),
    ("sign-in page", html(200), "GitlabParsingError", WRONG_READING),
))  # fmt: skip
table("python-gitlab", "GitLab pipeline", start_pipeline, (
    ("with too many requests", Answer(429, "Retry later", RESET), "GitlabCreateError"),
    ("with a file that is invalid", json_answer(400, {"message": {"base": ["jobs:load config contains unknown keys: scripts"]}}),
        "GitlabCreateError"),
    ("without minutes", json_answer(403, {"message": "Identity verification is required in order to run CI jobs"}),
        "GitlabCreateError", WRONG_READING),
))  # fmt: skip


@family.case("GitLab pipeline at an address that redirects", raises="RedirectError", library="python-gitlab")
def _(http: HttpServer) -> None:
    moved = Answer(302, headers={"Location": "/gitlab/api/v4/projects/1/pipeline"})
    start_pipeline(http.answers(moved, json_answer(200, {})))


def ask_jira(url: str) -> Any:
    options: Any = {"get_server_info": False, "max_retries": 0, "timeout": 1}
    return jira.JIRA(server=url, basic_auth=("etl@shop.example", CANARY), **options).issue("LOAD-1")


def jira_error(status: int, *messages: str, headers: dict[str, str] | None = None, **fields: str) -> Answer:
    return json_answer(status, {"errorMessages": [*messages], "errors": fields}, headers)


MINUTE = (datetime.now(UTC) + timedelta(minutes=2)).strftime("%Y-%m-%dT%H:%MZ")
table("jira", "Jira", ask_jira, (
    ("limit", json_answer(429, {"message": "Rate limit exceeded"}, {"Retry-After": "0", "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": MINUTE}), "JIRAError"),
    ("issue that is not there", jira_error(404, "Issue does not exist or you do not have permission to see it."), "JIRAError"),
    ("login that wants a captcha", Answer(403, "", {"X-Authentication-Denied-Reason": "CAPTCHA_CHALLENGE; login-url=https://"
        "jira.example/login.jsp"}), "JIRAError", WRONG_READING),
    ("token that is wrong", Answer(401, "Client must be authenticated to access this resource."), "JIRAError"),
    ("field that cannot be set", jira_error(400, customfield_10020="Field 'customfield_10020' cannot be set. It is not on the "
        "appropriate screen, or unknown."), "JIRAError"),
    ("index that is locked", jira_error(503, "Jira is currently re-indexing."), "JIRAError"),
    ("page instead of JSON", html(200), "Exception", WRONG_READING),
))  # fmt: skip


def ask_notion(url: str) -> Any:
    client = notion_client.Client(auth=f"ntn_{CANARY}", base_url=url, timeout_ms=1000, retry=False)
    return client.pages.retrieve("b55c9c91-384d-452b-81db-d1ef79372b75")


def notion_error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Answer:
    return json_answer(status, {"object": "error", "status": status, "code": code, "message": message}, headers)


table("notion-client", "Notion", ask_notion, (
    ("limit", notion_error(429, "rate_limited", "You have been rate limited. Please try again in a few minutes.",
        {"Retry-After": "12"}), "APIResponseError"),
    ("token that is wrong", notion_error(401, "unauthorized", "API token is invalid."), "APIResponseError"),
    ("page that was not shared", notion_error(404, "object_not_found", "Could not find page with ID: b55c9c91. Make sure the "
        "relevant pages and databases are shared with your integration."), "APIResponseError", WRONG_READING),
    ("validation", notion_error(400, "validation_error", "body failed validation: body.parent should be defined."),
        "APIResponseError"),
    ("conflict", notion_error(409, "conflict_error", "Conflict occurred while saving. Please try again."), "APIResponseError"),
    ("database that is unavailable", notion_error(503, "database_connection_unavailable", "Notion's database is unavailable"),
        "HTTPResponseError"),
    ("is silent", Answer(silent_s=4), "Exception"),
))  # fmt: skip


# Search engines.
ELASTIC = {"X-Elastic-Product": "Elasticsearch", "Content-Type": "application/vnd.elasticsearch+json;compatible-with=9"}


def elastic(url: str) -> elasticsearch.Elasticsearch:
    return elasticsearch.Elasticsearch(url, basic_auth=("etl", CANARY), max_retries=0, request_timeout=1)


def opensearch(url: str) -> opensearchpy.OpenSearch:
    return opensearchpy.OpenSearch(url, http_auth=("etl", CANARY), max_retries=0, timeout=1)


def es_error(status: int, kind: str, reason: str, **more: Any) -> Answer:
    cause = {"type": kind, "reason": reason, **more}
    return json_answer(status, {"error": {"root_cause": [cause], **cause}, "status": status}, ELASTIC)


ENGINE_CASES: Any = (
    ("index that is not there", es_error(404, "index_not_found_exception", "no such index [orders]", index="orders"), "NotFoundError"),
    ("query that cannot be parsed", es_error(400, "parsing_exception", "unknown query [mtach] did you mean [match]?", line=1,
        col=21), ("BadRequestError", "RequestError")),
    ("mapping that does not fit", es_error(400, "document_parsing_exception", "failed to parse field [amount] of type [float] in "
        "document with id '1'"), ("BadRequestError", "RequestError")),
    ("credentials that are wrong", es_error(401, "security_exception", "unable to authenticate user [etl] for REST request "
        "[/orders/_search]"), "AuthenticationException"),
    ("action that is not allowed", es_error(403, "security_exception", "action [indices:data/write/bulk] is unauthorized for user "
        "[etl]"), "AuthorizationException"),
    ("index that is read-only for a full disk", es_error(429, "cluster_block_exception", "index [orders] blocked by: "
        "[TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];"),
        ("ApiError", "TransportError"), WRONG_READING),
    ("index that is read-only by hand", es_error(403, "cluster_block_exception", "index [orders] blocked by: [FORBIDDEN/8/index "
        "write (api)];"), "AuthorizationException", WRONG_READING),
    ("queue that is full", es_error(429, "es_rejected_execution_exception", "rejected execution of TimedRunnable on "
        "EsThreadPoolExecutor[name = node/search, queue capacity = 1000]"), ("ApiError", "TransportError")),
    ("breaker that is transient", es_error(429, "circuit_breaking_exception", "[parent] Data too large, data for [<http_request>] "
        "would be [1027420224/979.8mb], which is larger than the limit of [1020054732/972.7mb]", bytes_wanted=1027420224,
        bytes_limit=1020054732, durability="TRANSIENT"), ("ApiError", "TransportError")),
    ("breaker that is permanent", es_error(429, "circuit_breaking_exception", "[fielddata] Data too large, data for [customer] "
        "would be [9027420224/8.4gb], which is larger than the limit of [1020054732/972.7mb]", durability="PERMANENT"),
        ("ApiError", "TransportError"), WRONG_READING),
    ("version that conflicts", es_error(409, "version_conflict_engine_exception", "[1]: version conflict, required seqNo [3], "
        "primary term [1]. current document has seqNo [4] and primary term [1]"), "ConflictError"),
    ("document that exists already", es_error(409, "version_conflict_engine_exception", "[1]: version conflict, document already "
        "exists (current version [1])"), "ConflictError", WRONG_READING),
    ("index that exists already", es_error(400, "resource_already_exists_exception", "index [orders/x] already exists"),
        ("BadRequestError", "RequestError")),
    ("cluster without a master", es_error(503, "master_not_discovered_exception", ""), ("ApiError", "TransportError")),
    ("shards that are not there yet", es_error(503, "no_shard_available_action_exception", "No shard available for [get [orders]"
        "[1]: routing [null]]"), ("ApiError", "TransportError")),
    ("all shards failed", es_error(503, "search_phase_execution_exception", "all shards failed", phase="query", grouped=True,
        failed_shards=[]), ("ApiError", "TransportError")),
    ("shards of the cluster are used up", es_error(400, "validation_exception", "Validation Failed: 1: this action would add [2] "
        "shards, but this cluster currently has [1000]/[1000] maximum normal shards open;"), ("BadRequestError", "RequestError"),
        WRONG_READING),
    ("window that is too large", es_error(400, "illegal_argument_exception", "Result window is too large, from + size must be less "
        "than or equal to: [10000] but was [20000]."), ("BadRequestError", "RequestError")),
    ("scroll that is gone", es_error(404, "search_context_missing_exception", "No search context found for id [42]"),
        "NotFoundError", WRONG_READING),
    ("licence that ran out", es_error(403, "security_exception", "current license is non-compliant for [ml]",
        **{"license.expired.feature": "ml"}), "AuthorizationException", WRONG_READING),
    ("gateway that times out", Answer(504, '{"ok":false,"message":"Timed out"}', ELASTIC), ("ApiError", "TransportError")),
    ("is silent", Answer(silent_s=4), "ConnectionTimeout"),
    ("resets the connection", Answer(is_reset=True), ("ConnectionError",)),
)  # fmt: skip
SHARED_WITH_OPENSEARCH = (
    "index that is not there", "query that cannot be parsed", "queue that is full", "breaker that is transient",
    "version that conflicts", "index that is read-only for a full disk", "gateway that times out", "is silent",
    "resets the connection", "cluster without a master",
)  # fmt: skip


def as_opensearch(answer: Answer) -> Answer:
    """Without what the two say differently."""
    body = str(answer.body).replace("es_rejected_execution", "rejected_execution")
    return replace(answer, body=body, headers={"Content-Type": "application/json; charset=UTF-8"})


table("elasticsearch", "Elasticsearch", lambda url: elastic(url).search(index="orders"), ENGINE_CASES)
table("opensearch-py", "OpenSearch", lambda url: opensearch(url).search(index="orders"),
    [(title, as_opensearch(answer), *more) for title, answer, *more in ENGINE_CASES if title in SHARED_WITH_OPENSEARCH])  # fmt: skip
table("opensearch-py", "OpenSearch", lambda url: opensearch(url).search(index="orders"), (
    ("access that is denied", json_answer(403, {"error": {"root_cause": [{"type": "security_exception", "reason": "no permissions "
        "for [indices:data/read/search]"}], "type": "security_exception", "reason": "no permissions"}, "status": 403}),
        "AuthorizationException"),
    ("credentials as plain words", Answer(401, "Unauthorized"), "AuthenticationException"),
    ("throttling of the domain", json_answer(429, {"message": "Request limit exceeded for the domain"}), "TransportError"),
    ("request without a signature", json_answer(403, {"Message": "User: anonymous is not authorized to perform: es:ESHttpGet "
        "because no resource-based policy allows the es:ESHttpGet action"}), "AuthorizationException"),
))  # fmt: skip


@family.case("Elasticsearch that is another product", raises="UnsupportedProductError", library="elasticsearch")
def _(http: HttpServer) -> None:
    elastic(http.answers(json_answer(200, {"version": {"number": "2.19.0", "distribution": "opensearch"}}))).info()


def bulk_answer(*items: tuple[int, str, str]) -> Answer:
    rows = [
        {"index": {"_index": "orders", "_id": str(n), "status": status, "error": {"type": kind, "reason": reason}}}
        for n, (status, kind, reason) in enumerate(items)
    ]
    return json_answer(200, {"took": 3, "errors": True, "items": rows}, ELASTIC)


def load(url: str) -> None:
    helpers.bulk(elastic(url), [{"_index": "orders", "_id": n, "amount": "n/a"} for n in range(2)])


BAD = (400, "document_parsing_exception", "failed to parse field [amount] of type [float]")
FULL = (429, "es_rejected_execution_exception", "rejected execution of coordinating operation")
for title, answer, *tags in (
    ("documents that do not fit", bulk_answer(BAD, BAD)),
    ("documents that were rejected for load", bulk_answer(FULL, FULL), WRONG_READING),
    ("one document of each", bulk_answer(BAD, FULL), WRONG_READING),
):
    family.case(f"Elasticsearch bulk with {title}", raises="BulkIndexError", tags=tags, library="elasticsearch")(
        lambda http, answer=answer: load(http.answers(answer))
    )


@family.case("Elasticsearch bulk under a user's own exception", raises="IndexingFailed", library="elasticsearch")
def _(http: HttpServer) -> None:
    try:
        load(http.answers(bulk_answer(FULL, FULL)))
    except helpers.BulkIndexError as error:
        raise IndexingFailed(f"{len(error.errors)} orders were not indexed") from error


for who, ask in (("Elasticsearch", elastic), ("OpenSearch", opensearch)):

    @family.case(
        f"{who} is refused", raises="ConnectionError", library=f"{who.lower().replace('opensearch', 'opensearch-py')}"
    )
    def _(ask: Any = ask) -> None:
        with refused_port() as port:
            ask(f"http://127.0.0.1:{port}").info()


@family.case("Elasticsearch has no master until tenacity gives up", raises="RetryError", library="elasticsearch")
def _(http: HttpServer) -> None:
    url = http.answers(es_error(503, "master_not_discovered_exception", ""))
    tenacity.retry(stop=tenacity.stop_after_attempt(2))(elastic(url).info)()


def ask_meili(url: str) -> Any:
    return meilisearch.Client(url, CANARY, timeout=1).index("orders").search("ada")


def meili_error(status: int, code: str, kind: str, message: str) -> Answer:
    return json_answer(
        status, {"message": message, "code": code, "type": kind, "link": f"https://docs.meilisearch.com/errors#{code}"}
    )


table("meilisearch", "Meilisearch", ask_meili, (
    ("index that is not there", meili_error(404, "index_not_found", "invalid_request", "Index `orders` not found."),
        "MeilisearchApiError"),
    ("key that is invalid", meili_error(403, "invalid_api_key", "auth", "The provided API key is invalid."),
        "MeilisearchApiError"),
    ("header that is missing", meili_error(401, "missing_authorization_header", "auth", "The Authorization header is missing."),
        "MeilisearchApiError"),
    ("filter that is invalid", meili_error(400, "invalid_search_filter", "invalid_request", "Attribute `day` is not filterable."),
        "MeilisearchApiError"),
    ("searches that are too many", meili_error(503, "too_many_search_requests", "system", "Too many search requests running at "
        "the same time: 1000. Retry after 10s."), "MeilisearchApiError", WRONG_READING),
    ("disk that is full", meili_error(500, "no_space_left_on_device", "system", "There is no more space left on the device."),
        "MeilisearchApiError", WRONG_READING),
    ("is silent", Answer(silent_s=4), "MeilisearchTimeoutError"),
    ("resets the connection", Answer(is_reset=True), "MeilisearchCommunicationError"),
))  # fmt: skip


@family.case(
    "Meilisearch task that does not end", raises="MeilisearchTimeoutError", library="meilisearch", tags=[WRONG_READING]
)
def _(http: HttpServer) -> None:
    def route(request: Request) -> Answer:
        task = {"uid": 7, "indexUid": "orders", "status": "enqueued", "type": "documentAdditionOrUpdate", "canceledBy": None,
            "details": {}, "error": None, "duration": None, "enqueuedAt": "2026-01-31T04:00:00.000000Z", "startedAt": None,
            "finishedAt": None}  # fmt: skip
        return json_answer(200, task)

    meilisearch.Client(http.routes(route), CANARY, timeout=1).wait_for_task(7, timeout_in_ms=200)


if __name__ == "__main__":
    family.run()
