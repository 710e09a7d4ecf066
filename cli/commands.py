"""List the commands of `stressreel` by task. Each is a function of the API, which is imported when it is used.

Values that depend on what was typed before are completed here; cyclopts completes commands, options and choices.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Group, Parameter

from ..builders import SUMMARIES, benchmark_names
from ..core.errors import InputError

if TYPE_CHECKING:
    from cyclopts.completion import CompletionContext

COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Build": {
        "build": "Build a benchmark. `stressreel build NAME …` is the same as `build-NAME …`.",
        "list": "List benchmarks, perturbations, build options, or what an output lacks.",
        "sample": "Write the built-in sample, or draw any number of videos with annotations.",
        "mine": "Find distractors for each question among the answers to similar questions.",
        "data": "Show or download the language data that text perturbations use.",
    },
    "Inspect": {
        "verify": "Check the schema, counts, hashes, answers, frames and card of an output.",
        "gallery": "Show an output as a gallery of web pages.",
        "diff": "Compare the settings, tables, rows and videos of two outputs of the same benchmark.",
        "card": "Rewrite the dataset card of an output.",
        "decompose": "Decompose a compositional question into sub-questions.",
    },
    "Evaluate": {
        "ask": "Ask a model the questions of an output, and write its answers as predictions.",
        "score": "Score a model's answers, or its retrieval results, on an output.",
        "compare": "Compare the scores of models in one table, with the differences between two models.",
        "agreement": "Score the answers of people to the questions of an output, and measure how far they agree.",
        "audit": "Measure how well blind baselines, which never see a video, answer the questions of an output.",
        "annotate": "Write web pages on which people answer the questions of an output.",
        "probe": "Impair a model's fusion of modalities (QUAG), and show how its scores change.",
        "permute": "Pair each question with the video, or with the text, of a question about another source video.",
    },
    "Share": {
        "push": "Push an output to the Hugging Face Hub, in one commit, and verify it before and after.",
        "export": "Export an output for an evaluation harness, as files or tar shards, or in the published layout.",
        "withhold": "Write a public copy of an output without answers, and a private one for scoring.",
        "sign": "Sign an output, so that others can verify its origin and integrity.",
    },
}
"""The commands by task, with the first line of their help, so that the list needs no imports."""
SUBCOMMANDS: Mapping[str, Mapping[str, str]] = {
    "build": {},  # the benchmarks
    "list": {"": "list_"},
    "score": {
        "": "score",
        "explain": "explain",
        "modalities": "score_modalities",
        "open-ended": "score_open_ended",
        "permuted": "score_permuted",
        "text-shift": "score_text_shift",
    },
    "export": {
        "files": "export_files",
        "inspect": "export_tasks",
        "lmms-eval": "export_tasks",
        "vlmevalkit": "export_tasks",
        "released": "export_released",
        "webdataset": "export_webdataset",
    },
    "data": {"show": "data_show", "download": "data_download"},
}
"""The public functions of commands that are not named after their only function."""


def _version() -> str:
    from ..core.version import __version__

    return f"stressreel {__version__}"


OPTIONS = Parameter(negative_iterable=(), negative_none=(), show_default=lambda default: _shown(default))
INSTALLER: dict[str, Any] = {"help": "Install completion for bash, zsh or fish.", "version_flags": ()}
STYLE: dict[str, Any] = {
    "help_flags": ("--help", "-h"),
    "help_format": "plaintext",
    "default_parameter": OPTIONS,
}


def _shown(default: Any) -> Any:
    """Return a default as it is shown in a help text."""
    if isinstance(default, tuple | list):
        return ",".join(map(str, default)) or None
    return None if isinstance(default, bool) else default


def application(words: Sequence[str] = (), *, every: bool = False) -> App:
    """Return the application `stressreel`.

    Args:
        words: First arguments. Only the command that they name is imported, and others are only listed.
        every: Whether to import all commands.
    """
    app = App(
        name="stressreel",
        help="Turn annotated video collections into diagnostic benchmarks for video-language models.\n\n"
        "`stressreel build` lists the benchmarks. Each is also a separate program, such as build-clavi.\n\n"
        "For example:\n\n"
        "    stressreel build clavi --charades sample --out out/clavi\n"
        "    stressreel verify out/clavi",
        version=_version,
        **STYLE,
    )
    app.register_install_completion_command(INSTALL, **INSTALLER)
    for index, (task, commands) in enumerate(COMMANDS.items()):
        group = Group(task, sort_key=index)
        for order, (name, summary) in enumerate(commands.items()):
            used = every or name in words[:1]
            position: dict[str, Any] = {"group": group, "sort_key": order}
            if used:
                app.command(_command(name, summary, words[1:], every=every, **position))
            else:
                app.command(App(name=name, help=summary, **position))
    return app


def build_application(program: str) -> App:
    """Return the application of a program such as `build-clavi`."""
    command = _build_command(program.removeprefix("build-"))
    app = App(name=program, default_command=command, version_flags=(), **STYLE)
    app.register_install_completion_command(INSTALL, **INSTALLER)
    return app


def _build_command(benchmark: str) -> Callable[..., Any]:
    from ..api.build import build_function

    return in_flags(build_function(benchmark))


def _command(name: str, summary: str, words: Sequence[str], *, every: bool, **position: Any) -> App:
    subcommands = SUBCOMMANDS.get(name, {"": name})
    app = App(name=name, help=None if "" in subcommands else summary, version_flags=(), **STYLE, **position)
    if name == "build":
        for benchmark in benchmark_names():
            listed = App(name=benchmark, help=SUMMARIES.get(benchmark, "A benchmark of another package."))
            try:
                used = every or benchmark in words[:1]
                app.command(_build_command(benchmark) if used else listed, name=benchmark)
            except InputError:  # its package cannot be imported
                if not every:
                    raise
                app.command(listed)
        return app
    for subcommand, function in subcommands.items():
        command = in_flags(_public_function(function, subcommand))
        if subcommand:
            app.command(App(name=subcommand, default_command=command, version_flags=()))
        else:
            app.default(command)
    return app


def _public_function(name: str, harness: Any) -> Callable[..., Any]:
    if name == "export_tasks":
        from ..api.export import exporter

        return exporter(harness)
    function: Callable[..., Any] = getattr(importlib.import_module("..", __package__), name)
    return function


def in_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose docstring suits a terminal: its arguments are flags, and paragraphs are single lines."""
    from ..core.settings import parameter_of

    words = {}
    for name, parameter in inspect.signature(function).parameters.items():
        chosen = parameter_of(function.__annotations__.get(name)).name
        flag = next(iter(chosen), "") if chosen else f"--{name.replace('_', '-')}"
        words[name] = name.upper() if parameter.kind is not parameter.KEYWORD_ONLY else flag

    @wraps(function)
    def command(*args: Any, **options: Any) -> Any:
        return function(*args, **options)

    text = re.sub(r"(?<=\S)\n(?=\S)|\n {8,}(?=\S)", " ", inspect.getdoc(function) or "")
    command.__doc__ = re.sub(r"`(\w+)`", lambda match: words.get(match[1], match[0]), text).replace("::\n", ":\n")
    if words.get("out") == "OUT":
        command.__annotations__ = with_completers(function.__annotations__)
    return command


INSTALL = "--install-completion"
COMPLETE = "__complete"
"""The command with which the installed scripts ask for values. cyclopts catches all errors of completers."""


def tables(context: CompletionContext) -> list[str]:
    """Return the names of the tables of the output that was typed."""
    return list(_counts(context))


def splits(context: CompletionContext) -> list[str]:
    """Return the splits of the output that was typed: those of the chosen table, or of all tables."""
    counts = _counts(context)
    table = context.get("config")
    chosen = table.raw_tokens if table else ()
    chosen_splits = [counts[name] for name in chosen if name in counts] or counts.values()
    return list(dict.fromkeys(split for names in chosen_splits for split in names))


def _counts(context: CompletionContext) -> Mapping[str, Mapping[str, int]]:
    from ..core.documents import parse_own, read_own
    from ..core.plan import LEFT_OUT

    folder = Path(context["out"].raw or "").expanduser()
    counts = parse_own(read_own(folder / "build.json"))["counts"]
    return {name: splits for name, splits in counts.items() if name != LEFT_OUT.name}


COMPLETERS: Mapping[str, Callable[[CompletionContext], list[str]]] = {"config": tables, "split": splits}


def with_completers(hints: Mapping[str, Any]) -> dict[str, Any]:
    """Add completers to the types of arguments that name a table or a split of an output."""
    return {
        name: Annotated[hint, Parameter(completer=COMPLETERS[name])] if name in COMPLETERS else hint
        for name, hint in hints.items()
    }
