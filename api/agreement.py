"""Score the answers of people, and measure how far they agree."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..core.disputed import FORMAT, FORMAT_VERSION
from ..core.documents import check_shape, parse_json, parse_own, read_own
from ..core.errors import InputError, UsageError
from ..core.files import check_outside, sha256_file, sha256_text, write_json
from ..core.functions import public
from ..core.results import INTERVAL, Cell, EscapedMarkdown, Estimate, Table, json_value
from ..core.rows import AnyPath
from ..core.settings import Resamples, Seed

if TYPE_CHECKING:
    from ..core.output import FinishedOutput
    from ..evaluation.metrics.agreement import Vote
    from ..evaluation.metrics.items import Items
    from ..evaluation.metrics.predictions import Predictions
    from ..evaluation.metrics.scores import Scores
    from ..evaluation.people import Answers, Plan

DISPUTED = "disputed.json"


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
) -> Scores:
    """Score the answers of people to the questions of an output, and measure how far they agree.

    The folder gets agreement.json and agreement.md with all tables, disputed.json for `--drop`, and what `compare`
    needs. `score --people` scores a model on the same questions.

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

    folder, paths = Path(to), paths_of(files)
    check_outside(folder, Path(out))
    if gallery is not None and not Path(gallery).is_dir():
        raise UsageError(f"--gallery {gallery} is not a folder. Write a gallery with `stressreel gallery`, or omit it.")
    with reading(Path(out)) as output:
        groups = read_votes(output, paths)
        if len(groups) > 1:
            raise InputError(
                f"the files are of several conditions ({', '.join(groups)}). Pass those of one condition; `stressreel "
                "score modalities --people` takes all."
            )
        ((plan, votes),) = groups.values()
        items = items_of_output(output, plan.config, plan.split)
        scores = scores_of_people(output, plan, votes, items, seed, resamples)
        version = output.info["dataset_version"]
        fingerprint = output.info["fingerprint"]
    place = {name: index for index, name in enumerate(items.ids)}
    asked = sorted({vote.question_id for vote in votes if not vote.repeat}, key=place.__getitem__)
    truth = {name: int(items.truth[place[name]]) for name in asked}
    sources = {name: items.sources[place[name]] for name in asked}
    types = dict(zip(items.ids, types_of(Path(out), items, by), strict=True))
    accuracy = partial(metrics.accuracy_by, votes, truth, sources, seed=seed, resamples=resamples)
    by_type = {**accuracy(lambda vote: types[vote.question_id] or "–"), **accuracy(lambda vote: "all")}
    try:
        alpha, remark = metrics.krippendorff_alpha(votes), ""
    except InputError as error:
        alpha, remark = nan, f" {error}"
    agree = f"Krippendorff's alpha: {'undefined' if alpha != alpha else f'{alpha:.3f}'}.{remark}"
    disputes = metrics.disputed(votes, truth, {name: items.options[place[name]] for name in asked})
    links = {} if gallery is None else gallery_links(Path(gallery), plan, folder)
    shown = tuple(
        (
            each.question_id,
            items.texts[place[each.question_id]],
            each.why,
            ", ".join(f"{count} {name}" for name, count in each.votes.items()),
            "; ".join(each.reasons),
            *([EscapedMarkdown(links.get(each.question_id, ""))] if links else []),
        )
        for each in disputes
    )
    heads = ("id", "question", "why", "votes", "reasons", *(["gallery"] if links else []))
    people = metrics.people_of(votes)
    scores = replace(
        scores,
        tables=(
            Table(
                "accuracy",
                f"Accuracy of {len(people)} people, given {plan.condition}",
                ("type", "answers", f"accuracy{INTERVAL}"),
                tuple((name, *value) for name, value in by_type.items()),
            ),
            people_table(votes, accuracy(lambda vote: vote.person), agree),
            Table("disputed", f"Disputed questions: {len(disputes)} of {len(asked)}", heads, shown),
        ),
        about={
            **{name: getattr(plan, name) for name in ("config", "condition", "seed")},
            "items": plan.count,
            "output": {"dataset_version": version, "fingerprint": fingerprint},
            "predictions": {
                "file": f"people ({len(people)})",
                "sha256": sha256_text("".join(sorted(map(sha256_file, paths)))),
            },
            "people": people,
            "questions": asked,
            "alpha": json_value(alpha),
            "interval": {"sources": len(scores.tally.sources), "resamples": resamples, "seed": seed},
            "figures": [],
        },
    )
    write_scores(folder, scores, {}, force=force, name=AGREEMENT, option="--to")
    rows = [{"question_id": each.question_id, "why": each.why, "votes": dict(each.votes)} for each in disputes]
    head = {"format": FORMAT, "version": FORMAT_VERSION, "fingerprint": plan.fingerprint, "dataset_version": version}
    write_json(folder / DISPUTED, {**head, "items": rows})
    return replace(scores, written=(f"Wrote {to}",))


def paths_of(files: Sequence[AnyPath] | AnyPath) -> list[Path]:
    """Return one or more paths as a list."""
    return [Path(files)] if isinstance(files, str | os.PathLike) else [Path(file) for file in files]


def read_votes(output: FinishedOutput, paths: Sequence[Path]) -> dict[str, tuple[Plan, list[Vote]]]:
    """Return the plan and the votes under each condition, from one file a person and condition.

    Raises:
        UsageError: There are no files, or one does not exist.
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
        other = read.setdefault(answers.condition, {}).setdefault(answers.annotator.casefold(), answers)
        if other is not answers:
            raise InputError(f"{other.path} and {path} are both of {answers.annotator}. Pass one file a person.")
    first = next(iter(next(iter(read.values())).values()))
    groups = {}
    for condition, people in read.items():
        drawn = plan(output, benchmark_of(output), items=first.items, seed=first.seed, condition=condition)
        by_key, votes = drawn.by_key, []
        for answers in people.values():
            check_answers(answers, drawn)
            if all(by_key[answer.key].repeat for answer in answers.answers):
                raise InputError(f"{answers.path} has no answers, or only to repeats. Leave it out.")
            for answer in answers.answers:
                item = by_key[answer.key]
                choice = item.picks(answer.choice)
                said = (answer.mark, answer.reason, answer.seconds, item.repeat)
                votes.append(Vote(answers.annotator, item.question_id, choice, *said))
        groups[condition] = drawn, votes
    return groups


def scores_of_people(
    output: FinishedOutput, plan: Plan, votes: Sequence[Vote], items: Items, seed: int, resamples: int
) -> Scores:
    """Score each person like a model, and return the benchmark's scores over the answers of all of them."""
    from ..builders.parts import measure_of, score_output
    from ..evaluation.metrics.agreement import people_of, pooled
    from ..evaluation.metrics.bootstrap import estimates
    from ..evaluation.metrics.predictions import Predictions
    from ..evaluation.metrics.scores import ScoreOptions

    options = dict(zip(items.ids, items.options, strict=True))
    once = [vote for vote in votes if not vote.repeat]

    def scored(chosen: Sequence[Vote]) -> Scores:
        rows = {vote.question_id: as_answer(options[vote.question_id], vote.choice) for vote in chosen}
        predictions = Predictions("answers of people", [{"id": name, "answer": text} for name, text in rows.items()])
        how = ScoreOptions(partial=True, config=plan.config, resamples=0)
        return score_output(output, predictions, None, plan.split, how).scores

    every = scored(once)  # one answer to each question, for the counts
    counted = pooled([scored([vote for vote in once if vote.person == name]).tally for name in people_of(once)])
    measure = measure_of(every.benchmark, counted.cells)
    left = sum(vote.choice is None for vote in once)
    counts = {"read": len(votes), "scored": len(once), "missing": 0, "unreadable": left, "unreadable_first": []}
    headline = estimates(counted, measure, seed=seed, resamples=resamples)
    return replace(every, answers={**every.answers, **counts}, headline=headline, tally=counted)


def as_answer(options: Sequence[str], choice: int | None) -> str:
    """Return the chosen option, or its letter if it cannot be read as an answer; an unreadable text for None."""
    from ..evaluation.metrics.agreement import option_name
    from ..evaluation.metrics.answers import read_answer

    if choice is None:
        return "cannot tell"
    text = options[choice]
    return text if read_answer(text, options) == choice else option_name(options, choice)


def types_of(out: Path, items: Items, by: str | None) -> list[str]:
    """Return the type of each question, from the column `by`, or else from a usual column; "" without one."""
    from ..evaluation.metrics.items import COLUMNS, annotations_of

    if by is not None:
        return annotations_of(out, items, by)
    for name in COLUMNS["kind"]:
        with suppress(UsageError):
            return annotations_of(out, items, name)
    return [""] * len(items.ids)


def people_table(votes: Sequence[Vote], accuracy: Mapping[str, tuple[int, Estimate]], note: str) -> Table:
    """Tabulate the accuracy, speed, constancy and marks of each person."""
    from ..evaluation.metrics.agreement import MARKS, marks_of, median_seconds, self_agreement

    rows: list[tuple[Cell, ...]] = []
    for person, (answers, value) in accuracy.items():
        own = [vote for vote in votes if vote.person == person]
        rows.append((person, answers, value, median_seconds(own), self_agreement(own), *marks_of(own).values()))
    heads = ("person", "answers", f"accuracy{INTERVAL}", "seconds an item (median)", "same on repeats", *MARKS)
    return Table("people", "People", heads, tuple(rows), note)


def gallery_links(folder: Path, plan: Plan, to: Path) -> dict[str, str]:
    """Return Markdown links from the folder `to` to questions in a gallery, by id.

    Raises:
        InputError: The folder is not a gallery of the output.
    """
    names = {item.question_id: item.question_id for item in plan.items}
    names |= {f"{plan.config}/{name}": name for name in names}
    links: dict[str, str] = {}
    try:
        about = parse_own(read_own(folder / "output.json"))
        if (about["format"], about["fingerprint"]) != ("gallery", plan.fingerprint):
            raise ValueError("it shows another output")
        page = quote(Path(os.path.relpath(folder, to), "index.html").as_posix())
        for path in sorted(folder.glob("data/items-*.js")):
            for exhibit in parse_json(read_own(path).partition("(")[2].rpartition(")")[0])["items"]:
                for name in names.keys() & {*_texts(exhibit)}:
                    links.setdefault(names[name], f"[open]({page}#item={quote(exhibit['id'], safe='')})")
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"{folder} is not a gallery of this output ({error}). Write one with `stressreel gallery`."
        ) from error
    return links


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def read_agreement(path: Path | str, output: FinishedOutput) -> dict[str, Any]:
    """Return the content of `agreement.json`, given its path or folder, with estimates in `headline`.

    Raises:
        UsageError: It does not exist.
        InputError: It is damaged, contains the scores of a model, or belongs to an output with another fingerprint.
    """
    from ..evaluation.metrics.scores import read_scores

    content, own = read_scores(Path(path)).about, output.info["fingerprint"]
    try:
        check_shape(content, {"people": [str], "questions": [str], "condition": str, "alpha": (None, float)})
    except ValueError as error:
        raise InputError(f"{path} was not written by `stressreel agreement` ({error}).") from error
    if (theirs := content["output"]["fingerprint"]) != own:
        raise InputError(f"{path} belongs to another output (fingerprint {theirs[:16]}, not {own[:16]}).")
    parts = ("value", "low", "high")
    estimates = {
        name: Estimate(*(nan if value[part] is None else value[part] for part in parts))
        for name, value in content["headline"].items()
    }
    return {**content, "headline": estimates}


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
    from ..evaluation.metrics.predictions import ID_NAMES, Predictions, column, match

    name, asked = column(predictions, ID_NAMES), {*people["questions"]}
    rows = [row for row in predictions.rows if str(row.get(name)).strip() in asked]
    chosen = Predictions(predictions.path, rows)
    match(chosen, people["questions"])
    return chosen


def beside_people(scores: Scores, people: Mapping[str, Any]) -> Scores:
    """Add a table with the scores of people to those of a model on the same questions."""
    rows = tuple((name, value, people["headline"].get(name)) for name, value in scores.headline.items())
    heads = ("score", "model", f"people ({len(people['people'])})")
    table = Table("people", "On the questions that people answered", heads, rows)
    return replace(scores, answers={**scores.answers, "missing": 0}, tables=(*scores.tables, table))
