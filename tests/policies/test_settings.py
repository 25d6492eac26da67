from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from airflow.sdk.configuration import initialize_config

from airflow_common_ai.policies.settings import ConfigReader, Mode, Settings, read_settings

DEFAULTS = Settings(
    mode="enforce",
    max_delay=timedelta(hours=1),
    max_server_delay=timedelta(hours=24),
    history_retention=timedelta(days=30),
    force_shadow=False,
)


@pytest.fixture
def conf_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ConfigReader]:
    """Makes Airflow's own conf, as the task runner makes it, from the text of an ``airflow.cfg``."""

    def make(airflow_cfg: str = "") -> ConfigReader:
        (tmp_path / "airflow.cfg").write_text(airflow_cfg)
        monkeypatch.setenv("AIRFLOW_CONFIG", str(tmp_path / "airflow.cfg"))
        reader: ConfigReader = initialize_config()
        return reader

    return make


def test_an_untouched_airflow_gives_the_documented_defaults(
    conf_with: Callable[..., ConfigReader], caplog: pytest.LogCaptureFixture
) -> None:
    assert read_settings(conf_with()) == DEFAULTS
    assert not caplog.records


def test_without_an_argument_airflows_own_configuration_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__COMMON_AI_RETRY__MAX_DELAY", "77")

    assert read_settings().max_delay == timedelta(seconds=77)


def test_airflow_cfg_is_read(conf_with: Callable[..., ConfigReader]) -> None:
    conf = conf_with(
        "[common_ai_retry]\n"
        "mode = shadow\n"
        "max_delay = 60\n"
        "max_server_delay = 120\n"
        "history_retention_days = 2\n"
        "force_shadow = true\n"
    )

    assert read_settings(conf) == Settings(
        mode="shadow",
        max_delay=timedelta(minutes=1),
        max_server_delay=timedelta(minutes=2),
        history_retention=timedelta(days=2),
        force_shadow=True,
    )


def test_an_environment_variable_wins_over_airflow_cfg_and_is_seen_at_once(
    conf_with: Callable[..., ConfigReader], monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = conf_with("[common_ai_retry]\nmode = shadow\n")
    assert read_settings(conf).mode == "shadow"

    monkeypatch.setenv("AIRFLOW__COMMON_AI_RETRY__MODE", "enforce")

    assert read_settings(conf).mode == "enforce"


@pytest.mark.parametrize(
    ("option", "value", "field", "read"),
    [
        ("mode", "shadow", "mode", "shadow"),
        ("max_delay", "77", "max_delay", timedelta(seconds=77)),
        ("max_server_delay", "77", "max_server_delay", timedelta(seconds=77)),
        ("history_retention_days", "77", "history_retention", timedelta(days=77)),
        ("force_shadow", "yes", "force_shadow", True),
    ],
)
def test_any_option_that_is_set_alone_is_seen_wherever_it_is_set(
    option: str,
    value: str,
    field: str,
    read: object,
    conf_with: Callable[..., ConfigReader],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert getattr(read_settings(conf_with(f"[common_ai_retry]\n{option} = {value}\n")), field) == read

    monkeypatch.setenv(f"AIRFLOW__COMMON_AI_RETRY__{option.upper()}", value)

    assert getattr(read_settings(conf_with()), field) == read


def test_a_section_of_which_nothing_is_set_gives_the_defaults(conf_with: Callable[..., ConfigReader]) -> None:
    assert read_settings(conf_with("[common_ai_retry]\n# mode = shadow\n")) == DEFAULTS


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("MODE", "dry-run"),
        ("MODE", ""),
        ("MAX_DELAY", "an hour"),
        ("MAX_DELAY", "0"),
        ("MAX_DELAY", "-60"),
        ("MAX_DELAY", "0.5"),
        ("MAX_DELAY", "nan"),
        ("MAX_DELAY", "300000000000"),
        ("MAX_DELAY", "9" * 5000),
        ("MAX_SERVER_DELAY", "1e99"),
        ("HISTORY_RETENTION_DAYS", "0"),
        ("HISTORY_RETENTION_DAYS", "999999999"),
    ],
)
def test_a_value_that_cannot_be_used_gives_the_default_and_one_warning_with_the_fix(
    option: str,
    value: str,
    conf_with: Callable[..., ConfigReader],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv(f"AIRFLOW__COMMON_AI_RETRY__{option}", value)

    assert read_settings(conf_with()) == DEFAULTS

    (warning,) = (record.getMessage() for record in caplog.records if record.levelno == logging.WARNING)
    assert option.lower() in warning
    assert repr(value) in warning
    assert f"AIRFLOW__COMMON_AI_RETRY__{option}" in warning


def test_the_warning_reads_as_a_sentence(
    conf_with: Callable[..., ConfigReader], caplog: pytest.LogCaptureFixture
) -> None:
    read_settings(conf_with("[common_ai_retry]\nmax_delay = 1h\n"))

    assert caplog.messages == [
        "[common_ai_retry] max_delay must be a whole number of seconds from 1 to 31536000, got '1h'. "
        "Its default, 3600, is used. "
        "Set it in airflow.cfg or as AIRFLOW__COMMON_AI_RETRY__MAX_DELAY, e.g. to 1800."
    ]


def test_a_value_that_airflow_itself_cannot_read_gives_the_default(
    conf_with: Callable[..., ConfigReader], caplog: pytest.LogCaptureFixture
) -> None:
    conf = conf_with("[common_ai_retry]\nmode = 100%(\nmax_delay = 60\n")

    settings = read_settings(conf)

    assert (settings.mode, settings.max_delay) == ("enforce", timedelta(minutes=1))
    assert "[common_ai_retry] mode could not be read" in caplog.text


def test_a_configuration_that_is_broken_as_a_whole_gives_the_defaults() -> None:
    class Broken:
        def get(self, section: str, key: str, *, fallback: str) -> str:
            raise RuntimeError("another provider's entry point does not import")

        def has_section(self, section: str) -> bool:
            raise RuntimeError("nor can the file be read")

    assert read_settings(Broken()) == DEFAULTS


@pytest.mark.parametrize(
    ("airflow_cfg", "retention"),
    [
        ("history_retention_days = 1", timedelta(days=30)),
        ("max_server_delay = 3456000", timedelta(days=41)),
        ("max_delay = 172800\nhistory_retention_days = 2", timedelta(days=30)),
    ],
)
def test_the_record_outlives_the_longest_delay(
    airflow_cfg: str,
    retention: timedelta,
    conf_with: Callable[..., ConfigReader],
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings = read_settings(conf_with(f"[common_ai_retry]\n{airflow_cfg}\n"))

    assert settings.history_retention == retention
    assert "history_retention_days must be longer than the longest delay" in caplog.text


@pytest.mark.parametrize(
    ("word", "is_on"),
    [
        *((word, True) for word in ("True", "TRUE", "1", "t", "yes", "on")),
        *((word, False) for word in ("False", "FALSE", "0", "f", "no", "off")),
    ],
)
def test_the_kill_switch_understands_what_people_write(
    word: str, is_on: bool, conf_with: Callable[..., ConfigReader]
) -> None:
    conf = conf_with(f"[common_ai_retry]\nforce_shadow = {word}\n")

    assert read_settings(conf).force_shadow is is_on


@pytest.mark.parametrize(
    ("airflow_cfg", "argument", "mode"),
    [
        ("", None, "enforce"),
        ("", "shadow", "shadow"),
        ("mode = shadow", None, "shadow"),
        ("mode = shadow", "enforce", "enforce"),
        ("force_shadow = True", None, "shadow"),
        ("force_shadow = True", "enforce", "shadow"),
        ("mode = enforce\nforce_shadow = True", "enforce", "shadow"),
    ],
)
def test_an_argument_wins_over_the_section_and_the_kill_switch_over_both(
    airflow_cfg: str, argument: Mode | None, mode: Mode, conf_with: Callable[..., ConfigReader]
) -> None:
    settings = read_settings(conf_with(f"[common_ai_retry]\n{airflow_cfg}\n"))

    assert settings.effective_mode(argument) == mode


def test_the_section_is_seen_by_the_real_task_runner(
    run_dag: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.sdk import DAG, task
    from airflow.sdk.definitions.retry_policy import RetryDecision, RetryPolicy

    seen: list[Settings] = []

    class Looking(RetryPolicy):
        def evaluate(
            self, exception: BaseException, try_number: int, max_tries: int, context: object = None
        ) -> RetryDecision:
            seen.append(read_settings())
            return RetryDecision.fail()

    monkeypatch.setenv("AIRFLOW__COMMON_AI_RETRY__MAX_DELAY", "5")
    with DAG("settings_in_the_task_runner") as dag:

        @task(retries=1, retry_policy=Looking())
        def failing() -> None:
            raise RuntimeError

        failing()
    run_dag(dag)

    (settings,) = seen
    assert settings.max_delay == timedelta(seconds=5)
    assert settings.max_server_delay == timedelta(hours=24), "the provider's own default"


@pytest.mark.parametrize("value", ["maybe", "ture", "enabled", "'True'"])
def test_a_kill_switch_that_was_set_and_cannot_be_read_is_on(
    conf_with: Callable[[str], ConfigReader], monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("AIRFLOW__COMMON_AI_RETRY__FORCE_SHADOW", value)
    assert read_settings(conf_with("")).force_shadow is True
