from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import UV_FILE, UV_WHEEL, Checkout
from package_index import PackageIndex, serve

from tools.bootstrap import machine


@pytest.fixture(autouse=True)
def machine_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine is set up with is not what is tested."""
    monkeypatch.setattr(machine, "SYSTEM_CONFIG", tmp_path / "etc")
    monkeypatch.setenv("HOME", str(tmp_path))
    for scheme in ("http", "https", "all"):
        monkeypatch.delenv(f"{scheme}_proxy", raising=False)
        monkeypatch.delenv(f"{scheme}_proxy".upper(), raising=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    (tmp_path / "checkout").mkdir()
    return Checkout(tmp_path / "checkout", tmp_path / "home")


@pytest.fixture
def index() -> Iterator[PackageIndex]:
    index = PackageIndex()
    index.add("uv", UV_FILE, UV_WHEEL)
    with serve(index) as served:
        yield served
