"""Run two simple baselines on question graphs that need no GPU.

    python examples/decomp.py out/decomp --to predictions
    stressreel score out/decomp --predictions predictions/question_only.jsonl
    stressreel score out/decomp --predictions predictions/frame_difference.jsonl

`question_only` predicts the most frequent training answer to questions with the same words or, if there are none, of
the same kind. `frame_difference` looks for the training videos whose motion in each eighth is most similar, and
predicts the most frequent answer to questions about them that have the same kind and options. Neither recognizes
actions.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
from frames import Floats, changes, opened, rows, run, small_frames
from stressreel.core.output import FinishedOutput

PARTS = 8
NEAREST = 3  # number of videos that have a vote
COLUMNS = ["key", "video_id", "question", "answer", "options", "kind", "banned"]
Rows = list[dict[str, Any]]


def most(counts: Counter[str]) -> str:
    """Return the most common answer. Ties are broken alphabetically."""
    return min(counts, key=lambda answer: (-counts[answer], answer))


def ways(row: dict[str, Any]) -> tuple[Hashable, ...]:
    """Return the keys by which to look up a question, from the most specific to the most general."""
    return (row["question"].lower(), (row["kind"], tuple(row["options"])), row["kind"], "")


def question_only(train: Rows, test: Rows) -> list[str]:
    """Return the most frequent training answer to questions with the same words or else of the same kind."""
    counts: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for row in train:
        for way in ways(row):
            counts[way][row["answer"]] += 1
    return [most(next(counts[way] for way in ways(row) if way in counts)) for row in test]


def profile(video: bytes) -> Floats:
    """Return the mean change in each eighth of the video, relative to the median change."""
    moved = changes(small_frames(video)).mean(axis=(1, 2))
    usual = np.median(moved) + 0.1
    return np.array([part.mean() / usual for part in np.array_split(moved, PARTS)])


def frame_difference(output: FinishedOutput, train: Rows, test: Rows) -> list[str]:
    """Return the most frequent answer to similar questions about the training videos with the most similar motion."""
    videos = rows(output, "videos", ["video_id", "video"])
    seen = {row["video_id"]: profile(row["video"]["bytes"]) for row in videos}
    asked: dict[Hashable, Rows] = defaultdict(list)
    for row in train:
        for way in ways(row)[1:]:
            asked[way].append(row)
    said = []
    for row in test:
        alike = next(asked[way] for way in ways(row)[1:] if way in asked)
        far = {name: float(np.abs(seen[name] - seen[row["video_id"]]).sum()) for name in {r["video_id"] for r in alike}}
        near = sorted(far, key=lambda name: (far[name], name))[:NEAREST]
        said.append(most(Counter(other["answer"] for other in alike if other["video_id"] in near)))
    return said


def main() -> None:
    """Answer the scored questions of the test split with both baselines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="output of build-decomp")
    parser.add_argument("--to", type=Path, required=True, help="folder in which to save the predictions")
    given = parser.parse_args()
    output = opened(given.out, "decomp")
    train, test = (
        [row for row in rows(output, "questions", COLUMNS, split) if not row["banned"]] for split in ("train", "test")
    )
    train = [row for row in train if row["answer"] is not None]
    answers = {"question_only": question_only(train, test), "frame_difference": frame_difference(output, train, test)}
    given.to.mkdir(parents=True, exist_ok=True)
    for name, said in answers.items():
        lines = [json.dumps({"key": row["key"], "answer": answer}) for row, answer in zip(test, said, strict=True)]
        (given.to / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"wrote {len(lines)} answers to {given.to / name}.jsonl")


if __name__ == "__main__":
    run(main)
