"""CPU of every text perturbation on one core: captions per second, and the total of all that need no model.

    python benchmarks/text.py                                        # on the built-in sample's captions
    python benchmarks/text.py --captions MSRVTT_JSFUSION_test.csv    # a table with a column of captions, or lines
    python benchmarks/text.py --captions youcook2.txt --style imperative --tagger pattern

Tagging is timed apart, since its result is shared by all perturbations of a caption. Models and data are loaded before
the clock starts; those with a model only run where it is given (--mlm, --translate). What cannot run here is named. The
built-in captions are ten lines over and over, so that caches help them: figures to quote need real captions.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Callable
from pathlib import Path

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

from stressreel.core.errors import InputError
from stressreel.corruptions.registry import TextCorruption, list_corruptions
from stressreel.corruptions.text.engine import STYLES, TextRecipe
from stressreel.corruptions.text.tools import Tools

MODELS = {"mlm", "translation"}
TARGET = 30.0  # seconds for 1,000 captions and all perturbations that need no model
COLUMNS = ("sentence", "caption", "text")
SAMPLE = """a little girl does gymnastics
a man is riding a horse on the beach
two women talk about the news in a studio
a person is cutting an onion on a wooden board and puts it into a pan
man playing a guitar
a chef shows how to make a delicious soup for his family
the boy doesn't want to eat his vegetables
a cartoon of a dog and a cat running around a house
people are dancing on a stage while others watch them
close up of a red car that is driving through the mountains"""


def captions(path: Path | None) -> list[str]:
    """Read captions: a column of a CSV file, or lines; by default a few of our own, over and over."""
    if path is None:
        lines = SAMPLE.splitlines()
        return [lines[n % len(lines)] for n in range(1000)]
    with path.open(newline="", encoding="utf-8") as file:
        if path.suffix != ".csv":
            return [line.strip() for line in file if line.strip()]
        reader = csv.DictReader(file)
        column = next((name for name in COLUMNS if name in (reader.fieldnames or ())), None)
        if column is None:
            raise SystemExit(f"{path} has no column {', '.join(COLUMNS)}; it has {', '.join(reader.fieldnames or ())}")
        return [row[column] for row in reader]


def seconds(work: Callable[[str, str], bool], texts: list[str]) -> tuple[float, int]:
    """CPU seconds of one pass over the captions, and how many it changes; a first one, on ten of them, loads."""
    for number, text in enumerate(texts[:10]):
        work(text, f"warm{number}")
    started = time.process_time()
    changed = sum(work(text, str(number)) for number, text in enumerate(texts))
    return time.process_time() - started, changed


def usable(corruption: TextCorruption, tools: Tools) -> str:
    """Return why a perturbation cannot run here; "" if it can. Nothing is fetched."""
    for need, flag, given in (("mlm", "--mlm", tools.mlm), ("translation", "--translate", tools.translate)):
        if need in corruption.needs and not given:
            return f"give {flag}"
    try:
        corruption.function  # noqa: B018
        tools.check([corruption])
    except (InputError, ImportError, AttributeError) as error:
        return str(error).split("\n")[0]
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captions", type=Path)
    parser.add_argument("--style", choices=STYLES, default="declarative")
    parser.add_argument("--tagger", choices=("auto", "nltk", "pattern"), default="auto")
    parser.add_argument("--mlm")
    parser.add_argument("--translate", nargs=2)
    arguments = parser.parse_args()
    texts = captions(arguments.captions)
    translate = tuple(arguments.translate) if arguments.translate else None
    tools = Tools(tagger_kind=arguments.tagger, mlm=arguments.mlm, translate=translate)

    print(f"{len(texts)} captions, {tools.tagger.name}")
    tagging, _ = seconds(lambda text, _: bool(tools.tagger.analyse(text, arguments.style).tokens), texts)
    print(f"{'tagging':26} {len(texts) / tagging:12,.0f} captions/s")
    total, missing = tagging, {}
    for corruption in list_corruptions("text"):
        reason = usable(corruption, tools)
        if reason:
            missing[corruption.name] = reason
            continue

        def work(text: str, key: str, corruption: TextCorruption = corruption) -> bool:
            return TextRecipe(corruption, 0, key, arguments.style).apply(text, tools).changed

        took, changed = seconds(work, texts)
        total += took * (not MODELS & set(corruption.needs))
        print(f"{corruption.name:26} {len(texts) / took:12,.0f} captions/s  {changed / len(texts):7.1%} changed")
    for name, reason in missing.items():
        print(f"{name:26} left out: {reason}")
    per_thousand = total / len(texts) * 1000
    print(f"{total:.1f} s of CPU in all, tagging too, models not")
    print(f"{per_thousand:.1f} s for 1,000 captions (target {TARGET:g} s)")


if __name__ == "__main__":
    main()
