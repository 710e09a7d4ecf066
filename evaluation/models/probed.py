"""Ask a local model questions while its attention is short-circuited (QUAG) or a modality is missing.

Rawal et al. 2024, "Dissecting Multimodality in VideoQA Transformer Models by Impairing Modality Fusion", §2.3, Table 1.
The model's attention distances on complement pairs (§B.7) are measured here too, and compared by its answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ...core.errors import BuildError, InputError, UsageError
from ...core.progress import Progress
from ...core.seeds import rng_for
from ..metrics.answers import read_answer
from ..metrics.distance_table import DistanceRow, distance_table
from ..metrics.items import Items
from ..probes.attention_distances import attention_distance
from ..probes.attention_maps import captured_attention
from ..probes.labels import as_array, labels_for
from ..probes.quadrants import OPERATORS, SHORT_CIRCUITS, QuagReport, checked_operator
from ..probes.short_circuits import quag
from .clip_sources import ClipSource
from .interface import Reply, Request
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
    """A local model that is asked under several conditions. It implements `interface.Model`.

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


@dataclass(frozen=True)
class Complement:
    """A pair of questions that have opposite correct answers.

    Attributes:
        kind: "video" for one question about a video and its complement, "text" for two questions about one video.
    """

    kind: str
    first: str
    second: str


def drawn(pairs: Sequence[Complement], asked_ids: Sequence[str], most: int) -> list[Complement]:
    """Sample up to `most` pairs of each kind, among those whose questions are both asked."""
    ids = set(asked_ids)
    sampled: list[Complement] = []
    for kind in sorted({pair.kind for pair in pairs}):
        usable = [pair for pair in pairs if pair.kind == kind and {pair.first, pair.second} <= ids]
        order = rng_for(0, "attention-distances", kind).permutation(len(usable))[:most]
        sampled += [usable[index] for index in sorted(order.tolist())]
    return sampled


def measure_distances(
    session: Session, pairs: Sequence[Complement], rounds: int | None
) -> dict[Complement, Mapping[str, float]]:
    """Measure the attention distances of complement pairs that the journal does not contain yet.

    `rounds` is explained at `attention_distance`.

    Returns:
        For each pair `value` (divided by √tokens), `lowest`, `undivided`, `settled` and `tokens`.

    Raises:
        VideoError: A clip cannot be decoded.
        InputError: The modalities of tokens are unknown, or the model keeps them in separate sequences.
        ProbeError: A layer was not reached.
    """
    local, journal, calls = session.model.local, session.journal, session.baseline()

    def maps(name: str) -> tuple[Sequence[NDArray[Any]], NDArray[Any]]:
        call = calls[name]
        view = None if call.clip is None else session.clips.view(call.clip, session.settings.sampling, whole=False)
        inputs = local.inputs(Request(call.text, view, 1))
        labels = labels_for(local.model.config, inputs)
        if isinstance(labels, list):
            raise InputError(
                "--attention-distances needs a model with one sequence of video and text tokens; this one keeps its "
                "modalities in separate sequences."
            )
        with captured_attention(local.model, session.model.layers) as captured:
            local.read(inputs)
        return captured.maps(), as_array(labels)[0]

    with Progress("comparing attention", len(pairs), "pair", shown=session.progress) as bar:
        for pair in pairs:
            key = _key(pair, rounds)
            if key not in journal.replies:
                (first, first_labels), (second, second_labels) = maps(pair.first), maps(pair.second)
                distance = attention_distance(first, second, first_labels, second_labels, rounds=rounds)
                names = ("value", "lowest", "undivided", "settled", "tokens")
                journal.add(key, Reply("", effect={name: float(getattr(distance, name)) for name in names}))
            bar.advance()
    return {pair: journal.replies[_key(pair, rounds)].effect or {} for pair in pairs}


def table_of(
    distances: Mapping[Complement, Mapping[str, float]],
    answers: Mapping[str, str],
    items: Items,
    *,
    seed: int,
    resamples: int,
) -> tuple[DistanceRow, ...]:
    """Compare the distances of pairs with two correct answers with those of all other pairs."""
    rows = {name: row for row, name in enumerate(items.ids)}

    def right(name: str) -> bool:
        row = rows[name]
        return bool(read_answer(answers[name], items.options[row]) == items.truth[row])

    pairs = list(distances)
    return distance_table(
        [distances[pair]["value"] for pair in pairs],
        [right(pair.first) for pair in pairs],
        [right(pair.second) for pair in pairs],
        [pair.kind for pair in pairs],
        [items.sources[rows[pair.first]] for pair in pairs],
        seed=seed,
        resamples=resamples,
    )


def _key(pair: Complement, rounds: int | None) -> str:
    return f"distance, {rounds} rounds|{pair.kind}|{pair.first}|{pair.second}"
