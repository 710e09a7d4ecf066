"""`stressreel audit`: what can be guessed without the video."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .score_options import bootstrap_options, first_index_option

if TYPE_CHECKING:
    from ..metrics.blind.asked import Asked, Embed
    from ..records.output import FinishedOutput

    Pairs = dict[str, list[tuple[str, str]]]
    Part = tuple[str, str, list[Asked], list[Asked], Pairs]  # config, split, questions, those of train, complements

FILES = ("audit.json", "audit.md", "audit.png")


@click.command("audit")
@click.argument("out", type=click.Path(path_type=Path), required=False)
@click.option(
    "--items",
    "items_file",
    type=click.Path(path_type=Path),
    help="Audit a file of anybody's questions instead: CSV, JSON lines, JSON or Parquet with id, question, options (or "
    "a0, a1, …) and answer; where there are some also source, split, config, kind, part, blind_guessable.",
)
@click.option(
    "--train",
    "train_file",
    type=click.Path(path_type=Path),
    help="With --items: file of the questions that guessers learn from. [default: split train of the file]",
)
@click.option(
    "--columns", multiple=True, help="With --items: columns that are called otherwise, such as source=vid,id=qid."
)
@click.option("--config", help="Audit this table alone. [default: every table with questions]")
@click.option("--split", help="Audit this split, or all of them. [default: test where there is one, else all]")
@click.option(
    "--to", "folder", type=click.Path(path_type=Path), help=f"Write {', '.join(FILES)} to this folder, not in OUT."
)
@click.option("--model", help="Sentence encoder: folder or name on the hub. [default: all-MiniLM-L6-v2]")
@click.option("--sbert/--no-sbert", default=True, show_default=True, help="Let guessers use a sentence encoder.")
@first_index_option(", in `answer` of a file")
@bootstrap_options
@click.option("--json", "as_json_text", is_flag=True, help="Print audit.json instead of tables.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    out: Path | None,
    items_file: Path | None,
    train_file: Path | None,
    columns: tuple[str, ...],
    config: str | None,
    split: str | None,
    folder: Path | None,
    model: str | None,
    sbert: bool,
    first_index: str,
    seed: int,
    resamples: int,
    as_json_text: bool,
    debug: bool,
) -> None:
    """Measure what can be guessed of OUT's questions by models that never see a video.

    Many guessers, trained and untrained, choose among the options or answer yes or no; the highest of their figures is
    the one to compare a model with. They learn from split train; where there is none, or train itself is audited, from
    other source videos of the same split.

    \b
    Examples:
      stressreel audit out/causal --to audit
      stressreel audit --items A_test.csv --train A_train.csv --columns source=vid
    """  # noqa: D301
    from ..errors import InputError
    from ..metrics.blind.audit import audit
    from ..metrics.blind.report import Titled, as_json, as_text
    from ..metrics.scores import dump, interval_line
    from ..records.output import reading

    if (out is None) == (items_file is None):
        raise click.UsageError("Give either the output of a build, or --items FILE.")
    if items_file is None and (train_file is not None or columns):
        raise click.UsageError("--train and --columns go with --items FILE.")
    given = out or items_file or Path()
    check_folder(folder, given)
    embed = encoder(model) if sbert else None
    found: list[Titled] = []
    about: dict[str, Any] = {"name": given.resolve().name}

    def look(parts: Iterator[Part]) -> None:
        for name, part, asked, train, pairs in parts:
            audits = audit(asked, train, embed=embed, complements=pairs, seed=seed, resamples=resamples)
            found.extend(Titled(name, part, one) for one in audits)

    if out is not None:
        with reading(out) as output:
            about["output"] = {name: output.info[name] for name in ("builder", "dataset_version", "fingerprint")}
            look(of_output(output, config, split))
    else:
        look(of_file(given, train_file, columns, config, split, int(first_index)))
    if not found:
        raise InputError(
            f"{given}: nothing can be guessed. It has no questions with options of which one is right; or yes/no "
            "questions about one source video, and no train split to learn from."
        )
    sources = max(one.audit.sources for one in found)
    about["interval"] = {"level": 0.95, "sources": sources, "resamples": resamples, "seed": seed}
    content = as_json(found, about)
    click.echo(dump(content) if as_json_text else as_text(found) + "\n\n" + interval_line(about["interval"]))
    if folder is not None:
        write(folder, content, found, about)
        click.echo(f"Wrote {folder}", err=as_json_text)


def of_output(output: FinishedOutput, config: str | None, split: str | None) -> Iterator[Part]:
    """Yield what is audited of an output.

    Raises:
        UsageError: There is no such table or split.
    """
    from ..api import choices_of_output
    from ..builders import benchmark_of
    from ..errors import UsageError
    from ..metrics.inputs import ALL, choose_config, choose_split

    benchmark = benchmark_of(output)
    tables = [name for name in benchmark.question_tables(output.info) if name in output.info["counts"]]
    chosen = [choose_config(output, tables, config)] if config is not None or not tables else tables
    there = [name for name in chosen if split in (None, ALL, *output.splits(name))]
    if not there:
        choose_split(output, chosen[0], split)
        raise UsageError(f"{output.path} has no split {split!r}.")
    for table in there:
        picked = choose_split(output, table, split)
        names = output.splits(table) if picked == ALL else [picked]
        trains = "train" in output.splits(table) and names != ["train"]
        train = choices_of_output(output, table, "train") if trains else []
        for name in names:
            asked = train if trains and name == "train" else choices_of_output(output, table, name)
            pairs: Pairs = {}
            for pair in benchmark.complements(output, name) if benchmark.complements else ():
                pairs.setdefault(pair.kind, []).append((pair.first, pair.second))
            if asked:
                yield table, name, asked, [] if name == "train" else train, pairs


def of_file(
    path: Path, train_file: Path | None, columns: Sequence[str], config: str | None, split: str | None, first: int
) -> Iterator[Part]:
    """Yield what is audited of a file.

    Raises:
        UsageError: There is no such config or split, or column to name.
        InputError: The file cannot be read.
    """
    from ..errors import UsageError
    from ..metrics.blind.items_file import read_asked
    from ..metrics.inputs import ALL
    from ..negatives.settings import columns_of, read_columns

    try:
        named = columns_of(read_columns(list(columns))) if columns else {}
    except ValueError as error:
        raise click.BadParameter(f"{','.join(columns)} {error}", param_hint="--columns") from error
    tables = read_asked(path, named, first)
    learnt = read_asked(train_file, named, first) if train_file else {}
    configs = sorted({table for table, _ in tables})
    if config is not None and config not in configs:
        raise UsageError(f"{path} has no config {config!r}. It has: {', '.join(filter(None, configs)) or 'none'}.")
    splits = sorted({part for _, part in tables})
    if split not in (None, ALL, *splits):
        raise UsageError(f"{path} has no split {split!r}. It has: {', '.join(filter(None, splits)) or 'none'}.")
    for table in [config] if config is not None else configs:
        there = [part for name, part in tables if name == table]
        chosen = ["test"] if split is None and "test" in there else there if split in (None, ALL) else [split]
        for part in chosen:
            if (table, part) in tables:
                train = [one for some in learnt.values() for one in some] or tables.get((table, "train"), [])
                yield table, part, tables[table, part], [] if part == "train" and not learnt else train, {}


def encoder(model: str | None) -> Embed | None:
    """Return the sentence encoder, with its cache; None, with a note, if it is not installed and none was named."""
    from ..errors import InputError
    from ..language.embeddings import sbert_files
    from ..negatives.embeddings_cache import embed

    try:
        sbert_files(model)
    except InputError as error:
        if model is not None:
            raise
        click.echo(f"note: {error}", err=True)
        return None
    return lambda texts: embed(texts, model)


def check_folder(folder: Path | None, given: Path) -> None:
    """Refuse a folder where nothing should be written.

    Raises:
        UsageError: It lies in the output, or is a file.
    """
    from ..errors import UsageError

    if folder is None:
        return
    if given.is_dir() and folder.resolve().is_relative_to(given.resolve()):
        raise UsageError(f"{folder} lies in the output itself. Give another folder with --to.")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file. Give a folder with --to.")


def write(folder: Path, content: dict[str, Any], audits: Any, about: dict[str, Any]) -> None:
    """Write the files of an audit; earlier ones are replaced.

    Raises:
        OutputError: They cannot be written.
    """
    import json

    from ..data_cards.blind_figures import audit_png
    from ..metrics.blind.report import as_markdown
    from ..metrics.scores import interval_line
    from ..records.files import output_error, write_atomic

    texts: dict[str, Callable[[], str | bytes]] = {
        "audit.json": lambda: (
            json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"
        ),  # all choices: may be long
        "audit.md": lambda: as_markdown(audits, about, interval_line(about["interval"])),
        "audit.png": lambda: audit_png(audits),
    }
    made = {name: make() for name, make in texts.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(error, folder) from error
    for name, value in made.items():
        write_atomic(folder / name, value)
