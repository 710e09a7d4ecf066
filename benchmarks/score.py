"""Measure the time and memory of `stressreel score` on 114,342 CLAVI answers and on 126 matrices of similarities.

    python benchmarks/score.py --charades DIR

The outputs are built by the real commands without videos. The suite's 35 text perturbations are declared in its
build.json; their tables contain only the column `changed`, which retrieval reads.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import command
from stressreel.builders.perturbed.scores import suite_settings
from stressreel.core.output import open_output
from stressreel.corruptions.registry import list_corruptions

CLIPS = 1000


def clavi(folder: Path, charades: Path) -> Path:
    """Build CLAVI without videos, and write an answer to every question."""
    out, file = folder / "clavi", folder / "answers.jsonl"
    command("build", "clavi", "--charades", charades, "--no-render", "--out", out, "--no-progress")
    rng = np.random.default_rng(0)
    with open(file, "w") as handle:
        for row in open_output(out).rows("questions", ["question_id"]):
            answer = ("No.", "yes")[int(rng.integers(2))]
            handle.write(json.dumps({"id": row["question_id"], "answer": answer}) + "\n")
    return file


def suite(folder: Path) -> int:
    """Create a suite of 1,000 clips with a similarity matrix for each setting, and return the number of settings."""
    source, out, matrices = folder / "msrvtt", folder / "suite", folder / "similarity"
    source.mkdir()
    matrices.mkdir()
    lines = [f"ret{n},msr{n},video{n},a person does thing number {n}" for n in range(CLIPS)]
    (source / "MSRVTT_JSFUSION_test.csv").write_text("\n".join(["key,vid_key,video_id,sentence", *lines, ""]))
    command("build", "perturbed", "--msrvtt", source, "--no-render", "--out", out, "--no-progress")
    info = json.loads((out / "build.json").read_text())
    names = [corruption.name for corruption in list_corruptions("text")]
    info["settings"]["text_perturbations"] = names
    info["counts"] |= {name: {"test": CLIPS} for name in names}
    (out / "build.json").write_text(json.dumps(info))
    for perturbation in names:
        (out / perturbation).mkdir()
        table = pa.table({"changed": np.ones(CLIPS, bool)})
        pq.write_table(table, out / perturbation / "test-00000-of-00001.parquet")
    settings = suite_settings(info)
    rng = np.random.default_rng(0)
    for setting in settings:
        matrix = rng.standard_normal((CLIPS, CLIPS), np.float32)
        matrix[np.arange(CLIPS), np.arange(CLIPS)] += 3
        np.save(matrices / f"{setting.name}.npy", matrix)
    return len(settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--charades", type=Path, required=True, help="folder with the Charades annotations")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-score-") as name:
        folder = Path(name)
        answers = clavi(folder, arguments.charades)
        settings = suite(folder)
        runs = {
            "clavi, all answers": ("score", folder / "clavi", "--predictions", answers, "--split", "all"),
            f"{settings} settings": ("score", folder / "suite", "--similarity", folder / "similarity"),
        }
        print(f"{'':24}{'wall s':>9}{'CPU s':>9}{'peak MB':>9}")
        for title, given in runs.items():
            for _ in range(arguments.rounds):
                cpu, wall, memory = command(*given)
                print(f"{title:24}{wall:9.2f}{cpu:9.2f}{memory:9.0f}")


if __name__ == "__main__":
    main()
