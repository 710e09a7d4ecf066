from __future__ import annotations

import csv
import io
from dataclasses import replace
from itertools import combinations, pairwise

import av
import numpy as np
import pytest
from stressreel.annotations.samples import charades
from stressreel.annotations.samples.acting import ACTS, picture_at, state_at
from stressreel.annotations.samples.charades import TONES_HZ, SampleVideo, frames, sample_videos, sound
from stressreel.templates import load_classes

VIDEOS = sample_videos()
ACTING = [video for video in VIDEOS if video.actions]
BY_ID = {video.id: video for video in VIDEOS}


def named(videos):
    return pytest.mark.parametrize("video", videos, ids=lambda video: video.id)


def label(name: str) -> str:
    return load_classes().classes[name].label


def pairs(video: SampleVideo) -> list[tuple[str, str]]:
    """The pairs of actions that the rules of CLAVI admit."""

    def admitted(a, b) -> bool:
        def edges(action):
            return action.start, action.end

        others = [c for c in video.actions if c not in (a, b)]
        return (
            a.end < b.start
            and min(a.end - a.start, b.end - b.start) >= 4
            and a.action != b.action
            and not any(label(c.action).startswith("Someone") for c in (a, b))
            and video.length_s - a.start - b.end > 10
            and not any(a.end <= t < b.end + 2 for c in others if c.action == a.action for t in edges(c))
            and not any(a.start - 2 < t <= b.start for c in others if c.action == b.action for t in edges(c))
            and any(
                not label(c.action).startswith("Someone") and not any(a.start - 2 <= t < b.end + 2 for t in edges(c))
                for c in others
            )
        )

    return [(a.action, b.action) for a, b in combinations(video.actions, 2) if admitted(a, b)]


def middle(action) -> float:
    return (action.start + action.end) / 2


def test_there_are_videos_for_both_splits_rates_and_subjects():
    assert len(BY_ID) == len(VIDEOS) >= 9
    assert [sum(v.split == split for v in VIDEOS) for split in ("train", "test")] == [7, 3]
    assert {str(v.fps) for v in VIDEOS} == {"12", "25/2", "15000/1001"}
    assert len({v.subject for v in VIDEOS}) >= 2
    assert sum(not v.actions for v in VIDEOS) == 1
    assert any(v.actions[-1].end > v.length_s for v in ACTING)
    assert sum(len(pairs(v)) > 1 for v in VIDEOS) >= 1


@named(ACTING)
def test_every_video_has_an_admitted_pair_and_negative_controls(video):
    assert pairs(video)
    table = load_classes().classes
    verbs = {table[a.action].verb for a in video.actions}
    objects = {table[a.action].object for a in video.actions}
    free = [c for c in table.values() if c.verb not in verbs and c.object not in objects and c.object != "None"]
    assert [c for c in free if not c.label.startswith("Someone")]


@named(ACTING)
def test_every_action_is_drawn_where_its_furniture_stands_and_none_overlap(video):
    for action in video.actions:
        assert ACTS[action.action].furniture in dict(video.stage.stations)
    assert all(a.end < b.start for a, b in pairwise(video.actions))
    assert len(video.sentences) == len(video.actions) <= len(TONES_HZ)
    assert all(0 < len(sentences) <= 2 for sentences in video.sentences)


def test_at_least_twelve_classes_are_performed():
    assert len({a.action for v in VIDEOS for a in v.actions}) >= 12


def test_frames_have_the_stated_number_shape_and_type():
    video = BY_ID["SR0F6"]
    count = 0
    for frame in frames(video):
        assert frame.shape == (240, 320, 3)
        assert frame.dtype == np.uint8
        count += 1
    assert count == video.num_frames == round(video.length_s * video.fps)


@named(VIDEOS)
def test_a_frame_depends_on_the_time_alone(video):
    times = np.linspace(0, video.length_s, 5)
    forward = [picture_at(video.stage, t) for t in times]
    backward = [picture_at(video.stage, t) for t in times[::-1]][::-1]
    assert all(np.array_equal(a, b) for a, b in zip(forward, backward, strict=True))


@named(VIDEOS)
def test_no_second_is_frozen(video):
    seconds = [picture_at(video.stage, t) for t in range(int(video.length_s))]
    assert not any(np.array_equal(a, b) for a, b in pairwise(seconds))


@named(ACTING)
def test_actions_look_different(video):
    shots = [picture_at(video.stage, middle(action)).astype(int) for action in video.actions]
    for a, b in combinations(shots, 2):
        assert np.abs(a - b).mean() > 2


@named(ACTING)
def test_the_picture_moves_on_smoothly_unless_the_light_changes(video):
    light = [a for a in video.actions if a.action in ("c104", "c105")]
    times = [t for a in video.actions if a not in light for t in (a.start, a.end) if t < video.length_s]
    for t in times:
        before, after = (picture_at(video.stage, t + step).astype(int) for step in (-0.01, 0.01))
        assert np.abs(after - before).mean() < 2


def test_what_an_action_changed_stays_changed():
    opened = BY_ID["SR0A1"].actions
    assert [state_at(opened, t)["door"] for t in (0, 7, 26)] == [0, 1, 1]
    assert [state_at(opened, t)["fridge"] for t in (0, 21.5, 26.9)] == [0, 1, 0]
    assert [state_at(BY_ID["SR0B2"].actions, t)["light"] for t in (0, 7)] == [0, 1]


def test_light_brightens_the_room():
    stage = BY_ID["SR0B2"].stage
    assert picture_at(stage, 7).mean() > picture_at(stage, 0).mean() + 40


@named(ACTING)
def test_every_action_has_its_own_tone_and_pauses_are_silent(video):
    rate = 8000
    samples = sound(video, rate)
    assert samples.dtype == np.float32
    assert len(samples) == round(video.num_frames / video.fps * rate)
    assert np.abs(samples).max() <= 1
    heard = []
    for action in video.actions:
        second = samples[int(middle(action) * rate) - rate // 2 :][:rate]
        heard.append(int(np.abs(np.fft.rfft(second)).argmax()))
    assert heard == pytest.approx(TONES_HZ[: len(heard)], abs=1)
    assert len(set(heard)) == len(heard)
    for a, b in pairwise(video.actions):
        assert not samples[int(a.end * rate) + 1 : int(b.start * rate)].any()
    assert np.abs(np.diff(samples)).max() < 0.3  # no click at an edge


def test_annotations_have_the_columns_and_numbers_of_charades():
    text = charades.annotation_table(list(VIDEOS))
    first = text.split("\r\n")[0]
    assert first == "id,subject,scene,quality,relevance,verified,script,objects,descriptions,actions,length"
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(text, newline=""))}
    assert rows["SR0A1"]["actions"].startswith("c008 1.00 6.50;c106 8.20 13.70;")
    assert rows["SR0A1"]["length"] == "27.00"
    assert rows["SR0F6"]["actions"] == ""
    for row in rows.values():
        assert len(row["id"]) == 5
        assert len(row["subject"]) == 4


def test_class_tables_have_the_lines_of_charades():
    tables = {name: text.splitlines() for name, text in charades.class_tables().items()}
    assert tables["classes"][0] == "c000 Holding some clothes"
    assert tables["mapping"][0] == "c000 o009 v008"
    assert tables["objectclasses"][9] == "o009 clothes"
    assert tables["verbclasses"][8] == "v008 hold"
    assert {name: len(lines) for name, lines in tables.items()} == {
        "classes": 157,
        "mapping": 157,
        "objectclasses": 38,
        "verbclasses": 33,
    }


def test_sentences_have_the_lines_of_charades_sta():
    lines = charades.sentence_list([BY_ID["SR0A1"]]).splitlines()
    assert lines[0] == "SR0A1 1.0 6.5##a person opens the door."
    assert lines[-1].startswith("SR0A1 22.2 27.0##")


def test_the_sample_is_written_in_the_layout_of_charades(tmp_path, monkeypatch):
    first = BY_ID["SR0A1"]
    short = (
        replace(first, stage=replace(first.stage, length_s=2.0)),
        replace(BY_ID["SR2H8"], stage=replace(BY_ID["SR2H8"].stage, length_s=2.0)),
    )
    monkeypatch.setattr(charades, "sample_videos", lambda: short)
    charades.write_charades_sample(tmp_path / "sample")
    written = {path.relative_to(tmp_path / "sample").as_posix() for path in (tmp_path / "sample").rglob("*.*")}
    assert written == {
        "Charades_v1_480/SR0A1.mp4",
        "Charades_v1_480/SR2H8.mp4",
        "Charades_v1_classes.txt",
        "Charades_v1_mapping.txt",
        "Charades_v1_objectclasses.txt",
        "Charades_v1_test.csv",
        "Charades_v1_train.csv",
        "Charades_v1_verbclasses.txt",
        "README.txt",
        "charades_sta_test.txt",
        "charades_sta_train.txt",
        "segments.csv",
    }
    with av.open(str(tmp_path / "sample/Charades_v1_480/SR2H8.mp4")) as container:
        assert container.streams.video[0].average_rate == short[1].fps
        assert container.streams.audio[0].rate == charades.SOUND_RATE
        assert sum(1 for _ in container.decode(video=0)) == short[1].num_frames
