"""Fill in the dataset card of a CLAVI build, whose text is in `card.md.j2`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import isnan
from pathlib import Path
from typing import Any

from ...core.output import FinishedOutput
from ...core.schema import Row
from ...core.shards import chosen_rows
from ...core.source import source_of
from ...data_cards.card import Card, Distribution
from ...data_cards.figures import Strip, contact_sheet, frames_at
from ...templates import QuestionTemplate, load_natural, load_questions
from .baselines import blind_scores, splits_of_baselines
from .pairs import MARGIN_S, PIECES, SPARE_S, Limits, relation_of
from .plan import load_notes
from .questions import TABLES, templates_of
from .scores import COLUMNS, NO, YES
from .settings import AMBIGUOUS, RELATIONS, ClaviSettings, settings_of
from .tables import pair_columns

PAIR_COLUMNS = (
    *("pair_id", "source_id", "subject", "out_a", "in_a", "in_b", "out_b"),
    *(f"{edge}_{letter}_s" for edge in ("start", "end") for letter in "ab"),
    *(f"{what}_{letter}" for what in ("class", "phrase", "verb", "objects") for letter in "abc"),
)
FRAMES, SIDE = 10, 96
BORDERS = ("out_a", "in_a", "in_b", "out_b")
VIDEO_COLUMNS = ("duration_s", "fps", "width", "height")
SLOT = re.compile(r"\{(?:asked_)?([xy])\w*\}")  # an action in the text of a question


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
        all_pairs = [row for rows in pairs.values() for row in rows]
        all_questions = [row for rows in questions.values() for row in rows]
        videos = list(output.whole("videos", VIDEO_COLUMNS)) if "videos" in info["counts"] else []
        lengths = [row["duration_s"] for row in videos] or [row["out_b"] - row["out_a"] for row in all_pairs]
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
            "pairs": len(all_pairs),
            "sources": {split: len({row["source_id"] for row in rows}) for split, rows in pairs.items()},
            "people": people_of(pairs),
            "example": next((row for row in all_pairs[::-1] if relation_of(row) == "sequence"), all_pairs[-1]),
            "wordings": wordings_of(all_pairs, settings),
            "numbers": {name: settings.paraphrases * len(load_questions(table)) for name, table in TABLES.items()},
            "types": count_types(questions),
            "distinct": {kind: count_names(all_pairs, kind) for kind in ("phrase", "verb", "objects")},
            "actions_s": Distribution.of([row[f"end_{x}_s"] - row[f"start_{x}_s"] for row in all_pairs for x in "ab"]),
            "videos_s": Distribution.of(lengths),
            "fps": Distribution.of([row["fps"] for row in videos]) if videos else None,
            "sizes": Counter((row["width"], row["height"]) for row in videos).most_common(),
            "ambiguous": sum(row[AMBIGUOUS] for row in all_pairs) if flags else None,
            "doubtful": sum(row[AMBIGUOUS] for row in all_questions) if flags else 0,
            "unfilled": sum(row["in_a"] == row["in_b"] for row in all_pairs),
            "learnt": learnt,
            "tested": tested,
            **blind_scores(questions[learnt], questions[tested], pairs[learnt], pairs[tested], settings),
        }

    def figures(self, output: FinishedOutput, fields: Mapping[str, Any]) -> dict[str, bytes]:
        """Draw the figures, and return PNG files by name."""
        return {"swap.png": swap_png(output, fields["example"])} if fields["rendered"] else {}

    def biases(self, output: FinishedOutput, fields: Mapping[str, Any]) -> list[str]:
        """Describe the accuracy of each blind baseline in one sentence."""
        tested_questions = (
            f"{output.info['counts']['questions'][fields['tested']]:,} questions of split {fields['tested']}"
        )
        return [
            f"{name}: {scores['accuracy'].value:.1%} of the {tested_questions} correct without seeing what happens, "
            f"{scores['balanced accuracy'].value:.1%} with yes and no weighted equally."
            for name, scores in fields["guessed"].items()
            if not isnan(scores["balanced accuracy"].value)
        ]


def people_of(pairs: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """Count the people by split, of all splits, and of more than one split."""
    subjects = {split: {row["subject"] for row in rows} for split, rows in pairs.items()}
    counts = Counter(name for names in subjects.values() for name in names)
    return {
        "splits": {split: len(names) for split, names in subjects.items()},
        "all": len(counts),
        "shared": sum(count > 1 for count in counts.values()),
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


def swap_png(output: FinishedOutput, pair: Row) -> bytes:
    """Draw frames of V and of V′ at equal distances, with the actions that each piece shows below."""
    videos = sorted(
        chosen_rows(output.shards("videos"), "pair_id", {pair["pair_id"]}), key=lambda row: str(row["video_id"])
    )
    pieces = PIECES[relation_of(pair)]
    lengths = [stop - start for start, stop in pairwise(pair[name] for name in BORDERS)]
    return contact_sheet(
        [
            _strip(videos[0], "V", f"A: {pair['phrase_a']}", pieces, lengths),
            _strip(videos[1], "V′", f"B: {pair['phrase_b']}", pieces[::-1], lengths[::-1]),
        ],
        SIDE,
    )


def _strip(video: Row, title: str, details: str, pieces: tuple[str, ...], lengths: list[float]) -> Strip:
    middles = [(2 * index + 1) / (2 * FRAMES) for index in range(FRAMES)]
    frames = frames_at(video, [int(middle * video["num_frames"]) for middle in middles])
    stops = [stop / sum(lengths) for stop in accumulate(lengths)]
    shown = [next((piece for piece, stop in zip(pieces, stops, strict=True) if at < stop), "") for at in middles]
    return Strip(title, details, list(zip(frames, shown, strict=True)))
