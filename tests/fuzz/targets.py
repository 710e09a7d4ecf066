"""Good inputs of every kind, and the functions and commands that read them.

A target is one line: a function of the package or of this file with its arguments, or a command. `IN/…` is the file or
folder that is damaged, a copy of the same path among the good files; `GOOD` is their folder, `TO` one for results.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "support"))

LOADERS = """
read_charades_files IN/charades
read_published_graphs IN/hierarchies
read_questions_of_videos IN/agqa/test_balanced.txt
read_scene_graphs IN/agqa/AGQA_test_stsgs.pkl
read_journal IN/asked/a.journal
decode_clips IN/clips
annotations.clavi.read_released IN/annotations/pairs.json
annotations.msrvtt.read_msrvtt IN/msrvtt/MSRVTT_JSFUSION_test.csv test
annotations.msrvtt.read_msrvtt IN/annotations/MSRVTT_data.json test
annotations.youcook2.read_youcook2 IN/annotations/validation_youcook_milnce.csv validation
annotations.youcook2.read_youcook2 IN/annotations/youcookii_annotations_trainval.json train
annotations.captions.read_captions IN/annotations/captions.csv
annotations.captions.read_captions IN/annotations/captions.jsonl
annotations.segments.read_segments IN/annotations/segments.csv
annotations.segments.read_segments IN/annotations/segments.jsonl
annotations.segments.read_segments IN/annotations/activitynet.json
annotations.causalchaos.read_causalchaos IN/questions/Annotations.csv
annotations.causalchaos.read_fps_map IN/annotations/fps.json
annotations.causalchaos.read_fps_map IN/annotations/fps.txt
annotations.causalchaos.read_sync_frames IN/annotations/sync.csv
annotations.causalchaos.read_offsets IN/annotations/offsets.csv
annotations.questions.read_questions IN/questions/Annotations.csv
annotations.questions.read_questions IN/annotations/own.csv
annotations.questions.read_questions IN/annotations/own.jsonl
negatives.cast.read_cast IN/annotations/cast.txt
evaluation.metrics.predictions.read_predictions IN/predictions/p.jsonl
evaluation.metrics.predictions.read_predictions IN/predictions/p.json
evaluation.metrics.predictions.read_predictions IN/predictions/p.csv
evaluation.metrics.predictions.read_predictions IN/predictions/p.tsv
evaluation.metrics.predictions.read_predictions IN/predictions/p.parquet
evaluation.metrics.predictions.read_predictions IN/predictions/log.eval
evaluation.metrics.predictions.read_predictions IN/predictions/deflated.eval
evaluation.metrics.predictions.read_predictions IN/predictions/20_samples_ud.jsonl
evaluation.metrics.predictions.read_predictions IN/predictions/2026-11-22T15-40-45-00-00_ud_x.json
evaluation.blind.items_file.read_asked IN/predictions/items.csv
evaluation.models.questions.questions_of_file IN/predictions/items.csv
evaluation.models.questions.questions_of_file IN/predictions/items.jsonl
stressreel permute IN/predictions/items.csv --to TO/permuted.csv --sets 1
build-clavi --charades IN/charades --source sta --no-render --dry-run
build-clavi --config IN/annotations/config.yaml --charades GOOD/charades --dry-run
""".strip().splitlines()
SCORED = """
stressreel score GOOD/clavi --predictions IN/answers/clavi.jsonl --split all --partial --resamples 100 --out TO/scores
stressreel score GOOD/perturbed --similarity IN/similarity --partial --resamples 100 --out TO/scores
stressreel score GOOD/perturbed --similarity IN/ranked --partial --resamples 100 --out TO/scores
stressreel compare IN/scores GOOD/scores --resamples 100
stressreel table IN/scores GOOD/scores --of fine_grained
stressreel gallery GOOD/clavi --scores IN/scores --limit 3 --to TO/gallery --no-progress
stressreel gallery GOOD/clavi --audit IN/audit/audit.json --limit 3 --to TO/gallery --no-progress
""".strip().splitlines()

SAMPLE_CAUSAL = "build-causal --annotations sample --splits UD --negatives random --num-options 3 --pool all --limit 10"
BUILDS = {
    "clavi": "build-clavi --charades sample --limit 2 --split test",
    "clavi-plain": "build-clavi --charades sample --limit 2 --split test --no-render",
    "perturbed": "build-perturbed --msrvtt sample --modality all --perturbations jpeg --severity 3 "
    "--text-perturbations typos --pairs jpeg:typos --limit 6",
    "causal": SAMPLE_CAUSAL,
    "causal-plain": f"{SAMPLE_CAUSAL} --no-render",
    "decomp": "build-decomp --charades sample --max-questions-per-video 3 --limit 3 --split test",
}
ALL = " ".join(BUILDS)
WITH_VIDEOS = "clavi perturbed causal decomp"
WITH_ANSWERS = "clavi clavi-plain causal causal-plain decomp"
MODEL = "--endpoint ENDPOINT --model m --limit 2 --retries 0 --no-progress"
COMMANDS = {
    "read_output OUT": ALL,
    "stressreel verify OUT --workers 1": ALL,
    "stressreel verify OUT --no-decode --json": ALL,
    "stressreel verify OUT --sources sample --sample 1 --workers 1": ALL,
    "stressreel card OUT": ALL,
    "stressreel diff OUT GOOD/NAME": ALL,
    "stressreel diff GOOD/NAME OUT --json --decode": ALL,
    "stressreel push OUT a/b --dry-run --no-decode --workers 1 --no-progress": ALL,
    "stressreel gallery OUT --to TO/out --limit 3 --no-progress": ALL,
    "stressreel gallery OUT --to TO/out --limit 3 --embed videos --no-progress": WITH_VIDEOS,
    "stressreel export lmms-eval OUT --to TO/out": WITH_VIDEOS,
    "stressreel export inspect OUT --to TO/out": WITH_VIDEOS,
    "stressreel export files OUT --to TO/out --no-progress": WITH_VIDEOS,
    "stressreel export webdataset OUT --to TO/out --no-progress": WITH_VIDEOS,
    "stressreel export released OUT --to TO/out": "decomp",
    "stressreel withhold OUT --to TO/out": WITH_VIDEOS,
    "stressreel ask OUT --dry-run --to TO/out.jsonl --frames 2 MODEL": WITH_VIDEOS,
    "stressreel ask OUT --to TO/out.jsonl --frames 2 MODEL": WITH_VIDEOS,
    "stressreel ask OUT --to TO/out.jsonl --send video MODEL": WITH_VIDEOS,
    "stressreel score OUT --predictions ANSWERS --partial --resamples 100 --split all --out TO/out": WITH_ANSWERS,
    "stressreel score modalities OUT video+text=ANSWERS video=ANSWERS text=ANSWERS --resamples 100": WITH_ANSWERS,
    "stressreel score text-shift OUT --no-progress": "perturbed",
    "stressreel score open-ended OUT --predictions ANSWERS --no-sbert --meteor nltk --partial --out TO/out "
    "--resamples 100": "causal causal-plain",
    "stressreel audit OUT --no-sbert --resamples 100 --to TO/out": WITH_ANSWERS,
    "stressreel permute OUT --to TO/out.jsonl --sets 1 --split all": "clavi-plain",
    "BUILD --out OUT": ALL,
    "resume BUILD --out OUT": ALL,
    "BUILD --out OUT --fresh": "clavi-plain perturbed",
}
SLOW = ("decode_clips", "verify", "push", "audit", "--fresh", "resume", "gallery", "score", "ask", "--source")


@dataclass(frozen=True)
class Target:
    """A line, with the path in the folder of good files that it reads."""

    line: str
    path: str

    @property
    def folder(self) -> str:
        return self.path.split("/")[0]

    @property
    def writes(self) -> bool:
        """Whether it may write to what it reads."""
        return " card " in self.line or " text-shift " in self.line or "--out IN" in self.line

    @property
    def asks(self) -> bool:
        """Whether it may connect to the model."""
        return " ask " in self.line and "--dry-run" not in self.line


def targets(builds: tuple[str, ...] = tuple(BUILDS), *, quick: bool = False) -> list[Target]:
    """List the targets for some builds, without the slow ones if `quick`."""
    lines = [*LOADERS, *([] if quick else SCORED)]
    for line, names in COMMANDS.items():
        for name in set(names.split()) & set(builds):
            filled = line.replace("OUT", f"IN/{name}").replace("NAME", name).replace("MODEL", MODEL)
            build = f"{BUILDS[name]} --workers 1 --no-progress"
            lines.append(filled.replace("ANSWERS", f"GOOD/answers/{name}.jsonl").replace("BUILD", build))
    found = [Target(line, next(word[3:] for word in line.split() if word.startswith("IN/"))) for line in sorted(lines)]
    return [target for target in found if not quick or not set(SLOW) & set(target.line.split())]


# Functions that lines name


def read_charades_files(folder: Path) -> None:
    from stressreel.annotations.charades import read_charades
    from stressreel.annotations.charades_sta import read_charades_sta

    read_charades_sta(folder, read_charades(folder))


def read_published_graphs(folder: Path) -> None:
    from stressreel.annotations.agqa_hierarchies import find_hierarchies, read_hierarchies, read_isolated
    from stressreel.builders.decomp.hierarchies import PublishedGraphs

    (found,) = find_hierarchies(folder)
    isolated = read_isolated(found.isolated) if found.isolated else []
    read = PublishedGraphs("A", list(read_hierarchies(found.files["A"])), isolated)
    list(read.rows())
    list(read.graphs())


def read_questions_of_videos(path: Path) -> None:
    from stressreel.annotations.agqa import index_rows, read_rows

    index = index_rows(path)
    for video in index.spans:
        read_rows(path, index.of(video), index.stamp)


def read_scene_graphs(path: Path) -> None:
    from stressreel.annotations.agqa_graphs import open_graphs

    graphs = open_graphs(path)
    for video in graphs.spans:
        graphs.read(video)


def read_journal(path: Path) -> None:
    from stressreel.evaluation.models.journal import AnswerJournal

    with AnswerJournal(path, JOURNAL):
        pass


def decode_clips(folder: Path) -> None:
    from stressreel.video.decode import decode, upright, with_index
    from stressreel.video.sound import read_sound
    from stressreel.video.thumbnails import UNDECODABLE, look_at

    def read(index: Any) -> None:
        for frame in decode(index, range(min(index.num_frames, 40))):
            upright(frame)
        read_sound(index, Fraction(0), min(index.seconds(index.num_frames), Fraction(60)))

    for path in folder.iterdir():
        with suppress(*UNDECODABLE):
            look_at(path.read_bytes(), pictures=False)
        with_index(path, read)


def read_output(out: Path) -> None:
    import stressreel
    from stressreel.builders.perturbed.load import load
    from stressreel.core.errors import StressreelError

    output = stressreel.read(out)
    for config, splits in output.configs.items():
        for split in splits:
            for _ in output.rows(config, split):
                pass
    with suppress(StressreelError):
        output.items()
    if out.name == "perturbed":
        load(out, "jpeg", videos=Path("GOOD/sample"), frames=2)


# Good files

IDS = [f"q{number}" for number in range(20)]
JOURNAL = {"model": "m", "shown": {"frames": 4}}
ANSWERS = (
    "A",
    "(B)",
    "Answer: C",
    "the dog barked",
    "<think>A or B?</think> B",
    "1",
    "yes",
    "I cannot tell",
    "B. It",
    "",
)


def prepare(good: Path, run: Callable[[str], None], builds: tuple[str, ...], *, quick: bool) -> None:
    """Write the good files; `run` executes a line, which must succeed."""
    _annotations(good)
    _agqa(good)
    _predictions(good / "predictions")
    for name in builds:
        run(f"{BUILDS[name]} --out GOOD/{name} --workers 1 --no-progress")
    if not quick:
        _clips(good / "clips")
        _scored(good, run)


def _write(files: dict[str, Any], folder: Path) -> None:
    """Write files: a text, rows for .csv and .jsonl, or any value as JSON."""
    import pyarrow as pa
    from pyarrow import csv

    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        if isinstance(value, str):
            (folder / name).write_text(value, encoding="utf-8")
        elif name.endswith(("csv", "tsv")):
            options = csv.WriteOptions(delimiter="\t" if name.endswith("tsv") else ",")
            csv.write_csv(pa.Table.from_pylist(value), folder / name, options)
        elif name.endswith("jsonl"):
            (folder / name).write_text("".join(json.dumps(row) + "\n" for row in value))
        else:
            (folder / name).write_text(json.dumps(value))


def _annotations(good: Path) -> None:
    from stressreel.annotations.causalchaos import FIRST_COLOUR, STABLE
    from stressreel.annotations.samples.cache import cached_sample

    for name, folder in (("charades", "charades"), ("causal", "questions"), ("msrvtt", "msrvtt")):
        shutil.copytree(cached_sample(name), good / folder, ignore=shutil.ignore_patterns("*.mp4"))
    segments = [{"segment": [n, n + 4], "id": n, "sentence": f"stir the soup {n}"} for n in range(4)]
    recipe = {"duration": 61.5, "subset": "validation", "recipe_type": "226", "annotations": segments}
    ext = {"out_a": "5.701", "out_b": "24.525", "in_a": "14.927", "in_b": "16.603"}
    info = [["c000", "6.50", "14.70"], ["c063", "17.20", "24.50"]]
    pair = {"vid_id": "DOQ9Y", "info": info, "other_actions": ["c006", "c097"], "ext": ext}
    splits = ("train", "validate", "test")
    captions = [{"video": f"v{n}.mp4", "caption": "a dog runs", "start": n, "end": n + 2.5, "id": n} for n in range(5)]
    phrases = ("opening the door", "add the oil and stir", "a man eats an apple")
    own = [
        {"video": f"v{n}.mp4", "start": 5 * n, "end": 5 * n + 4, "phrase": phrases[n], "split": "train"}
        for n in range(3)
    ]
    questions = [{"id": n, "question": f"Why {n}?", "answer": f"because {n}", "group": n % 3} for n in range(9)]
    files = {
        "pairs.json": {f"{n:08x}": pair for n in range(6)},
        "MSRVTT_data.json": {
            "videos": [{"video_id": f"video{n}", "split": split} for n, split in enumerate(splits)],
            "sentences": [{"video_id": f"video{n % 3}", "caption": f"a man runs {n}", "sen_id": n} for n in range(9)],
        },
        "validation_youcook_milnce.csv": "end,start,task,text,video_id\n"
        + "".join(f"{n + 4},{n},226,stir the soup {n},GLd3aX16zBg\n" for n in range(5)),
        "youcookii_annotations_trainval.json": {
            "database": {"GLd3aX16zBg": recipe, "fn9anlEL4FI": {**recipe, "subset": "training"}}
        },
        **{"captions.csv": captions, "captions.jsonl": captions, "segments.csv": own, "segments.jsonl": own},
        "activitynet.json": {"v_1": {"duration": 20.5, "timestamps": [[0, 5.5], [6, 20]], "sentences": phrases[:2]}},
        **{"own.csv": questions, "own.jsonl": questions, "cast.txt": "Tom, male  # the cat\nMammy Two Shoes, female\n"},
        **{
            "fps.json": {"S01E01": 23.976, "S01E02": "24000/1001"},
            "fps.txt": "episode,fps\nS01E01,23.976\nS01E02=25\n",
        },
        "sync.csv": f"Episode,{FIRST_COLOUR},{STABLE}\nS01E01,100,120\nS01E02,NA (none),77\n",
        "offsets.csv": "Episode,Offset\nS01E01,-3\nS01E02,+12\n",
        "config.yaml": "seed: 3\nlimit: 2\nsource: actions\nrules: released\nrender: false\nversion: 1.0.0\n",
    }
    _write(files, good / "annotations")


def _agqa(good: Path) -> None:
    from agqa_files import row, write_graphs

    rows = {identity: row(identity) for identity in ("YSKX3-1", "LSKA2-1", "YSKX3-2")}
    write_graphs(good / "agqa" / "AGQA_test_stsgs.pkl")
    _write({"test_balanced.txt": json.dumps(rows)}, good / "agqa")
    what, touching, phone, root = "What is it?", "Is the person touching something?", "Does a phone exist?", "Is it?"
    nodes = {touching: ("Relation Exists", "yes"), what: ("Object", None), phone: ("Object Exists", "yes")}
    graph = {
        **{"question": root, "type": "Object Equals", "new_program": "equals(phone)", "answer": "no"},
        "old_program": "Exists(phone, Iterate(video, Filter(frame, [objects])))",
        "subquestion": {
            text: {"type": kind, "program": "objExists(phone)", "answer": answer, "key": f"A-1_{number}"}
            for number, (text, (kind, answer)) in enumerate(nodes.items())
        },
        "hierarchy": {what: {"Interaction": [touching]}, root: {"Equals": [phone, what]}},
    }
    alone = {"type": "Object Exists", "answer": "yes", "key": "A-2", "question": phone}
    _write({"A.json": {"A-1": graph}, "isolated.json": [alone]}, good / "hierarchies")


def _predictions(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from inspect_logs import DEFLATED, eval_file, json_file, sample
    from stressreel.evaluation.models.journal import AnswerJournal
    from stressreel.evaluation.models.models import Reply

    rows = [{"id": name, "answer": ANSWERS[n % len(ANSWERS)], "config": "ud"} for n, name in enumerate(IDS)]
    logged = [{"doc_id": n, "stressreel": {**row, "fingerprint": "f"}, "resps": [["A"]]} for n, row in enumerate(rows)]
    options = ["Tom was hungry", "Jerry ran away", "the dog barked"]
    item = {"question": "Why?", "answer": "B", "options": json.dumps(options), "ts": "1.5-3"}
    items = [{"id": n, **item, "video_id": f"v{n}", "source_id": f"s{n}"} for n in IDS]
    as_lists = [{**item, "options": options, "answer_index": 1} for item in items]
    files = {"p.jsonl": rows, "p.csv": rows, "p.tsv": rows, "p.json": {row["id"]: row["answer"] for row in rows}}
    _write({**files, "20_samples_ud.jsonl": logged, "items.csv": items, "items.jsonl": as_lists}, folder)
    pq.write_table(pa.Table.from_pylist(rows), folder / "p.parquet")
    samples = [sample(number, line["stressreel"]) for number, line in enumerate(logged)]
    eval_file(folder / "log.eval", samples)
    eval_file(folder / "deflated.eval", samples, DEFLATED)
    json_file(folder / "2026-11-22T15-40-45-00-00_ud_x.json", samples)
    asked = folder.with_name("asked")
    asked.mkdir()
    with AnswerJournal(asked / "a.journal", JOURNAL) as journal:
        for number in range(6):
            journal.add(f"video|questions/{number}", Reply("Yes, “it” is.", False, 100, 2, "m", {"moved": 0.25}))


def _clips(folder: Path) -> None:
    """Copy a clip of the sample, and real ones in other containers if there are some."""
    from stressreel.annotations.samples.cache import cached_sample

    real = Path(os.environ.get("STRESSREEL_SHARED", ".")) / "videos"
    found = [path for path in real.rglob("*") if path.suffix in (".mkv", ".webm", ".mov", ".avi", ".h264")]
    folder.mkdir()
    drawn = sorted(cached_sample("msrvtt").rglob("*.mp4"))
    for number, path in enumerate([drawn[0], *sorted(found, key=lambda path: path.stat().st_size)[:6]]):
        shutil.copy(path, folder / f"{number}{path.suffix}")


def _scored(good: Path, run: Callable[[str], None]) -> None:
    """Write predictions for the outputs, and scores, audits and matrices as the commands write them."""
    import stressreel
    from safetensors.numpy import save_file

    def right_answers(name: str) -> Iterator[dict[str, str]]:
        items = stressreel.read(good / name).items(split="all")
        for identity, options, right in zip(items.ids, items.options, items.truth, strict=True):
            yield {"id": identity, "answer": str(options[int(right)]) if len(options) else "yes"}

    _write({f"{name}.jsonl": list(right_answers(name)) for name in WITH_ANSWERS.split()}, good / "answers")
    run("stressreel score GOOD/clavi --predictions GOOD/answers/clavi.jsonl --split all --out GOOD/scores")
    run("stressreel audit GOOD/clavi --no-sbert --resamples 100 --to GOOD/audit")
    clips = [row["clip_id"] for row in stressreel.read(good / "perturbed").rows("clean")]
    ranked = [{"id": clip, "ranked": clips} for clip in clips]
    _write({"clean.jsonl": ranked, "typos.jsonl": ranked}, good / "ranked")
    _write({"clips.txt": "\n".join(clips)}, good / "similarity")
    matrix = np.eye(len(clips), dtype=np.float32)
    np.save(good / "similarity" / "clean.npy", matrix)
    save_file({"similarity": matrix}, good / "similarity" / "typos.safetensors")
