"""The process that loads a policy once and forks workers from then on: a worker that hangs is replaced at once.

A fresh interpreter, so that it shares no thread, no lock and no connection to Airflow's supervisor with whoever
evaluates. It is started as ``python -P -m airflow_common_ai.evals.workers.nursery``.
"""

from __future__ import annotations

import gc
import logging
import os
import platform
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from pathlib import Path

from airflow.sdk.definitions.retry_policy import RetryPolicy

from airflow_common_ai.evals.asking.asker import Asker, looks_at_exceptions
from airflow_common_ai.evals.asking.policy_loading import PolicyNotLoaded, identity_of, load_policy
from airflow_common_ai.evals.replay import model_connections
from airflow_common_ai.evals.replay.model_connections import Reached
from airflow_common_ai.evals.replay.scrubbing import Scrubber
from airflow_common_ai.evals.workers.job import PolicyFacts, Preparation, Setup
from airflow_common_ai.evals.workers.network import block_network
from airflow_common_ai.evals.workers.worker import Worker
from airflow_common_ai.policies.airflow_context import mask_registered_secrets
from airflow_common_ai.policies.llm_policy import LLMRetryPolicy
from airflow_common_ai.policies.settings import Settings, read_settings
from airflow_common_ai.recordings.class_of import ALLOWED_PACKAGES, class_of

__all__ = ["main"]

_OF_ALL = ("airflow-common-ai", "apache-airflow-task-sdk")
_OF_MODELS = ("apache-airflow-providers-common-ai", "pydantic-ai-slim", "openai", "anthropic", "vcrpy")


def main(descriptor: int) -> None:
    """
    Serve the one who started this: load, prepare, and fork whenever told so, until it is gone.

    :param descriptor: Of the socket to it.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries the workers
    _be_quiet()
    parent = Connection(descriptor)
    with suppress(EOFError, OSError):
        setup: Setup = parent.recv()
        try:
            policy = load_policy(setup.policy, Path(setup.folder))
        except PolicyNotLoaded as fault:
            parent.send(str(fault))
            return
        settings = read_settings()
        reached = Reached()
        if setup.mode != "offline":
            model_connections.define_missing(setup.connections)
            reached = Reached.of(model_connections.connections_of(policy))
        parent.send(_facts(policy, setup, settings, reached))
        preparation: Preparation = parent.recv()
        worker = _prepared(policy, setup, settings, preparation, reached)
        gc.collect()
        gc.freeze()  # what is shared with the children stays so
        parent.send("ready")
        while True:
            parent.recv()
            _fork(parent, recv_handle(parent), worker.serve)


def _be_quiet() -> None:
    """Nobody reads what is logged here, and to put a whole request into words for it takes longer than to ask."""
    root = logging.getLogger()
    root.handlers = [logging.NullHandler()]
    root.setLevel(logging.ERROR)


def _facts(policy: RetryPolicy, setup: Setup, settings: Settings, reached: Reached) -> PolicyFacts:
    conn_ids = model_connections.connections_of(policy)
    shapes = reached.shapes
    named = model_connections.model_ids_of(policy)
    named += [str(shape["extra"]["model"]) for shape in shapes.values() if "model" in shape["extra"]]
    return PolicyFacts(
        policy_id=identity_of(policy, repr(settings)),
        question=_question(policy),
        model=named[0] if named else None,
        conn_type=str(shapes[conn_ids[0]]["conn_type"]) if conn_ids and conn_ids[0] in shapes else None,
        has_model=bool(conn_ids),
        looks_at_exceptions=looks_at_exceptions(policy),
        connections=shapes,
        missing_connections=reached.missing,
        versions=_versions(has_model=bool(conn_ids) and setup.mode != "offline"),
    )


def _question(policy: RetryPolicy) -> dict[str, str]:
    if not isinstance(policy, LLMRetryPolicy):
        return {}
    hashes = policy.questioner().hashes
    return {"prompt": hashes.prompt, "schema": hashes.schema, "categories": hashes.categories}


def _versions(*, has_model: bool) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in (*_OF_ALL, *(_OF_MODELS if has_model else ())):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _prepared(
    policy: RetryPolicy, setup: Setup, settings: Settings, preparation: Preparation, reached: Reached
) -> Worker:
    allowed = ALLOWED_PACKAGES.union(setup.allow_import)
    for type_path in preparation.type_paths:
        class_of(type_path, (), allowed)
    mask_registered = None if setup.mode == "offline" else mask_registered_secrets
    if setup.mode != "offline":
        from airflow_common_ai.evals.replay import exchange  # noqa: F401 - imported once, for all workers

        if model_connections.connections_of(policy):
            import pydantic_ai  # noqa: F401 - as above
    if setup.mode in ("offline", "replay"):
        block_network()
        os.environ.pop("SSL_CERT_FILE", None)
        os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)  # no handshake: each client would read all certificates
    asker = Asker(
        policy,
        settings,
        asks_models=setup.mode != "offline",
        tries=setup.tries,
        allow_import=setup.allow_import,
        mask_registered=mask_registered,
    )
    return Worker(asker, setup.mode, preparation.timeout_s, reached.hosts, Scrubber(mask_registered))


def _fork(parent: Connection, descriptor: int, serve: Callable[[Connection], None]) -> None:
    pid = os.fork()
    if pid:
        os.close(descriptor)
        parent.send(pid)
        return
    try:
        parent.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        serve(Connection(descriptor))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
