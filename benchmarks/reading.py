"""Sample rewritten texts to be read by hand, record what readers say, and print error rates.

    python benchmarks/reading.py draw tense --texts CAPTIONS.txt --count 60 --seed 1 --sheet SHEET.csv > to_read.txt
    python benchmarks/reading.py mark --sheet SHEET.csv --verdicts MARKED.txt --reader 1
    python benchmarks/reading.py rates --sheet SHEET.csv
    python benchmarks/reading.py check --sheet SHEET.csv --texts CAPTIONS.txt

A kind is a text perturbation, "phrase" (what own segments become), "question" (asked about it), or "negation" or
"swap" (confused answers). `--texts` is a file with one text a line, or a table whose column `--column` holds them.
Texts are visited in an order given by the seed until enough are changed. `draw` adds them to the sheet and prints them,
numbered by their lines in the sheet. `mark` reads lines with such a number, "ok" or "wrong", and an optional reason. A
sheet contains hashes and no texts, so `check` needs the texts to tell which outputs are still the ones that were read
(of questions, which are made of two texts each, it does not).
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from math import sqrt
from pathlib import Path
from typing import cast

from stressreel.core.numerics import rng_for
from stressreel.corruptions.registry import check_text_name
from stressreel.corruptions.text.engine import TextRecipe
from stressreel.corruptions.text.tools import Tools
from stressreel.language.events import Event, free_phrase
from stressreel.language.people import Cast, derive_cast
from stressreel.language.phrases import Gerund, instruction
from stressreel.language.words import StyleOption
from stressreel.negatives.confusion import Confuser, Confusion

COLUMNS = ("source", "kind", "style", "seed", "text", "output", "reader_1", "reader_2", "why")
PAIR = " + "  # between the two texts of a question
Z = 1.959964  # of a 95% interval


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def texts_of(path: Path, column: str) -> list[str]:
    """Read the distinct texts of a file, sorted. In lines of Charades-STA, the text follows "##"."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines: Iterator[str] = (row[column] for row in csv.DictReader(file)) if path.suffix == ".csv" else file
        texts = {" ".join(line.rpartition("##")[2].split()) for line in lines}
    return sorted(texts - {""})


@cache
def cast_of(path: Path) -> Cast:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return derive_cast(
            " ".join(row[name].split()) for row in csv.DictReader(file) for name in ("Question", "Answer")
        )


def phrased(text: str, style: StyleOption) -> Gerund | Event | str:
    return instruction(text) if style == "imperative" else free_phrase(text)


def question_about(first: Gerund | Event | str, second: Gerund | Event | str) -> tuple[str, str]:
    """Return a question about two texts in CLAVI's words, or "" and the reason why there is none."""
    for phrase in (first, second):
        if isinstance(phrase, str):
            return "", phrase
    if isinstance(first, Event) and isinstance(second, Event):
        return f"{first.question} before {second.phrase}?", ""
    if isinstance(first, Gerund) and isinstance(second, Gerund):
        return f"Did {first.phrase} happen before {second.phrase}?", ""
    return "", "a gerund phrase and a statement"


def rewritten(kind: str, style: StyleOption, seed: int, path: Path, text: str) -> tuple[str, str]:
    """Return what a text becomes, or "" and the reason why it does not change."""
    if kind == "phrase":
        phrase = phrased(text, style)
        return ("", phrase) if isinstance(phrase, str) else (phrase.phrase, "")
    if kind == "question":
        return question_about(*(phrased(part, style) for part in text.split(PAIR)))
    if kind in ("negation", "swap"):
        confused = getattr(Confuser(cast_of(path)), kind)(text)
        return (confused.text, "") if isinstance(confused, Confusion) else ("", confused.reason)
    result = TextRecipe(check_text_name(kind), seed, digest(text), style).apply(text, Tools())
    return (result.text, "") if result.changed else ("", result.reason)


def draw(given: argparse.Namespace, rewrite: Callable[[str], tuple[str, str]]) -> None:
    texts = texts_of(given.texts, given.column)
    rows, refused = read_sheet(given.sheet), Counter[str]()
    first = len(rows)
    done = {row["text"] for row in rows if row["kind"] == given.kind}
    order = [
        texts[place] for place in rng_for(given.seed, "reading", given.texts.name, given.kind).permutation(len(texts))
    ]
    if given.kind == "question":
        order = [one + PAIR + other for one, other in zip(order[::2], order[1::2], strict=False)]
    for text in order:
        if len(rows) - first == given.count:
            break
        if digest(text) in done:
            continue
        output, reason = rewrite(text)
        if not output:
            refused[reason] += 1
            continue
        values = (given.texts.stem, given.kind, given.style, str(given.seed), digest(text), digest(output), "", "", "")
        rows.append(dict(zip(COLUMNS, values, strict=True)))
        print(f"{len(rows)}\n  {text}\n  {output}")
    made = len(rows) - first
    print(f"# {made} of {made + refused.total()} changed; {dict(refused.most_common(12))}")
    write_sheet(given.sheet, rows)


def mark(sheet: Path, verdicts: Path, reader: str) -> None:
    rows = read_sheet(sheet)
    for line in verdicts.read_text(encoding="utf-8").splitlines():
        number, verdict, *why = line.split(maxsplit=2) if line[:1].isdigit() else ("", "")
        if not number:
            continue
        if verdict not in ("ok", "wrong") or not 0 < int(number) <= len(rows):
            raise SystemExit(f"{verdicts}: expected the number of a line and ok or wrong, got {line!r}")
        row = rows[int(number) - 1]
        row[f"reader_{reader}"] = verdict
        row["why"] = "; ".join(filter(None, (row["why"], *why)))
    write_sheet(sheet, rows)


def rates(rows: Sequence[dict[str, str]]) -> None:
    """Print the share that the strictest reader calls wrong, of each kind in each source and in all of them."""
    groups: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        for source in (row["source"], "all"):
            groups[row["kind"], source].append(row)
    for (kind, source), mine in sorted(groups.items()):
        counts = [
            (sum(row[reader] == "wrong" for row in mine), sum(row[reader] != "" for row in mine))
            for reader in ("reader_1", "reader_2")
        ]
        wrong, read = max((pair for pair in counts if pair[1]), key=lambda pair: pair[0] / pair[1], default=(0, 0))
        if read:
            low, high = interval(wrong, read)
            print(f"{kind}, {source}: {wrong} of {read} wrong: {wrong / read:.1%} ({low:.1%} to {high:.1%})")


def interval(wrong: int, read: int) -> tuple[float, float]:
    """Return the 95% interval of a share (Wilson 1927)."""
    share, scale = wrong / read, 1 + Z * Z / read
    middle, half = share + Z * Z / (2 * read), Z * sqrt(share * (1 - share) / read + Z * Z / (4 * read * read))
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def check(rows: Sequence[dict[str, str]], path: Path, column: str) -> None:
    """Print how many outputs of a source are still the ones that were read."""
    texts = {digest(text): text for text in texts_of(path, column)}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row["source"] == path.stem and row["text"] in texts:
            style = cast(StyleOption, row["style"])
            output, _ = rewritten(row["kind"], style, int(row["seed"]), path, texts[row["text"]])
            same = digest(output) == row["output"]
            counts[row["kind"]]["as read" if same else "other words" if output else "unchanged now"] += 1
    for kind, found in sorted(counts.items()):
        print(f"{kind}: {dict(found)}")


def read_sheet(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_sheet(path: Path, rows: Sequence[dict[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("draw", "mark", "rates", "check"):
        command = commands.add_parser(name)
        command.add_argument("--sheet", type=Path, required=True)
        if name in ("draw", "check"):
            command.add_argument("--texts", type=Path, required=True, help="file with a text a line, or a CSV table")
            command.add_argument("--column", default="sentence", help="column of a CSV table")
        if name == "draw":
            command.add_argument("kind", help="text perturbation, phrase, question, negation or swap")
            command.add_argument("--style", choices=("declarative", "imperative", "auto"), default="declarative")
            command.add_argument("--seed", type=int, default=1)
            command.add_argument("--count", type=int, default=60)
        if name == "mark":
            command.add_argument("--verdicts", type=Path, required=True)
            command.add_argument("--reader", choices=("1", "2"), required=True)
    given = parser.parse_args()
    if given.command == "draw":
        draw(given, partial(rewritten, given.kind, given.style, given.seed, given.texts))
    elif given.command == "mark":
        mark(given.sheet, given.verdicts, given.reader)
    elif given.command == "rates":
        rates(read_sheet(given.sheet))
    else:
        check(read_sheet(given.sheet), given.texts, given.column)


if __name__ == "__main__":
    main()
