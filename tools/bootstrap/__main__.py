"""Set up this checkout: find or fetch uv, then install into ``.venv`` exactly what ``uv.lock`` says.

``python3 -m tools.bootstrap`` needs Python 3.11 or newer and nothing else: Debian's, without ``venv`` and ``pip``,
will do. It uses the package index, the certificates and the proxy that this machine's pip or uv is set up with.
A second run does nothing until the lock, ``pyproject.toml`` or the Python has changed.
"""

# Everything that is imported here must parse on the older Pythons that are turned away.
from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.bootstrap.locked_uv import LockedUv, fetch_uv, find_uv, read_locked_uv
from tools.bootstrap.machine import SetupError, configured_index, uv_environment

NEEDED_PYTHON = (3, 11)

ROOT = Path(__file__).resolve().parent.parent.parent
VENV = ROOT / ".venv"
OWN_UV = ROOT / ".uv" / "uv"
STAMP = VENV / ".set-up"


def main() -> int:
    """Set up; return the exit code."""
    try:
        check_python(sys.version_info[:3])
        state = _state()
        if _is_set_up(state):
            return 0
        locked = read_locked_uv(ROOT / "uv.lock")
        uv = find_uv(locked.version, OWN_UV, os.environ) or fetch_uv(locked, OWN_UV, os.environ)
        print("Installing what uv.lock says into .venv; a few minutes on a slow line …", flush=True)
        install(uv, locked, os.environ)
        STAMP.write_text(state, "utf-8")
    except SetupError as error:
        print(f"Set-up failed: {error}", file=sys.stderr)
        return 1
    return 0


def check_python(version: Sequence[int]) -> None:
    """
    Check that this Python is new enough.

    :raises SetupError: It is not.
    """
    if tuple(version[:2]) < NEEDED_PYTHON:
        needed = ".".join(map(str, NEEDED_PYTHON))
        raise SetupError(
            f"Python {needed} or newer is needed, and {sys.executable} is {'.'.join(map(str, version))}.\n"
            f"Install one (e.g. apt-get install python{needed}, or brew install python@{needed}) and name it: "
            f"make PYTHON=python{needed} test"
        )


def install(uv: Path, locked: LockedUv, environ: Mapping[str, str]) -> None:
    """
    Install the locked packages and, editable, this project into ``.venv``.

    :raises SetupError: uv failed; it has said why.
    """
    index = configured_index(environ)
    if index is None or index.rstrip("/") == locked.registry.rstrip("/"):
        _run(environ, uv, "sync", "--locked", "--quiet", "--python", sys.executable)
        return
    # uv calls a lock outdated that was written for another index, and a frozen sync would go to the files'
    # first home. Names, versions and hashes hold anywhere.
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder) / "requirements.txt"
        python = VENV / "bin" / "python"
        _run(environ, uv, "export", "--frozen", "--quiet", "--no-emit-project", "--output-file", packages)
        _run(environ, uv, "venv", "--quiet", "--clear", "--python", sys.executable, VENV)
        _run(environ, uv, "pip", "sync", "--quiet", "--require-hashes", "--python", python, packages)
        _run(environ, uv, "pip", "install", "--quiet", "--no-deps", "--python", python, "--editable", ROOT)


def _run(environ: Mapping[str, str], *command: str | Path) -> None:
    words = [str(word) for word in command]
    own = {**uv_environment(environ), "UV_PROJECT_ENVIRONMENT": str(VENV)}
    code = subprocess.run(words, cwd=ROOT, env=own, check=False).returncode
    if code != 0:
        raise SetupError(f"`uv {' '.join(words[1:3])}` exited with {code}; what it said stands above.")


def _state() -> str:
    """What an installation was made from, in one line."""
    digest = hashlib.sha256()
    for name in ("uv.lock", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return f"{sys.version_info[0]}.{sys.version_info[1]} {digest.hexdigest()}"


def _is_set_up(state: str) -> bool:
    # A venv outlives the Python that it links to: exists() says False for such a link.
    python = VENV / "bin" / "python"
    return python.exists() and STAMP.is_file() and STAMP.read_text("utf-8") == state


if __name__ == "__main__":
    sys.exit(main())
