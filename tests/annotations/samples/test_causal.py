from pathlib import Path

from stressreel.annotations.causalchaos import read_causalchaos
from stressreel.annotations.samples.causal import annotation_table, write_causal_annotations


def test_it_is_read_without_a_problem_and_is_what_it_says(tmp_path: Path) -> None:
    path = write_causal_annotations(tmp_path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbfQID,Filename,Start Frame,End Frame,Question,Answer,Explanation")
    rows = read_causalchaos(path).rows
    assert [int(row.qid) for row in rows] == list(range(1, 61))
    assert len({row.episode for row in rows}) == 6
    assert path.read_text(encoding="utf-8") == annotation_table()
