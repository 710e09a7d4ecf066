"""What is asked: the questions of an output's tasks, or of a user's file, as a model gets them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ...core.errors import InputError, UsageError
from ...core.output import FinishedOutput
from .. import lmms_eval_utils
from ..metrics.answers import read_answer
from ..metrics.items import given_options, options_of, read_items
from ..metrics.predictions import read_predictions
from ..tasks import KINDS, YES_NO, Doc, Task, max_new_tokens, prompts, video_of

SUBTITLES = ("subtitles", "subtitle", "transcript", "sub_text")
STARTS, ENDS = ("start_s", "start"), ("end_s", "end")
MODALITIES = {
    "video": ("question", "video"),
    "text": ("question", "text"),
    "both": ("question", "video", "text"),
    "blind": ("question",),
    "unasked": ("video", "text"),
}
"""What a model gets beside options and instructions, by the name of the choice."""


@dataclass(frozen=True)
class Clip:
    """A video, or a part of one.

    Attributes:
        table: The table of the output that has it; "" for a file of the user's.
        key: What names it there: columns and values.
        start_s: Where the part starts, seconds; None: at the beginning.
        end_s: Where it ends; None: at the end.
    """

    table: str
    key: tuple[tuple[str, Any], ...]
    start_s: float | None = None
    end_s: float | None = None

    def __str__(self) -> str:
        """Name it for a message."""
        return " ".join(str(value) for _, value in self.key)


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        key: What it is known by in the journal.
        kind: One of `evaluation.tasks.KINDS`.
        about: What its prediction says besides the answer: `id`, and `config` or `setting`.
        text: What is asked, options and instructions included.
        unasked: The same without the question.
        options: Its options; empty if it is answered in words.
        option_ids: What stands for each option in predictions; empty: the answer as it was given does.
        clip: The video; None if there is none.
        subtitles: What is said in it; "" where nothing is known.
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
        """The column of predictions that the answer is for."""
        return KINDS[self.kind].answers

    @property
    def most_tokens(self) -> int:
        """How long an answer may be by default, in tokens."""
        return max_new_tokens(self.kind)

    def prompt(self, modalities: Sequence[str]) -> str:
        """Return the whole text under a choice of modalities, without the frames' own line."""
        text = self.text if "question" in modalities else self.unasked
        if "text" not in modalities or not self.subtitles:
            return text
        frame = prompts()["subtitles"]
        return f"{frame['pre_prompt']}{self.subtitles}{frame['post_prompt']}{text}"

    def predicted(self, answer: str) -> dict[str, str]:
        """Return the columns of predictions that an answer makes: what `stressreel score` reads, and what was said."""
        if not self.option_ids:
            return {self.column: answer}
        pick = read_answer(answer, self.options)
        return {self.column: f"unreadable: {answer}" if pick is None else self.option_ids[pick], "raw": answer}


@dataclass(frozen=True)
class Scorable:
    """What of an output is scored by itself.

    Attributes:
        config: The table; None if there is one score for all that is asked.
        split: The split.
        written: Whether its answers are in words, for `score open-ended`.
    """

    config: str | None
    split: str
    written: bool


@dataclass(frozen=True)
class QuestionSet:
    """The questions that are asked, and where they are from.

    Attributes:
        path: The output, or the user's file.
        questions: The questions.
        identity: What they are of, for the record: a fingerprint, or a hash.
        fingerprint: The output's; "" of a file.
        tables: What is scored by itself; empty for a file.
        part: Whether not all questions of these are asked.
        remarks: What is not asked, and why.
    """

    path: Path
    questions: tuple[Question, ...]
    identity: dict[str, Any]
    fingerprint: str
    tables: tuple[Scorable, ...]
    part: bool
    remarks: tuple[str, ...]


def wording(kind: str) -> Callable[[Doc], str]:
    """Return what writes the text of a kind's questions: the function that harnesses use, with its prompt."""
    write = getattr(lmms_eval_utils, f"{KINDS[kind].text}_text")
    prompt = prompts()["prompts"][kind]
    return lambda doc: str(write(doc, prompt))


def questions_of_output(
    output: FinishedOutput, tasks: Sequence[Task], *, settings: Sequence[str] = (), limit: int | None = None
) -> Iterator[Question]:
    """Return the questions of an output's tasks.

    Args:
        output: The output.
        tasks: Its tasks.
        settings: Patterns of settings, such as "jpeg-*"; none: all. Only suites have settings.
        limit: The first so many of each task, or of each setting of a task.

    Raises:
        UsageError: No setting matches a pattern.
        InputError: Rows are missing.
    """
    unmatched = set(settings)
    for task in tasks:
        counts: dict[str, int] = {}
        left_out = set(task.left_out)
        kind, text = KINDS[task.kind], wording(task.kind)
        for doc in task.docs or output.whole(task.table, None, task.split):
            setting = str(doc.get("setting", ""))
            matching = {pattern for pattern in settings if fnmatchcase(setting, pattern)}
            if (settings and not matching) or (not task.docs and str(doc[kind.id_column]) in left_out):
                continue
            unmatched -= matching
            counts[setting] = counts.get(setting, 0) + 1
            if limit is not None and counts[setting] > limit:
                continue
            name, place = str(doc[kind.id_column]), video_of(task, doc)
            yield Question(
                key="/".join(filter(None, (task.name, setting, name))),
                kind=task.kind,
                about={"id": name, **({"setting": setting} if setting else {"config": task.table})},
                text=text(doc),
                unasked=text({**doc, "question": ""}).lstrip(),
                options=tuple(doc[kind.options]) if kind.options else kind.fixed,
                option_ids=tuple(doc.get("option_ids", ())),
                clip=Clip(place["table"], tuple(place["key"].items())),
            )
    if unmatched:
        raise UsageError(
            f"--setting {min(unmatched)!r} matches no setting of {output.path}. Settings are those of a suite, such as "
            "clean, jpeg-3, no_verbs or jpeg-3+no_verbs; * stands for anything."
        )


def questions_of_file(path: Path, *, limit: int | None = None) -> list[Question]:
    """Read the questions of a user's file.

    Args:
        path: CSV, JSON, JSON lines or Parquet: `id`, `question`; where there are some `options` (or a0, a1, …), without
            them the answer is yes or no; `video_id` (a file's name without its ending), `start` and `end` in seconds
            (or `ts`, "3.1-7.5"); `subtitles`. Columns are those of TVQA, too.
        limit: The first so many.

    Raises:
        UsageError: No such file.
        InputError: It cannot be read, or a row has no question, odd options or odd times.
    """
    items = read_items(path, _no_output, judged=False)
    rows = read_predictions(path).rows[:limit]
    found = []
    for number, row in enumerate(rows):
        name, question, video = items.ids[number], items.texts[number], items.videos[number]
        if not question:
            raise InputError(f"{path}: {name!r} has no `question`.")
        options = options_of(given_options(row), path, name)
        kind = "yes_no" if options == YES_NO else "item"
        start, end = _times(row, f"{path}: {name!r}")
        said = next((str(row[column]).strip() for column in SUBTITLES if row.get(column)), "")
        found.append(
            Question(
                key=name,
                kind=kind,
                about={"id": name},
                text=wording(kind)({"question": question, "options": options}),
                unasked=wording(kind)({"question": "", "options": options}).lstrip(),
                options=options,
                option_ids=(),
                clip=Clip("", (("video_id", video),), start, end) if video else None,
                subtitles=said,
            )
        )
    return found


def _no_output(*_: Any) -> Any:
    raise UsageError("this is the output of a build, not a file of questions.")


def _times(row: Mapping[str, Any], what: str) -> tuple[float | None, float | None]:
    """Read where the part of a video lies that a row is about."""
    given = [next((row[name] for name in names if row.get(name) not in (None, "")), None) for names in (STARTS, ENDS)]
    if given == [None, None] and isinstance(row.get("ts"), str):
        given = [None if part.casefold() == "nan" else part for part in row["ts"].partition("-")[::2]]  # as TVQA has it
    try:
        start, end = (None if value is None else float(value) for value in given)
    except (TypeError, ValueError):
        start = end = math.nan
    if any(value is not None and not (math.isfinite(value) and value >= 0) for value in (start, end)) or (
        start is not None and end is not None and start >= end
    ):
        raise InputError(f"{what} has start and end {given[0]!r} and {given[1]!r}; expected seconds, start before end.")
    return start, end


def chosen_modalities(named: Sequence[str], questions: Sequence[Question]) -> list[str]:
    """Return the modalities to ask under, by default all that there is.

    Raises:
        UsageError: An unknown one, one named twice, or "text" where no question has subtitles.
    """
    spoken = any(question.subtitles for question in questions)
    chosen = list(named) or ["both" if spoken else "video"]
    unknown = [name for name in chosen if name not in MODALITIES]
    if unknown or len(set(chosen)) < len(chosen):
        raise UsageError(
            f"--modalities {','.join(chosen)!r}: allowed are {', '.join(MODALITIES)}, each once, between commas."
        )
    needing = [name for name in chosen if name in ("text", "both")]
    if needing and not spoken:
        raise UsageError(
            f"--modalities {needing[0]}: no question has subtitles (a column {SUBTITLES[0]}). Without them there are "
            "video, and blind: the question alone."
        )
    return chosen
