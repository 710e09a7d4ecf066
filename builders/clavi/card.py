"""Fill in the dataset card of a CLAVI build, whose text is in `card.md.j2`."""

from __future__ import annotations

from math import fsum
from pathlib import Path
from typing import Any

from ...core.output import FinishedOutput
from ...core.source import source_of
from ...data_cards.card import Card
from ...data_cards.statistics import Distribution
from ...templates import load_questions
from .figures import kind_png, swap_png
from .pairs import MARGIN_S, SPARE_S, Limits
from .plan import load_notes
from .questions import TABLES
from .settings import RELATIONS, settings_of
from .statistics import PHRASE_BASELINES, ClaviStatistics, PhraseCues, measure_clavi

BASELINES = {
    "always_no": "no to everything",
    "early_yes": "yes to beginning and before, no to the rest",
    "wording": "the most frequent answer to the wording (template_id)",
    "question": "the most frequent answer to the exact question",
    "type": "the most frequent answer to the type",
    "cuts": "knows which videos have cuts, and which actions tend to come first",
}


def card() -> Card:
    """Return the benchmark's part of the card."""
    notes = {name: each["words"] for name, each in load_notes().items()}
    return Card(Path(__file__).parent / "card.md.j2", measure_clavi, context, front_matter, figures, biases, notes)


def front_matter(output: FinishedOutput) -> dict[str, Any]:
    """Return the fields of the YAML header that are specific to this benchmark."""
    drawn = source_of(output.info).drawn
    return {
        "pretty_name": "CLAVI on the built-in sample of stressreel" if drawn else "CLAVI, built with stressreel",
        "language": ["en"],
        "task_categories": ["video-text-to-text", "visual-question-answering"],
        "tags": ["video", "video-question-answering", "diagnostic", "temporal-order", "clavi", "stressreel"],
    }


def context(output: FinishedOutput, measured: ClaviStatistics) -> dict[str, Any]:
    """Return the values for the card template."""
    info, settings = output.info, settings_of(output.info)
    source = source_of(info)
    notes = info["notes"]
    scores = {score.name: score for score in measured.audit.scores}
    return {
        "sample": source.drawn,
        "charades": info["settings"].get("charades") is not None,
        "recurring": {
            "again": notes.get("segments_whose_words_come_again_in_their_source", 0),
            "all": notes.get("segments", 0),
        },
        "stats": measured,
        "distinct": {
            kind: {"swapped": sum(a + b > 0 for a, b, _ in counts.values()), "asked": len(counts)}
            for kind, counts in measured.kinds.items()
        },
        "hours": fsum(measured.videos_s) / 3600,
        "rendered": "videos" in info["counts"],
        "asked": {
            relation: slots
            for relation in RELATIONS
            if (slots := [slot for slot in measured.slots if slot.relation == relation])
        },
        "numbers": {name: settings.paraphrases * len(load_questions(table)) for name, table in TABLES.items()},
        "related": settings.relations != RELATIONS[:1],
        "recut": info["settings"].get("cuts", "release") == "release",
        "pairs": sum(measured.pairs.values()),
        "videos": 2 * sum(measured.pairs.values()),
        "questions": sum(info["counts"]["questions"].values()),
        "yes": sum(kind.yes for kind in measured.types),
        "actions_s": Distribution.of(measured.actions_s),
        "videos_s": Distribution.of(measured.videos_s),
        "scores": scores,
        "guessed": {
            words: {
                "accuracy": scores[name].accuracy,
                "balanced accuracy": scores[name].balanced,
                "CAcc_V, complement": scores[name].cacc_v,
                "CAcc_T, complement": scores[name].cacc_t,
            }
            for name, words in BASELINES.items()
            if name in scores
        },
        "guessed_by_type": {words: scores[name].by_type for name, words in BASELINES.items() if name in scores},
        "cues": cue_fields(measured.cues) if measured.cues else None,
        "rules": {"margin": MARGIN_S, "spare": SPARE_S, **vars(Limits.of(settings))},
    }


def cue_fields(cues: PhraseCues) -> dict[str, Any]:
    """Return the table of phrase cues, and which baseline predicts each cue best."""
    first, control = "which of A and B is first in the source", "C told from A and B, balanced"
    rows = {
        words: {first: cues.order[name], control: cues.control[name]} for name, (words, _) in PHRASE_BASELINES.items()
    }
    best = {}
    for what, scores in (("order", cues.order), ("control", cues.control)):
        name = max(scores, key=lambda each: scores[each])
        best[what] = {"accuracy": scores[name], "words": PHRASE_BASELINES[name][0]}
    return {"rows": rows, "best": best}


def figures(output: FinishedOutput, measured: ClaviStatistics) -> dict[str, bytes]:
    """Draw the figures of the card, by file name."""
    drawn = {f"{name}.png": kind_png(name, counts) for name, counts in measured.kinds.items()}
    if "videos" in output.info["counts"]:
        drawn["swap.png"] = swap_png(output, measured.example["pair_id"])
    return drawn


def biases(output: FinishedOutput, measured: ClaviStatistics) -> list[str]:
    """Describe the accuracy of each blind baseline in one sentence."""
    audit = measured.audit
    return [
        f"{BASELINES[score.name]}: {score.accuracy:.1%} of the {audit.questions:,} questions of split {audit.asked} "
        f"correct without seeing what happens, {score.balanced:.1%} with yes and no weighted equally."
        for score in audit.scores
    ]
