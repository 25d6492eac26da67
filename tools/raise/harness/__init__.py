"""What the scripts in this folder are written with: see README.md."""

from __future__ import annotations

from harness.canary import CANARY
from harness.family import Family
from harness.servers import Server, ServerUnavailable
from harness.tags import FROM_TEXT, WRONG_READING

__all__ = ["CANARY", "FROM_TEXT", "WRONG_READING", "Family", "Server", "ServerUnavailable"]
