"""Store each answer in a journal as soon as it arrives, so that no question is asked twice."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import NoneType, TracebackType
from typing import Any, BinaryIO

from filelock import FileLock, Timeout

from ...core.documents import parse_json
from ...core.errors import InputError, MismatchError, OutputError
from ...core.files import regular
from ...core.progress import keep
from . import Reply

VERSION = 1


class AnswerJournal:
    """A file to which answers are appended, with one line per answer.

    The first line records the properties that determine the answers. An incomplete last line, left by a killed process,
    is removed.
    """

    def __init__(self, path: Path, about: Mapping[str, Any], *, fresh: bool = False):
        self.path = path
        self._fresh = fresh
        self.about = {"journal": VERSION, **parse_json(json.dumps(about))}
        self.replies: dict[str, Reply] = {}
        self._lock = FileLock(path.with_name(path.name + ".lock"))
        self._file: BinaryIO | None = None

    def __enter__(self) -> AnswerJournal:
        """Read the existing answers, and open the file for appending.

        Raises:
            OutputError: The file cannot be written, or is locked by another run.
            InputError: The file is not a journal of answers.
            MismatchError: The answers belong to other questions, settings or another model.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
            try:
                self._open()
            except BaseException:
                self._lock.release()
                raise
        except Timeout:
            raise OutputError(
                f"another run is writing {self.path}. Wait for it to finish, or choose another --to."
            ) from None
        except OSError as error:
            raise OutputError(f"cannot write {self.path}: {error.strerror or error}. Choose another --to.") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._file is not None:
                with suppress(OSError):  # a full disk, already reported by `add`
                    self._file.close()
        finally:
            self._lock.release()

    def add(self, key: str, reply: Reply) -> None:
        """Append an answer, or raise OutputError if the file cannot be written."""
        self.replies[key] = reply
        self._write({"key": key, **reply.as_json()})
        keep("answer")

    def _write(self, content: Mapping[str, Any]) -> None:
        if self._file is None:
            raise ValueError("add answers within the `with` block of the journal")
        try:
            self._file.write((json.dumps(content, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace"))
            self._file.flush()
        except OSError as error:
            raise OutputError(
                f"cannot write {self.path}: {error.strerror or error}. Free some space and run the same command again; "
                "the answers so far are kept."
            ) from error

    def _open(self) -> None:
        if self._fresh:
            self.path.unlink(missing_ok=True)
        lines = regular(self.path).read_bytes().split(b"\n") if self.path.exists() else [b""]
        unfinished = len(lines.pop())
        for line_number, line in enumerate(lines, 1):
            content = self._parsed(line, line_number)
            if line_number == 1:
                self._check(content)
            else:
                self._take(content, line_number)
        if unfinished:
            os.truncate(self.path, self.path.stat().st_size - unfinished)
        self._file = open(self.path, "ab")  # noqa: SIM115 -- closed by __exit__
        if not lines:
            self._write(self.about)
        keep("answer", len(self.replies))

    def _parsed(self, line: bytes, line_number: int) -> dict[str, Any]:
        try:
            content = parse_json(line.decode())
        except ValueError:
            content = None
        if not isinstance(content, dict):
            raise self._invalid(line_number)
        return content

    def _check(self, first_line: Mapping[str, Any]) -> None:
        if first_line.get("journal") != VERSION:
            raise self._invalid(1)
        before, current = _flat(first_line), _flat(self.about)
        differing = [name for name in sorted({*before, *current}) if before.get(name) != current.get(name)]
        if differing:
            old, new = ({name: values.get(name) for name in differing} for values in (before, current))
            raise MismatchError(
                f"{self.path} contains answers from a run with different settings: {_shown(old)}; now: {_shown(new)}. "
                "Choose another --to, or use --fresh to ask all questions again."
            )

    def _take(self, content: Mapping[str, Any], line_number: int) -> None:
        fields = {name: value for name, value in content.items() if name != "key"}
        try:
            reply = Reply(**fields)
        except TypeError:
            raise self._invalid(line_number) from None
        counts = (reply.input_tokens, reply.output_tokens)
        texts = (content.get("key"), reply.text, reply.model)
        invalid = not all(isinstance(text, str) for text in texts) or type(reply.cut) is not bool
        if invalid or not all(type(count) in (int, NoneType) for count in counts):
            raise self._invalid(line_number)
        self.replies.setdefault(content["key"], reply)

    def _invalid(self, line: int) -> InputError:
        return InputError(
            f"{self.path}, line {line}, is not a valid line of an answer journal. Remove the file, or choose another "
            "--to."
        )


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values, with those of nested objects under names such as `shown.frames`."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= {f"{name}.{key}": inner for key, inner in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def _shown(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in values.items())
