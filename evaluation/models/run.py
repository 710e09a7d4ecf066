"""Send questions to a model, store its answers, and write its predictions; in a dry run, only count the requests."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from ...core.errors import BuildError, InputError, StressreelError, VideoError
from ...core.files import write_atomic, write_json
from ...core.progress import Progress
from ...core.results import Result, Table
from ..metrics.answers import read_answer
from ..metrics.predictions import REPLIED
from ..tasks import prompts
from . import AnswerError, Model, Reply, Request
from .clip_sources import ClipSource, Sampling, View
from .journal import AnswerJournal
from .question_set import MODALITIES, Clip, Question, QuestionSet

CHARACTERS_PER_TOKEN = 4
SHOWN = {"video": "video", "text": "text", "both": "video+text"}  # names used by `score modalities`
FAILED_SHOWN = 5
Prices = tuple[float, float]

T = TypeVar("T")
MOST_FAILURES = 10  # consecutive requests without an answer after which a run stops
ROLE = re.compile(r"\A(\s|<[^<>]{1,40}>)*(assistant|model)\s*[:\n]\s*", re.IGNORECASE)
"""Text that a chat template inserts between the prompt and the answer."""


@dataclass(frozen=True)
class Call:
    """A question to ask with certain modalities.

    Attributes:
        condition: Name of the probing condition, or "".
    """

    question: Question
    modalities: str
    condition: str = ""

    @property
    def key(self) -> str:
        """Key of the answer in the journal."""
        return f"{self.condition or self.modalities}|{self.question.key}"

    @property
    def clip(self) -> Clip | None:
        """The clip to show, or None."""
        return self.question.clip if "video" in MODALITIES[self.modalities] else None

    @property
    def text(self) -> str:
        """The prompt, with subtitles if the modalities include text."""
        return self.question.prompt(MODALITIES[self.modalities])


@dataclass(frozen=True)
class AskSettings:
    """Settings that apply to all calls.

    Attributes:
        whole: Whether to send the video file instead of frames.
        max_tokens: Maximum number of tokens per answer, or None for the default of each kind of question.
    """

    sampling: Sampling = Sampling()
    whole: bool = False
    max_tokens: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the settings for the record of a run, with version and hash of the prompts."""
        serialized = json.dumps(prompts(), sort_keys=True)
        input_settings = {"video": True} if self.whole else self.sampling.as_json()
        return {
            "shown": input_settings,
            "max_tokens": self.max_tokens,
            "prompts": {"version": prompts()["version"], "sha256": hashlib.sha256(serialized.encode()).hexdigest()},
        }


def calls_of(questions: Sequence[Question], chosen: Sequence[str]) -> list[Call]:
    """Return a call for every question and modality, or raise InputError if two questions have the same key."""
    repeated = [key for key, count in Counter(question.key for question in questions).items() if count > 1]
    if repeated:
        raise InputError(f"two questions have the id {repeated[0]!r}. Ids must be unique.")
    return [Call(question, name) for name in chosen for question in questions]


def by_clip(calls: Sequence[Call]) -> Iterator[tuple[Clip | None, list[Call]]]:
    """Group calls by clip, in order of first occurrence, so that each clip is decoded only once."""
    ranks = {clip: rank for rank, clip in reversed([*enumerate(call.clip for call in calls)])}
    ordered = sorted(calls, key=lambda call: ranks[call.clip])
    for clip, group in groupby(ordered, key=lambda call: call.clip):
        yield clip, list(group)


def ask(
    calls: Sequence[Call],
    model: Model,
    clips: ClipSource | None,
    settings: AskSettings,
    journal: AnswerJournal,
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, str]:
    """Send the calls that have no answer in the journal yet.

    `clips` is None if no video is shown. `progress` is called with the number of calls just finished.

    Returns:
        For each failed call, its key and the reason, in the order of the calls.

    Raises:
        StressreelError: Every request would fail, or the last ones all failed.
    """
    unanswered = [call for call in calls if call.key not in journal.replies]
    progress(len(calls) - len(unanswered))
    failures = _finished(_ask(unanswered, model, clips, settings, journal, progress))
    return {call.key: failures[call.key] for call in unanswered if call.key in failures}


def _finished(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine, using another thread if an event loop is running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    try:
        with ThreadPoolExecutor(1) as pool:
            try:
                return pool.submit(loop.run_until_complete, task).result()
            except BaseException:
                loop.call_soon_threadsafe(task.cancel)
                raise
    finally:
        loop.close()


async def _ask(
    calls: Sequence[Call],
    model: Model,
    clips: ClipSource | None,
    settings: AskSettings,
    journal: AnswerJournal,
    progress: Callable[[int], None],
) -> dict[str, str]:
    failures: dict[str, str] = {}
    in_a_row = 0
    slots = asyncio.Semaphore(model.at_once)

    def failed(call: Call, error: StressreelError, *, sent: bool = True) -> None:
        nonlocal in_a_row
        failures[call.key] = str(error)
        in_a_row += sent
        progress(1)
        if in_a_row >= MOST_FAILURES:
            raise BuildError(
                f"the last {in_a_row} requests received no answer. The last one failed with: {error} The answers so "
                "far are kept. Fix the cause and run the same command again."
            )

    async def send(call: Call, view: View | None) -> None:
        nonlocal in_a_row
        try:
            reply = await model.reply(
                Request(call.text, view, settings.max_tokens or call.question.most_tokens, call.condition)
            )
        except AnswerError as error:
            failed(call, error)
        else:
            in_a_row = 0
            journal.add(call.key, reply)
            progress(1)
        finally:
            slots.release()

    try:
        async with asyncio.TaskGroup() as tasks:
            for clip, group in by_clip(calls):
                view = None
                if clip is not None and clips is not None:
                    try:
                        view = await asyncio.to_thread(clips.view, clip, settings.sampling, whole=settings.whole)
                    except VideoError as error:
                        for call in group:
                            failed(call, error, sent=False)
                        continue
                for call in group:
                    await slots.acquire()
                    tasks.create_task(send(call, view))
            await asyncio.sleep(0)  # lets the last tasks hand over their requests
            await model.finish()
    except BaseExceptionGroup as group:
        first = group.exceptions[0]
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None
    finally:
        await model.close()
    return failures


def after_prompt(text: str, prompt: str) -> str:
    """Return an answer without the prompt that some servers repeat before it."""
    _, repeated, rest = text.rpartition(prompt.strip())
    return ROLE.sub("", rest) if repeated else text


def predictions(calls: Sequence[Call], replies: Mapping[str, Reply], fingerprint: str) -> list[dict[str, str | bool]]:
    """Return the answers to calls as rows that `stressreel score` reads, in the order of the calls.

    Questions about the same item (its answer, its explanation) share a row. Questions without an answer are omitted;
    a row with an empty reply is marked, because its empty text is an answer.
    """
    rows: dict[tuple[tuple[str, str], ...], dict[str, str | bool]] = {}
    for call in calls:
        question, reply = call.question, replies.get(call.key)
        if reply is not None:
            row = rows.setdefault(tuple(question.about.items()), dict(question.about))
            row |= question.predicted(after_prompt(reply.text, call.text))
            if not all(str(value).strip() for value in row.values()):
                row[REPLIED] = True
            if fingerprint:
                row["fingerprint"] = fingerprint
    return list(rows.values())


def write_predictions(path: Path, calls: Sequence[Call], journal: AnswerJournal, fingerprint: str) -> None:
    """Write the answers to calls as JSON lines that `stressreel score` reads."""
    rows = predictions(calls, journal.replies, fingerprint)
    write_atomic(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def cost_of(sent: int, answered: int, prices: tuple[float, float]) -> float:
    """Return the cost of a run, given the prices per million input and output tokens."""
    return (sent * prices[0] + answered * prices[1]) / 1e6


@dataclass(frozen=True)
class ModelAnswers(Result):
    """The answers of a model, or the counts of a dry run.

    Attributes:
        table: File and number of answers by modalities. For a dry run, the counts.
        record: Data stored beside the predictions: model, sampling, requests and tokens. For a dry run, the counts.
        files: Prediction files by modalities. Empty for a dry run.
        commands: Command lines that score the files.
        notes: Notes on questions that were omitted, with the reason.
    """

    table: Table
    record: Mapping[str, Any]
    lines: tuple[str, ...]
    files: Mapping[str, Path]
    commands: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def as_tables(self) -> tuple[Table, ...]:
        """Return the table of answers or counts as the only element of a tuple."""
        return (self.table,)

    def as_json(self) -> dict[str, Any]:
        """Return the record of the run."""
        return dict(self.record)

    def __str__(self) -> str:
        return "\n".join([*self.lines, *([""] if self.commands else []), *self.commands])


def plan(
    questions: QuestionSet,
    calls: Sequence[Call],
    clips: ClipSource | None,
    settings: AskSettings,
    prices: Prices | None = None,
) -> ModelAnswers:
    """Count the requests, images and approximate tokens of a run, without sending anything.

    `prices` are prices per million input tokens and per million output tokens.
    """
    text = sum(len(call.text) for call in calls) // CHARACTERS_PER_TOKEN
    with_clip = [call for call in calls if call.clip is not None]
    num_clips = len({call.clip for call in with_clip})
    lines = [f"{len(calls):,} requests, {num_clips:,} clips"]
    frame_tokens = pictures = 0
    if with_clip and clips is not None and settings.whole:
        lines.append(f"{len(with_clip):,} whole videos; their number of tokens depends on the model")
    elif with_clip and clips is not None:
        first = next(clip for clip, _ in by_clip(with_clip) if clip is not None)
        pictures = settings.sampling.frames * len(with_clip)
        try:
            view = clips.view(first, settings.sampling, whole=False)
            pictures = len(view.pictures) * len(with_clip)
            frame_tokens = view.tokens * len(with_clip)
            size = f", {view.pictures[0].shape[1]} x {view.pictures[0].shape[0]} pixels in the first clip"
        except VideoError as error:
            size = f"; the first clip cannot be decoded: {error}"
        lines.append(f"{pictures:,} frames{size}")
    most_output = sum(settings.max_tokens or call.question.most_tokens for call in calls)
    lines.append(
        f"about {text:,} text tokens (4 characters each) and {frame_tokens:,} frame tokens (28 x 28 pixels each, if "
        f"all clips are of this size); at most {most_output:,} output tokens"
    )
    counts: dict[str, int | float] = {
        "requests": len(calls),
        "clips": num_clips,
        "pictures": pictures,
        "tokens of text": text,
        "tokens of pictures": frame_tokens,
        "tokens of answers": most_output,
    }
    if prices:
        counts["cost"] = cost_of(text + frame_tokens, most_output, prices)
        lines.append(f"at most about {counts['cost']:,.2f} at the given prices")
    table = Table("plan", "Requests of this run, at most", tuple(counts), (tuple(counts.values()),))
    return ModelAnswers(table, counts, tuple(lines), {}, notes=questions.remarks)


def prediction_files(target: Path, modalities: Sequence[str]) -> tuple[dict[str, Path], Path]:
    """Return the predictions file of each combination of modalities, and the journal; `target` is a file or folder."""
    if len(modalities) == 1:
        return {modalities[0]: target}, target.with_suffix(".journal")
    return {name: target / f"{SHOWN.get(name, name)}.jsonl" for name in modalities}, target / "answers.journal"


def answer(
    questions: QuestionSet,
    calls: Sequence[Call],
    model: Model,
    clips: ClipSource | None,
    settings: AskSettings,
    files: Mapping[str, Path],
    journal_path: Path,
    *,
    prices: Prices | None = None,
    partial: bool = False,
    fresh: bool = False,
    progress: bool = True,
) -> ModelAnswers:
    """Ask a model, and write its predictions (`files`, by modalities) and the record of the run.

    The journal stores every answer on arrival. With `fresh`, earlier answers are discarded. With `partial`, predictions
    are written even if some questions have no answer.

    Raises:
        BuildError: Some questions have no answer, and `partial` is false.
    """
    about = {**questions.identity, **model.about, **settings.as_json()}
    with AnswerJournal(journal_path, about, fresh=fresh) as journal:
        with Progress("asking", len(calls), "question", shown=progress) as bar:
            failures = ask(calls, model, clips, settings, journal, progress=bar.advance)
        replies = {call.key: journal.replies[call.key] for call in calls if call.key in journal.replies}
        received = list(replies.values())
        cut = sum(reply.cut for reply in received)
        sent, generated = (
            sum(getattr(reply, name) or 0 for reply in received) for name in ("input_tokens", "output_tokens")
        )
        if failures and not (partial and replies):
            reasons = "; ".join(f"{key}: {reason}" for key, reason in [*failures.items()][:FAILED_SHOWN])
            raise BuildError(
                f"{len(failures):,} of {len(calls):,} requests received no answer ({reasons}). The other answers are "
                f"kept in {journal_path}. Run the same command again to retry these, or add --partial to write the "
                "rest."
            )
        for name, file in files.items():
            write_predictions(file, [call for call in calls if call.modalities == name], journal, questions.fingerprint)
        uncounted = sum(reply.input_tokens is None or reply.output_tokens is None for reply in received)
        record = {
            **about,
            "modalities": list(files),
            "asked": len(questions.questions),
            "requests": {"answered": len(received), "failed": len(failures), "cut": cut},
            "tokens": {"sent": sent, "answered": generated, "uncounted": uncounted},
            "models": sorted({reply.model for reply in received} - {""}),
        }
        if prices:
            record |= {"prices": list(prices), "cost": cost_of(sent, generated, prices)}
        write_json(journal_path.with_suffix(".json"), record)
    unreadable = [call for call in calls if call.key in replies and not _read(call, replies[call.key])]
    lines = [
        f"{len(received):,} answers, {len(unreadable):,} of them unreadable, {cut:,} cut short; "
        f"{sent:,} tokens sent, {generated:,} answered" + (f", cost {record['cost']:,.4f}" if prices else "")
    ]
    if failures:
        lines.append(f"{len(failures):,} requests got no answer; their questions are omitted (score with --partial).")
    rows = []
    for name, file in files.items():
        keys = [call.key for call in calls if call.modalities == name]
        answered = [replies[key] for key in keys if key in replies]
        num_unreadable, num_cut = sum(call.modalities == name for call in unreadable), sum(r.cut for r in answered)
        rows.append((name, str(file), len(answered), num_unreadable, num_cut, len(keys) - len(answered)))
    headings = ("modalities", "file", "answers", "unreadable", "cut short", "no answer")
    commands = score_commands(questions, files, partial=bool(failures) or questions.part)
    table = Table("answers", f"Answers to {questions.path}", headings, tuple(rows))
    return ModelAnswers(table, record, tuple(lines), files, tuple(commands), questions.remarks)


def _read(call: Call, reply: Reply) -> bool:
    options = call.question.options
    text = after_prompt(reply.text, call.text)
    return read_answer(text, options) is not None if options else bool(text.strip())


def score_commands(questions: QuestionSet, files: Mapping[str, Path], *, partial: bool) -> list[str]:
    """Return the commands that score the predictions."""
    out = shlex.quote(str(questions.path))
    if files.keys() >= SHOWN.keys() and not partial:
        arguments = " ".join(f"{label}={shlex.quote(str(files[name]))}" for name, label in SHOWN.items())
        return [f"stressreel score modalities {out} {arguments}"]
    flags = " --partial" * partial
    commands = []
    for file in files.values():
        for part in questions.tables:
            kind = "score open-ended" if part.written else "score"
            config = f" --config {part.config}" if part.config and not part.written else ""
            arguments = f"--predictions {shlex.quote(str(file))}{config}"
            commands.append(f"stressreel {kind} {out} {arguments} --split {part.split}{flags}")
    return commands
