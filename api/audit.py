"""Measure how many questions can be answered without the video."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..core.errors import InputError, UsageError
from ..core.files import check_outside, resolved
from ..core.functions import public
from ..core.rows import AnyPath
from ..core.settings import ColumnNames, FirstIndex, Resamples, Seed
from ..core.tabular import columns_of

if TYPE_CHECKING:
    from ..core.output import FinishedOutput
    from ..evaluation.blind.blind_questions import BlindQuestion, Embed
    from ..evaluation.blind.report import Audit, Titled

    Pairs = dict[str, list[tuple[str, str]]]
    Part = tuple[
        str, str, list[BlindQuestion], list[BlindQuestion], Pairs
    ]  # config, split, questions, training questions, complements

NEEDS_TRAIN = (
    "For baselines that learn from a train split, build all splits; from your own segments, name splits in a column "
    "split or use --split-shares .8,.1,.1."
)


@public
def audit(
    out: AnyPath | None = None,
    *,
    items: Path | str | None = None,
    train: Annotated[Path | str | None, Parameter(show_default="the train split of the file")] = None,
    columns: ColumnNames = (),
    config: Annotated[str | None, Parameter(show_default="every table with questions")] = None,
    split: Annotated[str | None, Parameter(show_default="test if it exists, else all")] = None,
    to: Path | str | None = None,
    model: Annotated[str | None, Parameter(show_default="all-MiniLM-L6-v2")] = None,
    sbert: bool = True,
    first_index: FirstIndex = 0,
    seed: Seed = 0,
    resamples: Resamples = 1000,
) -> Audit:
    """Measure how well blind baselines, which never see a video, answer the questions of an output.

    The baselines, some of which are trained, choose an option or answer yes or no. Compare a model with the best of
    them. Trained baselines learn from the train split. If there is no such split, or if it is the one to audit, they
    learn from other source videos of the same split.

    For example::

        stressreel audit out/causal --to audit
        stressreel audit --items test.csv --train train.csv --columns source=vid

    Args:
        out: The output of a build.
        items: Audit a file with questions instead: CSV, JSON lines, JSON or Parquet with id, question, options (or a0,
            a1, …) and answer, and optionally source, split, config, kind, part and blind_guessable.
        train: With `items`: file with questions on which to train the baselines.
        columns: With `items`: columns that have other names in the file, such as source=vid,id=qid.
        config: Audit only this table.
        split: Split to audit, or all.
        to: Folder for audit.json, audit.md and audit.png, outside `out`.
        model: Sentence encoder, given by a folder or by its name on the Hub.
        sbert: Whether to include baselines that use a sentence encoder.
        first_index: Index of the first option in `answer` of a file.
        seed: Random seed of the bootstrap.
        resamples: Number of bootstrap resamples over source videos.

    Raises:
        UsageError: A path, table or split does not exist, or options conflict.
        InputError: There are no questions with options, or a file cannot be read.
        OutputError: The folder cannot be written.
    """
    from ..core.output import reading
    from ..evaluation.blind.report import Audit

    path = check_options(out, items, to, for_files=train is not None or bool(columns))
    embed, notes = usable_encoder(model) if sbert else (None, [])
    run = partial(run_baselines, path, embed=embed, seed=seed, resamples=resamples)
    about: dict[str, Any] = {"name": resolved(path).name}
    if out is not None:
        with reading(path) as output:
            if not any("train" in splits for splits in output.info["counts"].values()):
                notes.append(
                    f"{path} has no train split, so trained baselines learn from other source videos. {NEEDS_TRAIN}"
                )
            about["output"] = {name: output.info[name] for name in ("builder", "dataset_version", "fingerprint")}
            audits = run(of_output(output, config, split))
    else:
        audits = run(of_file(path, train, columns_of(tuple(columns)), config, split, first_index))
    sources = max(titled.audit.sources for titled in audits)
    about["interval"] = {"level": 0.95, "sources": sources, "resamples": resamples, "seed": seed}
    result = Audit(audits, about, tuple(notes))
    if to is None:
        return result
    write(result, Path(to))
    return replace(result, written=(f"Wrote {to}",))


def check_options(out: AnyPath | None, items: Path | str | None, to: Path | str | None, *, for_files: bool) -> Path:
    """Return the output or file to audit, or raise UsageError if options conflict or `to` cannot be a folder."""
    if (out is None) == (items is None):
        raise UsageError("Specify either the output of a build or --items FILE.")
    if items is None and for_files:
        raise UsageError("--train and --columns require --items FILE.")
    path = Path(out if out is not None else items or "")
    check_outside(to, path)
    if to is not None and Path(to).exists() and not Path(to).is_dir():
        raise UsageError(f"--to must be a folder, but {to} is a file.")
    return path


def usable_encoder(model: str | None) -> tuple[Embed | None, list[str]]:
    """Return the sentence encoder, or a note if the default one is not installed."""
    from ..language.embeddings import embed, sbert_files

    try:
        sbert_files(model)
    except InputError as error:
        if model is not None:
            raise
        return None, [str(error)]
    return (lambda texts: embed(texts, model)), []


def run_baselines(
    path: Path, parts: Iterator[Part], *, embed: Embed | None, seed: int, resamples: int
) -> tuple[Titled, ...]:
    """Audit the questions of each config and split, or raise InputError if there are none."""
    from ..evaluation.blind.audit import audit as audit_questions
    from ..evaluation.blind.report import Titled

    run = partial(audit_questions, embed=embed, seed=seed, resamples=resamples)
    audits = tuple(
        Titled(config, split, audited)
        for config, split, questions, train, pairs in parts
        for audited in run(questions, train, complements=pairs)
    )
    if not audits:
        raise InputError(
            f"{path}: there is nothing to audit. It has no multiple-choice questions, or only yes/no questions about "
            "one source video and no train split to learn from."
        )
    return audits


def of_output(output: FinishedOutput, config: str | None, split: str | None) -> Iterator[Part]:
    """Yield the questions of each table and split to audit in an output.

    Raises:
        UsageError: The table or split does not exist.
    """
    from ..builders import benchmark_of
    from ..builders.parts import choices_of_output
    from ..evaluation.metrics.items import ALL, choose_config, choose_split

    benchmark = benchmark_of(output)
    tables = [name for name in benchmark.question_tables(output.info) if name in output.info["counts"]]
    chosen = [choose_config(output, tables, config)] if config is not None or not tables else tables
    present = [name for name in chosen if split in (None, ALL, *output.splits(name))]
    if not present:
        choose_split(output, chosen[0], split)
        raise UsageError(f"{output.path} has no split {split!r}.")
    for table in present:
        picked = choose_split(output, table, split)
        names = output.splits(table) if picked == ALL else [picked]
        trains = "train" in output.splits(table) and names != ["train"]
        train = choices_of_output(output, table, "train") if trains else []
        for name in names:
            questions = train if trains and name == "train" else choices_of_output(output, table, name)
            pairs: Pairs = {}
            for pair in benchmark.complements(output, name):
                pairs.setdefault(pair.kind, []).append((pair.first, pair.second))
            if questions:
                yield table, name, questions, [] if name == "train" else train, pairs


def of_file(
    path: Path, train: Path | str | None, named: dict[str, str], config: str | None, split: str | None, first: int
) -> Iterator[Part]:
    """Yield the questions of each config and split to audit in a file.

    Raises:
        UsageError: The file, config or split does not exist.
        InputError: The file cannot be read.
    """
    from ..evaluation.blind.blind_questions import read_blind_questions
    from ..evaluation.metrics.items import ALL

    tables = read_blind_questions(path, named, first)
    learnt = read_blind_questions(Path(train), named, first) if train else {}
    configs = sorted({table for table, _ in tables})
    if config is not None and config not in configs:
        raise UsageError(
            f"{path} has no config {config!r}. Available configs: {', '.join(filter(None, configs)) or 'none'}."
        )
    splits = sorted({part for _, part in tables})
    if split not in (None, ALL, *splits):
        raise UsageError(
            f"{path} has no split {split!r}. Available splits: {', '.join(filter(None, splits)) or 'none'}."
        )
    for table in [config] if config is not None else configs:
        of_table = [part for name, part in tables if name == table]
        chosen = ["test"] if split is None and "test" in of_table else of_table if split in (None, ALL) else [split]
        for part in chosen:
            if (table, part) in tables:
                known = [question for questions in learnt.values() for question in questions] or tables.get(
                    (table, "train"), []
                )
                yield table, part, tables[table, part], [] if part == "train" and not learnt else known, {}


def write(result: Audit, folder: Path) -> None:
    """Write audit.json, audit.md and audit.png to a folder, or raise OutputError if this fails."""
    from ..core.files import output_error, write_atomic
    from ..data_cards.figures import audit_png

    data = json.dumps(result.as_json(), ensure_ascii=False, allow_nan=False) + "\n"  # not indented: it may be long
    files: dict[str, str | bytes] = {"audit.json": data, "audit.md": result.as_markdown()}
    files["audit.png"] = audit_png(result.audits)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(error, folder) from error
    for name, content in files.items():
        write_atomic(folder / name, content)
