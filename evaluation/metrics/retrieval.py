"""Compute recall at 1, 5 and 10 of text-to-video retrieval, from files of similarities or ranked lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.documents import parse_json, read_text
from ...core.errors import InputError
from ...core.extras import named
from ...core.files import regular
from .bootstrap import Floats

MATRIX_KINDS = (".npy", ".safetensors", ".jsonl")
HEADER = 1_000_000  # bytes of a safetensors file besides the tensor


def order_of(path: Path, names: Sequence[str]) -> NDArray[np.intp]:
    """Return the order of `names` in a matrix, from a file with one name per line if it exists."""
    if not path.is_file():
        return np.arange(len(names))
    lines = read_text(path).split("\n")
    lines = [line.strip() for line in lines if line.strip()]
    index = {name: position for position, name in enumerate(names)}
    if sorted(lines) != sorted(names):
        odd = [name for name in lines if name not in index] or [n for n in names if n not in set(lines)]
        what = f"the first difference is {odd[0]!r}" if odd else "some names occur twice"
        raise InputError(f"{path} must list each of the {len(names)} {path.stem} of this output once; {what}.")
    return np.array([index[name] for name in lines], np.intp)


def _safetensor(path: Path, shape: tuple[int, int]) -> NDArray[Any]:
    """Read the only tensor in a file. NumPy lacks bfloat16, which is the upper half of a float32."""
    try:
        from safetensors import deserialize
        from safetensors.numpy import load
    except ModuleNotFoundError as error:
        raise named(error, path.name) from error
    largest = 8 * shape[0] * shape[1] + HEADER
    if path.stat().st_size > largest:
        raise InputError(
            f"{path} has {path.stat().st_size:,} bytes, which is too large for a single tensor of {shape[0]} clips x "
            f"{shape[1]} captions. Save only that tensor."
        )
    content = path.read_bytes()
    tensors: dict[str, Any] = dict(deserialize(content))  # type: ignore[no-untyped-call]
    if len(tensors) != 1:
        raise InputError(f"{path} must contain one tensor; it contains {', '.join(sorted(tensors)) or 'none'}.")
    ((name, tensor),) = tensors.items()
    if tensor["dtype"] == "BF16":
        upper = np.frombuffer(tensor["data"], "<u2").astype("<u4") << 16
        return upper.view("<f4").reshape(tensor["shape"])
    return load(content)[name]


def read_matrix(path: Path, shape: tuple[int, int]) -> NDArray[np.floating]:
    """Load a similarity matrix, or raise InputError if the file has no numeric matrix of this shape."""
    regular(path)
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False) if path.suffix == ".npy" else _safetensor(path, shape)
    except InputError:
        raise
    except Exception as error:  # each library raises different exceptions
        raise InputError(f"{path} cannot be read ({type(error).__name__}: {error}).") from error
    if not isinstance(matrix, np.ndarray):
        raise InputError(f"{path} is an archive of arrays. Save a single array with numpy.save.")
    if matrix.dtype.kind not in "fiu":
        raise InputError(f"{path} contains {matrix.dtype}, not numbers.")
    if matrix.shape != shape:
        hint = " Did you save captions x clips? Transpose it." if matrix.shape == shape[::-1] else ""
        raise InputError(f"{path} has shape {matrix.shape}; expected {shape[0]} clips x {shape[1]} captions.{hint}")
    numbers: NDArray[np.floating] = np.asarray(matrix)
    return numbers


def read_ranked(path: Path, clip_of: Mapping[str, str], clips: Collection[str]) -> dict[str, list[str]]:
    """Load a ranked list of clips for each caption, best first, from lines of `{"id": …, "ranked": [clip ids]}`.

    An id refers to a caption, or to a clip that has only one caption.

    Raises:
        InputError: A line is malformed, refers to an unknown caption or clip, or repeats a caption.
    """
    captions = Counter(clip_of.values())
    by_clip = {clip: name for name, clip in clip_of.items() if captions[clip] == 1}
    known = set(clips)
    ranked: dict[str, list[str]] = {}
    for line_number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
            name, ranking = str(row["id"]), [str(clip) for clip in row["ranked"]]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f'{path}, line {line_number}: expected {{"id": …, "ranked": […]}}.') from error
        odd = next((clip for clip in ranking if clip not in known), None)
        if odd is not None:
            raise InputError(f"{path}, line {line_number}: this output has no clip {odd!r}.")
        name = by_clip.get(name, name)
        if name not in clip_of:
            raise InputError(f"{path}, line {line_number}: this split of the output has no caption {name!r}.")
        if name in ranked:
            raise InputError(f"{path}, line {line_number}: caption {name!r} occurs twice.")
        ranked[name] = ranking
    return ranked


CUTS = (1, 5, 10)


def recall_hits(similarity: NDArray[np.floating], target: NDArray[np.intp]) -> Floats:
    """Return the probability that each caption's clip is among the first K, shape (captions, cuts).

    Similarities have the shape (clips, captions), and `target` is the row of the correct clip for each caption. Ties
    are ordered at random, so that an uninformative matrix scores chance rather than 1. With g clips above the correct
    one and e others equal to it, the probability is (K - g) / (e + 1), limited to 0 to 1.

    Raises:
        InputError: The shape does not match, or a value is NaN.
    """
    if similarity.ndim != 2 or similarity.shape[1] != len(target):
        raise InputError(
            f"a similarity matrix has shape {similarity.shape}; expected clips x captions, with {len(target)} captions."
        )
    right = similarity[target, np.arange(len(target))]
    if np.isnan(similarity).any():
        raise InputError("a similarity matrix contains NaN.")
    above = np.count_nonzero(similarity > right, axis=0)
    equal = np.count_nonzero(similarity == right, axis=0)
    share: Floats = (np.asarray(CUTS, np.float64)[None, :] - above[:, None]) / equal[:, None]
    return np.minimum(np.maximum(share, 0.0), 1.0)


def ranked_hits(ranked: Mapping[str, Sequence[str]], captions: Sequence[str], clips: Sequence[str]) -> Floats:
    """Return whether each caption's clip is among the first K of its ranked list, shape (captions, cuts).

    `ranked` maps caption ids to clip ids, best first. Each list must contain at least ten clips, or all clips.

    Raises:
        InputError: A caption has no list, or a list is too short or repeats a clip.
    """
    hits = np.zeros((len(captions), len(CUTS)))
    most = min(CUTS[-1], len(set(clips)))
    for row, (caption, clip) in enumerate(zip(captions, clips, strict=True)):
        if caption not in ranked:
            raise InputError(f"caption {caption!r} has no ranked list; every caption needs one.")
        best = list(ranked[caption])[: CUTS[-1]]
        if len(best) < most:
            raise InputError(f"the list of caption {caption!r} contains {len(best)} clips; at least {most} are needed.")
        if len(set(best)) < len(best):
            raise InputError(f"the list of caption {caption!r} contains a clip more than once.")
        if clip in best:
            hits[row] = [best.index(clip) < cut for cut in CUTS]
    return hits
