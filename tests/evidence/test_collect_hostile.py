"""Exceptions that do what they can to break whoever reads them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import MagicMock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_common_ai.evidence import collect as collect_module
from airflow_common_ai.evidence import live_exception
from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.model import Edge, Evidence


class EvilStr(str):
    """Says something else whenever it is asked."""

    def _fail(self, *args: object, **options: object) -> Any:
        raise RuntimeError("touched")

    __str__ = __repr__ = __len__ = __getitem__ = __iter__ = __contains__ = __format__ = _fail
    __eq__ = __ne__ = __hash__ = __add__ = encode = strip = splitlines = partition = isascii = _fail


class RaisesAnything(BaseException):
    pass


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*args: object, **options: object) -> Any:
        raise error

    return fail


def made(base: type[BaseException] = Exception, **members: Any) -> type[BaseException]:
    return type("HostileError", (base,), members)


def recurse(self: object) -> str:
    return str(self)


class HugeError(Exception):
    def __str__(self) -> str:
        return "x" * 100_000_000


class ChangesItsMind(Exception):
    """Gives another exception each time."""

    def __getattr__(self, name: str) -> Any:
        return ChangesItsMind(name)


class AnswersEverything(Exception):
    """Is a mock of everything."""

    def __getattr__(self, name: str) -> Any:
        return MagicMock(name=name)


class Tree(Exception):
    """Grows a new exception out of each attribute."""

    @property
    def orig(self) -> Exception:
        return Tree()

    cause = reason = inner_exception = original_error = orig

    @property
    def errors(self) -> list[Exception]:
        return [Tree() for _ in range(100)]


class EndlessList(list[Exception]):
    def __iter__(self) -> Iterator[Exception]:
        while True:
            yield ValueError("endless")


class LyingMeta(type):
    """A metaclass that makes everything about its classes a failure."""

    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError(name)

    def __instancecheck__(cls, instance: object) -> bool:
        raise RuntimeError("instance")

    def __subclasscheck__(cls, subclass: type) -> bool:
        raise RuntimeError("subclass")

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(cls) -> int:
        raise RuntimeError("hash")


class LyingError(ConnectionError, metaclass=LyingMeta):
    @property
    def __class__(self) -> Any:
        raise RuntimeError("class")


def with_slots(**slots: Any) -> Exception:
    error = ValueError("x")
    for name, value in slots.items():
        setattr(error, name, value)
    return error


ATTRIBUTES = [
    *live_exception._HIDING_PLACES,
    "last_attempt",
    "__notes__",
    "__dict__",
    "__cause__",
    "__context__",
    "args",
]

HOSTILE: dict[str, Callable[[], BaseException]] = {
    "str raises": lambda: made(__str__=raising(ValueError("no")))("x"),
    "str raises a BaseException": lambda: made(__str__=raising(RaisesAnything()))("x"),
    "str raises GeneratorExit": lambda: made(__str__=raising(GeneratorExit()))("x"),
    "str is cancelled": lambda: made(__str__=raising(asyncio.CancelledError()))("x"),
    "str returns no string": lambda: made(__str__=lambda self: 7)("x"),
    "str returns None": lambda: made(__str__=lambda self: None)("x"),
    "str returns bytes": lambda: made(__str__=lambda self: b"x")("x"),
    "str returns an evil string": lambda: made(__str__=lambda self: EvilStr("evil"))("x"),
    "str recurses": lambda: made(__str__=recurse)("x"),
    "str and repr raise": lambda: made(__str__=raising(ValueError()), __repr__=raising(ValueError()))("x"),
    "str is no method": lambda: made(__str__=None)("x"),
    "str fails and so do its arguments": lambda: made(__str__=raising(ValueError()))(LyingError()),
    "str fails and arguments are many": lambda: made(__str__=raising(ValueError()))(1, "two", [3]),
    "str is huge": HugeError,
    "an evil string as argument": lambda: ValueError(EvilStr("evil")),
    "getattribute raises": lambda: made(__getattribute__=raising(RuntimeError()))("x"),
    "getattribute raises a BaseException": lambda: made(__getattribute__=raising(RaisesAnything()))("x"),
    "everything is a mock": lambda: AnswersEverything("x"),
    "everything is another exception": lambda: ChangesItsMind("x"),
    "each attribute grows a tree": Tree,
    "a mock that claims to be an exception": lambda: with_slots(orig=MagicMock(spec=ValueError)),
    "a mock as last attempt": lambda: with_slots(last_attempt=MagicMock()),
    "a list that never ends": lambda: with_slots(errors=EndlessList([OSError("b")])),
    "a class that lies": lambda: LyingError("x"),
    "module is no string": lambda: made(__module__=7)("x"),
    "module is an evil string": lambda: made(__module__=EvilStr("evil"))("x"),
    "qualname is an evil string": lambda: made(__qualname__=EvilStr("evil"))("x"),
    "a class with a huge name": lambda: type("N" * 1_000_000, (Exception,), {"__module__": "m" * 1_000_000})("x"),
    "a class with a strange name": lambda: type("\n\x1b[31m \u202e", (Exception,), {})("x"),
    "two hundred bases": lambda: _with_many_bases(200)("x"),
    "notes are no list": lambda: with_slots(__notes__=7),
    "notes are one string": lambda: with_slots(__notes__="note"),
    "notes hold anything": lambda: with_slots(__notes__=["note", 7, None, b"x", EvilStr("evil"), object()]),
    "notes are a mock": lambda: with_slots(__notes__=MagicMock()),
    "a million notes": lambda: with_slots(__notes__=["note"] * 1_000_000),
    "many attributes": lambda: with_slots(**{f"a{n}": n for n in range(100_000)}),
    "a million arguments": lambda: ValueError(*range(1_000_000)),
    "a million members": lambda: ExceptionGroup("g", [ValueError()] * 1_000_000),
    "a group inside groups": lambda: _nested_group(500),
    "an attribute name that is evil": lambda: _with_evil_key(),
    **{
        f"{name} raises {type(error).__name__}": lambda name=name, error=error: made(
            **{name: property(raising(error))}
        )("x")
        for name in ATTRIBUTES
        for error in (RuntimeError("no"), RaisesAnything(), RecursionError())
    },
    **{f"{name} is a mock": lambda name=name: made(**{name: MagicMock()})("x") for name in ATTRIBUTES},
}


def _with_many_bases(count: int) -> type[BaseException]:
    cls: type[BaseException] = ConnectionResetError
    for number in range(count):
        cls = type(f"E{number}", (cls,), {})
    return cls


def _nested_group(levels: int) -> ExceptionGroup[Exception]:
    group = ExceptionGroup("innermost", [ValueError("x")])
    for _ in range(levels):
        group = ExceptionGroup("g", [group])
    return group


def _with_evil_key() -> Exception:
    class Key(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("eq")

        def __hash__(self) -> int:
            return str.__hash__(self)

    error = ValueError("x")
    error.__cause__ = OSError("b")
    error.__dict__[Key("exc_value")] = 7
    return error


def assert_plain(evidence: Evidence) -> None:
    """Everything is exactly what the contract says, and can be stored."""
    assert 1 <= len(evidence.nodes) <= 64
    assert evidence.nodes[0].edge is Edge.ROOT
    for index, node in enumerate(evidence.nodes):
        assert (node.parent is None) == (index == 0)
        assert node.parent is None or 0 <= node.parent < index
        texts = [node.type_path, node.message, *node.base_paths, *node.notes, *node.facts]
        for text in texts:
            assert type(text) is str
            text.encode()
        assert 0 < len(node.type_path) <= 300
        assert all(len(path) <= 300 for path in node.base_paths)
        assert len(node.base_paths) <= 32
        assert len(node.message) <= 17 * 1024
        assert len(node.notes) <= 16
        assert all(type(fact) in (str, int, float, bool) for fact in node.facts.values())
        json.dumps(dict(node.facts), allow_nan=False)


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("place", ["root", "cause", "context", "member", "argument"])
def test_gives_plain_evidence_whatever_the_exception_does(make: Callable[[], BaseException], place: str) -> None:
    hostile = make()
    error: BaseException = ValueError("outer")
    if place == "root":
        error = hostile
    elif place == "cause":
        error.__cause__ = hostile
    elif place == "context":
        error.__context__ = hostile
    elif place == "member":
        error = BaseExceptionGroup("outer", [hostile])
    else:
        error.args = ("outer", hostile)
    evidence = collect(error)
    assert_plain(evidence)
    assert len(evidence.nodes) > 1 or place == "root"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("str raises", "x"),
        ("str returns no string", "x"),
        ("str returns an evil string", "evil"),
        ("str recurses", "x"),
        ("str fails and arguments are many", "(1, 'two', [3])"),
        ("str fails and so do its arguments", "<exception str() failed>"),
        ("an evil string as argument", "evil"),
        ("everything is a mock", "x"),
        ("a class that lies", "x"),
    ],
)
def test_says_what_can_be_said(name: str, message: str) -> None:
    assert collect(HOSTILE[name]()).nodes[0].message == message


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a class that lies", f"{__name__}.LyingError"),
        ("module is no string", "HostileError"),
        ("module is an evil string", "evil.HostileError"),
        ("qualname is an evil string", f"{__name__}.evil"),
        ("getattribute raises", f"{__name__}.HostileError"),
    ],
)
def test_names_the_class_as_it_is(name: str, path: str) -> None:
    assert collect(HOSTILE[name]()).nodes[0].type_path == path


def test_a_class_that_lies_keeps_its_real_bases() -> None:
    assert "builtins.OSError" in collect(LyingError("x")).nodes[0].base_paths


def test_many_bases_keep_the_built_in_ones() -> None:
    bases = collect(_with_many_bases(200)("x")).nodes[0].base_paths
    assert bases[0].endswith(".E198")
    assert bases[-5:-2] == ("builtins.ConnectionResetError", "builtins.ConnectionError", "builtins.OSError")


def test_a_class_that_claims_to_be_another_is_what_it_is() -> None:
    class Pretender(Exception):
        __class__ = KeyboardInterrupt  # type: ignore[assignment]

    assert collect(Pretender("x")).nodes[0].class_name == "Pretender"


def test_a_mock_gives_neither_exceptions_nor_facts() -> None:
    [node] = collect(AnswersEverything("x")).nodes
    assert node.notes == ()
    assert node.facts == {}


def test_a_mock_that_a_probe_lets_through_is_no_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_exception, "probe", lambda exception: {"http.status": MagicMock(spec=int), "a": 1})
    assert collect(ValueError("x")).nodes[0].facts == {"a": 1}


@pytest.mark.parametrize("error", [RuntimeError("no"), RaisesAnything()], ids=repr)
def test_a_probe_that_raises_leaves_the_rest(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_exception, "probe", raising(error))
    [node] = collect(ValueError("x")).nodes
    assert (node.message, node.facts) == ("x", {})


def test_a_failing_attribute_does_not_hide_the_other_ones() -> None:
    error = made(reason=property(raising(RaisesAnything())))("x", OSError("argument"))
    error.__cause__ = OSError("cause")
    error.orig = OSError("orig")  # type: ignore[attr-defined]
    assert [node.message for node in collect(error).nodes[1:]] == ["cause", "orig", "argument"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)], ids=repr)
@pytest.mark.parametrize("name", ["__str__", "reason", "__notes__"])
def test_a_wish_to_stop_the_process_gets_through(error: BaseException, name: str) -> None:
    member = raising(error) if name == "__str__" else property(raising(error))
    with pytest.raises(type(error)):
        collect(made(**{name: member})("x"))


def test_a_fault_of_our_own_still_gives_the_type(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(collect_module, "walk", raising(MemoryError("secret")))
    evidence = collect(ConnectionError("secret"))
    assert [node.type_path for node in evidence.nodes] == ["builtins.ConnectionError"]
    assert evidence.is_truncated
    assert "builtins.MemoryError" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("thing", [None, "words", 7, object(), ValueError, MagicMock()], ids=repr)
def test_even_what_is_no_exception_gives_a_type(thing: Any) -> None:
    evidence = collect(thing)
    assert_plain(evidence)
    assert evidence.nodes[0].class_name == type(thing).__name__


@pytest.mark.parametrize("texts", [[None], [7], [b"x"], [MagicMock()], [EvilStr("evil")], ["x"] * 1000])
def test_trigger_tracebacks_may_be_anything(texts: list[Any]) -> None:
    assert [node.message for node in collect(ValueError("x"), extra_tracebacks=texts).nodes] == ["x"]


@settings(deadline=None)
@given(st.text())
def test_any_text_may_be_a_message(text: str) -> None:
    assert_plain(collect(ValueError(text)))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(["cause", "context", "orig", "args"]))))
def test_any_web_of_exceptions_is_walked_once(links: list[tuple[int, int, str]]) -> None:
    errors = [ValueError(str(number)) for number in range(10)]
    for source, target, kind in links:
        if kind == "args":
            errors[source].args += (errors[target],)
        else:
            setattr(errors[source], kind if kind == "orig" else f"__{kind}__", errors[target])
    nodes = collect(errors[0]).nodes
    reached = _reached(errors)
    assert len(nodes) == len(reached)


def _reached(errors: list[ValueError]) -> set[int]:
    waiting, reached = [errors[0]], {id(errors[0])}
    while waiting:
        error = waiting.pop()
        near = (error.__cause__, error.__context__, getattr(error, "orig", None), *error.args)
        for other in near:
            if isinstance(other, ValueError) and id(other) not in reached:
                reached.add(id(other))
                waiting.append(other)
    return reached
