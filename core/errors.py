"""Every error that stressreel raises on purpose.

StressreelError
├── InputError       annotations, options or source files that cannot be used   (also ValueError)
│   └── UsageError   what was asked for is not there, or does not go together: a path, a name, a number, an option
├── VideoError       one video that cannot be decoded or cut: becomes a Skip     (also ValueError)
├── OutputError      the output folder: foreign, locked, unwritable, disk full  (also OSError)
│   └── TransientError  it could not be reached just now; another attempt may succeed
├── MismatchError    a resume whose inputs or settings changed                  (also ValueError)
├── BuildError       the build ran and failed: too many skips, a dead worker    (also RuntimeError)
├── HubError         the Hugging Face Hub refused or failed                     (also RuntimeError)
└── ProbeError       a model ran and the probe did not reach what it was to reach  (also RuntimeError)

A message says what is wrong, what was given, what is allowed and what to do; the command line prints it as one
paragraph and exits with 1, or for a UsageError with 2, without a traceback (`--debug` shows it).
"""

from __future__ import annotations

import re

LONGEST_WORD, LONGEST = 300, 10_000  # characters
MOST = 100 * LONGEST  # that are looked at
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Escape what a terminal obeys instead of showing: control characters, marks of direction, lone surrogates.

    Names and texts of a stranger's file could otherwise clear the screen or look like other lines. Line ends and tabs
    stay; the escapes are those of JSON.
    """
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def one_line(text: str) -> str:
    """Escape a text as `printable` does, and its line ends too."""
    return printable(text).replace("\n", "\\n")


def legible(text: str) -> str:
    """Cut a text with what an input put into it, and the words in it, to a length that somebody reads."""
    text = text if len(text) <= MOST else text[:MOST]
    text = re.sub(rf"(\S{{{LONGEST_WORD}}})\S+", r"\1…", text)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


class StressreelError(Exception):
    """Base of all errors below."""

    def __str__(self) -> str:
        """Write the message, with what an input put into it cut to a readable length and made printable."""
        return printable(legible(super().__str__()))


class InputError(StressreelError, ValueError):
    """Annotations, options or source files cannot be used as they are."""


class UsageError(InputError):
    """What was asked for is not there or not allowed: a missing path, an unknown name, a number outside its range."""


class VideoError(StressreelError, ValueError):
    """One source video cannot be decoded or cut; the reason is the decoder's own words where there are any."""

    def __init__(self, reason: str, detail: str):
        """Keep the reason code (`undecodable`, `too_short`, …) apart from the sentence that explains it."""
        super().__init__(detail)
        self.reason = reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[VideoError], tuple[str, str]]:
        """Let the error cross process borders with both of its parts."""
        return type(self), (self.reason, self.detail)


class OutputError(StressreelError, OSError):
    """The output folder cannot be used: foreign content, another build, no permission, no space."""


class TransientError(OutputError):
    """A store could not be reached just now, so that another attempt may succeed; the Ray executor makes it."""


class MismatchError(StressreelError, ValueError):
    """The output was started with other inputs, settings or versions."""


class BuildError(StressreelError, RuntimeError):
    """The build ran and failed."""


class HubError(StressreelError, RuntimeError):
    """The Hugging Face Hub refused, failed or was not reached, or holds something that must not be changed."""


class ProbeError(StressreelError, RuntimeError):
    """A model ran and a probe did not reach what it was to reach, so that its numbers would mean nothing."""
