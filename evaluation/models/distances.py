"""Measure a model's attention distances on complement pairs, and compare them by its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.progress import Progress
from ...core.seeds import rng_for
from ..metrics.answers import read_answer
from ..metrics.distance_table import DistanceRow, distance_table
from ..metrics.items import Items
from ..probes.attention_distances import attention_distance
from ..probes.attention_maps import captured_attention
from ..probes.labels import as_array, labels_for
from .models import Reply, Request
from .probed import Session


@dataclass(frozen=True)
class Complement:
    """A pair of questions that have opposite correct answers.

    Attributes:
        kind: "video" for one question about a video and its complement, "text" for two questions about one video.
    """

    kind: str
    first: str
    second: str


def drawn(pairs: Sequence[Complement], asked: Sequence[str], most: int) -> list[Complement]:
    """Sample up to `most` pairs of each kind, among those whose questions are both asked."""
    known = set(asked)
    found: list[Complement] = []
    for kind in sorted({pair.kind for pair in pairs}):
        usable = [pair for pair in pairs if pair.kind == kind and {pair.first, pair.second} <= known]
        order = rng_for(0, "attention-distances", kind).permutation(len(usable))[:most]
        found += [usable[number] for number in sorted(order.tolist())]
    return found


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

    with Progress("comparing attention", len(pairs), "pair", shown=session.progress) as shown:
        for pair in pairs:
            key = _key(pair, rounds)
            if key not in journal.replies:
                (first, first_labels), (second, second_labels) = maps(pair.first), maps(pair.second)
                distance = attention_distance(first, second, first_labels, second_labels, rounds=rounds)
                names = ("value", "lowest", "undivided", "settled", "tokens")
                journal.add(key, Reply("", effect={name: float(getattr(distance, name)) for name in names}))
            shown.advance()
    return {pair: journal.replies[_key(pair, rounds)].effect or {} for pair in pairs}


def table_of(
    found: Mapping[Complement, Mapping[str, float]],
    answers: Mapping[str, str],
    items: Items,
    *,
    seed: int,
    resamples: int,
) -> tuple[DistanceRow, ...]:
    """Compare the distances of pairs with two correct answers with those of all other pairs."""
    place = {name: number for number, name in enumerate(items.ids)}

    def right(name: str) -> bool:
        number = place[name]
        return bool(read_answer(answers[name], items.options[number]) == items.truth[number])

    pairs = list(found)
    return distance_table(
        [found[pair]["value"] for pair in pairs],
        [right(pair.first) for pair in pairs],
        [right(pair.second) for pair in pairs],
        [pair.kind for pair in pairs],
        [items.sources[place[pair.first]] for pair in pairs],
        seed=seed,
        resamples=resamples,
    )


def _key(pair: Complement, rounds: int | None) -> str:
    return f"distance, {rounds} rounds|{pair.kind}|{pair.first}|{pair.second}"
