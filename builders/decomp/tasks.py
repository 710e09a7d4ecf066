"""Turn question graphs into tasks for evaluation harnesses, with an additional task for the yes/no questions."""

from __future__ import annotations

from ...core.output import FinishedOutput
from ...evaluation.metrics.items import read_columns
from ...evaluation.metrics.question_graphs import ANSWERED_YES_NO, BANNED
from ...evaluation.tasks import Doc, Task, one_split
from .tables import QUESTIONS, VIDEOS

COLUMNS = ("key", "video_id", "question", "answer", "kind")


def tasks(output: FinishedOutput, split: str | None) -> list[Task]:
    """Return tasks with all questions of a split, except those of excluded categories.

    Options are not listed, as a choice question names them in its text and answers are scored by their words.

    Raises:
        UsageError: The split does not exist.
        InputError: Rows are missing.
    """
    split = one_split(output, QUESTIONS.name, split)
    columns, _ = read_columns(output, QUESTIONS.name, COLUMNS, split)
    docs: dict[str, list[Doc]] = {"node_yes_no": [], "node": []}
    for key, video, question, answer, kind in zip(*(columns[name] for name in COLUMNS), strict=True):
        if kind not in BANNED:
            docs["node_yes_no" if kind in ANSWERED_YES_NO else "node"].append(
                {
                    "id": key,
                    "config": QUESTIONS.name,
                    "table": VIDEOS.name,
                    "key": VIDEOS.columns[0].name,
                    "video": video,
                    "question": question,
                    "answer": answer,
                }
            )
    names = {"node_yes_no": "yes_no", "node": "words"}
    return [Task(names[kind], QUESTIONS.name, split, kind, docs=found) for kind, found in docs.items() if found]
