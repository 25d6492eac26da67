"""Mail and FTP servers on loopback answer with codes; smtplib and ftplib raise them."""

from __future__ import annotations

import ftplib
import smtplib
import socket

import pytest
from failure_reading import alive, conclusion, logged
from http_reading import raised_by
from loopback import sockets

from airflow_common_ai.evidence.model import Rank, Retry
from airflow_common_ai.evidence.protocols.text import replies


def mail_server(answers: dict[str, str], greeting: str = "220 ready") -> sockets.Conversation:
    """Answer each SMTP command by its verb, ``250 ok`` unless told otherwise."""

    def conversation(connection: socket.socket) -> None:
        connection.sendall(f"{greeting}\r\n".encode())
        with connection.makefile("rb") as lines:
            for line in lines:
                verb = line.split()[0].decode().upper() if line.split() else ""
                connection.sendall(f"{({'QUIT': '221 bye'} | answers).get(verb, '250 ok')}\r\n".encode())

    return conversation


def send_mail(port: int, *recipients: str) -> None:
    with smtplib.SMTP("127.0.0.1", port, timeout=5) as client:
        client.sendmail("a@example.org", recipients or ["b@example.org"], "text")


def log_in(port: int) -> None:
    with smtplib.SMTP("127.0.0.1", port, timeout=5) as client:
        client.login("user", "password")


@pytest.mark.parametrize(
    ("verb", "reply", "code", "category", "retry"),
    [
        ("MAIL", "421 too busy", "smtp.421", "transient", Retry.YES),
        ("MAIL", "452 out of space", "smtp.452", "rate_limit", Retry.YES),
        ("MAIL", "530 authentication required", "smtp.530", "auth", Retry.NO),
        ("RCPT", "450 greylisted", "smtp.450", "transient", Retry.YES),
        ("RCPT", "550 no such user", "smtp.550", "data", Retry.NO),
        ("RCPT", "499 unheard of", "smtp.499", "transient", Retry.DEPENDS),
        ("MAIL", "599 unheard of", "smtp.599", "permanent", Retry.NO),
        (
            "MAIL",
            "554 5.7.1 Service unavailable; Client host blocked using zen.spamhaus.org",
            "smtp.554",
            "permanent",
            Retry.NO,
        ),
        ("RCPT", "550 5.7.1 sender is on our block list, try again later", "smtp.550", "permanent", Retry.NO),
        ("RCPT", "450 4.7.1 blocked using a grey list", "smtp.450", "transient", Retry.YES),
    ],
)
def test_a_mail_servers_reply_code_decides(verb: str, reply: str, code: str, category: str, retry: Retry) -> None:
    with sockets.serve(mail_server({verb: reply})) as port:
        error = raised_by(lambda: send_mail(port))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry, signal.rank) == (code, category, retry, Rank.STATUS)


@pytest.mark.parametrize(
    ("reply", "category", "retry"), [("535 no", "auth", Retry.NO), ("454 for now", "transient", Retry.YES)]
)
def test_a_refused_login_is_final_unless_it_is_for_now(reply: str, category: str, retry: Retry) -> None:
    with sockets.serve(mail_server({"EHLO": "250-hello\r\n250 AUTH PLAIN", "AUTH": reply})) as port:
        error = raised_by(lambda: log_in(port))
    assert isinstance(error, smtplib.SMTPAuthenticationError)
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.category, signal.retry) == (category, retry)


def test_a_greeting_that_refuses_is_read() -> None:
    with sockets.serve(mail_server({}, greeting="421 go away")) as port:
        error = raised_by(lambda: send_mail(port))
    signal = conclusion(alive(error))
    assert signal is not None
    assert signal.code == "smtp.421"


def test_a_mail_server_that_hangs_up_is_a_network_failure() -> None:
    with sockets.serve(lambda connection: connection.close()) as port:
        error = raised_by(lambda: send_mail(port))
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.category, signal.retry) == ("network", Retry.YES)


def test_of_several_recipients_the_mildest_reply_counts_and_no_address_is_copied() -> None:
    error = smtplib.SMTPRecipientsRefused({"a@example.org": (450, b"later"), "b@example.org": (550, b"never")})
    assert replies.probe(error) == {"smtp.code": 450}


@pytest.mark.parametrize("recipients", [{}, {"a": None}, {"a": ("450", b"")}, {"a": ()}, None])
def test_recipients_without_codes_are_left_alone(recipients: object) -> None:
    error = Exception("x")
    error.recipients = recipients  # type: ignore[attr-defined]
    assert replies.probe(error) == {}


def retrieve(port: int) -> None:
    client = ftplib.FTP()
    client.connect("127.0.0.1", port, timeout=5)
    client.login("user", "password")
    client.sendcmd("RETR file")


@pytest.mark.parametrize(
    ("verb", "reply", "code", "category", "retry"),
    [
        ("PASS", "530 Login incorrect.", "ftp.530", "auth", Retry.NO),
        ("PASS", "530 Sorry, the maximum number of clients is connected.", "ftp.530", "rate_limit", Retry.YES),
        ("RETR", "550 No such file.", "ftp.550", "resource", Retry.NO),
        ("RETR", "426 Connection closed; transfer aborted.", "ftp.426", "network", Retry.YES),
        ("RETR", "450 File busy.", "ftp.450", "network", Retry.YES),
        ("RETR", "552 Quota exceeded.", "ftp.552", "permanent", Retry.NO),
        ("RETR", "502 Command not implemented.", "ftp.502", "permanent", Retry.NO),
    ],
)
def test_an_ftp_servers_reply_code_decides_alive_and_in_a_log(
    verb: str, reply: str, code: str, category: str, retry: Retry
) -> None:
    with sockets.serve(mail_server({"USER": "331 password", "PASS": "230 welcome", verb: reply})) as port:
        error = raised_by(lambda: retrieve(port))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (code, category, retry)
