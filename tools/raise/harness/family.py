"""A script's cases, and how they are run."""

from __future__ import annotations

import argparse
import contextlib
import platform
import sys
import time
from collections.abc import Callable, Collection, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from airflow_common_ai.recordings.corpus_file import merged, read_corpus_file, write_corpus_file
from airflow_common_ai.recordings.recording import Provenance, Recording
from harness.case import Case, Caught, Failed, run
from harness.report import Report, show
from harness.servers import Server, ServerUnavailable, StartServer

__all__ = ["Family"]

_CORPUS = Path(__file__).parent.parent.parent.parent / "recordings" / "corpus"
_Function = TypeVar("_Function", bound=Callable[..., object])


class Family:
    """
    The failures of one library family, one function each.

    :param script: ``__file__``; its name is that of the family and of the file in ``recordings/corpus``.
    :param library: The distribution whose exceptions these are; ``python`` for the standard library.
    :param servers: By name, what starts a server. A case that has a parameter of that name gets the running server.
    :param is_wire_form: The cases' services are played by a loopback server that speaks their documented form.
    :param wrapped_by: The Airflow hook or operator that all cases go through.
    :param corpus: The folder that is written to.
    """

    def __init__(
        self,
        script: str,
        library: str,
        *,
        servers: Mapping[str, StartServer] | None = None,
        is_wire_form: bool = False,
        wrapped_by: str | None = None,
        corpus: Path = _CORPUS,
    ) -> None:
        self.name = Path(script).stem
        self._library = library
        self._start_server = dict(servers or {})
        self._is_wire_form = is_wire_form
        self._wrapped_by = wrapped_by
        self._file = corpus / f"{self.name}.jsonl"
        self._cases: dict[str, Case] = {}

    def case(
        self,
        title: str,
        *,
        raises: str | tuple[str, ...] = (),
        tags: Collection[str] = (),
        library: str | None = None,
        is_wire_form: bool | None = None,
        wrapped_by: str | None = None,
        limit_s: float = 30,
    ) -> Callable[[_Function], _Function]:
        """
        Mark a function, plain or ``async``, that raises naturally.

        :param title: What happens, in words; it makes the id, so two cases never share one.
        :param raises: The class that must come out, or a base of it, or several; without it anything counts but
            what a mistake in the script would raise, such as a ``TypeError``.
        :param tags: E.g. ``obvious-reading-is-wrong``.
        :param library: The distribution, if not the family's.
        :param limit_s: How long it may take, in seconds.
        """

        def add(function: _Function) -> _Function:
            case = Case(
                title,
                function,
                library=library or self._library,
                tags=tuple(sorted(tags)),
                raises=(raises,) if isinstance(raises, str) else raises,
                is_wire_form=self._is_wire_form if is_wire_form is None else is_wire_form,
                wrapped_by=wrapped_by or self._wrapped_by,
                limit_s=limit_s,
            )
            if case.slug in self._cases:
                raise ValueError(f"two cases of {self.name} are called {case.slug!r}: give one of them another title.")
            unknown = [name for name in case.servers if name not in self._start_server]
            if unknown:
                raise ValueError(f"case {title!r} asks for {unknown[0]!r}, which is none of the family's servers.")
            self._cases[case.slug] = case
            return function

        return add

    def run(self, arguments: list[str] | None = None) -> None:
        """Raise everything, write what changed, and exit with 1 if a case did not do what it is for."""
        parser = argparse.ArgumentParser(description=f"Raise and record the failures of {self.name}.")
        parser.add_argument("--show", metavar="TEXT", help="print the cases with TEXT in their id, and write nothing")
        wanted = parser.parse_args(arguments).show
        cases = [case for case in self._cases.values() if wanted is None or wanted in case.slug]
        report = Report(self.name)
        started = time.monotonic()
        recordings = self._record(cases, report)
        report.seconds = time.monotonic() - started
        if wanted is not None:
            for recording in recordings:
                show(recording)
        else:
            self._write(recordings, report)
        report.finish()
        sys.exit(1 if report.failed else 0)

    def _record(self, cases: list[Case], report: Report) -> list[Recording]:
        recordings = []
        with contextlib.ExitStack() as running:
            servers = self._started({name for case in cases for name in case.servers}, running, report)
            for case in cases:
                if not servers.keys() >= set(case.servers):
                    report.skipped.append(case.slug)
                    continue
                match run(case, servers):
                    case Failed(why):
                        report.failed[case.slug] = why
                    case Caught() as caught:
                        report.met_canary += caught.has_met_canary
                        provenance = self._provenance(case, servers)
                        recording_id = f"{self.name}/{case.slug}"
                        recordings.append(Recording.of(recording_id, caught.evidence, provenance, case.tags))
        return recordings

    def _started(self, names: set[str], running: contextlib.ExitStack, report: Report) -> dict[str, Server]:
        servers = {}
        for name in sorted(names):
            try:
                servers[name] = running.enter_context(self._start_server[name]())
            except ServerUnavailable as reason:
                report.unavailable[name] = str(reason)
        return servers

    def _provenance(self, case: Case, servers: Mapping[str, Server]) -> Provenance:
        used = [servers[name] for name in case.servers]
        versions = [server.version for server in used if server.version]
        return Provenance(
            tool=f"tools/raise/{self.name}.py",
            library=case.library,
            version=platform.python_version() if case.library == "python" else version(case.library),
            how=f"make record ARGS={self.name}",
            server=", ".join(server.name for server in used) or None,
            server_version=", ".join(versions) or None,
            is_wire_form=case.is_wire_form,
            wrapped_by=case.wrapped_by,
        )

    def _write(self, recordings: list[Recording], report: Report) -> None:
        stored = read_corpus_file(self._file) if self._file.exists() else []
        result = merged(stored, recordings, {f"{self.name}/{slug}" for slug in self._cases})
        report.compare(stored, result, raised=len(recordings))
        if result:
            write_corpus_file(self._file, result)
