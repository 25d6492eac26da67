"""What the raising scripts import, these tests import too."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent.parent / "tools" / "raise"))
