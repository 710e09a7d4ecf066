"""Measure how fast compositional questions are decomposed and how much memory it takes, by number of rows.

    python benchmarks/decomp.py                     # 10,000 and 100,000 rows
    python benchmarks/decomp.py 10000 1000000       # other numbers, in ascending order
    python benchmarks/decomp.py --kinds 20000       # composition of the graphs, compared to the authors' figures

The rows are synthetic, in AGQA 2.0's layout, with the template frequencies of its test questions and 236 rows per
video. The script measures parsing, decomposition with answers and rows, and the whole command in a separate process,
which also reads, hashes and packs. Peak memory is that of the command; times are CPU times.
"""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from measuring import command
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.decomposition import decompose_with_edges
from stressreel.builders.decomp.parsing import parse_program, program_of
from stressreel.builders.decomp.questions import (
    INTERACTING,
    VIDEO,
    Action,
    Object,
    Question,
    Window,
    template_of,
)
from stressreel.builders.decomp.video_graphs import Root, graphs_of
from stressreel.core.numerics import rng_for
from stressreel.templates.agqa import PERSON, load_agqa

# Number of rows of each template among AGQA 2.0's test questions.
SHARES = {
    **{"objExists": 21526, "objRelExists": 20294, "relExists": 21390, "andObjRelExists": 17086},
    **{"xorObjRelExists": 17066, "objWhatGeneral": 2879, "objWhat": 281105, "objWhatChoose": 83862},
    **{"actWhatBefore": 135, "actWhatAfterAll": 262, "objFirst": 30794, "objLast": 20892, "objFirstChoose": 2990},
    **{"objLastChoose": 4143, "objFirstVerify": 22480, "objLastVerify": 20796, "actFirst": 558, "actLast": 132},
    **{"actLengthLongerChoose": 3258, "actLengthShorterChoose": 3258, "actLengthLongerVerify": 3258},
    **{"actLengthShorterVerify": 3176, "actLongest": 289, "actShortest": 16, "actTime": 21708, "relTime": 21018},
    **{"objTime": 44836},
}
# Further shares: questions about a part of the video, and of these about parts between two actions; objects given by
# reference, in questions with and without such a part, and of these the first or last ones; actions that are the
# longest or shortest, or whose object is given by reference.
LOCALIZED, BETWEEN = 0.80, 0.24
LOCALIZED_EDGES = {"": 0.91, "Verify": 0.75, "Choose": 0.75}  # of the edges with a localized first or last object
INDIRECT, INDIRECT_ALONE, EDGE = 0.32, 0.14, 0.75
EXTREME, REPLACED = 0.005, 0.085
PER_VIDEO = 236


class Maker:
    """Generates questions about a video from a few objects, relations and actions."""

    def __init__(self, number: int) -> None:
        words = load_agqa()
        self.rng = rng_for(0, "benchmark", str(number))
        self.objects = self._some(sorted({*words.objects} - {PERSON}), 9)
        relations = [name for name, r in words.relations.items() if r.family != "attention" and name != INTERACTING]
        self.relations = self._some(relations, 8)
        self.actions = self._some(sorted(words.actions), 7)

    def _some(self, names: list[str], count: int) -> list[str]:
        return [str(name) for name in self.rng.choice(names, count, replace=False)]

    def _one(self, names: list[str]) -> str:
        return names[int(self.rng.integers(len(names)))]

    def reference(self) -> ask.Reference:
        relation = self._one(self.relations)
        if self.rng.random() >= EDGE:
            return ask.ObjectsOf(relation)
        return ask.EdgeObject("first" if self.rng.random() < 0.5 else "last", relation)

    def object(self, window: Window = VIDEO) -> Object:
        share = INDIRECT_ALONE if window == VIDEO else INDIRECT
        return self.reference() if self.rng.random() < share else self._one(self.objects)

    def action(self) -> Action:
        chance = self.rng.random()
        if chance < EXTREME:
            return ask.ExtremeAction("longest")
        return ask.ToAction("taking", self.reference()) if chance < EXTREME + REPLACED else self._one(self.actions)

    def window(self, *words: str, share: float = LOCALIZED) -> Window:
        if self.rng.random() >= share:
            return VIDEO
        word = "between" if self.rng.random() < BETWEEN else self._one(list(words or ("before", "after", "while")))
        return Window(word, tuple(self.action() for _ in range(1 + (word == "between"))))  # type: ignore[arg-type]

    def question(self, template: str) -> Question:
        relation, word, window = self._one(self.relations), template.lower(), self.window()
        edge = "first" if "first" in word else "last"
        length = "longer" if "longer" in word else "shorter"
        named = LOCALIZED_EDGES.get(template[-6:], LOCALIZED_EDGES[""])
        part = self.window("after" if edge == "first" else "before", "while", share=named)
        asked = ask.EdgeObject(edge, relation, part)  # type: ignore[arg-type]
        compared = ask.LengthChoose(length, self.action(), self.action())  # type: ignore[arg-type]
        makers: dict[str, Callable[[], Question]] = {
            "objExists": lambda: ask.Interaction(INTERACTING, self.object(window), window),
            "objRelExists": lambda: ask.Interaction(relation, self.object(window), window),
            "relExists": lambda: ask.RelationExists(relation, window),
            "objWhatGeneral": lambda: ask.ObjectsOf(INTERACTING, window),
            "objWhat": lambda: ask.ObjectsOf(relation, window),
            "objWhatChoose": lambda: ask.ObjectChoose(
                self.object(window), self.object(window), ask.ObjectsOf(relation, window)
            ),
            "actWhatBefore": lambda: ask.ActionsIn(Window("before", (self.action(),))),
            "actWhatAfterAll": lambda: ask.ActionsIn(Window("after", (self.action(),))),
            "actLongest": lambda: ask.ExtremeAction("longest"),
            "actShortest": lambda: ask.ExtremeAction("shortest"),
            "actTime": lambda: ask.OrderChoose(ask.ActionHappens(self.action()), self.action()),
            "relTime": lambda: ask.OrderChoose(ask.RelationExists(relation), self.action()),
            "objTime": lambda: ask.OrderChoose(ask.Interaction(INTERACTING, self.object(window)), self.action()),
        }
        if template in makers:
            return makers[template]()
        if "ObjRelExists" in template:
            parts = [ask.Interaction(relation, self.object(window), window) for _ in range(2)]
            return ask.Both("and" if template.startswith("and") else "xor", *parts)
        if "Length" in template:
            return ask.ActionEquals(compared.first, compared) if template.endswith("Verify") else compared
        if template.startswith("act"):
            return ask.EdgeAction(edge)  # type: ignore[arg-type]
        if template.endswith("Choose"):
            return ask.ObjectChoose(self.object(asked.window), self.object(asked.window), asked)
        return ask.ObjectEquals(self.object(asked.window), asked) if template.endswith("Verify") else asked


def made_rows(count: int) -> Iterator[tuple[str, dict[str, object]]]:
    names = list(SHARES)
    shares = np.array(list(SHARES.values()), float) / sum(SHARES.values())
    done = number = 0
    while done < count:
        maker = Maker(number)
        video, seen = f"V{number:05d}", set[Question]()
        for template in maker.rng.choice(names, min(PER_VIDEO, count - done), p=shares):
            tried = [maker.question(str(template)) for _ in range(4)]
            question = next((each for each in tried if each not in seen), tried[0])
            seen.add(question)
            yield f"{video}-{done}", row_of(video, question, done)
            done += 1
        number += 1


def row_of(video: str, question: Question, number: int) -> dict[str, object]:
    """Return a row in AGQA 2.0's layout. Its grounding is never read but has a realistic length."""
    template = template_of(question)
    yes_no = "Exists" in template or "Verify" in template
    answer = ("yes", "no")[number % 2] if yes_no else ("before", "after")[number % 2] if "Time" in template else "phone"
    return {
        **{"question": f"Made up question {number} about {video}?", "answer": answer, "video_id": video},
        **{"global": ["obj-rel"], "local": "x", "ans_type": "binary", "steps": 3, "semantic": "object"},
        **{"structural": "verify", "novel_comp": 0, "more_steps": 0, "program": program_of(question)},
        "sg_grounding": {"4-13": [f"o4/{n:06d}" for n in range(12)], "36-70": ["c075/1"]},
    }


def write_rows(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write("{")
        for number, (key, row) in enumerate(made_rows(count)):
            file.write(("" if number == 0 else ", ") + f"{json.dumps(key)}: {json.dumps(row)}")
        file.write("}")


def measure(path: Path) -> tuple[float, float, float]:
    """Return the seconds spent on parsing and on decomposition, and the mean number of sub-questions."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    begun = time.process_time()
    videos: dict[str, list[Root]] = {}
    for key, row in rows.items():
        root = Root(key, row["question"], parse_program(row["program"]), row["answer"], "")
        videos.setdefault(row["video_id"], []).append(root)
    parsed = time.process_time() - begun
    gc.freeze()  # the command holds the rows of one video in memory, this script those of all
    begun, sub_questions = time.process_time(), 0
    for video, roots in videos.items():
        graphs = graphs_of(video, roots, None)
        sum(1 for _ in graphs.rows())
        sub_questions += sum(len(graph["nodes"]) - 1 for graph in graphs.graphs())
    return parsed, time.process_time() - begun, sub_questions / len(rows)


GROUPS = ("Object Exists", "Relation Exists", "Interaction", "Exists T", "Interaction T", "First/Last")
GROUPS = (*GROUPS, "Longest/Shortest Action", "Choose", "Equals")
# Shares of the roots of each group in the authors' drafts that have a scored question of each of GROUPS below them.
DRAFTS: dict[str, tuple[float | None, ...]] = {
    "Interaction T": (1, 0.983, 1, 0.999, 0.241, 0.228, 0.007, None, None),
    "Conjunction": (1, 1, 1, 0.800, 0.787, 0.463, 0.004, None, None),
    "Interaction": (1, 0.692, 0.016, 0.017, None, 0.071, 0, None, None),
    "Equals": (1, 0.994, 0.800, 0.643, None, 0.773, 0.005, 0.162, None),
    "Choose": (1, 0.983, 0.867, 0.834, 0.443, 0.657, 0.005, None, 0.323),
    "First/Last": (1, 0.999, 0.901, 0.912, None, 0.248, 0.013, None, None),
}


def print_kinds(count: int) -> None:
    kinds, totals, sizes = load_agqa().kinds, Counter[str](), []
    holding: dict[str, Counter[str]] = defaultdict(Counter)
    for _, row in made_rows(count):
        graph = decompose_with_edges(parse_program(str(row["program"])))
        sizes.append(len(graph.steps) - 1)
        groups = [_short(kinds[step.kind].group) for step in graph.steps]
        root = {"Relation Exists": "Interaction"}.get(groups[-1], groups[-1])  # as in the drafts
        totals[root] += 1
        below = {group for group, step in zip(groups, graph.steps[:-1], strict=False) if not kinds[step.kind].banned}
        holding[root].update(below)
    mean = sum(sizes) / len(sizes)
    print(f"{len(sizes):,} roots: {mean:.2f} sub-questions each, {mean + 1:.2f} with the root (11.49 in the paper)")
    print(f"\n| root group | {' | '.join(GROUPS)} |\n|---{'|--:' * len(GROUPS)}|")
    for root, drafted in DRAFTS.items():
        cells = [
            f"{holding[root][group] / max(1, totals[root]):.2f} ({'–' if share is None else f'{share:.2f}'})"
            for group, share in zip(GROUPS, drafted, strict=True)
        ]
        print(f"| {root} | {' | '.join(cells)} |")


def _short(group: str) -> str:
    return group.replace("Temporal Localization", "T")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument(
        "--kinds",
        type=int,
        help="only compare the composition of the graphs of this many rows with the authors' figures",
    )
    arguments = parser.parse_args()
    if arguments.kinds:
        print_kinds(arguments.kinds)
        return
    print(f"{'rows':>10}{'sub-q.':>8}{'parse/s':>10}{'apart/s':>10}{'all/s':>8}{'pack, s':>9}{'peak, MB':>10}")
    for count in arguments.rows:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "test_balanced.txt"
            write_rows(path, count)
            options = ("--agqa", path, "--out", Path(name) / "out", "--workers", 1, "--no-progress")
            seconds, _, peak = command("build", "decomp", *options)
            parsed, taken, mean = measure(path)
        print(
            f"{count:>10,}{mean:>8.2f}{count / parsed:>10,.0f}{count / taken:>10,.0f}{count / seconds:>8,.0f}"
            f"{seconds - parsed - taken:>9.1f}{peak:>10,.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
