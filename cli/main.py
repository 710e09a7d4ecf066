"""The commands. Modules are imported when their command runs, so --help is instant."""

from __future__ import annotations

import importlib
import sys
import traceback
from typing import Any, NoReturn

import click

from ..errors import StressreelError, UsageError
from ..extras import named
from ..runtime.interrupt import listen

COMMANDS = {
    "card": "Write the dataset card of an output again.",
    "compare": "Say whether two models differ: paired differences of their scores, with intervals.",
    "data": "Show or fetch the language data that text perturbations use.",
    "export": "Write an output as tasks of an evaluation harness (lmms-eval).",
    "list": "List the perturbations of a kind, with levels and sources.",
    "permute": "Write feature-permutation sets: each item with the video, or the text, of another.",
    "mine": "Find wrong options for any set of questions: hard negatives by sentence embeddings.",
    "sample": "Write a built-in sample: annotations in a real format and videos drawn by stressreel.",
    "score": "Score predictions on an output; score text-shift measures how far captions were moved.",
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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


def load_command(name: str) -> click.Command:
    """Import the module of a command: `build-clavi` is `cli.build_clavi.command`."""
    module = importlib.import_module(f".{name.replace('-', '_')}", __package__)
    command: click.Command = module.command
    return command


def print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Print the version of stressreel and leave."""
    if value and not ctx.resilient_parsing:
        from .. import __version__

        click.echo(f"stressreel {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=print_version, help="Print the version."
)
def stressreel() -> None:
    """Turn annotated video collections into diagnostic benchmarks for video-language models.

    Builders are commands of their own: build-clavi, build-perturbed, build-causal.
    """


def main() -> NoReturn:
    """Run `stressreel`."""
    run(stressreel, "stressreel")


def build_clavi() -> NoReturn:
    """Run `build-clavi`."""
    run(load_command("build-clavi"), "build-clavi")


def build_perturbed() -> NoReturn:
    """Run `build-perturbed`."""
    run(load_command("build-perturbed"), "build-perturbed")


def build_causal() -> NoReturn:
    """Run `build-causal`."""
    run(load_command("build-causal"), "build-causal")


def run(command: click.Command, name: str) -> NoReturn:
    """Run a command and leave with its exit code: 0 done, 1 failed, 2 wrong usage, 130 stopped by the user.

    Wrong usage is what shows before any work: an unknown option or value, a path on the command line that is not there.

    Errors are one paragraph on standard error; `--debug` anywhere on the command line shows the traceback too.
    """
    debug = "--debug" in sys.argv
    listen()
    try:
        try:
            result: Any = command.main(prog_name=name, standalone_mode=False)
        except ModuleNotFoundError as error:
            raise named(error, name) from error
        code = result if isinstance(result, int) else 0
    except click.UsageError as error:
        error.show()
        code = 2
    except click.ClickException as error:
        error.show()
        code = 1
    except (KeyboardInterrupt, click.Abort):
        click.echo(
            "\nStopped. What was finished is kept; run the same command again to go on from here."
            if name.startswith("build-")
            else "\nStopped.",
            err=True,
        )
        code = INTERRUPTED
    except StressreelError as error:
        if debug:
            traceback.print_exc()
        click.echo(f"Error: {error}", err=True)
        code = 2 if isinstance(error, UsageError) else 1
    except MemoryError:
        if debug:
            traceback.print_exc()
        click.echo("Error: there is not enough memory for this input. Give less at once, or more memory.", err=True)
        code = 1
    except BrokenPipeError:
        code = 1
    except OSError as error:
        if debug:
            traceback.print_exc()
        click.echo(f"Error: {error.strerror or error}{f': {error.filename}' if error.filename else ''}", err=True)
        code = 1
    except Exception as error:
        if debug:
            traceback.print_exc()
        click.echo(
            f"Error: {type(error).__name__}: {error}\nThis is a fault in stressreel, not in your input. Please report "
            "it with the output of the same command and --debug.",
            err=True,
        )
        code = 1
    try:
        sys.stdout.flush()
    except OSError:
        code = code or 1
    sys.exit(code)
