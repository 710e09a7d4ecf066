"""Lay out the gallery of a CausalChaos output: clips, why-questions, and the source of each option."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.output import FinishedOutput
from ...core.schema import Row
from ...data_cards.gallery.answers import Answers, JudgedAnswer, answer_json, judged
from ...data_cards.gallery.exhibits import Exhibit, ExhibitQuestion, Facet, Film, Gallery
from ...evaluation.metrics.items import ALL, Items, read_columns, read_whole
from .tables import CLIPS, RIGHT, SOURCE_FIELDS, items, question_tables

TWINS = ("negation", "swap")
NUMBERS = ("cos_question", "cos_text", "score")
BLOCKS = (  # label, letter in scores, and columns: options, correct index, sources, predictions
    ("Answer", "A", "options", "answer_index", "sources", None),
    ("Explanation", "E", "explanation_options", "explanation_index", "explanation_sources", "explanation"),
)
FACETS = (Facet("table", "Table"), Facet("split", "Split"), Facet("kind", "Distractors"), Facet("source", "Episode"))
ASKED_FACETS = (Facet("asked", "Asked"), Facet("chosen", "Chosen", ("kind",)))


def gallery(output: FinishedOutput, answers: Answers) -> Gallery:
    """Return a gallery of the questions in every table with options; see `data_cards.gallery.exhibits`."""
    tables = question_tables(output.info)
    counts = [sum(output.info["counts"][table].values()) for table in tables]
    films: dict[str, Film] = {}
    if CLIPS in output.info["counts"]:
        columns, _ = read_columns(output, CLIPS, ("clip_id", "sha256"), ALL)
        films = {name: Film(CLIPS, sha256) for name, sha256 in zip(*columns.values(), strict=True)}

    def exhibits(indices: Collection[int]) -> Iterator[Exhibit]:
        start = 0
        for table, count in zip(tables, counts, strict=True):
            in_table = [index - start for index in indices if start <= index < start + count]
            start += count
            if not in_table:
                continue
            rows, splits = read_whole(output, table)
            judgements = _said(output, table, rows, answers)
            texts = {row["qid"]: row["question"] for row in rows}
            for index in in_table:
                guesses = answers.guesses_on(table, rows[index]["qid"])
                yield _exhibit(table, rows[index], splits[index], films, judgements, texts, guesses)

    return Gallery(sum(counts), exhibits, "question", FACETS, ASKED_FACETS if answers.predictions else ())


def _said(
    output: FinishedOutput, table: str, rows: Sequence[Row], answers: Answers
) -> list[Mapping[str, JudgedAnswer]]:
    predictions = answers.on(table, question_tables(output.info))
    if predictions is None:
        return [{}, {}]
    answered = items(output, table, ALL)
    explained: Items = replace(
        answered,
        options=[tuple(row["explanation_options"]) for row in rows],
        truth=np.array([row["explanation_index"] for row in rows], np.int64),
    )
    explains = any("explanation" in row for row in predictions.rows)
    return [
        judged(answered, predictions, first=answers.first),
        judged(explained, predictions, first=answers.first, answer="explanation") if explains else {},
    ]


def _exhibit(
    table: str,
    row: Row,
    split: str,
    films: Mapping[str, Film],
    judgements: Sequence[Mapping[str, JudgedAnswer]],
    texts: Mapping[str, str],
    guesses: Sequence[Mapping[str, Any]],
) -> Exhibit:
    film = films.get(row["clip_id"])
    blocks = [
        _block(row, block, answer_json(judgement, row["qid"]), texts, guesses)
        for block, judgement in zip(BLOCKS, judgements, strict=True)
    ]
    kinds = {option["kind"] for block in blocks for option in block["options"]} - {RIGHT}
    return Exhibit(
        f"{table}/{row['qid']}",
        row["question"],
        {"table": [table], "split": [split], "kind": sorted(kinds), "source": [row["episode"]]},
        "options",
        {
            "film": film.sha256 if film else None,
            "text": row["question"],
            "blocks": blocks,
            "numbers": [[field.name, field.meaning] for field in SOURCE_FIELDS if field.name in NUMBERS],
            "confusions": [
                {
                    "label": f"{result['target']}, {result['kind']}",
                    **{key: result[key] for key in ("place", "text", "note")},
                }
                for result in row.get("confusions") or ()
            ],
            "facts": [
                ["Question", row["qid"]],
                ["Clip", row["clip_id"]],
                ["Frames", f"{row['start_frame']} to {row['end_frame']}"],
                ["Table", table],
                ["Split", split],
            ],
        },
        [film] if film else [],
        [
            ExhibitQuestion(
                row["question"] if letter == "A" else "",
                {"asked": letter, **_chosen(block)},
                block["verdict"],
            )
            for (_, letter, *_), block in zip(BLOCKS, blocks, strict=True)
        ],
        " ".join(text for block in blocks for text in [block["options"][block["right"]]["text"]]),
    )


def _block(
    row: Row,
    block: tuple[str, str, str, str, str, str | None],
    answer: Mapping[str, Any],
    texts: Mapping[str, str],
    guesses: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    label, _, options, right, sources, column = block
    return {
        "label": label,
        "right": row[right],
        "options": [
            {
                "text": text,
                "kind": source["kind"],
                "twin": source["kind"] in TWINS,
                "of": f"{source['qid']}: {texts[source['qid']]}"
                if source["kind"] != RIGHT and source["qid"] != row["qid"] and source["qid"] in texts
                else None,
                "numbers": [source[name] for name in NUMBERS],
            }
            for text, source in zip(row[options], row[sources], strict=True)
        ],
        "guesses": [guess for guess in guesses if guess.get("asked", "answer") == (column or "answer")],
        **answer,
    }


def _chosen(block: Mapping[str, Any]) -> dict[str, str]:
    return {} if block["choice"] is None else {"chosen": block["options"][block["choice"]]["kind"]}
