"""``airflow-common-ai corpus label``: a failure, a few keys, the next one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from airflow_common_ai.cli.explain import TaskSettings, decide
from airflow_common_ai.cli.keys import KeyReader
from airflow_common_ai.cli.screen import Screen
from airflow_common_ai.evals.corpus.labelling import CATEGORY_KEYS, DELAYS, RETRY_KEYS, Judgement, LabellingSession
from airflow_common_ai.evidence.model import Evidence
from airflow_common_ai.policies.attempt import Attempt
from airflow_common_ai.recordings.label import ShouldRetry
from airflow_common_ai.recordings.recording import Recording

__all__ = ["Labeller"]

_FIRST_OF_SEVERAL = TaskSettings(try_number=1, retries=4, retry_delay_s=300)
_HELP = "?"
_MAX_COLUMNS = 80


class _Move(StrEnum):
    """What else a key can do."""

    SKIP = "s"
    UNDO = "u"
    QUIT = "q"


_MOVE_WORDS = {**{move.value: move.name.lower() for move in _Move}, _HELP: "help"}


@dataclass(frozen=True, slots=True)
class _Question:
    words: str
    answers: Mapping[str, str]
    """By their keys."""
    help: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return what is shown, no wider than a small terminal."""
        lines = [f"{self.words}  {'  '.join(f'[{key}] {words}' for key, words in _MOVE_WORDS.items())}", ""]
        for key, words in self.answers.items():
            choice = f"  [{key}] {words}"
            if len(lines[-1]) + len(choice) > _MAX_COLUMNS:
                lines.append("")
            lines[-1] += choice
        return lines


_QUESTIONS = (
    _Question(
        "Which kind?",
        CATEGORY_KEYS,
        (
            "rate_limit: too many requests, connections or jobs at once",
            "auth: credentials that are wrong or missing, or not allowed",
            "network: not reached, or the connection broke",
            "data: the input or the request itself is wrong",
            "resource: a file, a table or an address that does not exist",
            "transient: an overload, a lock, a restart: a state that passes",
            "permanent: a person must change code, configuration, a limit or a bill",
        ),
    ),
    _Question(
        "Worth another try?",
        {"y": "yes", "n": "no", "e": "either can be defended"},
        ("yes, if the same task may well succeed later although nobody does anything",),
    ),
    _Question(
        "After which wait?",
        {key: delay.words for key, delay in DELAYS.items()},
        ("the shortest wait that is not a wasted try, to the longest that is not lost time",),
    ),
)


class Labeller:
    """
    Leads a person through a session.

    What the evidence would decide is shown only when the failure is labelled: whoever has seen a decision tends to
    agree with it. With ``u`` the answers can be given again.

    :param read_key: Where answers come from.
    :param say: Shows lines.
    :param screen: How failures are shown.
    :param shows_decision_first: Show it before the questions.
    """

    def __init__(
        self,
        read_key: KeyReader,
        say: Callable[[Sequence[str]], None],
        screen: Screen,
        *,
        shows_decision_first: bool = False,
    ) -> None:
        self._read_key = read_key
        self._say = say
        self._screen = screen
        self._shows_decision_first = shows_decision_first

    def run(self, session: LabellingSession) -> None:
        """Ask about one failure after the other, to the end or until somebody quits."""
        while recording := session.current:
            decision = decide(_evidence_of(recording), _FIRST_OF_SEVERAL).attempt
            self._introduce(session, recording)
            if self._shows_decision_first:
                self._say([f"evidence: {decision.headline}"])
            answer = self._ask()
            if answer is _Move.QUIT:
                return
            if answer is _Move.SKIP:
                session.skip()
            elif answer is _Move.UNDO:
                if not session.undo():
                    self._say(["there is nothing to undo"])
            elif isinstance(answer, Judgement):
                session.answer(answer)
                self._say([f"saved. {_compared(answer, decision)}"])

    def _introduce(self, session: LabellingSession, recording: Recording) -> None:
        number = session.total - session.left + 1
        seen = f", seen {recording.count} times" if recording.count > 1 else ""
        title = f"\n{number} of {session.total}: {recording.id} ({recording.provenance.library}{seen})"
        self._say([title, *self._screen.show_failure(recording.evidence.nodes).splitlines()])

    def _ask(self) -> Judgement | _Move:
        """Return what somebody answers; an undo behind the first question goes one question back."""
        keys: list[str] = []
        while True:
            key = self._answer_to(_QUESTIONS[len(keys)])
            if key == _Move.UNDO and keys:
                keys.pop()
                continue
            if key in tuple(_Move):
                return _Move(key)
            keys.append(key)
            if len(keys) == len(_QUESTIONS):
                return Judgement(CATEGORY_KEYS[keys[0]], RETRY_KEYS[keys[1]], DELAYS[keys[2]])
            if len(keys) > 1 and RETRY_KEYS[keys[1]] is ShouldRetry.NO:
                return Judgement(CATEGORY_KEYS[keys[0]], ShouldRetry.NO, None)

    def _answer_to(self, question: _Question) -> str:
        self._say(question.lines())
        allowed = [*question.answers, *_Move]
        while (key := self._read_key()) not in (*allowed, None):
            is_lost = key != _HELP
            self._say([f"answer with one of {' '.join([*allowed, _HELP])}"] if is_lost else question.help)
        return _Move.QUIT if key is None else key


def _compared(judgement: Judgement, decision: Attempt) -> str:
    """Say what the evidence would decide, and whether that is what was answered."""
    wanted = {ShouldRetry.YES: "retry", ShouldRetry.NO: "fail"}.get(judgement.should_retry)
    if decision.action == "default" or wanted is None:
        verdict = "The evidence"
    else:
        verdict = "As the evidence" if decision.action == wanted else "OTHER THAN the evidence"
    return f"{verdict}: {decision.headline}"


def _evidence_of(recording: Recording) -> Evidence:
    evidence = recording.evidence
    return Evidence(evidence.nodes, evidence.observed_at, evidence.is_truncated)
