"""Write a model's predictions and a record of the run, or count the requests of a dry run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import BuildError, VideoError
from ...core.files import write_json
from ...core.progress import Progress
from ...core.results import Result, Table
from ..metrics.answers import read_answer
from . import Model, Reply
from .clip_sources import ClipSource
from .journal import AnswerJournal
from .question_set import QuestionSet
from .run import AskSettings, Call, after_prompt, ask, by_clip, cost_of, write_predictions

CHARACTERS_PER_TOKEN = 4
SHOWN = {"video": "video", "text": "text", "both": "video+text"}  # names used by `score modalities`
FAILED_SHOWN = 5
Prices = tuple[float, float]


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
