"""Every reader of files that others give, with good files for it to begin with."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import click
import numpy as np
from stressreel.cli import main
from stressreel.core.errors import StressreelError

MOST_SAID = 20_000  # characters on standard error
FRAMES = 40  # decoded of each clip
SMALL_CLIP = 300_000  # bytes


class Fault(Exception):
    """A command did not end as it should."""


class Refusal(Exception):
    """A command refused its input, as it may."""


REFUSED = (StressreelError, click.ClickException, Refusal)


@dataclass(frozen=True)
class Reader:
    """What is fuzzed.

    Attributes:
        name: Its name.
        files: The files to damage, below the folder with good ones, and what each holds; see `mutations.mutate`.
        read: Reads the folder in which one of them is damaged.
        weight: How often it is taken, against the others.
        folder: What of the good files it needs; by default what is named like itself.
        slow: Whether a short run leaves it out.
    """

    name: str
    files: dict[str, str]
    read: Callable[[Path], object]
    weight: float = 1
    folder: str = ""
    slow: bool = False


def ran(name: str, *arguments: object) -> tuple[int, str, str]:
    """Run a real command in this process; give its exit code, what it wrote and what it said.

    Raises:
        Fault: It ended otherwise than a command may, or said too much.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors) for errors in ("strict", "backslashreplace"))
    sys.argv = [name, *map(str, arguments)]
    code: Any = None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main.main() if name == "stressreel" else main.build()
        except SystemExit as end:
            code = end.code
    written, said = (stream.buffer.getvalue().decode() for stream in _flushed(out, err))
    if code not in (0, 1, 2) or "fault in stressreel" in said or "Traceback" in said or len(said) > MOST_SAID:
        raise Fault(f"{name} ended with {code}: {said[-600:]}")
    return int(code), written, said


def command(name: str, *arguments: object) -> str:
    """Run a real command in this process; give what it wrote.

    Raises:
        Refusal: It ended with 1 or 2.
        Fault: It ended otherwise than a command may, or said too much.
    """
    code, written, said = ran(name, *arguments)
    if code:
        raise Refusal(said)
    return written


def _flushed(*streams: io.TextIOWrapper) -> Iterator[Any]:
    for stream in streams:
        stream.flush()
        yield stream


def every(*reads: Callable[[], object]) -> None:
    """Read all, whatever is refused; then refuse what was refused last."""
    refusal: Exception | None = None
    for read in reads:
        try:
            read()
        except REFUSED as error:
            refusal = error
    if refusal is not None:
        raise refusal


# Good files


def prepare(folder: Path, shared: Path | None, *, quick: bool) -> None:
    """Write the good files.

    Args:
        folder: Where to; each reader's are in a folder of its own.
        shared: A folder with `data` and `videos`, real annotations and clips, if there is one.
        quick: Only what readers that are not slow need.
    """
    _annotations(folder, shared / "data" if shared else None)
    _agqa(folder)
    _predictions(folder)
    _asked(folder)
    _build(folder, "build-clavi", "--charades", folder / "charades", "--no-render", "--limit", 3, out="clavi")
    if quick:
        return
    causal = ("--negatives", "random", "--num-options", 3, "--confuse", 0, "--splits", "UD", "--no-render")
    texts = ("--modality", "text", "--text-perturbations", "typos", "--limit", 4)
    _build(folder, "build-causal", "--annotations", folder / "questions" / "Annotations.csv", *causal, out="causal")
    _build(folder, "build-perturbed", "--msrvtt", folder / "msrvtt", *texts, out="suite")
    _scores(folder)
    _videos(folder, shared / "videos" if shared else None)


def _build(folder: Path, name: str, *arguments: object, out: str) -> None:
    command(name, *arguments, "--no-progress", "--out", folder / "built" / out)


def _cut(source: Path, target: Path, lines: int) -> None:
    """Take the first lines of a real file; of Charades-STA those about the videos that were taken of Charades."""
    text: Iterable[str] = io.StringIO(source.read_text(encoding="utf-8"))
    if "charades_sta" in target.name:
        videos = target.with_name(target.name.replace("charades_sta", "Charades_v1")).with_suffix(".csv").read_text()
        text = (line for line in text if f"\n{line.split()[0]}," in videos)
    target.write_text("".join(islice(text, lines)), encoding="utf-8")


def _annotations(folder: Path, data: Path | None) -> None:
    from stressreel.annotations.causalchaos import FIRST_COLOUR, STABLE
    from stressreel.annotations.samples.causal import annotation_table as questions
    from stressreel.annotations.samples.charades import annotation_table, class_tables, sample_videos, sentence_list
    from stressreel.annotations.samples.msrvtt import caption_table, sample_clips

    real = {
        **{f"charades/Charades_v1_{split}.csv": f"charades/Charades_v1_{split}.csv" for split in ("train", "test")},
        **{
            f"charades/charades_sta_{split}.txt": f"charades_sta/charades_sta_{split}.txt"
            for split in ("train", "test")
        },
        "msrvtt/MSRVTT_JSFUSION_test.csv": "msrvtt/MSRVTT_JSFUSION_test.csv",
        "youcook2/validation_youcook_milnce.csv": "youcook2/validation_youcook_milnce.csv",
        "questions/Annotations.csv": "causalchaos/Annotations.csv",
    }
    drawn: dict[str, str] = {"msrvtt/MSRVTT_JSFUSION_test.csv": caption_table(sample_clips())}
    for split in ("train", "test"):
        videos = [video for video in sample_videos() if video.split == split]
        drawn[f"charades/Charades_v1_{split}.csv"] = annotation_table(videos)
        drawn[f"charades/charades_sta_{split}.txt"] = sentence_list(videos)
    for name, text in class_tables().items():
        drawn[f"charades/{name}"] = text
    drawn["questions/Annotations.csv"] = questions()
    drawn["youcook2/validation_youcook_milnce.csv"] = "end,start,task,text,video_id\n" + "".join(
        f"{n + 4},{n},226,stir the soup {n},GLd3aX16zBg\n" for n in range(5)
    )
    segments = [{"segment": [n, n + 4], "id": n, "sentence": f"stir the soup {n}"} for n in range(4)]
    one = {"duration": 61.5, "subset": "validation", "recipe_type": "226", "annotations": segments}
    drawn["youcook2/youcookii_annotations_trainval.json"] = json.dumps(
        {"database": {"GLd3aX16zBg": one, "fn9anlEL4FI": {**one, "subset": "training"}}}
    )
    videos_json = [{"video_id": f"video{n}", "split": split} for n, split in enumerate(("train", "validate", "test"))]
    sentences = [{"video_id": f"video{n % 3}", "caption": f"a man runs {n}", "sen_id": n} for n in range(9)]
    drawn["msrvtt_json/MSRVTT_data.json"] = json.dumps({"videos": videos_json, "sentences": sentences})
    info = [["c000", "6.50", "14.70"], ["c063", "17.20", "24.50"]]
    cuts = {"out_a": "5.701", "out_b": "24.525", "in_a": "14.927", "in_b": "16.603"}
    pair = {"vid_id": "DOQ9Y", "info": info, "other_actions": ["c006", "c097"], "ext": cuts}
    drawn["pairs/test_annotations.json"] = json.dumps({f"{n:08x}": pair for n in range(6)}, indent=4)
    captions = [
        {"video": f"v{n}.mp4", "caption": "a dog runs", "start": n, "end": n + 2.5, "id": f"c{n}"} for n in range(5)
    ]
    drawn["captions/captions.csv"] = _csv(captions)
    drawn["captions/captions.jsonl"] = _lines(captions)
    phrases = ("opening the door", "add the oil and stir", "a man eats an apple")
    segments = [
        {"video": f"v{n // 3}.mp4", "start": 5 * n, "end": 5 * n + 4.5, "phrase": phrases[n % 3], "split": "train"}
        for n in range(6)
    ]
    drawn["segments/segments.csv"], drawn["segments/segments.jsonl"] = _csv(segments), _lines(segments)
    drawn["segments/activitynet.json"] = json.dumps(
        {"v_1": {"duration": 20.5, "timestamps": [[0, 5.5], [6.1, 20]], "sentences": [*phrases[:2]]}}
    )
    own = [
        {"id": n, "question": f"Why {n}?", "answer": f"because {n}", "group": n % 3, "split": "test"} for n in range(9)
    ]
    drawn["questions/own.csv"], drawn["questions/own.jsonl"] = _csv(own), _lines(own)
    drawn["questions/cast.txt"] = "Tom, male  # the cat\nMammy Two Shoes, female\nSpike\n"
    drawn["causalchaos/fps.json"] = '{"S01E01": 23.976, "S01E02": "24000/1001"}'
    drawn["causalchaos/fps.txt"] = "episode,fps\nS01E01,23.976\nS01E02=25\n"
    frames = f"Episode,{FIRST_COLOUR},{STABLE}\n"
    drawn["causalchaos/sync.csv"] = frames + "S01E01,100,120\nS01E02,NA (none),77\n"
    drawn["causalchaos/offsets.csv"] = "Episode,Offset\nS01E01,-3\nS01E02,+12\n"
    drawn["config/config.yaml"] = (
        "seed: 3\nlimit: 2\nsource: actions\nrules: released\nrender: false\nsplit: test\nversion: 1.0.0\n"
    )
    for name, text in drawn.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for name, source in real.items():
        if data and (data / source).is_file():
            _cut(data / source, folder / name, 40)
    if data and (data / "clavi" / "train_annotations.json").is_file():
        pairs = json.loads((data / "clavi" / "train_annotations.json").read_text(encoding="utf-8"))
        text = json.dumps(dict(islice(pairs.items(), 20)), indent=4)
        (folder / "pairs" / "test_annotations.json").write_text(text, encoding="utf-8")
    for name in ("config", "built"):
        shutil.copytree(folder / "charades", folder / name / "charades")


def _csv(rows: list[dict[str, Any]], delimiter: str = ",") -> str:
    target = io.StringIO()
    writer = csv.DictWriter(target, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


def _lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


ITEMS = [f"q{n}" for n in range(20)]
JOURNAL = {"model": "m", "shown": {"frames": 4}}
SAID = (
    "A",
    "(B)",
    "Answer: C",
    "the dog barked",
    "<think>A or B?</think> B",
    "1",
    "yes",
    "I cannot tell",
    "B. It ran",
    "",
)


def _agqa(folder: Path) -> None:
    sys.path.append(str(Path(__file__).parents[1] / "support"))
    from agqa_files import row, write_graphs

    rows = {identity: row(identity) for identity in ("YSKX3-1", "LSKA2-1", "YSKX3-2")}
    (folder / "agqa").mkdir(parents=True)
    (folder / "agqa" / "test_balanced.txt").write_text(json.dumps(rows), encoding="utf-8")
    write_graphs(folder / "agqa" / "AGQA_test_stsgs.pkl")
    _hierarchies(folder / "hierarchies")
    _signature(folder / "signature")


def _signature(folder: Path) -> None:
    (folder / "questions").mkdir(parents=True)
    resources = [{"name": f"questions/{number}.parquet", "digest": hashlib.sha256().hexdigest()} for number in range(3)]
    for each in resources:
        (folder / each["name"]).touch()
    payload = base64.b64encode(json.dumps({"predicate": {"resources": resources}}).encode()).decode()
    bundle = {"verificationMaterial": {"publicKey": {"hint": "0"}}, "dsseEnvelope": {"payload": payload}}
    (folder / "model.sig").write_text(json.dumps(bundle))


def _hierarchies(folder: Path) -> None:
    """Write a published graph, and a root without one."""
    what, touching, phone, root = "What is it?", "Is the person touching something?", "Does a phone exist?", "Is it?"
    nodes = {touching: ("Relation Exists", "yes"), what: ("Object", None), phone: ("Object Exists", "yes")}
    graph = {
        "question": root,
        "type": "Object Equals",
        "old_program": "Exists(phone, Iterate(video, Filter(frame, [objects])))",
        "new_program": "equals(phone)",
        "answer": "no",
        "subquestion": {
            text: {"type": kind, "program": "objExists(phone)", "answer": answer, "key": f"A-1_{number}"}
            for number, (text, (kind, answer)) in enumerate(nodes.items())
        },
        "hierarchy": {what: {"Interaction": [touching]}, root: {"Equals": [phone, what]}},
    }
    folder.mkdir(parents=True)
    (folder / "A.json").write_text(json.dumps({"A-1": graph}), encoding="utf-8")
    alone = [{"type": "Object Exists", "answer": "yes", "key": "A-2", "question": phone}]
    (folder / "isolated.json").write_text(json.dumps(alone), encoding="utf-8")


def _predictions(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"id": name, "answer": SAID[n % len(SAID)], "config": "ud"} for n, name in enumerate(ITEMS)]
    place = folder / "predictions"
    place.mkdir(parents=True)
    (place / "p.jsonl").write_text(_lines(rows))
    (place / "p.json").write_text(json.dumps({row["id"]: row["answer"] for row in rows}))
    (place / "list.json").write_text(json.dumps(rows))
    (place / "p.csv").write_text(_csv(rows))
    (place / "p.tsv").write_text(_csv(rows, "\t"))
    table = pa.table({name: [row[name] for row in rows] for name in rows[0]} | {"n": list(range(len(rows)))})
    pq.write_table(table, place / "p.parquet")
    pq.write_table(table, place / "plain.parquet", use_dictionary=False, compression="none")
    logged = [{"doc_id": n, "stressreel": {**row, "fingerprint": "f"}, "resps": [["A"]]} for n, row in enumerate(rows)]
    (place / "20_samples_ud.jsonl").write_text(_lines(logged))
    _inspect_logs(place, [line["stressreel"] for line in logged])
    options = ["Tom was hungry", "Jerry ran away", "the dog barked"]
    items = [
        {"id": n, "question": "Why?", "answer": "B", "options": json.dumps(options), "video_id": f"v{n}", "ts": "1.5-3"}
        for n in ITEMS
    ]
    (place / "items.csv").write_text(_csv(items))
    (place / "items.jsonl").write_text(_lines([{**item, "options": options, "answer_index": 1} for item in items]))


def _asked(folder: Path) -> None:
    """Write a journal of answers."""
    from stressreel.evaluation.models.journal import AnswerJournal
    from stressreel.evaluation.models.models import Reply

    place = folder / "asked"
    place.mkdir()
    with AnswerJournal(place / "a.journal", JOURNAL) as journal:
        for number in range(6):
            journal.add(f"video|questions/{number}", Reply("Yes, “it” is.", False, 100, 2, "m", {"moved": 0.25}))


def _inspect_logs(place: Path, logged: list[dict[str, Any]]) -> None:
    sys.path.append(str(Path(__file__).parents[1] / "support"))
    from inspect_logs import DEFLATED, eval_file, json_file, sample

    samples = [sample(number, each) for number, each in enumerate(logged)]
    eval_file(place / "log.eval", samples)
    eval_file(place / "deflated.eval", samples, DEFLATED)
    json_file(place / "2026-11-22T15-40-45-00-00_ud_x.json", samples)


def _scores(folder: Path) -> None:
    from safetensors.numpy import save_file
    from stressreel.core.output import open_output

    built, given = folder / "built", folder / "scored"
    given.mkdir()
    clavi = open_output(built / "clavi")
    rows = [{"id": row["question_id"], "answer": ("yes", "no")[n % 2]} for n, row in enumerate(clavi.rows("questions"))]
    for name in ("a", "b"):
        (given / f"{name}.jsonl").write_text(_lines(rows))
        command("stressreel", "score", built / "clavi", "--predictions", given / f"{name}.jsonl", "--split", "all")
    guesses = {row["id"]: [{"guesser": "a", "choice": 1}, {"guesser": "b", "choice": [0, 1]}] for row in rows}
    audit = {"config": "questions", "part": "answer", "choices": guesses}
    (given / "audit.json").write_text(json.dumps({"audits": [audit]}), encoding="utf-8")
    suite = open_output(built / "suite")
    clips = [row["clip_id"] for row in suite.rows("clean", ["clip_id"])]
    matrices = folder / "similarity"
    matrices.mkdir()
    size = len(clips)
    np.save(matrices / "clean.npy", np.eye(size, dtype=np.float32))
    save_file({"similarity": np.eye(size, dtype=np.float32)}, matrices / "typos.safetensors")
    (matrices / "clips.txt").write_text("\n".join(clips))
    settings = [{"setting": name, "id": clip, "correct": 1} for name in ("clean", "typos") for clip in clips]
    (given / "suite.jsonl").write_text(_lines(settings))
    ranked = folder / "ranked"
    ranked.mkdir()
    for name in ("clean", "typos"):
        (ranked / f"{name}.jsonl").write_text(_lines([{"id": clip, "ranked": clips} for clip in clips]))


SMALLEST = 12


def _videos(folder: Path, videos: Path | None) -> None:
    from stressreel.annotations.samples.msrvtt import sample_clips, write_msrvtt_sample

    place = folder / "clips"
    place.mkdir()
    write_msrvtt_sample(folder / "drawn", sample_clips()[:2])
    found = sorted((folder / "drawn").rglob("*.mp4"))
    if videos:
        real = [path for path in videos.rglob("*") if path.suffix in (".mp4", ".mkv", ".webm", ".mov", ".avi", ".h264")]
        found += sorted(real, key=lambda path: path.stat().st_size)[: 2 * SMALLEST]
    for number, path in enumerate(found):
        shutil.copy(path, place / f"{number:02d}{path.suffix}")


# Readers


def read_charades_(folder: Path) -> None:
    from stressreel.annotations.charades import read_charades
    from stressreel.annotations.charades_sta import read_charades_sta

    read_charades_sta(folder, read_charades(folder))


def read_pairs(folder: Path) -> None:
    from stressreel.annotations.clavi import read_released

    read_released(folder / "test_annotations.json")


def read_clips(folder: Path) -> None:
    from stressreel.annotations.captions import read_captions
    from stressreel.annotations.msrvtt import read_msrvtt
    from stressreel.annotations.youcook2 import read_youcook2

    def read(path: Path) -> None:
        whole = path.suffix == ".json"
        if path.name.startswith("captions"):
            read_captions(path)
        elif path.name.startswith("MSRVTT"):
            read_msrvtt(path, ("train", "validation", "test") if whole else ("test",))
        else:
            read_youcook2(path, ("train", "validation") if whole else ("validation",))

    every(*(partial(read, path) for path in sorted(folder.iterdir())))


def read_agqa_rows(folder: Path) -> None:
    from stressreel.annotations.agqa import index_rows, iterate_rows, read_rows

    path = folder / "test_balanced.txt"

    def by_video() -> None:
        index = index_rows(path)
        for video in index.spans:
            read_rows(path, index.of(video), index.stamp)

    every(lambda: [*iterate_rows(path)], by_video)


def read_agqa_graphs(folder: Path) -> None:
    from stressreel.annotations.agqa_graphs import open_graphs

    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    graphs = open_graphs(folder / "AGQA_test_stsgs.pkl")
    for video in graphs.spans:
        graphs.read(video)


def read_signature(folder: Path) -> None:
    from stressreel.core.output import FinishedOutput
    from stressreel.exports.hub.signature import check_signature

    check_signature(FinishedOutput(folder, {}))


def read_published(folder: Path) -> None:
    from stressreel.annotations.agqa_hierarchies import find_hierarchies, read_hierarchies, read_isolated
    from stressreel.builders.decomp.hierarchies import PublishedGraphs

    (found,) = find_hierarchies(folder)
    graphs = list(read_hierarchies(found.files["A"]))
    read = PublishedGraphs("A", graphs, read_isolated(found.isolated) if found.isolated else [])
    every(lambda: [*read.rows()], lambda: [*read.graphs()])


def read_segment_files(folder: Path) -> None:
    from stressreel.annotations.segments import read_segments

    every(*(partial(read_segments, path) for path in sorted(folder.iterdir())))


def read_causal_files(folder: Path) -> None:
    from stressreel.annotations.causalchaos import read_fps_map, read_offsets, read_sync_frames

    every(
        lambda: read_fps_map(folder / "fps.json"),
        lambda: read_fps_map(folder / "fps.txt"),
        lambda: read_sync_frames(folder / "sync.csv"),
        lambda: read_offsets(folder / "offsets.csv"),
        lambda: read_offsets(folder / "sync.csv", folder / "sync.csv"),
    )


def read_question_files(folder: Path) -> None:
    from stressreel.annotations.causalchaos import read_causalchaos
    from stressreel.annotations.questions import read_questions
    from stressreel.negatives.cast import read_cast

    every(
        lambda: read_causalchaos(folder / "Annotations.csv"),
        lambda: read_cast(folder / "cast.txt"),
        *(partial(read_questions, folder / name) for name in ("Annotations.csv", "own.csv", "own.jsonl")),
    )


def read_prediction_files(folder: Path) -> None:
    from stressreel.builders.parts import items_of_output
    from stressreel.evaluation.blind.items_file import read_asked
    from stressreel.evaluation.metrics.items import read_items
    from stressreel.evaluation.metrics.predictions import join, read_predictions
    from stressreel.evaluation.models.questions import questions_of_file

    options = [("Tom was hungry", "Jerry ran away", "the dog barked")] * len(ITEMS)

    def read(path: Path) -> None:
        if path.name.startswith("items"):
            every(
                partial(read_items, path, items_of_output), partial(questions_of_file, path), partial(read_asked, path)
            )
        else:
            join(read_predictions(path, expected=len(ITEMS)), ITEMS, options, partial=True)

    every(*(partial(read, path) for path in sorted(folder.iterdir())), lambda: read_predictions(folder))


def read_journal(folder: Path) -> None:
    from stressreel.evaluation.models.journal import AnswerJournal

    with AnswerJournal(folder / "a.journal", JOURNAL):
        pass


def build_json(folder: Path) -> None:
    _output_checks(folder / "clavi")


def _output_checks(out: Path) -> None:
    from stressreel.builders import benchmark_of
    from stressreel.builders.parts import card_of, checks_for
    from stressreel.builders.runtime.rebuild import RebuildOptions
    from stressreel.builders.runtime.verify import run_checks
    from stressreel.core.output import reading
    from stressreel.data_cards.card import render_card
    from stressreel.evaluation.metrics.inputs import read_columns

    def card() -> None:
        with reading(out) as output:
            benchmark = benchmark_of(output)
            render_card(output, benchmark.configs(output.info), card_of(benchmark))

    def columns() -> None:
        with reading(out) as output:
            read_columns(output, "questions", ("question_id", "answer"), "all")

    with reading(out) as output:
        checks = checks_for(output, None, RebuildOptions(decode=False))
    quick = {
        name: check for name, check in checks.items() if name not in ("load_dataset", "decord", "card", "croissant")
    }
    failed = [problem for outcome in run_checks(output, quick) for problem in outcome.problems]
    every(card, columns)
    if failed:
        raise Refusal(failed[0])


def differing(out: Path) -> None:
    """Compare an output with itself under other hashes, so that its rows are read."""
    other = shutil.copytree(out, out.with_name("other"), dirs_exist_ok=True)
    file = other / "build.json"
    file.write_bytes(re.sub(rb'"[0-9a-f]{64}"', b'"0"', file.read_bytes()))
    (other / "units.parquet").unlink(missing_ok=True)
    try:
        command("stressreel", "diff", out, other)
    except Refusal as refusal:
        if str(refusal):  # not that they differ
            raise


def whole_output(folder: Path) -> None:
    out = folder / "clavi"
    every(
        lambda: differing(out),
        lambda: command("stressreel", "verify", out, "--no-decode"),
        lambda: command("stressreel", "card", out),
        lambda: command("stressreel", "permute", out, "--to", folder / "permuted.csv"),
    )


def causal_output(folder: Path) -> None:
    out = folder / "causal"
    every(
        lambda: command("stressreel", "card", out),
        lambda: command("stressreel", "verify", out, "--no-decode"),
    )


def resumed(folder: Path) -> None:
    out = folder / "clavi"
    (out / "build.json").unlink()
    command("build-clavi", "--charades", folder / "charades", "--no-render", "--limit", 3, "--out", out)


def compared(folder: Path) -> None:
    one, other = folder / "a.all.scores", folder / "b.all.scores"
    every(
        *(
            partial(command, "stressreel", "compare", *both, "--resamples", 100)
            for both in ((one, other), (one, one), (other, other))
        ),
        partial(command, "stressreel", "table", one, other, "--of", "fine_grained"),
    )


def in_gallery(folder: Path) -> None:
    out, given = (
        folder.parent / "outputs" / "clavi",
        ("--scores", folder / "a.all.scores", "--audit", folder / "audit.json"),
    )
    command("stressreel", "gallery", out, *given, "--to", folder.parent / "out", "--force", "--no-progress")


def scored(folder: Path) -> None:
    outputs, options = folder.parent / "outputs", ("--resamples", 100, "--partial")

    def score(output: str, predictions: str, *more: str) -> None:
        command("stressreel", "score", outputs / output, "--predictions", folder / predictions, "--out",
                folder / f"of-{output}", *options, *more)  # fmt: skip

    every(lambda: score("clavi", "a.jsonl", "--split", "all"), lambda: score("suite", "suite.jsonl"))


def retrieved(folder: Path) -> None:
    suite = folder.parent / "outputs" / "suite"
    command("stressreel", "score", suite, "--similarity", folder, "--resamples", 100, "--out", folder.parent / "out")


def configured(folder: Path) -> None:
    command("build-clavi", "--config", folder / "config.yaml", "--charades", folder / "charades", "--dry-run")


def planned(folder: Path) -> None:
    command("build-clavi", "--charades", folder, "--source", "sta", "--dry-run")


def decoded(folder: Path) -> None:
    from stressreel.video.decode import decode, upright, with_index
    from stressreel.video.sound import read_sound
    from stressreel.video.thumbnails import UNDECODABLE, look_at

    for path in folder.iterdir():
        if os.stat(path).st_size < SMALL_CLIP:
            with suppress(*UNDECODABLE):
                look_at(path.read_bytes(), pictures=False)

        def work(index: Any) -> None:
            for frame in decode(index, range(min(index.num_frames, FRAMES))):
                upright(frame)
            read_sound(index, Fraction(0), min(index.seconds(index.num_frames), Fraction(60)))

        with_index(path, work)


def _files(kind: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, kind)


CHARADES = {
    **_files("csv", "Charades_v1_train.csv", "Charades_v1_test.csv"),
    **_files(
        "text", "charades_sta_train.txt", "charades_sta_test.txt", "Charades_v1_classes.txt", "Charades_v1_mapping.txt"
    ),
}
READERS = (
    Reader("Charades and Charades-STA", CHARADES, read_charades_, 3, "charades"),
    Reader("Charades, by the command", CHARADES, planned, 0.5, "charades", slow=True),
    Reader("released CLAVI pairs", _files("json", "test_annotations.json"), read_pairs, 2, "pairs"),
    Reader("MSR-VTT CSV", _files("csv", "MSRVTT_JSFUSION_test.csv"), read_clips, 1.5, "msrvtt"),
    Reader("MSR-VTT JSON", _files("json", "MSRVTT_data.json"), read_clips, 1.5, "msrvtt_json"),
    Reader(
        "YouCook2",
        {"validation_youcook_milnce.csv": "csv", "youcookii_annotations_trainval.json": "json"},
        read_clips,
        2.5,
        "youcook2",
    ),
    Reader(
        "annotated segments",
        {"segments.csv": "csv", "segments.jsonl": "json", "activitynet.json": "json"},
        read_segment_files,
        2.5,
        "segments",
    ),
    Reader("AGQA's questions", _files("json", "test_balanced.txt"), read_agqa_rows, 2, "agqa"),
    Reader("AGQA's scene graphs", _files("bytes", "AGQA_test_stsgs.pkl"), read_agqa_graphs, 0.2, "agqa", slow=True),
    Reader("AGQA-Decomp's graphs", _files("json", "A.json", "isolated.json"), read_published, 2, "hierarchies"),
    Reader("signatures", _files("json", "model.sig"), read_signature, 0.5, "signature"),
    Reader("captions", {"captions.csv": "csv", "captions.jsonl": "json"}, read_clips, 2.5, "captions"),
    Reader(
        "questions and CausalChaos",
        {"Annotations.csv": "csv", "own.csv": "csv", "own.jsonl": "json", "cast.txt": "text"},
        read_question_files,
        3,
        "questions",
    ),
    Reader(
        "frame rates and offsets",
        {"fps.json": "json", "fps.txt": "text", "sync.csv": "csv", "offsets.csv": "csv"},
        read_causal_files,
        1.5,
        "causalchaos",
    ),
    Reader(
        "predictions and items",
        {
            **_files("json", "p.jsonl", "p.json", "list.json", "20_samples_ud.jsonl", "items.jsonl"),
            **_files("json", "2026-11-22T15-40-45-00-00_ud_x.json"),
            **_files("csv", "p.csv", "p.tsv", "items.csv"),
            **_files("bytes", "p.parquet", "plain.parquet", "log.eval", "deflated.eval"),
        },
        read_prediction_files,
        6,
        "predictions",
    ),
    Reader("answers of a model", _files("json", "a.journal"), read_journal, 1, "asked"),
    Reader("scores, by the command", _files("json", "a.jsonl", "suite.jsonl"), scored, 0.5, "scored", slow=True),
    Reader(
        "matrices",
        {**_files("bytes", "clean.npy", "typos.safetensors"), "clips.txt": "text"},
        retrieved,
        1.5,
        "similarity",
        slow=True,
    ),
    Reader("ranked lists", _files("json", "clean.jsonl", "typos.jsonl"), retrieved, 0.5, "ranked", slow=True),
    Reader(
        "score folders",
        {"a.all.scores/scores.json": "json", "b.all.scores/per_source.parquet": "bytes"},
        compared,
        0.7,
        "scored",
        slow=True,
    ),
    Reader(
        "scores and audits in a gallery",
        {"a.all.scores/scores.json": "json", "audit.json": "json"},
        in_gallery,
        0.7,
        "scored",
        slow=True,
    ),
    Reader("config", _files("text", "config.yaml"), configured, 1, "config"),
    Reader("build.json", _files("json", "clavi/build.json"), build_json, 1, "built"),
    Reader(
        "shards",
        _files(
            "bytes",
            "clavi/pairs/train-00000-of-00001.parquet",
            "clavi/questions/train-00000-of-00001.parquet",
            "clavi/questions/test-00000-of-00001.parquet",
        ),
        build_json,
        2,
        "built",
    ),
    Reader(
        "journal and plan",
        _files("json", "clavi/.build/plan.json", "clavi/.build/journal.jsonl"),
        resumed,
        0.7,
        "built",
        slow=True,
    ),
    Reader(
        "outputs, by the commands",
        {"clavi/build.json": "json", "clavi/questions/test-00000-of-00001.parquet": "bytes", "clavi/README.md": "text"},
        whole_output,
        0.1,
        "built",
        slow=True,
    ),
    Reader(
        "causal outputs, by the commands",
        {"causal/build.json": "json", "causal/ud/test-00000-of-00001.parquet": "bytes"},
        causal_output,
        0.15,
        "built",
        slow=True,
    ),
    Reader("clips", {}, decoded, 3, "clips", slow=True),  # one of the folder's clips each time
)
