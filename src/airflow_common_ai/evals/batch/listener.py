"""The process that lets a policy ask, hears what, and answers nothing; no request leaves it.

Started as ``python -P -m airflow_common_ai.evals.batch.listener`` with one JSON object on its standard input. What it
hears goes to a file, since a policy may print.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from airflow_common_ai.evals.asking.asker import Asker
from airflow_common_ai.evals.asking.policy_loading import load_policy
from airflow_common_ai.evals.cases import class_paths, read_cases
from airflow_common_ai.evals.replay.exchange import replaying
from airflow_common_ai.evals.replay.model_connections import define_missing
from airflow_common_ai.evals.replay.scrubbing import Scrubber
from airflow_common_ai.evals.workers.network import block_network
from airflow_common_ai.policies.airflow_context import mask_registered_secrets
from airflow_common_ai.policies.settings import read_settings
from airflow_common_ai.recordings.class_of import ALLOWED_PACKAGES, class_of
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.recordings.split import Split

__all__ = ["Listening", "main"]


@dataclass(frozen=True)
class Listening:
    """What it is told."""

    policy: str
    folder: str
    """Where a relative name of a policy begins."""
    connections: dict[str, dict[str, Any]]
    corpus: str
    output: str
    labels: str | None = None
    split: str | None = None

    def to_json(self) -> str:
        return json.dumps(asdict(self))


class _Ear(Scrubber):
    """Keeps the requests that it is given, as they are compared later."""

    def __init__(self) -> None:
        super().__init__(mask_registered_secrets)
        self.heard: list[Any] = []

    def request(self, request: Any) -> Any:
        scrubbed = super().request(request)
        self.heard.append(scrubbed)
        return scrubbed


def main(listening: Listening) -> None:
    """
    Write a line for each case: the first request about it, or why there was none though a model was wanted.

    What a policy would ask after that depends on the answer.
    """
    import pydantic_ai  # noqa: F401 - not within the time limit of the first case

    logging.disable(logging.WARNING)  # several lines a case
    policy = load_policy(listening.policy, Path(listening.folder))
    define_missing(listening.connections)
    cases = read_cases(
        Path(listening.corpus),
        None if listening.labels is None else Path(listening.labels),
        None if listening.split is None else Split(listening.split),
    )
    for path in class_paths(cases):
        class_of(path, (), ALLOWED_PACKAGES)
    block_network()
    os.environ.pop("SSL_CERT_FILE", None)
    os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)  # no handshake: each client would read all certificates
    ear = _Ear()
    asker = Asker(policy, read_settings(), asks_models=True, mask_registered=mask_registered_secrets)
    with Path(listening.output).open("w", encoding="ascii") as file:
        for case in cases:
            heard = _heard(asker, ear, case.recording)
            if heard["problem"]:  # the time that the policy gives its model may have gone into imports
                heard = _heard(asker, ear, case.recording)
            file.write(json.dumps(heard) + "\n")


def _heard(asker: Asker, ear: _Ear, recording: Recording) -> dict[str, Any]:
    ear.heard.clear()
    with replaying((), ear):
        answer = asker.ask(recording)
    if not ear.heard:
        return {"id": recording.id, "request": None, "problem": answer.error if answer.calls else None}
    first = ear.heard[0]
    request = {
        "method": first.method,
        "uri": first.uri,
        "body": (first.body or b"").decode(),
        "headers": {name: [value] for name, value in first.headers.items()},
    }
    return {"id": recording.id, "request": request, "problem": None}


if __name__ == "__main__":
    main(Listening(**json.load(sys.stdin)))
