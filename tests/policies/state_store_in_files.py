"""A ``[workers] state_store_backend`` as a deployment may have: values in files, a reference in the database."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from airflow.sdk.state import BaseStoreBackend


class BackendInFiles(BaseStoreBackend):
    """Implements what a worker uses; the API server's part is not reached."""

    def serialize_task_state_store_to_ref(self, *, value: Any, key: str, scope: Any) -> str:
        path = Path(os.environ["STATE_STORE_FOLDER"]) / f"{scope.task_id}-{key}.json"
        path.write_text(json.dumps(value))
        return str(path)

    def deserialize_task_state_store_from_ref(self, stored: str) -> Any:
        return json.loads(Path(stored).read_text())

    def _unused(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the worker has no business here")

    get = set = delete = clear = aget = aset = adelete = aclear = _unused
