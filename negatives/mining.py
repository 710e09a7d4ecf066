"""Mine distractors from the answers to other questions: balanced, hardest by score, or random.

For balanced distractors, what blind models could exploit in the candidates is measured (`option_cues`), and distractors
are sampled (`balance`).
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import InputError, UsageError
from ..core.files import atomic, write_atomic
from ..core.numerics import digest_for, one_thread
from ..core.results import Result, Table
from ..language.embeddings import Embeddings
from ..language.people import derive_cast
from ..language.words import text_key
from .balance import balance
from .candidates import AdaptableTexts, Candidates, Indices, folded
from .confusion import Confuser
from .option_cues import measure
from .options import COSINE_DIGITS, ROOM, EarlierOptions, Embed, Mined, MinedOptions, Negative, QuestionRow, option_sets
from .score_mining import Item, cosine, items_of, mine_by_score
from .settings import MineSettings, MiningSettings, advice, hard, strict

SAME_TEXT = 0.8  # cosine from which a candidate may be correct, unless --same-text is specified

VERSION = 4  # version of the sampled options


def mine(
    rows: Sequence[QuestionRow],
    settings: Any,
    embed: Embed,
    *,
    candidates: Candidates | None = None,
    train: str | None = None,
    kept_apart: Mapping[str, Sequence[str]] | None = None,
    earlier: EarlierOptions | None = None,
) -> MinedOptions:
    """Choose the distractors of every question, for `stressreel mine` and `build-causal`.

    All questions have the same targets. `settings` has `mining`, `rank_by` and `seed`, like `PoolSettings`. Balanced
    options require `candidates`. Texts that are correct in the split `train` must not be distractors elsewhere.
    `kept_apart` maps the id of a question to the ids of questions that must not be its donors. `earlier` distractors
    replace those chosen here if the rules allow them.

    Raises:
        InputError: Balanced options are requested without `candidates`.
    """
    if strict(settings):
        if candidates is None:
            raise InputError("--balance strict needs a parser of English. Choose --balance none.")
        return mine_balanced(rows, candidates, embed, settings, seed=settings.seed, train=train, earlier=earlier)
    questions = embed([row.question for row in rows])
    vectors = {target: embed([row.texts[target] for row in rows]) for target in rows[0].texts}
    mined = {
        target: mine_by_score(
            items_of(rows, target, train),
            questions,
            of_target,
            settings,
            seed=settings.seed,
            kept_apart=kept_apart,
            ranked_by=vectors["explanation"] if settings.rank_by == "explanation" else None,
            earlier=earlier.negatives[target] if earlier else None,
        )
        for target, of_target in vectors.items()
    }
    return MinedOptions({target: {row.id: row.texts[target] for row in rows} for target in mined}, mined)


def mine_balanced(
    rows: Sequence[QuestionRow],
    candidates: Candidates,
    embed: Embed,
    settings: MiningSettings,
    *,
    seed: int = 0,
    train: str | None = None,
    earlier: EarlierOptions | None = None,
) -> MinedOptions:
    """Sample distractors that no model of question and options can distinguish from the correct option.

    The distractors for a row's answer and for its explanation come from the same source rows. `rows` have the order of
    the candidates. `settings` gives the number of options and the threshold for equivalent texts. `train` is the split
    that models are trained on, or None. `earlier` distractors are taken if all are candidates of their question.
    """
    targets, questions = candidates.targets, candidates.questions
    order = sorted(range(len(rows)), key=lambda row: rows[row].id)
    offers = dict(enumerate(candidates.of_rows()))
    limit = SAME_TEXT if settings.same_text == MiningSettings().same_text else settings.same_text
    limit += ROOM if earlier else 0
    texts, numbers, vectors = {}, {}, {}
    for column, name in enumerate(targets):
        every = candidates.tables[name]
        used = np.unique(
            np.concatenate([candidates.rights[:, column], *(table[:, 1 + column] for table in offers.values())])
        )
        used = np.array(sorted(used.tolist(), key=every.__getitem__), np.int64)
        texts[name] = [every[number] for number in used.tolist()]
        numbers[name] = np.empty(len(every), np.int64)
        numbers[name][used] = np.arange(len(used))
        vectors[name] = embed(texts[name])

    def distinct(row: int) -> Indices:
        """Return the candidates, except any with a text so similar to a correct one that it may be correct, too."""
        offered = offers[row]
        own = np.stack([vectors[name][numbers[name][candidates.rights[row, n]]] for n, name in enumerate(targets)])
        near = [
            (vectors[name][numbers[name][offered[:, 1 + n]]].astype(np.float64) @ own.T).round(COSINE_DIGITS)
            for n, name in enumerate(targets)
        ]
        kept: Indices = offered[np.max(near, axis=(0, 2), initial=-1) < limit]
        return kept

    offers = {row: distinct(row) for row in order}
    row = np.repeat(np.arange(len(rows)), [1 + len(offers[index]) for index in order])
    # The correct option of each row is followed by its candidates: source row and text numbers.
    options = np.concatenate([np.vstack([(index, *candidates.rights[index]), offers[index]]) for index in order])
    of_target = {name: numbers[name][options[:, 1 + column]] for column, name in enumerate(targets)}
    index_of = np.argsort(order)
    ordered = [rows[index] for index in order]

    def well_formed(option: int) -> bool:
        source = int(options[option, 0])
        return candidates.well_formed(source, [texts[name][of_target[name][option]] for name in targets])

    in_train = np.array([[split == train for split in question.splits] for question in ordered]).T
    with one_thread():
        balanced = balance(
            [question.id for question in ordered],
            questions[order],
            measure(
                ordered,
                questions[order],
                texts,
                of_target,
                vectors,
                row,
                index_of[options[:, 0]],
                in_train,
                candidates.names,
            ),
            need=settings.num_options - 1,
            groups=[question.group or question.id for question in ordered],
            splits=[question.splits for question in ordered],
            in_train=in_train,
            well_formed=well_formed,
            seed=seed,
        )

    first = np.flatnonzero(np.diff(row, prepend=-1))
    ends = np.append(first[1:], len(row))

    def chosen_in(index: int) -> list[int]:
        """Return the given options of a row, or those chosen here if some are no candidates."""
        own: list[int] = balanced.chosen[index].tolist()
        wanted = [earlier.negatives[name].get(ordered[index].id, ()) for name in targets] if earlier else []
        known = {
            (rows[options[n, 0]].id, *(texts[name][of_target[name][n]] for name in targets)): n
            for n in (range(first[index] + 1, ends[index]) if earlier else ())
        }
        matches = [
            known.get((of_targets[0].id, *(negative.text for negative in of_targets)))
            for of_targets in zip(*wanted, strict=False)
            if len({negative.id for negative in of_targets}) == 1
        ]
        keys = [{folded(negative.text) for negative in negatives} for negatives in wanted]
        if {len(own)} != {len(matches), *map(len, wanted), *map(len, keys)}:
            return own
        options_given = [match for match in matches if match is not None]
        return options_given if len(options_given) == len(own) else own

    def negative(name: str, index: int, option: int) -> Negative:
        source = int(options[option, 0])
        text, right = of_target[name][option], of_target[name][first[index]]
        unadapted = candidates.tables[name][candidates.rights[source, targets.index(name)]]
        return Negative(
            rows[source].id,
            texts[name][text],
            cosine(questions[order[index]], questions[source]),
            cosine(vectors[name][right], vectors[name][text]),
            0.0,
            "hard" if folded(texts[name][text]) == folded(unadapted) else "carried",
        )

    chosen = {order[index]: (index, chosen_in(index)) for index in range(len(order))}
    return MinedOptions(
        {
            name: {question.id: texts[name][of_target[name][first[index]]] for index, question in enumerate(ordered)}
            for name in targets
        },
        {
            name: [
                Mined(
                    question.id, tuple(negative(name, chosen[n][0], option) for option in chosen[n][1]), len(offers[n])
                )
                for n, question in enumerate(rows)
            ]
            for name in targets
        },
        tuple(
            frozenset(question.id for question, out in zip(ordered, flags.tolist(), strict=True) if out)
            for flags in balanced.guessable
        ),
    )


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
