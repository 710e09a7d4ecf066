from __future__ import annotations

from collections import Counter
from pathlib import Path

import yaml
from stressreel.annotations.causalchaos import read_causalchaos
from stressreel.annotations.samples import causal
from stressreel.annotations.samples.causal import annotation_table, sample_episodes, write_causal_annotations

CAST = yaml.safe_load(Path(causal.__file__).with_suffix(".yaml").read_text(encoding="utf-8"))["cast"]


def test_it_is_read_without_a_problem_and_is_what_it_says(tmp_path: Path) -> None:
    path = write_causal_annotations(tmp_path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbfQID,Filename,Start Frame,End Frame,Question,Answer,Explanation")
    rows = read_causalchaos(path).rows
    assert [int(row.qid) for row in rows] == list(range(1, 61))
    assert len({row.episode for row in rows}) == 6
    assert path.read_text(encoding="utf-8") == annotation_table()


def test_every_part_lies_in_its_episode_and_every_position_split_gets_rows() -> None:
    for episode in sample_episodes():
        ends = [row.end_frame for row in episode.rows]
        assert all(0 <= row.start_frame < row.end_frame <= episode.frames for row in episode.rows)
        assert ends == sorted(ends)
        middles = [(row.start_frame + row.end_frame) / 2 / episode.frames for row in episode.rows]
        parts = Counter("train" if m < 0.7 else "validation" if m < 0.85 else "test" for m in middles)
        assert set(parts) == {"train", "validation", "test"}


def test_the_sentences_are_whole_and_about_the_cast() -> None:
    rows = [row for episode in sample_episodes() for row in episode.rows]
    assert len({row.question for row in rows}) == len({row.answer for row in rows}) == len(rows)
    for row in rows:
        assert row.question.startswith("Why ")
        assert row.question.endswith("?")
        assert row.answer.endswith(".")
        assert row.explanation.endswith(".")
        assert any(name in row.question + row.answer + row.explanation for name in CAST)
    assert not {"Tom", "Jerry", "Spike"} & set(" ".join(map(" ".join, (row[2:] for row in rows))).split())
