"""What is left of a recording once everything is masked that is another each time it is raised.

Recording again must not touch a line in which nothing really changed. The stored text itself stays as it was
printed; only the comparison looks through these glasses. Too little masked costs a line in a diff, no more.
"""

from __future__ import annotations

import json
import re

from airflow_common_ai.recordings.recording import Recording

__all__ = ["essence"]

_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_VOLATILE = re.compile(
    rf"""
      \b\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?   # dates and times
    | \b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?[ ])?\d{{1,2}}[ -](?:{_MONTHS})[a-z]*[ -]\d{{2,4}}
    | \b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[ ])?(?:{_MONTHS})[ ]+\d{{1,2}}\b
    | \b\d{{1,2}}:\d\d:\d\d(?:[.,]\d+)?\b
    | \b0x[0-9a-fA-F]+\b                                                                # addresses
    | \b[0-9a-fA-F]{{8}}-(?:[0-9a-fA-F]{{4}}-){{3}}[0-9a-fA-F]{{12}}\b
    | \b(?=[a-f]*\d)[0-9a-f]{{12,}}\b
    | \b(?:pid|PID|[Pp]rocess|thread|Thread|backend)[ =:#-]*\d+
    | \b1\d{{9}}(?:\.\d+|\d{{3}}|\d{{6}}|\d{{9}})?\b                                    # seconds since 1970
    | (?<=[:\s=,('"])(?:3[2-9]\d{{3}}|[45]\d{{4}}|6[0-5]\d{{3}})\b                      # ports that were free
    | \b\d+\.\d{{2,}}(?=[ ]?(?:s|ms|sec|seconds|milliseconds)\b)|\b\d+\.\d{{6,}}        # measured times
    | \(_\w+\.c:\d+\)                                                                  # lines of the interpreter
    | (?<=/)tmp\w{{6,}}|(?<=/tmp/)[\w.-]+
    """,
    re.VERBOSE,
)
_SMALL_VERSION = re.compile(r"(\d+\.\d+)\S*")


def essence(recording: Recording) -> str:
    """Return a text that two recordings share if nothing but time, ports, ids and small versions is between them."""
    entry = recording.to_json()
    del entry["split"], entry["fingerprint"], entry["evidence"]["observed_at"]
    for name in ("version", "server_version"):
        if name in entry["provenance"]:
            entry["provenance"][name] = _SMALL_VERSION.sub(r"\1", entry["provenance"][name])
    return _VOLATILE.sub("~", json.dumps(entry, ensure_ascii=False))
