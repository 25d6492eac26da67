"""The codes that services put into the bodies of their errors, looked up exactly.

A code is compared without case and punctuation: ``rateLimitExceeded`` and ``RATE_LIMIT_EXCEEDED`` are one row.
Vendors whose codes fill a table of their own (AWS, Azure, SQL over HTTP) have their own readers; a code that no
table knows is read by its words, see ``http_words``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["CLOUDFLARE_CODES", "find_vendor_code", "squash"]

_NOW, _SHORT, _MEDIUM, _LONG, _RESET = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG, Wait.RESET

_OPENAI = "OpenAI error codes; openai 3.57.0"
_ANTHROPIC = "Anthropic API errors; anthropic 2.14.0"
_GOOGLE = "Google API error reasons; google-cloud-bigquery 3.47.0"
_RPC = "google.rpc.Code; google-api-core 2.44.0"
_OAUTH = "RFC 6749 §5.2, RFC 6750 §3.1, RFC 8628 §3.5"
_SLACK = "Slack Web API errors"
_SALESFORCE = "Salesforce REST API error codes"
_ELASTIC = "Elasticsearch error types"
_KUBERNETES = "Kubernetes API Status.reason"
_CLOUDFLARE = "developers.cloudflare.com, 1xxx errors"

_RATE = "rate limited"
_SPENT = "the paid quota or the spend limit of the account is used up"
_REFUSED = "the credentials were refused"
_NOT_ALLOWED = "these credentials are not allowed to do this"
_WRONG = "the request itself is wrong"


@dataclass(frozen=True, slots=True)
class _Rows:
    codes: str
    meaning: Meaning
    statuses: frozenset[int] | None = None
    """Only with one of these: what the same code of another vendor means differs."""


_VENDOR_ROWS = (
    _Rows(
        "insufficient_quota credit_balance_exhausted billing_hard_limit_reached billing_not_active"
        " organization_spend_limit_exceeded project_spend_limit_exceeded organization_usage_limit_exceeded",
        no("permanent", _SPENT, _OPENAI),
    ),
    _Rows("enforced_spend_limit_reached billing_error", no("permanent", _SPENT, _ANTHROPIC)),
    _Rows("billingNotEnabled BILLING_DISABLED", no("permanent", "billing is not enabled for the project", _GOOGLE)),
    _Rows("account_deactivated", no("permanent", "the account is deactivated", _OPENAI)),
    _Rows("rate_limit_exceeded", yes("rate_limit", _MEDIUM, _RATE, f"{_OPENAI}; {_GOOGLE}")),
    _Rows("slow_down", yes("rate_limit", _MEDIUM, "asked to slow down", f"{_OPENAI}; {_OAUTH}")),
    _Rows(
        "context_length_exceeded string_above_max_length content_filter content_policy_violation",
        no("data", "the prompt is too long or not allowed", _OPENAI),
    ),
    _Rows("invalid_api_key", no("auth", _REFUSED, _OPENAI)),
    _Rows("model_not_found", no("resource", "there is no such model, or not for these credentials", _OPENAI)),
    _Rows("rate_limit_error", yes("rate_limit", _MEDIUM, _RATE, _ANTHROPIC)),
    _Rows("overloaded_error", yes("transient", _MEDIUM, "the service is overloaded", _ANTHROPIC)),
    _Rows("api_error", yes("transient", _SHORT, "the service failed", _ANTHROPIC), frozenset(range(500, 600))),
    _Rows("authentication_error", no("auth", _REFUSED, _ANTHROPIC)),
    _Rows("permission_error", no("auth", _NOT_ALLOWED, _ANTHROPIC)),
    _Rows("not_found_error", no("resource", "there is no such thing", _ANTHROPIC)),
    _Rows("request_too_large", no("data", "the request is too large", _ANTHROPIC)),
    _Rows("timeout_error", yes("network", _SHORT, "the service timed out", _ANTHROPIC)),
    _Rows(
        "userRateLimitExceeded jobRateLimitExceeded servingLimitExceeded concurrentLimitExceeded",
        yes("rate_limit", _MEDIUM, _RATE, _GOOGLE),
    ),
    _Rows("quotaExceeded", depends("rate_limit", _LONG, "a quota is used up", _GOOGLE)),
    _Rows("dailyLimitExceeded", depends("rate_limit", _RESET, "the quota of the day is used up", _GOOGLE)),
    _Rows(
        "backendError internalError badGateway jobBackendError jobInternalError tableUnavailable",
        yes("transient", _SHORT, "the service failed", _GOOGLE),
    ),
    _Rows(
        "resourcesExceeded responseTooLarge billingTierLimitExceeded",
        no("permanent", "the query needs more than the service gives", _GOOGLE),
    ),
    _Rows("stopped", no("permanent", "somebody cancelled the job", _GOOGLE), frozenset({200})),
    _Rows("blocked", depends("permanent", _LONG, "the operation is blocked for now", _GOOGLE), frozenset({403})),
    _Rows(
        "insufficientPermissions policyViolation userProjectMissing authError",
        no("auth", _NOT_ALLOWED, _GOOGLE),
    ),
    _Rows("invalidQuery parseError", no("data", _WRONG, _GOOGLE)),
    # The names of gRPC statuses, as Google's and Databricks' JSON carries them.
    _Rows("RESOURCE_EXHAUSTED", yes("rate_limit", _MEDIUM, "a limit of the service is used up", _RPC)),
    _Rows("UNAVAILABLE", yes("transient", _SHORT, "the service is unavailable", _RPC)),
    _Rows("ABORTED", yes("transient", _NOW, "a concurrent change won", _RPC)),
    _Rows("INTERNAL", yes("transient", _SHORT, "the service failed", _RPC)),
    _Rows("DEADLINE_EXCEEDED", depends("network", _SHORT, "it took longer than the deadline", _RPC, max_attempts=3)),
    _Rows("CANCELLED", depends("transient", _SHORT, "the call was cancelled", _RPC), frozenset({499})),
    _Rows("INVALID_ARGUMENT OUT_OF_RANGE", no("data", _WRONG, _RPC)),
    _Rows("FAILED_PRECONDITION", no("data", "not possible in the state that things are in", _RPC)),
    _Rows("DATA_LOSS", no("data", "the service lost or damaged the data", _RPC)),
    _Rows("UNIMPLEMENTED", no("permanent", "the service does not do this", _RPC)),
    _Rows("PERMISSION_DENIED", no("auth", _NOT_ALLOWED, _RPC)),
    _Rows("UNAUTHENTICATED", depends("auth", _SHORT, _REFUSED, _RPC)),
    _Rows("ALREADY_EXISTS", no("data", "it already exists, perhaps from an earlier try", _RPC)),
    _Rows(
        "invalid_grant invalid_client unauthorized_client unsupported_grant_type invalid_scope",
        no("auth", _REFUSED, _OAUTH),
    ),
    _Rows("invalid_token", depends("auth", _SHORT, "the token has expired or was refused", _OAUTH)),
    _Rows("ExpiredAuthenticationToken InvalidAuthenticationToken",
          depends("auth", _SHORT, "the token has expired or was refused", "Azure Resource Manager")),
    _Rows("temporarily_unavailable server_error", yes("transient", _SHORT, "the service failed", _OAUTH)),
    _Rows("ratelimited rate_limited", yes("rate_limit", _MEDIUM, _RATE, _SLACK)),
    _Rows(
        "not_authed invalid_auth account_inactive token_revoked missing_scope no_permission not_in_channel"
        " not_allowed_token_type accesslimited ekm_access_denied",
        no("auth", _NOT_ALLOWED, _SLACK),
    ),
    _Rows("processing_error", yes("transient", _SHORT, "the payment could not be processed", "Stripe error codes"),
          frozenset({402})),
    _Rows("token_expired", depends("auth", _SHORT, "the token has expired", _SLACK)),
    _Rows("fatal_error team_added_to_org", yes("transient", _SHORT, "the service failed", _SLACK)),
    _Rows(
        "REQUEST_LIMIT_EXCEEDED",
        yes("rate_limit", _RESET, "the organisation's requests of 24 hours are used up", _SALESFORCE),
        frozenset({403}),
    ),
    _Rows("UNABLE_TO_LOCK_ROW", yes("transient", _NOW, "a row is locked", _SALESFORCE)),
    _Rows("INVALID_SESSION_ID", depends("auth", _SHORT, "the session has expired", _SALESFORCE)),
    _Rows("es_rejected_execution_exception circuit_breaking_exception",
          yes("rate_limit", _MEDIUM, "the cluster is too busy", _ELASTIC)),
    _Rows("version_conflict_engine_exception", yes("transient", _NOW, "a concurrent change won", _ELASTIC)),
    _Rows("cluster_block_exception", depends("permanent", _LONG, "writes are blocked, as on a full disk", _ELASTIC)),
    _Rows("Expired", yes("transient", _NOW, "the list that was being read is too old", _KUBERNETES), frozenset({410})),
)  # fmt: skip


def squash(code: str) -> str:
    """Return a code without case and punctuation."""
    return re.sub(r"[^a-z0-9]", "", code.lower())


def _by_code() -> dict[str, list[tuple[str, _Rows]]]:
    table: dict[str, list[tuple[str, _Rows]]] = {}
    for rows in _VENDOR_ROWS:
        for code in rows.codes.split():
            table.setdefault(squash(code), []).append((code, rows))
    return table


_BY_CODE = _by_code()


def find_vendor_code(code: str, status: int | None) -> tuple[str, Meaning] | None:
    """Return a vendor's code as the table spells it and what it means in an answer with ``status``."""
    for spelling, rows in _BY_CODE.get(squash(code), ()):
        if rows.statuses is None or status in rows.statuses:
            return spelling, rows.meaning
    return None


def _cloudflare(*groups: tuple[tuple[int, ...], Meaning]) -> dict[int, Meaning]:
    return {code: meaning for codes, meaning in groups for code in codes}


CLOUDFLARE_CODES: Mapping[int, Meaning] = _cloudflare(
    ((1015,), yes("rate_limit", _MEDIUM, "rate limited by Cloudflare", _CLOUDFLARE)),
    ((1200,), yes("transient", _MEDIUM, "Cloudflare has too many requests waiting for the server", _CLOUDFLARE)),
    ((1004, 1005, 1016, 1033), yes("network", _MEDIUM, "Cloudflare cannot reach the server behind it", _CLOUDFLARE)),
    ((1205,), no("permanent", "Cloudflare redirects in a circle", _CLOUDFLARE)),
    ((1006, 1007, 1008, 1009, 1010, 1012, 1020, 1106), no("permanent", "Cloudflare blocks this client", _CLOUDFLARE)),
)
"""By the number in the body of a page that Cloudflare itself made."""
