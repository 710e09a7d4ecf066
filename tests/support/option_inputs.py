"""Inputs in which every option of a build, and of `mine`, matters."""

from __future__ import annotations

import csv
import json
import pickle
import random
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agqa_questions import agqa_rows, write_agqa
from commands import run, succeed
from stressreel.annotations.samples import cached_sample
from stressreel.language.embeddings import sbert_files
from stressreel.templates import load_classes

CHARADES = "id subject scene quality relevance verified script objects descriptions actions length"
DOINGS = (
    "opens the door; eats a sandwich; sits in a chair; takes off a jacket; washes the window; throws a pillow; "
    "drinks a glass of water; puts the book on the shelf; turns on the light; talks on a phone; "
    "closes the laptop; holds a blanket; smiles; runs up the stairs; sneezes; cooks something on the stove"
)
DEEDS = "open close wash cut peel boil fry stir pour bake grill chop mix heat slice serve clean taste grate season"
THINGS = (
    "door window carrot onion potato egg pasta bread soup pan oven fish tomato cake rice plate cup bean lemon pepper"
)
PAIRED = ["c008 1.00 6.50", "c106 8.20 13.70", "c143 16.20 21.20"]


def write_charades(folder: Path) -> None:
    """Videos with many actions, which recur, overlap and contain one another."""
    rng, classes = random.Random(3), sorted(load_classes().classes)
    for split, count in (("train", 24), ("test", 12)):
        rows, sentences = [], []
        for number in range(count):
            some, name, start = rng.sample(classes, 8), f"{split[:2].upper()}{number:03d}", rng.uniform(0, 50)
            spans = [
                f"{start:.2f} {start + rng.uniform(3, 20):.2f}" for start in (rng.uniform(0, 70) for _ in range(8))
            ]
            actions = [f"{rng.choice(some[:5])} {span}" for span in spans]
            for doing, (after, end) in zip(some[5:], ((0, 40), (3, 9), (30, 37)), strict=True):
                actions.append(f"{doing} {start + after:.2f} {start + end:.2f}")
            listed = ";".join(actions + PAIRED * (name == "TR000"))
            rows.append([name, name, "Kitchen", 7, 7, "Yes", "", "", "", listed, "95.00"])
            doings = rng.sample(DOINGS.split("; "), 4)
            sentences += [f"{name} {span}##person {rng.choice(doings)}.\n" for span in spans]
        write_csv(folder / f"Charades_v1_{split}.csv", CHARADES.split(), rows)
        (folder / f"charades_sta_{split}.txt").write_text("".join(sentences))


def write_csv(path: Path, header: list[str], rows: list[list[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def phrases(count: int) -> list[str]:
    rng = random.Random(4)
    pairs = [(verb, noun) for verb in DEEDS.split() for noun in THINGS.split()]
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
    notes = [row[3] for row in (*rows[1:], rows[0])]
    rows = [[*row, note] for row, note in zip(rows, notes, strict=True)]
    names = ["video", "start", "end", "phrase", "split", "note"]
    write_csv(folder / "segments.csv", names, rows)
    write_csv(folder / "unsplit.csv", names[:-1], [row[:-1] for row in rows])
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
    episodes = sorted(path.stem for path in folder.rglob("*.mp4"))
    table = folder / "Annotations.csv"
    rows = list(csv.reader(table.read_text(encoding="utf-8-sig").splitlines()))
    where = rows[0].index("Question")
    rows += [[f"9{row[0]}", *row[1:]] for row in rows[1:13]]  # equal candidates
    write_csv(table, [*rows[0], "Q"], [[*row, row[where][:-4]] for row in rows[1:]])
    (folder / "rates.txt").write_text("".join(f"{name}=30\n" for name in episodes))
    (folder / "offsets.csv").write_text("Episode,Offset\n" + "".join(f"{name},2\n" for name in episodes))
    (folder / "cast.txt").write_text("Cheese, female\n")


def write_questions(folder: Path) -> None:
    with open(cached_sample("causal-annotations") / "Annotations.csv", encoding="utf-8-sig") as file:
        table = list(csv.DictReader(file))
    rows = [[r["QID"], r["Question"], r["Question"][:-5], r["Answer"], r["Explanation"], r["Filename"]] for r in table]
    rows += [[f"{row[0]}b", *row[1:]] for row in rows[:12]]  # equal candidates
    rows = [[*row, ("train", "other")[number % 7 < 3]] for number, row in enumerate(rows)]
    header = ["id", "question", "Q", "answer", "explanation", "group", "split"]
    write_csv(folder / "questions.csv", header, rows)
    write_csv(folder / "plain.csv", header[:2] + header[3:4], [row[:2] + row[3:4] for row in rows])


def write_film(folder: Path) -> None:
    videos = sorted(cached_sample("msrvtt").rglob("*.mp4"))[:2]
    folder.mkdir()
    texts = ("A man quickly opens the door and a woman throws two pillows.", "Grate the carrot and season the fish.")
    rows = []
    for path in videos:
        shutil.copy(path, folder / path.name)
        rows += [[path.stem, 0.2, 1.2, *texts, "train"], [path.stem, 0.8, 2.0, *texts[::-1], "test"]]
    write_csv(folder / "c.csv", ["video", "start", "end", "caption", "note", "split"], rows)
    words = {word.strip(".").lower() for text in texts for word in text.split()} | {"cat", "house", "wall"}
    rng = random.Random(7)
    lines = (f"{word} {' '.join(f'{rng.uniform(-1, 1):.3f}' for _ in range(8))}\n" for word in sorted(words))
    (folder / "glove.txt").write_text("".join(lines))


def write_pairs(folder: Path) -> None:
    actions, pairs = [pair.split() for pair in PAIRED], {}
    for place, cuts in enumerate(("1.0 7.0 8.0 14.0", "8.0 14.0 16.0 21.5")):
        ext = dict(zip(("out_a", "in_a", "in_b", "out_b"), cuts.split(), strict=True))
        about = {"vid_id": "TR000", "vid_len": "95.00", "info": actions[place : place + 2], "other_actions": []}
        pairs[f"0a0b0c0{place}"] = {**about, "ext": ext}
    folder.mkdir()
    (folder / "pairs.json").write_text(json.dumps(pairs))


def write_genome(folder: Path) -> None:
    names = {"attention": "looking_at", "spatial": "in_front_of", "contacting": "holding"}
    relations = {f"{name}_relationship": [value] for name, value in names.items()}
    about = {"bbox": (1.0, 2.0, 3.0, 4.0), "visible": True, "metadata": {"tag": "", "set": "train"}, **relations}
    objects = [{"class": name, **about} for name in ("cup/glass/bottle", "book", "laptop")]
    frames = (f"TR{number:03d}.mp4/{frame:06d}.png" for number in range(24) for frame in range(1, 2000, 60))
    folder.mkdir()
    (folder / "object_bbox_and_relationship.pkl").write_bytes(pickle.dumps(dict.fromkeys(frames, objects)))


def write_published(folder: Path) -> None:
    with TemporaryDirectory() as place:
        succeed("build-decomp", "--charades", "sample", "--embed", "no", "--out", f"{place}/o", "--no-progress")
        for split in ("train", "test"):
            to = folder / f"{split}_hierarchies"
            assert run("stressreel", "export", "released", f"{place}/o", "--to", to, "--split", split).code == 0


def write_model(folder: Path) -> None:
    """Save a sentence encoder that reads only the first words."""
    shutil.copytree(sbert_files(None).folder, folder)
    for path in (folder / "sentence_bert_config.json", folder / "tokenizer_config.json"):
        if path.exists():
            lengths = r'("(?:max_seq_length|model_max_length|max_length)": *)\d+'
            path.write_text(re.sub(lengths, r"\g<1>6", path.read_text()))


def copy_videos(folder: Path) -> None:
    """All source videos, one with other content than in its usual folder."""
    folder.mkdir()
    for name in ("charades", "causal", "msrvtt"):
        for path in sorted(cached_sample(name).rglob("*.mp4")):
            shutil.copy(path, folder / path.name)


def write_sentences(folder: Path) -> None:
    write_charades(folder)
    for path in folder.iterdir():
        if path.suffix == ".csv":
            path.unlink()
        else:
            path.write_text("".join(path.read_text().splitlines(keepends=True)[:-40]))


def write_both_splits(folder: Path) -> None:
    write_agqa(folder, agqa_rows(every=40))
    shutil.copy(folder / "test_balanced.txt", folder / "train_balanced.txt")


def write_bibtex(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "own.bib").write_text("@misc{own, title = {Own clips}}\n")


def write_disputed(folder: Path) -> None:
    """Questions of the given pairs, of the episodes and of AGQA."""
    with TemporaryDirectory() as place:
        write_both_splits(Path(place))
        root = next(iter(json.loads((Path(place) / "test_balanced.txt").read_text())))
    folder.mkdir()
    for name, question in {"clavi": "0a0b0c00_2_03", "causal": "1", "decomp": root, "perturbed": "any"}.items():
        write_disputed_list(folder / f"{name}.json", question)


def write_disputed_list(path: Path, *names: str, **other: Any) -> Path:
    """Write a list of disputed questions, as `stressreel agreement` does."""
    items = [{"question_id": name, "why": "marked wrong", "votes": {"wrong": 2}} for name in names]
    about = {"format": "stressreel disputed", "version": 1, "fingerprint": "0" * 64, "dataset_version": "1.0.0"}
    path.write_text(json.dumps({**about, "items": items, **other}))
    return path


INPUTS: Mapping[str, Callable[[Path], object]] = {
    "overlaps": write_charades,
    "charades": lambda folder: shutil.copytree(cached_sample("charades"), folder),
    "sentences": write_sentences,
    "pairs": write_pairs,
    "recipes": write_recipes,
    "segments": write_segments,
    "events": write_events,
    "episodes": write_episodes,
    "questions": write_questions,
    "film": write_film,
    "elsewhere": copy_videos,
    "cited": write_bibtex,
    "disputed": write_disputed,
    "agqa": write_both_splits,
    "genome": write_genome,
    "published": write_published,
    "model": write_model,
}
