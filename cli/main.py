"""Run `stressreel` and `build-NAME`, and turn exceptions into messages and exit codes."""

from __future__ import annotations

import gc
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from ..builders import BENCHMARKS
from ..core.errors import StressreelError, UsageError
from ..core.extras import named, own_process
from ..core.files import broken_link
from ..core.interrupt import asked, listen
from ..core.options import removed
from ..core.progress import Working, forget, kept, showing
from .commands import Stressreel, load_command
from .terminal import CONTEXT, echo

GARBAGE = (50_000, 20, 20)  # collecting cycles among millions of tokens takes a sixth of the time
INTERRUPTED = 130


@click.group(cls=Stressreel, context_settings=CONTEXT)
@click.version_option(
    package_name="stressreel", prog_name="stressreel", message="%(prog)s %(version)s", help="Print the version."
)
def stressreel() -> None:
    """Turn annotated video collections into diagnostic benchmarks for video-language models.

    `stressreel build` lists the benchmarks. Each is also a separate program, such as build-clavi.
    """


def main() -> NoReturn:
    """Run `stressreel` with the arguments of the process."""
    run(stressreel, "stressreel")


def build() -> NoReturn:
    """Run `build-NAME`, where NAME comes from the name of the program."""
    name = Path(sys.argv[0]).stem
    run(load_command(name), name)


def run(command: click.Command, name: str) -> NoReturn:
    """Run a command, and exit with its exit code."""
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
    """Run a command and return its exit code: 0 for success, 1 for failure, 2 for wrong usage, 130 if interrupted.

    Wrong usage (unknown options or values, missing paths) is detected before any work. An error is printed as one
    paragraph on standard error, and `--debug` adds the traceback.
    """
    debug = "--debug" in arguments
    forget()
    try:
        _check_utf8(arguments)
        try:
            with showing("--no-progress" not in arguments), Working(_label(name, arguments)):
                result: Any = command.main(list(arguments), prog_name=name, standalone_mode=False)
        except ModuleNotFoundError as error:
            raise named(error, name) from error
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and (why := removed(error.option_name.lstrip("-"))):
            error = click.UsageError(why, error.ctx)
        error.show()
        _note_links(arguments)
        return 2 if isinstance(error, click.UsageError) else 1
    except (KeyboardInterrupt, click.Abort):
        return _stopped()
    except BrokenPipeError:
        return 1
    except Exception as error:
        if debug:
            traceback.print_exc()
        if asked():  # a library may convert the interrupt to its own exception
            return _stopped()
        echo(f"Error: {_message(error, _at_fault(name, arguments))}", err=True)
        _note_links(arguments)
        return 2 if isinstance(error, UsageError) else 1


def _check_utf8(arguments: Sequence[str]) -> None:
    """Raise UsageError for an argument that no file of an output could contain."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise UsageError(
                f"the argument {argument!a} is not valid UTF-8. Rename the file or folder, or set PYTHONUTF8=1 if your "
                "locale has another encoding."
            ) from None


def _note_links(arguments: Sequence[str]) -> None:
    """Print which arguments are links that lead nowhere, which an error may only call missing."""
    paths = dict.fromkeys(part for word in arguments for part in (word, word.partition("=")[2]))
    for note in dict.fromkeys(filter(None, (broken_link(Path(part).expanduser()) for part in paths))):
        echo(f"note: {note}", err=True)


def _message(error: Exception, at_fault: str) -> str:
    if isinstance(error, StressreelError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory for this input. Reduce the input, or use a machine with more memory."
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    return (
        f"{type(error).__name__}: {error}\nThis is a fault in {at_fault}, not in your input. Please report it with the "
        "output of the same command and --debug."
    )


def _at_fault(name: str, arguments: Sequence[str]) -> str:
    """Return whose fault an unexpected error is, which may be that of a benchmark from another package."""
    benchmark = "".join(arguments[1:2]) if (name, *arguments[:1]) == ("stressreel", "build") else ""
    own = benchmark and not benchmark.startswith("-") and benchmark not in BENCHMARKS
    return f"stressreel or in the benchmark {benchmark!r}" if own else "stressreel"


def _label(name: str, arguments: Sequence[str]) -> str:
    return " ".join([name, *(word for word in arguments[:1] if not word.startswith("-"))])


def _stopped() -> int:
    safe = kept()
    echo(f"\nStopped. Kept: {safe}. Run the same command again to continue." if safe else "\nStopped.", err=True)
    return INTERRUPTED
