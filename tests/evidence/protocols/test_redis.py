"""A Redis server on loopback replies with errors; redis-py raises them."""

from __future__ import annotations

import pytest
import redis
from failure_reading import alive, codes, conclusion, logged, printed
from http_reading import raised_by
from loopback import broker_servers, sockets

from airflow_common_ai.evidence.model import Retry


def replied(reply: str, *, in_a_pipeline: bool = False) -> BaseException:
    with sockets.serve(broker_servers.redis_replies(reply)) as port:
        client = redis.Redis(port=port, retry=None, protocol=2)
        if in_a_pipeline:
            return raised_by(lambda: client.pipeline(transaction=False).set("a", 1).execute())
        return raised_by(lambda: client.set("a", 1))


@pytest.mark.parametrize(
    ("reply", "category", "retry"),
    [
        ("LOADING Redis is loading the dataset in memory", "transient", Retry.YES),
        ("CLUSTERDOWN The cluster is down", "transient", Retry.YES),
        ("MASTERDOWN Link with MASTER is down", "transient", Retry.YES),
        ("TRYAGAIN Multiple keys request during rehashing of slot", "transient", Retry.YES),
        ("NOREPLICAS Not enough good replicas to write.", "transient", Retry.YES),
        ("BUSY Redis is busy running a script.", "transient", Retry.YES),
        ("READONLY You can't write against a read only replica.", "transient", Retry.DEPENDS),
        ("OOM command not allowed when used memory > 'maxmemory'.", "transient", Retry.DEPENDS),
        ("MISCONF Redis is configured to save RDB snapshots", "transient", Retry.DEPENDS),
        ("ERR max number of clients reached", "rate_limit", Retry.YES),
        ("NOAUTH Authentication required.", "auth", Retry.NO),
        ("WRONGPASS invalid username-password pair", "auth", Retry.NO),
        ("NOPERM this user has no permissions to run the 'set' command", "auth", Retry.NO),
        ("WRONGTYPE Operation against a key holding the wrong kind of value", "data", Retry.NO),
        ("BUSYGROUP Consumer Group name already exists", "data", Retry.NO),
        ("ERR wrong number of arguments for 'set' command", "data", Retry.NO),
        ("NOGROUP No such key 'a' or consumer group 'b'", "resource", Retry.NO),
    ],
)
def test_the_first_word_of_a_reply_decides_alive_and_in_a_log(reply: str, category: str, retry: Retry) -> None:
    error = replied(reply)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.category, signal.retry) == (category, retry)


@pytest.mark.parametrize("in_a_pipeline", [False, True])
def test_a_code_that_the_client_cuts_off_is_kept(in_a_pipeline: bool) -> None:
    error = replied("OOM command not allowed when used memory > 'maxmemory'.", in_a_pipeline=in_a_pipeline)
    assert "OOM" not in str(error)
    assert codes(alive(error), "redis.") == ["redis.OOM"]


def test_a_reply_that_an_old_client_leaves_whole_is_read() -> None:
    message = "Command # 1 (SET a 1) of pipeline caused error: OOM command not allowed"
    assert codes(printed("redis.exceptions.ResponseError", message), "redis.") == ["redis.OOM"]


@pytest.mark.parametrize("message", ["ERR it did not work", "OOMPH", "ask again", "the key BUSY"])
def test_other_words_are_no_codes(message: str) -> None:
    assert codes(printed("redis.exceptions.ResponseError", message), "redis.") == []
