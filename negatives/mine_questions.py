"""Mine distractors for a file with questions: check it, mine, arrange the options, and write the result."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import InputError, UsageError
from ..core.files import atomic, write_atomic
from ..core.results import Result, Table
from ..core.seeds import digest_for
from ..language.cast import derive_cast
from ..language.text_key import text_key
from .candidates import AdaptableTexts, Candidates
from .confuser import Confuser
from .embeddings import Embeddings
from .mining import mine
from .options import Mined, MinedOptions, QuestionRow, option_sets
from .score_mining import Item, items_of
from .settings import MineSettings, MiningSettings, advice, hard, strict

TRAIN = ("train", "training")
MUCH = 1.5  # threshold as a multiple of chance
CONCENTRATED = 0.35
SOURCE_COLUMNS = {
    "id": "string",
    "cos_question": "float64",
    "cos_text": "float64",
    "score": "float64",
    "kind": "string",
}
NAMES = {
    "answer": ("options", "answer_index", "sources"),
    "explanation": ("explanation_options", "explanation_index", "explanation_sources"),
}


@dataclass(frozen=True)
class MinedQuestions(Result):
    """Questions with the distractors that were mined for them.

    Attributes:
        rows: A row per question as written: options in random order, position of the correct option, and source of each
            option.
        options: Options side by side, the correct one first, with one row per question and per explanation.
        lines: A summary.
        notes: Warnings if the options alone reveal the correct one.
        out: The file written, or None.
        written: Further files.
    """

    rows: tuple[dict[str, Any], ...]
    options: Table
    lines: tuple[str, ...]
    notes: tuple[str, ...]
    out: Path | None = None
    written: tuple[str, ...] = ()

    def as_tables(self) -> tuple[Table, ...]:
        """Return a table with the options side by side."""
        return (self.options,)

    def as_json(self) -> list[dict[str, Any]]:
        """Return the rows."""
        return list(self.rows)

    def __str__(self) -> str:
        """Return a summary."""
        begin = f"wrote {self.out}" if self.out else "not written (use --out FILE or --json)"
        return f"{begin}: " + "\n".join(self.lines)


def mine_questions(
    questions: Sequence[QuestionRow], kept_apart: Mapping[str, Sequence[str]], choice: MineSettings
) -> MinedQuestions:
    """Mine the distractors of questions, and report how well the options alone predict the correct one.

    Raises:
        UsageError: The training split does not exist.
        InputError: There are too few distractors.
    """
    kinds: tuple[str, ...] = ("answer", "explanation") if "explanation" in questions[0].texts else ("answer",)
    if choice.rank_by == "explanation" and len(kinds) == 1:
        raise InputError(
            "--rank-by explanation, which --imitate-release implies, needs explanations, but these questions have none."
        )
    train = _train(questions, choice.train_split) if choice.pool == "split" or strict(choice) else None
    items = {kind: items_of(questions, kind, None if strict(choice) else train) for kind in kinds}
    _refuse_small_pools(items, choice)
    encode = Embeddings(choice.model)
    candidates = None
    if strict(choice):
        cast = derive_cast(text for row in questions for text in (row.question, *row.texts.values()))
        confuser = Confuser(cast)
        candidates = Candidates(
            questions,
            AdaptableTexts(questions, confuser, one_style=choice.style == "one"),
            encode,
            seed=choice.seed,
            same_question=choice.same_question,
            kept_apart=kept_apart,
            train=train,
        )
    options = mine(questions, choice, encode, candidates=candidates, train=train, kept_apart=kept_apart)
    _refuse_short(options.mined, choice)
    return MinedQuestions(
        tuple(_rows(questions, options, choice)),
        _side_by_side(questions, options, choice),
        _summary(options, choice),
        tuple(_warnings(items, options, choice)),
    )


def _train(questions: Sequence[QuestionRow], named: str | None) -> str | None:
    splits = sorted({question.splits[0] for question in questions if question.splits[0]})
    if named is not None and named not in splits:
        raise UsageError(f"--train-split {named!r}: there is no such split. Available: {', '.join(splits) or 'none'}.")
    return named or next((split for split in splits if split.lower() in TRAIN), None)


def _refuse_small_pools(items: Mapping[str, Sequence[Item]], choice: MineSettings) -> None:
    for kind, of_kind in items.items():
        texts: dict[str, set[str]] = {}
        for item in of_kind:
            texts.setdefault(item.pool, set()).update({text_key(item.text)} if item.is_donor else ())
        pool, fewest = min(texts.items(), key=lambda entry: len(entry[1]))
        if len(fewest) < choice.num_options - 1:
            raise InputError(
                f"{f'split {pool!r} has' if pool else 'the questions have'} {len(fewest)} different {kind}s to "
                f"choose distractors from, too few for {choice.num_options} options; nothing was written. "
                f"{advice(choice)}"
            )


def _refuse_short(mined: Mapping[str, Sequence[Mined]], choice: MineSettings) -> None:
    need = choice.num_options - 1
    short = [
        (kind, distractors)
        for kind, of_kind in mined.items()
        for distractors in of_kind
        if len(distractors.negatives) < need
    ]
    if short:
        kind, first = short[0]
        raise InputError(
            f"{len(short)} of {sum(map(len, mined.values()))} questions have fewer than {need} distractors; nothing "
            f"was written. The first is {first.id} ({kind}): {len(first.negatives)} found among {first.looked_at} "
            f"questions. {advice(choice)}"
        )


def _warnings(items: Mapping[str, Sequence[Item]], options: MinedOptions, settings: MiningSettings) -> Iterator[str]:
    for kind, of_kind in options.mined.items():
        pools = {item.id: item.pool for item in items[kind]}
        rights = {name: (pools[name], text_key(text)) for name, text in options.texts[kind].items()}
        wrong = {
            distractors.id: [(pools[distractors.id], text_key(negative.text)) for negative in distractors.negatives]
            for distractors in of_kind
        }
        uses = Counter(key for keys in wrong.values() for key in keys)
        count = Counter(rights.values()) + uses
        right = 0.0
        for distractors in of_kind:
            counts = [count[rights[distractors.id]], *(count[key] for key in wrong[distractors.id])]
            right += (counts[0] == min(counts)) / counts.count(min(counts))
        share, chance = right / len(of_kind), 1 / settings.num_options
        tenth = max(1, len(set(rights.values())) // 10)
        most = sum(times for _, times in uses.most_common(tenth)) / max(sum(uses.values()), 1)
        spreads = settings.max_lend == 0 or settings.max_lend > 1.2
        remedy = (
            "A smaller --max-lend spreads them"
            if spreads
            else "Some answers resemble no other answer, or cannot be distractors"
        )
        if share > MUCH * chance:
            yield (
                f"{kind}s: the option that occurs least often is correct for {share:.1%} of the questions "
                f"(chance {chance:.1%}). {remedy}."
            )
        if most > CONCENTRATED:
            yield f"{kind}s: a tenth of the texts make up {most:.1%} of the distractors. {remedy}."


def _rows(questions: Sequence[QuestionRow], mined: MinedOptions, choice: MineSettings) -> list[dict[str, Any]]:
    sets = option_sets(questions, mined, choice)
    rows: list[dict[str, Any]] = []
    for question in questions:
        row: dict[str, Any] = {"id": question.id, "split": question.splits[0], "question": question.question}
        for kind, of_kind in sets.items():
            options, index, sources = NAMES[kind]
            row[options] = list(of_kind[question.id].options)
            row[index] = of_kind[question.id].answer_index
            row[sources] = [
                source and {name: getattr(source, name) for name in SOURCE_COLUMNS}
                for source in of_kind[question.id].sources
            ]
        if mined.guessable:
            row["blind_guessable"] = question.id in mined.guessable[0]
        rows.append(row)
    return rows


def _side_by_side(questions: Sequence[QuestionRow], mined: MinedOptions, choice: MineSettings) -> Table:
    wrong = [f"wrong_{number}" for number in range(1, choice.num_options)]
    rows = []
    for number, question in enumerate(questions):
        for kind, of_kind in mined.mined.items():
            texts = [negative.text for negative in of_kind[number].negatives]
            rows.append(
                (question.id, question.splits[0], kind, question.question, mined.texts[kind][question.id], *texts)
            )
    return Table("options", "", ("id", "split", "kind", "question", "right", *wrong), tuple(rows))


def write_review(path: Path, mined: MinedQuestions, choice: MineSettings) -> None:
    """Write a random sample of questions with their options side by side, to be checked for second correct answers.

    Raises:
        OutputError: The file cannot be written.
    """
    ids = sorted((row["id"] for row in mined.rows), key=lambda name: digest_for(choice.seed, "review", name))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    name, _, *headings = mined.options.headings
    table.writerow([name, *headings, "also_right", "ungrammatical"])
    of_id: dict[Any, list[list[Any]]] = {}
    for first, _, *cells in mined.options.rows:
        of_id.setdefault(first, []).append([first, *cells, "", ""])
    for drawn in ids[: choice.review_count]:
        table.writerows(of_id[drawn])
    write_atomic(path, text.getvalue())


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows atomically as Parquet or JSON Lines, depending on the file suffix.

    Raises:
        OutputError: The file cannot be written.
    """
    if path.suffix.lower() == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        source = pa.struct([(name, getattr(pa, kind)()) for name, kind in SOURCE_COLUMNS.items()])
        types = {"blind_guessable": pa.bool_()}
        for options, index, sources in NAMES.values():
            types |= {options: pa.list_(pa.string()), index: pa.int32(), sources: pa.list_(source)}
        schema = pa.schema([(name, types.get(name, pa.string())) for name in rows[0]])
        with atomic(path) as temporary:
            pq.write_table(pa.Table.from_pylist(list(rows), schema), temporary)
    else:
        write_atomic(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _summary(options: MinedOptions, settings: MiningSettings) -> tuple[str, ...]:
    mined = options.mined
    lines = [f"{len(next(iter(mined.values()))):,} questions with {settings.num_options} options"]
    if options.guessable:
        lines.append(f"  {len(options.guessable[0]):,} questions are blind_guessable, so not in the balanced subset")
    for kind, of_kind in mined.items():
        wrong = [negative for distractors in of_kind for negative in distractors.negatives]
        mean = sum(negative.cos_text for negative in wrong) / len(wrong)
        most = Counter(negative.id for negative in wrong).most_common(1)[0]
        lines.append(
            f"  {kind}s: mean cosine of distractors and correct option {mean:.3f}; most frequent donor {most[0]}, "
            f"{most[1]} times"
        )
        wide = sum(distractors.looked_at > settings.top_k for distractors in of_kind)
        if hard(settings) and wide:
            lines.append(f"  {kind}s: {wide:,} questions needed more than {settings.top_k} candidates")
    return tuple(lines)
