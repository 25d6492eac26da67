"""Find out in milliseconds that nobody listens where a model should be.

The libraries that speak to a model take one to three seconds to import. A local server that is not running is found
before that.
"""

from __future__ import annotations

import asyncio
import socket
import urllib.request
from contextlib import suppress
from urllib.parse import urlsplit

__all__ = ["is_refused"]

_PROBE_LIMIT_S = 0.5
"""An answer that takes longer is no refusal by a machine that is up."""

_PORTS = {"http": 80, "https": 443}


async def is_refused(base_url: str | None) -> bool:
    """
    Return whether every address of ``base_url`` refuses connections.

    Anything but a plain refusal is ``False``: no URL, a proxy on the way, a name that does not resolve, silence.
    """
    with suppress(OSError, ValueError):  # ValueError: no port, no host name
        parts = urlsplit(base_url or "")
        if parts.hostname and parts.scheme in _PORTS and not _is_behind_proxy(parts.scheme, parts.hostname):
            async with asyncio.timeout(_PROBE_LIMIT_S):
                return await _refuses(parts.hostname, parts.port or _PORTS[parts.scheme])
    return False


async def _refuses(host: str, port: int) -> bool:
    loop = asyncio.get_running_loop()
    addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for family, kind, protocol, _, address in addresses:
        with socket.socket(family, kind, protocol) as probe:
            probe.setblocking(False)
            try:
                await loop.sock_connect(probe, address)
            except ConnectionRefusedError:
                continue
            return False
    return bool(addresses)


def _is_behind_proxy(scheme: str, host: str) -> bool:
    proxies = urllib.request.getproxies()
    return bool(proxies.get(scheme) or proxies.get("all")) and not urllib.request.proxy_bypass(host)
