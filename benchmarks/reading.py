"""Sample confusions and phrases for manual review, and check reviewed sheets against the current program.

    python benchmarks/reading.py confusions --annotations Annotations.csv --seed 1 --count 150
    python benchmarks/reading.py phrases --annotations CHARADES_STA --seed 1 --count 150
    python benchmarks/reading.py confusions --annotations Annotations.csv --check docs/reading/confusions.csv

Each output is sampled by its own key, so that changes elsewhere do not affect the sample. It is printed with its input,
its id and the first 16 digits of its SHA-256. A sheet identifies an output by these and records the reviewer's verdict;
it contains no text. `--check` counts the outputs of a sheet that are unchanged, and their verdicts.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stressreel.core.seeds import rng_for
from stressreel.language.cast import derive_cast
from stressreel.language.phrases import Gerund, gerund
from stressreel.negatives.confuser import Confuser
from stressreel.negatives.confusion import Confusion


@dataclass(frozen=True)
class Made:
    """An input with its output, or with the reason why the rule rejected it.

    Attributes:
        id: Question and column, or file and line.
        way: Kind of confusion, or "phrase".
    """

    id: str
    way: str
    given: str
    output: str
    refused: str = ""

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.output.encode()).hexdigest()[:16]


def confusions(annotations: Path) -> Iterator[Made]:
    """Yield both kinds of confusion for every distinct answer and explanation in CausalChaos."""
    with annotations.open(encoding="utf-8-sig", newline="") as file:
        rows = [{key: " ".join(value.split()) for key, value in row.items()} for row in csv.DictReader(file)]
    cast = derive_cast(row[name] for row in rows for name in ("Question", "Answer", "Explanation"))
    confuser = Confuser(cast)
    seen = set[str]()
    for row in rows:
        for column in ("Answer", "Explanation"):
            text = row[column]
            if text in seen:
                continue
            seen.add(text)
            for found in (confuser.negation(text), confuser.swap(text)):
                name = f"{row['QID']}-{column.lower()}"
                if isinstance(found, Confusion):
                    yield Made(name, found.kind, text, found.text)
                else:
                    yield Made(name, found.kind, text, "", found.reason)


def phrases(folder: Path) -> Iterator[Made]:
    """Yield the gerund phrase of every distinct sentence in Charades-STA."""
    seen = set[str]()
    for split in ("train", "test"):
        lines = (folder / f"charades_sta_{split}.txt").read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            sentence = line.partition("##")[2]
            if sentence in seen:
                continue
            seen.add(sentence)
            found = gerund(sentence)
            if isinstance(found, Gerund) and found.anaphoric:
                yield Made(f"{split}-{number}", "phrase", sentence, "", "pronoun")  # charades_sta.py skips these, too
            elif isinstance(found, Gerund):
                yield Made(f"{split}-{number}", "phrase", sentence, found.phrase)
            else:
                yield Made(f"{split}-{number}", "phrase", sentence, "", found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["confusions", "phrases"])
    parser.add_argument(
        "--annotations", type=Path, required=True, help="path of Annotations.csv or of the Charades-STA folder"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=150, help="number of outputs of each kind")
    parser.add_argument("--check", type=Path, help="sheet to compare with the current outputs")
    arguments = parser.parse_args()
    made = list({"confusions": confusions, "phrases": phrases}[arguments.what](arguments.annotations))
    for way in dict.fromkeys(one.way for one in made):
        of_way = [one for one in made if one.way == way]
        refused = Counter(one.refused for one in of_way if one.refused)
        share = refused.total() / len(of_way)
        print(f"# {way}: {len(of_way)} texts, {refused.total()} refused ({share:.1%}): {dict(refused.most_common())}")
        if not arguments.check:
            good = [one for one in of_way if not one.refused]
            good.sort(key=lambda one: rng_for(arguments.seed, "read", way, one.id).random())
            for one in good[: arguments.count]:
                print(f"{one.id},{one.way},{one.digest}\n  {one.given}\n  {one.output}")
    if arguments.check:
        now = {(one.id, one.way): one for one in made}
        verdicts, changed, refused_now = Counter[str](), Counter[str](), Counter[str]()
        with arguments.check.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                one = now.get((row["id"], row["perturbation"]))
                same = one is not None and one.digest == row["sha256_of_output"]
                kind = verdicts if same else refused_now if one is not None and one.refused else changed
                kind[row["verdict"]] += 1
        print(f"same as read: {dict(verdicts)}; refused now: {dict(refused_now)}; changed: {dict(changed)}")


if __name__ == "__main__":
    main()
