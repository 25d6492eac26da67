"""AWS errors in the wire form of the service, and moto's server where it answers by itself.

The forms: https://smithy.io/2.0/aws/protocols/index.html (JSON 1.0/1.1, rest-JSON, rest-XML, query, EC2 query, RPC v2
CBOR). Status and code come from the client's own service model where it has the error. Depends on ``boto3``.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any
from xml.sax.saxutils import escape

from harness.canary import CANARY
from harness.family import Family
from harness.servers import ServerUnavailable

from servers.http import Answer, HttpServer
from servers.port import free_port
from servers.process import accepts_connections, running_process, server_folder

__all__ = ["MotoServer", "aws_client", "aws_error", "error_case", "error_table", "moto_server"]

REQUEST_ID = "7a62c49f-347e-4fc4-9331-6e8eEXAMPLE"
_SERVER_FAULT = 500


def aws_error(
    client: Any,
    code: str,
    message: str,
    *,
    status: int | None = None,
    fields: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """
    Return an error as a service would send it to this client.

    :param code: As on the wire. If the service's model has it, its status is the model's.
    :param status: For codes that models leave out, or that have no status there (400 then).
    :param fields: Other members of the error, for the JSON protocols.
    """
    model = client.meta.service_model
    status = status or _modelled_status(model, code) or 400
    kind = "Receiver" if status >= _SERVER_FAULT else "Sender"
    extra = dict(headers or {})
    name = {"code": escape(code), "message": escape(message), "kind": kind, "id": REQUEST_ID}
    protocol = model.resolved_protocol
    if protocol in ("json", "rest-json"):
        payload = {"message": message, **(fields or {})}
        if protocol == "json":
            payload = {"__type": f"com.amazonaws.{model.service_name}#{_shape_name(model, code)}", **payload}
        else:
            extra["x-amzn-ErrorType"] = _shape_name(model, code)
        if model.metadata.get("awsQueryCompatible") is not None:
            extra["x-amzn-query-error"] = f"{code};{kind}"
        version = model.metadata.get("jsonVersion")
        extra["Content-Type"] = f"application/x-amz-json-{version}" if protocol == "json" else "application/json"
        return Answer(status, json.dumps(payload), {"x-amzn-RequestId": REQUEST_ID, **extra})
    if protocol == "smithy-rpc-v2-cbor":
        extra = {"smithy-protocol": "rpc-v2-cbor", "Content-Type": "application/cbor", **extra}
        body = {"__type": f"com.amazonaws.{model.service_name}#{_shape_name(model, code)}", "message": message}
        return Answer(status, _cbor(body), {"x-amzn-RequestId": REQUEST_ID, **extra})
    form = {
        "query": (
            "<ErrorResponse><Error><Type>{kind}</Type><Code>{code}</Code><Message>{message}</Message></Error>"
            "<RequestId>{id}</RequestId></ErrorResponse>"
        ),
        "rest-xml": (
            "<ErrorResponse><Error><Type>{kind}</Type><Code>{code}</Code><Message>{message}</Message></Error>"
            "<RequestId>{id}</RequestId></ErrorResponse>"
        ),
        "ec2": (
            "<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
            "<RequestID>{id}</RequestID></Response>"
        ),
    }[protocol]
    if model.service_name == "s3":  # https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
        form = "<Error><Code>{code}</Code><Message>{message}</Message>{more}<RequestId>{id}</RequestId></Error>"
        name["more"] = "".join(f"<{key}>{escape(str(value))}</{key}>" for key, value in (fields or {}).items())
        extra["x-amz-request-id"] = REQUEST_ID
    body_text = '<?xml version="1.0" encoding="UTF-8"?>\n' + form.format(**name)
    return Answer(status, body_text, {"Content-Type": "text/xml", **extra})


@cache
def _session() -> Any:
    """One for all: loading the services' models takes most of the time."""
    import boto3  # type: ignore[import-untyped, unused-ignore]

    os.environ.update(AWS_EC2_METADATA_DISABLED="true", AWS_CONFIG_FILE="none", AWS_SHARED_CREDENTIALS_FILE="none")
    return boto3.Session(aws_access_key_id="AKIAIOSFODNN7EXAMPLE", aws_secret_access_key=CANARY)


def aws_client(service: str, url: str, *, region: str = "eu-west-1", **config: Any) -> Any:
    """Return a client of a service that waits two seconds and does not try again, unless ``config`` says so."""
    from botocore.config import Config  # type: ignore[import-untyped, unused-ignore]

    options = {"retries": {"total_max_attempts": 1}, "connect_timeout": 2, "read_timeout": 2, **config}
    return _session().client(service, endpoint_url=url, region_name=region, config=Config(**options))


def error_case(
    family: Family,
    title: str,
    service: str,
    call: Callable[[Any], Any],
    code: str,
    message: str,
    *tags: str,
    **error: Any,
) -> None:
    """Add a case: the service answers a call with an error, given as to :func:`aws_error`."""

    @family.case(title, raises="ClientError", tags=tags)
    def _(http: HttpServer) -> None:
        client = aws_client(service, http.url)
        http.answers(aws_error(client, code, message, **error))
        call(client)


def error_table(text: str) -> list[list[str]]:
    """Return the rows of a table whose cells are parted by ``|``; a line that is indented goes on with the one before."""
    rows: list[str] = []
    for line in text.strip().splitlines():
        if line.startswith("    "):
            rows[-1] += f" {line.strip()}"
        else:
            rows.append(line)
    return [[cell.strip() for cell in row.split("|")] for row in rows]


def _error_shape(model: Any, code: str) -> Any:
    for shape in model.error_shapes:
        if code in (shape.metadata.get("error", {}).get("code"), shape.name):
            return shape
    return None


def _shape_name(model: Any, code: str) -> str:
    shape = _error_shape(model, code)
    return str(shape.name) if shape else code


def _modelled_status(model: Any, code: str) -> int | None:
    shape = _error_shape(model, code)
    if shape is None:
        return None
    status = shape.metadata.get("error", {}).get("httpStatusCode")
    return int(status) if status else (_SERVER_FAULT if shape.metadata.get("fault") else None)


def _cbor(texts: Mapping[str, str]) -> bytes:
    """A map of short texts."""
    return bytes([0xA0 | len(texts)]) + b"".join(_cbor_text(one) for pair in texts.items() for one in pair)


def _cbor_text(text: str) -> bytes:
    data = text.encode()
    return b"\x79" + struct.pack(">H", len(data)) + data


class MotoServer:
    """What plays AWS by itself: https://docs.getmoto.org/en/latest/docs/server_mode.html."""

    name = "moto"

    def __init__(self, port: int, version: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.version: str | None = version


@contextlib.contextmanager
def moto_server() -> Iterator[MotoServer]:
    """A moto server as a process of its own."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        release = version("moto")
    except PackageNotFoundError:
        raise ServerUnavailable("moto is not installed. Get it with: pip install 'moto[server]'") from None
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with (
        server_folder() as folder,
        running_process(command, is_ready=accepts_connections(port), folder=folder),
    ):
        yield MotoServer(port, release)
