"""A task log as Airflow writes it: by Airflow's own logging, from exceptions that were really raised."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

import structlog


class TaskLog:
    """What the task process says to its supervisor, and what the supervisor makes of it in the log file."""

    def __init__(self) -> None:
        from airflow.sdk.execution_time.supervisor import process_log_messages_from_subprocess
        from airflow.sdk.log import logging_processors

        self._sent, self._file = io.BytesIO(), io.BytesIO()
        to_supervisor = logging_processors(json_output=True, sending_to_supervisor=True)
        self._task = structlog.wrap_logger(structlog.BytesLogger(self._sent), processors=to_supervisor)
        to_file = logging_processors(json_output=True)
        file = structlog.wrap_logger(structlog.BytesLogger(self._file), processors=to_file)
        self._supervisor = process_log_messages_from_subprocess((file.bind(),))
        next(self._supervisor)

    def info(self, event: str, **fields: object) -> TaskLog:
        self._task.info(event, logger_name="task", **fields)
        return self._written()

    def error(self, event: str, **fields: object) -> TaskLog:
        self._task.error(event, logger_name="task", **fields)
        return self._written()

    def begins(self) -> TaskLog:
        """A try begins, or a deferred task goes on."""
        return self.info("::group::Pre Execute")

    def failed(self, exception: BaseException) -> TaskLog:
        """What the task runner says when a task has raised."""
        return self.error("Task failed with exception", exc_info=exception)

    @property
    def stored(self) -> str:
        """The log file, and what the API streams: JSON lines."""
        return self._file.getvalue().decode()

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stored.splitlines()]

    def _written(self) -> TaskLog:
        self._supervisor.send(self._sent.getvalue())
        self._sent.seek(0)
        self._sent.truncate()
        return self


def stored(exception: BaseException) -> str:
    """Return the log file of a task that raised this."""
    return TaskLog().failed(exception).stored


def printed(exception: BaseException, *, colors: bool = False) -> str:
    """Return what a console shows, as with ``dag.test()``."""
    from airflow.sdk.log import logging_processors

    output = io.StringIO()
    processors = logging_processors(json_output=False, colors=colors)
    task = structlog.wrap_logger(structlog.WriteLogger(output), processors=processors)
    task.error("Task failed with exception", exc_info=exception, logger_name="task")
    return output.getvalue()


def shown(
    records: Iterable[Mapping[str, Any]],
    *,
    has_source: bool = True,
    has_time: bool = True,
    frame: str = "File {filename}, line {lineno} in {name}",
) -> str:
    """
    Return what the UI downloads of a log, as ``renderStructuredLog`` of apache-airflow-core 3.3.2 puts it together.

    The gaps, or the lack of them, are the UI's.

    :param frame: A stack frame in the language of the UI.
    """
    return "\n".join(_line(dict(record), has_source, has_time, frame) for record in records)


def _line(record: dict[str, Any], has_source: bool, has_time: bool, frame: str) -> str:
    time, level, event = record.pop("timestamp"), record.pop("level"), record.pop("event")
    stacks = record.pop("error_detail", [])
    if "filename" in record and "lineno" in record:
        record["loc"] = f"{record.pop('filename')}:{record.pop('lineno')}"
    fields = "".join(
        f" {'source' if name == 'logger' else name}={value} "
        for name, value in record.items()
        if has_source or name not in ("logger", "loc")
    )
    traces = (
        f"{stack['exc_type']}: {stack['exc_value']}\n"
        + "".join(f"    {frame.format(**one)}\n" for one in stack["frames"])
        for stack in stacks
    )
    lead = f"[{time}] " if has_time else ""
    return f"{lead}{level.upper()} - {event}{fields}{','.join(traces)}"
