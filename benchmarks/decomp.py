"""How fast compositional questions are taken apart: questions a second on one core, and peak memory, by number of rows.

    python benchmarks/decomp.py                     # 10,000 and 100,000 rows
    python benchmarks/decomp.py 10000 1000000       # other numbers
    python benchmarks/decomp.py --charades ~/Charades    # questions made of annotations, in one process
    python benchmarks/decomp.py --charades ~/Charades --limit 400

The rows are made up, in AGQA 2.0's layout and with the templates in the proportions of its test questions, 236 rows a
video. Each number is measured in a process of its own: parsing, taking apart with answers and rows, and the whole
command, from the file to Parquet; what remains of the command is reading, hashing and packing. Peak memory is the
command's. Times are of the processor. Of questions that are made, reading and making are measured in a process of their
own; what remains of the command is taking apart, packing and the card.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from stressreel.programs.parsing import parse_program, program_of
from stressreel.programs.questions import (
    INTERACTING,
    VIDEO,
    Action,
    ActionEquals,
    ActionHappens,
    ActionsIn,
    Both,
    EdgeAction,
    EdgeObject,
    ExtremeAction,
    Interaction,
    LengthChoose,
    Object,
    ObjectChoose,
    ObjectEquals,
    ObjectsOf,
    OrderChoose,
    Question,
    RelationExists,
    ToAction,
    Window,
    template_of,
)
from stressreel.seeds import rng_for
from stressreel.templates.agqa import load_agqa

# Rows of each template among AGQA 2.0's test questions.
SHARES = {
    **{"objExists": 21526, "objRelExists": 20294, "relExists": 21390, "andObjRelExists": 17086},
    **{"xorObjRelExists": 17066, "objWhatGeneral": 2879, "objWhat": 281105, "objWhatChoose": 83862},
    **{"actWhatBefore": 135, "actWhatAfterAll": 262, "objFirst": 30794, "objLast": 20892, "objFirstChoose": 2990},
    **{"objLastChoose": 4143, "objFirstVerify": 22480, "objLastVerify": 20796, "actFirst": 558, "actLast": 132},
    **{"actLengthLongerChoose": 3258, "actLengthShorterChoose": 3258, "actLengthLongerVerify": 3258},
    **{"actLengthShorterVerify": 3176, "actLongest": 289, "actShortest": 16, "actTime": 21708, "relTime": 21018},
    **{"objTime": 44836},
}
INDIRECT = 0.45  # share of objects that are spoken of by another question
PER_VIDEO = 236
DEFAULT = (10_000, 100_000)


class Maker:
    """Makes up the questions of a video from the few things that are in it."""

    def __init__(self, number: int) -> None:
        """Draw what is in video `number`."""
        words = load_agqa()
        self.rng = rng_for(0, "benchmark", str(number))
        self.objects = self._some(sorted(words.objects), 9)
        self.relations = self._some([name for name, r in words.relations.items() if r.family != "attention"], 8)
        self.actions = self._some(sorted(words.actions), 7)

    def _some(self, names: list[str], count: int) -> list[str]:
        return [str(name) for name in self.rng.choice(names, count, replace=False)]

    def _one(self, names: list[str]) -> str:
        return names[int(self.rng.integers(len(names)))]

    def reference(self) -> ObjectsOf | EdgeObject:
        """Speak of an object by another question."""
        relation = self._one(self.relations)
        if self.rng.random() < 0.5:
            return ObjectsOf(relation)
        return EdgeObject("first" if self.rng.random() < 0.5 else "last", relation)

    def object(self) -> Object:
        """Name an object, or speak of it."""
        return self.reference() if self.rng.random() < INDIRECT else self._one(self.objects)

    def action(self) -> Action:
        """Name an action, or speak of it."""
        chance = self.rng.random()
        if chance < 0.03:
            return ExtremeAction("longest")
        return ToAction("taking", self.reference()) if chance < 0.08 else self._one(self.actions)

    def window(self, *words: str) -> Window:
        """Draw a part of the video."""
        word = self._one(list(words or ("video", "before", "after", "while", "between")))
        actions = [self.action() for _ in range({"video": 0, "between": 2}.get(word, 1))]
        return Window(word, tuple(actions)) if actions else VIDEO  # type: ignore[arg-type]

    def question(self, template: str) -> Question:
        """Make up a question of a template."""
        relation, word = self._one(self.relations), template.lower()
        edge = "first" if "first" in word else "last"
        length = "longer" if "longer" in word else "shorter"
        asked = EdgeObject(edge, relation, self.window("video", "after" if edge == "first" else "before"))  # type: ignore[arg-type]
        compared = LengthChoose(length, self.action(), self.action())  # type: ignore[arg-type]
        makers: dict[str, Callable[[], Question]] = {
            "objExists": lambda: Interaction(INTERACTING, self.object(), self.window()),
            "objRelExists": lambda: Interaction(relation, self.object(), self.window()),
            "relExists": lambda: RelationExists(relation, self.window()),
            "objWhatGeneral": lambda: ObjectsOf(INTERACTING, self.window()),
            "objWhat": lambda: ObjectsOf(relation, self.window()),
            "objWhatChoose": lambda: ObjectChoose(self.object(), self.object(), ObjectsOf(relation, self.window())),
            "actWhatBefore": lambda: ActionsIn(self.window("before")),
            "actWhatAfterAll": lambda: ActionsIn(self.window("after")),
            "actLongest": lambda: ExtremeAction("longest"),
            "actShortest": lambda: ExtremeAction("shortest"),
            "actTime": lambda: OrderChoose(ActionHappens(self.action()), self.action()),
            "relTime": lambda: OrderChoose(RelationExists(relation), self.action()),
            "objTime": lambda: OrderChoose(Interaction(INTERACTING, self.object()), self.action()),
        }
        if template in makers:
            return makers[template]()
        if "ObjRelExists" in template:
            window = self.window()
            parts = [Interaction(relation, self.object(), window) for _ in range(2)]
            return Both("and" if template.startswith("and") else "xor", *parts)
        if "Length" in template:
            return ActionEquals(compared.first, compared) if template.endswith("Verify") else compared
        if template.startswith("act"):
            return EdgeAction(edge, self.window("video"))  # type: ignore[arg-type]
        if template.endswith("Choose"):
            return ObjectChoose(self.object(), self.object(), asked)
        return ObjectEquals(self.object(), asked) if template.endswith("Verify") else asked


def made_rows(count: int) -> Iterator[tuple[str, dict[str, object]]]:
    """Make up rows of AGQA 2.0."""
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
    """Write a row as AGQA 2.0 does; the grounding, which is not read, is as long as there."""
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
    """Write rows as one JSON object on one line."""
    with path.open("w", encoding="utf-8") as file:
        file.write("{")
        for number, (key, row) in enumerate(made_rows(count)):
            file.write(("" if number == 0 else ", ") + f"{json.dumps(key)}: {json.dumps(row)}")
        file.write("}")


def measure(path: Path) -> None:
    """Print seconds for parsing and for taking apart, with answers and rows."""
    from stressreel.builders.decomp.video_graphs import Root, graphs_of

    rows = json.loads(path.read_text(encoding="utf-8"))
    begun = time.process_time()
    for row in rows.values():
        parse_program(row["program"])
    parsed = time.process_time() - begun
    videos: dict[str, list[Root]] = {}
    for key, row in rows.items():
        question = parse_program(row["program"])
        videos.setdefault(row["video_id"], []).append(Root(key, row["question"], question, row["answer"], ""))
    sub_questions = found = 0
    gc.freeze()  # the command holds one video's rows at a time, and here all are in memory
    begun = time.process_time()
    for video, roots in videos.items():
        graphs = graphs_of(video, roots, None)
        found += sum(1 for _ in graphs.rows())
        sub_questions += sum(len(graph["nodes"]) - 1 for graph in graphs.graphs())
    taken = time.process_time() - begun
    print(json.dumps({"parsed": parsed, "taken": taken, "rows": found, "mean": sub_questions / len(rows)}))


def measure_making(folder: Path, limit: int | None) -> None:
    """Print seconds for reading annotations and for making questions of them."""
    from stressreel.builders.decomp import inputs
    from stressreel.builders.decomp.settings import DecompSettings, decided

    spent = 0.0
    make = inputs.make_split

    def timed(*given: Any) -> Any:
        nonlocal spent
        begun = time.process_time()
        made = make(*given)
        spent += time.process_time() - begun
        return made

    inputs.make_split = timed  # type: ignore[assignment]
    gc.disable()  # as the command does while it plans
    begun = time.process_time()
    plan = inputs.read_inputs(decided(DecompSettings(charades=str(folder), limit=limit))).plan
    whole = time.process_time() - begun
    questions = sum(len(unit.payload["roots"]) for unit in plan.units)
    print(json.dumps({"read": whole - spent, "made": spent, "videos": len(plan.units), "questions": questions}))


def main_charades(folder: Path, limit: int | None) -> None:
    """Measure making questions of annotations, and the whole command."""
    more = [] if limit is None else [str(limit)]
    measured = json.loads(_output("--measure-making", str(folder), *more))
    with tempfile.TemporaryDirectory() as name:
        seconds, peak = run("--charades", folder, Path(name), *(["--limit", *more] if more else []))
    rest = seconds - measured["read"] - measured["made"]
    print(f"{'videos':>8}{'questions':>11}{'read, s':>9}{'made, s':>9}{'rest, s':>9}{'all, s':>8}{'peak, MB':>10}")
    print(
        f"{measured['videos']:>8,}{measured['questions']:>11,}{measured['read']:>9.1f}{measured['made']:>9.1f}"
        f"{rest:>9.1f}{seconds:>8.1f}{peak:>10,.0f}"
    )


def run(kind: str, path: Path, folder: Path, *more: str) -> tuple[float, float]:
    """Run the whole command; return its seconds of processor and its peak memory in MB."""
    code = "import sys; from stressreel.cli.main import build; sys.argv[0] = 'build-decomp'; build()"
    out = str(folder / "out")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    options = [kind, str(path), *more, "--out", out, "--workers", "1", "--no-progress"]
    subprocess.run([sys.executable, "-c", code, *options], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, after.ru_maxrss / 1024


def main() -> None:
    """Measure every number of rows in processes of its own."""
    if sys.argv[1:2] == ["--measure"]:
        measure(Path(sys.argv[2]))
        return
    if sys.argv[1:2] == ["--run"]:
        print(json.dumps(run("--agqa", Path(sys.argv[2]), Path(sys.argv[3]))))
        return
    if sys.argv[1:2] == ["--measure-making"]:
        measure_making(Path(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else None)
        return
    if sys.argv[1:2] == ["--charades"]:
        main_charades(Path(sys.argv[2]).expanduser(), int(sys.argv[4]) if sys.argv[3:4] == ["--limit"] else None)
        return
    counts = [int(text) for text in sys.argv[1:]] or list(DEFAULT)
    print(f"{'rows':>10}{'sub-q.':>8}{'parse/s':>10}{'apart/s':>10}{'all/s':>8}{'pack, s':>9}{'peak, MB':>10}")
    for count in counts:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "test_balanced.txt"
            write_rows(path, count)
            measured = json.loads(_output("--measure", str(path)))
            seconds, peak = json.loads(_output("--run", str(path), name))
        rest = seconds - measured["parsed"] - measured["taken"]
        print(
            f"{count:>10,}{measured['mean']:>8.2f}{count / measured['parsed']:>10,.0f}"
            f"{count / measured['taken']:>10,.0f}{count / seconds:>8,.0f}{rest:>9.1f}{peak:>10,.0f}",
            flush=True,
        )


def _output(*arguments: str) -> str:
    return subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
