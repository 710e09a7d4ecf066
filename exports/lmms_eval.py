"""A finished output as tasks of lmms-eval: a folder for its `--include_path`.

https://github.com/EvolvingLMMs-Lab/lmms-eval, read and run at version 0.7.3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from .. import __version__
from ..errors import InputError
from ..metrics.answers import plain
from ..metrics.inputs import (
    ALL,
    CAUSAL_TABLES,
    Captions,
    caption_texts,
    choose_split,
    read_captions,
    suite_settings,
)
from ..metrics.robustness import CLEAN, Setting
from ..records.files import atomic, output_error, write_atomic
from ..records.output import FinishedOutput
from ..seeds import rng_for

HERE = Path(__file__).parent
VIDEO_TABLES = {"clavi": "videos", "causal": "clips", "perturbed": CLEAN}
PAIRS = "pairs"
NUM_CAPTIONS = 4
Doc = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A task.

    Attributes:
        name: Its name, without that of the group.
        table: The table of the output, or the settings, that it asks about.
        split: The split it asks.
        kind: The prompt it has: "yes_no", "answer", "explanation" or "caption".
        functions: The functions of `utils.py`, by what lmms-eval calls them.
        docs: The documents, if they are not the rows of a table.
    """

    name: str
    table: str
    split: str
    kind: str
    functions: dict[str, str]
    docs: list[Doc] = field(default_factory=list)


class Function(str):
    """A name that YAML has after `!function`."""


class TaskDumper(yaml.SafeDumper):
    """Writes `Function` as lmms-eval reads it."""


TaskDumper.add_representer(Function, lambda dumper, value: dumper.represent_scalar("!function", str(value)))


def plan_tasks(output: FinishedOutput, split: str | None = None) -> list[Task]:
    """Choose the tasks of an output.

    Args:
        output: The output of build-clavi, build-causal or build-perturbed.
        split: The split to ask; by default test where there is one.

    Raises:
        InputError: There is nothing to show, or no such split.
    """
    builder = output.info["builder"]
    if builder not in VIDEO_TABLES:
        raise InputError(
            f"{output.path} was built by {builder!r}, which has no export. Allowed: {', '.join(VIDEO_TABLES)}."
        )
    table = VIDEO_TABLES[builder]
    videos = output.shards(table)
    if not videos or not _has_videos(videos[0]):
        raise InputError(
            f"{output.path} holds no videos (built with --no-render, or text alone), and lmms-eval has to show some. "
            "Build it with them."
        )
    if builder == "clavi":
        return [Task("questions", "questions", _one_split(output, "questions", split), "yes_no", _functions("clavi"))]
    if builder == "causal":
        return list(_causal_tasks(output, split))
    return list(_caption_tasks(output, _one_split(output, CLEAN, split)))


def _has_videos(shard: Path) -> bool:
    import pyarrow.parquet as pq

    return "video" in pq.read_schema(shard).names


def _one_split(output: FinishedOutput, config: str, split: str | None) -> str:
    """Choose a split: a task of lmms-eval has exactly one."""
    chosen = choose_split(output, config, split)
    splits = output.splits(config)
    if chosen == ALL and len(splits) == 1:
        return splits[0]
    if chosen == ALL:
        raise InputError(f"a task of lmms-eval asks one split. Say --split {' or '.join(splits)}.")
    return chosen


def _functions(asked: str, results: str = "") -> dict[str, str]:
    """Name the functions for what is asked: "clavi", "answer", "explanation" or "caption"."""
    return {
        "doc_to_visual": f"{'causal' if asked in ('answer', 'explanation') else asked}_visual",
        "doc_to_text": f"{asked}_text",
        "doc_to_target": f"{'answer' if asked == 'caption' else asked}_target",
        "process_results": results or f"{asked}_results",
    }


def _causal_tasks(output: FinishedOutput, split: str | None) -> Iterator[Task]:
    for config in CAUSAL_TABLES:
        if config not in output.info["counts"] or (split and split not in output.splits(config)):
            continue
        for asked in ("answer", "explanation"):
            functions = _functions(asked, f"{config}_{asked}_results")
            yield Task(f"{config}_{asked}", config, _one_split(output, config, split), asked, functions)


def _caption_tasks(output: FinishedOutput, split: str) -> Iterator[Task]:
    """Ask under every setting which caption describes the clip: the generative form of retrieval."""
    captions = read_captions(output, split)
    groups: dict[str, list[Setting]] = {}
    for setting in suite_settings(output.info):
        pair = setting.visual and setting.text
        groups.setdefault(PAIRS if pair else setting.visual or setting.text or CLEAN, []).append(setting)
    choices = caption_choices(captions)
    for name, settings in groups.items():
        docs = [doc for setting in settings for doc in _caption_docs(output, setting, captions, choices, split)]
        yield Task(name, name, split, "caption", _functions("caption"), docs)


def caption_choices(captions: Captions) -> list[tuple[int, list[int]]]:
    """Draw for every clip its first caption and captions of three other clips, in an order of their own.

    The same ones are asked in every setting, so that settings differ in nothing else.

    Returns:
        For each clip the place of the right one, and the captions by number.

    Raises:
        InputError: There are fewer than two different captions.
    """
    first: dict[int, int] = {}
    for number, clip in enumerate(captions.clip):
        first.setdefault(int(clip), number)
    about: dict[int, set[str]] = {}
    for number, clip in enumerate(captions.clip):
        about.setdefault(int(clip), set()).add(plain(captions.texts[number]))
    found = []
    for clip, name in enumerate(captions.clips):
        rng = rng_for(0, "caption-choice", name)
        taken = set(about[clip])
        chosen: list[int] = []
        for other in rng.permutation(len(captions.clips)):
            number = first[int(other)]
            if len(chosen) < NUM_CAPTIONS - 1 and other != clip and plain(captions.texts[number]) not in taken:
                taken.add(plain(captions.texts[number]))
                chosen.append(number)
        if not chosen:
            raise InputError(f"clip {name} has no other caption to choose from: all captions are the same.")
        place = int(rng.integers(len(chosen) + 1))
        found.append((place, [*chosen[:place], first[clip], *chosen[place:]]))
    return found


def _caption_docs(
    output: FinishedOutput,
    setting: Setting,
    captions: Captions,
    choices: list[tuple[int, list[int]]],
    split: str,
) -> Iterator[Doc]:
    texts = caption_texts(output, setting, captions, split)
    for name, (place, numbers) in zip(captions.clips, choices, strict=True):
        ids = [captions.ids[number] for number in numbers]
        yield {
            "setting": setting.name,
            "table": setting.visual or CLEAN,
            "clip_id": name,
            "severity": setting.severity,
            "options": [texts[caption] for caption in ids],
            "option_ids": ids,
            "answer_index": place,
        }


def write_tasks(output: FinishedOutput, tasks: list[Task], folder: Path, group: str) -> None:
    """Write a folder of tasks.

    Raises:
        OutputError: The folder cannot be written.
    """
    said = yaml.safe_load((HERE / "lmms_eval.yaml").read_text(encoding="utf-8"))
    info = output.info
    metadata = {
        "version": f"{info['dataset_version']}+{info['fingerprint'][:16]}",
        "builder": info["builder"],
        "fingerprint": info["fingerprint"],
        "exported_by": f"stressreel {__version__}",
    }
    names = [f"{group}_{task.name}" for task in tasks]
    about = {"path": str(output.path.resolve()), "builder": info["builder"], "fingerprint": info["fingerprint"]}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(error, folder) from error
    write_atomic(folder / "output.json", json.dumps(about, indent=2) + "\n")
    write_atomic(folder / "utils.py", (HERE / "lmms_eval_utils.py").read_bytes())
    write_atomic(folder / "answers.py", (HERE.parent / "metrics" / "answers.py").read_bytes())
    for name, task in zip(names, tasks, strict=True):
        if task.docs:
            with atomic(folder / f"{name}.jsonl") as temporary:
                lines = [json.dumps(doc, ensure_ascii=False) + "\n" for doc in task.docs]
                temporary.write_text("".join(lines), encoding="utf-8")
        write_atomic(folder / f"{name}.yaml", _dump(_task_config(output, task, name, folder, said, metadata)))
    write_atomic(folder / f"{group}.yaml", _dump({"group": group, "task": names, "metadata": metadata}))


def _task_config(
    output: FinishedOutput, task: Task, name: str, folder: Path, said: dict[str, Any], metadata: dict[str, Any]
) -> dict[str, Any]:
    """Give a task's YAML."""
    data: dict[str, Any] = {"dataset_path": str(output.path.resolve()), "dataset_name": task.table}
    if task.docs:
        files = {task.split: str((folder / f"{name}.jsonl").resolve())}
        data = {"dataset_path": "json", "dataset_kwargs": {"data_files": files}}
    return {
        "task": name,
        **data,
        "test_split": task.split,
        "output_type": "generate_until",
        **{key: Function(f"utils.{function}") for key, function in task.functions.items()},
        "generation_kwargs": said["generation_kwargs"],
        "lmms_eval_specific_kwargs": {"default": said["prompts"][task.kind]},
        "metric_list": [
            {"metric": "accuracy", "aggregation": "mean", "higher_is_better": True},
            {"metric": "unreadable", "aggregation": "mean", "higher_is_better": False},
        ],
        "metadata": metadata,
    }


def _dump(content: dict[str, Any]) -> str:
    return yaml.dump(content, Dumper=TaskDumper, sort_keys=False, allow_unicode=True, width=1000)
