"""Score retrieval and answers on suites of perturbed clips and captions, and compute how robust they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from ...evaluation.metrics.bootstrap import Floats, Measure, Tally, by_source, estimates, tally
from ...evaluation.metrics.items import ALL, read_columns
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
from ...evaluation.metrics.retrieval import MATRIX_KINDS, order_of, read_matrix, read_ranked
from ...evaluation.metrics.robustness import CLEAN, Setting, Suite
from ...evaluation.metrics.scores import ScoreOptions, Scores
from .selection import combinations

TRUTHS = {**dict.fromkeys(("1", "1.0", "true", "yes"), True), **dict.fromkeys(("0", "0.0", "false", "no"), False)}


@dataclass(frozen=True)
class Captions:
    """The clips and captions of a suite. Table `clean` and similarity matrices have the same order.

    Attributes:
        ids: Caption ids, `<clip_id>#<number>`.
        clip: Index in `clips` of each caption's clip.
    """

    clips: list[str]
    sources: list[str]
    ids: list[str]
    texts: list[str]
    clip: NDArray[np.intp]

    @property
    def clip_ids(self) -> list[str]:
        """Return the clip id of each caption."""
        return [self.clips[number] for number in self.clip]


def read_captions(output: FinishedOutput, split: str) -> Captions:
    """Read the clips and captions of a suite."""
    clean, _ = read_columns(output, CLEAN, ("clip_id", "source_id", "captions"), split)
    place_of = {clip: number for number, clip in enumerate(clean["clip_id"])}
    moved = output.withheld.get("moved", {})  # the clip that the captions in a row describe, if answers are withheld
    ids, texts, clips = [], [], []
    for clip, captions in zip(clean["clip_id"], clean["captions"], strict=True):
        ids += [f"{clip}#{place}" for place in range(len(captions))]
        texts += captions
        clips += [place_of[moved.get(clip, clip)]] * len(captions)
    return Captions(clean["clip_id"], clean["source_id"], ids, texts, np.array(clips, np.intp))


def caption_texts(output: FinishedOutput, setting: Setting, captions: Captions, split: str) -> dict[str, str]:
    """Return the captions that are shown in a setting, by caption id."""
    texts = dict(zip(captions.ids, captions.texts, strict=True))
    if setting.text:
        rows, _ = read_columns(output, setting.text, ("caption_id", "caption"), split)
        texts |= dict(zip(rows["caption_id"], rows["caption"], strict=True))
    return texts


def suite_settings(info: Mapping[str, Any]) -> tuple[Setting, ...]:
    """Return the settings of a suite: clean, visual perturbations by severity, text perturbations, and combinations."""
    settings, counts = info["settings"], info["counts"]
    visual = [name for name in settings["perturbations"] if name in counts]
    pairs = [pair.split(":") for pair in settings.get("pairs", ())]
    return (
        Setting(),
        *(Setting(name, level) for name in visual for level in settings["severity"]),
        *(Setting(text=name) for name in settings.get("text_perturbations", ()) if name in counts),
        *(Setting(name, combinations()[0], text) for name, text in pairs),
    )


def read_setting(name: str) -> Setting:
    """Parse the name of a setting."""
    if name == CLEAN:
        return Setting()
    visual, _, text = name.partition("+")
    head, dash, level = visual.rpartition("-")
    return Setting(head, int(level), text) if dash and level.isdigit() else Setting(text=name)


def families(settings: Iterable[Setting]) -> dict[str, str]:
    """Return the family of every perturbation in the settings."""
    family_of = {}
    for setting in settings:
        if setting.visual:
            family_of[setting.visual] = check_name(setting.visual).family
        if setting.text:
            family_of[setting.text] = check_text_name(setting.text).family
    return family_of


def _suite(settings: tuple[Setting, ...], scores: tuple[str, ...]) -> Suite:
    kinds = {setting.text: check_text_name(setting.text).kind for setting in settings if setting.text}
    return Suite(settings, scores, families(settings), kinds)


def _chosen_settings(
    expected: Sequence[Setting], names: Iterable[str], source: str, *, partial: bool
) -> tuple[tuple[Setting, ...], tuple[str, ...]]:
    """Return the expected settings that are among `names`, and notes on missing or unknown ones."""
    present, known = set(names), [setting.name for setting in expected]
    unknown = sorted(present.difference(known))
    missing = [name for name in known if name not in present]

    def first(settings: Sequence[str]) -> str:
        return ", ".join(settings[:5]) + (", …" if len(settings) > 5 else "")

    if CLEAN in missing:
        raise InputError(f"{source}: there are no results for {CLEAN!r}, against which robustness is measured.")
    if unknown and not partial:
        raise InputError(
            f"{source}: this output does not have the settings {first(unknown)}. Setting names are clean, "
            "<visual>-<severity>, <text> and <visual>-<severity>+<text>; --partial ignores all others."
        )
    if missing and not partial:
        raise InputError(
            f"{source}: {len(missing)} of {len(known)} settings are missing ({first(missing)}). Use --partial to "
            "score without them."
        )
    if len(missing) == len(known) - 1:
        raise InputError(f"{source}: {CLEAN!r} is the only setting; at least one perturbed setting is required.")
    notes = []
    if missing:
        notes.append(f"{len(missing)} of {len(known)} settings are missing: {', '.join(missing)}.")
    if unknown:
        notes.append(f"not in this output, ignored: {', '.join(unknown)}.")
    return tuple(setting for setting in expected if setting.name in present), tuple(notes)


def score_retrieval(output: FinishedOutput, folder: Path, options: ScoreOptions) -> Scores:
    """Score text-to-video retrieval, given one file for each setting.

    `folder` contains `<setting>.npy` or `<setting>.safetensors`, each a matrix of clips × captions, or
    `<setting>.jsonl` with ranked lists. The order is that of table `clean`, or of `clips.txt` and `captions.txt` in the
    folder.

    Raises:
        UsageError: The folder does not exist.
        InputError: Files or settings are missing, duplicated or malformed.
    """
    captions = read_captions(output, options.split)
    if not folder.is_dir():
        raise UsageError(
            f"there is no folder {folder}. Specify a folder with one file per setting: <setting>.npy, .safetensors or "
            ".jsonl."
        )
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in MATRIX_KINDS and path.is_file():
            name = path.stem.removesuffix("-0")  # clean-0, no_verbs-0
            if name in files:
                raise InputError(
                    f"{folder} contains two files for the same setting, {files[name].name} and {path.name}. Remove one "
                    "of them."
                )
            files[name] = path
    chosen, notes = _chosen_settings(suite_settings(output.info), files, str(folder), partial=options.partial)
    rows = np.argsort(order_of(folder / "clips.txt", captions.clips))  # position of the row of each clip
    order = order_of(folder / "captions.txt", captions.ids)
    where = captions.clip[order]
    sources, source_of = by_source(captions.sources)
    clip_of = dict(zip(captions.ids, captions.clip_ids, strict=True))
    wanted = [captions.ids[index] for index in order]
    cells: dict[str, tuple[NDArray[np.intp], Floats]] = {}
    names = tuple(f"R@{cut}" for cut in retrieval.CUTS)
    for setting in chosen:
        path = files[setting.name]
        if path.suffix == ".jsonl":
            ranked, matrix = read_ranked(path, clip_of, captions.clips), None
        else:
            ranked, matrix = {}, read_matrix(path, (len(captions.clips), len(captions.ids)))
        try:
            if matrix is None:
                hits = retrieval.ranked_hits(ranked, wanted, [clip_of[name] for name in wanted])
            else:
                hits = retrieval.recall_hits(matrix, rows[where])
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        for number, name in enumerate(names):
            cells[robustness.cell(setting, name)] = (source_of[where], hits[:, number])
    answers = {
        "scored": len(order) * len(chosen),
        "clips": len(captions.clips),
        "scored_sha256": identity(captions.ids),
    }
    return _robustness_scores(output, chosen, names, tally(sources, cells), options, answers, notes)


@dataclass(frozen=True)
class AnswerInSetting:
    """An answer about a clip in one setting.

    Attributes:
        correct: Whether the answer is correct; None if it is unreadable, or the setting or clip is unknown.
    """

    setting: str
    clip: str
    question: str
    answer: Any
    correct: bool | None

    @property
    def label(self) -> str:
        """Return the setting, clip and question as one text."""
        return f"{self.setting} {self.clip} {self.question}".strip()


def judged_answers(
    output: FinishedOutput, predictions: Predictions, captions: Captions, split: str
) -> Iterator[AnswerInSetting]:
    """Judge predictions with a `setting`, a clip's `id`, and `correct` (already judged) or `answer` (a caption)."""
    settings = {setting.name: setting for setting in suite_settings(output.info)}
    id_name = column(predictions, ("clip_id", *ID_NAMES))
    judged = any("correct" in row for row in predictions.rows)
    answer_name = "correct" if judged else answer_column(predictions)
    clips, about = set(captions.clips), dict[str, dict[str, set[str]]]()
    for row in predictions.rows:
        name = str(row.get("setting")).strip().removesuffix("-0")
        clip, answer = str(row.get(id_name)).strip(), row.get(answer_name)
        correct = None
        if judged:
            correct = truth_of(answer)
        elif name in settings and clip in clips:
            text = settings[name].text
            if text not in about:
                about[text] = captions_about(output, settings[name], captions, split)
            correct = chose(answer, clip, about[text])
        yield AnswerInSetting(name, clip, str(row.get("question") or ""), answer, correct)


def score_suite_answers(output: FinishedOutput, config: str, predictions: Predictions, options: ScoreOptions) -> Scores:
    """Score answers in every setting of a suite by accuracy and robustness.

    A row contains the `setting` (`clean`, `jpeg-3`, `no_verbs`, `jpeg-3+no_verbs`), the clip (`id`) and, if a clip has
    several questions, the `question`. It also contains `correct`, judged with any answer key, or `answer`, the id or
    text of the chosen caption.

    Raises:
        InputError: Columns, settings or answers are missing, duplicated or unknown, and `options.partial` is not set.
    """
    captions = read_captions(output, options.split)
    seen = {name for row in predictions.rows for name in row}
    if "setting" not in seen or not seen & {"correct", *ANSWER_NAMES}:
        raise InputError(
            f"{predictions.path} needs the columns setting, id and correct (or answer); it has "
            f"{', '.join(sorted(map(str, seen)))}."
        )
    judged = list(judged_answers(output, predictions, captions, options.split))
    chosen, notes = _chosen_settings(
        suite_settings(output.info),
        [answer.setting for answer in judged],
        str(predictions.path),
        partial=options.partial,
    )
    by_name = {setting.name: setting for setting in chosen}
    clip_place = {name: number for number, name in enumerate(captions.clips)}
    others = set(read_captions(output, ALL).clips) - set(clip_place)
    values: dict[tuple[str, str, str], float] = {}
    doubled, unknown = dict[str, None](), dict[str, None]()
    unreadable: list[dict[str, str]] = []
    elsewhere = 0
    for answer in judged:
        key = (answer.setting, answer.clip, answer.question)
        if answer.clip in others:
            elsewhere += 1
        elif answer.clip not in clip_place:
            unknown[answer.label] = None
        elif answer.setting not in by_name or answer.answer is None:  # null means missing
            continue
        elif key in values:
            doubled[answer.label] = None
        else:
            if answer.correct is None:
                unreadable.append({"id": answer.label, "answer": str(answer.answer)[:80]})
            values[key] = float(bool(answer.correct))
    asked = {(clip, question) for setting, clip, question in values if setting == CLEAN}
    asked |= {(clip, "") for clip in clip_place.keys() - {clip for clip, _ in asked}}
    missing = [
        f"{setting} {clip} {question}".strip()
        for setting in by_name
        for clip, question in sorted(asked)
        if (setting, clip, question) not in values
    ]
    extra = [f"{s} {c} {q}".strip() for s, c, q in values if (c, q) not in asked]
    if not options.partial and (missing or doubled or unknown or extra):
        refuse(predictions.path, missing, list(doubled), [*unknown, *extra], len(asked) * len(by_name))
    # Robustness compares settings, so only questions answered in every setting count.
    order = sorted(pair for pair in asked if all((setting, *pair) in values for setting in by_name))
    if not order:
        raise InputError(f"{predictions.path}: no question has an answer in every setting.")
    sources, source_of = by_source(captions.sources)
    where = source_of[[clip_place[clip] for clip, _ in order]]
    cells = {
        robustness.cell(setting, "accuracy"): (where, np.array([values[name, c, q] for c, q in order]))
        for name, setting in by_name.items()
    }
    answers = {
        "read": len(predictions.rows),
        "scored": len(order) * len(by_name),
        "unreadable": len(unreadable),
        "unreadable_first": unreadable[:SHOWN],
        "missing": len(missing),
        "doubled": len(doubled),
        "unknown": len(unknown) + len(extra),
        "of_other_splits": elsewhere,
        "scored_sha256": identity(f"{clip}\0{question}" for clip, question in order),
    }
    if missing:
        notes += ("questions without an answer in some setting are excluded from all settings.",)
    return _robustness_scores(output, chosen, ("accuracy",), tally(sources, cells), options, answers, notes)


def truth_of(value: Any) -> bool | None:
    """Parse a value in the user's column `correct`. Return None if it is unreadable."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return TRUTHS.get(str(value).strip().casefold())


def captions_about(output: FinishedOutput, setting: Setting, captions: Captions, split: str) -> dict[str, set[str]]:
    """Return the clips that each caption in a setting describes, keyed by caption id and by text."""
    texts = caption_texts(output, setting, captions, split)
    about: dict[str, set[str]] = {}
    for name, clip in zip(captions.ids, captions.clip_ids, strict=True):
        about.setdefault(name, set()).add(clip)
        about.setdefault(plain(texts[name]), set()).add(clip)
    return about


def chose(value: Any, clip: str, about: Mapping[str, set[str]]) -> bool | None:
    """Return whether the chosen caption describes the clip, or None if there is no such caption."""
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
    suite = _suite(chosen, names)
    scored = estimates(
        counted, lambda means: robustness.measure(suite, means), seed=options.seed, resamples=options.resamples
    )
    changed = {}  # share of captions that a text perturbation changes, as the others cannot lower a score
    for name in dict.fromkeys(setting.text for setting in chosen if setting.text):
        columns, _ = read_columns(output, name, ("changed",), options.split)
        changed[name] = float(np.mean(columns["changed"]))
    return Scores(
        benchmark=output.info["builder"],
        split=options.split,
        answers=answers,
        headline=robustness.headline(scored),
        tables=robustness.tables(suite, counted, scored, changed, videos_changed(output, chosen, options.split)),
        tally=counted,
        footnotes=notes,
    )


def videos_changed(output: FinishedOutput, settings: Iterable[Setting], split: str) -> dict[tuple[str, int], float]:
    """Return the share of videos that differ from `clean`, by visual perturbation and severity; empty for recipes."""
    flags: dict[tuple[str, int], list[bool]] = {}
    for name in dict.fromkeys(setting.visual for setting in settings if setting.visual):
        columns, _ = read_columns(output, name, ("severity", "changed"), split)
        for severity, changed in zip(columns["severity"], columns["changed"], strict=True):
            if changed is not None:
                flags.setdefault((name, severity), []).append(changed)
    return {setting: float(np.mean(changed)) for setting, changed in flags.items()}


def measure_of(cells: Sequence[str]) -> Measure:
    """Return a function that computes scores from the means of cells, whose names contain the settings."""
    names = [cell.split(" ", 1) for cell in cells]
    settings = tuple(dict.fromkeys(read_setting(name) for name, _ in names))
    suite = _suite(settings, tuple(dict.fromkeys(score for _, score in names)))
    return lambda means: robustness.measure(suite, means)
