"""Labelling in the terminal: one key an answer, saved at once, and no decision shown that could sway anybody."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from evals.corpus.collecting import collect_into, corpus_in, label_for, log_of
from typer.testing import CliRunner

from airflow_common_ai.cli.corpus import app

REFUSED, BAD, ODD = ConnectionRefusedError(111, "Connection refused"), ValueError("row is bad"), RuntimeError("odd")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Three failures: one seen three times, one twice, one once."""
    failures = [REFUSED, REFUSED, REFUSED, BAD, BAD, ODD]
    collect_into(tmp_path, *(log_of(failure, number) for number, failure in enumerate(failures)))
    return tmp_path


def answered(corpus: Path, keys: str, *options: str) -> str:
    """Give each key in a line of its own, and return what was shown."""
    result = CliRunner().invoke(app, ["label", str(corpus), *options], input="".join(f"{key}\n" for key in keys))
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def labels(corpus: Path) -> list[tuple[str, str, tuple[float, float] | None]]:
    """Return what was answered, in the order of how often the failures were seen."""
    made = corpus_in(corpus)
    by_count = sorted(made, key=lambda one: -one.count)
    found = [made.labels[one.id] for one in by_count if one.id in made.labels]
    return [(label.category, label.should_retry.value, label.delay_s) for label in found]


NETWORK, DATA = ("network", "yes", (5, 600)), ("data", "no", None)


def test_three_keys_make_a_label_and_two_do_where_no_retry_is_worth_it(corpus: Path) -> None:
    text = answered(corpus, "3y2" + "4n")

    assert labels(corpus) == [NETWORK, DATA]
    assert text.endswith(
        f"2 labelled, 1 left\nnext: airflow-common-ai run {corpus} "
        "--policy airflow_common_ai.policies:EvidenceRetryPolicy -o run.jsonl\n"
    )


def test_questions_fit_a_terminal_of_80_columns(corpus: Path) -> None:
    text = answered(corpus, "3y2")

    assert max(map(len, text.partition("saved.")[0].splitlines())) <= 80


def test_the_most_frequent_failure_comes_first(corpus: Path) -> None:
    text = answered(corpus, "ss")

    assert [line for line in text.splitlines() if " of 3: " in line] == [
        f"{number} of 3: {one.id} (python{f', seen {one.count} times' if one.count > 1 else ''})"
        for number, one in enumerate(sorted(corpus_in(corpus), key=lambda one: -one.count), 1)
    ]


def test_what_the_evidence_decides_is_shown_when_the_label_is_given_and_not_before(corpus: Path) -> None:
    text = answered(corpus, "3y2" + "3y2" + "1e")

    before, after, others = text.partition("saved. As the evidence: retry in ")
    assert "  [0] ConnectionRefusedError: [Errno 111] Connection refused\n" in before
    assert not [word for word in ("os.econnrefused", "retry in", "evidence", "nothing listens") if word in before]
    assert after
    assert others.partition("\n")[0].endswith("os.econnrefused: nothing listens there: service down, or wrong port")
    assert "saved. OTHER THAN the evidence: fail" in others


def test_it_is_shown_first_where_somebody_asks_for_that(corpus: Path) -> None:
    shown = answered(corpus, "q", "--show-decision")

    assert shown.index("evidence: retry in") < shown.index("Which kind?")


def test_undo_goes_back_one_question_and_then_to_the_failure_before(corpus: Path) -> None:
    answered(corpus, "1yuu3y2" + "7yuu4n" + "3uu" + "5n")

    assert labels(corpus) == [NETWORK, ("resource", "no", None)]


def test_an_undone_label_is_gone_from_the_file(corpus: Path) -> None:
    answered(corpus, "3y2uq")

    assert labels(corpus) == []


def test_there_is_nothing_to_undo_before_the_first(corpus: Path) -> None:
    assert "there is nothing to undo\n" in answered(corpus, "uq")


def test_a_failure_that_was_skipped_comes_again_next_time(corpus: Path) -> None:
    answered(corpus, "s" + "4n" + "q")
    assert labels(corpus) == [DATA]

    answered(corpus, "3y2" + "q")
    assert labels(corpus) == [NETWORK, DATA]


def test_an_answer_in_the_middle_of_which_somebody_quits_is_no_label(corpus: Path) -> None:
    for keys in ("3yq", "3y", "3", "q", ""):
        answered(corpus, keys)
        assert not (corpus / "labels.jsonl").exists()


def test_what_is_no_answer_is_asked_again_and_help_explains(corpus: Path) -> None:
    text = answered(corpus, "z8?3y2")

    assert text.count("answer with one of 1 2 3 4 5 6 7 s u q ?\n") == 2
    assert "network: not reached, or the connection broke\n" in text
    assert labels(corpus) == [NETWORK]


@pytest.mark.parametrize("line", ["yes", "", "3 y 2", "é", "\x1b[A", "x" * 5000])
def test_a_line_that_is_no_key_is_no_answer(line: str, corpus: Path) -> None:
    result = CliRunner().invoke(app, ["label", str(corpus)], input=f"{line}\n3\ny\n2\n")

    assert result.exit_code == 0
    assert labels(corpus) == [NETWORK]


def test_what_has_a_label_or_an_equal_with_one_is_not_asked_about(corpus: Path) -> None:
    made = corpus_in(corpus)
    for recording in made:
        made.labels[recording.id] = label_for(recording.id)
    made.save_labels()

    assert answered(corpus, "") == "0 labelled, 0 left\n"


def test_only_one_split_is_labelled_if_asked_for(corpus: Path) -> None:
    splits = {one.split for one in corpus_in(corpus)}

    for split in ("dev", "gate", "heldout"):
        text = answered(corpus, "q", "--split", split)
        assert (" of " in text) is (split in splits)


def test_the_label_says_who_judged(corpus: Path) -> None:
    answered(corpus, "4nq", "--judge", "ada")

    (label,) = corpus_in(corpus).labels.values()
    assert (label.source, label.why) == ("ada", "judged a data failure by reading it")


def test_json_goes_to_standard_output_and_the_questions_do_not(corpus: Path) -> None:
    result = CliRunner().invoke(app, ["label", str(corpus), "--json"], input="4\nn\nq\n")

    summary = json.loads(result.stdout)
    assert (len(summary["labelled"]), summary["left"]) == (1, 2)
    assert "Which kind?" in result.stderr


def test_nothing_in_a_failure_acts_on_the_terminal(tmp_path: Path) -> None:
    collect_into(tmp_path, log_of(ValueError("\x1b]0;title\x07 \u202eevil")))

    text = answered(tmp_path, "q")

    assert not [character for character in text if ord(character) < 32 and character != "\n"]
    assert "\u202e" not in text


# ---- in a real terminal


@dataclass
class Terminal:
    """The command in a terminal of its own, and what it has shown so far."""

    descriptor: int
    shown: str = ""

    def press(self, keys: str) -> None:
        os.write(self.descriptor, keys.encode())

    def wait_for(self, words: str) -> None:
        while words not in self.shown:
            piece = os.read(self.descriptor, 4096)
            assert piece, self.shown
            self.shown += piece.decode()
        self.shown = self.shown.partition(words)[2]

    def rest(self) -> str:
        with contextlib.suppress(OSError):  # EIO: the other end is gone
            while piece := os.read(self.descriptor, 4096):
                self.shown += piece.decode()
        return self.shown


@contextlib.contextmanager
def terminal(corpus: Path) -> Iterator[tuple[Terminal, int]]:
    program = "from airflow_common_ai.cli.corpus import app; app()"
    pid, descriptor = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever runs the tests in the background ignores it
        os.execv(sys.executable, [sys.executable, "-c", program, "label", str(corpus)])
    try:
        yield Terminal(descriptor), pid
    finally:
        os.close(descriptor)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_in_a_terminal_a_key_is_enough_and_each_label_is_saved_at_once(corpus: Path) -> None:
    with terminal(corpus) as (screen, pid):
        for key, question in (("3", "Which kind?"), ("y", "Worth another try?"), ("2", "After which wait?")):
            screen.wait_for(question)
            screen.press(key)
        screen.wait_for("saved.")
        assert labels(corpus) == [NETWORK]
        screen.wait_for("Which kind?")
        screen.press("\x1b[1~")  # the key Home, which holds a digit
        screen.wait_for("answer with one of")
        screen.press("q")
        assert "1 labelled, 2 left" in screen.rest()
        assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_ctrl_c_and_ctrl_d_quit_and_leave_the_terminal_as_it_was(key: str, corpus: Path) -> None:
    with terminal(corpus) as (screen, pid):
        before = termios.tcgetattr(screen.descriptor)
        screen.wait_for("Which kind?")
        assert termios.tcgetattr(screen.descriptor) != before
        screen.press(key)
        screen.wait_for("0 labelled, 3 left")
        assert termios.tcgetattr(screen.descriptor) == before
        screen.rest()
        assert os.waitpid(pid, 0)[1] == 0
