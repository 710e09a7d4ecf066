"""Run `stressreel` and `build-NAME`: parse the arguments, print the result, and return the exit code."""

import gc
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

from cyclopts import App, CycloptsError, Group, Parameter

from ..builders import BENCHMARKS
from ..core.errors import StressreelError, UsageError, printable
from ..core.extras import named, own_process
from ..core.progress import Working, forget, interrupted, kept, listen_for_interrupts, showing, timed
from .arguments import guard, message_of, read_config
from .commands import COMPLETE, INSTALL, application, build_application

GARBAGE = (50_000, 20, 20)  # collecting cycles among millions of tokens takes a sixth of the time
INTERRUPTED = 130
FORMS = {"dot", "markdown"}  # arguments of commands that print another form, but not together with --json
EVERYWHERE = Group("Options of every command", sort_key=1000)


def main() -> NoReturn:
    """Run `stressreel` with the arguments of the process."""
    run("stressreel")


def build() -> NoReturn:
    """Run `build-NAME`, where NAME comes from the name of the program."""
    run(Path(sys.argv[0]).stem)


def run(program: str) -> NoReturn:
    """Run a program, and exit with its exit code."""
    listen_for_interrupts()
    own_process()
    gc.set_threshold(*GARBAGE)
    code = execute(program, sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        code = code or 1
    sys.exit(code)


def execute(program: str, arguments: Sequence[str]) -> int:
    """Run a program and return its exit code: 0 for success, 1 for failure, 2 for wrong usage, 130 if interrupted.

    Wrong usage (unknown options or values, missing paths) is detected before any work. An error is printed as one
    paragraph on standard error, and `--debug` adds the traceback.
    """
    forget()
    without_config = [word for at, word in enumerate(arguments) if [*arguments[max(at - 1, 0) : at]] != ["--config"]]
    words = [word for word in without_config if not word.startswith("-") and word != COMPLETE][:2]
    try:
        _check_utf8(arguments)
        try:
            every = INSTALL in arguments
            app = application(words, every=every) if program == "stressreel" else build_application(program)
            takes_config = program != "stressreel" or words[:1] in (["build"], ["mine"])
            title = " ".join([program, *words[:1]]) if program == "stressreel" else program
            launched = launcher(app, title, takes_config=takes_config)
            run = partial(launched, exit_on_error=False, print_error=False)
            with showing("--no-progress" not in arguments):
                return int(run(arguments, result_action="return_int_as_exit_code_else_zero"))
        except ModuleNotFoundError as error:
            raise named(error, program) from error
    except KeyboardInterrupt:
        return _stopped()
    except BrokenPipeError:
        return 1
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exc()
        if interrupted():  # a library may convert the interrupt to its own exception
            return _stopped()
        echo(f"Error: {_message(error, _at_fault(program, words))}", err=True)
        _note_links(arguments)
        return 2 if isinstance(error, UsageError | CycloptsError) else 1


def launcher(app: App, title: str, *, takes_config: bool) -> App:
    """Return the application that reads the options of every command, and passes other arguments to `app`.

    `title` is the name of the command for its progress. `takes_config` tells whether options may come from a YAML file.
    """

    @app.meta.default
    def launch(
        *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
        config: Annotated[Path | None, Parameter(group=EVERYWHERE, parse=takes_config)] = None,
        json: Annotated[bool, Parameter(negative=(), group=EVERYWHERE)] = False,
        verbose: Annotated[bool, Parameter(alias="-v", negative=(), group=EVERYWHERE)] = False,
        debug: Annotated[bool, Parameter(negative=(), group=EVERYWHERE)] = False,
    ) -> int:
        """Run a command.

        Args:
            tokens: The command and its arguments.
            config: YAML file with `option: value` lines; options on the command line override it.
            json: Print the result as JSON.
            verbose: Print each step with the time that it took.
            debug: Show the traceback of an error.
        """
        app.config = (partial(read_config, config), guard) if config else (guard,)
        command, bound, hidden = app.parse_args(tokens, exit_on_error=False, print_error=False)
        if json and (form := FORMS & {*bound.arguments}):
            raise UsageError(f"--json and --{min(form)} cannot be combined. Use only one of them.")
        live = "each" in hidden and not json
        extra = ({"each": echo} if live else {}) | ({"beside": True} if "beside" in hidden else {})
        with timed(verbose), Working(title):
            result = command(*bound.args, **bound.kwargs, **extra)
        return show(result, as_json=json, live=live)

    app.meta.suppress_keyboard_interrupt = False  # `execute` reports what was kept
    return app.meta


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
    from ..core.files import broken_link

    paths = dict.fromkeys(part for word in arguments for part in (word, word.partition("=")[2]))
    for note in dict.fromkeys(filter(None, (broken_link(Path(part).expanduser()) for part in paths))):
        echo(f"note: {note}", err=True)


def _message(error: Exception, at_fault: str) -> str:
    if isinstance(error, CycloptsError):
        return message_of(error)
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


def _at_fault(program: str, words: Sequence[str]) -> str:
    """Return whose fault an unexpected error is, which may be that of a benchmark from another package."""
    own = (program, *words[:1]) == ("stressreel", "build") and words[1:] and words[1] not in BENCHMARKS
    return f"stressreel or in the benchmark {words[1]!r}" if own else "stressreel"


def _stopped() -> int:
    safe = kept()
    echo(f"\nStopped. Kept: {safe}. Run the same command again to continue." if safe else "\nStopped.", err=True)
    return INTERRUPTED


def echo(text: Any, *, err: bool = False) -> None:
    """Print a text with control characters escaped."""
    print(
        printable(str(text)),
        file=sys.stderr if err else sys.stdout,
        end="" if str(text).endswith("\n") else "\n",
        flush=True,
    )


def show(result: Any, *, as_json: bool, live: bool = False) -> int:
    """Print what a command returned, and return the exit code. If `live`, parts of it were printed before.

    With `as_json`, one JSON document is printed on standard output, and everything else on standard error.
    """
    from ..api.build import report
    from ..api.outputs import Output
    from ..core.output import fitting
    from ..core.results import dump

    if isinstance(result, Output):
        with fitting(result.path):  # the output may be an existing one, which is untrusted
            echo(dump(dict(result.info)) if as_json else report(result))
        return 0
    if result is None:  # a help text was printed
        return 0
    for note in result.notes:
        echo(f"note: {note}", err=True)
    text = result.closing() if live else result.render("json" if as_json else "text")
    if text:
        echo(text)
    for line in result.written:
        echo(line, err=as_json)
    return int(result.failed)
