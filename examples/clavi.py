"""Run two simple baselines on CLAVI that need no GPU.

    python examples/clavi.py out/clavi --to predictions
    stressreel score out/clavi --predictions predictions/question_only.jsonl
    stressreel score out/clavi --predictions predictions/frame_difference.jsonl

`question_only` predicts the most frequent answer in train for each question template, or "no" on a tie.
`frame_difference` is a ridge regression fitted on train, with the template and the motion over time as features. It can
detect the cuts of V′, but not the actions.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from frames import Floats, changes, opened, predict, ridge, rows, run, small_frames
from stressreel.core.output import FinishedOutput

PARTS = 8
WEIGHT = 10.0
COLUMNS = ["question_id", "video_id", "template_id", "answer"]


def question_only(train: list[dict[str, Any]], test: list[dict[str, Any]]) -> list[str]:
    """For each test question, return the most frequent training answer to its template."""
    counts = Counter((row["template_id"], row["answer"]) for row in train)
    return ["yes" if counts[row["template_id"], 1] > counts[row["template_id"], 0] else "no" for row in test]


def profile(video: bytes) -> Floats:
    """Return the mean change in each eighth of the video and the largest jump, relative to the median change."""
    moved = changes(small_frames(video)).mean(axis=(1, 2))
    usual = np.median(moved) + 0.1
    return np.array([*(part.mean() / usual for part in np.array_split(moved, PARTS)), moved.max() / usual])


def frame_difference(output: FinishedOutput, train: list[dict[str, Any]], test: list[dict[str, Any]]) -> list[str]:
    """Predict answers from the question template and the motion in the video."""
    videos = rows(output, "videos", ["video_id", "video"])
    seen = {row["video_id"]: profile(row["video"]["bytes"]) for row in videos}
    wordings = sorted({row["template_id"] for row in train + test})

    def inputs(asked: list[dict[str, Any]]) -> Floats:
        found = np.zeros((len(asked), len(wordings), PARTS + 2))
        for number, row in enumerate(asked):
            found[number, wordings.index(row["template_id"])] = [1.0, *seen[row["video_id"]]]
        return found.reshape(len(asked), -1)

    model = ridge(inputs(train), np.array([[2.0 * row["answer"] - 1] for row in train]), WEIGHT)
    return ["yes" if score > 0 else "no" for score in (predict(model, inputs(test)) + model[3])[:, 0]]


def main() -> None:
    """Answer the questions of the test split with both baselines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="output of build-clavi")
    parser.add_argument("--to", type=Path, required=True, help="folder in which to save the predictions")
    given = parser.parse_args()
    output = opened(given.out, "clavi")
    train, test = (list(rows(output, "questions", COLUMNS, split)) for split in ("train", "test"))
    answers = {"question_only": question_only(train, test), "frame_difference": frame_difference(output, train, test)}
    given.to.mkdir(parents=True, exist_ok=True)
    for name, said in answers.items():
        lines = [
            json.dumps({"id": row["question_id"], "answer": answer}) for row, answer in zip(test, said, strict=True)
        ]
        (given.to / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"wrote {len(lines)} answers to {given.to / name}.jsonl")


if __name__ == "__main__":
    run(main)
