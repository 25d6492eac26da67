"""Tests that ask a real model: ``make test-llm URL=http://127.0.0.1:8080``; nothing else collects them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

URL = os.environ.get("REAL_LLM_URL", "")

collect_ignore_glob = [] if URL else ["test_*.py"]

sys.path.append(str(Path(__file__).parent.parent / "policies"))
