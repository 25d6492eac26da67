"""What the policy must decide about each task of the demo: the demo fails if anything else comes out of Airflow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple


class Decision(NamedTuple):
    """What is decided about one failed try."""

    action: Literal["retry", "fail", "default"]
    code: str
    """What it was decided from."""


@dataclass(frozen=True)
class Expectation:
    """One task of the demo."""

    failure: str
    """What goes wrong, in words."""
    decisions: tuple[Decision, ...]
    """About each failed try, in order."""
    ends: Literal["success", "failed"] = "failed"
    asked_delay_s: float | None = None
    """What the server asks for; a retry must not come earlier, and at most a tenth later."""


def _retry(code: str) -> Decision:
    return Decision("retry", code)


def _fail(code: str) -> Decision:
    return Decision("fail", code)


RETRIES = 3
"""Of every task of the demo."""

EXPECTATIONS: Mapping[str, Expectation] = {
    "fetch_orders": Expectation("HTTP 429, Retry-After: 3", (_retry("http.429"),), ends="success", asked_delay_s=3),
    "fetch_prices": Expectation("HTTP 503, whenever asked", (_retry("http.503"),) * 4),
    "fetch_stock": Expectation("HTTP 503 under a hook's exception, no `from`", (_retry("http.503"),), ends="success"),
    "fetch_customers": Expectation(
        "HTTP 401, an expired token", (_retry("http.401.expired"), _fail("http.401.expired"))
    ),
    "fetch_archive": Expectation("HTTP 404", (_fail("http.404"),)),
    "fetch_report": Expectation(
        "a web page instead of JSON", (_retry("json.html"), _retry("json.html"), _fail("json.html"))
    ),
    "connect_warehouse": Expectation("connection refused", (_retry("os.econnrefused"),) * 4),
    "read_upload": Expectation("a missing file", (_fail("os.enoent"),)),
    "parse_amount": Expectation("a bad value", (_fail("python.value_error"),)),
    "load_invoices": Expectation("AirflowException `from` an HTTP 404", (_fail("http.404"),)),
    "sync_regions": Expectation("a group: HTTP 503 and a missing file", (_fail("os.enoent"),)),
    "export_ledger": Expectation("a shell command that does not exist", (_fail("exit.127"),)),
    "send_mail": Expectation("exit code 75: try again later", (_retry("exit.75"),), ends="success"),
}
