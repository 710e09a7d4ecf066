"""Send questions to a model, store its answers, and write predictions."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from ...core.errors import BuildError, InputError, StressreelError, VideoError
from ...core.files import write_atomic
from ..metrics.predictions import REPLIED
from ..tasks import prompts
from . import AnswerError, Model, Reply, Request
from .clip_sources import ClipSource, Sampling, View
from .journal import AnswerJournal
from .question_set import MODALITIES, Clip, Question

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
