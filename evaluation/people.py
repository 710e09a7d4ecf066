"""Draw the items of an output that people answer, and read the files with their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..core.documents import check_shape, parse_own, read_text, shortened
from ..core.errors import InputError, UsageError
from ..core.files import sha256_text
from ..core.numerics import rng_for
from ..core.output import FinishedOutput
from .metrics.answers import YES_NO
from .metrics.items import Items, choose_config, choose_split

FORMAT, VERSION = "stressreel answers", 1
CONDITIONS = ("video+text", "video", "text")
"""What people see besides the options, in the words of `stressreel score modalities`: "text" is the question."""
MARKS = ("", "cannot tell", "several", "wrong")
"""What people say instead of an answer; "" if they answer."""
REPEATED, FEWEST_REPEATS = 0.05, 2
DIGITS = 12
LARGEST = 20_000_000  # bytes of a file with answers; an answer takes about 100
LONGEST_REASON, LONGEST_NAME = 2_000, 60  # characters
LONGEST_TIME = 1e7  # seconds
SHAPE: dict[str, Any] = {
    "format": str,
    "version": int,
    "output": str,
    "fingerprint": str,
    "seed": int,
    "items": int,
    "condition": str,
    "annotator": str,
    "answers": [{"key": str, "choice": (str, int, None), "mark": str, "reason": str, "seconds": (int, float)}],
}


class Asks(Protocol):
    """The part of a benchmark that a plan needs; see `builders.base.Benchmark`."""

    name: str

    def question_tables(self, info: Mapping[str, Any], /) -> Sequence[str]:
        """Return the tables with questions."""

    def items(self, output: FinishedOutput, table: str, split: str, /) -> Items:
        """Return the questions of a table and split."""


@dataclass(frozen=True)
class Item:
    """A question as a person sees it.

    Attributes:
        key: The name of the item in pages and answers, which reveals nothing about the question.
        video_id: The video, or None under the condition "text".
        question: The text, or "" under the condition "video".
        options: The options, or () for yes and no.
        repeat: Whether the person has answered the same question under another key.
    """

    key: str
    question_id: str
    video_id: str | None
    question: str
    options: tuple[str, ...]
    repeat: bool = False

    def picks(self, choice: str | int | None) -> int | None:
        """Return the index in the benchmark's options of a choice, or None without a choice.

        Raises:
            ValueError: The question has no such option.
        """
        if choice is None:
            return None
        if isinstance(choice, str) and not self.options and choice in YES_NO:
            return YES_NO.index(choice)
        if isinstance(choice, int) and 0 <= choice < len(self.options):
            return choice
        allowed = f"0 to {len(self.options) - 1}" if self.options else "yes or no"
        raise ValueError(f"choice {shortened(choice)} of {self.key}; allowed: {allowed}, or null")


@dataclass(frozen=True)
class Plan:
    """The items that people answer.

    Attributes:
        output: Name of the benchmark.
        fingerprint: Fingerprint of the output that the answers must state.
        count: Number of questions, without repeats.
        config: Table of the questions, and `split` its split.
        items: The items in a circular order, in which items about the same source video are far apart.
    """

    output: str
    fingerprint: str
    seed: int
    count: int
    condition: str
    config: str
    split: str
    items: tuple[Item, ...]

    @property
    def by_key(self) -> dict[str, Item]:
        """The items by key."""
        return {item.key: item for item in self.items}


@dataclass(frozen=True)
class Answer:
    """What a person said about an item. `choice` is "yes", "no", the index of an option, or None with a `mark`."""

    key: str
    choice: str | int | None
    mark: str
    reason: str
    seconds: float


@dataclass(frozen=True)
class Answers:
    """The answers of one person, with what identifies the plan. `items` is the number of questions without repeats."""

    path: Path
    output: str
    fingerprint: str
    seed: int
    items: int
    condition: str
    annotator: str
    answers: tuple[Answer, ...]


def plan(output: FinishedOutput, benchmark: Asks, *, items: int, seed: int, condition: str = CONDITIONS[0]) -> Plan:
    """Draw questions from the first table of an output (split test, if it exists), and repeat 5% of them.

    The questions depend only on the output, the number of items and the seed, so that all conditions have the same.
    If there are fewer questions than `items`, all are drawn.

    Raises:
        UsageError: The condition is unknown, or the output has no questions.
        InputError: The questions of the benchmark have no options.
    """
    if condition not in CONDITIONS:
        raise UsageError(f"--condition must be one of {', '.join(CONDITIONS)}; got {condition!r}.")
    config = choose_config(output, benchmark.question_tables(output.info), None)
    split = choose_split(output, config, None)
    known = benchmark.items(output, config, split)
    able = [place for place, options in enumerate(known.options) if len(options) > 1]
    if not able:
        raise InputError(
            f"{output.path} is an output of build-{benchmark.name}, whose table {config} has no questions with options "
            "to choose from. People can answer the questions of clavi, causal and decomp, and of your own benchmarks."
        )
    order = rng_for(seed, "people", "items").permutation(len(able))[:items]
    drawn = [able[place] for place in order]
    repeated = drawn[: min(len(drawn), max(FEWEST_REPEATS, round(REPEATED * len(drawn))))]
    shown = [(place, False) for place in drawn] + [(place, True) for place in repeated]
    made = [_item(known, output.asked, seed, condition, place, repeat=repeat) for place, repeat in shown]
    if len({item.key for item in made}) < len(made):
        raise InputError(f"{output.path} has several questions with the same id. Run `stressreel verify` for details.")
    circle = _spread([known.sources[place] for place, _ in shown], [known.texts[place] for place, _ in shown], seed)
    return Plan(
        benchmark.name, output.asked, seed, len(drawn), condition, config, split, tuple(made[place] for place in circle)
    )


def _item(known: Items, fingerprint: str, seed: int, condition: str, place: int, *, repeat: bool) -> Item:
    name, options = known.ids[place], tuple(known.options[place])
    video = None if condition == "text" else known.videos[place]
    question = "" if condition == "video" else known.texts[place]
    key = neutral_name(fingerprint, seed, condition, name, int(repeat))
    return Item(key, name, video, question, () if options == YES_NO else options, repeat)


def neutral_name(*parts: object) -> str:
    """Return a name for an item or a video that does not reveal its id."""
    return sha256_text("/".join(map(str, parts)))[:DIGITS]


def _spread(sources: list[str], texts: list[str], seed: int) -> list[int]:
    """Return places in a circular order: those of a source are evenly spaced, with equal texts far apart."""
    places: dict[str, list[int]] = {}
    for place in rng_for(seed, "people", "order").permutation(len(sources)).tolist():
        places.setdefault(sources[place], []).append(place)
    positions = []
    for number, (source, group) in enumerate(places.items()):
        first: dict[str, int] = {}
        for place in group:
            first.setdefault(texts[place], len(first))
        together = sorted(group, key=lambda place: first[texts[place]])
        most = max([texts[place] for place in group].count(text) for text in first)
        apart = [place for start in range(most) for place in together[start::most]]
        offset = float(rng_for(seed, "people", "offset", source).random())
        positions += [((step + offset) / len(apart), number, place) for step, place in enumerate(apart)]
    return [place for _, _, place in sorted(positions)]


def read_answers(path: Path) -> Answers:
    """Load the file of one person.

    Raises:
        UsageError: The file does not exist.
        InputError: The file is not one that the pages of `stressreel annotate` wrote, or was damaged.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist. Pass the file that the pages of `stressreel annotate` saved.")
    text = read_text(path, largest=LARGEST)
    try:
        content = parse_own(text)
        check_shape(content, SHAPE)
        return _answers(path, content)
    except ValueError as error:
        raise InputError(
            f"{path}: {error}. Expected the file that the pages of `stressreel annotate` save; ask the person for it "
            "again."
        ) from error


def _answers(path: Path, content: Mapping[str, Any]) -> Answers:
    if (content["format"], content["version"]) != (FORMAT, VERSION):
        raise ValueError(f"the format is {shortened(content['format'])}, version {shortened(content['version'])}")
    if content["condition"] not in CONDITIONS:
        raise ValueError(f"the condition is {shortened(content['condition'])}, not one of {', '.join(CONDITIONS)}")
    name = content["annotator"]
    if content["items"] < 1:
        raise ValueError(f"the number of items is {shortened(content['items'])}")
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValueError(f"the annotator is {shortened(name)}")
    seen = set[str]()
    found = []
    for entry in content["answers"]:
        answer = Answer(**{part: entry[part] for part in SHAPE["answers"][0]})
        if answer.key in seen:
            raise ValueError(f"{shortened(answer.key)} is answered twice")
        seen.add(answer.key)
        _check(answer)
        found.append(answer)
    others = {part: content[part] for part in ("output", "fingerprint", "seed", "items", "condition", "annotator")}
    return Answers(path, **others, answers=tuple(found))


def _check(answer: Answer) -> None:
    if answer.mark not in MARKS:
        raise ValueError(f"mark {shortened(answer.mark)} of {shortened(answer.key)} is not one of {', '.join(MARKS)}")
    if (answer.choice is None) != bool(answer.mark):
        raise ValueError(f"{shortened(answer.key)} needs either a choice or a mark")
    if len(answer.reason) > LONGEST_REASON:
        raise ValueError(f"the reason of {shortened(answer.key)} is longer than {LONGEST_REASON:,} characters")
    if not 0 <= answer.seconds <= LONGEST_TIME:
        raise ValueError(f"{shortened(answer.key)} took {answer.seconds} seconds")


def check_answers(answers: Answers, plan: Plan) -> None:
    """Raise InputError if answers are to another output or plan, or to items or options that do not exist."""
    for what, given, expected in (
        ("fingerprint", answers.fingerprint, plan.fingerprint),
        ("seed", answers.seed, plan.seed),
        ("items", answers.items, plan.count),
        ("condition", answers.condition, plan.condition),
    ):
        if given != expected:
            raise InputError(
                f"{answers.path}: the {what} is {shortened(given)}, but expected is {shortened(expected)}. The answers "
                "belong to other pages. Use only files from the same pages, with the output they were made from."
            )
    items = plan.by_key
    for answer in answers.answers:
        if answer.key not in items:
            raise InputError(f"{answers.path}: there is no item {shortened(answer.key)} in the pages of this output.")
        try:
            items[answer.key].picks(answer.choice)
        except ValueError as error:
            raise InputError(f"{answers.path}: {error}.") from error
