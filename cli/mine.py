"""`stressreel mine`: wrong options for any set of questions."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..negatives.mining import Choice, Kind, Mined, MiningSettings
    from ..sources.questions import Questions

ENDINGS = (".jsonl", ".ndjson", ".parquet")


def read_columns(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str] | None:
    """Read "question=Q,answer=A", given once or several times."""
    pairs = [part.partition("=") for value in values for part in value.split(",")]
    if any(not (name.strip() and sign and column.strip()) for name, sign, column in pairs):
        raise click.BadParameter(f"{', '.join(values)!r} is no list of names such as question=Q,answer=A")
    columns = {name.strip(): column.strip() for name, _, column in pairs}
    if len(columns) < len(pairs):
        raise click.BadParameter(f"{', '.join(values)!r} names a column twice")
    return columns or None


@click.command("mine", context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--questions",
    "source",
    required=True,
    help="CSV or JSON lines with id, question, answer and optional explanation, group, split; CausalChaos' "
    "Annotations.csv; or the word `sample`.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="File to write: .jsonl or .parquet.")
@click.option(
    "--columns",
    multiple=True,
    callback=read_columns,
    help="Columns that are called otherwise, such as question=Q,answer=A.",
)
@click.option("--model", help="Sentence encoder: folder or name on the hub.  [default: all-MiniLM-L6-v2]")
@click.option(
    "--negatives",
    type=click.Choice(["hard", "random"]),
    default="hard",
    show_default=True,
    help="Hard negatives, or random ones as a baseline with the same exclusions.",
)
@click.option("--num-options", type=int, default=5, show_default=True, help="Options of a question, the right one too.")
@click.option("--top-k", type=int, default=10, show_default=True, help="Nearest questions that lend their answers.")
@click.option(
    "--alpha", type=float, default=1.0, show_default=True, help="Weight of the questions' cosine; scales all scores."
)
@click.option("--beta", type=float, default=0.001, show_default=True, help="Factor of answers at or above --tau.")
@click.option("--tau", type=float, default=0.85, show_default=True, help="Cosine from which an answer is too similar.")
@click.option(
    "--same-question",
    type=float,
    default=0.9,
    show_default=True,
    help="Cosine from which two questions ask the same and lend each other nothing; above 1 is never.",
)
@click.option(
    "--same-text",
    type=float,
    default=0.9,
    show_default=True,
    help="Cosine from which two answers say the same and are never options together.",
)
@click.option(
    "--pool",
    type=click.Choice(["split", "all"]),
    default="split",
    show_default=True,
    help="Take options from the question's own split (column `split`, if there is one), or from all questions.",
)
@click.option(
    "--rank-by",
    type=click.Choice(["own", "explanation"]),
    default="own",
    show_default=True,
    help="Score answers by their own cosine, or by that of their explanations as in the released CausalChaos.",
)
@click.option(
    "--keep-apart/--no-keep-apart",
    default=True,
    show_default=True,
    help="Take no option from a question of the same group, or about an overlapping part of the video.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of every draw.")
@click.option("--progress/--no-progress", default=True, show_default=True, help="Show progress.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    source: str,
    out: Path,
    columns: dict[str, str] | None,
    model: str | None,
    negatives: str,
    num_options: int,
    top_k: int,
    alpha: float,
    beta: float,
    tau: float,
    same_question: float,
    same_text: float,
    pool: str,
    rank_by: str,
    keep_apart: bool,
    seed: int,
    progress: bool,
    debug: bool,
) -> None:
    """Find wrong options for questions: answers to similar questions that do not say the same as the right one.

    Every question gets its options in a drawn order, the place of the right one, and where each option comes from;
    explanations, if there are any, get options of their own.

    \b
    Examples:
      stressreel mine --questions sample --out mined.jsonl
      stressreel mine --questions mine.csv --columns id=qid,answer=a --out mined.parquet
      stressreel mine --questions Annotations.csv --pool all --tau .75 --rank-by explanation --no-keep-apart \\
        --out as-released.jsonl
    """  # noqa: D301
    from ..errors import InputError
    from ..negatives.mining import MiningSettings

    if out.suffix.lower() not in ENDINGS:
        raise click.BadParameter(f"{out.name}: expected the ending {', '.join(ENDINGS)}", param_hint="--out")
    settings = MiningSettings(
        "random" if negatives == "random" else "hard", num_options, top_k, alpha, beta, tau, same_question, same_text
    )
    questions = _read(source, columns)
    has_explanations = bool(questions.questions[0].explanation)
    if rank_by == "explanation" and not has_explanations:
        raise InputError("--rank-by explanation needs explanations, and these questions have none.")
    kinds: tuple[Kind, ...] = ("answer", "explanation") if has_explanations else ("answer",)
    with ExitStack() as stack:
        mined = mine_questions(
            questions,
            kinds,
            settings,
            model=model,
            pools=[one.split if pool == "split" else "" for one in questions.questions],
            seed=seed,
            kept_apart=questions.kept_apart if keep_apart else {},
            by_explanation=rank_by == "explanation",
            show=lambda what: _bar(stack, what, progress),
        )
    _refuse_short(mined, settings)
    write_rows(out, _rows(questions, mined, seed))
    click.echo(_report(out, mined, settings))


def mine_questions(
    questions: Questions,
    kinds: Sequence[Kind],
    settings: MiningSettings,
    *,
    model: str | None,
    pools: Sequence[str],
    seed: int,
    kept_apart: Mapping[str, Sequence[str]],
    by_explanation: bool,
    show: Callable[[str], Callable[[int, int], None] | None],
) -> dict[Kind, tuple[Mined, ...]]:
    """Embed what is needed and find the wrong options of each kind."""
    from ..negatives.embeddings_cache import embed
    from ..negatives.mining import Item, mine

    def vectors(name: str) -> NDArray[np.float32]:
        return embed([getattr(one, name) for one in questions.questions], model, progress=show(f"embedding {name}s"))

    asked = vectors("question")
    of_kind = {kind: vectors(kind) for kind in kinds}
    return {
        kind: mine(
            [
                Item(one.id, one.question, getattr(one, kind), pool)
                for one, pool in zip(questions.questions, pools, strict=True)
            ],
            asked,
            of_kind[kind],
            settings,
            seed=seed,
            kept_apart=kept_apart,
            ranked_by=of_kind["explanation"] if by_explanation else None,
            progress=show(f"mining {kind}s"),
        )
        for kind in kinds
    }


def _read(source: str, columns: Mapping[str, str] | None) -> Questions:
    from ..sources.questions import read_questions

    if source != "sample":
        return read_questions(Path(source), columns)
    from ..samples.causal import write_causal_annotations

    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        return read_questions(write_causal_annotations(Path(folder)), columns)


def _bar(stack: ExitStack, what: str, wanted: bool) -> Callable[[int, int], None] | None:
    if not wanted:
        return None
    from tqdm import tqdm

    bar = stack.enter_context(tqdm(desc=what, leave=False, disable=None))

    def update(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)

    return update


def _refuse_short(mined: Mapping[Kind, Sequence[Mined]], settings: MiningSettings) -> None:
    from ..errors import InputError

    need = settings.num_options - 1
    short = [(kind, one) for kind, found in mined.items() for one in found if len(one.negatives) < need]
    if short:
        kind, first = short[0]
        raise InputError(
            f"{len(short)} of {sum(map(len, mined.values()))} questions find fewer than {need} wrong options; nothing "
            f"was written. The first is {first.id} ({kind}): {len(first.negatives)} of the {first.looked_at} questions "
            "that were looked at. Give more questions, --pool all, a smaller --num-options, --no-keep-apart, or higher "
            "--same-question and --same-text."
        )


def _rows(questions: Questions, mined: Mapping[Kind, Sequence[Mined]], seed: int) -> list[dict[str, Any]]:
    from ..negatives.mining import arrange

    names: dict[Kind, tuple[str, str, str]] = {
        "answer": ("options", "answer_index", "sources"),
        "explanation": ("explanation_options", "explanation_index", "explanation_sources"),
    }
    rows: list[dict[str, Any]] = []
    for place, one in enumerate(questions.questions):
        row: dict[str, Any] = {"id": one.id, "split": one.split, "question": one.question}
        for kind, found in mined.items():
            choice = arrange(getattr(one, kind), found[place].negatives, seed, one.id, kind)
            options, index, sources = names[kind]
            row |= {options: list(choice.options), index: choice.answer_index, sources: source_rows(choice)}
        rows.append(row)
    return rows


def source_rows(choice: Choice) -> list[dict[str, Any] | None]:
    """Give where each option comes from as JSON values; None for the right one."""
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
        }
        schema = pa.schema([(name, types.get(name, pa.string())) for name in rows[0]])
        with atomic(path) as temporary:
            pq.write_table(pa.Table.from_pylist(list(rows), schema), temporary)
    else:
        write_atomic(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _report(out: Path, mined: Mapping[Kind, Sequence[Mined]], settings: MiningSettings) -> str:
    lines = [f"wrote {out}: {len(next(iter(mined.values()))):,} questions with {settings.num_options} options"]
    for kind, found in mined.items():
        wrong = [negative for one in found for negative in one.negatives]
        mean = sum(negative.cos_text for negative in wrong) / len(wrong)
        most = Counter(negative.id for negative in wrong).most_common(1)[0]
        lines.append(
            f"  {kind}s: mean cosine of wrong options and right one {mean:.3f}; {most[0]} lends its {kind} most often, "
            f"{most[1]} times"
        )
        wide = sum(one.looked_at > settings.top_k for one in found)
        if settings.negatives == "hard" and wide:
            lines.append(f"  {kind}s: {wide:,} questions needed more than {settings.top_k} candidates")
    return "\n".join(lines)
