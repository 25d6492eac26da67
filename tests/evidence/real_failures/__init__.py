"""Failures that real libraries raise, each in two tries of one task.

Between the tries everything changes that changes in life: ports, ids, numbers, paths, names, dates. What failed
stays the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopback.http_server import Answer, LoopbackServer, serving
from loopback.sockets import refused_port


@dataclass(frozen=True)
class Try:
    """What one try of the task meets."""

    number: int
    name: str
    """Of whatever the task works on: a file, a table, a bucket, a user."""
    id: str
    moment: str
    folder: Path
    http: LoopbackServer
    refused_port: int
    closing: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    """Closes what a failure opened once the try is over."""

    @property
    def refused_url(self) -> str:
        return f"http://127.0.0.1:{self.refused_port}/{self.name}?id={self.id}"

    def url(self, answer: Answer) -> str:
        """Return a URL of this try at which a real server gives ``answer``."""
        path = f"/v1/{self.name}/{self.id}"
        self.http.answer(answer)
        return self.http.url + path

    def endpoint(self, answer: Answer) -> str:
        """Return the address of a server that gives ``answer`` whatever the path."""
        self.http.answer(answer)
        return self.http.url


@contextlib.contextmanager
def two_tries(folder: Path) -> Iterator[tuple[Try, Try]]:
    """Start the servers of both tries."""
    with contextlib.ExitStack() as stack:
        yield (
            _try(stack, folder / "a", 17, "orders", "7f3a9c1b-52d4-4e8f-9a01-0c5de8b7f311", "2026-01-05T06:07:08Z"),
            _try(
                stack,
                folder / "b9",
                40231,
                "stock_2026",
                "0be41d77-c3a9-4b16-8d5e-91f2a6c0d4e8",
                "2026-11-30T23:59:01Z",
            ),
        )


def _try(stack: contextlib.ExitStack, folder: Path, number: int, name: str, id_: str, moment: str) -> Try:
    folder.mkdir()
    return Try(
        number=number,
        name=name,
        id=id_,
        moment=moment,
        folder=folder,
        http=stack.enter_context(serving()),
        refused_port=stack.enter_context(refused_port()),
        closing=stack.enter_context(contextlib.ExitStack()),
    )


@dataclass(frozen=True)
class Failure:
    """One way in which a library fails."""

    library: str
    name: str
    fail: Callable[[Try], Any]

    def __str__(self) -> str:
        return f"{self.library}: {self.name}"

    def raised_in(self, this_try: Try) -> BaseException:
        """Call the library and return what it raised, as it would reach a retry policy."""
        try:
            self.fail(this_try)
        except Exception as error:
            return error
        raise AssertionError(f"{self} did not fail")


class Failures(list[Failure]):
    """A table of failures; a function becomes a row by standing under ``@table("library")``."""

    def __call__(self, library: str) -> Callable[[Callable[[Try], Any]], Callable[[Try], Any]]:
        def add(fail: Callable[[Try], Any]) -> Callable[[Try], Any]:
            self.append(Failure(library, fail.__name__.replace("_", " "), fail))
            return fail

        return add

    def row(self, library: str, name: str, fail: Callable[[Try], Any]) -> None:
        self.append(Failure(library, name, fail))
