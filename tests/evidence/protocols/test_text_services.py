"""What services say of their own failures in plain words: retryable or not, licences, money, policies, locks."""

from __future__ import annotations

import pytest
from word_reading import conclusive_codes, hinted_codes

MESSAGES = {
    # The service's own verdict.
    "The request failed and the error is not retryable.": "not_retryable",
    "Job failed with a non-retryable error: schema version 3 unknown": "not_retryable",
    "This error cannot be retried.": "not_retryable",
    "The copy failed (retryable: false)": "not_retryable",
    # Licences, certificates, money.
    "License expired on 2026-01-01": "license",
    "The licence for this product has expired": "license",
    "license key is invalid": "license",
    "current license is non-compliant for [security]": "license",
    "certificate has expired": "tls_certificate",
    "tls: expired certificate": "tls_certificate",
    "Your credit card was declined": "billing",
    "payment method required": "billing",
    "Your account is past due": "billing",
    "Account suspended for non-payment": "billing",
    "You are out of credits": "billing",
    # Policies.
    "connection refused by policy": "policy",
    "connection was rejected by the firewall": "policy",
    "traffic is blocked by network policy": "policy",
    "request was denied by the organization policy": "policy",
    "Your IP address is not allowed to access this database": "policy",
    # Locks.
    "Lock held by other process": "locked",
    "file locked by another user": "locked",
    "E: Could not get lock /var/lib/dpkg/lock-frontend.": "locked",
    "UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress": "locked",
    # Other services.
    "fatal: the remote end hung up unexpectedly": "connection_lost",
    "curl: (18) transfer closed with 480 bytes remaining to read": "connection_lost",
    "rsync error: some files vanished before they could be transferred (code 24)": "unavailable",
    "No cluster leader": "unavailable",
    "local node not active but active cluster node not found": "unavailable",
    "error: unable to upgrade connection: container not found": "connection_lost",
    "[HTTP 409][ERR 1200] write-write conflict": "lost_race",
    "error: You must be logged in to the server": "login_refused",
    "Preempted in order to admit critical pod": "machine_lost",
}


@pytest.mark.parametrize(("message", "topic"), MESSAGES.items())
def test_a_service_is_understood(message: str, topic: str) -> None:
    assert conclusive_codes(message)[:1] == [topic]


@pytest.mark.parametrize(
    "message",
    [
        "table non_retryable_errors could not be loaded",
        'column "not retryable" of relation x',
        "Cannot read table license_expired",
        "Licensed number of users already reached",
        "the server's certificate has not expired",
        "the table credit_card_declined is empty",
        "the table lock_held_by_other is missing",
        "The lock was not held by this session",
        "request rejected by rate limit policy",
        'policy "retry" was refused',
        "a deck of cards was dealt",
        "the plan has expired in the plan cache",
    ],
)
def test_names_and_neighbours_of_these_words_settle_nothing(message: str) -> None:
    assert conclusive_codes(message) == []


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("do not retry before 12:00", "not_retryable"),
        ("set of not retryable errors must be a list", "not_retryable"),
        ("Subscription has expired", "billing"),
    ],
)
def test_what_may_mean_something_else_is_a_hint(message: str, topic: str) -> None:
    assert (conclusive_codes(message), hinted_codes(message)) == ([], [topic])


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("the error is retryable", "unavailable"),
        ("connection refused", "connection_refused"),
        ("connection refused by the peer", "connection_refused"),
        ("license server is busy", "unavailable"),
    ],
)
def test_the_opposite_keeps_its_meaning(message: str, topic: str) -> None:
    assert topic in (*conclusive_codes(message), *hinted_codes(message))


def test_a_request_whose_body_was_read_may_still_fail_for_a_connection() -> None:
    assert conclusive_codes("Connection reset; the request is not retryable as its body was read") == [
        "connection_lost"
    ]
