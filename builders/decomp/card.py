"""Fill in the dataset card of question graphs, whose text is in `card.md.j2`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.output import FinishedOutput
from ...core.source import source_of
from ...data_cards.card import Card
from ...evaluation.blind.word_baselines import QUESTION_ONLY
from .graph_answers import REASONS
from .settings import settings_of
from .statistics import MOST_READ, PAPER_MEAN, DecompStatistics, measure_decomp

TITLES = {
    "sample": "Question graphs on the built-in sample of stressreel",
    "charades": "Question graphs from Charades, built with stressreel",
    "agqa": "AGQA's questions as graphs, built with stressreel",
    "agqa_decomp": "AGQA-Decomp's published graphs, converted by stressreel",
}
BASELINES = {
    "text": "the most common answer to the same question in train",
    "words": "the most common answer to the same words in any order",
    "naive_bayes": "naive Bayes on words and word pairs",
    "regression": "logistic regression on words and word pairs",
}
CONSTANT_HEADINGS = {"accuracy": "accuracy", "CA": "CA", "IC (defined)": "IC"}
MORE_REASONS = {"not_published": "The published graph has no answer."}
NOTES = {
    "videos": "annotated videos read",
    "videos_without_actions": "of these, without actions",
    "videos_without_scene_graph": "of these, without a scene graph",
    "ends_clamped_to_length": "annotated ends after the end of the video, moved to it",
    "starts_past_length": "annotated starts at or after the end of the video",
    "empty_or_inverted_intervals": "annotated intervals without a positive length",
    "questions": "questions read",
    "questions_held_out": "questions omitted from train, because their composition or number of steps is held out",
    "questions_no_partner": "questions omitted, because no other video has the other answer",
    "questions_thinned": "questions omitted, because their answer is too frequent",
    "questions_over_most_per_video": "questions omitted, because their video has enough (`--max-questions-per-video`)",
    "intervals_not_named": "annotated intervals of actions that count, but that no question names",
    "videos_without_questions": "annotated videos without questions",
    "isolated_roots": "roots of `isolated.json`",
}


def card() -> Card:
    """Return the benchmark's part of the card."""
    template = Path(__file__).parent / "card.md.j2"
    return Card(template, measure_decomp, context, front_matter, biases=biases, notes=NOTES)


def biases(output: FinishedOutput, measured: DecompStatistics) -> list[str]:
    """Describe the best blind baseline for each template."""
    found = []
    for template, shares in measured.blind.items():
        best = max(shares, key=lambda name: shares[name])
        found.append(
            f"{template}: {BASELINES[best]}, trained on train, is right on {shares[best]:.1%} of the "
            f"{measured.asked[template]:,} roots in test without the video."
        )
    return found


def front_matter(output: FinishedOutput) -> dict[str, Any]:
    """Return the fields of the YAML header that are specific to this benchmark."""
    return {
        "pretty_name": TITLES[source_of(output.info).key],
        "language": ["en"],
        "task_categories": ["video-text-to-text", "visual-question-answering"],
        "tags": ["video", "video-question-answering", "compositionality", "diagnostic", "agqa-decomp", "stressreel"],
    }


def context(output: FinishedOutput, measured: DecompStatistics) -> dict[str, Any]:
    """Return the values for the card template."""
    info = output.info
    roots = measured.asked.total()
    return {
        "stats": measured,
        "collection": settings_of(info).collection,
        "scene_graphs": any(name.endswith(".pkl") for name in info["inputs"]),
        "mean": measured.sub_questions / max(1, measured.graphs),
        "paper_mean": PAPER_MEAN,
        "most": MOST_READ,
        "reasons": {REASONS.get(code) or MORE_REASONS.get(code, code): n for code, n in measured.reasons.most_common()},
        "guessers": {name: BASELINES[name] for name in QUESTION_ONLY},
        "blind": {
            template: {"roots in test": f"{measured.asked[template]:,}", **shares, "highest": max(shares.values())}
            for template, shares in measured.blind.items()
        },
        "overall": {
            BASELINES[name]: {
                "accuracy": sum(shares[name] * measured.asked[kind] for kind, shares in measured.blind.items()) / roots
            }
            for name in QUESTION_ONLY
            if roots
        },
        "constants": {
            answers: {heading: scores.get(name) for name, heading in CONSTANT_HEADINGS.items()}
            for answers, scores in measured.constants.items()
        },
    }
