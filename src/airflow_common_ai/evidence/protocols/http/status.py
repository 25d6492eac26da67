"""What an HTTP status alone says: one row a status, with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus

from airflow_common_ai.evidence.model import Strength, Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["OUTCOME_UNKNOWN", "PHRASES", "status_meaning"]

_NOW, _SHORT, _MEDIUM, _LONG = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG

_RFC = "RFC 9110 §15"
_WEBDAV = "RFC 4918 §11"
_NGINX = "nginx, non-standard"
_CLOUDFLARE = "Cloudflare docs, 5xx errors"
_ALB = "AWS application load balancer docs"

_WRONG_REQUEST = no("data", "the server rejected the request as wrong", f"{_RFC}.5")
_NEVER_DONE = no("permanent", "the server does not do what was asked", f"{_RFC}.5")
_SESSION_EXPIRED = depends("auth", _SHORT, "the session has expired", "Laravel 419, Microsoft 440, Esri 498")
_CLIENT_CERTIFICATE = no("permanent", "the server refused the client's headers or certificate", _NGINX)
_SERVER_ERROR = yes("transient", _SHORT, "the server failed", f"{_RFC}.6.1")
_GATEWAY = yes("network", _SHORT, "a gateway got no good answer from the server behind it", f"{_RFC}.6")
_ORIGIN_DOWN = yes("network", _SHORT, "Cloudflare could not reach the server behind it", _CLOUDFLARE)
_ORIGIN_TLS = depends("permanent", _LONG, "Cloudflare and the server behind it could not agree on TLS", _CLOUDFLARE)
_ORIGIN_CERTIFICATE = no("permanent", "Cloudflare does not trust the certificate of the server behind it", _CLOUDFLARE)
_REDIRECT = replace(
    depends("permanent", _SHORT, "a redirect that was not followed", f"{_RFC}.4"), strength=Strength.HINT
)


def _rows(*groups: tuple[tuple[int, ...], Meaning]) -> dict[int, Meaning]:
    return {status: meaning for statuses, meaning in groups for status in statuses}


_STATUS: Mapping[int, Meaning] = _rows(
    ((400, 411, 413, 416, 417, 422, 428, 431), _WRONG_REQUEST),
    ((401,), no("auth", "the credentials were refused", f"{_RFC}.5.2")),
    ((402,), no("permanent", "payment is required", f"{_RFC}.5.3")),
    ((403,), no("auth", "access was refused; a permission granted just now may need some minutes", f"{_RFC}.5.4")),
    (
        (404,),
        no("resource", "not found at that address; what was created just now may not be visible yet", f"{_RFC}.5.5"),
    ),
    ((405, 406, 414, 415, 426), _NEVER_DONE),
    ((407,), no("auth", "the proxy wants credentials", f"{_RFC}.5.8")),
    ((408,), yes("network", _SHORT, "the request did not arrive in time", f"{_RFC}.5.9")),
    ((409,), depends("transient", _SHORT, "a conflict with the state at the server", f"{_RFC}.5.10")),
    ((410,), no("resource", "gone for good from that address", f"{_RFC}.5.11")),
    ((412,), depends("data", _NOW, "somebody else changed it meanwhile", f"{_RFC}.5.13")),
    ((418,), no("permanent", "the server does not serve this client", "RFC 2324, in use as a block of bots")),
    ((419, 440, 498), _SESSION_EXPIRED),
    ((420, 430), yes("rate_limit", _MEDIUM, "rate limited", "non-standard: Twitter v1 420, Shopify 430")),
    ((421,), yes("network", _NOW, "the connection led to the wrong server", f"{_RFC}.5.20")),
    ((423,), depends("transient", _MEDIUM, "locked by somebody else", f"{_WEBDAV}.3", max_attempts=3)),
    ((424,), depends("transient", _MEDIUM, "something that it depends on failed", f"{_WEBDAV}.4")),
    ((425,), yes("network", _NOW, "sent too early on a new connection", "RFC 8470 §5.2")),
    ((429,), yes("rate_limit", _MEDIUM, "rate limited", "RFC 6585 §4")),
    ((444, 460, 499), yes("network", _SHORT, "the connection was closed before an answer", _NGINX)),
    ((449,), yes("transient", _NOW, "a concurrent write won", "azure-cosmos RETRY_WITH")),
    ((451,), no("permanent", "withheld for legal reasons", "RFC 7725 §3")),
    ((463, 464), replace(_NEVER_DONE, source=_ALB)),
    ((494, 495, 496, 497), _CLIENT_CERTIFICATE),
    ((500,), _SERVER_ERROR),
    ((501, 505, 506, 508, 510), replace(_NEVER_DONE, source=f"{_RFC}.6")),
    ((502, 504), _GATEWAY),
    ((503,), yes("transient", _MEDIUM, "the service is unavailable", f"{_RFC}.6.4")),
    ((507,), no("permanent", "the server's storage is full", f"{_WEBDAV}.5")),
    ((509,), yes("rate_limit", _MEDIUM, "the bandwidth limit is used up", "botocore 1.44.8, legacy retries")),
    ((511,), no("auth", "the network wants a login first", "RFC 6585 §6")),
    ((520, 521, 522, 523, 527, 530), _ORIGIN_DOWN),
    ((524,), depends("network", _MEDIUM, "the server took longer than Cloudflare waits", _CLOUDFLARE)),
    ((525,), _ORIGIN_TLS),
    ((526,), _ORIGIN_CERTIFICATE),
    ((529,), yes("transient", _MEDIUM, "the service is overloaded", "anthropic 2.14.0 OverloadedError")),
    ((531,), yes("transient", _MEDIUM, "a service behind it failed", "AWS Ground Station DependencyException")),
    ((561,), no("auth", "the identity provider refused", _ALB)),
    ((598, 599), replace(_GATEWAY, source="non-standard proxy timeouts")),
)

OUTCOME_UNKNOWN = frozenset({408, 499, 502, 504, 520, 522, 524, 598, 599})
"""The request may have been carried out although no answer came: what a repeated POST has to know."""

PHRASES: Mapping[int, str] = {status.value: status.phrase for status in HTTPStatus}
"""The standard reason phrases; a "code" that only repeats one adds nothing."""


def status_meaning(status: int) -> Meaning | None:
    """
    Return what ``status`` says with nothing else known; ``None`` below 300.

    An unknown status counts as the ``x00`` of its class (RFC 9110 §15), in the 4xx class as a hint only.
    """
    if status in _STATUS:
        return _STATUS[status]
    if status >= 500:
        return _SERVER_ERROR
    if status >= 400:
        return replace(_WRONG_REQUEST, strength=Strength.HINT)
    return _REDIRECT if status >= 300 else None
