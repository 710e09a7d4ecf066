"""Score the answers of people, and measure how far they agree."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..core.documents import check_shape, parse_json, parse_own, read_own
from ..core.errors import InputError, UsageError
from ..core.files import check_outside, sha256_file, sha256_text, write_atomic, write_json
from ..core.functions import public
from ..core.results import INTERVAL, Cell, Estimate, Result, Table, as_text, json_value, markdown_table, rows_json
from ..core.rows import AnyPath, is_path
from ..core.settings import Resamples, Seed

if TYPE_CHECKING:
    from ..core.output import FinishedOutput
    from ..evaluation.metrics.agreement import Dispute, Vote
    from ..evaluation.metrics.items import Items
    from ..evaluation.metrics.predictions import Predictions
    from ..evaluation.metrics.scores import Scores
    from ..evaluation.people import Answers, Plan

DISPUTED, REPORT = "disputed.json", "agreement.md"
_ESTIMATE = dict.fromkeys(("value", "low", "high"), (None, float))
SHAPE = {
    **dict.fromkeys(("format", "fingerprint", "condition", "config", "split"), str),
    "people": [str],
    "questions": [str],
    "alpha": (None, float),
    "headline": {str: _ESTIMATE},
    "tables": {"people": [dict]},
}
Groups = Mapping[str, tuple["Plan", "list[Vote]"]]


@dataclass(frozen=True)
class Agreement(Result):
    """Result of `agreement`, with the accuracy of people, their agreement, and the questions they dispute.

    Attributes:
        about: Output, fingerprint, seed, number of items, condition, config and split of the answers.
        people: Names of the people.
        questions: Ids of the questions that were answered.
        alpha: Krippendorff's alpha for nominal data, or NaN if undefined.
        headline: The scores of the benchmark over the answers of all people, with intervals.
        found: Tables of the scores, the accuracy by type, the people, and the disputed questions.
        links: Addresses of disputed questions in a gallery, by id.
        written: Messages that name the written files.
    """

    about: Mapping[str, Any]
    people: tuple[str, ...]
    questions: tuple[str, ...]
    alpha: float
    headline: Mapping[str, Estimate]
    found: tuple[Table, ...]
    disputes: tuple[Dispute, ...] = field(repr=False)
    links: Mapping[str, str] = field(repr=False)
    notes: tuple[str, ...] = ()
    written: tuple[str, ...] = ()

    def as_tables(self) -> tuple[Table, ...]:
        """Return all tables."""
        return self.found

    def as_json(self) -> dict[str, Any]:
        """Return the content of `agreement.json`."""
        return {
            "format": "stressreel agreement",
            "version": 1,
            **self.about,
            **{name: json_value(getattr(self, name)) for name in ("people", "questions", "alpha", "headline")},
            "tables": {table.name: rows_json(table) for table in self.found},
            "disputed": [{**json_value(each), "link": self.links.get(each.question_id)} for each in self.disputes],
        }

    def as_markdown(self) -> str:
        """Return the tables in Markdown, followed by links to the disputed questions."""
        lines = [f"* [{as_text(name)}](<{link}>)" for name, link in self.links.items()]
        title = f"# Agreement of {len(self.people)} people\n"
        return "\n".join([title, "\n\n".join(map(markdown_table, self.found)), "", *lines]).rstrip() + "\n"


@public
def agreement(
    out: AnyPath,
    files: Sequence[AnyPath] | AnyPath,
    *,
    to: Path | str,
    by: str | None = None,
    gallery: Path | str | None = None,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    force: bool = False,
) -> Agreement:
    """Score the answers of people to questions of `out`, and measure how far people agree.

    The folder gets agreement.json, agreement.md, disputed.json (for `--drop`), and scores like those of a model for
    `compare`. A model's scores on the same questions are written by `score --people`.

    For example::

        stressreel agreement out/clavi answers-ann.json answers-bob.json --to people

    Args:
        out: The output whose questions were answered.
        files: One file a person, as saved by the pages of `stressreel annotate`.
        to: Folder for the results, outside `out`.
        by: Column of the questions by which to break down the accuracy; by default `kind` or `type`, if there is one.
        gallery: Folder written by `stressreel gallery`, to link disputed questions to its pages.
        seed: Random seed of the bootstrap.
        resamples: Number of bootstrap resamples over source videos.
        force: Overwrite the results for other answers in the folder.

    Raises:
        UsageError: The output, a file or a column does not exist.
        InputError: A file cannot be read, belongs to other pages, or to a person who has another file.
        OutputError: The folder cannot be written.
    """
    from ..builders.parts import items_of_output
    from ..core.output import reading
    from ..evaluation.metrics import agreement as metrics
    from ..evaluation.metrics.scores import AGREEMENT, write_scores

    folder = Path(to)
    paths = [Path(file) for file in ([files] if is_path(files) else files)]
    check_outside(folder, Path(out))
    with reading(Path(out)) as output:
        groups = read_votes(output, paths)
        if len(groups) > 1:
            raise InputError(
                f"the files are of several conditions ({', '.join(groups)}). Pass those of one condition; `stressreel "
                "score modalities --people` takes all."
            )
        ((plan, votes),) = groups.values()
        known = items_of_output(output, plan.config, plan.split)
        links = {} if gallery is None else gallery_links(Path(gallery), plan, folder)
        scores = human_scores(output, plan, votes, known, seed, resamples)
    asked = {vote.question_id for vote in votes}
    places = {name: place for place, name in enumerate(known.ids) if name in asked}
    truth = {name: int(known.truth[place]) for name, place in places.items()}
    types = dict(zip(known.ids, types_of(Path(out), known, by), strict=True))
    sources = dict(zip(known.ids, known.sources, strict=True))
    accuracy = partial(metrics.accuracy_by, votes, truth, sources, seed=seed, resamples=resamples)
    by_type = {**accuracy(lambda vote: types[vote.question_id]), **accuracy(lambda vote: "all")}
    disputes = metrics.disputed(votes, truth, {name: known.options[place] for name, place in places.items()})
    notes: tuple[str, ...] = ()
    try:
        alpha = metrics.krippendorff_alpha(votes)
    except InputError as error:
        alpha, notes = nan, (f"{error}",)
    people = tuple(metrics.people_of(votes))
    called = f"people ({len(people)})"
    title = f"{called}: {', '.join((plan.output, plan.config, plan.split, plan.condition))}"
    shown = tuple(
        (each.question_id, known.texts[places[each.question_id]], each.why, counts_of(each.votes)) for each in disputes
    )
    found = (
        Table("scores", title, ("score", f"value{INTERVAL}"), tuple(scores.headline.items())),
        Table(
            "accuracy",
            "Accuracy by type",
            ("type", "answers", f"accuracy{INTERVAL}"),
            tuple((name or "–", *value) for name, value in by_type.items()),
        ),
        people_table(votes, accuracy(lambda vote: vote.person), alpha),
        Table("disputed", f"Disputed: {len(disputes)} of {len(places)}", ("id", "question", "why", "votes"), shown),
    )
    subject = {name: getattr(plan, name) for name in ("output", "fingerprint", "seed", "condition", "config", "split")}
    links = {each.question_id: links[each.question_id] for each in disputes if each.question_id in links}
    subject["items"] = plan.count
    result = Agreement(subject, people, tuple(places), alpha, scores.headline, found, disputes, links, notes)
    about = {"file": called, "sha256": sha256_text("".join(sorted(map(sha256_file, paths))))}
    scores = replace(scores, about={**scores.about, "predictions": about, "people": len(people)})
    write_scores(folder, scores, {}, force=force, option="--to")
    content = {"format": "stressreel disputed", "version": 1, "fingerprint": plan.fingerprint}
    items = [{"question_id": each.question_id, "why": each.why, "votes": dict(each.votes)} for each in disputes]
    write_json(folder / DISPUTED, {**content, "items": items})
    write_json(folder / AGREEMENT, result.as_json())
    write_atomic(folder / REPORT, result.as_markdown())
    return replace(result, written=(f"Wrote {to}",))


def read_votes(output: FinishedOutput, paths: Sequence[Path]) -> dict[str, tuple[Plan, list[Vote]]]:
    """Return the plan and the votes under each condition, from one file a person and condition.

    Raises:
        UsageError: There are no files.
        InputError: A file cannot be read, or belongs to other pages, or a person has two under one condition.
    """
    from ..builders import benchmark_of
    from ..evaluation.metrics.agreement import Vote
    from ..evaluation.people import check_answers, plan, read_answers

    if not paths:
        raise UsageError("no answers were given. Pass the files that the pages of `stressreel annotate` saved.")
    read: dict[str, dict[str, Answers]] = {}
    for path in paths:
        answers = read_answers(path)
        of_condition = read.setdefault(answers.condition, {})
        other = of_condition.setdefault(answers.annotator.casefold(), answers)
        if other is not answers:
            raise InputError(f"{other.path} and {path} are both of {answers.annotator}. Pass one file a person.")
        if not answers.answers:
            raise InputError(f"{path} has no answers. Leave it out.")
    first = next(answers for people in read.values() for answers in people.values())
    groups = {}
    for condition, people in read.items():
        drawn = plan(output, benchmark_of(output), items=first.items, seed=first.seed, condition=condition)
        items, votes = drawn.by_key, []
        for answers in people.values():
            check_answers(answers, drawn)
            for each in answers.answers:
                item = items[each.key]
                votes.append(
                    Vote(
                        answers.annotator,
                        item.question_id,
                        item.picks(each.choice),
                        each.mark,
                        each.reason,
                        each.seconds,
                        item.repeat,
                    )
                )
        groups[condition] = drawn, votes
    return groups


def human_scores(
    output: FinishedOutput, plan: Plan, votes: Sequence[Vote], known: Items, seed: int, resamples: int
) -> Scores:
    """Score each person like a model, and return the scores over the answers of all of them."""
    from ..builders.parts import measure_of, score_output
    from ..evaluation.metrics.agreement import people_of, pooled
    from ..evaluation.metrics.bootstrap import estimates
    from ..evaluation.metrics.predictions import Predictions
    from ..evaluation.metrics.scores import ScoreOptions

    options = dict(zip(known.ids, known.options, strict=True))
    once = [vote for vote in votes if not vote.repeat]
    if not once:
        raise InputError("the files have answers to repeated questions only. Ask for complete ones.")

    def scored(chosen: Sequence[Vote]) -> Scores:
        rows = {vote.question_id: said(options[vote.question_id], vote.choice) for vote in chosen}
        predictions = Predictions("answers of people", [{"id": name, "answer": text} for name, text in rows.items()])
        how = ScoreOptions(partial=True, config=plan.config, resamples=0)
        return score_output(output, predictions, None, plan.split, how).scores

    every = scored(once)
    counted = pooled([scored([vote for vote in once if vote.person == name]).tally for name in people_of(once)])
    left = sum(vote.choice is None for vote in once)
    answers = {**every.answers, "read": len(votes), "scored": len(once), "missing": 0, "unreadable": left}
    measure = measure_of(every.benchmark, counted.cells)
    interval = {"sources": len(counted.sources), "resamples": resamples, "seed": seed}
    return replace(
        every,
        answers={**answers, "unreadable_first": []},
        headline=estimates(counted, measure, seed=seed, resamples=resamples),
        tables=(),
        tally=counted,
        about={
            "config": plan.config,
            "output": {name: output.info[name] for name in ("dataset_version", "fingerprint")},
            "interval": interval,
            "figures": [],
        },
    )


def said(options: Sequence[str], choice: int | None) -> str:
    """Return the text that `read_answer` reads as the choice, or an unreadable one for None."""
    from ..evaluation.metrics.agreement import option_name
    from ..evaluation.metrics.answers import read_answer

    if choice is None:
        return "cannot tell"
    name = option_name(options, choice)
    return name if read_answer(name, options) == choice else options[choice]


def types_of(out: Path, items: Items, by: str | None) -> list[str]:
    """Return the type of each question, from the column `by`, or else from a usual column; "" without one."""
    from ..evaluation.metrics.items import COLUMNS, annotations_of

    if by is not None:
        return annotations_of(out, items, by)
    for name in COLUMNS["kind"]:
        with suppress(UsageError):
            return annotations_of(out, items, name)
    return [""] * len(items.ids)


def counts_of(votes: Mapping[str, int]) -> str:
    """Format votes, as in "2 yes, 1 marked wrong"."""
    return ", ".join(f"{count} {name}" for name, count in votes.items())


def people_table(votes: Sequence[Vote], accuracy: Mapping[str, tuple[int, Estimate]], alpha: float) -> Table:
    """Tabulate the accuracy, speed, constancy and marks of each person."""
    from ..evaluation.metrics.agreement import MARKS, marks_of, median_seconds, self_agreement

    same = self_agreement(votes)
    rows: list[tuple[Cell, ...]] = []
    for person, (answers, value) in accuracy.items():
        own = [vote for vote in votes if vote.person == person]
        alike, repeated = same[person]
        share = alike / repeated if repeated else nan
        rows.append((person, answers, value, median_seconds(own), share, *marks_of(own).values()))
    heads = ("person", "answers", f"accuracy{INTERVAL}", "seconds an item (median)", "same on repeats", *MARKS)
    note = f"Krippendorff's alpha: {alpha:.3f}." if alpha == alpha else "Krippendorff's alpha is undefined."
    return Table("people", "People", heads, tuple(rows), note)


def gallery_links(folder: Path, plan: Plan, to: Path) -> dict[str, str]:
    """Return the addresses of questions in a gallery, relative to the folder `to`, by id.

    Raises:
        InputError: The folder is not a gallery of the output.
    """
    try:
        about = parse_own(read_own(folder / "output.json"))
        if (about["format"], about["fingerprint"]) != ("gallery", plan.fingerprint):
            raise ValueError("it is of another output")
        base = Path(os.path.relpath(folder, to)).as_posix()
        names = {
            f"{prefix}{item.question_id}": item.question_id for item in plan.items for prefix in ("", f"{plan.config}/")
        }
        links: dict[str, str] = {}
        for path in sorted(folder.glob("data/items-*.js")):
            content = parse_json(read_own(path).partition("(")[2].rpartition(")")[0])
            for exhibit in content["items"]:
                for name in names.keys() & set(_texts(exhibit)):
                    links.setdefault(names[name], f"{base}/index.html#item={quote(exhibit['id'], safe='')}")
        return links
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"{folder} is not a gallery of this output ({error}). Write one with `stressreel gallery`."
        ) from error


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def read_agreement(path: Path | str, fingerprint: str) -> dict[str, Any]:
    """Read `agreement.json`, or that of a folder, with estimates in `headline`.

    Raises:
        UsageError: It does not exist.
        InputError: It is damaged, or belongs to an output with another fingerprint.
    """
    from ..evaluation.metrics.scores import AGREEMENT

    file = Path(path) / AGREEMENT if Path(path).is_dir() else Path(path)
    text = read_own(file)
    try:
        content: dict[str, Any] = parse_own(text)
        check_shape(content, SHAPE)
        if content["format"] != "stressreel agreement":
            raise ValueError(f"its format is {content['format']!r}")
    except ValueError as error:
        raise InputError(f"{file} is not a result of `stressreel agreement` ({error}).") from error
    if content["fingerprint"] != fingerprint:
        raise InputError(
            f"{file} belongs to another output (fingerprint {content['fingerprint'][:16]}, not {fingerprint[:16]})."
        )
    for name, parts in content["headline"].items():
        values = (nan if parts[part] is None else parts[part] for part in _ESTIMATE)
        content["headline"][name] = Estimate(*values)
    return content


def of_people(people: Mapping[str, Any], config: str | None, split: str | None) -> tuple[str, str]:
    """Return the table and split that people answered, or raise UsageError if others were chosen."""
    for option, chosen in (("config", config), ("split", split)):
        if chosen not in (None, people[option]):
            raise UsageError(f"--{option} {chosen} cannot be used: people answered {people[option]}. Omit --{option}.")
    return people["config"], people["split"]


def answered_by(people: Mapping[str, Any], predictions: Predictions) -> Predictions:
    """Return the predictions for the questions that people answered.

    Raises:
        InputError: One is missing, or given twice.
    """
    from ..evaluation.metrics.predictions import ID_NAMES, Predictions, column, refuse

    name, asked = column(predictions, ID_NAMES), set(people["questions"])
    rows = [row for row in predictions.rows if str(row.get(name)).strip() in asked]
    ids = [str(row.get(name)).strip() for row in rows]
    missing, doubled = sorted(asked - set(ids)), sorted({each for each in ids if ids.count(each) > 1})
    if missing or doubled:
        refuse(predictions.path, missing, doubled, [], len(asked))
    return Predictions(predictions.path, rows)


def beside_people(scores: Scores, people: Mapping[str, Any]) -> Scores:
    """Add a table with the scores of people to those of a model on the same questions."""
    rows = tuple((name, value, people["headline"].get(name)) for name, value in scores.headline.items())
    count = f"people ({len(people['people'])})"
    table = Table("people", "On the questions that people answered", ("score", "model", count), rows)
    return replace(scores, answers={**scores.answers, "missing": 0}, tables=(*scores.tables, table))
