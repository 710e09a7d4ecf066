from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from stressreel.annotations.samples.acting import ACTS, picture_at, state_at
from stressreel.annotations.samples.charades import TONES_HZ, sample_videos, sound

VIDEOS = sample_videos()
ACTING = [video for video in VIDEOS if video.actions]
BY_ID = {video.id: video for video in VIDEOS}


def named(videos):
    return pytest.mark.parametrize("video", videos, ids=lambda video: video.id)


@named(VIDEOS)
def test_no_second_is_frozen(video):
    seconds = [picture_at(video.stage, t) for t in range(int(video.length_s))]
    assert not any(np.array_equal(a, b) for a, b in pairwise(seconds))


def test_what_an_action_changed_stays_changed():
    opened = BY_ID["SR0A1"].actions
    assert [state_at(opened, t)["door"] for t in (0, 7, 26)] == [0, 1, 1]
    assert [state_at(opened, t)["fridge"] for t in (0, 21.5, 26.9)] == [0, 1, 0]
    assert [state_at(BY_ID["SR0B2"].actions, t)["light"] for t in (0, 7)] == [0, 1]


def test_a_picture_depends_on_the_time_alone_and_moves_on():
    stage = BY_ID["SR0B2"].stage
    times = list(range(10))
    forward = [picture_at(stage, t) for t in times]
    backward = [picture_at(stage, t) for t in times[::-1]][::-1]
    assert forward[0].shape == (240, 320, 3)
    assert all(np.array_equal(a, b) for a, b in zip(forward, backward, strict=True))
    assert not any(np.array_equal(a, b) for a, b in pairwise(forward))
    assert forward[7].mean() > forward[0].mean() + 40  # the lamp


@named(ACTING)
def test_every_action_has_its_furniture_its_tone_and_sentences(video):
    assert all(a.end < b.start for a, b in pairwise(video.actions))
    assert len(video.sentences) == len(video.actions) <= len(TONES_HZ)
    samples = sound(video, 8000)
    assert len(samples) == round(video.num_frames / video.fps * 8000)
    for action, pitch in zip(video.actions, TONES_HZ, strict=False):
        assert ACTS[action.action].furniture in dict(video.stage.stations)
        middle = int((action.start + action.end) / 2 * 8000)
        assert np.abs(np.fft.rfft(samples[middle - 4000 : middle + 4000])).argmax() == pytest.approx(pitch, abs=1)
    for a, b in pairwise(video.actions):
        assert not samples[int(a.end * 8000) + 1 : int(b.start * 8000)].any()
