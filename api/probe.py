"""Impair a model's fusion of modalities, and measure how its scores change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..core.errors import UsageError
from ..core.files import check_outside
from ..core.functions import public
from ..core.results import Estimate, Result, Table, dump, json_value, markdown_table
from ..core.rows import AnyPath
from ..core.settings import Limit, Resamples, Seed, parsed, within
from .ask import Device, Frames, MostTokens, Names, TestSplit, find_clips, read_questions

if TYPE_CHECKING:
    from ..evaluation.metrics.scores import SavedScores, ScoreOptions
    from ..evaluation.models.distances import Complement, DistanceRow
    from ..evaluation.models.probed import Session
    from ..evaluation.models.question_set import QuestionSet, Scorable

MARK = 0.02
LEGEND = "* a drop of at least two points, as marked in the paper, with an interval (if any) below 0."


@dataclass(frozen=True)
class Probed(Result):
    """Result of `probe`, with the changes of a model's scores when its fusion is impaired.

    Attributes:
        folder: Folder of the predictions and tables.
        tables: A table per score, with conditions, values and changes, followed by the attention distances if measured.
        content: The content of `probe.json`.
        notes: Notes on questions that were not asked, and on short-circuits that had no effect.
    """

    folder: Path
    tables: tuple[Table, ...]
    content: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def written(self) -> tuple[str, ...]:  # type: ignore[override]
        """Message that names the written files."""
        probed = self.folder / "probe"
        return (f"Wrote {probed}.md, {probed}.json and the predictions next to them.",)

    def as_tables(self) -> tuple[Table, ...]:
        """Return the table of each score, followed by the attention distances if measured."""
        return self.tables

    def as_json(self) -> dict[str, Any]:
        """Return the content of `probe.json`."""
        return self.content

    def __str__(self) -> str:
        from ..evaluation.metrics.scores import interval_line

        return f"{super().__str__()}\n\n{LEGEND}\n{interval_line(self.content['interval'])}"


def read_layers(layers: Any) -> tuple[str | int, ...]:
    """Parse the numbers or name patterns of attention modules."""
    texts = [layers] if isinstance(layers, str) else layers
    return tuple(int(text) if text.isdigit() else text for text in texts)


@public
def probe(
    out: AnyPath,
    *,
    transformers: str | Path,
    to: Path | str,
    short_circuits: Names = ("all",),
    operators: Names = ("average", "knockout"),
    layer: Annotated[Sequence[str | int] | str, parsed(read_layers)] = (),
    attention_distances: bool = False,
    pairs: Annotated[int, within(1, 1_000_000)] = 100,
    rounds: Annotated[int | None, within(0, 1_000_000, show_default="no limit")] = None,
    revision: str | None = None,
    device: Device = None,
    dtype: str = "auto",
    config: Sequence[str] | str = (),
    split: TestSplit = None,
    setting: Sequence[str] | str = (),
    limit: Limit = None,
    videos: Path | str | None = None,
    frames: Frames = 16,
    size: Annotated[int, within(0, 8192)] = 448,
    max_tokens: MostTokens = None,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    fresh: bool = False,
    progress: bool = True,
) -> Probed:
    """Impair a model's fusion of modalities (QUAG), and show how its scores change.

    The conditions are those of the paper's Table 1: the unchanged model, the question without frames, frames without
    the question, and attention that is short-circuited within modalities, across modalities, or for one modality.
    Differences are paired over source videos.

    For example::

        stressreel probe out/clavi --transformers ./model --to probe

    Args:
        out: The output of a build.
        transformers: Model to run locally with transformers.
        to: Folder for predictions and tables.
        short_circuits: Short-circuits, separated by commas: unimodal, crossmodal, video, text; or all four.
        operators: Operators, separated by commas: average (QUAG), knockout (masking), merge (as in QUAG-attention).
        layer: Impair only attention modules with this number or name pattern; may be repeated.
        attention_distances: Measure the distance between the attention on the two sides of complement pairs (the
            paper's Table 16); for CLAVI.
        pairs: With `attention_distances`: maximum number of complement pairs of each kind, sampled at random.
        rounds: With `attention_distances`: maximum number of rounds of swaps per head. Fewer rounds are faster but less
            exact.
        revision: Commit, tag or branch of the model on the Hub.
        device: Device, such as cuda:0.
        dtype: Data type, such as bfloat16.
        config: Ask only the questions of this table; may be repeated.
        split: Split with the questions to ask.
        setting: For suites of perturbations: ask only these settings, such as `clean` or `"jpeg-*"`; may be repeated.
        limit: Ask only the first N questions of each task and setting.
        videos: Folder with the source videos, if `out` has no videos; perturbed frames are then made on the fly.
        frames: Number of frames per clip.
        size: Maximum length of a frame's longer side, in pixels; 0 keeps the original size.
        max_tokens: Maximum number of tokens per answer.
        seed: Random seed of the bootstrap, and of the sample of pairs.
        resamples: Number of bootstrap resamples over source videos.
        fresh: Discard earlier answers and ask all questions again.
        progress: Show progress.

    Raises:
        UsageError: A path, table, split or setting does not exist, or options conflict.
        InputError: Questions or videos cannot be read.
        BuildError: Some questions have no answer.
    """
    from ..evaluation.models.clip_sources import Sampling
    from ..evaluation.models.distances import as_table, row_json
    from ..evaluation.models.journal import AnswerJournal
    from ..evaluation.models.local import LocalModel
    from ..evaluation.models.probed import ProbedModel, Session, ask_all, calls_under, conditions, mean_effects
    from ..evaluation.models.question_set import chosen_modalities
    from ..evaluation.models.run import AskSettings

    folder = Path(to)
    questions = scored_right_or_wrong(read_questions(Path(out), config, split, setting, limit))
    check_outside(folder, questions.path)
    tested = conditions(short_circuits, operators, *chosen_modalities((), questions.questions))
    clips = find_clips(questions, videos)
    complements = complement_pairs(questions, pairs) if attention_distances else []
    local = LocalModel(str(transformers), revision or "", device or "", dtype)
    model = ProbedModel(local, {condition.name: condition for condition in tested}, [*layer] or None)
    calls = calls_under(tested, questions.questions)
    settings = AskSettings(Sampling(frames, size), max_tokens=max_tokens)
    about = {**questions.identity, **model.about}
    bootstrap: dict[str, Any] = {"seed": seed, "resamples": resamples}
    with AnswerJournal(folder / "answers.journal", {**about, **settings.as_json()}, fresh=fresh) as journal:
        session = Session(questions, calls, model, clips, settings, journal, progress)
        ask_all(session, folder)
        distances = compare_attention(session, complements, rounds, bootstrap) if complements else ()
    tables, changes, interval = compare_scores(session, folder, bootstrap)
    effects = mean_effects(calls, journal.replies)
    content = {**about, "interval": interval, "effects": effects, "tables": changes}
    if distances:
        tables.append(as_table(distances))
        content["attention_distances"] = [row_json(row) for row in distances]
    write_report(folder, tables, content)
    still = [name for name, effect in effects.items() if not effect["moved"]]
    notes = [f"{name} had no effect: its quadrants are empty in this model." for name in still]
    return Probed(folder, tuple(tables), content, (*questions.remarks, *notes))


def compare_attention(
    session: Session, complements: Sequence[Complement], rounds: int | None, bootstrap: Mapping[str, Any]
) -> tuple[DistanceRow, ...]:
    """Measure the attention distances of complement pairs, and compare them by the answers of the unchanged model."""
    from ..builders.parts import items_of_output
    from ..core.output import reading
    from ..evaluation.models.distances import measure_distances, table_of

    distances = measure_distances(session, complements, rounds)
    (table,) = session.questions.tables
    with reading(session.questions.path) as output:
        items = items_of_output(output, table.config, table.split)
    answers = {name: session.journal.replies[call.key].text for name, call in session.baseline().items()}
    return table_of(distances, answers, items, **bootstrap)


def scored_right_or_wrong(questions: QuestionSet) -> QuestionSet:
    """Return only the questions whose answers are scored as correct or incorrect.

    Raises:
        UsageError: There are no such questions, or their scores cannot be compared.
    """
    from ..evaluation.metrics.robustness import CLEAN

    if not questions.fingerprint:
        raise UsageError(
            f"{questions.path} is a file with questions. Specify the output of a build instead, because it defines the "
            "scores."
        )
    kept = tuple(question for question in questions.questions if not question.kind.startswith("open_"))
    if not kept:
        raise UsageError(
            f"{questions.path}: free-form answers are not scored as correct or incorrect. Choose another --config."
        )
    settings = {question.about["setting"] for question in kept if "setting" in question.about}
    if settings and not (CLEAN in settings and len(settings) > 1):
        raise UsageError(
            f"robustness is measured against {CLEAN}, but the settings are {', '.join(sorted(settings))}. Specify "
            f"{CLEAN} and at least one other --setting."
        )
    return replace(questions, questions=kept, tables=tuple(table for table in questions.tables if not table.written))


def complement_pairs(questions: QuestionSet, most: int) -> list[Complement]:
    """Sample up to `most` complement pairs of each kind, or raise UsageError if there are none."""
    from ..builders import benchmark_of
    from ..core.output import reading, refuse_withheld
    from ..evaluation.models.distances import drawn

    with reading(questions.path) as output:
        benchmark = benchmark_of(output)
        if not benchmark.defines("complements"):
            raise UsageError(f"--attention-distances: {benchmark.name} has no complement pairs; only CLAVI has them.")
        refuse_withheld(output)
        pairs = [pair for table in questions.tables for pair in benchmark.complements(output, table.split)]
    sampled = drawn(pairs, [question.about["id"] for question in questions.questions], most)
    if not sampled:
        raise UsageError("--attention-distances: no complement pair has answers on both sides. Increase --limit.")
    return sampled


def compare_scores(
    session: Session, folder: Path, bootstrap: Mapping[str, Any]
) -> tuple[list[Table], list[dict[str, Any]], dict[str, int]]:
    """Compare the scores of all conditions, and return tables of changes, their JSON, and data on the intervals."""
    tables: list[Table] = []
    listed: list[dict[str, Any]] = []
    sources = 0
    for scorable in session.questions.tables:
        changes, rows, sources = _changes(session, folder, scorable, bootstrap)
        tables += changes
        listed.append({"table": scorable.config, "split": scorable.split, "conditions": rows})
    return tables, listed, {"sources": sources, "resamples": bootstrap["resamples"], "seed": bootstrap["seed"]}


def _changes(
    session: Session, folder: Path, scorable: Scorable, bootstrap: Mapping[str, Any]
) -> tuple[list[Table], list[dict[str, Any]], int]:
    """Score every condition on a table, and return tables of changes, their JSON, and the number of source videos."""
    from ..builders.parts import measure_of
    from ..evaluation.metrics.bootstrap import differences, estimates
    from ..evaluation.metrics.comparison import pair_up
    from ..evaluation.metrics.scores import ScoreOptions
    from ..evaluation.models.probed import BASELINE

    path, names = session.questions.path, session.by_condition()
    options = ScoreOptions(config=scorable.config, partial=session.questions.part, **bootstrap)
    scored = {name: _scored(folder / f"{name}.jsonl", path, scorable.split, options) for name in names}
    baseline = scored[BASELINE]
    compared, rows = {}, []
    for name, impaired in scored.items():
        first, second, _ = pair_up(baseline, impaired)
        measure = measure_of(baseline.about["benchmark"], first.cells)
        values, gaps = estimates(second, measure, **bootstrap), differences(first, second, measure, **bootstrap)
        compared[name] = values, gaps
        cells = ({score: json_value(value) for score, value in side.items()} for side in (values, gaps))
        rows.append({"condition": name, **dict(zip(("scores", "changes"), cells, strict=True))})
    subject = ", ".join(filter(None, (scorable.config, scorable.split)))
    tables = []
    for score in baseline.about["headline"]:
        if all(score in values for values, _ in compared.values()):
            lines = tuple(
                (name, values[score], *((None, "") if name == BASELINE else (gaps[score], marked(gaps[score]))))
                for name, (values, gaps) in compared.items()
            )
            headings = ("condition", "value [95% interval]", "change [95% interval]", "")
            title = f"{score} ({subject})"
            tables.append(Table(score if len(session.questions.tables) == 1 else title, title, headings, lines))
    return tables, rows, len(baseline.tally.sources)


def _scored(path: Path, on: Path, split: str | None, options: ScoreOptions) -> SavedScores:
    """Score predictions on an output."""
    from ..builders.parts import score_output
    from ..core.output import reading
    from ..evaluation.metrics.predictions import read_predictions
    from ..evaluation.metrics.scores import SavedScores

    with reading(on) as output:
        scored = score_output(output, read_predictions(path, expected=output.num_rows), None, split, options)
    scores = scored.scores
    about = {
        "benchmark": scores.benchmark,
        "config": scored.config,
        "split": scores.split,
        "output": {"fingerprint": output.info["fingerprint"]},
        "answers": scores.answers,
        "headline": list(scores.headline),
    }
    return SavedScores(str(path), about, scores.tally)


def marked(change: Estimate) -> str:
    """Return the mark for a large drop, which `LEGEND` explains, or "" for any other change."""
    return "*" if change.value <= -MARK and (change.high < 0 or change.high != change.high) else ""


def write_report(folder: Path, tables: Sequence[Table], content: Mapping[str, Any]) -> None:
    """Write probe.json and probe.md, or raise OutputError if this fails."""
    from ..core.files import write_atomic
    from ..evaluation.metrics.scores import interval_line

    write_atomic(folder / "probe.json", dump(content))
    texts = [*map(markdown_table, tables), LEGEND, interval_line(content["interval"])]
    write_atomic(folder / "probe.md", "\n\n".join(texts) + "\n")
