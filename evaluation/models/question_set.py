"""Prepare the questions of an output or of a user's file for a model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ...core.errors import InputError, UsageError
from ...core.output import FinishedOutput
from ..metrics.answers import read_answer
from ..metrics.items import ENDS, STARTS, SUBTITLES, given_options, options_of, read_items, read_questions
from ..tasks import KINDS, YES_NO, Task, max_new_tokens, prompts, video_of

MODALITIES = {
    "video": ("question", "video"),
    "text": ("question", "text"),
    "both": ("question", "video", "text"),
    "blind": ("question",),
    "unasked": ("video", "text"),
}
"""Parts of a prompt besides options and instructions, for each value of `--modalities`."""


@dataclass(frozen=True)
class Clip:
    """A video, or a part of one.

    Attributes:
        table: Table of the output that contains the video; "" for a user's file.
        key: Columns and values that identify the video in the table.
        start_s: Start in seconds, or None for the beginning.
        end_s: End in seconds, or None for the end.
    """

    table: str
    key: tuple[tuple[str, Any], ...]
    start_s: float | None = None
    end_s: float | None = None

    def __str__(self) -> str:
        return " ".join(str(value) for _, value in self.key)


@dataclass(frozen=True)
class Question:
    """A question with its prompt.

    Attributes:
        key: Key in the journal.
        about: Columns of the prediction besides the answer: `id`, and `config` or `setting`.
        text: The prompt with options and instructions.
        unasked: The same prompt without the question.
        options: The options, or () for an open-ended question.
        option_ids: Value of each option in predictions. If empty, the answer is written verbatim.
        clip: The clip to which the question refers, or None.
        subtitles: Subtitles of the clip, or "" if unknown.
    """

    key: str
    kind: str
    about: Mapping[str, str]
    text: str
    unasked: str
    options: tuple[str, ...]
    option_ids: tuple[str, ...]
    clip: Clip | None
    subtitles: str = ""

    @property
    def column(self) -> str:
        """Name of the column for the answer in predictions."""
        return KINDS[self.kind].answers

    @property
    def most_tokens(self) -> int:
        """Default maximum number of tokens in the answer."""
        return max_new_tokens(self.kind)

    def prompt(self, modalities: Sequence[str]) -> str:
        """Return the prompt for some modalities, without the line that introduces the frames."""
        text = self.text if "question" in modalities else self.unasked
        if "text" not in modalities or not self.subtitles:
            return text
        frame = prompts()["subtitles"]
        return f"{frame['pre_prompt']}{self.subtitles}{frame['post_prompt']}{text}"

    def predicted(self, answer: str) -> dict[str, str]:
        """Return the columns of a prediction, in the form that `stressreel score` expects."""
        if not self.option_ids:
            return {self.column: answer}
        pick = read_answer(answer, self.options)
        return {self.column: f"unreadable: {answer}" if pick is None else self.option_ids[pick], "raw": answer}


@dataclass(frozen=True)
class Scorable:
    """A part of an output that has scores of its own.

    Attributes:
        written: Whether answers are open-ended, and scored with `score open-ended`.
    """

    config: str | None
    split: str
    written: bool


@dataclass(frozen=True)
class QuestionSet:
    """The questions to ask a model, and where they come from.

    Attributes:
        path: The output, or the user's file.
        identity: Fingerprint or hash of the source, for the record of a run.
        fingerprint: Fingerprint of the output; "" for a file.
        tables: Parts that are scored separately; empty for a file.
        part: Whether some questions of these parts are omitted.
        remarks: Notes on questions that were omitted, with the reason.
    """

    path: Path
    questions: tuple[Question, ...]
    identity: dict[str, Any]
    fingerprint: str
    tables: tuple[Scorable, ...]
    part: bool
    remarks: tuple[str, ...]


def questions_of_output(
    output: FinishedOutput, tasks: Sequence[Task], *, settings: Sequence[str] = (), limit: int | None = None
) -> Iterator[Question]:
    """Yield the questions in the tasks of an output.

    `settings` are patterns for settings of a suite, such as "jpeg-*", or empty for all settings. `limit` applies to
    each task and setting.

    Raises:
        UsageError: A pattern matches no setting.
        InputError: Rows are missing.
    """
    unmatched = set(settings)
    for task in tasks:
        counts: dict[str, int] = {}
        left_out = set(task.left_out)
        kind, prompt = KINDS[task.kind], prompts()["prompts"][task.kind]
        for doc in task.docs or output.whole(task.table, None, task.split):
            setting = str(doc.get("setting", ""))
            matching = {pattern for pattern in settings if fnmatchcase(setting, pattern)}
            if (settings and not matching) or (not task.docs and str(doc[kind.id_column]) in left_out):
                continue
            unmatched -= matching
            counts[setting] = counts.get(setting, 0) + 1
            if limit is not None and counts[setting] > limit:
                continue
            name, video = str(doc[kind.id_column]), video_of(task, doc)
            yield Question(
                key="/".join(filter(None, (task.name, setting, name))),
                kind=task.kind,
                about={"id": name, **({"setting": setting} if setting else {"config": task.table})},
                text=kind.text(doc, prompt),
                unasked=kind.text({**doc, "question": ""}, prompt).lstrip(),
                options=kind.options_of(doc),
                option_ids=tuple(doc.get("option_ids", ())),
                clip=Clip(video["table"], tuple(video["key"].items())),
            )
    if unmatched:
        raise UsageError(
            f"--setting {min(unmatched)!r} matches no setting of {output.path}. Settings of a suite are, for example, "
            "clean, jpeg-3, no_verbs and jpeg-3+no_verbs; * matches anything."
        )


def questions_of_file(
    path: Path, *, limit: int | None = None, columns: Mapping[str, str] | None = None
) -> list[Question]:
    """Load the questions in a user's file of rows with `id` and `question`.

    Optional columns are `options` (or a0, a1, …; without options the answer is yes or no), `video_id` (file name
    without suffix), `start` and `end` in seconds (or `ts`, "3.1-7.5"), and `subtitles`. TVQA's columns are also
    accepted. `columns` are names in the file that differ from these.

    Raises:
        UsageError: The file does not exist.
        InputError: The file cannot be read, or a row has no question or has invalid options or times.
    """
    items = read_items(path, _no_output, judged=False, columns=columns)
    rows = read_questions(path, columns).rows[:limit]
    questions = []
    for row_number, row in enumerate(rows):
        name, question, video = items.ids[row_number], items.texts[row_number], items.videos[row_number]
        if not question:
            raise InputError(f"{path}: {name!r} has no `question`.")
        options = options_of(given_options(row), path, name)
        kind = "yes_no" if options == YES_NO else "item"
        prompt = prompts()["prompts"][kind]
        start, end = _times(row, f"{path}: {name!r}")
        subtitles = next((str(row[column]).strip() for column in SUBTITLES if row.get(column)), "")
        questions.append(
            Question(
                key=name,
                kind=kind,
                about={"id": name},
                text=KINDS[kind].text({"question": question, "options": options}, prompt),
                unasked=KINDS[kind].text({"question": "", "options": options}, prompt).lstrip(),
                options=options,
                option_ids=(),
                clip=Clip("", (("video_id", video),), start, end) if video else None,
                subtitles=subtitles,
            )
        )
    return questions


def _no_output(*_: Any) -> Any:
    raise UsageError("this is the output of a build, not a file with questions.")


def _times(row: Mapping[str, Any], what: str) -> tuple[float | None, float | None]:
    values = [next((row[name] for name in names if row.get(name) not in (None, "")), None) for names in (STARTS, ENDS)]
    if values == [None, None] and isinstance(row.get("ts"), str):
        values = [None if part.casefold() == "nan" else part for part in row["ts"].partition("-")[::2]]  # as in TVQA
    try:
        start, end = (None if value is None else float(value) for value in values)
    except (TypeError, ValueError):
        start = end = math.nan
    if any(value is not None and not (math.isfinite(value) and value >= 0) for value in (start, end)) or (
        start is not None and end is not None and start >= end
    ):
        raise InputError(
            f"{what} has start {values[0]!r} and end {values[1]!r}; expected times in seconds, with start before end."
        )
    return start, end


def chosen_modalities(names: Sequence[str], questions: Sequence[Question]) -> list[str]:
    """Return the combinations of modalities to show. By default, this is a single one with all available modalities.

    Raises:
        UsageError: A name is unknown or repeated, or requires subtitles and no question has any.
    """
    has_subtitles = any(question.subtitles for question in questions)
    chosen = list(names) or ["both" if has_subtitles else "video"]
    unknown = [name for name in chosen if name not in MODALITIES]
    if unknown or len(set(chosen)) < len(chosen):
        raise UsageError(
            f"--modalities must be some of {', '.join(MODALITIES)}, each at most once, separated by commas; got "
            f"{','.join(chosen)!r}."
        )
    needing = [name for name in chosen if name in ("text", "both")]
    if needing and not has_subtitles:
        raise UsageError(
            f"--modalities {needing[0]}: no question has subtitles (a column {SUBTITLES[0]}). Without subtitles, "
            "`video` and `blind` (only the question) are available."
        )
    return chosen
