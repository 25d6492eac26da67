"""The three answers of Airflow's REST API that matter here, on loopback: for what no real Airflow would answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import parse_qs, unquote, urlsplit

from evals.corpus.collecting import NOON, task_log
from loopback.http_server import Answer, LoopbackServer, json_answer


@dataclass(frozen=True)
class FakeTry:
    """One try of a task instance."""

    task_id: str
    number: int = 1
    state: str = "failed"
    dag_id: str = "shop"
    map_index: int = -1
    ended_at: datetime = NOON
    log: Answer = field(default_factory=lambda: Answer(200, task_log(ValueError("bad row"))))

    def to_json(self) -> dict[str, object]:
        return {
            "dag_id": self.dag_id,
            "dag_run_id": "manual__2026-01-31T12:00:00+00:00",
            "task_id": self.task_id,
            "map_index": self.map_index,
            "try_number": self.number,
            "state": self.state,
            "end_date": self.ended_at.isoformat(),
        }


class FakeAirflow(LoopbackServer):
    """Answers about these tries."""

    def __init__(self, tries: Sequence[FakeTry], special: Mapping[str, Answer] | None = None) -> None:
        self._tries = tries
        self._special = dict(special or {})
        super().__init__(())

    def next_answer(self, method: str, path: str) -> Answer:
        self.seen.append((method, path))
        parts = urlsplit(path)
        for end, answer in self._special.items():
            if parts.path.endswith(end):
                return answer
        names = [unquote(part) for part in parts.path.removeprefix("/api/v2/").split("/")]
        query = parse_qs(parts.query)
        if names[-1] == "taskInstances":
            return _page(self._instances(names[1], query), query)
        of_task = [one for one in self._tries if (one.dag_id, one.task_id) == (names[1], names[5])]
        if names[-1] == "tries":
            index = int(names[6]) if names[6] != "tries" else -1
            found = [one for one in of_task if one.map_index == index]
            return _listed(found)
        index, number = int(query["map_index"][0]), int(names[-1])
        return next(one.log for one in of_task if (one.map_index, one.number) == (index, number))

    def _instances(self, dag_id: str, query: Mapping[str, list[str]]) -> list[FakeTry]:
        latest = {(one.dag_id, one.task_id, one.map_index): one for one in self._tries}
        return [
            one
            for one in latest.values()
            if dag_id in ("~", one.dag_id)
            and one.state in query.get("state", [one.state])
            and str(one.number) in query.get("try_number", [str(one.number)])
        ]


def _page(found: Sequence[FakeTry], query: Mapping[str, list[str]]) -> Answer:
    offset, limit = int(query["offset"][0]), int(query["limit"][0])
    return _listed(found[offset : offset + limit])


def _listed(found: Sequence[FakeTry]) -> Answer:
    return json_answer(200, {"task_instances": [one.to_json() for one in found], "total_entries": len(found)})


SINCE = NOON - timedelta(days=7)
