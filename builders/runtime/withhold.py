"""Write a public copy of an output without the answers of a split, and a private copy to score predictions with.

Each benchmark declares which columns of its tables are published (`core.schema.Public`). All others are null in the
withheld split. New ids, the order of rows and options, and the assignment of moved texts are derived from a secret key.
This is a hash of the original output's `units.parquet`, which cannot be inferred from the fingerprint or any published
data.
"""

from __future__ import annotations

import hashlib
import hmac
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...core.errors import UsageError
from ...core.files import regular, write_json
from ...core.fingerprint import FILE as UNITS
from ...core.fingerprint import Fingerprint, UnitHasher, canary_of, plain_json, writing_units
from ...core.output import Finding, FinishedOutput, Note, withheld_statement
from ...core.results import as_text
from ...core.schema import Config, Public, Row
from ...core.shards import ShardWriter, is_full, part_path, shard_path
from ...data_cards.card import Card, write_card

PUBLISHED = ("builder", "dataset_version", "split", "tools", "inputs", "source", "settings", "limit", "tables")
"""Entries of `build.json` that a public output keeps. Counts of notes and skips could reveal answers."""


@dataclass(frozen=True)
class Withholding:
    """An output and the split whose answers are withheld.

    Attributes:
        output: Original output.
        tables: Its tables.
        public: Published columns of each table; see `Benchmark.public`.
        split: The withheld split.
        contact: Address for predictions; may be empty.
    """

    output: FinishedOutput
    tables: Mapping[str, Config]
    public: Mapping[str, Public]
    split: str
    contact: str = ""
    _moved: dict[str, str] = field(default_factory=dict)

    @cached_property
    def key(self) -> bytes:
        """Return the secret key, derived from the original output."""
        return hashlib.sha256(b"withhold " + regular(self.output.path / UNITS).read_bytes()).digest()

    def secret(self, *parts: object) -> str:
        """Return a hash that cannot be computed without the secret key."""
        return hmac.new(self.key, repr(parts).encode(), "sha256").hexdigest()

    @cached_property
    def names(self) -> dict[str, str]:
        """Map original ids in the split to new ones."""
        names: dict[str, str] = {}
        for table, public in self.public.items():
            columns = [name for name in public.ids if "." not in name]
            for row in self.output.rows(table, columns, self.split) if columns else ():
                for value in row.values():
                    for name in value if isinstance(value, list) else [value]:
                        if name is not None:
                            names[name] = self.secret("id", name)[:16]
        return names

    @cached_property
    def places(self) -> dict[str, str]:
        """Map the key of each row in the first table to the key of the row that receives its texts."""
        table, public = next(iter(self.public.items()))
        if not public.moved:
            return {}
        keys = [row[name] for name in self.tables[table].key[:1] for row in self.output.rows(table, [name], self.split)]
        old, new = (sorted(keys, key=lambda name: self.secret(side, name)) for side in ("text", "row"))
        return dict(zip(old, new, strict=True))

    @cached_property
    def texts(self) -> dict[str, Any]:
        """Return the moved texts of the first table, by the key of the row that receives them."""
        table, public = next(iter(self.public.items()))
        (name,) = public.moved
        key = self.tables[table].key[0]
        rows = self.output.rows(table, [key, name], self.split)
        return {self.places[row[key]]: row[name] for row in rows}

    def renamed(self, name: Any) -> Any:
        """Replace an id, or each id in a list, by its new id. Unknown ids are unchanged."""
        if isinstance(name, list):
            return [self.names.get(item, item) for item in name]
        return self.names.get(name, name)

    def private_row(self, config: Config, row: Row) -> Row:
        """Return a row of the split with its answers and with the ids of the public copy."""
        public, before, row = self.public[config.name], row, dict(row)
        for name in public.ids:
            column, _, inner = name.partition(".")
            if inner:
                row[column] = [{**entry, inner: self.renamed(entry[inner])} for entry in row[column] or ()]
            else:
                row[column] = self.renamed(row[column])
        for name in public.moved:
            if isinstance(before[name], list):
                row[name] = self.texts.get(before[config.key[0]])
            else:  # the id of a text consists of the id of its row, which may have been skipped, and a number
                head, mark, suffix = before[name].rpartition("#")
                target = self.places.get(head, head)
                unknown = self.secret("id", target)[:16] if public.ids else target
                row[name] = self.names.get(target, unknown) + mark + suffix
        for index, *lists in public.choices:
            if before[index] is not None:
                keys = [self.secret(index, before[config.key[0]], at) for at in range(len(before[lists[0]]))]
                order = sorted(range(len(keys)), key=keys.__getitem__)
                row[index] = order.index(before[index])
                row |= {name: [before[name][at] for at in order] for name in lists}
        return row

    def public_row(self, config: Config, row: Row) -> Row:
        """Remove the columns that reveal the answer from a private row."""
        shown = self.public[config.name].shown
        return {name: value if name in shown else None for name, value in row.items()}

    def other_row(self, config: Config, row: Row) -> Row | None:
        """Remove references to withheld rows from a row of another split. Return None if it shares the key of one."""
        public = self.public[config.name]
        if row[config.key[0]] in self.names and config.key[0] in public.ids:
            return None
        for name in public.ids:
            column, _, inner = name.partition(".")
            values = row[column] if isinstance(row[column], list) else [row[column]]
            if any((entry[inner] if entry and inner else entry) in self.names for entry in values):
                row = {**row, column: None}
        return row

    def rows(self, config: Config, split: str, *, private: bool, staging: Path) -> Iterator[Row]:
        """Yield the rows of one of the two copies with their videos. The split is shuffled with the secret key."""
        columns = [column.name for column in config.columns]
        if split != self.split:
            kept = (self.other_row(config, row) for row in self.output.whole(config.name, columns, split))
            yield from (row for row in kept if row is not None)
            return
        public = self.public[config.name]
        if not public.shown and not private:
            return
        rows = []
        for index, row in enumerate(self.output.whole(config.name, columns, split)):
            row = self.private_row(config, row)
            for name in config.videos:
                if row[name] is not None:
                    (staging / f"{index}.{name}").write_bytes(row[name]["bytes"] or b"")
            rows.append({**row, **dict.fromkeys(config.videos), "": index})
        group = [public.group] if public.group else []
        rows.sort(key=lambda row: [self.secret("row", *(row[name] for name in group)), self.secret(*_key(config, row))])
        for row in rows:
            index = row.pop("")
            for name in config.videos:
                if (file := staging / f"{index}.{name}").is_file():
                    row[name] = {"bytes": file.read_bytes(), "path": config.file_name(row)}
                    file.unlink()
            yield row if private else self.public_row(config, row)


def _key(config: Config, row: Row) -> list[Any]:
    return [row[name] for name in config.key]


def withhold(work: Withholding, folder: Path) -> None:
    """Write the folders `public` and `private` into a new folder.

    Raises:
        InputError: Rows are missing or damaged.
        OutputError: The folder cannot be written.
    """
    info = work.output.info
    about: dict[str, Any] = {"split": work.split, "contact": work.contact}
    kept: dict[str, Any] = {name: info[name] for name in PUBLISHED if name in info}
    kept["settings"] = {name: value for name, value in info["settings"].items() if name != "seed"}
    nothing: dict[str, Any] = {"notes": {}, "skips": {"count": 0, "by_reason": {}, "list": []}}
    kept["command"] = "# The command is withheld with the answers."
    public = _write(work, folder / "public", {**kept, **nothing, "withheld": about})
    moved = {work.renamed(target): work.renamed(name) for name, target in work.places.items()}
    about |= {"from": info["fingerprint"], "public": public, "moved": moved}
    _write(work, folder / "private", {**info, **nothing, "withheld": about})


def _write(work: Withholding, folder: Path, info: dict[str, Any]) -> str:
    private = "public" in info["withheld"]
    plan = work.secret("plan", private)
    counts: dict[str, dict[str, int]] = {}
    fingerprint = Fingerprint()
    folder.mkdir(parents=True)
    with writing_units(folder, canary_of(plan)) as add:
        for name in work.public:
            config = work.tables[name]
            for split in work.output.splits(name):
                with tempfile.TemporaryDirectory(prefix=".videos-", dir=folder) as staging:
                    rows = work.rows(config, split, private=private, staging=Path(staging))
                    hasher = UnitHasher("all")
                    if count := _write_shards(folder, config, split, rows, canary_of(plan), hasher):
                        counts.setdefault(name, {})[split] = count
                for unit in hasher.done():
                    fingerprint.add(unit)
                    add(unit)
    hashes = {"plan_sha256": plan, "canary": canary_of(plan), "fingerprints": fingerprint.parts()}
    info = {**info, "counts": counts, **hashes, "fingerprint": fingerprint.hexdigest()}
    write_card(FinishedOutput(folder, info), list(work.tables.values()), withheld_card(info))
    write_json(folder / "build.json", info)
    return fingerprint.hexdigest()


def _write_shards(
    folder: Path, config: Config, split: str, rows: Iterable[Row], canary: str, hasher: UnitHasher
) -> int:
    count = parts = 0
    writer: ShardWriter | None = None
    for row in rows:
        line = plain_json(config, row)
        hasher.add(f"{config.name}/{split}", line)
        size = len(line) + sum(len((row[name] or {}).get("bytes") or b"") for name in config.videos)
        if writer and is_full(writer.bytes, size):
            writer.close()
            writer, parts = None, parts + 1
        writer = writer or ShardWriter(folder / part_path(config.name, split, parts), config, canary)
        writer.add(row, size)
        count += 1
    if writer:
        writer.close()
        for index in range(parts + 1):
            path = folder / part_path(config.name, split, index)
            path.rename(folder / shard_path(config.name, split, index, parts + 1))
    return count


def withheld_card(info: Mapping[str, Any]) -> Card:
    """Return the card of a public or private copy, which has no statistics."""
    return Card(as_text(withheld_statement(info)))


def check_withheld(
    output: FinishedOutput, configs: Iterable[Config], public: Mapping[str, Public]
) -> Iterator[Finding]:
    """Check that a public copy shows only the declared columns of its withheld split."""
    split = output.withheld.get("split")
    yield Note(withheld_statement(output.info))
    for config in configs if "public" not in output.withheld else ():
        shown = public[config.name].shown
        hidden = [column.name for column in config.columns if column.name not in shown]
        for row in output.rows(config.name, hidden, split) if hidden and split in output.splits(config.name) else ():
            for name in hidden:
                if row[name] is not None:
                    yield f"{config.name}/{split}: {name} is not null, though it is withheld"


def withholding(
    output: FinishedOutput, tables: Iterable[Config], public: Mapping[str, Public], split: str, contact: str
) -> Withholding:
    """Prepare to withhold the answers of a split.

    Raises:
        UsageError: The output is already such a copy, or the split does not exist.
    """
    if output.withheld:
        raise UsageError(f"{output.path} is already a public or private copy. Use the original output.")
    table = next(iter(public))
    splits = output.splits(table)
    if split not in splits:
        raise UsageError(f"{output.path} has no split {split!r} in {table}. Available splits: {', '.join(splits)}.")
    kept = {config.name: config for config in tables if config.name in public}
    return Withholding(output, kept, {name: public[name] for name in public if name in kept}, split, contact)
