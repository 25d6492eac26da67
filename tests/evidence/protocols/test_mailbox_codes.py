"""IMAP and POP3 servers put a code in brackets before their words."""

from __future__ import annotations

import imaplib
import poplib

import pytest
from failure_reading import alive, conclusion, logged, printed
from stand_ins import raised

from airflow_common_ai.evidence.model import Retry

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS


@pytest.mark.parametrize(
    ("error", "code", "retry"),
    [
        (imaplib.IMAP4.error("b'[INUSE] Mailbox in use'"), "mail.inuse", YES),
        (imaplib.IMAP4.error("b'[LIMIT] Too many simultaneous connections.'"), "mail.limit", YES),
        (imaplib.IMAP4.error("b\"[UNAVAILABLE] User's backend is down.\""), "mail.unavailable", YES),
        (imaplib.IMAP4.error("b'[AUTHENTICATIONFAILED] Invalid credentials (Failure)'"),
         "mail.authenticationfailed", NO),
        (imaplib.IMAP4.error("b'[NONEXISTENT] Unknown Mailbox: Orders'"), "mail.nonexistent", NO),
        (imaplib.IMAP4.error("b'[OVERQUOTA] Not enough disk quota'"), "mail.overquota", NO),
        (imaplib.IMAP4.abort("command: SELECT => [CORRUPTION] x"), None, None),
        (poplib.error_proto(b"-ERR [IN-USE] Do you have another POP session running?"), "mail.in-use", YES),
        (poplib.error_proto(b"-ERR [SYS/TEMP] try later"), "mail.sys_temp", YES),
        (poplib.error_proto(b"-ERR [SYS/PERM] POP access is disabled"), "mail.sys_perm", NO),
        (poplib.error_proto(b"-ERR [AUTH] invalid user or password"), "mail.auth", NO),
    ],
)  # fmt: skip
def test_the_code_of_a_mail_server_is_read(error: Exception, code: str | None, retry: Retry | None) -> None:
    for evidence in (alive(raised(error)), logged(raised(error))):
        found = [signal for signal in (conclusion(evidence),) if signal and signal.protocol == "mail"]
        assert [(signal.code, signal.retry) for signal in found] == ([(code, retry)] if code else [])


@pytest.mark.parametrize("message", ["'[LIMIT] is a column'", "[AUTH] section is missing in the file"])
def test_brackets_of_something_else_are_no_code(message: str) -> None:
    assert conclusion(printed("acme.LoadError", message)) is None


def test_a_task_that_passes_the_words_on_is_understood() -> None:
    signal = conclusion(printed("acme.LoadError", "cannot open the mailbox: [b'[INUSE] Mailbox in use']"))
    assert signal is not None
    assert signal.code == "mail.inuse"
