"""The ``[common_ai_retry]`` section of Airflow's configuration, read when a failure is evaluated."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from typing import Literal, Protocol, TypeVar

from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.evidence.type_path import built_in_name
from airflow_common_ai.get_provider_info import CONFIG_OPTIONS, CONFIG_SECTION
from airflow_common_ai.policies.own_fault import INTERRUPTS, say
from airflow_common_ai.sanitizer import sanitize

__all__ = ["Mode", "Settings", "read_settings"]

log = logging.getLogger(__name__)

Mode = Literal["enforce", "shadow"]
"""Whether a policy's decision is obeyed, or only made and recorded."""

# Far beyond any use, and far from where adding them to a date overflows.
_LONGEST_DELAY = timedelta(days=365)
_LONGEST_RETENTION = timedelta(days=3650)

_VARIABLES = tuple(f"AIRFLOW__{CONFIG_SECTION.upper()}__{option.upper()}" for option in CONFIG_OPTIONS)
"""Where each option stands in the environment."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a policy does where its own arguments say nothing. The options' texts say what each one means."""

    mode: Mode
    max_delay: timedelta
    max_server_delay: timedelta
    history_retention: timedelta
    """Longer than both delays."""
    force_shadow: bool

    def effective_mode(self, argument: Mode | None) -> Mode:
        """
        Return the mode of a policy.

        :param argument: The policy's own ``mode``; ``None`` means the section's.
        :return: ``shadow`` while the kill switch is on, whatever the argument.
        """
        return "shadow" if self.force_shadow else argument or self.mode


class ConfigReader(Protocol):
    """The part of Airflow's ``conf`` that is used."""

    def get(self, section: str, key: str, *, fallback: str) -> str: ...

    def has_section(self, section: str) -> bool: ...


def read_settings(conf: ConfigReader | None = None) -> Settings:
    """
    Read the section; never raises.

    A value that cannot be used is replaced by the option's default, and a warning says how to mend it.

    :param conf: Where to read from; ``None`` means the configuration that Airflow's task runner itself
        uses. It knows ``airflow.cfg``, the environment and the defaults of providers.
    """
    return _defaults() if _is_untouched(conf) else _outliving_delays(_options(conf))


def _options(conf: ConfigReader | None) -> Settings:
    return Settings(
        mode=_read(conf, "mode", _mode),
        max_delay=_read(conf, "max_delay", _delay),
        max_server_delay=_read(conf, "max_server_delay", _delay),
        history_retention=_read(conf, "history_retention_days", _retention),
        force_shadow=_read(conf, "force_shadow", _switch),
    )


def _is_untouched(conf: ConfigReader | None) -> bool:
    """
    Whether nobody has set any option, neither in the environment nor in a file.

    Airflow looks for an option that is set nowhere in seven places, the last being the metadata of all providers.
    """
    if any(variable in os.environ for variable in _VARIABLES):
        return False
    try:
        reader = _airflow_conf() if conf is None else conf
        return not reader.has_section(CONFIG_SECTION)
    except INTERRUPTS:
        raise
    except BaseException:  # noqa: BLE001 - what is broken is said when the options are read
        return False


class _NothingSet:
    def get(self, section: str, key: str, *, fallback: str) -> str:
        return fallback

    def has_section(self, section: str) -> bool:
        return False


@cache
def _defaults() -> Settings:
    return _options(_NothingSet())


def _read(conf: ConfigReader | None, option: str, parse: Callable[[str], T]) -> T:
    default = CONFIG_OPTIONS[option]["default"]
    try:
        reader = _airflow_conf() if conf is None else conf
        value = reader.get(CONFIG_SECTION, option, fallback=default).strip()
    except INTERRUPTS:
        raise
    except BaseException as error:  # noqa: BLE001 - a broken configuration must not fail a task that may be retried
        problem = f"could not be read ({built_in_name(error)})"
    else:
        try:
            return parse(value)
        except ValueError as error:
            problem = f"must be {error}, got {sanitize(Redactor().text(value))!r}"
    _warn(option, problem, f"Its default, {default}, is used.")
    return parse(default)


def _airflow_conf() -> ConfigReader:
    # Not at the top: the first access reads files, and parsing a Dag needs no settings.
    from airflow.sdk.configuration import conf

    reader: ConfigReader = conf
    return reader


def _outliving_delays(settings: Settings) -> Settings:
    """A record that expires while the task waits would let every attempt look like the first."""
    longest = max(settings.max_delay, settings.max_server_delay)
    if settings.history_retention > longest:
        return settings
    default = _retention(CONFIG_OPTIONS["history_retention_days"]["default"])
    retention = max(default, longest + timedelta(days=1))
    _warn(
        "history_retention_days",
        f"must be longer than the longest delay ({longest}), got {settings.history_retention.days}",
        f"{retention} is used.",
    )
    return replace(settings, history_retention=retention)


def _warn(option: str, problem: str, consequence: str) -> None:
    say(
        log,
        logging.WARNING,
        "[%s] %s %s. %s Set it in airflow.cfg or as AIRFLOW__%s__%s, e.g. to %s.",
        CONFIG_SECTION,
        option,
        problem,
        consequence,
        CONFIG_SECTION.upper(),
        option.upper(),
        CONFIG_OPTIONS[option]["example"],
    )


def _mode(value: str) -> Mode:
    match value.lower():
        case "enforce":
            return "enforce"
        case "shadow":
            return "shadow"
    raise ValueError("enforce or shadow")


def _delay(value: str) -> timedelta:
    return _positive(value, timedelta(seconds=1), _LONGEST_DELAY, "seconds")


def _retention(value: str) -> timedelta:
    return _positive(value, timedelta(days=1), _LONGEST_RETENTION, "days")


def _positive(value: str, unit: timedelta, longest: timedelta, name: str) -> timedelta:
    most = longest // unit
    try:
        number = int(value)
    except ValueError:
        number = 0
    if not 1 <= number <= most:
        raise ValueError(f"a whole number of {name} from 1 to {most}")
    return number * unit


def _boolean(value: str) -> bool:
    # More words than Airflow's own getboolean knows: whoever reaches for the kill switch is in a hurry.
    match value.lower():
        case "true" | "t" | "1" | "yes" | "y" | "on":
            return True
        case "false" | "f" | "0" | "no" | "n" | "off":
            return False
    raise ValueError("True or False")


def _switch(value: str) -> bool:
    """A kill switch that somebody set and nobody can read is on."""
    try:
        return _boolean(value)
    except ValueError:
        _warn("force_shadow", "is neither True nor False", "It counts as True: nothing is enforced.")
        return True
