"""Ask a local model questions while its attention is short-circuited (QUAG) or a modality is missing.

Rawal et al. 2024, "Dissecting Multimodality in VideoQA Transformer Models by Impairing Modality Fusion", §2.3, Table 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...core.errors import BuildError, UsageError
from ...core.progress import Progress
from ..probes import quag
from ..probes.labels import labels_for
from ..probes.quadrants import OPERATORS, SHORT_CIRCUITS, QuagReport, checked_operator
from . import Reply, Request
from .clip_sources import ClipSource
from .journal import AnswerJournal
from .local import LocalModel
from .question_set import Question, QuestionSet
from .run import AskSettings, Call, ask, write_predictions

BASELINE = "baseline"
PAPERS = ("unimodal", "crossmodal", "video", "text")


@dataclass(frozen=True)
class Condition:
    """A condition under which a model is asked.

    Attributes:
        modalities: Modalities that are shown, a key of `question_set.MODALITIES`.
        short_circuit: Name of the attention's short-circuit, or "".
    """

    name: str
    modalities: str
    short_circuit: str = ""
    operator: str = ""


def conditions(short_circuits: Sequence[str], operators: Sequence[str], usual: str) -> list[Condition]:
    """Return the conditions in the paper's Table 1: the baseline, removed inputs, and short-circuits.

    `short_circuits` contains names from `evaluation.probes.quadrants.SHORT_CIRCUITS`, or only "all", which selects the
    four of the paper.
    `usual` contains the modalities of the baseline: "video", or "both" with subtitles.

    Raises:
        UsageError: A name is unknown or repeated.
    """
    selected = PAPERS if [*short_circuits] == ["all"] else short_circuits
    allowed = [name for name in SHORT_CIRCUITS if name != "all"]
    if set(selected) - set(allowed) or len(set(selected)) < len(selected):
        raise UsageError(
            f"--short-circuits must be `all`, or some of {', '.join(allowed)}, separated by commas; got "
            f"{','.join(selected)!r}."
        )
    names = [checked_operator(name) for name in operators]
    if len(set(names)) < len(names):
        raise UsageError(
            f"--operators {','.join(names)!r} contains an operator twice. Allowed: {', '.join(OPERATORS)}."
        )
    return [
        Condition(BASELINE, usual),
        Condition("language-only", "text" if usual == "both" else "blind"),
        Condition("video-only", "unasked"),
        *(Condition(f"{name}-{operator}", usual, name, operator) for operator in names for name in selected),
    ]


def calls_under(tested: Sequence[Condition], questions: Sequence[Question]) -> list[Call]:
    """Return the calls of all conditions. Prompts that do not contain the question are not repeated without it."""
    return [
        Call(question, condition.modalities, condition.name)
        for condition in tested
        for question in questions
        if condition.modalities != "unasked" or question.unasked != question.text
    ]


def effect_of(report: QuagReport) -> dict[str, float]:
    """Return `moved`, and the mean share of attention in each quadrant before the short-circuit."""
    layers = report.layers
    shares: dict[str, float] = {}
    for layer in layers:
        for name, share in layer.quadrants.items():
            shares[name] = shares.get(name, 0.0) + share.before / len(layers)
    return {"moved": report.moved, **shares}


def mean_effects(calls: Sequence[Call], replies: Mapping[str, Reply]) -> dict[str, dict[str, float]]:
    """Return the mean effect of each condition that has a short-circuit."""
    by_condition: dict[str, list[Mapping[str, float]]] = {}
    for call in calls:
        reply = replies.get(call.key)
        if reply is not None and reply.effect is not None:
            by_condition.setdefault(call.condition, []).append(reply.effect)
    return {
        condition: {
            name: sum(effect.get(name, 0.0) for effect in effects) / len(effects)
            for name in sorted(set().union(*effects))
        }
        for condition, effects in by_condition.items()
    }


@dataclass
class ProbedModel:
    """A local model that is asked under several conditions. It implements `models.Model`.

    Attributes:
        layers: Attention modules to impair; see `probes.quag`. None for all fusion layers.
    """

    local: LocalModel
    conditions: Mapping[str, Condition]
    layers: Sequence[str | int] | None = None
    at_once: int = 1

    @property
    def about(self) -> Mapping[str, Any]:
        """Properties that determine the answers, for the record of a run."""
        return {**self.local.about, "layers": None if self.layers is None else list(self.layers)}

    async def reply(self, request: Request) -> Reply:
        """Answer a request under its condition.

        Raises:
            AnswerError: The processor or the model fails.
            InputError: The modalities of the tokens are unknown.
            ProbeError: A layer was not reached.
        """
        condition = self.conditions[request.condition]
        inputs = self.local.inputs(request)
        if not condition.short_circuit:
            return self.local.generate(inputs, [request.max_tokens])[0]
        labels = labels_for(self.local.model.config, inputs)
        with quag(
            self.local.model, condition.short_circuit, modality=labels, operator=condition.operator, layers=self.layers
        ) as report:
            (reply,) = self.local.generate(inputs, [request.max_tokens])
        return replace(reply, effect=effect_of(report))

    async def finish(self) -> None:
        """Do nothing, because requests are never batched."""

    async def close(self) -> None:
        """Do nothing, because there are no connections."""


@dataclass(frozen=True)
class Session:
    """The questions to a model under all conditions, and the journal of its answers."""

    questions: QuestionSet
    calls: Sequence[Call]
    model: ProbedModel
    clips: ClipSource
    settings: AskSettings
    journal: AnswerJournal
    progress: bool

    def by_condition(self) -> dict[str, list[Call]]:
        """Return the calls under each condition that has any."""
        names = dict.fromkeys(call.condition for call in self.calls)
        return {name: [call for call in self.calls if call.condition == name] for name in names}

    def baseline(self) -> dict[str, Call]:
        """Return the calls to the unchanged model, by the id of the question."""
        return {call.question.about["id"]: call for call in self.by_condition()[BASELINE]}


def ask_all(session: Session, folder: Path) -> None:
    """Ask the model under all conditions, and write its predictions to a folder, one file per condition.

    Raises:
        BuildError: Some questions have no answer.
    """
    calls, journal = session.calls, session.journal
    with Progress("probing", len(calls), "question", shown=session.progress) as bar:
        failures = ask(calls, session.model, session.clips, session.settings, journal, progress=bar.advance)
    if failures:
        key, reason = next(iter(failures.items()))
        raise BuildError(
            f"{len(failures):,} of {len(calls):,} questions received no answer; the first is {key}: {reason} The "
            "other answers are kept; run the same command again to ask these."
        )
    for name, of_condition in session.by_condition().items():
        write_predictions(folder / f"{name}.jsonl", of_condition, journal, session.questions.fingerprint)
