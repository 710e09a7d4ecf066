"""Compute the statistics on the card of a CLAVI build: counts, blind baselines, and cues in the phrases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum
from typing import NamedTuple

from ...core.output import FinishedOutput
from ...core.results import Estimate
from ...core.schema import Row
from ...data_cards.statistics import Distribution
from ...evaluation.blind.word_baselines import fit_logistic, words_of
from ...templates import load_natural, load_questions
from .cut_cue import answer_of, consistent_by_relation, predict_order
from .questions import DEFAULT, TABLES, natural_forms, phrases_of
from .relations import relation_of
from .settings import AMBIGUOUS, RELATION_STEP, RELATIONS, ClaviSettings, settings_of
from .tables import ANSWERS, pair_columns

NO, YES = (ANSWERS.index(name) for name in ("no", "yes"))
LETTERS = "abc"
PAIR_COLUMNS = (
    *("pair_id", "source_id", "subject", "out_a", "in_a", "in_b", "out_b"),
    *(f"{edge}_{letter}_s" for edge in ("start", "end") for letter in "ab"),
    *(f"{what}_{letter}" for what in ("class", "phrase", "verb", "objects") for letter in LETTERS),
)
QUESTION_COLUMNS = (
    *("question_id", "pair_id", "source_id", "question", "answer", "type", "subset", "variant", "template_id"),
    *("type_id", "complement_question_id", "counterpart_question_id"),
)
VIDEO_COLUMNS = ("duration_s", "fps", "width", "height")
PhraseFeatures = Callable[[Row, str], Sequence[str]]
PHRASE_BASELINES: dict[str, tuple[str, PhraseFeatures]] = {
    "phrase": ("knows the exact phrase", lambda pair, letter: [pair[f"phrase_{letter}"]]),
    "verb": ("knows the verb", lambda pair, letter: [pair[f"verb_{letter}"]]),
    "words": ("knows the words and pairs of words", lambda pair, letter: words_of(pair[f"phrase_{letter}"])),
    "length": (
        "knows the number of words",
        lambda pair, letter: ["length"] * len(pair[f"phrase_{letter}"].split()),
    ),
}
"""Baselines on phrases: what the card says of each, and the features that it has of A, B or C."""

PartCounts = dict[str, tuple[int, int, int]]
"""For every name the number of pairs in which it is (or belongs to) A, B and C, the most frequent first."""


class TypeCount(NamedTuple):
    """The number of questions of one type, by split and by answer."""

    type: str
    subset: str
    per_video: float
    splits: dict[str, int]
    yes: int
    no: int


class QuestionSlot(NamedTuple):
    """One of the questions that are asked about every video.

    Attributes:
        number: Last two digits of the question id.
        type: E, E-NC, BE, BA or BA-NC.
        wording: The question with `{A}`, `{B}`, `{C}` in place of the actions.
        complement: Number of Q′, or None.
        yes: Share of "yes" in (V, V′).
        relation: Relation of the pairs that have the question.
    """

    number: str
    type: str
    wording: str
    complement: str | None
    per_video: float
    yes: tuple[float, float]
    relation: str = "sequence"


class BlindScore(NamedTuple):
    """The scores of a blind baseline.

    Attributes:
        accuracy: Share of correct answers.
        balanced: Balanced accuracy of answers optimized for it: each group is assigned the answer of which it contains
            the larger share.
        cacc_v: Share of the questions of the complement subset with correct answers about both V and V′.
        cacc_t: Share of (Q, Q′) in the complement subset with correct answers to both.
    """

    name: str
    accuracy: float
    balanced: float
    cacc_v: float
    cacc_t: float
    by_type: dict[str, float]


@dataclass(frozen=True)
class BlindAudit:
    """How blind baselines score on the questions of one split.

    Attributes:
        learnt, asked: Training split of the baselines, and test split.
        seen: Share of test questions that occur verbatim in the training split.
        cuts: CAcc_V of the baseline "cuts" on the complement questions of every relation.
        couples: Number of questions in the complement subset, each asked about V and V′.
        equal: Number of those with the same answer for both.
    """

    learnt: str
    asked: str
    questions: int
    seen: float
    scores: tuple[BlindScore, ...]
    cuts: dict[str, Estimate]
    couples: int
    equal: int


@dataclass(frozen=True)
class PhraseCues:
    """How well baselines that see only phrases predict the order of actions, and which phrase is a negative control.

    Attributes:
        learnt, asked: Training split of the baselines, and test split.
        order: Accuracy of each baseline in predicting which of A and B is first in the source.
        control: Balanced accuracy of each baseline in distinguishing C from A and B.
        seen: Share of their A and B whose phrase occurs in the training split.
    """

    learnt: str
    asked: str
    order: dict[str, float]
    control: dict[str, float]
    pairs: int
    seen: float


@dataclass(frozen=True)
class ClaviStatistics:
    """All statistics on the card.

    Attributes:
        pairs, sources, subjects: Number of pairs, source videos and people, by split.
        shared_people: Number of people in more than one split.
        actions_s: Annotated durations of A and B in seconds; one value for every pair that contains an interval.
        videos_s: Durations of V and V′ in seconds.
        ambiguous: Number of pairs of which A or B has another interval in the clip; None if the rules exclude them.
        doubtful: Number of questions about their order.
        unfilled: Number of pairs without a filler, whose V′ has one cut instead of two.
        kinds: Counts of "actions" (by phrase), "verbs" and "objects".
        example: Phrases of A, B and C in the last pair, and its id.
        types: Question types in the order of the questions.
        slots: The questions about a video.
        fps: Frame rates of the videos; None if none were rendered.
        sizes: Number of videos by (width, height), the most frequent first.
        cues: Cues in free phrases; None for Charades.
    """

    pairs: dict[str, int]
    sources: dict[str, int]
    subjects: dict[str, int]
    people: int
    shared_people: int
    actions_s: tuple[float, ...]
    videos_s: tuple[float, ...]
    ambiguous: int | None
    doubtful: int
    unfilled: int
    kinds: dict[str, PartCounts]
    example: dict[str, str]
    types: tuple[TypeCount, ...]
    slots: tuple[QuestionSlot, ...]
    audit: BlindAudit
    fps: Distribution | None
    sizes: dict[tuple[int, int], int]
    cues: PhraseCues | None


def measure_clavi(output: FinishedOutput) -> ClaviStatistics:
    """Compute all statistics of an output. Only the required columns are read, and no videos."""
    settings = settings_of(output.info)
    more = {column.name for column in pair_columns(settings)}
    columns = (*PAIR_COLUMNS, *(name for name in ("asked_a", "asked_b", "asked_c", AMBIGUOUS) if name in more))
    flags = (AMBIGUOUS,) * settings.may_recur
    pairs = {split: list(output.whole("pairs", columns, split)) for split in output.splits("pairs")}
    questions = {split: list(output.whole("questions", (*QUESTION_COLUMNS, *flags), split)) for split in pairs}
    every = [row for rows in pairs.values() for row in rows]
    asked = [row for rows in questions.values() for row in rows]
    restore_phrases(asked, every, settings)
    example = next((row for row in every[::-1] if relation_of(row) == "sequence"), every[-1])
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
        ambiguous=sum(row[AMBIGUOUS] for row in every) if settings.may_recur else None,
        doubtful=sum(row[AMBIGUOUS] for row in asked) if settings.may_recur else 0,
        unfilled=sum(row["in_a"] == row["in_b"] for row in every),
        kinds=count_kinds(every),
        example={name: example[name] for name in ("pair_id", "phrase_a", "phrase_b", "phrase_c")},
        types=count_types(questions, 2 * len(every)),
        slots=count_slots(asked),
        audit=audit_blind(questions, pairs, settings),
        fps=Distribution.of([row["fps"] for row in videos]) if videos else None,
        sizes=dict(Counter((row["width"], row["height"]) for row in videos).most_common()),
        cues=None if settings.collection == "charades" else measure_cues(pairs),
    )


# Counts


def count_kinds(pairs: Iterable[Row]) -> dict[str, PartCounts]:
    """Count the pairs in which each action, verb and object plays each part."""
    counts: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in ("actions", "verbs", "objects")}
    for row in pairs:
        for letter in LETTERS:
            counts["actions"][row[f"phrase_{letter}"], letter] += 1
            counts["verbs"][row[f"verb_{letter}"], letter] += 1
            counts["objects"].update((name, letter) for name in row[f"objects_{letter}"])
    found = {}
    for kind, parts in counts.items():
        by_name = {name: (parts[name, "a"], parts[name, "b"], parts[name, "c"]) for name, _ in parts}
        found[kind] = dict(sorted(by_name.items(), key=lambda item: (-sum(item[1]), item[0])))
    return found


def count_types(questions: Mapping[str, Sequence[Row]], videos: int) -> tuple[TypeCount, ...]:
    """Count the questions of every type, in the order in which the types first occur."""
    counts = Counter(
        (row["type"], row["subset"], split, row["answer"]) for split, rows in questions.items() for row in rows
    )
    found = []
    for name, subset in dict.fromkeys(key[:2] for key in counts):
        splits = {split: sum(counts[name, subset, split, answer] for answer in (NO, YES)) for split in questions}
        no, yes = (sum(counts[name, subset, split, answer] for split in questions) for answer in (NO, YES))
        found.append(TypeCount(name, subset, (no + yes) / videos, splits, yes, no))
    return tuple(found)


def restore_phrases(questions: Iterable[Row], pairs: Iterable[Row], settings: ClaviSettings = DEFAULT) -> None:
    """Add to every question its `wording`, with `{A}`, `{B}`, `{C}` for the phrases."""
    known: dict[str, list[tuple[str, str]]] = {}
    for pair in pairs:
        phrases, asked = phrases_of(pair)
        texts: list[tuple[str, ...]] = [(phrases[letter], asked[letter]) for letter in phrases]
        if settings.wording == "natural":
            texts = [mentions(forms) for forms in natural_forms(pair, settings).values()]
        forms = [(text, letter) for letter, those in zip(phrases, texts, strict=True) for text in those if text]
        known[pair["pair_id"]] = sorted(forms, key=lambda form: -len(form[0]))
    for row in questions:
        wording = row["question"]
        for text, letter in known[row["pair_id"]]:
            wording = wording.replace(text, f"{{{letter}}}")
        row["wording"] = wording


def mentions(forms: Mapping[str, str]) -> tuple[str, ...]:
    """Return how questions may word an action: in each form, with indefinite and with definite objects."""
    return (*forms.values(), *load_natural().repeated(forms, forms["x"]).values())


def count_slots(questions: Iterable[Row]) -> tuple[QuestionSlot, ...]:
    """Return the questions that are asked about every video, from rows processed by `restore_phrases`."""
    counts: dict[tuple[str, ...], Counter[tuple[str, int]]] = {}
    wordings: dict[tuple[str, str], Counter[str]] = {}
    videos: dict[str, set[str]] = {}
    for row in questions:
        relation = RELATIONS[row["type_id"] // RELATION_STEP % len(RELATIONS)]
        of_a_video = len(load_questions(TABLES[relation]))
        link = row["complement_question_id"] or ""
        number, opposite = (_slot_number(name, of_a_video) for name in (row["question_id"], link))
        key = (relation, number, row["type"], row["template_id"], opposite)
        counts.setdefault(key, Counter())[row["variant"], row["answer"]] += 1
        wordings.setdefault(key[:2], Counter())[row["wording"]] += 1
        videos.setdefault(relation, set()).add(row["question_id"][:-3])
    slots = []
    ordered = sorted(counts.items(), key=lambda item: (RELATIONS.index(item[0][0]), item[0]))
    for (relation, number, kind, _, link), found in ordered:
        wording = _main_wordings(wordings[relation, number])
        v, v_prime = (
            found[variant, YES] / (found[variant, YES] + found[variant, NO] or 1)
            for variant in ("original", "complement")
        )
        per_video = found.total() / len(videos[relation])
        slots.append(QuestionSlot(number, kind, wording, link or None, per_video, (v, v_prime), relation))
    return tuple(slots)


def _slot_number(question_id: str, of_a_video: int) -> str:
    """Return the last two digits of an id, without the digits that count paraphrases."""
    digits = question_id[-2:]
    return f"{int(digits) % of_a_video:02d}" if digits.isdecimal() else digits


def _main_wordings(counts: Counter[str]) -> str:
    """Return the wordings of a question, most frequent first, without those of less than 1% of the videos."""
    return " or ".join(wording for wording, count in counts.most_common() if count >= counts.total() / 100)


# Blind baselines on questions

QuestionGroups = tuple[Callable[[Row], Hashable], ...]
"""How a baseline groups questions: the finest grouping first; the next is used where a group is unknown."""

FIXED: dict[str, Callable[[Row], int]] = {
    "always_no": lambda row: NO,
    "early_yes": lambda row: YES if row["template_id"] in ("BE-beginning", "BA-before") else NO,
}
LEARNT: dict[str, QuestionGroups] = {
    "wording": (lambda row: row["template_id"],),
    "question": (lambda row: row["question"], lambda row: row["template_id"]),
    "type": (lambda row: row["type"],),
}


def has_classes(settings: ClaviSettings) -> bool:
    """Return whether actions are classes of Charades and not free phrases."""
    return settings.collection == "charades" and settings.source == "actions"


def splits_asked(splits: Iterable[str]) -> tuple[str, str]:
    """Choose the splits on which baselines are trained and tested."""
    names = list(splits)
    others = [name for name in ("test", "validation") if name in names]
    return ("train", others[0]) if "train" in names and others else (names[0], names[0])


def audit_blind(
    questions: Mapping[str, Sequence[Row]], pairs: Mapping[str, Sequence[Row]], settings: ClaviSettings = DEFAULT
) -> BlindAudit:
    """Score baselines that do not see the content of the videos.

    They learn the answers of the train split and answer the test split, or validation if there is no test split. In a
    build with one split, they learn from all other source videos. Ties are resolved in favour of the more frequent
    answer overall.

    The baseline "cuts" is described in `cut_cue`.
    """
    learnt, asked = splits_asked(questions)
    known, rows = questions[learnt], questions[asked]
    scores = []
    for name, guess in FIXED.items():
        guesses = [guess(row) for row in rows]
        scores.append(_score(name, rows, guesses, guesses))
    scores += [_score(name, rows, *_most_frequent(known, rows, groups)) for name, groups in LEARNT.items()]
    predicted = predict_order(
        pairs[learnt], pairs[asked], "class" if has_classes(settings) else "verb", recut=settings.cuts == "release"
    )
    usual = _most_frequent(known, rows, LEARNT["question"])[0]
    guesses = [
        other if (said := answer_of(row, predicted)) is None else int(said)
        for row, other in zip(rows, usual, strict=True)
    ]
    scores.append(_score("cuts", rows, guesses, guesses))
    right = {row["question_id"]: guess == row["answer"] for row, guess in zip(rows, guesses, strict=True)}
    flips = {row["question_id"]: row for row in rows if row["subset"] == "complement"}
    others = [flips.get(row["counterpart_question_id"], {}) for row in flips.values()]
    elsewhere = _count_elsewhere(known, lambda row: row["question"])
    return BlindAudit(
        learnt=learnt,
        asked=asked,
        questions=len(rows),
        seen=_mean(any(elsewhere(row["question"], row["source_id"])) for row in rows),
        scores=tuple(scores),
        couples=len(flips) // 2,
        cuts=consistent_by_relation(rows, right),
        equal=sum(row["answer"] == other.get("answer") for row, other in zip(flips.values(), others, strict=True)) // 2,
    )


def _count_elsewhere(
    rows: Iterable[Row], group: Callable[[Row], Hashable]
) -> Callable[[Hashable, str], tuple[int, int]]:
    """Return a function that counts the answers "no" and "yes" in a group, leaving out one source video."""
    counts: Counter[tuple[Hashable, int]] = Counter()
    own: Counter[tuple[str, Hashable, int]] = Counter()
    for row in rows:
        counts[group(row), row["answer"]] += 1
        own[row["source_id"], group(row), row["answer"]] += 1

    def elsewhere(name: Hashable, source: str) -> tuple[int, int]:
        return counts[name, NO] - own[source, name, NO], counts[name, YES] - own[source, name, YES]

    return elsewhere


def _most_frequent(known: Sequence[Row], asked: Sequence[Row], groups: QuestionGroups) -> tuple[list[int], list[int]]:
    """Predict the most frequent answer in the question's group, unweighted and with "yes" and "no" weighted equally."""
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


def _score(name: str, rows: Sequence[Row], plain: Sequence[int], weighted: Sequence[int]) -> BlindScore:
    """Score answers. Balanced accuracy uses `weighted`, all other scores use `plain`."""
    right = {row["question_id"]: guess == row["answer"] for row, guess in zip(rows, plain, strict=True)}
    by_type: dict[str, list[bool]] = {}
    by_answer: dict[int, list[bool]] = {}
    for row, guess in zip(rows, weighted, strict=True):
        by_type.setdefault(row["type"], []).append(right[row["question_id"]])
        by_answer.setdefault(row["answer"], []).append(guess == row["answer"])
    flipping = [row for row in rows if row["subset"] == "complement"]
    cacc_v, cacc_t = (
        _mean(right[row["question_id"]] and right.get(row[link], False) for row in flipping)
        for link in ("counterpart_question_id", "complement_question_id")
    )
    by_kind = {kind: _mean(found) for kind, found in by_type.items()}
    return BlindScore(name, _mean(right.values()), _mean(map(_mean, by_answer.values())), cacc_v, cacc_t, by_kind)


def _mean(values: Iterable[float], default: float = 0.0) -> float:
    found = list(values)
    return fsum(found) / len(found) if found else default


# Cues in free phrases


def measure_cues(pairs: Mapping[str, Sequence[Row]]) -> PhraseCues:
    """Train baselines on the phrases of one split and test them on another; see `PhraseCues`.

    In a build with one split, they are trained on half of its source videos and tested on the other half, in both
    directions.

    Args:
        pairs: The pairs of each split: `source_id`, and `phrase` and `verb` of A, B and C.
    """
    learnt, asked = splits_asked(pairs)
    folds = [(pairs[learnt], pairs[asked])]
    if learnt == asked:
        even = set(sorted({row["source_id"] for row in pairs[asked]})[::2])
        halves = [[row for row in pairs[asked] if (row["source_id"] in even) == part] for part in (True, False)]
        folds = [(halves[0], halves[1]), (halves[1], halves[0])]
    order, control = {}, {}
    for name, (_, features) in PHRASE_BASELINES.items():
        correct: list[float] = []
        controls: list[float] = []
        others: list[float] = []
        for known, rows in folds:
            correct += _guess_order(known, rows, features)
            for row_hits in _guess_controls(known, rows, features):
                others += row_hits[:2]
                controls += row_hits[2:]
        order[name] = _mean(correct, 0.5)
        control[name] = (_mean(controls, 0.5) + _mean(others, 0.5)) / 2
    seen: list[bool] = []
    for known, rows in folds:
        texts = {row[f"phrase_{letter}"] for row in known for letter in "ab"}
        seen += [row[f"phrase_{letter}"] in texts for row in rows for letter in "ab"]
    return PhraseCues(learnt, asked, order, control, sum(len(rows) for _, rows in folds), _mean(seen, 0.5))


def _guess_order(known: Sequence[Row], asked: Sequence[Row], features: PhraseFeatures) -> list[float]:
    """Return for each pair 1 if A is predicted to be first, 0 if B is, and 1/2 without information."""

    def difference(row: Row, first: str, second: str) -> dict[str, float]:
        counts = Counter(features(row, first))
        counts.subtract(features(row, second))
        return {name: count for name, count in counts.items() if count}

    both = [difference(row, *letters) for row in known for letters in ("ab", "ba")]
    model = fit_logistic(both, ["a", "b"] * len(known), ["a", "b"])
    scores = (model.scores(difference(row, "a", "b")) for row in asked)
    return [_hit(first - second) for first, second in scores]


def _guess_controls(known: Sequence[Row], asked: Sequence[Row], features: PhraseFeatures) -> list[list[float]]:
    """For A, B and C of each pair, return whether "control" is predicted correctly (1 or 0), or 1/2 if unknown."""
    bags = [Counter(features(row, letter)) for row in known for letter in "abcc"]  # C twice: half are controls
    model = fit_logistic(bags, ["False", "False", "True", "True"] * len(known), ["False", "True"])
    found = []
    for row in asked:
        hits = []
        for letter in LETTERS:
            bag = Counter(features(row, letter))
            no, yes = model.scores(bag)
            hits.append(_hit(yes - no if letter == "c" else no - yes) if bag.keys() & model.known.keys() else 0.5)
        found.append(hits)
    return found


def _hit(score: float) -> float:
    return 0.5 if abs(score) < 1e-9 else float(score > 0)
