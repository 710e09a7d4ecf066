"""Answer causal questions without video, by choosing the option whose SBERT embedding is closest to the question.

    python examples/causal.py out/causal --to nearest.jsonl
    stressreel score out/causal --predictions nearest.jsonl --config ud --out nearest-ud  # the first division
    stressreel score out/causal --predictions nearest.jsonl --config causal_confusion --out nearest-confusion

Explanations are compared with the question followed by the chosen answer. The field `config` of a prediction is the
name of the table that contains the question.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from frames import opened, rows, run
from stressreel.language.embeddings import load_encoder

TABLES = ("ud", "ps", "un", "causal_confusion")
COLUMNS = ["qid", "question", "options", "explanation_options"]


def main() -> None:
    """Answer the questions of the test split and write the predictions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="output of build-causal")
    parser.add_argument("--to", type=Path, required=True, help="file in which to save the predictions (.jsonl)")
    given = parser.parse_args()
    output = opened(given.out, "causal")
    tables = [table for table in TABLES if table in output.info["counts"]]
    found = [(table, row) for table in tables for row in rows(output, table, COLUMNS, "test")]
    encoder = load_encoder()

    def nearest(asked: list[str], offered: list[list[str]]) -> list[int]:
        texts = sorted({*asked, *(option for options in offered for option in options)})
        vectors = dict(zip(texts, encoder.encode(texts), strict=True))
        return [
            max(range(len(options)), key=[float(vectors[text] @ vectors[option]) for option in options].__getitem__)
            for text, options in zip(asked, offered, strict=True)
        ]

    questions = [row["question"] for _, row in found]
    answers = nearest(questions, [row["options"] for _, row in found])
    said = [f"{row['question']} {row['options'][answer]}" for (_, row), answer in zip(found, answers, strict=True)]
    explanations = nearest(said, [row["explanation_options"] for _, row in found])
    lines = [
        {"config": table, "id": row["qid"], "answer": answer, "explanation": explanation}
        for (table, row), answer, explanation in zip(found, answers, explanations, strict=True)
    ]
    given.to.parent.mkdir(parents=True, exist_ok=True)
    given.to.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    print(f"wrote answers to {len(lines)} questions to {given.to}")


if __name__ == "__main__":
    run(main)
