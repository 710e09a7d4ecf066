"""Run the questions of an output in VLMEvalKit, with `python run.py --model MODEL [--data NAME ...]`.

`stressreel export vlmevalkit` writes this file as `run.py`, beside the questions (`NAME.tsv`), `harness.py`,
`answers.py` and `output.json`. VLMEvalKit has no hook for external datasets, so this file registers its class and then
calls VLMEvalKit's own `run.py`, whose options it accepts. It requires VLMEvalKit and pyarrow. Without `--data`, it runs
all tasks.

Models that accept images receive frames, selected by `--frames N` (default 16) or `--fps F`. Models that accept video
receive the file.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

from vlmeval.dataset.video_base import VideoBaseDataset
from vlmeval.smp import load

HERE = Path(__file__).resolve().parent


@cache
def harness() -> Any:
    """Import `harness.py` by path, since other task folders contain files with the same name."""
    spec = importlib.util.spec_from_file_location("stressreel_harness", HERE / "harness.py")
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


class StressreelVideo(VideoBaseDataset):  # type: ignore[misc]
    """VLMEvalKit dataset with questions from a TSV file and videos from the output."""

    TYPE = "Video-MCQ"
    frames, rate = 16, 0.0  # set by --frames and --fps

    def __init__(self, dataset: str, pack: bool = False, nframe: int = 0, fps: float = -1):
        """Load a task. `--frames` and `--fps` apply unless VLMEvalKit's config selects the frames."""
        if nframe <= 0 and fps <= 0:
            nframe, fps = (0, self.rate) if self.rate else (self.frames, -1)
        super().__init__(dataset=dataset, pack=pack, nframe=nframe, fps=fps)

    @classmethod
    def supported_datasets(cls) -> list[str]:
        """Return the names of all tasks in this folder."""
        return list(harness().output()["tasks"])

    def prepare_dataset(self, dataset: str) -> dict[str, str]:
        """Link or copy the videos of a task into one folder, as `<video>.mp4`."""
        root, table = HERE / "videos", HERE / f"{dataset}.tsv"
        root.mkdir(exist_ok=True)
        for name, sample in {row["video"]: json.loads(row["sample"]) for _, row in load(str(table)).iterrows()}.items():
            if not (root / f"{name}.mp4").is_file():
                source = harness().video_path(sample["video"]["table"], sample["video"]["key"])
                try:
                    os.symlink(source, root / f"{name}.mp4")
                except OSError:
                    shutil.copyfile(source, root / f"{name}.mp4")
        return {"root": str(root), "data_file": str(table)}

    def build_prompt(self, line: Any, video_llm: bool = False) -> list[dict[str, str]]:
        """Return the video or its frames as a message, followed by the question."""
        row = self.data.iloc[line] if isinstance(line, int) else line
        if video_llm:
            shown = [{"type": "video", "value": str(Path(self.data_root) / f"{row['video']}.mp4")}]
        else:
            pictures = self.save_video_frames(row["video"])
            shown = [{"type": "text", "value": harness().output()["frames"]}]
            shown += [{"type": "image", "value": picture} for picture in pictures]
        return [*shown, {"type": "text", "value": row["question"]}]

    @classmethod
    def evaluate(cls, eval_file: str, **judge_kwargs: Any) -> dict[str, float]:
        """Return the accuracy of a task and, once all tasks have been answered, the scores of the output.

        The scores require stressreel in this environment. Otherwise, run `stressreel score` on the same files.
        """
        content = load(eval_file)  # a list for a JSON file, otherwise a table
        rows = content if isinstance(content, list) else content.to_dict("records")
        judged = [_judged(row) for row in rows]
        names = [name for name in ("accuracy", "unreadable", "exact", "empty") if judged and name in judged[0]]
        figures = {name: sum(found[name] for found in judged) / len(judged) for name in names}
        return figures | _scores(Path(eval_file))


def _judged(row: dict[str, Any]) -> dict[str, Any]:
    sample, said = json.loads(row["sample"]), row["prediction"]
    if isinstance(said, float):  # pandas reads an empty cell as NaN, and numbers next to one as floats
        said = "" if said != said else f"{said:g}"
    found: dict[str, Any] = harness().result(sample, sample["target"], str(said))
    return found


def _scores(eval_file: Path) -> dict[str, float]:
    about = harness().output()
    own = max((name for name in about["tasks"] if eval_file.stem.endswith(f"_{name}")), key=len, default="")
    model = eval_file.stem.removesuffix(own)
    chosen = [name for name, task in about["tasks"].items() if task["chosen"]]
    files = [eval_file.with_name(f"{model}{name}{eval_file.suffix}") for name in chosen]
    if not own or not all(path.is_file() for path in files):
        return {}
    try:
        stressreel = importlib.import_module("stressreel")
    except ModuleNotFoundError:
        print(f"To compute all scores, run: stressreel score {about['path']} --predictions {eval_file.parent}")
        return {}
    found: dict[str, float] = {}
    for given in about["scores"]:
        scores = stressreel.score(about["path"], eval_file.parent, **given)
        prefix = f"{given['config']}." if "config" in given else ""
        values = {f"{prefix}{name}": float(estimate.value) for name, estimate in scores.headline.items()}
        found |= {name: value for name, value in values.items() if not math.isnan(value)}  # undefined (0 / 0)
    return found


def register() -> None:
    """Register the tasks of this folder with VLMEvalKit."""
    from vlmeval import dataset

    dataset.DATASET_CLASSES.append(StressreelVideo)
    dataset.SUPPORTED_DATASETS.extend(StressreelVideo.supported_datasets())


def main() -> None:
    """Register the tasks, and run VLMEvalKit on them."""
    parser = argparse.ArgumentParser(add_help=False)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--frames", type=int, default=16)
    shown.add_argument("--fps", type=float, default=0.0)
    own, others = parser.parse_known_args()
    StressreelVideo.frames, StressreelVideo.rate = own.frames, own.fps
    register()
    if not {"--data", "--config", "--help", "-h"} & set(others):
        others = ["--data", *StressreelVideo.supported_datasets(), *others]
    sys.argv = [sys.argv[0], *others]
    from vlmeval import run

    run.load_env()
    run.main()


if __name__ == "__main__":
    main()
