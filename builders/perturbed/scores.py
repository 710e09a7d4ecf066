"""Suites of perturbed clips and captions: what was shown, and scores of retrieval and of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError, UsageError
from ...core.output import FinishedOutput
from ...corruptions.registry import check_name, check_text_name
from ...evaluation.metrics import retrieval, robustness
from ...evaluation.metrics.answers import plain
from ...evaluation.metrics.bootstrap import Floats, Measure, Tally, estimates, tally
from ...evaluation.metrics.inputs import ALL, ScoreOptions, read_columns
from ...evaluation.metrics.predictions import (
    ANSWER_NAMES,
    ID_NAMES,
    SHOWN,
    Predictions,
    answer_column,
    column,
    identity,
    refuse,
)
from ...evaluation.metrics.robustness import Setting, Suite
from ...evaluation.metrics.scores import Scores
from ...evaluation.metrics.scoring import BenchmarkScoring
from ...evaluation.metrics.similarities import MATRIX_KINDS, order_of, read_matrix, read_ranked

TRUTHS = {**dict.fromkeys(("1", "1.0", "true", "yes"), True), **dict.fromkeys(("0", "0.0", "false", "no"), False)}


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


def caption_texts(output: FinishedOutput, setting: Setting, captions: Captions, split: str) -> dict[str, str]:
    """Return the captions by id, as shown in a setting."""
    texts = dict(zip(captions.ids, captions.texts, strict=True))
    if setting.text:
        rows, _ = read_columns(output, setting.text, ("caption_id", "caption"), split)
        texts |= dict(zip(rows["caption_id"], rows["caption"], strict=True))
    return texts


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


def families(settings: Iterable[Setting]) -> dict[str, str]:
    """Return the family of every perturbation."""
    found = {}
    for setting in settings:
        if setting.visual:
            found[setting.visual] = check_name(setting.visual).family
        if setting.text:
            found[setting.text] = check_text_name(setting.text).family
    return found


def kinds(settings: Iterable[Setting]) -> dict[str, str]:
    """Return the kind of every text perturbation: natural, machine or synthetic."""
    return {setting.text: check_text_name(setting.text).kind for setting in settings if setting.text}


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
    notes = []
    if missing:
        notes.append(f"{len(missing)} of {len(by_name)} settings are missing: {', '.join(missing)}.")
    if unknown:
        notes.append(f"not in this output, left out: {', '.join(unknown)}.")
    return tuple(setting for setting in expected if setting.name in given), tuple(notes)


def score_retrieval(output: FinishedOutput, folder: Path, options: ScoreOptions) -> Scores:
    """Score text-to-video retrieval from one file a setting.

    Args:
        output: A suite of `build-perturbed`.
        folder: `<setting>.npy` or `<setting>.safetensors` with a matrix clips x captions, or `<setting>.jsonl` with
            ranked lists, in the order of table `clean` or of `clips.txt` and `captions.txt` beside them.
        options: ScoreOptions to score.
    """
    captions = read_captions(output, options.split)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}. Give the folder with <setting>.npy, .safetensors or .jsonl.")
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in MATRIX_KINDS and path.is_file():
            name = path.stem.removesuffix("-0")  # clean-0, no_verbs-0
            if name in files:
                raise InputError(f"{folder} has {files[name].name} and {path.name} for one setting; keep one.")
            files[name] = path
    chosen, notes = _present(suite_settings(output.info), files, str(folder), partial=options.partial)
    clips = order_of(folder / "clips.txt", captions.clips)
    order = order_of(folder / "captions.txt", captions.ids)
    rows = np.argsort(clips)  # row of each clip
    target = rows[captions.clip[order]]
    where = np.array([captions.clip[number] for number in order], np.intp)
    sources, source_of = np.unique(captions.sources, return_inverse=True)
    source = source_of[where]
    cells: dict[str, tuple[NDArray[np.intp], Floats]] = {}
    names = tuple(f"R@{cut}" for cut in retrieval.CUTS)
    clip_of, wanted = dict(zip(captions.ids, captions.of, strict=True)), [captions.ids[number] for number in order]
    for setting in chosen:
        path = files[setting.name]
        listed = path.suffix == ".jsonl"
        ranked = read_ranked(path, clip_of, captions.clips) if listed else {}
        matrix = None if listed else read_matrix(path, (len(captions.clips), len(captions.ids)))
        try:
            if matrix is None:
                hits = retrieval.ranked_hits(ranked, wanted, [captions.clips[number] for number in where])
            else:
                hits = retrieval.recall_hits(matrix, target)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        for number, name in enumerate(names):
            cells[robustness.cell(setting, name)] = (source, hits[:, number])
    answers = {
        "scored": len(order) * len(chosen),
        "clips": len(captions.clips),
        "scored_sha256": identity(captions.ids),
    }
    return _robustness_scores(output, chosen, names, tally(sources.tolist(), cells), options, answers, notes)


def score_suite_answers(output: FinishedOutput, config: str, predictions: Predictions, options: ScoreOptions) -> Scores:
    """Score answers under every setting of a suite: the accuracy, and its robustness.

    A row names its `setting` (`clean`, `jpeg-3`, `no_verbs`, `jpeg-3+no_verbs`), the clip (`id`) and, if there are
    several questions about a clip, the `question`. It says whether the answer was right (`correct`, judged by the user
    with the answer key of any question set), or gives the caption that was chosen (`answer`: a caption's id or text).
    """
    captions = read_captions(output, options.split)
    seen = {name for row in predictions.rows for name in row}
    if "setting" not in seen or not seen & {"correct", *ANSWER_NAMES}:
        raise InputError(
            f"{predictions.path} needs the columns setting, id and correct (or answer); it has "
            f"{', '.join(sorted(map(str, seen)))}."
        )
    id_name = column(predictions, ("clip_id", *ID_NAMES))
    judged = "correct" in seen
    answer_name = None if judged else answer_column(predictions)
    chosen, notes = _present(
        suite_settings(output.info),
        {str(row.get("setting")).strip().removesuffix("-0") for row in predictions.rows},
        str(predictions.path),
        partial=options.partial,
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
        given = row.get("correct" if judged else answer_name or "")
        if setting not in by_name or given is None:  # null is no answer: missing, not wrong
            continue
        if (setting, clip, question) in values:
            doubled[label] += 1
            continue
        if judged:
            right = truth_of(given)
        else:
            if setting not in own:
                own[setting] = captions_about(output, by_name[setting], captions, options.split)
            right = chose(given, clip, own[setting])
        if right is None:
            unreadable.append((label, str(given)[:80]))
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
    if not options.partial and (missing or doubled or unknown or extra):
        refuse(predictions.path, missing, list(doubled), [*unknown, *extra], len(asked) * len(by_name))
    # Robustness compares settings, so a question counts only if every setting has it.
    complete = {pair for pair in asked if all((setting, *pair) in values for setting in by_name)}
    if not complete:
        raise InputError(f"{predictions.path}: no question has an answer in every setting.")
    sources, source_of = np.unique(captions.sources, return_inverse=True)
    order = sorted(complete)
    where = source_of[[clip_place[clip] for clip, _ in order]]
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
    return _robustness_scores(output, chosen, ("accuracy",), tally(sources.tolist(), cells), options, answers, notes)


def truth_of(value: Any) -> bool | None:
    """Read whether an answer is right, as users write it; None if that cannot be told."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return TRUTHS.get(str(value).strip().casefold())


def captions_about(output: FinishedOutput, setting: Setting, captions: Captions, split: str) -> dict[str, set[str]]:
    """Return which clips each caption (id and text) is about, as shown in a setting."""
    texts = caption_texts(output, setting, captions, split)
    about: dict[str, set[str]] = {}
    for name, clip in zip(captions.ids, captions.of, strict=True):
        about.setdefault(name, set()).add(clip)
        about.setdefault(plain(texts[name]), set()).add(clip)
    return about


def chose(value: Any, clip: str, about: Mapping[str, set[str]]) -> bool | None:
    """Return whether the caption chosen is one of the clip's; None if it is no caption of the output."""
    if not isinstance(value, str):
        return None
    clips = about.get(value.strip()) or about.get(plain(value))
    return None if clips is None else clip in clips


def _robustness_scores(
    output: FinishedOutput,
    chosen: tuple[Setting, ...],
    names: tuple[str, ...],
    counted: Tally,
    options: ScoreOptions,
    answers: dict[str, Any],
    notes: tuple[str, ...],
) -> Scores:
    suite = Suite(chosen, names, families(chosen), kinds(chosen))
    scored = estimates(
        counted, lambda means: robustness.measure(suite, means), seed=options.seed, resamples=options.resamples
    )
    return Scores(
        benchmark=output.info["builder"],
        split=options.split,
        answers=answers,
        headline=robustness.headline(scored),
        tables=robustness.tables(suite, counted, scored, changed(output, chosen, options.split)),
        tally=counted,
        footnotes=notes,
    )


def changed(output: FinishedOutput, settings: Sequence[Setting], split: str) -> dict[str, float]:
    """Return the share of captions that each text perturbation changes: what it leaves alone cannot lower a score."""
    found = {}
    for name in dict.fromkeys(setting.text for setting in settings if setting.text):
        columns, _ = read_columns(output, name, ("changed",), split)
        found[name] = float(np.mean(columns["changed"]))
    return found


def scoring() -> BenchmarkScoring:
    """Return how retrieval and answers on a suite are scored."""
    from .score_figures import robustness_figures

    return BenchmarkScoring(
        answers=score_suite_answers, measure=measure_of, similarity=score_retrieval, figures=robustness_figures
    )


def measure_of(cells: Sequence[str]) -> Measure:
    """Return the scores as a function of the means of cells; the settings are read from their names."""
    names = [cell.split(" ", 1) for cell in cells]
    settings = tuple(dict.fromkeys(read_setting(name) for name, _ in names))
    suite = Suite(settings, tuple(dict.fromkeys(score for _, score in names)), families(settings), kinds(settings))
    return lambda means: robustness.measure(suite, means)
