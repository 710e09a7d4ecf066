r"""Measure how well rule-based causal confusion agrees with the released options.

    python benchmarks/confusion.py --annotations Annotations.csv --before Splits/UD/A_test.csv \
        --released CausalConfusion_A_test_first_371.csv [--mismatches]

`--released` contains rows of the released causal-confusion test and `--before` the same rows before confusion. Options
that differ are confusions: negations if the number of negative words differs, otherwise swaps. Capitals,
apostrophes and final periods are ignored. Speed is in texts per second for both kinds, on one core, with parsing.
"""

from __future__ import annotations

import argparse
import csv
import re
import time
from pathlib import Path

from stressreel.language.parse import load_parser
from stressreel.language.people import derive_cast
from stressreel.negatives.confusion import Confuser, Confusion

NEGATIVE = re.compile(r"\b(?:not|cannot|never|no|didnt|wasnt|without)\b")


def folded(text: str) -> str:
    return " ".join(re.sub("['’]", "", text.lower()).split()).rstrip(". ")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("annotations", "before", "released"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--mismatches", action="store_true", help="print the mismatches")
    arguments = parser.parse_args()
    texts = [row[name] for row in rows(arguments.annotations) for name in ("Question", "Answer", "Explanation")]
    confuser = Confuser(derive_cast(texts))
    print(f"parser {load_parser().name}; cast of {len(confuser.cast.names)} names")
    before = {row["qid"]: row for row in rows(arguments.before)}
    released = []
    for row in rows(arguments.released):
        right = row[f"a{row['answer']}"]
        for name in (f"a{place}" for place in range(5)):
            if row[name] != before[row["qid"]][name]:
                counts = {len(NEGATIVE.findall(folded(text))) for text in (row[name], right)}
                released.append((row["qid"], right, row[name], "negation" if len(counts) > 1 else "swap"))
    for kind in ("negation", "swap"):
        mine = [(q, right, made) for q, right, made, way in released if way == kind]
        found = [getattr(confuser, kind)(right) for _, right, _ in mine]
        texts_made = [result.text if isinstance(result, Confusion) else f"({result.reason})" for result in found]
        same = [folded(ours) == folded(theirs) for ours, (_, _, theirs) in zip(texts_made, mine, strict=True)]
        print(f"{kind}: {sum(same)} of {len(mine)} as released, {sum(same) / len(mine):.1%}")
        if arguments.mismatches:
            for (q, right, theirs), ours, equal in zip(mine, texts_made, same, strict=True):
                if not equal:
                    print(f"  {q}: {right}\n    released: {theirs}\n    ours:     {ours}")
    answers = [row["Answer"] for row in rows(arguments.annotations)][:2000]
    began = time.process_time()
    for text in answers:
        confuser.negation(text)
        confuser.swap(text)
    print(f"{len(answers) / (time.process_time() - began):.0f} answers per second")


if __name__ == "__main__":
    main()
