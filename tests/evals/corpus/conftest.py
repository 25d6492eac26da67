"""Shared by the tests of a corpus."""

from __future__ import annotations

import pytest


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask loopback directly, whatever proxy this machine has."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")
