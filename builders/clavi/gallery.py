"""Lay out the gallery of a CLAVI output: the two videos of each pair side by side, with their questions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ...core.output import FinishedOutput
from ...core.schema import Row
from ...data_cards.gallery.answers import Answers, JudgedAnswer, answer_json, judged
from ...data_cards.gallery.exhibits import Exhibit, ExhibitQuestion, Facet, Film, Gallery
from ...evaluation.metrics.items import ALL, read_columns, read_whole
from .pairs import PIECES, relation_of
from .scores import RELEASED_Q, RELEASED_Q_PRIME, VARIANT_STEP
from .scores import VARIANTS as SHORT
from .tables import ANSWERS, PAIRS, QUESTIONS, VARIANTS, VIDEOS, items

FILM_COLUMNS = ("video_id", "pair_id", "variant", "sha256")
CONTROLS = ("E-NC", "BA-NC", "W-NC")
FACETS = (Facet("split", "Split"), Facet("class", "Action"), Facet("source", "Source"))
ASKED_FACETS = (
    Facet("type", "Type"),
    Facet("video", "Video"),
    Facet("wording", "Wording"),
    Facet("subset", "Subset"),
)


def gallery(output: FinishedOutput, answers: Answers) -> Gallery:
    """Return a gallery with an exhibit for each pair; see `data_cards.gallery.exhibits`."""
    pairs, splits = read_whole(output, PAIRS.name)

    def exhibits(indices: Collection[int]) -> Iterator[Exhibit]:
        chosen = {pairs[index]["pair_id"] for index in indices}
        questions: dict[str, list[Row]] = {}
        for row in output.whole(QUESTIONS.name):
            if row["pair_id"] in chosen:
                questions.setdefault(row["pair_id"], []).append(row)
        films: dict[str, dict[str, Film]] = {}
        if VIDEOS.name in output.info["counts"]:
            columns, _ = read_columns(output, VIDEOS.name, FILM_COLUMNS, ALL)
            for _, pair, variant, sha256 in zip(*(columns[name] for name in FILM_COLUMNS), strict=True):
                films.setdefault(pair, {})[variant] = Film(VIDEOS.name, sha256)
        predictions = answers.on(QUESTIONS.name, [QUESTIONS.name])
        judgements = judged(items(output, QUESTIONS.name, ALL), predictions, first=answers.first) if predictions else {}
        for index in indices:
            pair = pairs[index]
            name = pair["pair_id"]
            yield _exhibit(pair, splits[index], questions.get(name, []), films.get(name, {}), judgements)

    question_facets = ASKED_FACETS if answers.predictions else ASKED_FACETS[:1]  # all pairs have the same questions
    return Gallery(len(pairs), exhibits, "pair", FACETS, question_facets)


def _exhibit(
    pair: Row, split: str, questions: Sequence[Row], films: Mapping[str, Film], judgements: Mapping[str, JudgedAnswer]
) -> Exhibit:
    phrases = {letter: pair[f"phrase_{letter.lower()}"] for letter in "ABC"}
    return Exhibit(
        pair["pair_id"],
        f"{phrases['A']} / {phrases['B']}",
        {"split": [split], "class": [phrases["A"], phrases["B"]], "source": [pair["source_id"]]},
        "complement",
        {
            "phrases": phrases | ({} if relation_of(pair) == "sequence" else {"AB": "A and B at the same time"}),
            "variants": [
                {
                    "name": variant,
                    "label": SHORT[variant],
                    "film": films[variant].sha256 if variant in films else None,
                    "pieces": _pieces(pair, variant),
                }
                for variant in VARIANTS
            ],
            "unit": "seconds" if pair["out_a_frame"] is None else "frames",
            "questions": _questions(questions, judgements),
            "facts": [
                ["Pair", pair["pair_id"]],
                ["Source", pair["source_id"]],
                ["Split", split],
                *([letter, f"{phrases[letter]} ({_class(pair, letter)})"] for letter in "AB"),
                ["C, negative control", f"{phrases['C']} ({_class(pair, 'C')})"],
                ["Cut from the source", f"{pair['out_a']:.3f} s to {pair['out_b']:.3f} s"],
            ],
        },
        [films[variant] for variant in VARIANTS if variant in films],
        [
            ExhibitQuestion(row["question"], _asked_facets(row), judgements[row["question_id"]].verdict)
            if row["question_id"] in judgements
            else ExhibitQuestion(row["question"], _asked_facets(row))
            for row in questions
        ],
        phrases["C"],
    )


def _class(pair: Row, letter: str) -> str:
    name, label = pair[f"class_{letter.lower()}"], pair[f"label_{letter.lower()}"]
    return name if name == label else f"{name}, {label}"


def _pieces(pair: Row, variant: str) -> list[dict[str, Any]]:
    """Return the pieces of V in order with their start and stop, or in reverse order for V′."""
    unit = "" if pair["out_a_frame"] is None else "_frame"
    out_a, in_a, in_b, out_b = (pair[f"{edge}{unit}"] for edge in ("out_a", "in_a", "in_b", "out_b"))
    lengths = (in_a - out_a, in_b - in_a, out_b - in_b)
    pieces = list(zip(PIECES[relation_of(pair)], lengths, strict=True))
    timeline, start = [], type(out_a)(0)
    for name, length in pieces if variant == VARIANTS[0] else pieces[::-1]:
        if length > 0:
            timeline.append({"name": name, "start": round(start, 3), "stop": round(start + length, 3)})
        start += length
    return timeline


def _wording(row: Row) -> str:
    """Return whether a question is Q or Q′, classified as in scores."""
    type_in_v = row["type_id"] % VARIANT_STEP
    return "Q" if type_in_v in RELEASED_Q else "Q′" if type_in_v in RELEASED_Q_PRIME else "-"


def _asked_facets(row: Row) -> dict[str, str]:
    return {"type": row["type"], "video": SHORT[row["variant"]], "wording": _wording(row), "subset": row["subset"]}


def _questions(rows: Sequence[Row], judgements: Mapping[str, JudgedAnswer]) -> list[dict[str, Any]]:
    """Merge each question about V with the same question about V′. Each row refers to its Q′ (the opposite order)."""
    by_id = {row["question_id"]: row for row in rows}
    firsts = [row for row in rows if row["variant"] == VARIANTS[0]]
    position = {row["question_id"]: index for index, row in enumerate(firsts)}
    merged = []
    for first in firsts:
        second = by_id.get(first["counterpart_question_id"])
        merged.append(
            {
                "text": first["question"],
                "type": first["type"],
                "wording": _wording(first),
                "control": first["type"] in CONTROLS,
                "flips": first["subset"] == "complement",
                "opposite": position.get(first["complement_question_id"]),
                "answers": [
                    {
                        "id": row["question_id"],
                        "answer": ANSWERS[row["answer"]],
                        **answer_json(judgements, row["question_id"]),
                    }
                    for row in (first, second)
                    if row is not None
                ],
            }
        )
    return merged
