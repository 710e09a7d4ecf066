"""Export an output as datasets for VLMEvalKit, with a script that runs them.

See https://github.com/open-compass/VLMEvalKit; checked against ms-vlmeval 0.0.20.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.output import FinishedOutput
from ..evaluation.tasks import Task, letter, prompts, score_commands
from .task_folder import exported_by, samples

HERE = Path(__file__).parent
LETTERS = [letter(number) for number in range(5)]
LONGEST_NAME = 100  # characters of a video's file name


def video_name(video: dict[str, Any]) -> str:
    """Return the file name of a video without `.mp4`, which ends in a hash if the key is not a valid name."""
    key = "-".join([video["table"], *map(str, video["key"].values())])
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", key)
    if plain == key and len(key) <= LONGEST_NAME:
        return key
    return f"{plain[:LONGEST_NAME]}-{hashlib.sha256(json.dumps(video).encode()).hexdigest()[:12]}"


def task_files(
    output: FinishedOutput, tasks: Sequence[Task], group: str, *, by_table: bool
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files of the task folder, and the additional entries of `output.json`.

    The TSV of a task has the columns of VLMEvalKit (`index`, `video`, `question` with the prompt, `answer`, options `A`
    to `E`), and `sample`, with JSON fields for locating the video and judging an answer.
    """
    files = {"run.py": (HERE / "vlmevalkit_tasks.py").read_bytes()}
    about: dict[str, Any] = {}
    for task in tasks:
        name = f"{group}_{task.name}"
        table = io.StringIO(newline="")
        writer = csv.writer(table, delimiter="\t", lineterminator="\n")
        writer.writerow(["index", "video", "question", "answer", *LETTERS, "sample"])
        for index, sample in enumerate(samples(output, task, prompts()["prompts"][task.kind])):
            metadata = sample["metadata"]
            options = [*metadata["options"], *[""] * len(LETTERS)][: len(LETTERS)]
            fields = {**metadata, "target": sample["target"], "fingerprint": output.info["fingerprint"]}
            cells = [index, video_name(metadata["video"]), sample["input"], sample["target"], *options]
            writer.writerow([*cells, json.dumps(fields, ensure_ascii=False)])
        files[f"{name}.tsv"] = table.getvalue().encode()
        about[name] = {"metadata": {**exported_by(output), **task.metadata}, "chosen": not task.writes}
    scores = [
        {"split": task.split, "partial": bool(task.left_out), **({"config": task.table} if by_table else {})}
        for task in {task.table if by_table else "": task for task in tasks if not task.writes}.values()
    ]
    return files, {"frames": prompts()["frames"], "tasks": about, "scores": scores}


def commands(output: FinishedOutput, tasks: Sequence[Task], folder: Path, group: str, *, by_table: bool) -> list[str]:
    """Return the commands that run the tasks and score their results."""
    runner = shlex.quote(os.path.relpath(folder / "run.py"))
    return [
        f"python {runner} --model MODEL --work-dir logs --judge exact_matching",
        *score_commands(output, tasks, by_table=by_table),
    ]
