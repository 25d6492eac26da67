# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "aiosmtpd==1.4.6",
#     "apache-airflow-providers-ftp==3.16.1",
#     "apache-airflow-providers-smtp==3.2.0",
#     "apache-airflow-task-sdk==1.3.2",
#     "pyftpdlib==2.2.0",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""Mail and FTP that fail below Airflow's hooks and operators, against real servers on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from airflow.providers.ftp.hooks.ftp import FTPHook
from airflow.providers.ftp.operators.ftp import FTPFileTransmitOperator
from airflow.providers.ftp.sensors.ftp import FTPSensor
from airflow.providers.smtp.hooks.smtp import SmtpHook
from airflow.providers.smtp.operators.smtp import EmailOperator
from harness import CANARY, WRONG_READING, Family
from servers.ftp import Ftp, ftp
from servers.port import refused_port
from servers.smtp_mailboxes import Mail, mail_server

CONTEXT: Any = {"ti": None, "params": {}}
family = Family(__file__, "apache-airflow-providers-smtp", servers={"mail": mail_server, "ftp": ftp})
ftp_case = partial(family.case, library="apache-airflow-providers-ftp", wrapped_by="FTPHook")
smtp_case = partial(family.case, wrapped_by="EmailOperator")


def connection(name: str, kind: str, port: int, **words: Any) -> None:
    settings = {"conn_type": kind, "host": "127.0.0.1", "port": port, "login": "etl", "password": CANARY, **words}
    os.environ[f"AIRFLOW_CONN_{name.upper()}"] = json.dumps(settings)


# FTP.
def ftp_hook(port: int, **words: Any) -> FTPHook:
    connection("files", "ftp", port, extra={"passive": True}, **words)
    return FTPHook("files")


@ftp_case("FTP password is wrong", raises="error_perm")
def _(ftp: Ftp) -> None:
    ftp_hook(ftp.port, password=f"{CANARY}-old").list_directory("/")


@ftp_case("FTP file is none", raises="error_perm", tags=[WRONG_READING])
def _(ftp: Ftp) -> None:
    ftp_hook(ftp.port).retrieve_file("/2026-01-31.csv", "orders.csv")


@ftp_case("FTP user may not write", raises="error_perm")
def _(ftp: Ftp) -> None:
    Path("orders.csv").write_text("1,2")
    ftp_hook(ftp.port, login="reader").store_file("/orders.csv", "orders.csv")


@ftp_case("FTP folder is none", raises="error_perm", tags=[WRONG_READING])
def _(ftp: Ftp) -> None:
    ftp_hook(ftp.port).list_directory("/orders")


@ftp_case("FTP has too many connections", raises=("error_temp", "error_perm", "EOFError"))
def _(ftp: Ftp) -> None:
    with ftp_hook(ftp.port) as one, FTPHook("files") as two:
        one.get_conn()
        two.get_conn()
        FTPHook("files").get_conn()


@ftp_case("FTP is refused", raises="ConnectionRefusedError")
def _() -> None:
    with refused_port() as port:
        ftp_hook(port).list_directory("/")


@ftp_case("FTP server hangs up", raises="EOFError")
def _() -> None:
    with hangs_up() as port:
        ftp_hook(port).list_directory("/")


@contextlib.contextmanager
def hangs_up() -> Iterator[int]:
    """A port where somebody closes every connection at once."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def close() -> None:
            with contextlib.suppress(OSError):
                while True:
                    listener.accept()[0].close()

        threading.Thread(target=close, daemon=True).start()
        yield listener.getsockname()[1]


@ftp_case("FTP operator does not find its file", wrapped_by="FTPFileTransmitOperator")
def _(ftp: Ftp) -> None:
    ftp_hook(ftp.port)
    FTPFileTransmitOperator(
        task_id="load", ftp_conn_id="files", local_filepath="o", remote_filepath="/o", operation="get"
    ).execute(CONTEXT)


@ftp_case("FTP sensor may not log in", raises="EOFError", tags=[WRONG_READING], wrapped_by="FTPSensor")
def _(ftp: Ftp) -> None:
    ftp_hook(ftp.port, password=f"{CANARY}-old")
    FTPSensor(task_id="wait", path="/o", ftp_conn_id="files", poke_interval=0.1, timeout=0.3).execute(CONTEXT)


# Mail.
def send(port: int, to: str, *, files: list[str] | None = None, **words: Any) -> Any:
    extra = {"disable_ssl": True, "disable_tls": True, "timeout": 1, "retry_limit": 1, "from_email": "etl@shop.example"}
    connection("mail", "smtp", port, extra={**extra, **words.pop("extra", {})}, **words)
    return EmailOperator(
        task_id="tell",
        to=to,
        subject="orders",
        html_content="done",
        conn_id="mail",
        files=files,
    ).execute(CONTEXT)


for name, raises, tags in (
    ("full", "SMTPRecipientsRefused", []),
    ("nobody", "SMTPRecipientsRefused", []),
    ("greylisted", "SMTPRecipientsRefused", [WRONG_READING]),
    ("limited", "SMTPRecipientsRefused", [WRONG_READING]),
    ("blocked", "SMTPRecipientsRefused", []),
    ("daily", "SMTPRecipientsRefused", [WRONG_READING]),
    ("moved", "SMTPRecipientsRefused", []),
    ("virus", "SMTPDataError", []),
    ("large", "SMTPDataError", []),
    ("busy", ("SMTPDataError", "SMTPServerDisconnected", "AirflowException"), []),
):
    smtp_case(f"mail server says about {name}", raises=raises, tags=tags, is_wire_form=True)(
        lambda mail, name=name: send(mail.port, f"{name}@shop.example")
    )


@smtp_case("mail password is wrong", raises="SMTPAuthenticationError")
def _(mail: Mail) -> None:
    send(mail.port, "a@shop.example", password=f"{CANARY}-old")


@smtp_case("mail server wants a password", raises="SMTPException")
def _(mail: Mail) -> None:
    send(mail.port, "a@shop.example", login=None, password=None)


@smtp_case("mail server has no TLS", raises="SMTPNotSupportedError")
def _(mail: Mail) -> None:
    send(mail.port, "a@shop.example", extra={"disable_tls": False})


@smtp_case("mail server is asked for TLS at once", raises=("SSLError", "OSError"))
def _(mail: Mail) -> None:
    send(mail.port, "a@shop.example", extra={"disable_ssl": False})


@smtp_case("mail server is refused", raises="ConnectionRefusedError")
def _() -> None:
    with refused_port() as port:
        send(port, "a@shop.example")


@smtp_case("mail server hangs up", raises="AirflowException", tags=[WRONG_READING])
def _() -> None:
    with hangs_up() as port:
        send(port, "a@shop.example")


@smtp_case("mail attachment is none", raises="FileNotFoundError")
def _(mail: Mail) -> None:
    send(mail.port, "a@shop.example", files=["/data/report.pdf"])


@smtp_case("mail connection is none", raises="AirflowException", wrapped_by="SmtpHook")
def _() -> None:
    SmtpHook("mial").get_conn()


@smtp_case("mail is sent though its session is closed", raises="AirflowException", wrapped_by="SmtpHook")
def _(mail: Mail) -> None:
    extra = {"disable_ssl": True, "disable_tls": True, "timeout": 1, "retry_limit": 1, "from_email": "etl@shop.example"}
    connection("mail", "smtp", mail.port, extra=extra)
    with SmtpHook("mail") as hook:
        pass
    hook.send_email_smtp(to="a@shop.example", subject="orders", html_content="done")


if __name__ == "__main__":
    family.run()
