"""The journal: what was answered is not asked again, whatever happens to the writer."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.errors import InputError, MismatchError, OutputError
from stressreel.evaluation.models import Reply
from stressreel.evaluation.models.journal import AnswerJournal

ABOUT = {"model": "m", "shown": {"frames": 4}}


def test_answers_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a" / "j"
    replies = {"a": Reply("yes\n\u2028", True, 3, 1, "n"), "b": Reply("", effect={"moved": 0.5})}
    with AnswerJournal(path, ABOUT) as journal:
        for key, reply in replies.items():
            journal.add(key, reply)
    with AnswerJournal(path, ABOUT) as journal:
        assert journal.replies == replies
    before, fps = path.read_bytes(), {"shown": {"frames": 4, "fps": 2}}
    for change, says in (({"model": "other"}, "model 'm'; now: model 'other'"), (fps, "fps None; now: shown.fps 2")):
        with pytest.raises(MismatchError, match=says), AnswerJournal(path, {**ABOUT, **change}):
            pass
    assert path.read_bytes() == before
    with AnswerJournal(path, ABOUT, fresh=True) as journal:
        assert journal.replies == {}


@settings(max_examples=30, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40), st.integers(1, 400))
def test_only_an_incomplete_last_line_is_dropped(tmp_path_factory: Any, text: str, cut: int) -> None:
    path = tmp_path_factory.mktemp("j") / "j"
    with AnswerJournal(path, ABOUT) as journal:
        journal.add("a", Reply(text))
        journal.add("b", Reply("yes"))
    content = path.read_bytes()
    last = content.rstrip(b"\n").rfind(b"\n") + 1
    path.write_bytes(content[: max(last, len(content) - cut)])
    with AnswerJournal(path, ABOUT) as journal:
        assert journal.replies == {"a": Reply(text)}
        journal.add("b", Reply("no"))
    with AnswerJournal(path, ABOUT) as journal:
        assert journal.replies["b"] == Reply("no")
    path.write_bytes(content[: min(cut, content.index(b"\n"))])  # killed before its first line was whole
    with AnswerJournal(path, ABOUT) as journal:
        assert journal.replies == {}


@pytest.mark.parametrize(
    "line",
    [
        *(b"[]", b"\xff", b'{"key": 1, "text": "a"}', b'{"key": "a", "text": 3}', b'{"text": "a", "x": 1}'),
        *(b'{"key": "a", "text": "a", "cut": "no"}', b'{"key": "a", "text": "a", "input_tokens": "3"}'),
    ],
)
def test_invalid_lines_are_refused(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "j"
    with AnswerJournal(path, ABOUT):
        pass
    for content, number in ((path.read_bytes() + line, 2), (line, 1)):
        path.write_bytes(content + b"\n")
        with pytest.raises(InputError, match=f"line {number}"), AnswerJournal(path, ABOUT):
            pass


def test_journal_is_locked_for_one_run(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with AnswerJournal(path, ABOUT), pytest.raises(OutputError, match="another run"), AnswerJournal(path, ABOUT):
        pass
    with pytest.raises(OutputError, match="cannot write"), AnswerJournal(tmp_path / "j" / "k", ABOUT):
        pass
