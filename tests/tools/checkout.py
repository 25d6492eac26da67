"""A checkout of a small project, on a machine that has nothing but Python."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from package_index import make_wheel

ROOT = Path(__file__).parent.parent.parent

FAKE_UV = f"""#!{sys.executable}
import os, pathlib, sys
if sys.argv[1:] == ["--version"]:
    print("uv {{version}}")
    sys.exit()
with open("uv.log", "a") as log:
    print(*sys.argv[1:3], os.environ.get("UV_DEFAULT_INDEX"), file=log)
pathlib.Path(".venv/bin").mkdir(parents=True, exist_ok=True)
pathlib.Path(".venv/bin/python").touch()
"""

# What a Debian without python3-venv and python3-pip answers to these imports.
WITHOUT_VENV_AND_PIP = (
    "import sys; sys.modules.update(venv=None, ensurepip=None, pip=None); "
    "import runpy; runpy.run_module('tools.bootstrap', run_name='__main__', alter_sys=True)"
)


def fake_uv(version: str) -> bytes:
    return FAKE_UV.format(version=version).encode()


def own_platform() -> str:
    if sys.platform == "darwin":
        return f"macosx_11_0_{platform.machine()}"
    libc = "manylinux_2_17" if platform.libc_ver()[0] == "glibc" else "musllinux_1_1"
    return f"{libc}_{platform.machine()}"


UV_FILE = f"uv-0.2.0-py3-none-{own_platform()}.whl"
UV_WHEEL = make_wheel("uv", "0.2.0", {"uv-0.2.0.data/scripts/uv": fake_uv("0.2.0")}, f"py3-none-{own_platform()}")


class Checkout:
    """A project with a lock, on a machine with nothing but Python."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.path = home / "bin"
        self.path.mkdir(parents=True)
        (home / "uv.toml").touch()
        self.environ = {
            "PATH": str(self.path),
            "HOME": str(home),
            "PIP_CONFIG_FILE": os.devnull,
            "UV_CONFIG_FILE": str(home / "uv.toml"),
        }
        shutil.copytree(ROOT / "tools" / "bootstrap", folder / "tools" / "bootstrap")
        (folder / "tools" / "__init__.py").touch()
        (folder / "pyproject.toml").touch()

    def lock(self, url: str, *, sha256: str = hashlib.sha256(UV_WHEEL).hexdigest(), registry: str = "") -> None:
        (self.folder / "uv.lock").write_text(
            '[[package]]\nname = "uv"\nversion = "0.2.0"\n'
            f'source = {{ registry = "{registry}" }}\n'
            f'wheels = [{{ url = "{url}", hash = "sha256:{sha256}" }}]\n'
        )

    def put_on_path(self, program: bytes) -> None:
        (self.path / "uv").write_bytes(program)
        (self.path / "uv").chmod(0o755)

    def set_up(self, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-S", "-c", WITHOUT_VENV_AND_PIP],
            cwd=self.folder,
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def uv_calls(self) -> list[str]:
        log = self.folder / "uv.log"
        return log.read_text().splitlines() if log.exists() else []

    @property
    def own_uv(self) -> Path:
        return self.folder / ".uv" / "uv"
