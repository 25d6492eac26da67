"""The line of a printed traceback that names the exception: ``requests.exceptions.ConnectionError: …``."""

from __future__ import annotations

import builtins
import re

from airflow_common_ai.evidence.logs.log_line import without_record_lead

__all__ = ["built_in_exception", "match_exception", "match_exception_alone"]

_LINE = re.compile(r"(?P<type>[^\W\d][\w.<>\[\]$-]{0,299})(?::(?: (?P<message>.*))?)?$")
_CLASS_NAME = re.compile(r"_*[A-Z]\w*$")
# Something must stand before the ending: any program prints `Error: …`.
_ERROR_NAME = re.compile(r"_*[A-Z]\w*(?:Error|Exception|Timeout|Interrupt|Exit|Failure|Fault)$")
_ERROR_MODULES = {"error", "errors", "exc", "exception", "exceptions", "errorfactory", "ssh_exception"}
"""Parts of module paths in which libraries keep exceptions with names such as ``NotFound``."""


def match_exception(line: str) -> re.Match[str] | None:
    """Return ``type`` and ``message`` of a line that stands where an exception must stand."""
    return _LINE.match(line)


def match_exception_alone(line: str) -> re.Match[str] | None:
    """Return the match of a line that is an exception by its looks alone: ``Note: …`` is none."""
    match = _LINE.match(without_record_lead(line))
    if match is None:
        return None
    module, _, name = match["type"].rpartition(".")
    if module:
        is_sure = _CLASS_NAME.match(name) is not None and (
            _ERROR_NAME.match(name) is not None or not _ERROR_MODULES.isdisjoint(module.split("."))
        )
    elif built_in := built_in_exception(name):
        is_sure = not issubclass(built_in, Warning)
    else:
        is_sure = _ERROR_NAME.match(name) is not None and bool(match["message"])
    return match if is_sure else None


def built_in_exception(name: str) -> type[BaseException] | None:
    """Return the built-in exception of exactly this name."""
    found = vars(builtins).get(name)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
