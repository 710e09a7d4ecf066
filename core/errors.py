"""Exceptions raised by stressreel.

StressreelError
├── InputError       annotations, options or source files that cannot be used   (also ValueError)
│   └── UsageError   a missing path, an unknown name, a number out of range, or conflicting options
├── VideoError       one video that cannot be decoded or cut: becomes a Skip     (also ValueError)
├── OutputError      an output folder that is locked, in use or not writable    (also OSError)
│   ├── DiskFullError   no space is left
│   └── TransientError  temporarily unreachable; another attempt may succeed
├── MismatchError    a resume whose inputs or settings changed                  (also ValueError)
├── BuildError       the build ran and failed: too many skips, a dead worker    (also RuntimeError)
├── HubError         the Hugging Face Hub refused or failed                     (also RuntimeError)
└── ProbeError       a probe did not reach the modules it should impair         (also RuntimeError)

A message states the problem, the given value, the allowed values and the remedy. The command line prints it as one
paragraph without a traceback (`--debug` shows it) and exits with 1, or with 2 for a UsageError.
"""

from __future__ import annotations

import re

LONGEST_WORD, LONGEST = 300, 10_000  # characters
MOST = 100 * LONGEST  # characters considered
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Escape control characters, direction marks and lone surrogates as in JSON, except newlines and tabs.

    Otherwise, text from an untrusted file could clear the screen or imitate other output.
    """
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def one_line(text: str) -> str:
    """Escape text as `printable` does, and newlines as well."""
    return printable(text).replace("\n", "\\n")


def legible(text: str) -> str:
    """Shorten a text to 10,000 characters, and each word in it to 300."""
    text = text if len(text) <= MOST else text[:MOST]
    text = re.sub(rf"(\S{{{LONGEST_WORD}}})\S+", r"\1…", text)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


class StressreelError(Exception):
    """Base class of all exceptions that stressreel raises."""

    def __str__(self) -> str:
        return printable(legible(super().__str__()))


class InputError(StressreelError, ValueError):
    """Raised when annotations, options or source files are invalid."""


class UsageError(InputError):
    """Raised for a missing path, an unknown name, a number out of range, or conflicting options."""


class VideoError(StressreelError, ValueError):
    """Raised when a source video cannot be decoded or cut.

    Attributes:
        reason: Code such as `undecodable` or `too_short`.
        detail: One sentence that includes the decoder's message, if any.
    """

    def __init__(self, reason: str, detail: str):
        super().__init__(detail)
        self.reason = reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[VideoError], tuple[str, str]]:
        return type(self), (self.reason, self.detail)


class OutputError(StressreelError, OSError):
    """Raised when an output folder holds other files or another build, cannot be written, or is full."""


class DiskFullError(OutputError):
    """Raised when no space is left for a file."""


class TransientError(OutputError):
    """Raised when storage is temporarily unreachable. The Ray executor then tries again."""


class MismatchError(StressreelError, ValueError):
    """Raised when a build is resumed with other inputs, settings or versions."""


class BuildError(StressreelError, RuntimeError):
    """Raised when a build fails while running."""


class HubError(StressreelError, RuntimeError):
    """Raised when the Hugging Face Hub is unreachable or refuses a request, or a repository must not be overwritten."""


class ProbeError(StressreelError, RuntimeError):
    """Raised when a probe does not reach the modules it should impair, so that its results would be meaningless."""
