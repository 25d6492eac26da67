"""What this machine is set up with for fetching packages: the index, the certificates, the proxy."""

from __future__ import annotations

import base64
import configparser
import http.client
import netrc
import os
import re
import ssl
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

TIMEOUT_S = 60
SYSTEM_CONFIG = Path("/etc")


class SetupError(Exception):
    """What went wrong and what to do about it, for the person at the terminal."""


def configured_index(environ: Mapping[str, str]) -> str | None:
    """Return the index that uv or pip is told to use, credentials included; ``None`` if nobody told them."""
    return _uv_index(environ) or _pip_option(environ, "index-url")


def configured_certificates(environ: Mapping[str, str]) -> str | None:
    """Return the file or folder of certificates that pip or requests is told to trust."""
    return environ.get("SSL_CERT_FILE") or _pip_option(environ, "cert") or environ.get("REQUESTS_CA_BUNDLE")


def uv_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which uv also knows what pip was told."""
    told = {**environ, "UV_PYTHON_DOWNLOADS": "never"}
    index = configured_index(environ)
    if index is not None and _uv_index(environ) is None:
        told["UV_DEFAULT_INDEX"] = index
    certificates = configured_certificates(environ)
    if certificates is not None:
        told["SSL_CERT_DIR" if os.path.isdir(certificates) else "SSL_CERT_FILE"] = certificates
    elif _has_certificates():
        # As pip and Python do; uv alone would trust the ones that it brings along, and those only.
        told.setdefault("UV_SYSTEM_CERTS", "true")
    return told


def download(url: str, environ: Mapping[str, str], index: str | None = None) -> tuple[bytes, str]:
    """
    Get a file by HTTP, through the proxies of the environment.

    :param url: What to get.
    :param environ: Where the machine's settings are.
    :param index: The index that led to ``url``: its credentials hold for files on the same host.
    :return: The content, and the URL at which it was in the end.
    :raises SetupError: It cannot be had.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise SetupError(f"{without_credentials(url)} is not an http(s) address.")
    context, is_trusted = _tls(configured_certificates(environ))
    request = urllib.request.Request(without_credentials(url))
    credentials = _credentials(index if index is not None and _host(index) == _host(url) else url)
    if credentials is not None:
        if parts.scheme == "https" and not is_trusted:
            raise SetupError(
                f"{without_credentials(url)} wants a password, and this machine has no certificates to tell who "
                "would get it. Install ca-certificates or set SSL_CERT_FILE."
            )
        token = base64.b64encode(":".join(credentials).encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {token}")
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(request, timeout=TIMEOUT_S) as answer:
            return answer.read(), answer.geturl()
    except (OSError, http.client.HTTPException) as error:
        raise SetupError(
            f"{without_credentials(url)} could not be fetched: {getattr(error, 'reason', error)}\n"
            "Is there a network? A proxy is set with HTTPS_PROXY, another package index with UV_DEFAULT_INDEX or "
            "PIP_INDEX_URL, its certificate with SSL_CERT_FILE."
        ) from error


def without_credentials(url: str) -> str:
    """Return a URL that may be shown."""
    return urlunsplit(urlsplit(url)._replace(netloc=_host(url)))


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _credentials(url: str) -> tuple[str, str] | None:
    parts = urlsplit(url)
    if parts.username is not None:
        return unquote(parts.username), unquote(parts.password or "")
    try:
        entry = netrc.netrc().authenticators(parts.hostname or "")
    except (OSError, netrc.NetrcParseError):
        return None
    return None if entry is None else (entry[0], entry[2] or "")


def _tls(certificates: str | None) -> tuple[ssl.SSLContext, bool]:
    if certificates is None and not _has_certificates():
        # A bare Debian has none at all. The hash in uv.lock tells the right file, whoever sent it.
        return ssl._create_unverified_context(), False
    if certificates is not None and os.path.isdir(certificates):
        return ssl.create_default_context(capath=certificates), True
    try:
        return ssl.create_default_context(cafile=certificates), True
    except OSError as error:
        raise SetupError(f"The certificates in {certificates} cannot be used: {error}") from error


def _has_certificates() -> bool:
    """Whether Python finds certificates of the machine's own."""
    paths = ssl.get_default_verify_paths()
    return paths.cafile is not None or (paths.capath is not None and bool(os.listdir(paths.capath)))


def _uv_index(environ: Mapping[str, str]) -> str | None:
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        if environ.get(name):
            return re.sub(r"^[\w.-]+=", "", environ[name])  # an index may be given as name=URL
    import tomllib

    own = environ.get("UV_CONFIG_FILE")
    for path in [Path(own)] if own else [_config_home(environ) / "uv/uv.toml", SYSTEM_CONFIG / "uv/uv.toml"]:
        try:
            config = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            continue
        for entry in config.get("index", []):
            if entry.get("default"):
                return str(entry["url"])
        if "index-url" in config:
            return str(config["index-url"])
    return None


def _pip_option(environ: Mapping[str, str], option: str) -> str | None:
    value = environ.get(f"PIP_{option.upper().replace('-', '_')}") or None
    if value is not None:
        return value
    # In pip's order: a later file wins over an earlier one, the section of a command over the global one.
    for section in ("global", "install"):
        for path in _pip_files(environ):
            config = configparser.RawConfigParser()
            try:
                config.read(path, "utf-8")
            except (OSError, ValueError, configparser.Error):
                continue
            value = config.get(section, option, fallback=None) or value
    return value


def _pip_files(environ: Mapping[str, str]) -> Iterator[Path]:
    own = environ.get("PIP_CONFIG_FILE")
    if own == os.devnull:
        return
    yield SYSTEM_CONFIG / "pip.conf"
    for folder in (environ.get("XDG_CONFIG_DIRS") or str(SYSTEM_CONFIG / "xdg")).split(os.pathsep):
        yield Path(folder) / "pip/pip.conf"
    yield _home(environ) / ".pip/pip.conf"
    yield _home(environ) / "Library/Application Support/pip/pip.conf"
    yield _config_home(environ) / "pip/pip.conf"
    yield Path(sys.prefix) / "pip.conf"
    if own:
        yield Path(own)


def _config_home(environ: Mapping[str, str]) -> Path:
    own = environ.get("XDG_CONFIG_HOME")
    return Path(own) if own else _home(environ) / ".config"


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or "~").expanduser()
