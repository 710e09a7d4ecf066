"""Real annotations of CausalChaos and YouCook2: how many pairs there are, and where their frames lie."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import av
import pyarrow.parquet as pq
import pytest
from commands import run
from stressreel.annotations.actions import Action, AnnotatedVideo, Segment
from stressreel.annotations.causalchaos import read_causalchaos
from stressreel.builders.clavi.pairs import Limits
from stressreel.builders.clavi.prepare import read_plan
from stressreel.builders.clavi.sameness import Sameness
from stressreel.builders.clavi.segments import segment_pairs
from stressreel.builders.clavi.settings import ClaviSettings, decided
from stressreel.builders.clavi.sources import AnnotationInput

pytestmark = [pytest.mark.shared, pytest.mark.full]
FILES = {"causalchaos": "causalchaos/Annotations.csv", "youcook2": "youcook2/youcookii_annotations_trainval.json"}
CUTS = ("out_a", "in_a", "in_b", "out_b")


def plain(spans: Iterable[tuple[float, float, str]]) -> AnnotatedVideo:
    """A video of phrases that say the same only if they are the same."""
    segments = [Segment(Action(text, text, text, text, frozenset()), start, end) for start, end, text in spans]
    return AnnotatedVideo("V", "train", "", 1e6, tuple(segments), frozenset(), frozenset(), {})


def counts_of(videos: Iterable[AnnotatedVideo]) -> Counter[str]:
    counts = Counter[str]()
    for video in videos:
        list(segment_pairs(video, Sameness(), Limits(4.0, 36.0, 90.0, 0.0, decimal=True), counts))
    return counts


def test_pairs_in_reach_of_causalchaos(shared: Path) -> None:
    """22,103 by lengths and span alone; 72 of them ask the same question twice."""
    episodes: dict[str, list[tuple[float, float, str]]] = {}
    for row in read_causalchaos(shared / "data" / FILES["causalchaos"]).rows:
        episodes.setdefault(row.episode, []).append((row.start_frame / 25, row.end_frame / 25, row.question))
    counts = counts_of(map(plain, episodes.values()))
    assert (counts["pairs_in_reach"], counts["pairs_left_out_same_meaning"]) == (22103, 72)


def test_pairs_in_reach_of_youcook2(shared: Path) -> None:
    """19,698 by lengths and span with another phrase."""
    database = json.loads((shared / "data" / FILES["youcook2"]).read_text())["database"]
    steps = ([(*map(float, x["segment"]), x["sentence"]) for x in info["annotations"]] for info in database.values())
    counts = counts_of(map(plain, steps))
    assert counts["pairs_in_reach"] - counts["pairs_left_out_same_meaning"] == 19698


@pytest.fixture(scope="module")
def standins(shared: Path) -> Any:
    spec = importlib.util.spec_from_file_location("standins", shared / "tools" / "standins.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_frame_of_a_step_lies_where_the_plan_says(shared: Path, standins: Any, tmp_path: Path) -> None:
    released, rate = shared / "data" / FILES["youcook2"], Fraction(12)
    database = json.loads(released.read_text())["database"]
    file = tmp_path / released.name
    chosen = [[n for n in database if database[n]["subset"] == subset][:4] for subset in ("training", "validation")]
    file.write_text(json.dumps({"database": {name: database[name] for names in chosen for name in names}}))
    given = AnnotationInput(file, decided(ClaviSettings(youcook2=file)), ("train", "validation"))
    plan = read_plan(given, pairs=(), limit=None, version="1.0.0", tools={})
    early = min(plan.units, key=lambda unit: unit.payload["out_b"])
    seconds = early.payload["out_b"] + 2
    standins.write(tmp_path / f"{early.source_id}.mp4", seconds, rate, standins.texture(None, 160, 64, 8), 250)
    options = ("--same-by", "lemmas", "--preset", "ultrafast", "--allow-missing", "--max-skip", 1, "--no-progress")
    out = tmp_path / "out"
    done = run("build-clavi", "--youcook2", file, "--videos", tmp_path, "--out", out, *options, "--no-check-space")
    assert done.code == 0, done.err
    pairs = [row for path in out.glob("pairs/*.parquet") for row in pq.read_table(path).to_pylist()]
    (pair,) = (row for row in pairs if row["pair_id"] == early.id)
    first, second, third, stop = (ceil(Fraction(round(pair[cut] * 1000), 1000) * rate) for cut in CUTS)
    order = {"1": [*range(first, stop)], "2": [*range(third, stop), *range(second, third), *range(first, second)]}
    videos = [row for path in out.glob("videos/*.parquet") for row in pq.read_table(path).to_pylist()]
    for row in (row for row in videos if row["pair_id"] == early.id):
        path = tmp_path / "shown.mp4"
        path.write_bytes(row["video"]["bytes"])
        with av.open(str(path)) as container:
            seen = [standins.read_stamp(frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]
        assert seen == order[row["video_id"][-1]]
