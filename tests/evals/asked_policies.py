"""Policies for the tests of runs, good and bad, in a file as a user would have them."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from typing import Any

from airflow.providers.common.ai.policies.retry import LLMRetryPolicy as CommonAIPolicy
from airflow.sdk.definitions.retry_policy import RetryDecision, RetryPolicy

from airflow_common_ai.policies import (
    ChainRetryPolicy,
    EvidenceRetryPolicy,
    ExceptionRetryPolicy,
    LLMRetryPolicy,
    RetryAction,
    RetryRule,
)

CONN_ID = "scripted"
"""Of the model that tests script."""

airflows = ExceptionRetryPolicy([RetryRule(OSError, RetryAction.RETRY, timedelta(seconds=30))])


def common_ai() -> CommonAIPolicy:
    return CommonAIPolicy(CONN_ID)


def chain() -> ChainRetryPolicy:
    denied = ExceptionRetryPolicy([RetryRule(PermissionError, RetryAction.FAIL)])
    return ChainRetryPolicy([denied, LLMRetryPolicy(CONN_ID, timeout=60)])


class Misbehaving(RetryPolicy):
    """Does with each case what its name says."""

    def evaluate(self, exception: BaseException, try_number: int, max_tries: int, context: Any = None) -> RetryDecision:
        match str(exception):
            case "hang":
                while True:  # nothing that can be interrupted politely
                    pass
            case "raise":
                raise ValueError("no")
            case "exit":
                os._exit(3)
        return RetryDecision.retry()


class Slow(EvidenceRetryPolicy):
    """Takes its time, so that a test can kill it in the middle."""

    def evaluate(self, *arguments: Any, **options: Any) -> RetryDecision:
        time.sleep(0.05)
        return super().evaluate(*arguments, **options)


class Telling(RetryPolicy):
    """Says backwards what it was shown, as no pattern of secrets finds it."""

    def evaluate(self, exception: BaseException, try_number: int, max_tries: int, context: Any = None) -> RetryDecision:
        return RetryDecision.fail(str(exception)[::-1])


class Calling(RetryPolicy):
    """Goes to the network past any HTTP library."""

    def evaluate(self, exception: BaseException, try_number: int, max_tries: int, context: Any = None) -> RetryDecision:
        import socket

        try:
            socket.create_connection(("192.0.2.1", 9), timeout=1)
        except OSError as error:
            return RetryDecision.fail(f"{type(error).__name__}: {error}")
        return RetryDecision.retry()
