"""Say, before work starts, all that a command needs and this machine lacks, with one line that installs it.

`extras.package` describes an optional package. Data, models and programs are described where they are looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .errors import InputError


@dataclass(frozen=True)
class Requirement:
    """Something besides the core of stressreel that an option needs.

    Attributes:
        name: What is needed, such as "nltk", "WordNet" or "the model NAME".
        what: What needs it, such as "--executor ray".
        there: Whether it is on this machine.
        extra: Extra of stressreel that includes it, if it is a package.
        install: Command that installs anything else.
        instead: What else the user can do, in a sentence.
        fetched: When a build downloads it by itself. A dry run downloads nothing, but lacks only what is needed for
            planning.
    """

    name: str
    what: str
    there: bool
    extra: str = ""
    install: str = ""
    instead: str = ""
    fetched: Literal["never", "planning", "building"] = "never"


class MissingExtraError(InputError):
    """Raised when optional packages are not installed, or data, a model or a program is not on this machine."""


def check(needs: Iterable[Requirement], *, dry_run: bool = False) -> list[Requirement]:
    """Check that everything is there, without a network. Return what the build will download.

    Raises:
        MissingExtraError: Something is missing. The message names everything that is.
    """
    absent = [need for need in needs if not need.there]
    lacking = [need for need in absent if need.fetched == "never"]
    if dry_run:
        why = "A dry run downloads nothing."
        lacking += [replace(need, instead=f"{why} {need.instead}") for need in absent if need.fetched == "planning"]
    if lacking:
        raise missing(lacking)
    return absent


def missing(lacking: Sequence[Requirement]) -> MissingExtraError:
    """Return an error that says what is missing, what needs it, and how to install it."""
    users: dict[str, list[str]] = {}
    for need in dict.fromkeys(lacking):
        users.setdefault(need.name, []).append(need.what)
    names: dict[str, list[str]] = {}
    for name, those in users.items():
        names.setdefault(listed(those), []).append(name)
    lines = [f"{what} {'need' if ' and ' in what else 'needs'} {listed(those)}" for what, those in names.items()]
    commands = dict.fromkeys([pip_command(need.extra for need in lacking), *(need.install for need in lacking)])
    remedy = " && ".join(filter(None, commands))
    instead = " ".join(dict.fromkeys(need.instead for need in lacking if need.instead))
    if len(lines) == 1:
        sentence = f"{lines[0]}, which {'is' if len(users) == 1 else 'are'} not installed" + f": {remedy}" * bool(
            remedy
        )
        return MissingExtraError(f"{sentence}. {instead}" if instead else sentence)
    all_lines = "\n  ".join(["not installed:", *lines])
    ways = [f"Install all of it: {remedy}"] * bool(remedy) + [instead] * bool(instead)
    return MissingExtraError("\n".join([all_lines, *ways]))


def pip_command(extras: Iterable[str]) -> str:
    """Return the command that installs extras, or "" if there are none."""
    named = ",".join(sorted({*extras} - {""}))
    return f"pip install 'stressreel[{named}]'" if named else ""


def listed(words: Iterable[str]) -> str:
    """Join words, as in "a, b and c". There must be at least one."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
