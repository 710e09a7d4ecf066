"""Check the paths of files before they are written, and write tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..core.errors import OutputError, UsageError
from ..core.files import resolved

ENDINGS = (".parquet", ".csv", ".jsonl")


def check_outside(folder: Path | str | None, out: Path, *, option: str = "--to") -> None:
    """Raise UsageError if a folder is inside an output, which may contain only files from its build."""
    if folder is not None and out.is_dir() and resolved(Path(folder)).is_relative_to(resolved(out)):
        raise UsageError(f"{folder} is inside the output. Choose another folder with {option}.")


def check_place(
    path: Path, out: Path, read: Sequence[Path] = (), *, option: str, endings: Sequence[str] = ENDINGS
) -> None:
    """Check the path of a file to be written, before anything is computed.

    Args:
        path: The path.
        out: The output or file with questions that is read.
        read: Other files that are read.
        option: The option for the path.
        endings: Allowed extensions.

    Raises:
        OutputError: The folder is not writable.
        UsageError: The path is in `out` or would overwrite an input, or its extension is not allowed.
    """
    if path.suffix.lower() not in endings:
        allowed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise UsageError(f"{path} must end in {allowed}. Choose another file name with {option}.")
    for input_path in (out, *read):
        if resolved(path).is_relative_to(resolved(input_path)):
            what = "is inside the output" if input_path.is_dir() else "is an input file and would be overwritten"
            raise UsageError(f"{path} {what}. Choose another path with {option}.")
    check_writable(path, option=option)


def check_writable(path: Path, *, option: str) -> None:
    """Raise OutputError if a file cannot be written because of its folder."""
    parent_folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not (parent_folder.is_dir() and os.access(parent_folder, os.W_OK)):
        why = "may not be written to" if parent_folder.is_dir() else "is a file"
        raise OutputError(f"cannot write {path}: {parent_folder} {why}. Choose another path with {option}.")


def write(path: Path, columns: dict[str, list[object]]) -> str:
    """Write a table in the format of the file extension, and return a message such as "Wrote a.csv".

    Raises:
        OutputError: The file cannot be written.
    """
    import csv
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    from ..core.files import atomic

    done = f"Overwrote {path}" if path.exists() else f"Wrote {path}"
    with atomic(path) as temporary:
        if path.suffix.lower() == ".parquet":
            pq.write_table(pa.table(columns), temporary, compression="zstd")
            return done
        with open(temporary, "w", encoding="utf-8", newline="") as handle:
            rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
            if path.suffix.lower() == ".jsonl":
                handle.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            else:
                writer = csv.DictWriter(handle, list(columns))
                writer.writeheader()
                writer.writerows(rows)
    return done
