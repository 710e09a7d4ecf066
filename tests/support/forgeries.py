"""Kinds of forgery, each of which a verification with the sources must notice; `forger` recomputes what follows."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import forger
import numpy as np
import pytest
from av.video.frame import PictureType
from forger import Forgery
from stressreel import builders
from stressreel.annotations.samples import cached_sample
from stressreel.api.verify import verify
from stressreel.core.errors import StressreelError, UsageError
from stressreel.video.encode import EncodeSettings, Sound
from stressreel.video.thumbnails import frames_of
from tampering import encoded, sound_of

Change = Callable[[Forgery, Random], object]
"""Changes a forgery where a generator chooses."""


class NothingThereError(Exception):
    """There is nothing that could be changed in this way."""


def pick(rng: Random, found: Iterable[Any]) -> Any:
    found = list(found)
    if not found:
        raise NothingThereError
    return rng.choice(found)


# Benchmarks

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_benchmark"
LOST = "SR1G7"  # a video that the sources of CLAVI lack, so that something is skipped
BENCHMARKS = {
    "clavi": "build-clavi --charades {} --limit 3 --allow-missing --audio keep --preset ultrafast",
    "perturbed": (
        "build-perturbed --msrvtt {} --modality all --perturbations jpeg,jumble --severity 1,3 --limit 2 "
        "--text-perturbations typos,no_verbs --pairs jpeg:no_verbs --preset ultrafast"
    ),
    "causal": (
        "build-causal --annotations {} --splits UD --limit 12 --pool all --num-options 3 --no-keep-apart "
        "--balance none --confuse 1 --audio keep --preset ultrafast"
    ),
    "decomp": "build-decomp --charades {} --limit 2",
    "backwards": "stressreel build backwards --captions {} --limit 2",
}
"""What builds small outputs, of given sources."""


def command_of(benchmark: str, sources: Path | str) -> list[str]:
    return [word.format(sources) for word in BENCHMARKS[benchmark].split()]


def sources_of(benchmark: str, folder: Path) -> Path | str:
    """Return what an output is built from: the sample, of CLAVI without one video, so that something is skipped."""
    if benchmark != "clavi":
        return "sample"
    if not folder.exists():
        shutil.copytree(cached_sample("charades"), folder, ignore=shutil.ignore_patterns(f"{LOST}.mp4"))
    return folder


def know_the_example(patch: pytest.MonkeyPatch) -> None:
    """Let this process find the example's benchmark as if its package were installed."""
    patch.syspath_prepend(str(EXAMPLE))
    patch.setattr(builders, "_installed", lambda: {"backwards": "backwards:Backwards"})


def noticed(out: Path, sources: Path | str | None) -> list[str]:
    """Name what a verification objects to, or could not verify."""
    try:
        report = verify(out, sources=sources, sample="all", workers=1)
    except StressreelError as error:
        return [f"refused: {error}"]
    return [each.name for each in report.outcomes if not each.passed]


# Values of tables


def letter_changed(text: str, rng: Random) -> str:
    place = pick(rng, [place for place, character in enumerate(text) if character.isalnum()])
    instead = str((int(text[place]) + 1) % 10) if text[place] in "0123456789" else "ab"[text[place] == "a"]
    return text[:place] + instead + text[place + 1 :]


def like(value: Any, rng: Random) -> Any:
    """Return a value of the same kind that differs from it a little."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + rng.choice((1, -1)) * (1 if isinstance(value, int) else 1e-6)
    if isinstance(value, str):
        return letter_changed(value, rng)
    if isinstance(value, list):
        return value[:-1] if value else ["x"]
    raise NothingThereError


def in_column(new: Callable[[Any, Random, list[Any]], Any]) -> Change:
    """Make a kind of what gives a row another value: from its own, and those of all rows."""

    def change(forged: Forgery, rng: Random) -> None:
        columns = [(table, name) for table, config in forged.configs().items() for name in config.plain]
        table, name = pick(rng, (each for each in columns if each[1] != "sha256"))
        row, pool = rng.choice(forged.rows(table)), [row[name] for row in forged.rows(table)]
        names = forged.column(table, name).names
        row[name] = pick(rng, set(range(len(names))) - {row[name]}) if names else new(row[name], rng, pool)

    return change


def in_split(edit: Callable[[list[Any], int], list[Any]]) -> Change:
    """Make a kind of what changes the rows of a split, given one of their numbers."""

    def change(forged: Forgery, rng: Random) -> None:
        table = rng.choice(list(forged.tables))
        split = rng.choice(list(forged.tables[table]))
        rows = forged.tables[table][split]
        forged.tables[table][split] = edit(rows, rng.randrange(len(rows) - 1))

    return change


def added(forged: Forgery, rng: Random) -> None:
    table = rng.choice(list(forged.tables))
    rows, config = next(iter(forged.tables[table].values())), forged.configs()[table]
    new = dict(rng.choice(rows))
    for column in config.columns[: config.key_columns]:
        new[column.name] = like(new[column.name], rng)
    rows.append(new)


def moved(forged: Forgery, rng: Random) -> None:
    table, order = rng.choice(list(forged.tables)), [unit for unit, _ in forged.units]
    split = rng.choice(list(forged.tables[table]))
    other = rng.choice([name for name in ("train", "validation", "test") if name != split])
    there = forged.tables[table].setdefault(other, [])
    there.append(forged.tables[table][split].pop())
    there.sort(key=lambda row: order.index(row.unit))


# Pictures and sound


def recoded(content: bytes, forged: Forgery, *, backwards: bool = False, late: float = 0) -> bytes:
    """Encode a video again, backwards or with later sound (in seconds)."""
    frames, sound, settings = list(frames_of(content)), sound_of(content), forged.info["settings"]
    if late and sound is None:
        raise NothingThereError
    if late and sound:
        sound = Sound(np.roll(sound.samples, round(late * sound.rate), axis=1), sound.rate)
    base, ends = frames[0].time_base, [*(frame.pts for frame in frames[1:]), frames[-1].pts + frames[-1].duration]
    lengths = [end - frame.pts for frame, end in zip(frames, ends, strict=True)]
    for frame in frames:
        frame.pict_type = PictureType.NONE
    encode = EncodeSettings(settings.get("crf", 23), settings.get("preset", "ultrafast"))
    shown, rate = frames[::-1] if backwards else frames, len(frames) / Fraction(sum(lengths) * base)
    return encoded(zip(shown, lengths, strict=True), rate, time_base=base, settings=encode, sound=sound)


def with_video(make: Callable[[bytes, Forgery], bytes]) -> Change:
    """Make a kind of what turns a video into other bytes."""

    def change(forged: Forgery, rng: Random) -> None:
        places = [(row, name) for table, config in forged.configs().items() for name in config.videos
                  for row in forged.rows(table)]  # fmt: skip
        row, name = pick(rng, places)
        row[name] = {**row[name], "bytes": make(row[name]["bytes"], forged)}

    return change


def another_clip(forged: Forgery, rng: Random) -> None:
    table, name = pick(rng, ((table, name) for table, each in forged.configs().items() for name in each.videos))
    one, other = rng.sample(forged.rows(table), 2)
    if one[name]["bytes"] == other[name]["bytes"]:
        raise NothingThereError
    one[name] = {**one[name], "bytes": other[name]["bytes"]}


# Records

OPTION = re.compile(r" --([a-z-]+) ([^- ]\S*)")


def setting_changed(forged: Forgery, rng: Random) -> None:
    settings = forged.info["settings"]
    tables = ("confuse", "render")  # a table is missing without them, which needs no rebuilding to notice
    names = (name for name, old in settings.items() if isinstance(old, str | int | float) and name not in tables)
    name = pick(rng, names)
    settings[name] = like(settings[name], rng)


def option_retold(forged: Forgery, rng: Random) -> None:
    """Change the value of an option in the command and wherever it is recorded."""
    name, value = pick(rng, OPTION.findall(forged.info["command"]))
    option = name.replace("-", "_")
    recorded = [(forged.info["settings"], option), (forged.info, {"version": "dataset_version"}.get(option, option))]
    holders = [(holder, key) for holder, key in recorded if str(holder.get(key)) == value]
    holder, key = pick(rng, holders)
    new = like(holder[key], rng)
    for holder, key in holders:
        holder[key] = new
    forged.info["command"] = forged.info["command"].replace(f" --{name} {value}", f" --{name} {new}")


def skip_invented(forged: Forgery, rng: Random) -> None:
    """Lose the rows of a unit, for a reason that may well be."""
    sources = {row.unit: row.get("source_id") for row in forged.rows()}
    unit: str = rng.choice(sorted({unit for unit, _ in forged.units if not unit.startswith(".")}))
    for found in forged.tables.values():
        for split, rows in found.items():
            found[split] = [row for row in rows if row.unit != unit]
    skips, lost = forged.info["skips"], {"unit_id": unit, "source_id": sources[unit] or unit, "reason": "missing_video"}
    skips["list"].append({**lost, "detail": "there is no such file."})
    skips["count"] += 1
    skips["by_reason"]["missing_video"] = skips["by_reason"].get("missing_video", 0) + 1


def unit_renamed(forged: Forgery, rng: Random) -> None:
    old = rng.choice(forged.units)[0]
    new = letter_changed(old, rng)
    forged.units = [(new if unit == old else unit, table) for unit, table in forged.units]
    for row in forged.rows():
        row.unit = new if row.unit == old else row.unit


def card_edited(forged: Forgery, rng: Random) -> None:
    def edit(copy: Path) -> None:
        path = copy / "README.md"
        text = path.read_text()
        found = pick(rng, re.finditer(r"(?<= )[a-z]{4,}(?= )", text.partition("<!-- notes")[0]))
        path.write_text(text[: found.start()] + letter_changed(found[0], rng) + text[found.end() :])

    forged.finally_.append(edit)


KINDS: dict[str, Change] = {
    "value of another row": in_column(lambda old, rng, pool: pick(rng, (value for value in pool if value != old))),
    "value of its kind": in_column(lambda old, rng, pool: like(old, rng)),
    "rows exchanged": in_split(lambda rows, n: [*rows[:n], *rows[n : n + 2][::-1], *rows[n + 2 :]]),
    "row lost": in_split(lambda rows, n: rows[:n] + rows[n + 1 :]),
    "row twice": in_split(lambda rows, n: [*rows[: n + 1], dict(rows[n]), *rows[n + 1 :]]),
    "row added": added,
    "row in another split": moved,
    "another clip": another_clip,
    "frames reversed": with_video(lambda content, forged: recoded(content, forged, backwards=True)),
    "encoded again": with_video(recoded),
    "sound 20 ms late": with_video(lambda content, forged: recoded(content, forged, late=0.02)),
    "setting changed": setting_changed,
    "option retold": option_retold,
    "skip invented": skip_invented,
    "unit renamed": unit_renamed,
    "card edited": card_edited,
}


def make(out: Path, copy: Path, kind: str) -> bool:
    """Make a forgery of a kind, in the first place of ten drawn where it can be tried; false if there is none."""
    for seed in range(10):
        forged = forger.load(out)
        try:
            KINDS[kind](forged, Random(f"{seed} {kind}"))
            forger.write(forged, copy)
            forger.structural(copy)
        except (NothingThereError, ValueError, UsageError):  # nothing reads an output whose settings are not allowed
            shutil.rmtree(copy, ignore_errors=True)
            continue
        if files_of(out) != files_of(copy):
            return True
        shutil.rmtree(copy)
    return False


def files_of(out: Path) -> dict[str, bytes]:
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
