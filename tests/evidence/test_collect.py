"""What is found behind an exception, and how it hangs together."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import traceback
from concurrent.futures import Future, ProcessPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from enum import IntEnum, StrEnum
from itertools import pairwise
from typing import Any

import pytest

from airflow_common_ai.evidence import live_exception
from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.model import Edge, Evidence

Found = list[tuple[str, str, int | None]]


def found(exception: BaseException, **options: Any) -> Found:
    """Return what is found, as ``(message, edge, parent)``."""
    return [(node.message, node.edge.value, node.parent) for node in collect(exception, **options).nodes]


def chained(*exceptions: BaseException, edge: str = "cause") -> BaseException:
    """Hang each exception on the one before it and return the first."""
    for outer, inner in pairwise(exceptions):
        setattr(outer, f"__{edge}__", inner)
    return exceptions[0]


class WrapperError(Exception):
    """Keeps anything in its attributes, as libraries do."""

    def __init__(self, *args: object, **attributes: object) -> None:
        super().__init__(*args)
        self.__dict__.update(attributes)


class TestNode:
    def test_says_where_the_class_lives_and_what_it_is(self) -> None:
        class LocalError(ConnectionResetError):
            pass

        [node] = collect(LocalError("gone")).nodes
        assert (
            node.type_path == f"{__name__}.TestNode.test_says_where_the_class_lives_and_what_it_is.<locals>.LocalError"
        )
        assert node.base_paths == (
            "builtins.ConnectionResetError",
            "builtins.ConnectionError",
            "builtins.OSError",
            "builtins.Exception",
            "builtins.BaseException",
        )
        assert node.is_a("OSError")
        assert (node.edge, node.parent, node.from_text) == (Edge.ROOT, None, False)

    @pytest.mark.parametrize(
        ("exception", "message"),
        [
            (ValueError("words"), "words"),
            (ValueError(), ""),
            (ValueError(""), ""),
            (ValueError(1, "two"), "(1, 'two')"),
            (KeyError("key"), "'key'"),
            (OSError(111, "refused"), "[Errno 111] refused"),
            (SystemExit(3), "3"),
            (SystemExit("no input"), "no input"),
            (SystemExit(), ""),
            (KeyboardInterrupt(), ""),
            (asyncio.CancelledError(), ""),
            (WrapperError("caf\u00e9 \U0001f600"), "café 😀"),
            (OSError(2, "missing", "/data/\udce4"), "[Errno 2] missing: '/data/\\udce4'"),
            (ValueError("name \udce4"), "name ?"),
        ],
        ids=repr,
    )
    def test_message_is_what_the_exception_says(self, exception: BaseException, message: str) -> None:
        [node] = collect(exception).nodes
        assert node.message.encode().decode() == message

    def test_message_falls_back_on_arguments_where_str_says_nothing(self) -> None:
        class SilentError(Exception):
            def __str__(self) -> str:
                return ""

        assert found(SilentError("code", 7)) == [("('code', 7)", "root", None)]

    def test_keeps_notes(self) -> None:
        error = ValueError("x")
        error.add_note("first")
        error.add_note("second\nline")
        assert collect(error).nodes[0].notes == ("first", "second\nline")

    def test_airflows_own_timeout_is_read(self) -> None:
        from airflow.sdk.exceptions import AirflowTaskTimeout

        [node] = collect(AirflowTaskTimeout("Timeout, PID: 7")).nodes
        assert (node.class_name, node.message) == ("AirflowTaskTimeout", "Timeout, PID: 7")
        assert not node.is_a("Exception")


class TestFacts:
    class Number(IntEnum):
        ONE = 1

    class Word(StrEnum):
        YES = "yes"

    def test_are_plain_values_and_nothing_else(self, monkeypatch: pytest.MonkeyPatch) -> None:
        given = {
            "a": 429,
            "b": 1.5,
            "c": True,
            "d": "words",
            "e": self.Number.ONE,
            "f": self.Word.YES,
            "g": None,
            "h": b"bytes",
            "i": [1],
            "j": float("nan"),
            "k": 10**30,
            "l": object(),
        }
        monkeypatch.setattr(live_exception, "probe", lambda exception: given)
        facts = collect(ValueError("x")).nodes[0].facts
        assert facts == {"a": 429, "b": 1.5, "c": True, "d": "words", "e": 1, "f": "yes"}
        assert {type(fact) for fact in facts.values()} == {int, float, bool, str}


class TestEdges:
    def test_a_cause_is_found(self) -> None:
        assert found(chained(ValueError("a"), OSError("b"), KeyError("c"))) == [
            ("a", "root", None),
            ("b", "cause", 0),
            ("'c'", "cause", 1),
        ]

    @pytest.mark.parametrize("is_suppressed", [False, True])
    def test_a_context_is_found_even_when_suppressed(self, is_suppressed: bool) -> None:
        error = chained(ValueError("a"), OSError("b"), edge="context")
        error.__suppress_context__ = is_suppressed
        assert found(error) == [("a", "root", None), ("b", "context", 0)]

    def test_a_context_that_is_the_cause_is_found_once(self) -> None:
        cause = OSError("b")
        error = chained(ValueError("a"), cause)
        error.__context__ = cause
        assert found(error) == [("a", "root", None), ("b", "cause", 0)]

    def test_a_context_beside_a_cause_is_found(self) -> None:
        error = chained(ValueError("a"), OSError("cause"))
        error.__context__ = OSError("context")
        assert found(error) == [("a", "root", None), ("cause", "cause", 0), ("context", "context", 0)]

    def test_members_of_groups_are_found(self) -> None:
        inner = ExceptionGroup("inner", [OSError("c")])
        group = BaseExceptionGroup("outer", [chained(ValueError("a"), OSError("b")), inner, SystemExit(1)])
        assert found(group) == [
            ("outer (3 sub-exceptions)", "root", None),
            ("a", "member", 0),
            ("b", "cause", 1),
            ("inner (1 sub-exception)", "member", 0),
            ("c", "member", 3),
            ("1", "member", 0),
        ]

    @pytest.mark.parametrize(
        "attributes",
        [
            {name: OSError("b")}
            for name in (
                "orig",
                "original_error",
                "reason",
                "cause",
                "_cause",
                "inner_exception",
                "os_error",
                "a_name_that_nobody_knows",
            )
        ]
        + [
            {"errors": (OSError("b"),)},
            {"errors": [OSError("b")]},
            {"errors": {("127.0.0.1", 22): OSError("b")}},
            {"kwargs": {"error": OSError("b"), "endpoint_url": "http://127.0.0.1"}},
            {"exc_info": (OSError, OSError("b"), None)},
        ],
        ids=lambda attributes: str(attributes),
    )
    def test_what_a_library_keeps_in_an_attribute_is_found(self, attributes: dict[str, object]) -> None:
        assert found(WrapperError("a", **attributes)) == [("a", "root", None), ("b", "wrapped", 0)]

    @pytest.mark.parametrize(
        "args", [(OSError("b"),), ("words", OSError("b")), ("words", ("more", OSError("b"))), ([OSError("b")],)]
    )
    def test_exceptions_in_arguments_are_found(self, args: tuple[object, ...]) -> None:
        assert found(ValueError(*args))[1:] == [("b", "wrapped", 0)]

    def test_a_property_that_gives_an_exception_is_found(self) -> None:
        class PropertyError(Exception):
            __slots__ = ()

            @property
            def reason(self) -> Exception:
                return OSError("b")

        assert found(PropertyError("a")) == [("a", "root", None), ("b", "wrapped", 0)]

    def test_a_last_attempt_gives_its_exception_only_if_it_is_done(self) -> None:
        attempt: Future[None] = Future()
        assert found(WrapperError("a", last_attempt=attempt)) == [("a", "root", None)]
        attempt.set_exception(OSError("b"))
        assert found(WrapperError("a", last_attempt=attempt)) == [("a", "root", None), ("b", "wrapped", 0)]

    @pytest.mark.parametrize("value", ["words", 7, None, OSError, object(), ["words"], {"a": 1}])
    def test_an_attribute_without_an_exception_is_none(self, value: object) -> None:
        assert found(WrapperError("a", reason=value, errors=value)) == [("a", "root", None)]


class TestWalk:
    def test_an_exception_that_is_reached_twice_appears_once(self) -> None:
        shared = OSError("shared")
        group = ExceptionGroup("g", [chained(ValueError("a"), shared), chained(ValueError("b"), shared)])
        assert [message for message, *_ in found(group)] == ["g (2 sub-exceptions)", "a", "shared", "b"]

    def test_a_statement_is_preferred_over_a_context_wherever_it_is_made(self) -> None:
        shared = OSError("shared")
        error = ValueError("a")
        error.__context__ = shared
        error.__cause__ = WrapperError("b", orig=WrapperError("c", orig=shared))
        assert found(error) == [
            ("a", "root", None),
            ("b", "cause", 0),
            ("c", "wrapped", 1),
            ("shared", "wrapped", 2),
        ]

    def test_a_cause_is_preferred_over_a_wrapper(self) -> None:
        inner = OSError("inner")
        assert found(chained(WrapperError("a", orig=inner), inner)) == [("a", "root", None), ("inner", "cause", 0)]

    def test_the_longer_story_is_told_where_a_cause_is_wrapped_too(self) -> None:
        innermost = OSError("c")
        error = chained(WrapperError("a", innermost), ValueError("b"), innermost)
        assert [edge for _, edge, _ in found(error)] == ["root", "cause", "cause"]

    def test_cycles_end(self) -> None:
        a, b, c = ValueError("a"), ValueError("b"), ValueError("c")
        a.__cause__, b.__cause__, c.__cause__ = b, c, a
        c.__context__ = b
        b.args = ("b", a, b)
        assert [edge for _, edge, _ in found(a)] == ["root", "cause", "cause"]

    def test_what_azure_noticed_in_passing_is_a_context(self) -> None:
        assert found(WrapperError("a", exc_value=OSError("b"))) == [("a", "root", None), ("b", "context", 0)]


def contexts(*exceptions: BaseException) -> list[str]:
    return [node.class_name for node in collect(chained(*exceptions, edge="context")).nodes]


class TestControlFlow:
    @pytest.fixture(autouse=True)
    def without_facts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(live_exception, "probe", lambda exception: {})

    @pytest.mark.parametrize("end", [StopIteration(1), StopAsyncIteration(), GeneratorExit()], ids=repr)
    def test_the_end_of_a_loop_is_left_out(self, end: BaseException) -> None:
        assert contexts(ValueError("a"), end) == ["ValueError"]
        assert contexts(ValueError("a"), end, OSError("b")) == ["ValueError", "OSError"]

    @pytest.mark.parametrize("lookup", [KeyError("k"), IndexError(), AttributeError(), LookupError()], ids=repr)
    def test_a_missed_lookup_before_the_real_failure_is_left_out(self, lookup: Exception) -> None:
        assert contexts(ConnectionError("refused"), lookup) == ["ConnectionError"]
        assert contexts(ValueError("a"), lookup, OSError("b")) == ["ValueError", "OSError"]
        assert contexts(ValueError("a"), lookup, StopIteration(), KeyError("l"), OSError("b")) == [
            "ValueError",
            "OSError",
        ]

    def test_a_missed_lookup_is_left_out_where_a_cause_is_given(self) -> None:
        error = chained(RuntimeError("a"), OSError("b"))
        error.__context__ = KeyError("k")
        assert [node.class_name for node in collect(error).nodes] == ["RuntimeError", "OSError"]

    def test_a_missed_lookup_stays_where_it_is_all_that_is_known(self) -> None:
        assert contexts(RuntimeError("bad configuration"), KeyError("region")) == ["RuntimeError", "KeyError"]
        assert contexts(RuntimeError("a"), KeyError("k"), StopIteration()) == ["RuntimeError", "KeyError"]

    def test_a_missed_lookup_is_left_out_where_facts_are_known(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(live_exception, "probe", lambda exception: {"http.status": 503})
        assert contexts(RuntimeError("a"), KeyError("k")) == ["RuntimeError"]

    def test_a_lookup_that_somebody_named_as_the_reason_stays(self) -> None:
        error = chained(ConnectionError("a"), KeyError("k"))
        assert [node.edge for node in collect(error).nodes] == [Edge.ROOT, Edge.CAUSE]
        group = ExceptionGroup("g", [KeyError("k"), ValueError("v")])
        assert [node.class_name for node in collect(group).nodes] == ["ExceptionGroup", "KeyError", "ValueError"]

    def test_a_lookup_error_of_its_own_kind_stays(self) -> None:
        class UnknownRegionError(KeyError):
            pass

        assert contexts(ConnectionError("a"), UnknownRegionError("r")) == ["ConnectionError", "UnknownRegionError"]

    def test_errors_that_are_handled_as_often_as_not_stay(self) -> None:
        assert contexts(ValueError("a"), FileNotFoundError(2, "x")) == ["ValueError", "FileNotFoundError"]

    def test_a_root_stays_whatever_it_is(self) -> None:
        for root in (StopIteration(1), KeyError("k"), GeneratorExit()):
            assert len(collect(root).nodes) == 1

    def test_json_errors_come_without_the_loop_that_ended(self) -> None:
        import json

        with pytest.raises(json.JSONDecodeError) as caught:
            json.loads("<html>")
        assert isinstance(caught.value.__context__, StopIteration)
        assert [node.class_name for node in collect(caught.value).nodes] == ["JSONDecodeError"]


class TestTrigger:
    def test_the_triggers_traceback_hangs_on_the_root(self) -> None:
        try:
            try:
                raise ConnectionRefusedError(111, "Connection refused")
            except OSError as error:
                raise RuntimeError("poll failed") from error
        except RuntimeError:
            text = traceback.format_exc()
        evidence = collect(chained(ValueError("Trigger failure"), KeyError("c")), extra_tracebacks=[text])
        assert [(node.class_name, node.edge, node.parent, node.from_text) for node in evidence.nodes] == [
            ("ValueError", Edge.ROOT, None, False),
            ("KeyError", Edge.CAUSE, 0, False),
            ("RuntimeError", Edge.TRIGGER, 0, True),
            ("ConnectionRefusedError", Edge.CAUSE, 2, True),
        ]

    @pytest.mark.parametrize("text", ["", "no traceback at all", "\x00\udc80"])
    def test_a_text_without_a_traceback_adds_nothing(self, text: str) -> None:
        assert found(ValueError("a"), extra_tracebacks=[text]) == [("a", "root", None)]


def output_of(code: str) -> str:
    """Return what a fresh interpreter prints when ``code`` fails."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr


def _fail_in_a_worker() -> None:
    try:
        raise OSError(28, "No space left on device")
    except OSError as error:
        raise RuntimeError("worker failed") from error


class TestNested:
    def test_a_traceback_in_a_message_is_read(self) -> None:
        output = output_of("raise ConnectionError('gone')")
        [_, nested] = collect(RuntimeError(f"Bash command failed.\n{output}")).nodes
        assert (nested.type_path, nested.message) == ("builtins.ConnectionError", "gone")
        assert (nested.edge, nested.parent, nested.from_text) == (Edge.NESTED, 0, True)

    def test_a_traceback_in_a_note_is_read(self) -> None:
        error = ValueError("a")
        error.add_note("the job said:\n" + output_of("1/0"))
        assert [node.class_name for node in collect(error).nodes] == ["ValueError", "ZeroDivisionError"]

    @pytest.mark.parametrize(("name", "count"), [("process.output", 2), ("http.body", 1)])
    def test_a_traceback_in_output_is_ours_and_one_in_a_web_page_is_not(
        self, name: str, count: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        output = output_of("open('/no/such/file')")
        monkeypatch.setattr(live_exception, "probe", lambda exception: {name: output})
        assert len(collect(ValueError("failed")).nodes) == count

    def test_an_exception_line_in_a_message_is_read(self) -> None:
        error = RuntimeError("ssh command failed:\nrequests.exceptions.ConnectionError: refused")
        assert [node.type_path for node in collect(error).nodes] == [
            "builtins.RuntimeError",
            "requests.exceptions.ConnectionError",
        ]

    def test_an_exception_that_is_also_printed_appears_once(self) -> None:
        try:
            try:
                raise OSError("b")
            except OSError as error:
                raise ValueError("a") from error
        except ValueError as error:
            again = RuntimeError(traceback.format_exc())
            again.__cause__ = error
        assert [node.class_name for node in collect(again).nodes] == ["RuntimeError", "ValueError", "OSError"]

    def test_a_chain_that_a_worker_process_could_only_send_as_text_is_found(self) -> None:
        with ProcessPoolExecutor(1) as pool, pytest.raises(RuntimeError) as caught:
            pool.submit(_fail_in_a_worker).result()
        assert [(node.class_name, node.edge.value, node.parent) for node in collect(caught.value).nodes] == [
            ("RuntimeError", "root", None),
            ("_RemoteTraceback", "cause", 0),
            ("OSError", "cause", 0),
        ]


class TestTime:
    def test_is_utc(self) -> None:
        local = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
        assert collect(ValueError(), observed_at=local).observed_at.isoformat() == "2026-01-01T10:00:00+00:00"
        assert collect(ValueError(), observed_at=datetime(2026, 1, 1)).observed_at == datetime(2026, 1, 1, tzinfo=UTC)

    def test_is_now_unless_told_otherwise(self) -> None:
        before = datetime.now(UTC)
        evidence: Evidence = collect(ValueError())
        assert before <= evidence.observed_at <= datetime.now(UTC)
        assert evidence.observed_at.tzinfo is UTC
