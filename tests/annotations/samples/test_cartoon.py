from pathlib import Path

import numpy as np
from stressreel.annotations.causalchaos import read_causalchaos
from stressreel.annotations.samples.cartoon import HELD, frames, write_causal_texts
from stressreel.annotations.samples.causal import sample_episodes


def test_an_episode_has_its_frames_and_moves() -> None:
    episode = sample_episodes()[0]
    shown = [picture.copy() for picture, _ in zip(frames(episode, 0), range(40), strict=False)]
    assert shown[0].shape == (240, 320, 3)
    assert shown[0].dtype == np.uint8
    assert np.array_equal(shown[0], shown[HELD - 1])
    assert all(not np.array_equal(shown[n], shown[n + HELD]) for n in range(0, 38, HELD))
    assert sum(1 for _ in frames(episode, 0)) == episode.frames


def test_episodes_look_different() -> None:
    first = [next(frames(episode, number)) for number, episode in enumerate(sample_episodes())]
    assert len({picture.tobytes() for picture in first}) == len(first)


def test_every_question_lies_inside_its_episode(tmp_path: Path) -> None:
    write_causal_texts(tmp_path)
    rows = read_causalchaos(tmp_path / "Annotations.csv").rows
    lengths = {episode.id: episode.frames for episode in sample_episodes()}
    assert all(row.end_frame <= lengths[row.episode] for row in rows)
    assert "CC0" in (tmp_path / "README.txt").read_text()
