"""Sample perturbed captions for manual review, and check them against earlier reviews.

    python benchmarks/read_captions.py tense --source msrvtt --count 60 --seed 1
    python benchmarks/read_captions.py tense --source msrvtt --count 60 --seed 2 --sheet docs/reading/SHEET.csv --append
    python benchmarks/read_captions.py tense --sheet docs/reading/SHEET.csv

Annotations are in the folder `data` of STRESSREEL_SHARED. Captions are visited in a random order given by seed and
source until enough are changed; with `--sheet`, captions of the sheet are skipped. `--append` adds the sampled captions
to the sheet as "unread"; verdicts are entered by hand: "ok", "wrong", or "slip of source" for errors of the original. A
sheet contains no texts: `sha256_of_output` shows whether today's output is the one that was reviewed. Without
`--source`, a sheet is checked: the share of wrong outputs among unchanged ones, and how many are different or refused
now, with reasons.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from stressreel.core.seeds import rng_for
from stressreel.corruptions.registry import check_text_name
from stressreel.corruptions.text.engine import TextRecipe
from stressreel.corruptions.text.result import TextResult
from stressreel.corruptions.text.tools import Tools
from stressreel.language.words import StyleOption

COLUMNS = ("source", "id", "seed", "perturbation", "sha256_of_output", "verdict", "why")
VERDICTS = ("ok", "wrong", "slip of source", "unread")
DATA = Path(os.environ.get("STRESSREEL_SHARED", "../shared")) / "data"
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def _rows(path: str) -> Iterator[dict[str, str]]:
    with (DATA / path).open(newline="", encoding="utf-8-sig") as file:
        yield from csv.DictReader(file)


def msrvtt() -> Iterator[tuple[str, str]]:
    yield from ((row["key"], row["sentence"]) for row in _rows("msrvtt/MSRVTT_JSFUSION_test.csv"))


def youcook2() -> Iterator[tuple[str, str]]:
    content = json.loads((DATA / "youcook2/youcookii_annotations_trainval.json").read_text(encoding="utf-8"))
    for video, entry in content["database"].items():
        yield from ((f"{video}#{part['id']}", part["sentence"]) for part in entry["annotations"])


def charades() -> Iterator[tuple[str, str]]:
    """Yield the sentences of Charades' scripts and descriptions, keyed by video#text#sentence. Text 0 is the script."""
    for split in ("train", "test"):
        for row in _rows(f"charades/Charades_v1_{split}.csv"):
            for number, text in enumerate([row["script"], *row["descriptions"].split(";")]):
                sentences = (part.strip() for part in _SENTENCE.split(text))
                yield from ((f"{row['id']}#{number}#{n}", part) for n, part in enumerate(sentences) if part)


def charades_sta() -> Iterator[tuple[str, str]]:
    for split in ("train", "test"):
        lines = (DATA / f"charades_sta/charades_sta_{split}.txt").read_text(encoding="utf-8").splitlines()
        yield from ((f"{split}#{n}", line.partition("##")[2]) for n, line in enumerate(lines, 1) if "##" in line)


def causalchaos() -> Iterator[tuple[str, str]]:
    yield from ((row["QID"], row["Answer"]) for row in _rows("causalchaos/Annotations.csv"))


SOURCES: dict[str, tuple[Callable[[], Iterator[tuple[str, str]]], StyleOption]] = {
    "msrvtt": (msrvtt, "declarative"),
    "youcook2": (youcook2, "imperative"),
    "charades": (charades, "declarative"),
    "charades_sta": (charades_sta, "declarative"),
    "causalchaos": (causalchaos, "declarative"),
}


def perturb(name: str, source: str, key: str, text: str, seed: int, tools: Tools) -> TextResult:
    return TextRecipe(check_text_name(name), seed, key, SOURCES[source][1]).apply(text, tools)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_sheet(path: Path | None) -> list[dict[str, str]]:
    if path is None or not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows, 2):
        if set(row) != set(COLUMNS) or row["verdict"] not in VERDICTS or row["source"] not in SOURCES:
            raise SystemExit(
                f"{path}, line {number}: expected the columns {COLUMNS}, a verdict from {VERDICTS} and a source from "
                f"{[*SOURCES]}"
            )
    return rows


def draw(
    name: str, source: str, count: int, seed: int, done: set[tuple[str, str]], tools: Tools
) -> list[dict[str, str]]:
    """Print changed captions next to their originals, and why others are unchanged. Return rows for a sheet."""
    texts = sorted(dict(SOURCES[source][0]()).items())
    drawn: list[dict[str, str]] = []
    refused: Counter[str] = Counter()
    seen: set[str] = set()
    for place in rng_for(seed, "read captions", source).permutation(len(texts)):
        key, text = texts[place]
        if len(drawn) == count or not text.strip() or text in seen or (source, key) in done:
            continue
        seen.add(text)
        found = perturb(name, source, key, text, seed, tools)
        if not found.changed:
            refused[found.reason] += 1
            continue
        row = (source, key, str(seed), name, digest(found.text), "unread", "")
        drawn.append(dict(zip(COLUMNS, row, strict=True)))
        print(f"{len(drawn):4} {key}\n     {text}\n     {found.text}")
    _print_reasons(refused, len(drawn) + refused.total())
    return drawn


def check(rows: list[dict[str, str]], tools: Tools) -> None:
    """For each perturbation, print how many verdicts still apply."""
    texts: dict[str, Mapping[str, str]] = {s: dict(SOURCES[s][0]()) for s in {row["source"] for row in rows}}
    for name in sorted({row["perturbation"] for row in rows}):
        verdicts: Counter[str] = Counter()
        refused: Counter[str] = Counter()
        mine = [row for row in rows if row["perturbation"] == name]
        for row in mine:
            found = perturb(name, row["source"], row["id"], texts[row["source"]][row["id"]], int(row["seed"]), tools)
            if not found.changed:
                refused[found.reason] += 1
            same = found.changed and digest(found.text) == row["sha256_of_output"]
            verdicts[row["verdict"] if same else "other words now" if found.changed else "refused now"] += 1
        read = sum(verdicts[verdict] for verdict in VERDICTS[:3])
        rate = f"{verdicts['wrong']} of {read} wrong ({verdicts['wrong'] / read:.1%})" if read else "none read"
        print(f"{name}: {rate}; " + ", ".join(f"{kind} {number}" for kind, number in sorted(verdicts.items())))
        _print_reasons(refused, len(mine))


def _print_reasons(refused: Counter[str], total: int) -> None:
    if refused:
        print(f"refused {refused.total()} of {total} ({refused.total() / total:.1%}):")
    for reason, number in refused.most_common():
        print(f"  {number / total:6.1%}  {reason}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "perturbation",
        nargs="?",
        help="perturbation to read; optional with --sheet, which then includes all perturbations of the sheet",
    )
    parser.add_argument("--source", choices=SOURCES)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--append", action="store_true")
    given = parser.parse_args()
    tools = Tools()
    rows = [row for row in read_sheet(given.sheet) if given.perturbation in (None, row["perturbation"])]
    if given.source is None:
        if not rows:
            parser.error("give --source, or a --sheet with rows of this perturbation")
        check(rows, tools)
        return
    if given.perturbation is None:
        parser.error("name the perturbation")
    done = {(row["source"], row["id"]) for row in rows}
    drawn = draw(given.perturbation, given.source, given.count, given.seed, done, tools)
    if given.append:
        if given.sheet is None:
            parser.error("--append needs --sheet")
        new = not given.sheet.exists()
        with given.sheet.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerows(drawn)


if __name__ == "__main__":
    main()
