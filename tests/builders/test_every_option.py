"""Every option of every build and of `mine`, in every mode: it changes what is written, or it is refused."""

import csv
import hashlib
import json
import pickle
import random
import re
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from agqa_questions import agqa_rows, write_agqa
from commands import run
from stressreel.annotations.samples.cache import cached_sample
from stressreel.api.mine import mine
from stressreel.builders import benchmark_names, load_benchmark
from stressreel.builders.rebuilt import opening
from stressreel.core.command import read_command, recorded
from stressreel.core.errors import InputError, UsageError
from stressreel.core.options import Field, RunOptions, from_keywords, options_of
from stressreel.core.plan import Plan, Unit
from stressreel.language.embeddings import sbert_files
from stressreel.negatives.settings import MineSettings
from stressreel.templates import load_classes

TABLE = yaml.safe_load(Path(__file__).with_name("every_option.yaml").read_text())
MODES: Mapping[str, Mapping[str, Any]] = TABLE["modes"]
TESTS = Path(__file__).parents[1]


def settings_of(benchmark: str) -> type[Any]:
    return MineSettings if benchmark == "mine" else load_benchmark(benchmark).settings


@cache
def options(benchmark: str) -> dict[str, Field]:
    return {each.keyword: each for each in options_of(settings_of(benchmark))}


def walked(mode: str) -> list[str]:
    """The options to try in a mode: those that it does not set, except those of the run."""
    skipped = {*MODES[mode]["options"], *TABLE["run"], *TABLE["exempt"].get(mode, ())}
    return [name for name in options(MODES[mode]["benchmark"]) if name not in skipped]


# Inputs in which every option matters

PAIRED = ["c008 1.00 6.50", "c106 8.20 13.70", "c143 16.20 21.20"]


def write_charades(folder: Path) -> None:
    """Videos with many actions, which recur, overlap and contain one another."""
    rng = random.Random(3)
    classes = sorted(load_classes().classes)
    header = [
        "id",
        "subject",
        "scene",
        "quality",
        "relevance",
        "verified",
        "script",
        "objects",
        "descriptions",
        "actions",
        "length",
    ]
    folder.mkdir(parents=True)
    for split, count in (("train", 24), ("test", 12)):
        rows, sentences = [], []
        for number in range(count):
            some = rng.sample(classes, 5)
            starts, start = [rng.uniform(0, 70) for _ in range(8)], rng.uniform(0, 50)
            spans = [f"{start:.2f} {start + rng.uniform(3, 20):.2f}" for start in starts]
            name = f"{split[:2].upper()}{number:03d}"
            actions = [f"{rng.choice(some)} {span}" for span in spans]
            within = ((0, 40), (3, 9), (30, 37))
            for doing, (after, end) in zip(rng.sample(classes, 3), within, strict=True):
                actions.append(f"{doing} {start + after:.2f} {start + end:.2f}")
            rows.append(
                [
                    name,
                    name,
                    "Kitchen",
                    7,
                    7,
                    "Yes",
                    "",
                    "",
                    "",
                    ";".join(actions + PAIRED * (name == "TR000")),
                    "95.00",
                ]
            )
            doings = rng.sample(SENTENCES, 4)
            sentences += [f"{name} {span}##{rng.choice(doings)}\n" for span in spans]
        write_csv(folder / f"Charades_v1_{split}.csv", header, rows)
        (folder / f"charades_sta_{split}.txt").write_text("".join(sentences))


SENTENCES = [
    f"person {text}."
    for text in (
        "opens the door",
        "eats a sandwich",
        "sits in a chair",
        "takes off a jacket",
        "washes the window",
        "throws a pillow",
        "drinks a glass of water",
        "puts the book on the shelf",
        "turns on the light",
        "talks on a phone",
        "closes the laptop",
        "holds a blanket",
        "smiles",
        "runs up the stairs",
        "sneezes",
        "cooks something on the stove",
    )
]


def write_csv(path: Path, header: list[str], rows: list[list[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


VERBS = [
    "open",
    "close",
    "wash",
    "cut",
    "peel",
    "boil",
    "fry",
    "stir",
    "pour",
    "bake",
    "grill",
    "chop",
    "mix",
    "heat",
    "slice",
    "serve",
    "clean",
    "taste",
    "grate",
    "season",
]
NOUNS = [
    "door",
    "window",
    "carrot",
    "onion",
    "potato",
    "egg",
    "pasta",
    "bread",
    "soup",
    "pan",
    "oven",
    "fish",
    "tomato",
    "cake",
    "rice",
    "plate",
    "cup",
    "bean",
    "lemon",
    "pepper",
]


def phrases(count: int) -> list[str]:
    rng = random.Random(4)
    pairs = [(verb, noun) for verb in VERBS for noun in NOUNS]
    return [f"{verb} the {noun}" for verb, noun in rng.sample(pairs, count)]


ALIKE = ["chop the onion", "cut the onion", "heat the soup", "warm the soup"]


def write_recipes(folder: Path) -> None:
    rng, database, texts = random.Random(5), {}, phrases(120)
    for number in range(24):
        starts = sorted(rng.uniform(0, 150) for _ in range(10))
        steps = [[start, start + rng.uniform(3, 12)] for start in starts]
        some = [*rng.sample(texts, 5), *ALIKE]
        database[f"recipe{number:05d}"] = {
            **{"duration": 180.0, "subset": ("training", "validation")[number % 2], "recipe_type": "101"},
            "annotations": [{"id": i, "segment": step, "sentence": rng.choice(some)} for i, step in enumerate(steps)],
        }
    folder.mkdir()
    (folder / "youcookii_annotations_trainval.json").write_text(json.dumps({"database": database}))


def write_segments(folder: Path) -> None:
    rng, texts, rows = random.Random(6), phrases(120), []
    for number in range(24):
        some = [*rng.sample(texts, 3), *ALIKE]
        for start in sorted(rng.uniform(0, 120) for _ in range(9)):
            rows.append([f"V{number}", round(start, 2), round(start + rng.uniform(3, 12), 2), rng.choice(some)])
            rows[-1].append(("train", "test")[number % 2])
    names = ["video", "start", "end", "phrase", "split"]
    write_csv(folder / "segments.csv", names, rows)
    frames = [[video, int(start * 25), int(end * 25), *more] for video, start, end, *more in rows]
    write_csv(folder / "frames.csv", ["video", "start_frame", "end_frame", *names[3:]], frames)


def write_events(folder: Path) -> None:
    rng, rows, texts = random.Random(8), [], phrases(60)
    for number in range(216):
        doing = rng.choice([*rng.sample(texts, 3), *ALIKE])
        start = 25 * rng.randrange(800)
        end = start + rng.randrange(80, 300)
        rows.append(
            [number, f"S90E{number % 6 + 1:02d}", start, end, f"Why did Pip {doing}?", f"Pip was hungry {number}."]
        )
        rows[-1].append(f"Pip likes food {number}.")
    header = ["QID", "Filename", "Start Frame", "End Frame", "Question", "Answer", "Explanation"]
    write_csv(folder / "Annotations.csv", header, rows)


def write_episodes(folder: Path) -> None:
    shutil.copytree(cached_sample("causal"), folder)
    episodes = sorted(path.stem for path in folder.glob("*.mp4"))
    (folder / "rates.txt").write_text("".join(f"{name}=20\n" for name in episodes))
    (folder / "offsets.csv").write_text("Episode,Offset\n" + "".join(f"{name},2\n" for name in episodes))
    (folder / "cast.txt").write_text("Cheese, female\n")


def write_questions(folder: Path) -> None:
    with open(cached_sample("causal-annotations") / "Annotations.csv", encoding="utf-8-sig") as file:
        table = list(csv.DictReader(file))
    rows = [[r["QID"], r["Question"], r["Question"][:-5], r["Answer"], r["Explanation"], r["Filename"]] for r in table]
    rows = [[*row, ("train", "other")[number % 2]] for number, row in enumerate(rows)]
    header = ["id", "question", "Q", "answer", "explanation", "group", "split"]
    write_csv(folder / "questions.csv", header, rows)
    write_csv(folder / "plain.csv", header[:2] + header[3:4], [row[:2] + row[3:4] for row in rows])


def write_film(folder: Path) -> None:
    videos = sorted(cached_sample("msrvtt").rglob("*.mp4"))[:2]
    folder.mkdir()
    texts = (
        "A man quickly opens the door and a woman throws two pillows.",
        "She is cutting the red bread with a knife.",
    )
    rows = []
    for path in videos:
        shutil.copy(path, folder / path.name)
        rows += [[path.stem, 0.2, 1.2, texts[0], "train"], [path.stem, 0.8, 2.0, texts[1], "test"]]
    write_csv(folder / "c.csv", ["video", "start", "end", "caption", "split"], rows)
    words = {word.strip(".").lower() for text in texts for word in text.split()} | {"cat", "house", "wall"}
    rng = random.Random(7)
    lines = (f"{word} {' '.join(f'{rng.uniform(-1, 1):.3f}' for _ in range(8))}\n" for word in sorted(words))
    (folder / "glove.txt").write_text("".join(lines))


def write_pairs(folder: Path) -> None:
    info = [["c106", "8.20", "13.70"], ["c143", "16.20", "21.20"]]
    ext = {"out_a": "8.0", "in_a": "14.0", "in_b": "16.0", "out_b": "21.5"}
    other = [["c008", "1.00", "6.50"], ["c106", "8.20", "13.70"]]
    pairs = {
        "0a0b0c0d": {"vid_id": "TR000", "vid_len": "95.00", "info": info, "other_actions": [], "ext": ext},
        "0a0b0c0e": {"vid_id": "TR000", "vid_len": "95.00", "info": other, "other_actions": [], "ext": ext | {"out_a": "1.0", "in_a": "7.0", "in_b": "8.0", "out_b": "14.0"}},
    }  # fmt: skip
    folder.mkdir()
    (folder / "pairs.json").write_text(json.dumps(pairs))


def write_genome(folder: Path) -> None:
    relations = {
        "attention_relationship": ["looking_at"],
        "spatial_relationship": ["in_front_of"],
        "contacting_relationship": ["holding"],
    }
    table = {
        f"TR{number:03d}.mp4/{frame:06d}.png": [
            {"class": name, "bbox": (1.0, 2.0, 3.0, 4.0), "visible": True, "metadata": {"tag": "", "set": "train"}}
            | relations
            for name in ("cup/glass/bottle", "book", "laptop")
        ]
        for number in range(24)
        for frame in range(1, 2000, 60)
    }
    folder.mkdir()
    (folder / "object_bbox_and_relationship.pkl").write_bytes(pickle.dumps(table))


def write_published(folder: Path) -> None:
    with TemporaryDirectory() as place:
        done = run("build-decomp", "--charades", "sample", "--embed", "no", "--out", f"{place}/o", "--no-progress")
        assert done.code == 0, done.err
        for split in ("train", "test"):
            to = folder / f"{split}_hierarchies"
            assert run("stressreel", "export", "released", f"{place}/o", "--to", to, "--split", split).code == 0


def write_model(folder: Path) -> None:
    """Save a sentence encoder that reads only the first words."""
    shutil.copytree(sbert_files(None).folder, folder)
    for name in ("sentence_bert_config.json", "tokenizer_config.json"):
        path = folder / name
        if path.exists():
            path.write_text(
                re.sub(r'("(?:max_seq_length|model_max_length|max_length)": *)\d+', r"\g<1>6", path.read_text())
            )


def copy_sample(folder: Path) -> None:
    shutil.copytree(cached_sample("charades"), folder)


def copy_videos(folder: Path) -> None:
    """All source videos, one with other content than in its usual folder."""
    folder.mkdir()
    for name in ("charades", "causal", "msrvtt"):
        for path in sorted(cached_sample(name).rglob("*.mp4")):
            shutil.copy(path, folder / path.name)


def write_sentences(folder: Path) -> None:
    folder.mkdir()
    with TemporaryDirectory() as other:
        write_charades(Path(other) / "c")
        for path in (Path(other) / "c").glob("charades_sta_*.txt"):
            (folder / path.name).write_text("".join(path.read_text().splitlines(keepends=True)[:-40]))


INPUTS: Mapping[str, Callable[[Path], object]] = {
    "overlaps": write_charades,
    "charades": copy_sample,
    "sentences": write_sentences,
    "pairs": write_pairs,
    "recipes": write_recipes,
    "segments": write_segments,
    "events": write_events,
    "episodes": write_episodes,
    "questions": write_questions,
    "film": write_film,
    "elsewhere": copy_videos,
    "agqa": lambda folder: write_agqa(folder, agqa_rows(every=40)),
    "genome": write_genome,
    "published": write_published,
    "model": write_model,
}


@pytest.fixture(scope="session")
def filled(
    once: Callable[[str, Callable[[Path], object]], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Any], Any]:
    """Replaces the names of inputs in options by their folders."""

    def fill(value: Any) -> Any:
        if isinstance(value, list):
            return [fill(item) for item in value]
        if not isinstance(value, str) or "{" not in value:
            return value
        name = value[value.index("{") + 1 : value.index("}")]
        folder = tmp_path_factory.mktemp("out") if name == "out" else once(f"every-option-{name}", INPUTS[name])
        return value.replace(f"{{{name}}}", str(folder))

    return fill


# What an option changes


def written(benchmark: str, given: Mapping[str, Any], *, command: bool = False) -> str:
    """Return a hash of what is written: rows, files, and the videos that are used."""
    if benchmark == "mine":
        found = mine(**given, progress=False)
        review = Path(given["review"]).read_bytes() if "review" in given else b""
        return digest([found.rows, review.decode()])
    chosen = load_benchmark(benchmark)
    settings = from_keywords(chosen.settings, given)
    prepared = chosen.prepare(settings)
    plan, builder = prepared.plan, prepared.builder
    if command:
        info = opening(chosen, settings, prepared)
        again, problems = read_command(info, chosen.settings)
        assert not problems
        assert info["command"] == recorded(chosen.program, again)
    units = [[unit.id, unit.split, unit.source_id, unit.payload] for unit in plan.units]
    tables = [[config.name, [column.name for column in config.columns]] for config in plan.configs]
    videos = sorted(getattr(builder, "videos", {}).items())
    return digest([units, tables, videos, [made(builder, unit) for unit in chosen_units(plan)]])


def chosen_units(plan: Plan) -> list[Unit]:
    """Units without videos, and the cheapest one with a video."""
    rendered = [unit for unit in plan.units if unit.source_id]
    return [*(unit for unit in plan.units if not unit.source_id), *sorted(rendered, key=lambda unit: unit.cost)[:1]]


def made(builder: Any, unit: Unit) -> Any:
    with TemporaryDirectory() as folder:
        facts = builder.render(unit, Path(folder)) if builder.renders(unit) else {}
        files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(folder).iterdir())}
        return [files, list(builder.rows(unit, facts))]


def digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def value_of(mode: str, name: str) -> Any:
    benchmark = MODES[mode]["benchmark"]
    return MODES[mode].get("values", {}).get(name, TABLE["values"][benchmark][name])


def refusal(benchmark: str, given: Mapping[str, Any], name: str) -> str:
    """Return the message if settings refuse an option, or "". It names the option."""
    try:
        from_keywords(settings_of(benchmark), given)
    except UsageError as error:
        assert options(benchmark)[name].flag in str(error), str(error)
        return str(error)
    return ""


def test_every_option_is_walked_or_listed() -> None:
    for benchmark in (*benchmark_names(), "mine"):
        if benchmark in TABLE["values"]:
            assert {*TABLE["values"][benchmark], *TABLE["run"]} >= {*options(benchmark)}
    assert {each.keyword for each in options_of(RunOptions)} <= {*TABLE["run"]}


@pytest.mark.parametrize("name", TABLE["run"])
def test_options_of_the_run_have_tests_of_their_own(name: str) -> None:
    path, _, test = TABLE["run"][name].partition("::")
    assert f"def {test.split('::')[-1]}(" in (TESTS / path).read_text()


@pytest.mark.parametrize("mode", MODES)
def test_options_without_effect_are_refused_with_any_value(mode: str, filled: Callable[[Any], Any]) -> None:
    benchmark, base = MODES[mode]["benchmark"], filled_options(mode, filled)
    for name in walked(mode):
        refused = refusal(benchmark, base | {name: filled(value_of(mode, name))}, name)
        default = options(benchmark)[name].default
        if "no effect" in refused and default not in (None, ()):
            assert "no effect" in refusal(benchmark, base | {name: default}, name), (name, refused)


def filled_options(mode: str, filled: Callable[[Any], Any]) -> dict[str, Any]:
    return {name: filled(value) for name, value in MODES[mode]["options"].items()}


BY_DEFAULT = ("given pairs", "characters", "agqa")


@pytest.mark.parametrize(
    "mode", [mode if mode in BY_DEFAULT else pytest.param(mode, marks=pytest.mark.full) for mode in MODES]
)
def test_an_option_changes_what_is_written_or_is_refused(mode: str, filled: Callable[[Any], Any]) -> None:
    benchmark, base = MODES[mode]["benchmark"], filled_options(mode, filled)
    before = written(benchmark, base, command=True)
    applied, refused, faults = [], [], []
    for name in walked(mode):
        given = base | {name: filled(value_of(mode, name))}
        try:
            changed = written(benchmark, given, command=True) != before
        except UsageError as error:
            refused.append(name)
            if options(benchmark)[name].flag not in str(error):
                faults.append(f"{name}: refused, but not by name: {error}")
            continue
        except InputError as error:
            faults.append(f"{name}: {error}")
            continue
        if changed:
            applied.append(name)
        else:
            faults.append(f"{name}: no effect")
    print(f"{mode}: {len(applied) + len(refused)} options, {len(applied)} applied, {len(refused)} refused")
    assert not faults, "\n".join(faults)
