"""Score generated texts against references, as in CausalChaos (Parmar et al. 2024), section 4 and Table 3.

BLEU, METEOR 1.5, ROUGE-L, CIDEr and SPICE are pycocoevalcap's, and SBERT is the cosine of sentence embeddings. NLTK's
Penn Treebank tokenizer, with lower-casing and without punctuation, replaces pycocoevalcap's PTBTokenizer, which
requires Java. Scores can differ in the third decimal. METEOR 1.5 and SPICE require Java, and SPICE downloads Stanford
CoreNLP on first use. Without Java, METEOR is NLTK's, which is usually higher, so the names of scores state the version.
Version 1.5 (Denkowski and Lavie 2014) also matches paraphrases, weights function words less, and has parameters tuned
to human judgements.

All scores are functions of sums over questions and therefore have bootstrap intervals. METEOR, ROUGE-L, SPICE, CIDEr
and SBERT are means over questions, and BLEU uses the n-gram counts and lengths of the entire corpus. In every resample,
CIDEr's document frequencies are those of all references.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, reduce
from importlib.util import find_spec
from io import StringIO
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.extras import import_extra, named
from ...core.files import sha256_file
from ...core.output import FinishedOutput, reading
from ...core.results import Estimate
from ...core.schema import Row
from ...language.wordnet import load_wordnet
from .bootstrap import Floats, Means, Tally, by_source
from .items import ALL, SOURCES, choose_split, options_of, read_questions, right_option
from .predictions import (
    ID_NAMES,
    OTHER_SPLIT,
    SHOWN,
    Predictions,
    answer_column,
    column,
    identity,
    match,
    of_output,
    refuse_doubled,
)

COLUMNS = {"A": ("answer", "options", "answer_index"), "E": ("explanation", "explanation_options", "explanation_index")}


@dataclass(frozen=True)
class References:
    """The correct texts of open-ended questions.

    Attributes:
        sources: Source video of each question, or the question's id if unknown.
        texts: Correct answers under "A" and, if there are any, correct explanations under "E".
        config: Name of the table; "references" for a file.
        output: Identity of the output or file, for `scores.json`.
        others: Ids of existing questions that are not scored now, with the reason.
        written: The table that rows with generated texts name; see `OpenRows`.
    """

    ids: list[str]
    sources: list[str]
    texts: dict[str, list[str]]
    config: str
    split: str
    output: dict[str, str]
    others: Mapping[str, str] = field(default_factory=dict)
    written: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Generated:
    """The texts that a model generated.

    Attributes:
        texts: Answers under "A", and explanations under "E" if both the file and the references have them.
        answers: Counts as in `predictions.PickedOptions.summary`.
    """

    references: References
    texts: dict[str, list[str]]
    answers: dict[str, Any]


@dataclass(frozen=True)
class OpenRows:
    """Rows of an output that contain the correct texts of open-ended questions.

    Attributes:
        written: The table whose questions harnesses ask without options.
    """

    config: str
    rows: list[Row]
    splits: list[str]
    written: str


ReadRows = Callable[[FinishedOutput, str | None], OpenRows]
"""Function that chooses a table of an output, and reads its rows."""


def read_references(path: Path, of_output: ReadRows, config: str | None = None, split: str | None = None) -> References:
    """Load the correct texts of open-ended questions, from an output or from a file with `id` and `answer`.

    A file may also contain `explanation`.

    Raises:
        InputError: The path is neither an output nor such a file, or a text is missing.
    """
    others: Mapping[str, str] = {}
    written = None
    if path.is_dir():
        with reading(path) as output:
            every = of_output(output, config)
            config, written = every.config, every.written
            split = choose_split(output, config, split)
            keep = [split in (ALL, name) for name in every.splits]
            rows: Sequence[Mapping[str, Any]] = [row for row, wanted in zip(every.rows, keep, strict=True) if wanted]
            left = (str(row["qid"]) for row, wanted in zip(every.rows, keep, strict=True) if not wanted)
            others = dict.fromkeys(left, OTHER_SPLIT)
            about = {"dataset_version": str(output.info["dataset_version"]), "fingerprint": output.asked}
    else:
        if config is not None or split not in (None, ALL):
            raise InputError(f"{path} is a file, so it has no tables or splits. Omit --config and --split.")
        rows = read_questions(path).rows
        config, split, about = "references", ALL, {"file": path.name, "fingerprint": sha256_file(path)}
    if not rows:
        raise InputError(f"{path} has no questions in this split.")
    id_name = column(Predictions(path, [dict(row) for row in rows]), ID_NAMES)
    ids = [str(row.get(id_name)).strip() for row in rows]
    refuse_doubled(path, ids)
    texts: dict[str, list[str]] = {}
    for letter, (name, options, index) in COLUMNS.items():
        column_texts = [_right_text(row, name, options, index, path, at) for row, at in zip(rows, ids, strict=True)]
        if all(isinstance(text, str) and text.strip() for text in column_texts):
            texts[letter] = [str(text) for text in column_texts]
        elif letter == "A" or any(isinstance(text, str) and text.strip() for text in column_texts):
            at = next(at for at, text in enumerate(column_texts) if not isinstance(text, str) or not text.strip())
            raise InputError(
                f"{path}: {ids[at]!r} has no correct {name}. Each row needs a column `{name}`, or "
                f"`{options}` and `{index}`."
            )
    source = next((name for name in SOURCES if all(row.get(name) for row in rows)), None)
    notes = () if source else ("there is no column source_id, so each question counts as a separate source video.",)
    sources = [str(row[source]) for row in rows] if source else ids
    return References(ids, sources, texts, config, split, about, others, written, notes)


def _right_text(row: Mapping[str, Any], name: str, options: str, index: str, path: Path, at: str) -> Any:
    if not row.get(options):
        return row.get(name)
    offered = options_of(row[options], path, at)
    column = index if row.get(index) is not None else name
    return offered[right_option(row, column, offered, f"{path}: {at!r}")]


def read_generated(predictions: Predictions, references: References, *, partial: bool = False) -> Generated:
    """Put generated texts in the order of the references.

    A row that lacks one of the texts counts as missing. With `partial`, missing, duplicate and unknown ids are counted
    instead of raising an error.

    Raises:
        InputError: Ids are missing, duplicate or unknown and `partial` is not set, or a value is not a text.
    """
    chosen = of_output(predictions, references.written, references.output["fingerprint"])
    id_name = column(chosen, ID_NAMES)
    names = {"A": answer_column(chosen)}
    notes = references.notes
    if "E" in references.texts and any("explanation" in row for row in chosen.rows):
        names["E"] = "explanation"
    elif "E" in references.texts:
        notes += ("there is no column `explanation`, so explanations are not scored.",)
    rows = [
        row if all(row.get(name) is not None for name in names.values()) else {**row, names["A"]: None}
        for row in chosen.rows
    ]
    chosen = replace(chosen, rows=rows)
    matched = match(chosen, references.ids, others=references.others, answer=names["A"], partial=partial)
    by_id = {  # the first of several rows for a question is used
        str(row.get(id_name)).strip(): row for row in reversed(chosen.rows) if row.get(names["A"]) is not None
    }
    keep = [at for at, name in enumerate(references.ids) if name in by_id]
    ids = [references.ids[at] for at in keep]
    texts: dict[str, list[str]] = {}
    empty: list[str] = []
    for letter, name in names.items():
        column_texts = [by_id[key].get(name) for key in ids]
        odd = next((key for key, text in zip(ids, column_texts, strict=True) if not isinstance(text, str)), None)
        if odd is not None:
            raise InputError(f"{predictions.path}: `{name}` of {odd!r} is {by_id[odd].get(name)!r}, not a string.")
        texts[letter] = [str(text) for text in column_texts]
        empty += [f"{key} {name}" for key, text in zip(ids, texts[letter], strict=True) if not text.strip()]
    answers = {
        "scored_sha256": identity(f"{letter} {name}" for letter in texts for name in ids),
        "read": matched.read,
        "scored": len(ids),
        "unreadable": 0,
        "empty": len(empty),
        "empty_first": empty[:SHOWN],
        **matched.unmatched(),
    }
    kept = replace(
        references,
        ids=ids,
        sources=[references.sources[at] for at in keep],
        texts={letter: [references.texts[letter][at] for at in keep] for letter in names},
        notes=notes,
    )
    return Generated(kept, texts, answers)


Encode = Callable[[Sequence[str]], NDArray[np.floating]]
"""Function that embeds texts as unit vectors, shape (texts, dimensions)."""

JAVA = "METEOR 1.5"
NLTK = "METEOR (NLTK)"
MEMORY = ("-Xmx2G",)
SEGMENT = re.compile(r"^Segment \d+ score:\s+(\S+)$", re.M)
NAME = "open-ended"
SCORES = ("BLEU-1", "BLEU-2", "BLEU-3", JAVA, "ROUGE-L", "SPICE", "CIDEr", "SBERT")
WITH_NLTK = tuple(NLTK if name == JAVA else name for name in SCORES)
CAPSMIX, NORMALISED, OTHER_METEOR = "CapsMIX", "normalised mean", " (NLTK METEOR)"
BEST = {name: 10.0 if name == "CIDEr" else 1.0 for name in (*SCORES, NLTK)}
"""Theoretical maximum of each score. CIDEr-D is 10 times a similarity from 0 to 1."""
ASKED = ("A", "E")
GRAMS = (1, 2, 3)
NO_GRAMS = 1e-6
"""Precision that pycocoevalcap reports if there are no n-grams: 1e-15 / 1e-9."""
PUNCTUATION = frozenset(["''", "'", "``", "`", *'()[]{}.?!,:;-"', "--", "..."])
TYPOGRAPHIC = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": " -- ", "—": " -- ", "…": " ... "})
LOOSE_MARKS = re.compile(r"[.!?]+(?=[\s\"')\]]|$)|(?<!\S)'(?=\w)")  # split only from the last sentence
NO_WORDS = ("-", "--")
"""Placeholders for a text and a reference without words, which the packages do not accept. They must differ."""

Number = TypeVar("Number", float, Floats)


def words(text: str) -> str:
    """Return the words of a text in lower case, separated by spaces and without punctuation."""
    tokenizer = import_extra("nltk.tokenize", what="splitting texts into words").TreebankWordTokenizer()
    plain = LOOSE_MARKS.sub(" ", text.translate(TYPOGRAPHIC)).lower()
    return " ".join(word for word in tokenizer.tokenize(plain) if word not in PUNCTUATION)


def per_text(
    texts: Sequence[str],
    references: Sequence[str],
    *,
    encode: Encode | None = None,
    spice: bool = False,
    meteor: str | None = None,
) -> dict[str, tuple[Floats, Floats]]:
    """Score each text against its reference.

    SBERT is omitted if `encode`, the sentence encoder, is None. `meteor` is `meteor.JAVA` or `meteor.NLTK`; by default,
    version 1.5 is used if Java is installed.

    Returns:
        A sum and a count per text for each part of a score: "1-grams" to "3-grams" (matches and n-grams), "length"
            (words of the text and of the reference), and the scores that are means, each with count 1.

    Raises:
        InputError: A package is not installed, or Java or the models of SPICE are not available.
    """
    try:
        from pycocoevalcap.bleu.bleu_scorer import BleuScorer
        from pycocoevalcap.cider.cider import Cider
        from pycocoevalcap.rouge.rouge import Rouge
    except ModuleNotFoundError as error:
        raise named(error, "score open-ended") from error
    if not texts:
        raise InputError("there are no texts to score. Provide at least one prediction.")
    generated = {index: [words(text) or NO_WORDS[0]] for index, text in enumerate(texts)}
    right = {index: [words(text) or NO_WORDS[1]] for index, text in enumerate(references)}
    bleu = BleuScorer(n=len(GRAMS))
    for index in generated:
        bleu += (generated[index][0], right[index])
    with redirect_stdout(StringIO()):  # the packages print their progress
        _, rouge = Rouge().compute_score(right, generated)
        _, cider = Cider().compute_score(right, generated)
    pairs = [(right[index][0].split(), generated[index][0].split()) for index in generated]
    parts: dict[str, tuple[Any, Any]] = {}
    for size in GRAMS:
        correct, guessed = ([text[name][size - 1] for text in bleu.ctest] for name in ("correct", "guess"))
        parts[f"{size}-grams"] = correct, guessed
    parts["length"] = ([len(text) for _, text in pairs], [len(reference) for reference, _ in pairs])
    ones = np.ones(len(pairs))
    meteor = meteor or (JAVA if java_found() else NLTK)
    if meteor == JAVA:
        scored = java_meteor(*([words_of[0] for words_of in side.values()] for side in (generated, right)))
        aligned = [0.0 if generated[index] == [NO_WORDS[0]] else score for index, score in enumerate(scored)]
    else:
        aligned = [nltk_meteor(text_words, reference) for reference, text_words in pairs]
    parts |= {meteor: (aligned, ones), "ROUGE-L": (rouge, ones), "CIDEr": (cider, ones)}
    if spice:
        parts["SPICE"] = (_spice(right, generated), ones)
    if encode is not None:
        vectors = encode([*texts, *references])
        parts["SBERT"] = (np.sum(vectors[: len(texts)] * vectors[len(texts) :], axis=1), ones)
    return {name: (np.asarray(sums, np.float64), np.asarray(of, np.float64)) for name, (sums, of) in parts.items()}


def _spice(right: dict[int, list[str]], generated: dict[int, list[str]]) -> list[float]:
    if shutil.which("java") is None:
        raise InputError("SPICE needs Java, which is not installed. Install a Java runtime, or omit --spice.")
    try:
        from pycocoevalcap.spice.spice import Spice

        scorer: Any = Spice()
        _, by_text = scorer.compute_score(right, generated)
    except Exception as error:  # download, Java process and JSON fail in different ways
        raise InputError(
            f"SPICE failed ({type(error).__name__}: {error}). It needs Java 8 or later and, once, the network for "
            "Stanford CoreNLP. Omit --spice to score without it."
        ) from error
    return [float(scores["All"]["f"]) for scores in by_text]


def count(
    sources: Sequence[str],
    generated: Mapping[str, Sequence[str]],
    references: Mapping[str, Sequence[str]],
    *,
    encode: Encode | None = None,
    spice: bool = False,
    meteor: str | None = None,
) -> Tally:
    """Sum the parts of all scores by source video, in cells such as "A METEOR 1.5" and "E 2-grams" (see `per_text`).

    Texts and references are keyed by "A" for answers and, if there are any, "E" for explanations.
    """
    names, where = by_source(sources)
    cells = {
        f"{letter} {part}": values
        for letter, texts in generated.items()
        for part, values in per_text(texts, references[letter], encode=encode, spice=spice, meteor=meteor).items()
    }
    sums, counts = (
        np.array([np.bincount(where, weights=values[kind], minlength=len(names)) for values in cells.values()]).T
        for kind in (0, 1)
    )
    return Tally(tuple(names), tuple(cells), sums, counts).answered()


def measure(means: Means) -> dict[str, Floats]:
    """Compute the scores of answers ("A BLEU-1") and explanations ("E BLEU-1"), CapsMIX and the normalized mean.

    CapsMIX and the normalized mean require all eight scores of both. Their names state whether METEOR is NLTK's.
    """
    scores: dict[str, Floats] = {}
    names = wanted(means)
    for letter in ASKED:
        if f"{letter} length" not in means:
            continue
        values = {f"BLEU-{size}": value for size, value in zip(GRAMS, _bleu(letter, means), strict=True)}
        values |= {name: means[f"{letter} {name}"] for name in names if f"{letter} {name}" in means}
        scores |= {f"{letter} {name}": values[name] for name in names if name in values}
    both = [{name: scores[f"{letter} {name}"] for name in names if f"{letter} {name}" in scores} for letter in ASKED]
    if all(len(values) == len(names) for values in both):
        suffix = OTHER_METEOR if NLTK in names else ""
        scores |= {CAPSMIX + suffix: capsmix(*both), NORMALISED + suffix: normalised_mean(*both)}
    return scores


def wanted(names: Collection[str]) -> tuple[str, ...]:
    """Return the names of the eight scores, with the version of METEOR that is available."""
    return WITH_NLTK if f"{ASKED[0]} {NLTK}" in names else SCORES


def _bleu(letter: str, means: Means) -> list[Floats]:
    """Compute corpus BLEU from the means of each resample. It differs from pycocoevalcap's by at most 1e-5."""
    precisions = [np.nan_to_num(means[f"{letter} {size}-grams"], nan=NO_GRAMS) for size in GRAMS]
    brevity = np.exp(np.minimum(0.0, 1 - 1 / means[f"{letter} length"]))
    return [np.prod(precisions[:size], axis=0) ** (1 / size) * brevity for size in GRAMS]


def notes(headline: Mapping[str, Estimate]) -> tuple[str, ...]:
    """Return notes on NLTK's METEOR, and on scores that CapsMIX lacks."""
    names = wanted(headline)
    lines = []
    if NLTK in names:
        lines.append(
            f"{NLTK} is not {JAVA}: it is higher on most texts, and so is a CapsMIX with it. Compare neither "
            "with the paper's Table 3. Version 1.5 needs Java."
        )
    missing = [name for name in names if f"A {name}" not in headline]
    if "E BLEU-1" not in headline:
        missing.append("those of explanations")
    if missing:
        lines.append(f"{CAPSMIX} needs all eight scores of answers and of explanations; missing: {', '.join(missing)}.")
    return tuple(lines)


def capsmix(answers: Mapping[str, Number], explanations: Mapping[str, Number]) -> Number:
    """Return CapsMIX, the sum of the 16 scores, as in the paper's Table 3. Raise KeyError if a score is missing.

    The paper's text says "after normalizing them to their theoretical best values", but the sums in the table contain
    CIDEr unscaled. `normalised_mean` follows the text.
    """
    names = WITH_NLTK if NLTK in answers else SCORES
    return reduce(add, [scores[name] for scores in (answers, explanations) for name in names])


def normalised_mean(answers: Mapping[str, Number], explanations: Mapping[str, Number]) -> Number:
    """Return the mean (0 to 1) of the 16 scores, each divided by its maximum (10 for CIDEr); see `capsmix`."""
    names = WITH_NLTK if NLTK in answers else SCORES
    parts = [scores[name] / BEST[name] for scores in (answers, explanations) for name in names]
    return reduce(add, parts) / len(parts)


@cache
def _helpers() -> dict[str, Any]:
    """Return the stemmer and WordNet with cached lookups, since the same words recur in many texts."""
    remember = lru_cache(maxsize=1 << 16)
    stem, synsets = import_extra("nltk.stem.porter").PorterStemmer().stem, load_wordnet().reader.synsets
    return {"stemmer": SimpleNamespace(stem=remember(stem)), "wordnet": SimpleNamespace(synsets=remember(synsets))}


def nltk_meteor(words: Sequence[str], reference: Sequence[str]) -> float:
    """Score a text against a reference with NLTK (Banerjee and Lavie 2005), from 0 to slightly below 1 for equal texts.

    Raises:
        InputError: WordNet is missing.
    """
    score = import_extra("nltk.translate.meteor_score", what="METEOR").single_meteor_score
    return float(score(list(reference), list(words), **_helpers()))


def java_found() -> bool:
    """Return whether Java, which METEOR 1.5 requires, is installed."""
    return shutil.which("java") is not None


def java_meteor(texts: Sequence[str], references: Sequence[str]) -> list[float]:
    """Score each text against its reference with pycocoevalcap's METEOR 1.5, from 0 to 1 for equal texts.

    The program is called with the options of pycocoevalcap, but on files. The package's own wrapper exchanges single
    lines with the program and leaves it running.

    Raises:
        InputError: pycocoevalcap or Java is missing, or the program failed.
    """
    try:
        package = find_spec("pycocoevalcap.meteor")
    except ModuleNotFoundError as error:
        raise named(error, JAVA) from error
    folder = Path(next(iter((package and package.submodule_search_locations) or ())))
    advice = "Install a Java runtime (Debian: default-jre-headless), or use NLTK's with --meteor nltk."
    java = shutil.which("java")
    if java is None:
        raise InputError(f"{JAVA} needs Java, which is not installed. {advice}")
    with TemporaryDirectory() as folder_name:
        files = [Path(folder_name) / name for name in ("texts", "references")]
        for file, side in zip(files, (texts, references), strict=True):
            file.write_text("".join(f"{' '.join(text.split())}\n" for text in side), encoding="utf-8")
        command = [java, *MEMORY, "-jar", str(folder / "meteor-1.5.jar"), *map(str, files), "-l", "en", "-norm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace")
    scores = [float(score) for score in SEGMENT.findall(done.stdout)]
    if done.returncode or len(scores) != len(texts):
        output = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise InputError(
            f"{JAVA} failed (exit code {done.returncode}, {len(scores):,} of {len(texts):,} texts scored"
            f"{': ' + output[-1][:200] if output else ''}). {advice}"
        )
    return scores
