from itertools import pairwise

import numpy as np
import pytest
from stressreel.annotations.samples.charades import TONES_HZ, sample_videos, sound
from stressreel.annotations.samples.movements import ACTS


@pytest.mark.parametrize("video", [video for video in sample_videos() if video.actions], ids=lambda video: video.id)
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
