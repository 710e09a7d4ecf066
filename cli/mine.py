"""`stressreel mine`: wrong options for any set of questions."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..language.words import TaggerKind
from ..negatives.settings import (
    MiningSettings,
    PoolSettings,
    advice,
    columns_of,
    hard,
    read_columns,
    refuse_unused,
    released,
    strict,
)
from ..records.options import nested, option, settled
from .options import from_values, make_command

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..negatives.mining import Item, Kind, Mined, OptionSet
    from ..sources.questions import Questions

TRAIN = ("train", "training")
MUCH = 1.5  # times chance
CONCENTRATED = 0.35
ENDINGS = (".jsonl", ".ndjson", ".parquet")


@dataclass(frozen=True)
class Options:
    """What was mined.

    Attributes:
        texts: By kind and id, the right options as they stand among the wrong ones.
        mined: By kind, the wrong ones in the order of the questions.
        guessable: The questions outside of the balanced subset; None where options are not balanced.
    """

    texts: Mapping[Kind, Mapping[str, str]]
    mined: Mapping[Kind, tuple[Mined, ...]]
    guessable: frozenset[str] | None


@dataclass(frozen=True, kw_only=True)
class MineSettings(PoolSettings):
    """What `stressreel mine` is told; see `negatives.settings`."""

    questions: str = option(
        "",
        "CSV or JSON lines with id, question, answer and optional explanation, group, split; CausalChaos' "
        "Annotations.csv; or the word `sample`.",
        required=True,
    )
    out: Path = option(Path(), "File to write: .jsonl or .parquet.", required=True)
    columns: tuple[str, ...] = option(
        (), "Columns that are called otherwise, such as question=Q,answer=A.", read=read_columns
    )
    mining: MiningSettings = nested(MiningSettings)
    train_split: str | None = option(
        None,
        "The split whose right answers are no wrong options elsewhere, with --pool split.",
        shown="train, if there",
    )
    seed: int = option(0, "Seed of every draw.", minimum=0)
    tagger: TaggerKind = option(
        "auto", "Parts of speech, for balanced options: NLTK's tagger, Pattern's, or NLTK's where its data is found."
    )
    review: Path | None = option(
        None, "CSV to write drawn questions to, options side by side, for people to look for second right answers."
    )
    review_count: int = option(100, "Questions in --review.", minimum=1)
    progress: bool = option(True, "Show progress.")


def run(**values: Any) -> None:
    """Find wrong options for questions: answers to similar questions that do not say the same as the right one.

    Every question gets its options in a drawn order, the place of the right one, and where each option comes from;
    explanations, if there are any, get options of their own.

    \b
    Examples:
      stressreel mine --questions sample --out mined.jsonl
      stressreel mine --questions mine.csv --columns id=qid,answer=a --out mined.parquet
      stressreel mine --questions Annotations.csv --out mined.jsonl --review to-read.csv
      stressreel mine --questions Annotations.csv --imitate-release --out as-released.jsonl
    """  # noqa: D301
    from ..errors import InputError
    from ..progress import showing

    given = released(from_values(MineSettings, values))
    refuse_unused(given)
    chosen = settled(given)
    out = chosen.out
    if out.suffix.lower() not in ENDINGS:
        raise click.BadParameter(f"{out.name}: expected the ending {', '.join(ENDINGS)}", param_hint="--out")
    questions = _read(chosen.questions, columns_of(chosen.columns) or None, chosen.apart_frames)
    has_explanations = bool(questions.questions[0].explanation)
    if chosen.rank_by == "explanation" and not has_explanations:
        raise InputError("--rank-by explanation needs explanations, and these questions have none.")
    kinds: tuple[Kind, ...] = ("answer", "explanation") if has_explanations else ("answer",)
    train = _train(questions, chosen.train_split) if chosen.pool == "split" or strict(chosen) else None
    items = {kind: _items(questions, kind, chosen.pool == "split", None if strict(chosen) else train) for kind in kinds}
    _refuse_few(items, chosen)
    with showing(chosen.progress):
        if strict(chosen):
            options = balance_questions(questions, kinds, chosen, train)
        else:
            options = mine_questions(questions, items, chosen)
    _refuse_short(options.mined, chosen)
    write_rows(out, _rows(questions, options, chosen))
    click.echo(_report(out, options, chosen.mining))
    if chosen.review:
        write_review(chosen.review, questions, options, chosen)
        click.echo(f"wrote {chosen.review}: questions drawn for reading, options side by side")
    for warning in _warnings(questions, items, options, chosen.mining):
        click.echo(f"warning: {warning}", err=True)


command = make_command("mine", run, MineSettings)


def _train(questions: Questions, named: str | None) -> str | None:
    """Find the split that is trained on; None if there is none."""
    from ..errors import UsageError

    splits = sorted({one.split for one in questions.questions if one.split})
    if named is not None and named not in splits:
        raise UsageError(f"there is no split {named!r} for --train-split. Splits: {', '.join(splits) or 'none'}.")
    return named or next((split for split in splits if split.lower() in TRAIN), None)


def _items(questions: Questions, kind: Kind, by_split: bool, train: str | None) -> list[Item]:
    from ..language.text_key import text_key
    from ..negatives.mining import Item

    trained = {text_key(getattr(one, kind)) for one in questions.questions if one.split == train} if train else set()
    return [
        Item(
            one.id,
            one.question,
            getattr(one, kind),
            one.split if by_split else "",
            lends=one.split == train or text_key(getattr(one, kind)) not in trained,
        )
        for one in questions.questions
    ]


def mine_questions(
    questions: Questions,
    items: Mapping[Kind, Sequence[Item]],
    choice: MineSettings,
) -> Options:
    """Embed what is needed and find the wrong options of each kind."""
    from ..negatives.embeddings_cache import embed
    from ..negatives.mining import mine

    def vectors(name: str) -> NDArray[np.float32]:
        return embed([getattr(one, name) for one in questions.questions], choice.model)

    asked = vectors("question")
    of_kind = {kind: vectors(kind) for kind in items}
    mined = {
        kind: mine(
            some,
            asked,
            of_kind[kind],
            choice.mining,
            seed=choice.seed,
            kept_apart=questions.kept_apart if choice.keep_apart else {},
            ranked_by=of_kind["explanation"] if choice.rank_by == "explanation" else None,
        )
        for kind, some in items.items()
    }
    return Options({kind: {item.id: item.text for item in some} for kind, some in items.items()}, mined, None)


def balance_questions(
    questions: Questions,
    kinds: Sequence[Kind],
    choice: MineSettings,
    train: str | None,
) -> Options:
    """Draw wrong options that blind models do not tell from the right ones."""
    from ..language.cast import derive_cast
    from ..language.tagger import load_tagger
    from ..negatives.balanced_mining import mine_balanced
    from ..negatives.candidates import QuestionRow
    from ..negatives.confuser import Confuser
    from ..negatives.embeddings_cache import embed

    rows = questions.questions
    cast = derive_cast(text for one in rows for text in (one.question, one.answer, one.explanation))
    confuser = Confuser(tagger=load_tagger(choice.tagger), cast=cast)
    kept_apart = questions.kept_apart if choice.keep_apart else {}
    found = mine_balanced(
        [
            QuestionRow(
                one.id,
                one.question,
                {kind: getattr(one, kind) for kind in kinds},
                one.split if choice.pool == "split" else "",
                min((one.id, *questions.kept_apart.get(one.id, ()))),
                one.split,
            )
            for one in rows
        ],
        confuser,
        lambda texts: embed(texts, choice.model),
        choice.mining,
        seed=choice.seed,
        kept_apart=kept_apart,
        train=train,
        one_style=choice.mining.style == "one",
    )
    texts = {kind: dict(zip((one.id for one in rows), found.texts[kind], strict=True)) for kind in kinds}
    return Options(texts, {kind: tuple(found.mined[kind]) for kind in kinds}, found.guessable)


def _read(source: str, columns: Mapping[str, str] | None, apart_frames: int) -> Questions:
    from ..sources.questions import read_questions

    if source != "sample":
        return read_questions(Path(source), columns, apart_frames)
    from ..samples.causal import write_causal_annotations

    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        return read_questions(write_causal_annotations(Path(folder)), columns, apart_frames)


def _refuse_few(items: Mapping[Kind, Sequence[Item]], choice: MineSettings) -> None:
    """Refuse before anything is embedded what cannot be done, because a pool has too few distinct answers."""
    from ..errors import InputError
    from ..language.text_key import text_key

    for kind, some in items.items():
        texts: dict[str, set[str]] = {}
        for item in some:
            texts.setdefault(item.pool, set()).update({text_key(item.text)} if item.lends else ())
        pool, fewest = min(texts.items(), key=lambda one: len(one[1]))
        if len(fewest) < choice.mining.num_options - 1:
            raise InputError(
                f"{'split ' + repr(pool) if pool else 'the questions'} can lend {len(fewest)} different {kind}s, too "
                f"few for {choice.mining.num_options} options; nothing was written. {advice(choice)}"
            )


def _refuse_short(mined: Mapping[Kind, Sequence[Mined]], choice: MineSettings) -> None:
    from ..errors import InputError

    need = choice.mining.num_options - 1
    short = [(kind, one) for kind, found in mined.items() for one in found if len(one.negatives) < need]
    if short:
        kind, first = short[0]
        raise InputError(
            f"{len(short)} of {sum(map(len, mined.values()))} questions find fewer than {need} wrong options; nothing "
            f"was written. The first is {first.id} ({kind}): {len(first.negatives)} of the {first.looked_at} questions "
            f"that were looked at. {advice(choice)}"
        )


def _warnings(
    questions: Questions, items: Mapping[Kind, Sequence[Item]], options: Options, settings: MiningSettings
) -> Iterator[str]:
    """Describe where options alone tell which is right: by how often each occurs, or because few texts lend most."""
    from ..language.text_key import text_key

    for kind, found in options.mined.items():
        pools = {item.id: item.pool for item in items[kind]}
        rights = {name: (pools[name], text_key(text)) for name, text in options.texts[kind].items()}
        wrong = {one.id: [(pools[one.id], text_key(negative.text)) for negative in one.negatives] for one in found}
        lent = Counter(key for keys in wrong.values() for key in keys)
        count = Counter(rights.values()) + lent
        right = 0.0
        for one in found:
            counts = [count[rights[one.id]], *(count[key] for key in wrong[one.id])]
            right += (counts[0] == min(counts)) / counts.count(min(counts))
        share, chance = right / len(found), 1 / settings.num_options
        tenth = max(1, len(set(rights.values())) // 10)
        most = sum(times for _, times in lent.most_common(tenth)) / max(sum(lent.values()), 1)
        remedy = "A smaller --max-lend spreads them" if settings.max_lend == 0 or settings.max_lend > 1.2 else ""
        remedy = remedy or "Some answers are like no other, or may not lend"
        if share > MUCH * chance:
            yield (
                f"{kind}s: whoever takes the option that occurs least often is right in {share:.1%} of the questions "
                f"(chance {chance:.1%}). {remedy}."
            )
        if most > CONCENTRATED:
            yield f"{kind}s: a tenth of the texts lend {most:.1%} of the wrong options. {remedy}."


def _rows(questions: Questions, mined: Options, choice: MineSettings) -> list[dict[str, Any]]:
    from ..negatives.mining import arrange, even_places

    names: dict[Kind, tuple[str, str, str]] = {
        "answer": ("options", "answer_index", "sources"),
        "explanation": ("explanation_options", "explanation_index", "explanation_sources"),
    }
    places: dict[tuple[Kind, str], int] = {}
    if mined.guessable is not None:
        for kind in mined.mined:
            for split in {one.split for one in questions.questions}:
                some = [one.id for one in questions.questions if one.split == split]
                even = even_places(some, choice.mining.num_options, choice.seed, kind)
                places |= {(kind, name): place for name, place in even.items()}
    rows: list[dict[str, Any]] = []
    for place, one in enumerate(questions.questions):
        row: dict[str, Any] = {"id": one.id, "split": one.split, "question": one.question}
        for kind, found in mined.mined.items():
            choice_set = arrange(
                mined.texts[kind][one.id], found[place].negatives, choice.seed, one.id, kind, places.get((kind, one.id))
            )
            options, index, sources = names[kind]
            row |= {
                options: list(choice_set.options),
                index: choice_set.answer_index,
                sources: source_rows(choice_set),
            }
        if mined.guessable is not None:
            row["blind_guessable"] = one.id in mined.guessable
        rows.append(row)
    return rows


def write_review(path: Path, questions: Questions, mined: Options, choice: MineSettings) -> None:
    """Write drawn questions with their options side by side, for people to look for second right answers.

    Raises:
        OutputError: The file cannot be written.
    """
    import csv
    import io

    from ..records.files import write_atomic
    from ..seeds import digest_for

    rows = sorted(
        range(len(questions.questions)), key=lambda n: digest_for(choice.seed, "review", questions.questions[n].id)
    )
    text = io.StringIO()
    wrong = [f"wrong_{number}" for number in range(1, choice.mining.num_options)]
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["id", "kind", "question", "right", *wrong, "also_right", "ungrammatical"])
    for number in rows[: choice.review_count]:
        one = questions.questions[number]
        for kind, found in mined.mined.items():
            texts = [negative.text for negative in found[number].negatives]
            texts += [""] * (len(wrong) - len(texts))
            table.writerow([one.id, kind, one.question, mined.texts[kind][one.id], *texts, "", ""])
    write_atomic(path, text.getvalue())


def source_rows(choice: OptionSet) -> list[dict[str, Any] | None]:
    """Return where each option comes from as JSON values; None for the right one."""
    return [
        {
            "id": source.id,
            "cos_question": source.cos_question,
            "cos_text": source.cos_text,
            "score": source.score,
            "kind": source.kind,
        }
        if source
        else None
        for source in choice.sources
    ]


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as JSON lines or Parquet, by the ending; the file appears whole or not at all.

    Raises:
        OutputError: The file cannot be written.
    """
    from ..records.files import atomic, write_atomic

    if path.suffix.lower() == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        source = pa.struct(
            [
                ("id", pa.string()),
                ("cos_question", pa.float64()),
                ("cos_text", pa.float64()),
                ("score", pa.float64()),
                ("kind", pa.string()),
            ]
        )
        texts, sources = pa.list_(pa.string()), pa.list_(source)
        types = {
            "options": texts,
            "answer_index": pa.int32(),
            "sources": sources,
            "explanation_options": texts,
            "explanation_index": pa.int32(),
            "explanation_sources": sources,
            "blind_guessable": pa.bool_(),
        }
        schema = pa.schema([(name, types.get(name, pa.string())) for name in rows[0]])
        with atomic(path) as temporary:
            pq.write_table(pa.Table.from_pylist(list(rows), schema), temporary)
    else:
        write_atomic(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _report(out: Path, options: Options, settings: MiningSettings) -> str:
    mined = options.mined
    lines = [f"wrote {out}: {len(next(iter(mined.values()))):,} questions with {settings.num_options} options"]
    if options.guessable is not None:
        lines.append(f"  {len(options.guessable):,} questions are blind_guessable, outside of the balanced subset")
    for kind, found in mined.items():
        wrong = [negative for one in found for negative in one.negatives]
        mean = sum(negative.cos_text for negative in wrong) / len(wrong)
        most = Counter(negative.id for negative in wrong).most_common(1)[0]
        lines.append(
            f"  {kind}s: mean cosine of wrong options and right one {mean:.3f}; {most[0]} lends its {kind} most often, "
            f"{most[1]} times"
        )
        wide = sum(one.looked_at > settings.top_k for one in found)
        if hard(settings) and wide:
            lines.append(f"  {kind}s: {wide:,} questions needed more than {settings.top_k} candidates")
    return "\n".join(lines)
