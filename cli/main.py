"""The commands. Modules are imported when their command runs, so --help is instant."""

from __future__ import annotations

import difflib
import gc
import importlib
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from ..core.errors import StressreelError, UsageError
from ..core.extras import named, own_process
from ..core.interrupt import asked, listen
from ..core.progress import Working, forget, kept, showing
from .terminal import CONTEXT, echo

GARBAGE = (50_000, 20, 20)  # looking for circles among millions of tokens took a sixth of the time
COMMANDS = {
    "ask": "Ask a model the questions of an output: an endpoint or transformers; writes predictions.",
    "audit": "Measure what can be guessed without the video: the highest of many blind guessers.",
    "build": "Build a benchmark: `stressreel build NAME`, the same as `build-NAME`.",
    "card": "Write the dataset card of an output again.",
    "compare": "Test whether two models differ: paired differences of their scores, with intervals.",
    "data": "Show or fetch the language data that text perturbations use.",
    "decompose": "Take one compositional question apart into its graph of sub-questions.",
    "diff": "Show what differs between two outputs: settings, tables, rows, videos.",
    "export": "Write an output for a harness (lmms-eval, inspect-ai), as files or WebDataset, or as its authors do.",
    "gallery": "Show an output in the browser: a folder of pages that opens offline.",
    "list": "List perturbations with levels and sources, benchmarks, or the options of builds.",
    "permute": "Write feature-permutation sets: each item with the video, or the text, of another.",
    "mine": "Find wrong options for any set of questions: hard negatives by sentence embeddings.",
    "probe": "Ask a model with its fusion impaired (QUAG), and show what its scores lose.",
    "push": "Push an output to the Hugging Face Hub in one commit, verified before and read back after.",
    "sample": "Write a built-in sample: annotations in a real format and videos drawn by stressreel.",
    "score": "Score predictions on an output; score text-shift measures how far captions were moved.",
    "sign": "Sign an output, so that others can tell who made it and that nothing changed since.",
    "simulate-quag": "Show on made-up data that QUAG's short-circuits cost more where modalities are coupled more.",
    "table": "Show scores of several models in one table: mean ± std over runs; as Markdown, JSON, a figure.",
    "verify": "Check an output: schema, counts, hashes, links, answers, decoded frames, card.",
}
INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        return load_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of a name that is none, name the nearest."""
        if args and args[0] not in COMMANDS:
            raise click.UsageError(f"there is no command {args[0]!r}. {_nearest_command(args[0])}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


def _nearest_command(name: str) -> str:
    from ..builders import benchmark_names

    _, build, benchmark = name.partition("build-")
    benchmarks = {known: f"build {known}" for known in benchmark_names()}
    near = difflib.get_close_matches(benchmark if build else name, [*benchmarks, *COMMANDS], 1)
    return f"Did you mean `stressreel {benchmarks.get(near[0], near[0])}`?" if near else "`stressreel -h` lists them."


def load_command(name: str) -> click.Command:
    """Make a command from its function of the API, or `build-clavi` from its benchmark."""
    if name.startswith("build-"):
        from .build import build_command

        return build_command(name.removeprefix("build-"), name)
    from .commands import load

    if made := load(name):
        return made
    module = importlib.import_module(f".{name.replace('-', '_')}", __package__)
    command: click.Command = module.command
    return command


def print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Print the version of stressreel and leave."""
    if value and not ctx.resilient_parsing:
        from ..core.version import __version__

        click.echo(f"stressreel {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings=CONTEXT)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=print_version, help="Print the version."
)
def stressreel() -> None:
    """Turn annotated video collections into diagnostic benchmarks for video-language models.

    `stressreel build` lists the benchmarks; each is a command of its own, too, such as build-clavi.
    """


def main() -> NoReturn:
    """Run `stressreel`."""
    run(stressreel, "stressreel")


def build() -> NoReturn:
    """Run `build-NAME`: the benchmark is the one that the program is called by."""
    name = Path(sys.argv[0]).stem
    run(load_command(name), name)


def run(command: click.Command, name: str) -> NoReturn:
    """Run a command and leave with its exit code."""
    listen()
    own_process()
    gc.set_threshold(*GARBAGE)
    code = execute(command, name, sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        code = code or 1
    sys.exit(code)


def execute(command: click.Command, name: str, arguments: Sequence[str]) -> int:
    """Run a command and return its exit code: 0 done, 1 failed, 2 wrong usage, 130 stopped by the user.

    Wrong usage is what shows before any work: an unknown option or value, a path on the command line that is not there.

    Errors are one paragraph on standard error; `--debug` among the arguments shows the traceback too.
    """
    debug = "--debug" in arguments
    forget()
    try:
        try:
            with showing("--no-progress" not in arguments), Working(_label(name, arguments)):
                result: Any = command.main(list(arguments), prog_name=name, standalone_mode=False)
        except ModuleNotFoundError as error:
            raise named(error, name) from error
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return 2 if isinstance(error, click.UsageError) else 1
    except (KeyboardInterrupt, click.Abort):
        return _stopped()
    except BrokenPipeError:
        return 1
    except Exception as error:
        if debug:
            traceback.print_exc()
        if asked():  # what was interrupted says so in its own way
            return _stopped()
        echo(f"Error: {_said(error)}", err=True)
        return 2 if isinstance(error, UsageError) else 1


def _said(error: Exception) -> str:
    """Describe an error in words for the user."""
    if isinstance(error, StressreelError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this input. Give less at once, or more memory."
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    return (
        f"{type(error).__name__}: {error}\nThis is a fault in stressreel, not in your input. Please report it with the "
        "output of the same command and --debug."
    )


def _label(name: str, arguments: Sequence[str]) -> str:
    """Name what runs, such as "stressreel verify"."""
    return " ".join([name, *(word for word in arguments[:1] if not word.startswith("-"))])


def _stopped() -> int:
    """Report that the user stopped it and what is safe, and return the exit code."""
    safe = kept()
    echo(f"\nStopped. Kept: {safe}; the same command goes on from there." if safe else "\nStopped.", err=True)
    return INTERRUPTED
