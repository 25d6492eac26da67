# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "aiosmtpd==1.4.6",
#     "aiosmtplib==5.1.3",
#     "cryptography==46.0.3",
#     "pyftpdlib==2.2.0",
#     "tenacity==9.2.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What Python's own clients of SMTP, FTP, IMAP and POP3 raise, and aiosmtplib."""

from __future__ import annotations

import base64
import ftplib
import imaplib
import io
import poplib
import smtplib
import socket
import ssl
from collections.abc import Callable
from email.message import EmailMessage
from functools import partial
from typing import Any

import aiosmtplib
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs, port_that_resets
from servers.ftp import Ftp, ftp
from servers.mail import LineServer, ftp_lines, imap_lines, pop_lines, smtp_lines
from servers.port import refused_port
from servers.smtp import Smtp, smtp
from servers.tls import https_server

family = Family(
    __file__,
    "python",
    servers={
        "ftp": ftp,
        "ftp_says": ftp_lines,
        "imap_says": imap_lines,
        "pop_says": pop_lines,
        "smtp": smtp,
        "smtp_says": smtp_lines,
        "https": https_server(),
    },
)
wire = partial(family.case, is_wire_form=True)
aio_case = partial(family.case, library="aiosmtplib", is_wire_form=True)
TRAP = [WRONG_READING]
QUICK_S = 0.5


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


def message(size: int = 10) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "etl@shop.example", "ada@shop.example", "Orders of the day"
    mail.set_content("x" * size)
    return mail


def send(port: int, mail: EmailMessage | None = None, **options: Any) -> None:
    with smtplib.SMTP("127.0.0.1", port, timeout=1) as client:
        client.login("etl", options.get("password", CANARY))
        client.send_message(mail or message())


# SMTP: https://www.rfc-editor.org/rfc/rfc5321#section-4.2 and https://www.rfc-editor.org/rfc/rfc3463
for title, command, words, raises, tags in (
    ("the service is shut down", "", "421 4.3.2 Service shutting down and closing channel", "SMTPConnectError", []),
    ("too many connections from one address", "", "421 4.7.0 mail.example Error: too many connections from 192.0.2.1",
     "SMTPConnectError", []),
    ("the address is on a block list", "", "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using a list",
     "SMTPConnectError", TRAP),
    ("the password is wrong", "AUTH", "535 5.7.8 Error: authentication failed", "SMTPAuthenticationError", []),
    ("the account wants an application's password", "AUTH", "534 5.7.9 Application-specific password required.",
     "SMTPAuthenticationError", []),
    ("the sign-in fails for the time being", "AUTH", "454 4.7.0 Temporary authentication failure: Connection lost to"
     " authentication server", "SMTPAuthenticationError", TRAP),
    ("basic sign-in is switched off", "AUTH", "535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is"
     " disabled for the Tenant.", "SMTPAuthenticationError", TRAP),
    ("too many sign-ins", "AUTH", "454 4.7.0 Too many login attempts, please try again later.", "SMTPAuthenticationError", TRAP),
    ("nobody has signed in", "MAIL", "530 5.7.0 Authentication Required.", "SMTPSenderRefused", []),
    ("TLS must come first", "MAIL", "530 5.7.0 Must issue a STARTTLS command first", "SMTPSenderRefused", TRAP),
    ("the sender is not verified", "MAIL", "554 5.7.1 Email address is not verified.", "SMTPSenderRefused", []),
    ("the sender may not send as that address", "MAIL", "553 5.7.1 Sender address rejected: not owned by user etl",
     "SMTPSenderRefused", []),
    ("the day's mails are used up", "MAIL", "550 5.4.5 Daily user sending limit exceeded.", "SMTPSenderRefused", TRAP),
    ("mails per second are exceeded", "MAIL", "454 4.7.0 Throttling failure: Maximum sending rate exceeded.",
     "SMTPSenderRefused", []),
    ("the day's quota of the cloud is used up", "MAIL", "454 4.7.0 Throttling failure: Daily message quota exceeded.",
     "SMTPSenderRefused", TRAP),
    ("the server has no space", "MAIL", "452 4.3.1 Insufficient system storage", "SMTPSenderRefused", []),
    ("the mail is larger than allowed", "MAIL", "552 5.3.4 Message size exceeds fixed limit", "SMTPSenderRefused", []),
    ("the recipient is greylisted", "RCPT", "450 4.2.0 Recipient address rejected: Greylisted, please try again in 300"
     " seconds", "SMTPRecipientsRefused", []),
    ("the mailbox does not exist", "RCPT", "550 5.1.1 The email account that you tried to reach does not exist.",
     "SMTPRecipientsRefused", []),
    ("the mailbox is full", "RCPT", "552 5.2.2 The email account that you tried to reach is over quota.",
     "SMTPRecipientsRefused", []),
    ("the mailbox is busy", "RCPT", "450 4.2.1 The user you are trying to contact is receiving mail at a rate that"
     " prevents additional messages from being delivered.", "SMTPRecipientsRefused", []),
    ("relaying is denied", "RCPT", "550 5.7.1 Unable to relay", "SMTPRecipientsRefused", []),
    ("the domain of the recipient is not found", "RCPT", "450 4.1.2 Recipient address rejected: Domain not found",
     "SMTPRecipientsRefused", TRAP),
    ("too many recipients", "RCPT", "452 4.5.3 Too many recipients", "SMTPRecipientsRefused", TRAP),
    ("the address has no valid form", "RCPT", "501 5.1.3 Bad recipient address syntax", "SMTPRecipientsRefused", []),
    ("the content is taken for spam", ".", "554 5.7.1 Message rejected as spam by Content Filtering.", "SMTPDataError", []),
    ("the attachment is not allowed", ".", "552 5.7.0 This message was blocked because its content presents a potential"
     " security issue.", "SMTPDataError", []),
    ("the server has a local error", ".", "451 4.3.0 Error: queue file write error", "SMTPDataError", []),
    ("the transaction has failed", ".", "554 5.3.0 Transaction failed", "SMTPDataError", []),
    ("the server hangs up in mid mail", ".", None, "SMTPServerDisconnected", []),
    ("the server hangs up at its greeting", "", None, "SMTPServerDisconnected", []),
    ("the server speaks another protocol", "", "SSH-2.0-OpenSSH_9.6", "SMTPConnectError", TRAP),
):  # fmt: skip

    @wire(f"SMTP: {title}", raises=raises, tags=tags)
    def _(smtp_says: LineServer, command: str = command, words: str | None = words) -> None:
        send(smtp_says.answers({command: words}))


@family.case("SMTP: a server without authentication is asked to sign in", raises="SMTPNotSupportedError")
def _(smtp: Smtp) -> None:
    send(smtp.port)


@family.case("SMTP: a server without TLS is asked for it", raises="SMTPNotSupportedError")
def _(smtp: Smtp) -> None:
    with smtplib.SMTP("127.0.0.1", smtp.port, timeout=2) as client:
        client.starttls()


@family.case("SMTP: the mail is larger than the server takes", raises="SMTPSenderRefused")
def _(smtp: Smtp) -> None:
    with smtplib.SMTP("127.0.0.1", smtp.port, timeout=2) as client:
        client.send_message(message(200_000))


@family.case("SMTP: addresses that are not ASCII", raises=("SMTPNotSupportedError", "UnicodeEncodeError"))
def _(smtp_says: LineServer) -> None:
    with smtplib.SMTP("127.0.0.1", smtp_says.answers({}), timeout=2) as client:
        mail = message()
        mail.replace_header("To", "jürgen@shop.example")
        client.send_message(mail)


@family.case("SMTP: a client that has not connected", raises="SMTPServerDisconnected", tags=TRAP)
def _() -> None:
    smtplib.SMTP().send_message(message())


def open_smtp(port: int) -> None:
    smtplib.SMTP("127.0.0.1", port, timeout=QUICK_S)


def open_ftp(port: int) -> None:
    client = ftplib.FTP(timeout=QUICK_S)
    client.connect("127.0.0.1", port)


def open_imap(port: int) -> None:
    imaplib.IMAP4("127.0.0.1", port, timeout=QUICK_S)


def open_pop(port: int) -> None:
    poplib.POP3("127.0.0.1", port, timeout=QUICK_S)


for name, connect in (("SMTP", open_smtp), ("FTP", open_ftp), ("IMAP", open_imap), ("POP3", open_pop)):

    @family.case(f"{name}: the connection is refused", raises="ConnectionRefusedError")
    def _(connect: Callable[[int], None] = connect) -> None:
        with refused_port() as port:
            connect(port)

    @family.case(f"{name}: the server says nothing", raises=("TimeoutError", "SMTPServerDisconnected"))
    def _(connect: Callable[[int], None] = connect) -> None:
        with port_that_hangs() as port:
            connect(port)

    @family.case(f"{name}: the server hangs up", raises=("OSError", "EOFError", "abort", "error_proto"), tags=TRAP)
    def _(connect: Callable[[int], None] = connect) -> None:
        with port_that_closes() as port:
            connect(port)


@family.case("SMTP: the host name does not exist", raises="gaierror")
def _() -> None:
    smtplib.SMTP("mail.invalid", timeout=2)


@family.case(
    "SMTP: the server resets the connection", raises=("ConnectionResetError", "SMTPServerDisconnected", "TimeoutError")
)
def _() -> None:
    with port_that_resets() as port, smtplib.SMTP(timeout=1) as client:
        client.sock = socket.create_connection(("127.0.0.1", port), timeout=1)
        client.ehlo("shop.example")


@family.case("SMTP: the certificate is of an unknown authority", raises="SSLCertVerificationError")
def _(https: Any) -> None:
    smtplib.SMTP_SSL("127.0.0.1", https.port, timeout=2, context=ssl.create_default_context())


@family.case("SMTP: TLS is spoken to a plain port", raises="SSLError", tags=TRAP)
def _(smtp: Smtp) -> None:
    smtplib.SMTP_SSL("127.0.0.1", smtp.port, timeout=2)


# FTP, a real server.
def signed_in(server: Ftp, user: str = "etl", password: str = CANARY) -> ftplib.FTP:
    client = ftplib.FTP(timeout=2)
    client.connect("127.0.0.1", server.port)
    client.login(user, password)
    return client


@family.case("FTP: the password is wrong", raises="error_perm")
def _(ftp: Ftp) -> None:
    signed_in(ftp, password=f"old-{CANARY}")


@family.case("FTP: nobody has signed in", raises="error_perm")
def _(ftp: Ftp) -> None:
    client = ftplib.FTP(timeout=2)
    client.connect("127.0.0.1", ftp.port)
    client.nlst()


@family.case("FTP: the file is not there", raises="error_perm", tags=TRAP)
def _(ftp: Ftp) -> None:
    with signed_in(ftp) as client:
        client.retrbinary("RETR orders.csv", io.BytesIO().write)


@family.case("FTP: the folder is not there", raises="error_perm")
def _(ftp: Ftp) -> None:
    with signed_in(ftp) as client:
        client.cwd("incoming")


@family.case("FTP: the user may not write", raises="error_perm")
def _(ftp: Ftp) -> None:
    with signed_in(ftp, "reader") as client:
        client.storbinary("STOR orders.csv", io.BytesIO(b"1"))


@family.case("FTP: the folder is there already", raises="error_perm")
def _(ftp: Ftp) -> None:
    with signed_in(ftp) as client:
        client.mkd("archive")
        client.mkd("archive")


@family.case("FTP: too many connections of the address", raises=("error_temp", "error_perm"))
def _(ftp: Ftp) -> None:
    with signed_in(ftp), signed_in(ftp):
        signed_in(ftp)


@family.case("FTP: the command is not known", raises="error_perm")
def _(ftp: Ftp) -> None:
    with signed_in(ftp) as client:
        client.sendcmd("AVBL")


@family.case("FTP: TLS is asked of a plain server", raises="error_perm")
def _(ftp: Ftp) -> None:
    client = ftplib.FTP_TLS(timeout=2)
    client.connect("127.0.0.1", ftp.port)
    client.login("etl", CANARY)


@family.case("FTP: a line break in a name", raises="ValueError")
def _(ftp: Ftp) -> None:
    with signed_in(ftp) as client:
        client.delete("orders\r\n.csv")


@family.case("FTP: a size is asked of a folder", raises="error_perm")
def _(ftp: Ftp) -> None:
    with signed_in(ftp) as client:
        client.voidcmd("TYPE I")
        client.size("/")


# FTP: https://www.rfc-editor.org/rfc/rfc959#section-4.2
def store(port: int) -> None:
    client = ftplib.FTP(timeout=1)
    client.connect("127.0.0.1", port)
    client.login("etl", CANARY)
    client.storbinary("STOR orders.csv", io.BytesIO(b"1"))


PASSIVE = "227 Entering Passive Mode (127,0,0,1,{high},{low})"
for title, command, words, raises, tags in (
    ("the service is not available", "", "421 Service not available, closing control connection", "error_temp", []),
    ("too many users", "USER", "421 There are too many connected users, please try later.", "error_temp", []),
    ("the session timed out", "TYPE", "421 Timeout.", "error_temp", []),
    ("the home of the user does not exist", "PASS", "500 OOPS: cannot change directory:/home/etl", "error_perm", TRAP),
    ("the account has expired", "PASS", "530 Account expired", "error_perm", []),
    ("the user is locked out for a while", "PASS", "530 Too many failed logins, try again in 10 minutes", "error_perm", TRAP),
    ("TLS is a must", "USER", "530 Non-anonymous sessions must use encryption.", "error_perm", TRAP),
    ("an account is wanted", "STOR", "532 Need account for storing files.", "error_perm", []),
    ("the file is busy", "STOR", "450 Requested file action not taken. File busy", "error_temp", []),
    ("the server has a local error", "STOR", "451 Requested action aborted: local error in processing", "error_temp", []),
    ("the disk is full", "STOR", "452 Requested action not taken. Insufficient storage space", "error_temp", []),
    ("the quota is used up", "STOR", "552 Requested file action aborted. Exceeded storage allocation", "error_perm", []),
    ("the file name is not allowed", "STOR", "553 Could not create file.", "error_perm", []),
    ("the file cannot be had", "STOR", "550 Permission denied.", "error_perm", []),
    ("no data connection can be opened", "STOR", "425 Can't open data connection.", "error_temp", []),
    ("the transfer was aborted", "STOR", "426 Connection closed; transfer aborted.", "error_temp", []),
    ("the command is not implemented", "STOR", "502 Command not implemented.", "error_perm", []),
    ("the reply is no FTP", "STOR", "<html>", "error_proto", TRAP),
    ("the server hangs up in mid command", "STOR", None, "EOFError", TRAP),
):  # fmt: skip

    @wire(f"FTP: {title}", raises=raises, tags=tags)
    def _(ftp_says: LineServer, ftp: Ftp, command: str = command, words: str | None = words) -> None:
        high, low = divmod(ftp.port, 256)
        passive = PASSIVE.format(high=high, low=low)
        store(ftp_says.answers({"EPSV": "500 Unknown command.", "PASV": passive, command: words}))


@wire("FTP: the address of the data is refused", raises="ConnectionRefusedError", tags=TRAP)
def _(ftp_says: LineServer) -> None:
    with refused_port() as port:
        high, low = divmod(port, 256)
        store(ftp_says.answers({"PASV": PASSIVE.format(high=high, low=low)}))


# IMAP and POP3: https://www.rfc-editor.org/rfc/rfc5530 and https://www.rfc-editor.org/rfc/rfc3206
def read_mail(port: int) -> None:
    with imaplib.IMAP4("127.0.0.1", port, timeout=1) as client:
        client.login("etl", CANARY)
        kind, told = client.select("Orders")
        if kind != "OK":
            raise LoadError(f"cannot open the mailbox: {told}")
        client.search(None, "UNSEEN")


for title, command, words, raises, tags in (
    ("the password is wrong", "LOGIN", "TAG NO [AUTHENTICATIONFAILED] Authentication failed.", "error", []),
    ("the password has expired", "LOGIN", "TAG NO [EXPIRED] That password isn't valid any more", "error", []),
    ("the account needs a web sign-in", "LOGIN", "TAG NO [WEBALERT] Web login required.", "error", []),
    ("the sign-in is not available for now", "LOGIN", "TAG NO [UNAVAILABLE] User's backend is down for maintenance.",
     "error", TRAP),
    ("TLS must come first", "LOGIN", "TAG NO [PRIVACYREQUIRED] Plaintext authentication disallowed", "error", TRAP),
    ("too many connections", "LOGIN", "TAG NO [LIMIT] Too many simultaneous connections.", "error", TRAP),
    ("the bandwidth is used up", "SEARCH", "* BYE Account exceeded command or bandwidth limits.", "abort", TRAP),
    ("the mailbox does not exist", "SELECT", "TAG NO [NONEXISTENT] Unknown Mailbox: Orders", "LoadError", [FROM_TEXT]),
    ("the mailbox is in use", "SELECT", "TAG NO [INUSE] Mailbox in use", "LoadError", [FROM_TEXT]),
    ("the mailbox may not be read", "SELECT", "TAG NO [NOPERM] Access denied", "LoadError", [FROM_TEXT]),
    ("the server has a bug", "SEARCH", "TAG BAD [SERVERBUG] Internal error occurred.", "error", []),
    ("the search is not understood", "SEARCH", "TAG BAD Could not parse command", "error", []),
    ("the server hangs up in mid command", "SEARCH", None, "abort", []),
    ("the greeting is a good-bye", "", "* BYE Server shutting down.", "error", []),
):  # fmt: skip

    @wire(f"IMAP: {title}", raises=raises, tags=tags)
    def _(imap_says: LineServer, command: str = command, words: str | None = words) -> None:
        read_mail(imap_says.answers({command: words}))


def count_mail(port: int) -> None:
    client = poplib.POP3("127.0.0.1", port, timeout=1)
    client.user("etl")
    client.pass_(CANARY)
    client.stat()


for title, command, words, tags in (
    ("the password is wrong", "PASS", "-ERR [AUTH] Username and password not accepted.", []),
    ("the mailbox is in use", "PASS", "-ERR [IN-USE] Do you have another POP session running?", []),
    ("the server has a passing error", "PASS", "-ERR [SYS/TEMP] Temporary system problem. Please try again later", []),
    ("the server has a lasting error", "PASS", "-ERR [SYS/PERM] POP access is disabled for this account", []),
    ("sign-ins come too often", "PASS", "-ERR [LOGIN-DELAY] minimum time between mail checks is 300 seconds", TRAP),
    ("the server hangs up in mid command", "STAT", None, []),
):

    @wire(f"POP3: {title}", raises="error_proto", tags=tags)
    def _(pop_says: LineServer, command: str = command, words: str | None = words) -> None:
        count_mail(pop_says.answers({command: words}))


# aiosmtplib.
for title, command, words, raises in (
    ("the password is wrong", "AUTH", "535 5.7.8 Error: authentication failed", "SMTPAuthenticationError"),
    ("the recipient is greylisted", "RCPT", "450 4.2.0 Greylisted, please try again later", "SMTPRecipientsRefused"),
    ("the service is shut down", "", "421 4.3.2 Service shutting down", "SMTPConnectError"),
    ("the content is taken for spam", ".", "554 5.7.1 Message rejected as spam", "SMTPDataError"),
    ("the server hangs up in mid mail", ".", None, "SMTPServerDisconnected"),
):

    @aio_case(f"aiosmtplib: {title}", raises=raises)
    async def _(smtp_says: LineServer, command: str = command, words: str | None = words) -> None:
        port = smtp_says.answers({command: words})
        options = {"username": "etl", "password": CANARY, "start_tls": False, "timeout": 1}
        await aiosmtplib.send(message(), hostname="127.0.0.1", port=port, **options)


@aio_case("aiosmtplib: the connection is refused", raises="SMTPConnectError", is_wire_form=False)
async def _() -> None:
    with refused_port() as port:
        await aiosmtplib.send(message(), hostname="127.0.0.1", port=port, timeout=1)


@aio_case("aiosmtplib: the server says nothing", raises="SMTPTimeoutError", is_wire_form=False)
async def _() -> None:
    with port_that_hangs() as port:
        await aiosmtplib.send(message(), hostname="127.0.0.1", port=port, timeout=QUICK_S)


# As tasks meet them.
@wire("wrapped: the recipient is greylisted", raises="LoadError")
def _(smtp_says: LineServer) -> None:
    try:
        send(smtp_says.answers({"RCPT": "451 4.7.1 Greylisting in action, please come back later"}))
    except smtplib.SMTPException as error:
        raise LoadError("cannot mail the day's orders") from error


@family.case("wrapped in words: the FTP password is wrong", raises="LoadError", tags=[FROM_TEXT])
def _(ftp: Ftp) -> None:
    try:
        signed_in(ftp, password=f"old-{CANARY}")
    except ftplib.Error as error:
        raise LoadError(f"cannot fetch the day's orders: {error}") from None


@wire("tenacity gives up: too many FTP users", raises="RetryError")
def _(ftp_says: LineServer) -> None:
    port = ftp_says.answers({"USER": "421 There are too many connected users, please try later."})
    tenacity.Retrying(stop=tenacity.stop_after_attempt(2))(store, port)


@wire(
    "quitting fails after the server had no space",
    raises=("SMTPServerDisconnected", "SMTPResponseException"),
    tags=TRAP,
)
def _(smtp_says: LineServer) -> None:
    client = smtplib.SMTP(
        "127.0.0.1", smtp_says.answers({"MAIL": "452 4.3.1 Insufficient system storage", "QUIT": None})
    )
    try:
        client.send_message(message())
    finally:
        client.quit()


@wire("SMTP: the server sends the sign-in back", raises="SMTPAuthenticationError")
def _(smtp_says: LineServer) -> None:
    signing = base64.b64encode(f"\0etl\0{CANARY}".encode()).decode()
    send(smtp_says.answers({"AUTH": f"535 5.7.8 Error: authentication failed: AUTH PLAIN {signing}"}))


if __name__ == "__main__":
    family.run()
