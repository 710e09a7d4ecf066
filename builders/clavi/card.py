"""Fill in the dataset card of a CLAVI build, whose text is in `card.md.j2`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from ...core.output import FinishedOutput
from ...core.results import Estimate
from ...core.schema import Row
from ...core.source import source_of
from ...data_cards.card import Card, Distribution
from ...evaluation.metrics.bootstrap import estimates
from ...templates import QuestionTemplate, load_natural, load_questions
from .cut_cue import answer_of, predict_order
from .figures import swap_png
from .pairs import MARGIN_S, SPARE_S, Limits
from .plan import load_notes
from .questions import TABLES, templates_of
from .relations import relation_of
from .scores import COLUMNS, NO, YES, count, measure, questions_from
from .settings import AMBIGUOUS, RELATIONS, ClaviSettings, settings_of
from .tables import pair_columns

PAIR_COLUMNS = (
    *("pair_id", "source_id", "subject", "out_a", "in_a", "in_b", "out_b"),
    *(f"{edge}_{letter}_s" for edge in ("start", "end") for letter in "ab"),
    *(f"{what}_{letter}" for what in ("class", "phrase", "verb", "objects") for letter in "abc"),
)
VIDEO_COLUMNS = ("duration_s", "fps", "width", "height")
SLOT = re.compile(r"\{(?:asked_)?([xy])\w*\}")  # an action in the text of a question
EARLY = ("BE-beginning", "BA-before")
EXACT, CUTS = (
    "the most frequent answer to the exact question",
    "knows which videos have cuts, and which actions tend to come first",
)
SHOWN_SCORES = {
    "accuracy": "accuracy",
    "balanced accuracy": "balanced accuracy",
    "CAcc_V complement": "CAcc_V, complement",
    "CAcc_T complement": "CAcc_T, complement",
}
Scores = dict[str, Estimate]


class ClaviCard(Card):
    """The card of a CLAVI build."""

    folder = Path(__file__).parent

    @property
    def notes(self) -> dict[str, str]:
        """Describe the counts from loading and planning."""
        return {name: note["words"] for name, note in load_notes().items()}

    def fields(self, output: FinishedOutput) -> dict[str, Any]:
        """Compute the fields of the template. Only the required columns are read, and no videos."""
        info, settings = output.info, settings_of(output.info)
        optional = {column.name for column in pair_columns(settings)} & {"asked_a", "asked_b", "asked_c", AMBIGUOUS}
        flags = (AMBIGUOUS,) if settings.may_recur else ()
        pairs = {
            split: list(output.whole("pairs", (*PAIR_COLUMNS, *sorted(optional)), split))
            for split in output.splits("pairs")
        }
        questions = {
            split: list(output.whole("questions", (*COLUMNS, "pair_id", "question", "template_id", *flags), split))
            for split in pairs
        }
        every = [row for rows in pairs.values() for row in rows]
        asked = [row for rows in questions.values() for row in rows]
        videos = list(output.whole("videos", VIDEO_COLUMNS)) if "videos" in info["counts"] else []
        lengths = [row["duration_s"] for row in videos] or [row["out_b"] - row["out_a"] for row in every]
        learnt, tested = splits_of_baselines(pairs)
        return {
            "sample": source_of(info).drawn,
            "charades": settings.collection == "charades",
            "rendered": bool(videos),
            "related": settings.relations != RELATIONS[:1],
            "recut": settings.cuts == "release",
            "rules": {"margin": MARGIN_S, "spare": SPARE_S, **vars(Limits.of(settings))},
            "recurring": {
                "again": info["notes"].get("segments_whose_words_come_again_in_their_source", 0),
                "all": info["notes"].get("segments", 0),
            },
            "pairs": len(every),
            "sources": {split: len({row["source_id"] for row in rows}) for split, rows in pairs.items()},
            "people": people_of(pairs),
            "example": next((row for row in every[::-1] if relation_of(row) == "sequence"), every[-1]),
            "wordings": wordings_of(every, settings),
            "numbers": {name: settings.paraphrases * len(load_questions(table)) for name, table in TABLES.items()},
            "types": count_types(questions),
            "distinct": {kind: count_names(every, kind) for kind in ("phrase", "verb", "objects")},
            "actions_s": Distribution.of([row[f"end_{x}_s"] - row[f"start_{x}_s"] for row in every for x in "ab"]),
            "videos_s": Distribution.of(lengths),
            "fps": Distribution.of([row["fps"] for row in videos]) if videos else None,
            "sizes": Counter((row["width"], row["height"]) for row in videos).most_common(),
            "ambiguous": sum(row[AMBIGUOUS] for row in every) if flags else None,
            "doubtful": sum(row[AMBIGUOUS] for row in asked) if flags else 0,
            "unfilled": sum(row["in_a"] == row["in_b"] for row in every),
            "learnt": learnt,
            "tested": tested,
            **blind_scores(questions[learnt], questions[tested], pairs[learnt], pairs[tested], settings),
        }

    def figures(self, output: FinishedOutput, fields: Mapping[str, Any]) -> dict[str, bytes]:
        """Draw the figures, and return PNG files by name."""
        return {"swap.png": swap_png(output, fields["example"])} if fields["rendered"] else {}

    def biases(self, output: FinishedOutput, fields: Mapping[str, Any]) -> list[str]:
        """Describe the accuracy of each blind baseline in one sentence."""
        asked = f"{output.info['counts']['questions'][fields['tested']]:,} questions of split {fields['tested']}"
        return [
            f"{name}: {scores['accuracy'].value:.1%} of the {asked} correct without seeing what happens, "
            f"{scores['balanced accuracy'].value:.1%} with yes and no weighted equally."
            for name, scores in fields["guessed"].items()
            if not isnan(scores["balanced accuracy"].value)
        ]


# Counts


def people_of(pairs: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """Count the people by split, of all splits, and of more than one split."""
    subjects = {split: {row["subject"] for row in rows} for split, rows in pairs.items()}
    counts = Counter(name for names in subjects.values() for name in names)
    return {
        "splits": {split: len(names) for split, names in subjects.items()},
        "all": len(counts),
        "shared": sum(number > 1 for number in counts.values()),
    }


def count_names(pairs: Sequence[Row], kind: str) -> dict[str, int]:
    """Count the different phrases, verbs or objects of A and B, and of A, B and C."""
    names = {letter: {str(name) for row in pairs for name in _listed(row[f"{kind}_{letter}"])} for letter in "abc"}
    swapped = names["a"] | names["b"]
    return {"swapped": len(swapped), "asked": len(swapped | names["c"])}


def _listed(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else [value]


def count_types(questions: Mapping[str, Sequence[Row]]) -> list[dict[str, Any]]:
    """Count the questions of every type by split and by answer, in the order in which the types first occur."""
    counts = Counter(
        (row["type"], row["subset"], split, row["answer"]) for split, rows in questions.items() for row in rows
    )
    return [
        {
            "type": kind,
            "subset": subset,
            "splits": {
                split: counts[kind, subset, split, NO] + counts[kind, subset, split, YES] for split in questions
            },
            "no": sum(counts[kind, subset, split, NO] for split in questions),
            "yes": sum(counts[kind, subset, split, YES] for split in questions),
        }
        for kind, subset in dict.fromkeys(key[:2] for key in counts)
    ]


def wordings_of(pairs: Iterable[Row], settings: ClaviSettings) -> dict[str, list[tuple[QuestionTemplate, str]]]:
    """Return the questions about a video, with A, B and C for the actions, by relation."""
    tables: dict[str, dict[tuple[QuestionTemplate, ...], None]] = {}  # phrases with subjects have other wordings
    for pair in pairs:
        tables.setdefault(relation_of(pair), {})[templates_of(pair, settings)] = None
    return {
        relation: [
            (same[0], " or ".join(dict.fromkeys(_wording(template, settings) for template in same)))
            for same in zip(*tables[relation], strict=True)
        ]
        for relation in RELATIONS
        if relation in tables
    }


def _wording(template: QuestionTemplate, settings: ClaviSettings) -> str:
    natural = settings.wording == "natural"
    texts = load_natural().frames[template.template_id] if natural else (template.text,)
    return " or ".join(SLOT.sub(lambda slot: f"**{getattr(template, slot[1])}**", text) for text in texts)


# Blind baselines


def splits_of_baselines(splits: Iterable[str]) -> tuple[str, str]:
    """Choose the splits on which baselines are trained and tested."""
    names = list(splits)
    others = [name for name in ("test", "validation") if name in names]
    return ("train", others[0]) if "train" in names and others else (names[0], names[0])


def blind_scores(
    known: Sequence[Row],
    asked: Sequence[Row],
    known_pairs: Sequence[Row],
    asked_pairs: Sequence[Row],
    settings: ClaviSettings,
) -> dict[str, Any]:
    """Score baselines that do not see the content of the videos.

    Baselines that learn answers learn them from other source videos. The last one is described in `cut_cue`.

    Returns:
        "guessed", the scores of each baseline; "by_text", the accuracy of the most frequent answer to the exact
        question on existence (E and E-NC), or None; and "cuts", CAcc_V of the last baseline by relation.
    """
    usual = usual_answers(known, asked)
    classes = settings.collection == "charades" and settings.source == "actions"
    order = predict_order(known_pairs, asked_pairs, "class" if classes else "verb", recut=settings.cuts == "release")
    flips = (answer_of(row, order) for row in asked)
    guesses = {
        "no to everything": [NO for _ in asked],
        "yes, except about the negative control": [int(not row["type"].endswith("-NC")) for row in asked],
        "yes to beginning and before, no to the rest": [int(row["template_id"] in EARLY) for row in asked],
        EXACT: usual,
        CUTS: [other if flip is None else int(flip) for flip, other in zip(flips, usual, strict=True)],
    }
    questions = questions_from({name: [row[name] for row in asked] for name in COLUMNS})
    tallies = {name: count(questions, np.array(picks, np.int64)) for name, picks in guesses.items()}
    scores = {name: estimates(tallied, measure) for name, tallied in tallies.items()}
    existence = estimates(tallies[EXACT], lambda means: {name: means[name] for name in ("E", "E-NC") if name in means})
    return {
        "guessed": {name: {shown: found[key] for key, shown in SHOWN_SCORES.items()} for name, found in scores.items()},
        "by_text": sum(score.value for score in existence.values()) / 2 if len(existence) == 2 else None,
        "cuts": {
            relation: scores[CUTS][name]
            for relation in RELATIONS
            if (name := "CAcc_V complement" if relation == RELATIONS[0] else f"CAcc_V {relation}") in scores[CUTS]
        },
    }


def usual_answers(known: Sequence[Row], asked: Sequence[Row]) -> list[int]:
    """Predict the most frequent answer to the exact question in other source videos, or else to its wording.

    Ties are resolved in favour of the more frequent answer overall.
    """
    counts: Counter[tuple[Any, ...]] = Counter()
    for row in known:
        for text in (row["question"], row["template_id"]):
            counts.update([(text, row["answer"]), (text, row["answer"], row["source_id"])])
    common = int(sum(row["answer"] == YES for row in known) > len(known) / 2)
    guesses = []
    for row in asked:
        for text in (row["question"], row["template_id"]):
            no, yes = (counts[text, answer] - counts[text, answer, row["source_id"]] for answer in (NO, YES))
            if no or yes:
                break
        guesses.append(common if no == yes else int(yes > no))
    return guesses
