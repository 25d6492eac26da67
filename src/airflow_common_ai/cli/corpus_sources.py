"""Where ``corpus add`` takes its logs from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from airflow_common_ai.cli.failure_input import read_input, read_stream
from airflow_common_ai.evals.corpus.airflow_api import logs_of_failed_tries
from airflow_common_ai.evals.corpus.api_client import ApiClient
from airflow_common_ai.evals.corpus.intake import Intake
from airflow_common_ai.evals.corpus.log import Log, Skipped, task_try_in
from airflow_common_ai.evals.corpus.log_folder import logs_in

__all__ = ["TOKEN_VARIABLE", "logs_of", "logs_of_airflow"]

TOKEN_VARIABLE = "AIRFLOW_CLI_TOKEN"  # noqa: S105 - its name, which airflowctl has too
_MAX_TOKEN_BYTES = 64 * 1024


def logs_of(source: Path, corpus: Path) -> Iterator[Log | Skipped]:
    """
    Return the logs of a file, a folder or standard input.

    :param corpus: Where they go: not read itself, if it is in the folder.
    :raises ValueError: There is nothing of that name, or nothing to read; also before the first one is asked for.
    """
    if str(source) == "-":
        text = read_input(None)
        return iter([Log("standard input", text, datetime.now(UTC), task_try_in(text))])
    try:
        return logs_in(source, read_stream, leave_out=corpus)
    except ValueError as fault:
        raise ValueError(f"'{source}': {fault}") from None


def logs_of_airflow(
    url: str, token_file: Path | None, *, days: int, dags: Sequence[str], limit: int, intake: Intake
) -> Iterator[Log | Skipped]:
    """
    Return the logs of the failed tries of an Airflow.

    :raises ValueError: The URL is none, or there is no token.
    """
    client = ApiClient(url, _token(token_file, os.environ))
    since = datetime.now(UTC) - timedelta(days=days)
    return logs_of_failed_tries(client, read_stream, since=since, dags=dags, limit=limit, is_seen=intake.is_seen)


def _token(file: Path | None, environment: Mapping[str, str]) -> str:
    if file is None:
        token = environment.get(TOKEN_VARIABLE, "")
        if not token:
            raise ValueError(
                f"Airflow's API wants a token. Put it into the variable {TOKEN_VARIABLE}, or into a file and name that "
                "with --token-file. Airflow gives one at /auth/token."
            )
        return token.strip()
    try:
        with file.open("rb") as opened:
            return opened.read(_MAX_TOKEN_BYTES).decode("utf-8", "replace").strip()
    except OSError as error:
        raise ValueError(f"the file of the token cannot be read: {error.strerror}") from None
