"""Write the files from which the Hugging Face Hub makes leaderboards: of tasks for datasets, and of scores for models.

A dataset repository declares its tasks in `eval.yaml`; each is a table of questions in one split. A model repository
states its scores in YAML files in `.eval_results/`, by dataset and task. See https://huggingface.co/docs/hub/eval-results
(as of 2026). There, the main score of a task is one number: the first of the headline scores of `stressreel score`.

No task states how a harness asks its questions (`field_spec`, `solvers`, `scorers`): inspect-ai's own loader of
`eval.yaml` can show no videos, so `inspect eval hf/ORG/NAME` must not ask them. Use `stressreel export inspect`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import yaml

from ..core.documents import check_shape, parse_yaml, read_own
from ..core.errors import InputError, UsageError
from ..core.files import EVAL
from ..core.output import Finding, FinishedOutput
from ..core.output_files import CARD, HEAD
from ..evaluation.metrics.items import ALL
from ..evaluation.metrics.scores import Scores

FRAMEWORK = re.compile(r"[a-z0-9][a-z0-9-]*")
RESULTS = ".eval_results"


def eval_file(output: FinishedOutput, tables: Sequence[str], summary: str, framework: str) -> str:
    """Return the text of `eval.yaml`.

    Args:
        output: The output.
        tables: Its tables with questions.
        summary: Description of the benchmark, one line.
        framework: Identifier of the evaluation framework, which must be registered with the Hub.

    Raises:
        UsageError: The identifier is invalid.
        InputError: The card is damaged.
    """
    if not FRAMEWORK.fullmatch(framework):
        raise UsageError(
            f"--eval-framework {framework!r} is not an identifier of lowercase letters, digits and '-', such as "
            "inspect-ai. The Hub accepts those that are registered there."
        )
    content = {
        "name": _title(output),
        "description": summary,
        "evaluation_framework": framework,
        "tasks": [
            {"id": task_id(table, split), "config": table, "split": split}
            for table in tables
            if table in output.info["counts"]
            for split in output.splits(table)
        ],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)


def _title(output: FinishedOutput) -> str:
    """Return the title of the dataset card. Raise InputError if the card is damaged."""
    try:
        match = HEAD.match(read_own(output.path / CARD))
        head = parse_yaml(match[1]) if match else {}
        check_shape(head, {"pretty_name": str})
    except ValueError as error:
        raise InputError(
            f"{output.path / CARD} is damaged ({error}). Write it again with `stressreel card`."
        ) from error
    return str(head["pretty_name"])


def task_id(table: str, split: str) -> str:
    """Return the identifier of a task, which is unique in a dataset."""
    return f"{table}_{split}"


def check_eval_file(output: FinishedOutput, tables: Sequence[str], summary: str) -> Iterator[Finding]:
    """Check that `eval.yaml` declares the tasks of the output. Only its framework is free."""
    text = read_own(output.path / EVAL)
    try:
        content = parse_yaml(text)
        check_shape(content, {"evaluation_framework": str})
        same = text == eval_file(output, tables, summary, content["evaluation_framework"])
    except InputError as error:
        yield f"{EVAL} cannot be checked: {error}"
        return
    except (UsageError, ValueError) as error:
        yield f"{EVAL} is invalid ({error}); remove it, or write it again with `stressreel push --eval-framework`"
        return
    if not same:
        yield f"{EVAL} does not match the tasks; remove it, or write it again with `stressreel push --eval-framework`"


def results_file(scores: Scores, splits: Sequence[str], dataset: str) -> tuple[str, str]:
    """Return the path, relative to a model repository, and the text of a file that states the main score.

    Args:
        scores: Scores of a table in one split.
        splits: Splits of the table.
        dataset: The dataset on the Hub, as ORG/NAME.

    Raises:
        UsageError: Several splits were scored at once, or the main score is undefined.
    """
    split = splits[0] if scores.split == ALL and len(splits) == 1 else scores.split
    if split == ALL:
        raise UsageError(f"--eval-results states the score of one split. Choose it with --split: {', '.join(splits)}.")
    table, (name, estimate) = scores.about["config"], next(iter(scores.headline.items()))
    if isnan(estimate.value):
        raise UsageError(f"--eval-results: the main score, {name}, is undefined for these predictions.")
    others = [f"{label} {other.value:.4f}" for label, other in scores.headline.items() if not isnan(other.value)]
    entry: dict[str, Any] = {
        "dataset": {"id": dataset, "task_id": task_id(table, split)},
        "value": round(estimate.value, 6),
        "notes": f"{'; '.join(others)}. Scored by stressreel; fingerprint {scores.about['output']['fingerprint'][:16]}",
    }
    path = Path(RESULTS) / f"{dataset.rpartition('/')[2]}-{task_id(table, split)}.yaml"
    return path.as_posix(), yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=1000)
