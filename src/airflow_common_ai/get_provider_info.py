"""What Airflow shows of this provider. Every ``airflow`` command loads it, so it imports nothing of ours."""

from __future__ import annotations

from typing import Any

__all__ = ["CONFIG_OPTIONS", "CONFIG_SECTION", "get_provider_info"]

CONFIG_SECTION = "common_ai_retry"

CONFIG_OPTIONS: dict[str, dict[str, str]] = {
    "mode": {
        "description": (
            "``enforce``: a policy's decision is obeyed. ``shadow``: it is made and recorded, and Airflow\n"
            "goes on as if there were no policy.\n"
        ),
        "version_added": "0.1.0",
        "type": "string",
        "example": "shadow",
        "default": "enforce",
    },
    "max_delay": {
        "description": (
            "Longest wait before a retry, in seconds, that a policy chooses on its own. A wait that a\n"
            "server asked for is bounded by ``max_server_delay`` instead.\n"
        ),
        "version_added": "0.1.0",
        "type": "integer",
        "example": "1800",
        "default": "3600",
    },
    "max_server_delay": {
        "description": (
            "Longest wait before a retry, in seconds, that a server may ask for, e.g. with ``Retry-After``.\n"
            "A longer one is not shortened, since an early try would be wasted: the task fails.\n"
        ),
        "version_added": "0.1.0",
        "type": "integer",
        "example": "7200",
        "default": "86400",
    },
    "history_retention_days": {
        "description": (
            "Days for which the record of a task's attempts is kept in the task state store. It must be\n"
            "longer than ``max_delay`` and ``max_server_delay``, or the record is gone at the next attempt.\n"
        ),
        "version_added": "0.1.0",
        "type": "integer",
        "example": "90",
        "default": "30",
    },
    "force_shadow": {
        "description": (
            "The kill switch: ``True`` puts every policy in shadow mode, whatever its arguments and\n"
            "``mode`` say. Tasks that fail from then on are retried as if there were no policy.\n"
        ),
        "version_added": "0.1.0",
        "type": "boolean",
        "example": "True",
        "default": "False",
    },
}
"""The options in Airflow's own form. ``policies.settings`` takes its defaults from here."""


def get_provider_info() -> dict[str, Any]:
    """Return the provider's description in the form of Airflow's ``provider_info.schema.json``."""
    return {
        "package-name": "airflow-common-ai",
        "name": "Common AI retries",
        "description": "Retry policies that know why a task failed.",
        "config": {
            CONFIG_SECTION: {
                "description": (
                    "Defaults for every ``EvidenceRetryPolicy`` of this deployment. They are read when a\n"
                    "task has failed; an argument that a policy was given wins over them.\n"
                ),
                "options": CONFIG_OPTIONS,
            }
        },
    }
