"""What the class of an HTTP client's exception says when no answer came, or only half of one.

The reason, a refused connection or a name that does not resolve, is usually deeper in the chain and wins there; these
rows are for the failures that have nothing deeper, and for logs that print only the outermost line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from airflow_common_ai.evidence.model import RedactedNode, Wait, kind_of
from airflow_common_ai.evidence.protocols.meaning import Meaning, no, yes

__all__ = ["class_meaning"]

_SHORT = Wait.SHORT
_CLIENTS = "requests 2.34.2, httpx 0.28.1, aiohttp 3.14.5, urllib3 2.8.0"

_ROWS: tuple[tuple[str, str, Meaning | None], ...] = (
    # First what is a network fault by its base class only: the TLS reason or the reader of JSON decides, not we.
    (
        "not_ours",
        "requests.SSLError requests.JSONDecodeError requests.InvalidJSONError urllib3.SSLError aiohttp.ClientSSLError"
        " aiohttp.ClientConnectorSSLError aiohttp.ClientConnectorCertificateError aiohttp.ClientConnectorDNSError"
        " urllib3.NameResolutionError elastic_transport.TlsError",
        None,
    ),
    (
        "invalid_request",
        "requests.MissingSchema requests.InvalidSchema requests.InvalidURL requests.InvalidProxyURL"
        " requests.InvalidHeader httpx.UnsupportedProtocol httpx.InvalidURL aiohttp.InvalidURL"
        " aiohttp.InvalidUrlClientError aiohttp.NonHttpUrlClientError urllib3.LocationParseError"
        " urllib3.LocationValueError urllib3.URLSchemeUnknown urllib3.InvalidHeader http.InvalidURL",
        no("data", "the request was never sent: its address or a header is not valid", _CLIENTS),
    ),
    (
        "too_many_redirects",
        "requests.TooManyRedirects httpx.TooManyRedirects aiohttp.TooManyRedirects azure.TooManyRedirectsError",
        no("permanent", "the server redirects in a circle, often to a login", _CLIENTS),
    ),
    (
        "broken_answer",
        "requests.ChunkedEncodingError requests.ContentDecodingError httpx.RemoteProtocolError httpx.DecodingError"
        " aiohttp.ClientPayloadError aiohttp.TransferEncodingError aiohttp.ContentLengthError aiohttp.BadStatusLine"
        " aiohttp.ContentEncodingError aiohttp.PayloadEncodingError aiohttp.BadHttpMessage aiohttp.InvalidHeader"
        " urllib3.ProtocolError urllib3.IncompleteRead urllib3.InvalidChunkLength urllib3.DecodeError"
        " http.IncompleteRead http.BadStatusLine http.RemoteDisconnected http.LineTooLong azure.IncompleteReadError",
        yes("network", _SHORT, "the answer was cut off or garbled on its way", "RFC 9112 §8"),
    ),
    (
        "timeout",
        "requests.Timeout requests.ConnectTimeout requests.ReadTimeout httpx.TimeoutException httpx.ConnectTimeout"
        " httpx.ReadTimeout httpx.WriteTimeout aiohttp.ServerTimeoutError aiohttp.ConnectionTimeoutError"
        " aiohttp.SocketTimeoutError urllib3.TimeoutError urllib3.ConnectTimeoutError urllib3.ReadTimeoutError"
        " elastic_transport.ConnectionTimeout elasticsearch.ConnectionTimeout openai.APITimeoutError"
        " anthropic.APITimeoutError azure.ServiceRequestTimeoutError azure.ServiceResponseTimeoutError",
        yes("network", _SHORT, "the server did not answer in time", _CLIENTS),
    ),
    (
        "pool_timeout",
        "httpx.PoolTimeout urllib3.EmptyPoolError",
        yes("transient", _SHORT, "no free connection in the client's own pool", _CLIENTS),
    ),
    (
        "connection",
        "requests.ConnectionError httpx.NetworkError httpx.ConnectError httpx.ReadError httpx.WriteError"
        " httpx.CloseError aiohttp.ClientConnectionError aiohttp.ClientConnectorError aiohttp.ClientOSError"
        " aiohttp.ServerConnectionError aiohttp.ServerDisconnectedError aiohttp.ClientConnectionResetError"
        " aiohttp.ClientProxyConnectionError urllib3.NewConnectionError elastic_transport.ConnectionError"
        " elasticsearch.ConnectionError openai.APIConnectionError anthropic.APIConnectionError"
        " azure.ServiceRequestError azure.ServiceResponseError",
        yes("network", _SHORT, "the connection could not be made or broke", _CLIENTS),
    ),
)
"""Name of the finding, its classes as ``root.Name``, and what they say; an earlier row wins over a base class's."""

_SAME_CLASSES: Mapping[str, str] = {"httpx2": "httpx", "httpcore": "httpx", "httpcore2": "httpx"}

_ROW_BY_KIND = {kind: index for index, (_, kinds, _) in enumerate(_ROWS) for kind in kinds.split()}

_SAID_BETTER = re.compile(
    r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|\[SSL|Name or service not known|nodename nor servname"
    r"|No address associated|Tunnel connection failed"
)
"""The message names a reason that other readers judge better than the class does."""
_MAX_CHARS = 4096


def class_meaning(node: RedactedNode) -> tuple[str, Meaning] | None:
    """Return the name of the finding and what it means, for a client's exception that carries no answer."""
    rows = [row for path in (node.type_path, *node.base_paths) if (row := _ROW_BY_KIND.get(_kind(path))) is not None]
    if not rows or _SAID_BETTER.search(node.message[:_MAX_CHARS]):
        return None
    detail, _, meaning = _ROWS[min(rows)]
    return None if meaning is None else (detail, meaning)


def _kind(type_path: str) -> str:
    root, dot, name = kind_of(type_path).rpartition(".")
    return f"{_SAME_CLASSES.get(root, root)}{dot}{name}"
