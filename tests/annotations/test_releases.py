"""The released files of every dataset are read completely."""

import json

import pytest
from stressreel.annotations.causalchaos import read_causalchaos, read_events
from stressreel.annotations.charades import class_files, read_charades
from stressreel.annotations.clavi import read_released
from stressreel.annotations.msrvtt import read_msrvtt
from stressreel.annotations.youcook2 import read_steps, read_youcook2
from stressreel.templates import load_classes

pytestmark = [pytest.mark.full, pytest.mark.shared]


@pytest.mark.parametrize(
    ("read", "path", "counts"),
    [
        (read_msrvtt, "msrvtt", {"clips": 1000, "videos": 1000, "captions": 1000}),
        (read_youcook2, "youcook2", {"clips": 3350, "videos": 436, "clips_with_the_times_of_another": 1}),
        (read_steps, "youcook2", {"phrases": 13829, "videos": 1790}),
        (read_charades, "charades", {"videos": 9848, "videos_without_actions": 223}),
        (read_causalchaos, "causalchaos/Annotations.csv", {"rows": 4945, "rows_that_overlap_another": 3821}),
        (read_events, "causalchaos/Annotations.csv", {"phrases": 4945, "videos": 161}),
    ],
)
def test_released_files_are_read_completely(shared, read, path, counts):
    found = read(shared / "data" / path)
    assert {name: found.counts[name] for name in counts} == counts
    if read in (read_steps, read_events):  # most phrases are asked about
        assert sum(len(video.segments) for video in found.videos) >= 0.85 * counts["phrases"]


def test_classes_of_charades_are_ours(shared):
    for name, lines in class_files(load_classes()).items():
        assert (shared / "data/charades" / name).read_text().splitlines() == lines


def test_pairs_of_clavi_are_read_exactly(shared):
    path = shared / "data/clavi/train_annotations.json"
    released, pairs = json.loads(path.read_text()), read_released(path)
    assert len(pairs) == 1915
    for pair, (key, entry) in zip(pairs, released.items(), strict=True):
        assert (pair.id, pair.video_id, list(pair.others)) == (key, entry["vid_id"], entry["other_actions"])
        assert [list(pair.a), list(pair.b)] == [[key, float(s), float(e)] for key, s, e in entry["info"]]
        cuts = [float(entry["ext"][name]) for name in ("out_a", "in_a", "in_b", "out_b")]
        assert [cut / 1000 for cut in pair.cuts_ms] == cuts
