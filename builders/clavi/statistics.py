"""What a dataset card says in numbers, counted from the rows of a finished output.

The functions are pure: rows in, numbers out. `measure_clavi` alone reads shards, and of them only the columns that
it needs, never the bytes of a video.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum

from ...core.output import FinishedOutput
from ...core.schema import Row
from ...data_cards.statistics import Spread
from .cues import Cue, measure_cues, splits_asked
from .questions import phrases_of
from .tables import ANSWERS, pair_columns

NO, YES = (ANSWERS.index(name) for name in ("no", "yes"))
LETTERS = "abc"
FLIPPING = "complement"

PAIR_COLUMNS = (
    *("pair_id", "source_id", "subject", "out_a", "in_a", "in_b", "out_b"),
    *(f"{edge}_{letter}_s" for edge in ("start", "end") for letter in "ab"),
    *(f"{what}_{letter}" for what in ("class", "phrase", "verb", "objects") for letter in LETTERS),
)
QUESTION_COLUMNS = (
    *("question_id", "pair_id", "source_id", "question", "answer", "type", "subset", "variant", "template_id"),
    *("complement_question_id", "counterpart_question_id"),
)
VIDEO_COLUMNS = ("duration_s", "fps", "width", "height")


@dataclass(frozen=True)
class PartCounts:
    """How often a kind of thing (action, verb, object) plays each part.

    Attributes:
        counts: For every name, in how many pairs it is (or belongs to) A, B and C; the commonest first.
    """

    counts: dict[str, tuple[int, int, int]]

    @property
    def swapped(self) -> int:
        """Number of different ones among A and B."""
        return sum(a + b > 0 for a, b, _ in self.counts.values())

    @property
    def asked(self) -> int:
        """Number of different ones among A, B and C."""
        return len(self.counts)


@dataclass(frozen=True)
class TypeCount:
    """Questions of one type: how many in each split, and their answers."""

    type: str
    subset: str
    per_video: float
    splits: dict[str, int]
    yes: int
    no: int


@dataclass(frozen=True)
class Slot:
    """One of the questions that every video gets.

    Attributes:
        number: The last two digits of the question id.
        type: E, E-NC, BE, BA or BA-NC.
        template_id: Its wording's key.
        wording: The question with `{A}`, `{B}`, `{C}` for the actions.
        complement: Number of Q′, or None.
        per_video: How many there are for each video.
        yes: Share of "yes" in (V, V′).
    """

    number: str
    type: str
    template_id: str
    wording: str
    complement: str | None
    per_video: float
    yes: tuple[float, float]


@dataclass(frozen=True)
class BlindScore:
    """What a baseline scores that does not look at what happens in the video.

    Attributes:
        name: Name of the baseline.
        accuracy: Of the answers that are likelier to be right.
        balanced: Mean of the accuracies on "yes" and on "no", of answers chosen for it: in each group the answer
            that holds the larger part of its kind.
        cacc_v: Share of the complement subset's questions right about both V and V′.
        cacc_t: Share of the complement subset's (Q, Q′) right together.
        by_type: Accuracy on each type of question.
    """

    name: str
    accuracy: float
    balanced: float
    cacc_v: float
    cacc_t: float
    by_type: dict[str, float]


@dataclass(frozen=True)
class BlindAudit:
    """Blind baselines, on the questions of one split.

    Attributes:
        learnt: Split whose answers the baselines know.
        asked: Split that they answer.
        questions: Number of questions asked.
        seen: Share of them whose exact wording is among the known ones.
        scores: One for each baseline.
        couples: Number of questions of the complement subset, each asked about V and V′.
        equal: How many of those have the same answer in both.
    """

    learnt: str
    asked: str
    questions: int
    seen: float
    scores: tuple[BlindScore, ...]
    couples: int
    equal: int


@dataclass(frozen=True)
class ClaviStatistics:
    """Everything that is measured for a CLAVI card.

    Attributes:
        pairs, sources: Number of pairs and of source videos, by split.
        subjects: Number of people, by split.
        people: Number of people in all.
        shared_people: How many of them are in more than one split.
        actions_s: Annotated durations of A and B, in seconds; one value for every pair that an interval is in.
        videos_s: Durations of V and V′, in seconds.
        unfilled: Number of pairs without a filler, whose V′ has one cut instead of two.
        kinds: "actions" (by phrase), "verbs" and "objects".
        example: The phrases of A, B and C in the last pair, and its id.
        types: Question types in the order of the questions.
        slots: The questions of a video.
        audit: Blind baselines.
        fps: Frame rates of the videos; None if none were made.
        sizes: How many videos have each (width, height), the commonest first.
        cue: What the words of free phrases give away; None for Charades.
    """

    pairs: dict[str, int]
    sources: dict[str, int]
    subjects: dict[str, int]
    people: int
    shared_people: int
    actions_s: tuple[float, ...]
    videos_s: tuple[float, ...]
    unfilled: int
    kinds: dict[str, PartCounts]
    example: dict[str, str]
    types: tuple[TypeCount, ...]
    slots: tuple[Slot, ...]
    audit: BlindAudit
    fps: Spread | None
    sizes: dict[tuple[int, int], int]
    cue: Cue | None = None

    @property
    def hours(self) -> float:
        """Total duration of all V and V′."""
        return fsum(self.videos_s) / 3600


def measure_clavi(output: FinishedOutput) -> ClaviStatistics:
    """Count everything that the card of a CLAVI output says."""
    more = {column.name for column in pair_columns(output.info["settings"].get("collection", "charades"))}
    columns = (*PAIR_COLUMNS, *(name for name in ("asked_a", "asked_b", "asked_c") if name in more))
    pairs = {split: list(output.whole("pairs", columns, split)) for split in output.splits("pairs")}
    questions = {split: list(output.whole("questions", QUESTION_COLUMNS, split)) for split in pairs}
    every = [row for rows in pairs.values() for row in rows]
    asked = [row for rows in questions.values() for row in rows]
    restore_phrases(asked, every)
    videos = list(output.whole("videos", VIDEO_COLUMNS)) if "videos" in output.info["counts"] else []
    subjects = {split: {row["subject"] for row in rows} for split, rows in pairs.items()}
    places = Counter(chain.from_iterable(subjects.values()))
    planned = [row["out_b"] - row["out_a"] for row in every for _ in range(2)]
    return ClaviStatistics(
        pairs={split: len(rows) for split, rows in pairs.items()},
        sources={split: len({row["source_id"] for row in rows}) for split, rows in pairs.items()},
        subjects={split: len(people) for split, people in subjects.items()},
        people=len(places),
        shared_people=sum(count > 1 for count in places.values()),
        actions_s=tuple(row[f"end_{letter}_s"] - row[f"start_{letter}_s"] for row in every for letter in "ab"),
        videos_s=tuple(row["duration_s"] for row in videos) or tuple(planned),
        unfilled=sum(row["in_a"] == row["in_b"] for row in every),
        kinds=count_kinds(every),
        example={name: every[-1][name] for name in ("pair_id", "source_id", "phrase_a", "phrase_b", "phrase_c")},
        types=count_types(questions, 2 * len(every)),
        slots=count_slots(asked),
        audit=audit_blind(questions),
        fps=Spread.of([row["fps"] for row in videos]) if videos else None,
        cue=measure_cues(pairs) if output.info["settings"].get("collection", "charades") != "charades" else None,
        sizes=dict(Counter((row["width"], row["height"]) for row in videos).most_common()),
    )


def count_kinds(pairs: Iterable[Row]) -> dict[str, PartCounts]:
    """Count in how many pairs each action, verb and object plays each part."""
    counts: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in ("actions", "verbs", "objects")}
    for row in pairs:
        for letter in LETTERS:
            counts["actions"][row[f"phrase_{letter}"], letter] += 1
            counts["verbs"][row[f"verb_{letter}"], letter] += 1
            counts["objects"].update((name, letter) for name in row[f"objects_{letter}"])
    found = {}
    for kind, parts in counts.items():
        by_name = {name: (parts[name, "a"], parts[name, "b"], parts[name, "c"]) for name, _ in parts}
        found[kind] = PartCounts(dict(sorted(by_name.items(), key=lambda item: (-sum(item[1]), item[0]))))
    return found


def count_types(questions: Mapping[str, Sequence[Row]], videos: int) -> tuple[TypeCount, ...]:
    """Count the questions of every type, in the order in which the types first come."""
    counts = Counter(
        (row["type"], row["subset"], split, row["answer"]) for split, rows in questions.items() for row in rows
    )
    found = []
    for name, subset in dict.fromkeys(key[:2] for key in counts):
        splits = {split: sum(counts[name, subset, split, answer] for answer in (NO, YES)) for split in questions}
        no, yes = (sum(counts[name, subset, split, answer] for split in questions) for answer in (NO, YES))
        found.append(TypeCount(name, subset, (no + yes) / videos, splits, yes, no))
    return tuple(found)


def restore_phrases(questions: Iterable[Row], pairs: Iterable[Row]) -> None:
    """Add to every question its `wording`, with `{A}`, `{B}`, `{C}` for the phrases, and its `phrases` in order."""
    known: dict[str, tuple[list[tuple[str, str]], dict[str, str]]] = {}
    for pair in pairs:
        phrases, asked = phrases_of(pair)
        forms = [(text, letter) for texts in (phrases, asked) for letter, text in texts.items() if text]
        known[pair["pair_id"]] = (sorted(forms, key=lambda form: -len(form[0])), phrases)
    for row in questions:
        wording, (forms, phrases) = row["question"], known[row["pair_id"]]
        for text, letter in forms:
            wording = wording.replace(text, f"{{{letter}}}")
        places = sorted((wording.find(f"{{{letter}}}"), phrase) for letter, phrase in phrases.items())
        row["wording"], row["phrases"] = wording, tuple(phrase for place, phrase in places if place >= 0)


def count_slots(questions: Iterable[Row]) -> tuple[Slot, ...]:
    """Find the questions that every video gets, from rows that `restore_phrases` has seen."""
    counts: dict[tuple[str, ...], Counter[tuple[str, int]]] = {}
    videos = set()
    for row in questions:
        link = row["complement_question_id"] or ""
        key = (row["question_id"][-2:], row["type"], row["template_id"], row["wording"], link[-2:])
        counts.setdefault(key, Counter())[row["variant"], row["answer"]] += 1
        videos.add(row["question_id"][:-3])
    return tuple(
        Slot(
            *(number, kind, template, wording, link or None, found.total() / len(videos)),
            (_yes_share(found, "original"), _yes_share(found, "complement")),
        )
        for (number, kind, template, wording, link), found in sorted(counts.items())
    )


def _yes_share(found: Mapping[tuple[str, int], int], variant: str) -> float:
    yes, no = found[variant, YES], found[variant, NO]
    return yes / (yes + no) if yes + no else 0.0


Groups = tuple[Callable[[Row], Hashable], ...]
"""How a baseline groups questions: the finest grouping first; the next is asked where a group is unknown."""

FIXED: dict[str, Callable[[Row], int]] = {
    "always_no": lambda row: NO,
    "early_yes": lambda row: YES if row["template_id"] in ("BE-beginning", "BA-before") else NO,
}
LEARNT: dict[str, Groups] = {
    "wording": (lambda row: row["template_id"],),
    "question": (lambda row: row["question"], lambda row: row["template_id"]),
    "type": (lambda row: row["type"],),
}


def audit_blind(questions: Mapping[str, Sequence[Row]]) -> BlindAudit:
    """Let baselines answer that do not look at what happens in the videos; rows as `restore_phrases` leaves them.

    They know the answers of the train split and are asked the test split, or validation where there is none; where a
    build has one split, they know that of all other source videos. Ties go to the answer that is commoner overall.

    Args:
        questions: The questions of each split.
    """
    learnt, asked = splits_asked(questions)
    known, rows = questions[learnt], questions[asked]
    scores = [_score(name, rows, [guess(row) for row in rows], None) for name, guess in FIXED.items()]
    scores += [_score(name, rows, *_guess(known, rows, groups)) for name, groups in LEARNT.items()]
    scores.append(_score("cuts", rows, _guess_from_cuts(known, rows), None))
    flips = {row["question_id"]: row for row in rows if row["subset"] == FLIPPING}
    others = [flips.get(row["counterpart_question_id"], {}) for row in flips.values()]
    elsewhere = _count_elsewhere(known, lambda row: row["question"])
    return BlindAudit(
        learnt=learnt,
        asked=asked,
        questions=len(rows),
        seen=_mean([any(elsewhere(row["question"], row["source_id"])) for row in rows]),
        scores=tuple(scores),
        couples=len(flips) // 2,
        equal=sum(row["answer"] == other.get("answer") for row, other in zip(flips.values(), others, strict=True)) // 2,
    )


def _count_elsewhere(
    rows: Iterable[Row], group: Callable[[Row], Hashable]
) -> Callable[[Hashable, str], tuple[int, int]]:
    """Count the answers of each group; the function returned gives "no" and "yes" about all source videos but one."""
    counts: Counter[tuple[Hashable, int]] = Counter()
    own: Counter[tuple[str, Hashable, int]] = Counter()
    for row in rows:
        counts[group(row), row["answer"]] += 1
        own[row["source_id"], group(row), row["answer"]] += 1

    def elsewhere(name: Hashable, source: str) -> tuple[int, int]:
        return (
            counts[name, NO] - own[source, name, NO],
            counts[name, YES] - own[source, name, YES],
        )

    return elsewhere


def _guess(known: Sequence[Row], asked: Sequence[Row], groups: Groups) -> tuple[list[int], list[int]]:
    """Answer every question with the commonest answer of its group, plainly and with "yes" and "no" weighted alike."""
    everything = Counter(row["answer"] for row in known)
    levels = [_count_elsewhere(known, group) for group in groups]
    common = int(everything[YES] > everything[NO])
    plain, weighted = [], []
    for row in asked:
        counted = (level(group(row), row["source_id"]) for level, group in zip(levels, groups, strict=True))
        no, yes = next(filter(any, counted), (0, 0))
        plain.append(common if yes == no else int(yes > no))
        left, right = yes * everything[NO], no * everything[YES]
        weighted.append(common if left == right else int(left > right))
    return plain, weighted


def _guess_from_cuts(known: Sequence[Row], asked: Sequence[Row]) -> list[int]:
    """Answer from two things alone: whether the video was recut, and which action of the two usually comes first.

    How often an action comes first is learnt from the BE questions about V; of two that are equal, the first by the
    alphabet. E questions are answered by their wording alone.
    """
    beginnings = [row for row in known if (row["template_id"], row["variant"]) == ("BE-beginning", "original")]
    elsewhere = _count_elsewhere(beginnings, lambda row: row["phrases"])

    def early(phrase: str, source: str) -> tuple[float, str]:
        no, yes = elsewhere((phrase,), source)
        return ((no + 1) / (no + yes + 2), phrase)

    guesses = []
    for row, guess in zip(asked, _guess(known, asked, LEARNT["question"])[0], strict=True):
        if not row["type"].startswith("E"):
            late = [early(phrase, row["source_id"]) for phrase in row["phrases"]]
            begins = late[0] < late[1] if len(late) == 2 else late[0][0] <= 0.5
            turned = row["template_id"] in ("BE-end", "BA-after")
            guess = YES if begins ^ turned ^ (row["variant"] == "complement") else NO
        guesses.append(guess)
    return guesses


def _score(name: str, rows: Sequence[Row], plain: Sequence[int], weighted: Sequence[int] | None) -> BlindScore:
    """Score answers; see `BlindScore`."""
    right = {row["question_id"]: guess == row["answer"] for row, guess in zip(rows, plain, strict=True)}
    by_type: dict[str, list[bool]] = {}
    for row in rows:
        by_type.setdefault(row["type"], []).append(right[row["question_id"]])
    hits, totals = Counter[int](), Counter[int]()
    for row, guess in zip(rows, plain if weighted is None else weighted, strict=True):
        totals[row["answer"]] += 1
        hits[row["answer"]] += guess == row["answer"]
    flipping = [row for row in rows if row["subset"] == FLIPPING]

    def both(link: str) -> float:
        return _mean([right[row["question_id"]] and right.get(row[link], False) for row in flipping])

    return BlindScore(
        name=name,
        accuracy=_mean(right.values()),
        balanced=_mean([hits[answer] / total for answer, total in totals.items()]),
        cacc_v=both("counterpart_question_id"),
        cacc_t=both("complement_question_id"),
        by_type={kind: _mean(found) for kind, found in by_type.items()},
    )


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fsum(found) / len(found) if found else 0.0
