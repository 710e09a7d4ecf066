"""Fill in the dataset card of question graphs, whose text is in `card.md.j2`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.output import FinishedOutput
from ...core.schema import Row
from ...data_cards.card import Card
from ...evaluation.blind.word_baselines import AnsweredText, question_only_accuracy
from .question_graphs import SCORED_GROUPS
from .settings import settings_of
from .tables import QUESTIONS, REASONS, by_video

TRAIN, TEST = "train", "test"
PAPER_MEAN = 11.49
MOST_READ = 20_000  # maximum number of questions for training blind baselines, and for testing them
EXAMPLE_NODES = 10


class DecompCard(Card):
    """The card of question graphs."""

    folder = Path(__file__).parent

    def fields(self, output: FinishedOutput) -> dict[str, Any]:
        """Compute the fields of the template."""
        counts = count_rows(output)
        kinds, reasons = counts["kinds"].values(), counts.pop("reasons")
        yes_no = {group: [kind for kind in kinds if kind["group"] == group] for group in SCORED_GROUPS}
        return {
            **counts,
            "collection": settings_of(output.info).collection,
            "scene_graphs": any(name.endswith(".pkl") for name in output.info["inputs"]),
            "paper_mean": PAPER_MEAN,
            "reasons": {REASONS.get(code, code): n for code, n in reasons.most_common()},
            "constant_groups": [
                group
                for group, those in yes_no.items()
                if any(kind["yes"] for kind in those) != any(kind["no"] for kind in those)
            ],
            "blind": best_baselines(output),
        }

    def biases(self, output: FinishedOutput, fields: Mapping[str, Any]) -> list[str]:
        """Describe the accuracy of the best blind baseline for each template."""
        return [
            f"{template}: the best of four baselines, trained on train, is right on {best['highest']:.1%} of the "
            f"{best['roots']:,} roots in test without the video."
            for template, best in fields["blind"].items()
        ]


def count_rows(output: FinishedOutput) -> dict[str, Any]:
    """Count the questions and graphs of an output.

    Returns:
        "kinds", counts of questions by category, the most frequent first; "templates", roots by template; "rules",
        compositions by rule; "reasons", unanswered questions by reason; "recomputed", the numbers of roots that the
        scene graph answers, and answers differently; "isolated", roots that no rule decomposes; "mean", the average
        number of sub-questions per root; and "example", the questions of a graph, the root last.
    """
    kinds: dict[str, dict[str, Any]] = {}
    templates, rules, reasons = Counter[str](), Counter[str](), Counter[str]()
    recomputed = differing = isolated = sub_questions = 0
    example: list[Row] = []
    for video in by_video(output):
        for row in video.questions.values():
            kind = kinds.setdefault(row["kind"], {"group": row["group"], "banned": row["banned"]})
            for name, counted in (
                ("questions", True),
                ("roots", row["is_root"]),
                ("answered", row["answer"] is not None),
                ("yes", row["answer"] == "yes"),
                ("no", row["answer"] == "no"),
            ):
                kind[name] = kind.get(name, 0) + counted
            if row["reason"]:
                reasons[row["reason"]] += 1
            if row["is_root"] and row["recomputed"] is not None:
                recomputed += 1
                differing += row["recomputed"] != row["answer"]
        for graph in video.graphs:
            templates[graph["template"] or "unknown"] += 1
            sub_questions += len(graph["nodes"]) - 1
            isolated += graph["isolated"]
            rules.update(edge["rule"] for edge in graph["edges"])
            if len(graph["nodes"]) == EXAMPLE_NODES and not example:
                example = [video.questions[key] for key in graph["nodes"]]
    return {
        "kinds": dict(sorted(kinds.items(), key=lambda item: (-item[1]["questions"], item[0]))),
        "templates": dict(sorted(templates.items())),
        "graphs": templates.total(),
        "mean": sub_questions / max(1, templates.total()),
        "rules": rules.most_common(),
        "reasons": reasons,
        "recomputed": (recomputed, differing),
        "isolated": isolated,
        "example": example,
    }


def best_baselines(output: FinishedOutput) -> dict[str, dict[str, Any]]:
    """Train blind baselines on the roots of train, and return the highest accuracy on those of test, by template."""
    if not {TRAIN, TEST} <= {*output.splits(QUESTIONS.name)}:
        return {}
    roots_of_test = _read_roots(output, TEST)
    roots = Counter(root.kind for root in roots_of_test)
    shares = question_only_accuracy(_read_roots(output, TRAIN), roots_of_test)
    return {
        template: {"roots": roots[template], "highest": max(accuracies.values())}
        for template, accuracies in shares.items()
    }


def _read_roots(output: FinishedOutput, split: str) -> list[AnsweredText]:
    """Read answered roots. The answer to a choice is the position of the option."""
    roots = []
    for row in output.rows(QUESTIONS.name, ["question", "answer", "options", "is_root", "template"], split):
        if row["is_root"] and row["answer"] is not None:
            options, answer = row["options"], row["answer"]
            chosen = len(options) == 2 and options != ["no", "yes"] and options != ["before", "after"]
            position = ("first", "second")[options.index(answer)] if chosen and answer in options else answer
            roots.append(AnsweredText(row["question"], position, row["template"]))
            if len(roots) == MOST_READ:
                break
    return roots
