"""From a finished output and files of predictions to the arrays that the scores are made from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..corruptions.registry import check_name, check_text_name
from ..errors import InputError
from ..records.files import sha256_file
from ..records.output import FinishedOutput
from . import causal, clavi, open_ended, retrieval, robustness
from .answers import plain
from .bootstrap import RESAMPLES, Floats, Measure, Tally, estimates, tally
from .predictions import (
    ANSWER_NAMES,
    ID_NAMES,
    SHOWN,
    Joined,
    Predictions,
    answer_column,
    column,
    identity,
    join,
    of_output,
    options_by_id,
    refuse,
)
from .robustness import Setting, Suite
from .scores import Scores

ALL = "all"


@dataclass(frozen=True)
class How:
    """How to score.

    Attributes:
        split: A split of the output, or "all".
        partial: Score what is there instead of refusing gaps.
        first: Number of the first option in numeric answers.
        seed: Seed of the bootstrap.
        resamples: Number of its resamples.
        config: Table with the questions; by default the output's first.
    """

    split: str
    partial: bool = False
    first: int = 0
    seed: int = 0
    resamples: int = RESAMPLES
    config: str | None = None


def choose_split(output: FinishedOutput, config: str, split: str | None) -> str:
    """Take the split that was asked for; by default test where there is one, else all.

    Raises:
        InputError: The output has no such split.
    """
    splits = output.splits(config)
    if split is None:
        return "test" if "test" in splits else ALL
    if split != ALL and split not in splits:
        raise InputError(f"{output.path} has no split {split!r}. It has: {', '.join(splits)}; or say all.")
    return split


def read_columns(
    output: FinishedOutput, config: str, names: Sequence[str], split: str
) -> tuple[dict[str, list[Any]], list[str]]:
    """Read columns of a table, and the split of each row; only rows of `split` unless it is "all"."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found: dict[str, list[Any]] = {name: [] for name in names}
    splits: list[str] = []
    try:
        for name in output.splits(config) if split == ALL else [split]:
            before = len(splits)
            for path in output.shards(config, name):
                table = pq.read_table(path, columns=list(names))
                splits += [name] * table.num_rows
                for each in names:
                    found[each] += table.column(each).to_pylist()
            output.check_count(config, name, len(splits) - before)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{output.path}, table {config}: {error}. `stressreel verify` says more.") from error
    return found, splits


def score_clavi(output: FinishedOutput, predictions: Predictions, how: How) -> Scores:
    """Score answers to CLAVI's questions."""
    pairs, _ = read_columns(output, "pairs", ("pair_id", "source_id"), ALL)
    columns, splits = read_columns(output, "questions", clavi.COLUMNS, ALL)
    others: frozenset[str] = frozenset()
    if how.split != ALL:
        chosen = [name == how.split for name in splits]
        ids = columns["question_id"]
        others = frozenset(name for name, keep in zip(ids, chosen, strict=True) if not keep)
        columns = {
            name: [value for value, keep in zip(values, chosen, strict=True) if keep]
            for name, values in columns.items()
        }
    questions = clavi.questions_from(columns, dict(zip(pairs["pair_id"], pairs["source_id"], strict=True)))
    joined = join(predictions, questions.ids, others=others, partial=how.partial)
    counted = clavi.count(questions, joined.picks)
    return Scores(
        benchmark="clavi",
        split=how.split,
        answers=joined.summary(),
        headline=estimates(counted, clavi.measure, seed=how.seed, resamples=how.resamples),
        tables=clavi.tables(counted),
        tally=counted,
    )


@dataclass(frozen=True)
class Captions:
    """The clips and captions of a perturbed suite, in the order of table `clean`: what matrices are indexed by.

    Attributes:
        clips: Clip ids.
        sources: Source video of each clip.
        ids: Caption ids, `<clip_id>#<number>`.
        texts: The captions.
        clip: Position of each caption's clip in `clips`.
    """

    clips: list[str]
    sources: list[str]
    ids: list[str]
    texts: list[str]
    clip: NDArray[np.intp]

    @property
    def of(self) -> list[str]:
        """Name the clip of each caption."""
        return [self.clips[number] for number in self.clip]


def read_captions(output: FinishedOutput, split: str) -> Captions:
    """Read the clips and captions of a suite."""
    clean, _ = read_columns(output, robustness.CLEAN, ("clip_id", "source_id", "captions"), split)
    numbered = [
        (number, f"{clip}#{place}", text)
        for number, (clip, captions) in enumerate(zip(clean["clip_id"], clean["captions"], strict=True))
        for place, text in enumerate(captions)
    ]
    return Captions(
        clean["clip_id"],
        clean["source_id"],
        [name for _, name, _ in numbered],
        [text for _, _, text in numbered],
        np.array([number for number, _, _ in numbered], np.intp),
    )


def suite_settings(info: Mapping[str, Any]) -> tuple[Setting, ...]:
    """List the settings of a suite: clean, each visual perturbation and severity, each text one, each pair."""
    settings, counts = info["settings"], info["counts"]
    pairs = settings.get("pairs", ())
    severity = 3  # of every combination in the paper
    return (
        Setting(),
        *(
            Setting(name, level)
            for name in settings["perturbations"]
            if name in counts
            for level in settings["severities"]
        ),
        *(Setting(text=name) for name in settings.get("text_perturbations", ()) if name in counts),
        *(Setting(pair.split(":")[0], severity, pair.split(":")[1]) for pair in pairs),
    )


def families(settings: Iterable[Setting]) -> dict[str, str]:
    """Give the family of every perturbation."""
    found = {}
    for setting in settings:
        if setting.visual:
            found[setting.visual] = check_name(setting.visual).family
        if setting.text:
            found[setting.text] = check_text_name(setting.text).family
    return found


def _present(
    expected: Sequence[Setting], names: Iterable[str], what: str, *, partial: bool
) -> tuple[tuple[Setting, ...], tuple[str, ...]]:
    """Choose the settings that were given; say which are unknown or missing."""
    by_name = {setting.name: setting for setting in expected}
    given = set(names)
    unknown = sorted(given - set(by_name))
    missing = [name for name in by_name if name not in given]
    if robustness.CLEAN in missing:
        raise InputError(f"{what}: nothing for {robustness.CLEAN!r}; robustness is measured against it.")
    if unknown and not partial:
        raise InputError(
            f"{what}: no such setting in this output: {', '.join(unknown[:5])}{', …' * (len(unknown) > 5)}. Settings "
            "are named clean, <visual>-<severity>, <text> and <visual>-<severity>+<text>; --partial leaves others out."
        )
    if missing and not partial:
        raise InputError(
            f"{what}: {len(missing)} of {len(by_name)} settings are missing ({', '.join(missing[:5])}"
            f"{', …' * (len(missing) > 5)}). --partial scores those that are there."
        )
    if len(missing) == len(by_name) - 1:
        raise InputError(f"{what}: only {robustness.CLEAN!r} is there; give at least one perturbed setting.")
    notes = [f"{len(missing)} of {len(by_name)} settings are missing: {', '.join(missing)}."] * bool(missing)
    notes += [f"not in this output, left out: {', '.join(unknown)}."] * bool(unknown)
    return tuple(setting for setting in expected if setting.name in given), tuple(notes)


MATRIX_KINDS = (".npy", ".safetensors", ".jsonl")


def score_retrieval(output: FinishedOutput, folder: Path, how: How) -> Scores:
    """Score text-to-video retrieval from one file a setting.

    Args:
        output: A suite of `build-perturbed`.
        folder: `<setting>.npy` or `<setting>.safetensors` with a matrix clips x captions, or `<setting>.jsonl` with
            ranked lists, in the order of table `clean` or of `clips.txt` and `captions.txt` beside them.
        how: How to score.
    """
    captions = read_captions(output, how.split)
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}. Give the folder with <setting>.npy, .safetensors or .jsonl.")
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in MATRIX_KINDS and path.is_file():
            name = path.stem.removesuffix("-0")  # clean-0, no_verbs-0
            if name in files:
                raise InputError(f"{folder} has {files[name].name} and {path.name} for one setting; keep one.")
            files[name] = path
    chosen, notes = _present(suite_settings(output.info), files, str(folder), partial=how.partial)
    clips = _order(folder / "clips.txt", captions.clips)
    order = _order(folder / "captions.txt", captions.ids)
    rows = np.argsort(clips)  # row of each clip
    target = rows[captions.clip[order]]
    where = np.array([captions.clip[number] for number in order], np.intp)
    sources = sorted(set(captions.sources))
    position = {name: number for number, name in enumerate(sources)}
    source = np.array([position[captions.sources[number]] for number in where], np.intp)
    cells: dict[str, tuple[NDArray[np.intp], Floats]] = {}
    names = tuple(f"R@{cut}" for cut in retrieval.CUTS)
    for setting in chosen:
        path = files[setting.name]
        if path.suffix == ".jsonl":
            wanted = [captions.ids[number] for number in order]
            ranked = read_ranked(path, captions)
            try:
                hits = retrieval.ranked_hits(ranked, wanted, [captions.clips[number] for number in where])
            except InputError as error:
                raise InputError(f"{path}: {error}") from error
        else:
            matrix = read_matrix(path, (len(captions.clips), len(captions.ids)))
            if np.isnan(matrix).any():
                raise InputError(f"{path} holds NaN. Every clip needs a similarity to every caption.")
            hits = retrieval.recall_hits(matrix, target)
        for number, name in enumerate(names):
            cells[robustness.cell(setting, name)] = (source, hits[:, number])
    answers = {
        "scored": len(order) * len(chosen),
        "clips": len(captions.clips),
        "scored_sha256": identity(captions.ids),
    }
    return _robustness_scores(output, chosen, names, tally(sources, cells), how, answers, notes)


def _robustness_scores(
    output: FinishedOutput,
    chosen: tuple[Setting, ...],
    names: tuple[str, ...],
    counted: Tally,
    how: How,
    answers: dict[str, Any],
    notes: tuple[str, ...],
) -> Scores:
    suite = Suite(chosen, names, families(chosen))
    scored = estimates(counted, lambda means: robustness.measure(suite, means), seed=how.seed, resamples=how.resamples)
    return Scores(
        benchmark="perturbed",
        split=how.split,
        answers=answers,
        headline=robustness.headline(scored),
        tables=robustness.tables(suite, counted, scored, changed(output, chosen, how.split)),
        tally=counted,
        notes=notes,
    )


def changed(output: FinishedOutput, settings: Sequence[Setting], split: str) -> dict[str, float]:
    """Give the share of captions that each text perturbation changes: what it leaves alone cannot lower a score."""
    found = {}
    for name in dict.fromkeys(setting.text for setting in settings if setting.text):
        columns, _ = read_columns(output, name, ("changed",), split)
        found[name] = float(np.mean(columns["changed"]))
    return found


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as UTF-8 ({type(error).__name__}: {error}).") from error


def _order(path: Path, names: Sequence[str]) -> NDArray[np.intp]:
    """Read in which order a matrix has the names; their own order if there is no such file."""
    if not path.is_file():
        return np.arange(len(names))
    given = _read_text(path).split("\n")
    given = [line.strip() for line in given if line.strip()]
    place = {name: number for number, name in enumerate(names)}
    if sorted(given) != sorted(names):
        odd = [name for name in given if name not in place] or [n for n in names if n not in set(given)]
        what = f"the first that differs: {odd[0]!r}" if odd else "names come twice"
        raise InputError(f"{path} must name each of the {len(names)} {path.stem} of this output once; {what}.")
    return np.array([place[name] for name in given], np.intp)


def _safetensor(path: Path) -> NDArray[Any]:
    """Read the one tensor of a file; NumPy has no bfloat16, which is the upper half of a float32."""
    try:
        from safetensors import deserialize
        from safetensors.numpy import load
    except ImportError as error:
        raise InputError(f"{path.name} needs the package safetensors: pip install safetensors.") from error
    content = path.read_bytes()
    tensors: dict[str, Any] = dict(deserialize(content))  # type: ignore[no-untyped-call]
    if len(tensors) != 1:
        raise InputError(f"{path} must hold one tensor; it holds {', '.join(sorted(tensors)) or 'none'}.")
    ((name, tensor),) = tensors.items()
    if tensor["dtype"] == "BF16":
        upper = np.frombuffer(tensor["data"], "<u2").astype("<u4") << 16
        return upper.view("<f4").reshape(tensor["shape"])
    return load(content)[name]


def read_matrix(path: Path, shape: tuple[int, int]) -> NDArray[np.floating]:
    """Read a similarity matrix.

    Raises:
        InputError: It is not a matrix of numbers of that shape.
    """
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False) if path.suffix == ".npy" else _safetensor(path)
    except InputError:
        raise
    except Exception as error:  # each library has its own
        raise InputError(f"{path} cannot be read ({type(error).__name__}: {error}).") from error
    if not isinstance(matrix, np.ndarray):
        raise InputError(f"{path} is an archive of arrays; give one array, as numpy.save writes it.")
    if matrix.dtype.kind not in "fiu":
        raise InputError(f"{path} holds {matrix.dtype}, not numbers.")
    if matrix.shape != shape:
        hint = " Did you save captions x clips? Transpose it." if matrix.shape == shape[::-1] else ""
        raise InputError(f"{path} has shape {matrix.shape}; expected {shape[0]} clips x {shape[1]} captions.{hint}")
    found: NDArray[np.floating] = np.asarray(matrix)
    return found


def read_ranked(path: Path, captions: Captions) -> dict[str, list[str]]:
    """Read ranked lists: `{"id": caption id (or clip id, if it has one caption), "ranked": [clip ids]}` a line."""
    single = Counter(captions.of)
    by_clip = {clip: name for clip, name in zip(captions.of, captions.ids, strict=True) if single[clip] == 1}
    known, own = set(captions.clips), set(captions.ids)
    ranked: dict[str, list[str]] = {}
    for number, line in enumerate(_read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            name, found = str(row["id"]), [str(clip) for clip in row["ranked"]]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(f'{path}, line {number}: expected {{"id": …, "ranked": […]}}.') from error
        odd = next((clip for clip in found if clip not in known), None)
        if odd is not None:
            raise InputError(f"{path}, line {number}: {odd!r} is no clip of this output.")
        name = by_clip.get(name, name)
        if name not in own:
            raise InputError(f"{path}, line {number}: {name!r} is no caption of this output and split.")
        if name in ranked:
            raise InputError(f"{path}, line {number}: caption {name!r} comes twice.")
        ranked[name] = found
    return ranked


def score_suite_answers(output: FinishedOutput, predictions: Predictions, how: How) -> Scores:
    """Score answers under every setting of a suite: the accuracy, and its robustness.

    A row names its `setting` (`clean`, `jpeg-3`, `no_verbs`, `jpeg-3+no_verbs`), the clip (`id`) and, if there are
    several questions about a clip, the `question`. It says whether the answer was right (`correct`, judged by the user
    with the answer key of any question set), or gives the caption that was chosen (`answer`: a caption's id or text).
    """
    captions = read_captions(output, how.split)
    seen = {name for row in predictions.rows for name in row}
    if "setting" not in seen or not seen & {"correct", *ANSWER_NAMES}:
        raise InputError(
            f"{predictions.path} needs the columns setting, id and correct (or answer); it has "
            f"{', '.join(sorted(map(str, seen)))}."
        )
    id_name = column(predictions, ("clip_id", *ID_NAMES)) or ""
    judged = "correct" in seen
    answer_name = None if judged else answer_column(predictions)
    chosen, notes = _present(
        suite_settings(output.info),
        {str(row.get("setting")).strip().removesuffix("-0") for row in predictions.rows},
        str(predictions.path),
        partial=how.partial,
    )
    by_name = {setting.name: setting for setting in chosen}
    clip_place = {name: number for number, name in enumerate(captions.clips)}
    own: dict[str, dict[str, set[str]]] = {}
    values: dict[tuple[str, str, str], float] = {}
    others = set(read_captions(output, ALL).clips) - set(clip_place)
    doubled, unknown, unreadable, elsewhere = Counter[str](), Counter[str](), [], 0
    for row in predictions.rows:
        setting = str(row.get("setting")).strip().removesuffix("-0")
        clip, question = str(row.get(id_name)).strip(), str(row.get("question") or "")
        label = f"{setting} {clip} {question}".strip()
        if clip in others:
            elsewhere += 1
            continue
        if clip not in clip_place:
            unknown[label] += 1
            continue
        if setting not in by_name:
            continue
        if (setting, clip, question) in values:
            doubled[label] += 1
            continue
        if judged:
            right = _truth(row.get("correct"))
        else:
            if setting not in own:
                own[setting] = _texts(output, by_name[setting], captions, how.split)
            right = _chose(row.get(answer_name or ""), clip, own[setting])
        if right is None:
            unreadable.append((label, str(row.get("correct" if judged else answer_name or ""))[:80]))
        values[setting, clip, question] = float(bool(right))
    asked = {(clip, question) for setting, clip, question in values if setting == robustness.CLEAN}
    questioned = {clip for clip, _ in asked}
    asked |= {(clip, "") for clip in clip_place if clip not in questioned}
    missing = [
        f"{setting} {clip} {question}".strip()
        for setting in by_name
        for clip, question in sorted(asked)
        if (setting, clip, question) not in values
    ]
    extra = [f"{s} {c} {q}".strip() for s, c, q in values if (c, q) not in asked]
    if not how.partial and (missing or doubled or unknown or extra):
        refuse(predictions.path, missing, list(doubled), [*unknown, *extra], len(asked) * len(by_name))
    # Robustness compares settings, so a question counts only if every setting has it.
    complete = {pair for pair in asked if all((setting, *pair) in values for setting in by_name)}
    if not complete:
        raise InputError(f"{predictions.path}: no question has an answer in every setting.")
    sources = sorted(set(captions.sources))
    position = {name: number for number, name in enumerate(sources)}
    order = sorted(complete)
    where = np.array([position[captions.sources[clip_place[clip]]] for clip, _ in order], np.intp)
    cells = {
        robustness.cell(setting, "accuracy"): (where, np.array([values[name, c, q] for c, q in order]))
        for name, setting in by_name.items()
    }
    answers = {
        "read": len(predictions.rows),
        "scored": len(order) * len(by_name),
        "unreadable": len(unreadable),
        "unreadable_first": [{"id": name, "answer": answer} for name, answer in unreadable[:SHOWN]],
        "missing": len(missing),
        "doubled": len(doubled),
        "unknown": len(unknown) + len(extra),
        "of_other_splits": elsewhere,
        "scored_sha256": identity(f"{clip}\0{question}" for clip, question in order),
    }
    if missing:
        notes += ("questions that some setting lacks are left out of all of them.",)
    return _robustness_scores(output, chosen, ("accuracy",), tally(sources, cells), how, answers, notes)


def _truth(value: Any) -> bool | None:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    text = str(value).strip().casefold()
    return {
        "1": True,
        "1.0": True,
        "true": True,
        "yes": True,
        "0": False,
        "0.0": False,
        "false": False,
        "no": False,
    }.get(text)


def caption_texts(output: FinishedOutput, setting: Setting, captions: Captions, split: str) -> dict[str, str]:
    """Give the captions by id, as shown in a setting."""
    texts = dict(zip(captions.ids, captions.texts, strict=True))
    if setting.text:
        rows, _ = read_columns(output, setting.text, ("caption_id", "caption"), split)
        texts |= dict(zip(rows["caption_id"], rows["caption"], strict=True))
    return texts


def _texts(output: FinishedOutput, setting: Setting, captions: Captions, split: str) -> dict[str, set[str]]:
    """Give which clips each caption (id and text) is about, as shown in a setting."""
    texts = caption_texts(output, setting, captions, split)
    about: dict[str, set[str]] = {}
    for name, clip in zip(captions.ids, captions.of, strict=True):
        about.setdefault(name, set()).add(clip)
        about.setdefault(plain(texts[name]), set()).add(clip)
    return about


def _chose(value: Any, clip: str, about: Mapping[str, set[str]]) -> bool | None:
    """Tell whether the caption chosen is one of the clip's; None if it is no caption of the output."""
    if not isinstance(value, str):
        return None
    clips = about.get(value.strip()) or about.get(plain(value))
    return None if clips is None else clip in clips


CAUSAL_TABLES = ("ud", "ps", "un", "causal_confusion")
CAUSAL_KINDS = (("A", "sources"), ("E", "explanation_sources"))


def score_causal(
    rows: Sequence[Mapping[str, Any]], splits: Sequence[str], predictions: Predictions, how: How
) -> Scores:
    """Score multiple choice about causes.

    Args:
        rows: `qid`, `options`, `answer_index`, the clip's `source_id` (or `episode`), and where explanations are asked
            `explanation_options` and `explanation_index`; `sources` and `explanation_sources` hold for each option
            a `kind`.
        splits: The split of each row.
        predictions: `id`, `answer` and, for protocol 2, `explanation`.
        how: How to score.
    """
    mine = [how.split in (ALL, split) for split in splits]
    others = frozenset(str(row["qid"]) for row, keep in zip(rows, mine, strict=True) if not keep)
    asked = [row for row, keep in zip(rows, mine, strict=True) if keep]
    ids = [str(row["qid"]) for row in asked]
    sources = [str(row.get("source_id") or row.get("episode") or row["qid"]) for row in asked]
    joined: dict[str, Joined] = {}
    first = how.first
    joined["A"] = join(
        predictions, ids, options_by_id(asked, "options"), others=others, partial=how.partial, first=first
    )
    truth = {"A": np.array([row["answer_index"] for row in asked], np.int64)}
    explained = any("explanation" in row for row in predictions.rows)
    explains = bool(asked) and asked[0].get("explanation_index") is not None
    notes: tuple[str, ...] = ()
    if explained and not explains:
        raise InputError(f"{predictions.path} has explanations, but the questions have none to choose from.")
    if explained:
        joined["E"] = join(
            predictions,
            ids,
            options_by_id(asked, "explanation_options"),
            others=others,
            answer="explanation",
            partial=how.partial,
            first=first,
        )
        truth["E"] = np.array([row["explanation_index"] for row in asked], np.int64)
    elif explains:
        notes = ("no column `explanation`: protocol 2 (A+E) is not scored.",)
    kinds = {
        letter: [[str(option["kind"]) for option in row[name]] for row in asked]
        for letter, name in CAUSAL_KINDS
        if letter in joined and asked and asked[0].get(name)
    }
    pair = {letter: (joined[letter].picks, truth[letter]) for letter in joined}
    counted = causal.count(sources, pair["A"], pair.get("E"), kinds)
    answers = joined["A"].summary()
    if "E" in joined:
        answers |= {
            "explanations": joined["E"].summary(),
            "scored_sha256": identity(f"{letter} {name}" for letter in joined for name in joined[letter].scored()),
        }
    return Scores(
        benchmark="causal",
        split=how.split,
        answers=answers,
        headline=estimates(counted, causal.measure, seed=how.seed, resamples=how.resamples),
        tables=causal.tables(counted),
        tally=counted,
        notes=notes,
    )


def read_causal(output: FinishedOutput, config: str | None = None) -> tuple[list[dict[str, Any]], list[str]]:
    """Read the questions of a causal output: a table of its, by default the first."""
    config = config or next(iter(output.info["counts"]))
    rows, splits = [], []
    for split in output.splits(config):
        for row in output.whole(config, None, split):
            rows.append(row)
            splits.append(split)
    return rows, splits


def score_output(
    output: FinishedOutput, predictions: Predictions | None, similarity: Path | None, split: str | None, how: How
) -> Scores:
    """Score an output of any builder.

    Args:
        output: The output.
        predictions: Answers.
        similarity: For a perturbed suite, a folder of matrices or ranked lists instead.
        split: What the user asked for.
        how: How to score; its split is chosen here.

    Raises:
        InputError: The builder is not known or does not go with what was given.
    """
    builder = output.info["builder"]
    config = choose_config(output, how.config)
    how = replace(how, split=choose_split(output, config, split))
    if predictions is not None:
        predictions = of_output(predictions, config, output.info["fingerprint"])
    if similarity is not None and builder != "perturbed":
        raise InputError(f"{output.path} is an output of build-{builder}; --similarity goes with build-perturbed.")
    if builder == "perturbed":
        if similarity is not None:
            return score_retrieval(output, similarity, how)
        if predictions is not None:
            return score_suite_answers(output, predictions, how)
    elif predictions is not None:
        if builder == "clavi":
            return score_clavi(output, predictions, how)
        if builder == "causal":
            rows, splits = read_causal(output, config)
            return score_causal(rows, splits, predictions, how)
        raise InputError(f"{output.path} was built by {builder!r}, which this version cannot score.")
    raise InputError("nothing to score: give --predictions FILE, or --similarity DIR for a perturbed suite.")


def choose_config(output: FinishedOutput, config: str | None) -> str:
    """Take the table with questions that was asked for; by default the first.

    Raises:
        InputError: The output has no such table of questions.
    """
    tables: list[str] = list(output.info["counts"])
    asked = CAUSAL_TABLES if output.info["builder"] == "causal" else tables[:1]
    allowed = [name for name in tables if name in asked] or tables[:1]
    if config is None:
        return tables[0]
    if config not in allowed:
        raise InputError(f"{output.path} has no questions in a table {config!r}. It has them in: {', '.join(allowed)}.")
    return config


def measure_of(benchmark: str, cells: Sequence[str]) -> Measure:
    """Give the scores of a benchmark as a function of the means of its cells.

    Args:
        benchmark: "clavi", "perturbed", "causal" or "open-ended".
        cells: The cells of a tally; a suite's settings are read from their names.
    """
    if benchmark == "clavi":
        return clavi.measure
    if benchmark == "causal":
        return causal.measure
    if benchmark == "open-ended":
        return open_ended.measure
    names = [cell.split(" ", 1) for cell in cells]
    settings = tuple(dict.fromkeys(read_setting(name) for name, _ in names))
    suite = Suite(settings, tuple(dict.fromkeys(score for _, score in names)), families(settings))
    return lambda means: robustness.measure(suite, means)


def read_setting(name: str) -> Setting:
    """Read a setting's name."""
    if name == robustness.CLEAN:
        return Setting()
    visual, plus, text = name.rpartition("+")
    if not plus:
        head, dash, level = name.rpartition("-")
        return Setting(head, int(level)) if dash and level.isdigit() else Setting(text=name)
    head, _, level = visual.rpartition("-")
    return Setting(head, int(level), text)


def predictions_identity(path: Path) -> dict[str, str]:
    """Name a file without its folder, with its hash; a folder with the hash of its files' names and sizes."""
    if path.is_file():
        return {"file": path.name, "sha256": sha256_file(path)}
    return {"file": path.name + "/"}
