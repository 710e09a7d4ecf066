"""Load AGQA 2.0's balanced questions from `train_balanced.txt` and `test_balanced.txt`, each a single JSON object.

The files hold 2.27 million questions (up to 1.5 GB per file; Grunde-McLaughlin et al. 2021), so they are read in
chunks. An index stores the byte positions of each video's rows.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from ..core.documents import once, parse_json, shortened
from ..core.errors import InputError, UsageError
from ..core.files import file_stamp, regular
from . import load_source
from .entries import find_split_files, is_file_name

AGQA = load_source("agqa")
SPLITS = ("train", "test")
FLAGS = (
    *("novel_comp", "more_steps", "nc_seq", "nc_sup", "nc_dur", "nc_objrel"),
    *("indirect", "i_obj", "i_rel", "i_act", "i_temp"),
)
"""Fields with the values 0 and 1; all but the first two occur only in the test split."""
CHUNK = 1 << 20  # number of bytes to read at a time
LONGEST_ROW = 8_000_000  # bytes per row; real rows have at most tens of thousands
REQUIRED, OPTIONAL = ("question", "answer", "video_id", "program"), ("ans_type", "semantic", "structural")
LONGEST_TEXT = 20_000  # maximum number of characters in a question, an answer or a program
ADVICE = "Download AGQA_balanced.zip again: https://agqa-decomp.cs.washington.edu"
_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question from AGQA. Optional fields that are missing are empty, 0 or None.

    Attributes:
        id: Question id, `<video>-<number>`.
        answer: The answer, in lower case.
        program: The functional program of the question.
        reasoning: Reasoning categories (the field `global`).
        ans_type: "open" or "binary".
        semantic: "object", "relation" or "action".
        structural: "query", "compare", "choose", "verify" or "logic".
        steps: Number of reasoning steps.
        flags: The fields listed in `FLAGS` that the row contains.
        direct_equiv: Id of the equivalent question without indirect references.
    """

    id: str
    question: str
    answer: str
    video_id: str
    program: str
    reasoning: tuple[str, ...] = ()
    ans_type: str = ""
    semantic: str = ""
    structural: str = ""
    steps: int = 0
    flags: Mapping[str, bool] = field(default_factory=dict)
    direct_equiv: str | None = None


@dataclass(frozen=True, slots=True)
class RowIndex:
    """An index that finds the rows of a video in a file without reading the rest.

    Attributes:
        stamp: State of the file when it was indexed; see `core.files.file_stamp`.
        spans: Alternating start and end bytes per video, in file order. Adjacent rows share a span.
        counts: Number of rows per video.
    """

    path: Path
    stamp: str
    spans: Mapping[str, array[int]]
    counts: Mapping[str, int]

    def of(self, video_id: str) -> list[tuple[int, int]]:
        """Return the (start, end) byte spans of a video."""
        flat = self.spans[video_id]
        return list(zip(flat[::2], flat[1::2], strict=True))


def find_question_files(path: Path, splits: Sequence[str] = SPLITS) -> dict[str, Path]:
    """Find the files of balanced questions and return their paths, keyed by split.

    `path` is a folder that contains the two files, at most two levels deep, or a single file. The split of a single
    file is "train" if its name contains "train", else "test".

    Raises:
        UsageError: The path does not exist or contains neither file.
    """
    if not path.exists():
        raise UsageError(
            f"there is no file or folder {path}. Use --agqa to specify the folder AGQA_balanced or one of its two "
            "files."
        )
    advice = "Unpack AGQA_balanced.zip there: https://agqa-decomp.cs.washington.edu"
    return find_agqa_files(path, "{}_balanced.txt", splits, advice)


def find_agqa_files(path: Path, name: str, splits: Sequence[str], advice: str) -> dict[str, Path]:
    """Find AGQA files and return their paths, keyed by split.

    `name` is a file name in which `{}` represents the split. Raises UsageError, ending in `advice`, if there are none.
    """
    if path.is_file():
        return {"train" if "train" in path.name.lower() else "test": path}
    return find_split_files(path, name, splits, advice, UsageError)


def index_rows(path: Path, look: Callable[[QuestionRow], object] | None = None) -> RowIndex:
    """Read a file once and index the rows of each video, using 16 bytes for each run of adjacent rows.

    If `look` is given, it is called with every parsed row. The file is never loaded into memory as a whole.

    Raises:
        UsageError: The file does not exist.
        InputError: The file is not a JSON object of rows. The message gives the byte, the id and the field.
    """
    stamp = file_stamp(path)
    spans: dict[str, array[int]] = {}
    counts: Counter[str] = Counter()
    last = ""
    for member in _members(path):
        video = member.video_id()
        flat = spans.setdefault(video, array("Q"))
        if video == last:
            flat[-1] = member.end
        else:
            flat.extend((member.start, member.end))
        counts[video] += 1
        last = video
        if look:
            look(member.row())
    return RowIndex(path, stamp, spans, dict(counts))


def read_rows(path: Path, spans: Sequence[tuple[int, int]], stamp: str = "") -> list[QuestionRow]:
    """Read the rows at the given byte spans. If `stamp` is not empty, the file must not have changed since indexing.

    Raises:
        UsageError: The file does not exist.
        InputError: The file has changed, a row is damaged, or two rows have the same id.
    """
    if stamp and file_stamp(path) != stamp:
        raise InputError(f"{path} has changed since it was indexed. Run the command again.")
    rows: dict[str, QuestionRow] = {}
    with _opened(path) as handle:
        for start, end in spans:
            handle.seek(start)
            part = handle.read(end - start)
            if len(part) < end - start:
                raise InputError(f"{path.name} is truncated at byte {start + len(part)}. {ADVICE}")
            try:
                values = parse_json("{" + part.decode() + "}", once)
            except ValueError as error:
                raise InputError(f"{path.name}, bytes {start} to {end}: invalid JSON ({error}). {ADVICE}") from error
            for identity, value in values.items():
                member = _Member(path, start, end, identity, value)
                if identity in rows:
                    raise member.bad("the id", "a unique id", identity)
                rows[identity] = member.row()
    return list(rows.values())


def _opened(path: Path) -> BinaryIO:
    try:
        return open(regular(path), "rb")
    except OSError as error:
        kind = UsageError if isinstance(error, FileNotFoundError | NotADirectoryError) else InputError
        raise kind(f"cannot read {path}: {error.strerror}. Check the path and its permissions.") from error


class _Member(NamedTuple):
    """A row of a file: the bytes where it starts and ends, its id, and the unchecked value."""

    path: Path
    start: int
    end: int
    identity: str
    value: Any

    def bad(self, name: str, expected: str, given: Any) -> InputError:
        return InputError(
            f"{self.path.name}, byte {self.start}, row {shortened(self.identity)}, field {name}: expected {expected}, "
            f"got {shortened(given)}. {ADVICE}"
        )

    def text(self, name: str) -> str:
        if not isinstance(self.value, dict):
            raise self.bad("(all)", "an object with a row's fields", self.value)
        text = self.value.get(name)
        if text is None and name in OPTIONAL:
            return ""
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_TEXT or not _encodes(text):
            raise self.bad(name, f"a string of 1 to {LONGEST_TEXT:,} characters", text)
        return text.strip()

    def video_id(self) -> str:
        video = self.text("video_id")
        if not is_file_name(video):
            raise self.bad("video_id", "a name that a video file may have", video)
        return video

    def row(self) -> QuestionRow:
        texts = {name: self.text(name) for name in (*REQUIRED, *OPTIONAL)}
        if not self.identity.strip() or len(self.identity) > LONGEST_TEXT or not _encodes(self.identity):
            raise self.bad("the id", "an id such as YSKX3-8", self.identity)
        texts |= {"video_id": self.video_id(), "answer": texts["answer"].lower()}
        reasoning, steps = self.value.get("global", []), self.value.get("steps", 0)
        equal = self.value.get("direct_equiv")
        if not isinstance(reasoning, list) or not all(isinstance(category, str) for category in reasoning):
            raise self.bad("global", "a list of reasoning categories", reasoning)
        if type(steps) is not int or not 0 <= steps <= 1000:
            raise self.bad("steps", "a number of steps", steps)
        if equal is not None and not isinstance(equal, str):
            raise self.bad("direct_equiv", "a row's id or null", equal)
        flags = {name: self.value[name] for name in FLAGS if name in self.value}
        for name, flag in flags.items():
            if flag not in (0, 1) or isinstance(flag, float):
                raise self.bad(name, "0 or 1", flag)
            flags[name] = bool(flag)
        return QuestionRow(
            self.identity, **texts, reasoning=tuple(reasoning), steps=steps, flags=flags, direct_equiv=equal
        )


def _encodes(text: str) -> bool:
    """Return False if the text contains lone surrogates, which cannot be encoded as UTF-8."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


class _Window:
    """The part of a file that is currently in memory, decoded as Latin-1 so that each character is one byte."""

    def __init__(self, path: Path, handle: BinaryIO) -> None:
        self.path = path
        self.handle = handle
        self.text = ""
        self.begins = 0  # file offset of the first character
        self.at = 0  # current position in the text

    @property
    def byte(self) -> int:
        return self.begins + self.at

    def more(self, count: int = 0) -> bool:
        """Read the next chunk and discard the text before the current position. Return False at the end of the file."""
        chunk = self.handle.read(max(CHUNK, count))
        self.text = self.text[self.at :] + chunk.decode("latin-1")
        self.begins, self.at = self.byte, 0
        return bool(chunk)

    def skip_space(self) -> str:
        while True:
            while self.at < len(self.text):
                if self.text[self.at] not in _SPACE:
                    return self.text[self.at]
                self.at += 1
            if not self.more():
                return ""

    def value(self, identity: str = "") -> Any:
        while True:
            length = len(self.text) - self.at
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                if length > LONGEST_ROW:
                    self.refuse(f"a row of at most {LONGEST_ROW:,} bytes of JSON", identity, str(error))
                if not self.more(length):
                    self.refuse("JSON", identity, str(error))
            except RecursionError:
                self.refuse("lists and objects a few levels deep", identity, "thousands of levels")
            except ValueError as error:  # a number with thousands of digits
                self.refuse("JSON", identity, str(error))
            else:
                text = self.text[self.at : end]
                self.at = end
                if text.isascii():
                    return value
                try:
                    return parse_json(text.encode("latin-1").decode())
                except ValueError as error:
                    self.refuse("UTF-8", identity, str(error))

    def refuse(self, expected: str, identity: str = "", given: str = "") -> NoReturn:
        row = f", row {shortened(identity)}" if identity else ""
        given = given or (repr(self.text[self.at : self.at + 40]) if self.text[self.at :] else "the end of the file")
        raise InputError(f"{self.path.name}, byte {self.byte}{row}: expected {expected}, got {given}. {ADVICE}")


def _members(path: Path) -> Iterator[_Member]:
    with _opened(path) as handle:
        window = _Window(path, handle)
        window.more()
        if window.text.startswith("\xef\xbb\xbf"):  # skip a byte order mark
            window.at = 3
        if window.skip_space() != "{":
            window.refuse("one JSON object of rows by their ids, {")
        window.at += 1
        if window.skip_space() != "}":
            while True:
                if window.skip_space() != '"':
                    window.refuse("a row's id in \"")
                start = window.byte
                identity = window.value()
                if window.skip_space() != ":":
                    window.refuse("a colon after a row's id", identity)
                window.at += 1
                window.skip_space()
                value = window.value(identity)
                yield _Member(path, start, window.byte, identity, value)
                separator = window.skip_space()
                if separator == "}":
                    break
                if separator != ",":
                    window.refuse("a comma or } after a row", identity)
                window.at += 1
        while window.skip_space() == "}":  # the excerpt published with the paper ends with an extra brace
            window.at += 1
        if window.skip_space():
            window.refuse("nothing after the last }")
