"""Compute the statistics on the card of question graphs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ...core.output import FinishedOutput
from ...core.schema import Row
from ...evaluation.blind.word_baselines import AnsweredText, question_only_accuracy
from ...evaluation.metrics.bootstrap import estimates
from ...evaluation.metrics.compositional_accuracy import constant_groups, count, measure
from ...evaluation.metrics.question_graphs import SCORED_GROUPS, constant_answers
from .scores import read_graphs
from .tables import QUESTIONS
from .video_rows import by_video

TRAIN, TEST = "train", "test"
PAPER_MEAN = 11.49
MOST_READ = 20_000  # maximum number of questions for training blind baselines, and for testing them
SHOWN_CONSTANTS = {"commonest": "the most common answer to the kind"}
CONSTANT_SCORES = ("accuracy", "CA", "IC (defined)")


@dataclass
class KindCounts:
    """Numbers of questions in a category: all, roots, answered ones, and those with the answer "yes" or "no"."""

    group: str
    banned: bool
    questions: int = 0
    roots: int = 0
    answered: int = 0
    yes: int = 0
    no: int = 0


@dataclass
class TemplateCounts:
    """The number of roots of a template, and of all their sub-questions."""

    roots: int = 0
    sub_questions: int = 0

    @property
    def mean(self) -> float:
        """Return the average number of sub-questions per root."""
        return self.sub_questions / self.roots


@dataclass
class DecompStatistics:
    """All statistics on the card.

    Attributes:
        kinds: Counts by category, most frequent first.
        rules: Number of compositions by each rule.
        depths: Number of graphs by depth.
        reasons: Unanswered questions by reason.
        recomputed: Number of roots that the scene graph answers, and of those with a different answer.
        isolated: Number of roots that no rule decomposes.
        sub_questions: Number of sub-questions in all graphs; a shared one counts once per graph.
        blind: Accuracy of each blind baseline, trained on train, on the roots of test, by template.
        asked: Number of these roots by template.
        constants: Scores of constant answers.
        example: A graph with its questions, the root last.
    """

    kinds: dict[str, KindCounts] = field(default_factory=dict)
    templates: dict[str, TemplateCounts] = field(default_factory=dict)
    rules: Counter[str] = field(default_factory=Counter)
    depths: Counter[int] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    recomputed: tuple[int, int] = (0, 0)
    isolated: int = 0
    sub_questions: int = 0
    blind: dict[str, dict[str, float]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    constants: dict[str, dict[str, float]] = field(default_factory=dict)
    example: list[Row] = field(default_factory=list)

    @property
    def constant_groups(self) -> tuple[str, ...]:
        """Return the groups of yes/no questions that all have the same correct answer."""
        given = {group: [kind for kind in self.kinds.values() if kind.group == group] for group in SCORED_GROUPS}
        return tuple(
            group for group, kinds in given.items() if any(kind.yes for kind in kinds) != any(kind.no for kind in kinds)
        )

    @property
    def graphs(self) -> int:
        """Return the number of roots."""
        return sum(template.roots for template in self.templates.values())


def measure_decomp(output: FinishedOutput) -> DecompStatistics:
    """Compute all statistics on the card."""
    found = DecompStatistics()
    recomputed = differing = 0
    for video in by_video(output):
        for row in video.questions.values():
            kind = found.kinds.setdefault(row["kind"], KindCounts(row["group"], row["banned"]))
            kind.questions += 1
            kind.roots += row["is_root"]
            kind.answered += row["answer"] is not None
            kind.yes += row["answer"] == "yes"
            kind.no += row["answer"] == "no"
            if row["reason"]:
                found.reasons[row["reason"]] += 1
            if row["is_root"] and row["recomputed"] is not None:
                recomputed += 1
                differing += row["recomputed"] != row["answer"]
        for graph in video.graphs:
            template = found.templates.setdefault(graph["template"] or "unknown", TemplateCounts())
            template.roots += 1
            template.sub_questions += len(graph["nodes"]) - 1
            found.isolated += graph["isolated"]
            found.sub_questions += len(graph["nodes"]) - 1
            found.depths[graph["depth"]] += 1
            found.rules.update(edge["rule"] for edge in graph["edges"])
            if len(graph["nodes"]) == 10 and not found.example:
                found.example = [video.questions[key] for key in graph["nodes"]]
    found.recomputed = recomputed, differing
    found.kinds = dict(sorted(found.kinds.items(), key=lambda item: (-item[1].questions, item[0])))
    found.templates = dict(sorted(found.templates.items()))
    found.blind = _blind(output, found.asked)
    found.constants = _constants(output)
    return found


def _blind(output: FinishedOutput, asked: Counter[str]) -> dict[str, dict[str, float]]:
    """Train blind baselines on the roots of train, and return their accuracies on those of test."""
    splits = output.splits(QUESTIONS.name)
    if TRAIN not in splits or TEST not in splits:
        return {}
    reads = {split: _reads(output, split) for split in (TRAIN, TEST)}
    asked.update(read.kind for read in reads[TEST])
    return question_only_accuracy(reads[TRAIN], reads[TEST])


def _reads(output: FinishedOutput, split: str) -> list[AnsweredText]:
    columns = ["question", "answer", "options", "is_root", "template"]
    found = []
    for row in output.rows(QUESTIONS.name, columns, split):
        if row["is_root"] and row["answer"] is not None:
            options, answer = row["options"], row["answer"]
            choice = len(options) == 2 and options != ["no", "yes"] and options != ["before", "after"]
            place = ("first", "second")[options.index(answer)] if choice and answer in options else answer
            found.append(AnsweredText(row["question"], place, row["template"]))
            if len(found) == MOST_READ:
                break
    return found


def _constants(output: FinishedOutput) -> dict[str, dict[str, float]]:
    split = TEST if TEST in output.splits(QUESTIONS.name) else "all"
    videos, graphs = [], 0
    for video in read_graphs(output, split):
        videos.append(video)
        graphs += len(video.graphs)
        if graphs >= MOST_READ:
            break
    nodes = [node for video in videos for node in video.nodes.values()]
    left_out = constant_groups(nodes)
    found = {}
    for name, given in constant_answers(nodes).items():
        counted, _ = count(videos, given, left_out=left_out)
        scored = estimates(counted, measure(counted.cells), seed=0, resamples=100)
        found[SHOWN_CONSTANTS.get(name, name)] = {
            key: score.value for key, score in scored.items() if key in CONSTANT_SCORES
        }
    return found
