"""uv, as ``uv.lock`` names it: found on this machine or fetched. It is a locked dependency of this project."""

from __future__ import annotations

import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from tools.bootstrap.machine import TIMEOUT_S, SetupError, configured_index, download, without_credentials


class Wheel(NamedTuple):
    """One file of a package: a zip archive for some platforms."""

    url: str
    sha256: str

    @property
    def name(self) -> str:
        return _file_name(self.url)

    @property
    def platforms(self) -> list[str]:
        return self.name[: -len(".whl")].rpartition("-")[2].split(".")


class LockedUv(NamedTuple):
    """What ``uv.lock`` says about uv."""

    version: str
    registry: str
    """The index that the lock was written for."""
    wheels: Sequence[Wheel]


def read_locked_uv(lock: Path) -> LockedUv:
    """Return what ``uv.lock`` says about uv."""
    import tomllib

    for package in tomllib.loads(lock.read_text("utf-8"))["package"]:
        if package["name"] == "uv":
            wheels = [Wheel(wheel["url"], wheel["hash"].partition("sha256:")[2]) for wheel in package["wheels"]]
            return LockedUv(package["version"], package["source"]["registry"], wheels)
    raise SetupError("uv.lock does not name uv. Put it back into the dev group of pyproject.toml and run uv lock.")


def find_uv(needed: str, own: Path, environ: Mapping[str, str]) -> Path | None:
    """
    Return a uv on this machine that is at least as new as the one that wrote the lock.

    :param needed: The version in the lock.
    :param own: Where an earlier set-up kept one, for when there is none on the PATH.
    :param environ: Where the PATH is.
    """
    for found in (shutil.which("uv", path=environ.get("PATH")), str(own)):
        version = _version(found) if found else None
        if found and version and _numbers(version) >= _numbers(needed):
            return Path(found)
    return None


def fetch_uv(locked: LockedUv, target: Path, environ: Mapping[str, str]) -> Path:
    """
    Download the locked uv, check its hash and unpack the program.

    :param target: Where the program goes.
    :param environ: Where the machine's settings are.
    :raises SetupError: It cannot be had, or is not what the lock names.
    """
    wheel = pick_wheel(locked.wheels, sys.platform, platform.machine(), platform.libc_ver())
    index = configured_index(environ)
    url = wheel.url if index is None else _link_in_index(index, wheel.name, environ)
    print(f"Fetching uv {locked.version} from {urlsplit(url).hostname} …", flush=True)
    content, _ = download(url, environ, index)
    if hashlib.sha256(content).hexdigest() != wheel.sha256:
        raise SetupError(
            f"{without_credentials(url)} is not the file that uv.lock names: its sha256 differs. It was thrown "
            "away.\nAsk whoever runs this package index, or set UV_DEFAULT_INDEX to another one."
        )
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        program = archive.read(next(name for name in archive.namelist() if name.endswith("/scripts/uv")))
    target.parent.mkdir(exist_ok=True)
    unfinished = target.with_name(f"uv-{os.getpid()}")
    unfinished.write_bytes(program)
    unfinished.chmod(0o755)
    unfinished.replace(target)
    return target


def pick_wheel(wheels: Sequence[Wheel], system: str, machine: str, libc: tuple[str, str]) -> Wheel:
    """
    Return the first wheel that runs on a machine.

    :param system: As in ``sys.platform``.
    :param machine: As in ``platform.machine()``.
    :param libc: As in ``platform.libc_ver()``, which says nothing about musl.
    :raises SetupError: There is none.
    """
    for wheel in wheels:
        if any(_runs_on(tag, system, machine, libc) for tag in wheel.platforms):
            return wheel
    raise SetupError(f"There is no uv to fetch for {system} on {machine}. Install uv and put it on the PATH.")


def _runs_on(tag: str, system: str, machine: str, libc: tuple[str, str]) -> bool:
    match = re.fullmatch(r"(macosx|manylinux|musllinux)_(\d+)_(\d+)_(\w+)", tag)
    if match is None or match[4] != machine:
        return False
    if match[1] == "macosx":
        return system == "darwin"
    if match[1] == "musllinux":
        return system == "linux" and libc[0] != "glibc"
    return system == "linux" and libc[0] == "glibc" and _numbers(libc[1]) >= (int(match[2]), int(match[3]))


def _link_in_index(index: str, name: str, environ: Mapping[str, str]) -> str:
    page = f"{index.rstrip('/')}/uv/"
    content, address = download(page, environ, index)
    links = _Links()
    links.feed(content.decode("utf-8", "replace"))
    for link in links.found:
        url = urljoin(address, link)
        if _file_name(url) == name:
            return url
    raise SetupError(f"{without_credentials(page)} does not offer {name}, which uv.lock names.")


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


def _file_name(url: str) -> str:
    return unquote(urlsplit(url).path.rpartition("/")[2])


def _version(uv: str) -> str | None:
    try:
        answer = subprocess.run([uv, "--version"], capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return None  # a shim with no uv behind it, a program for another machine
    words = answer.stdout.split()
    return words[1] if len(words) > 1 else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])
