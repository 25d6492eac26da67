"""Policies with a model, in a file as a user would have them."""

from __future__ import annotations

from airflow_common_ai.policies import LLMRetryPolicy

CONN_ID = "scripted"
"""Of the model that tests script."""


def careful() -> LLMRetryPolicy:
    return LLMRetryPolicy(CONN_ID, timeout=60)


def of_another() -> LLMRetryPolicy:
    return LLMRetryPolicy("another")
