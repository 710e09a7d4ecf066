"""The names of all commands, and the functions behind them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from cyclopts import App
from stressreel.builders import BENCHMARKS
from stressreel.cli.commands import COMMANDS, SUBCOMMANDS, application


def every_command() -> list[str]:
    """Return names such as "verify", "score explain" and "build clavi"."""
    below = {**SUBCOMMANDS, "build": BENCHMARKS}
    names = [name for task in COMMANDS.values() for name in task]
    return [f"{name} {each}".rstrip() for name in names for each in below.get(name, ("",))]


@cache
def whole_application() -> App:
    return application(every=True)


def command_function(name: str) -> Callable[..., Any]:
    command = whole_application().parse_commands(name.split())[1][-1].default_command
    assert callable(command), name
    return command
