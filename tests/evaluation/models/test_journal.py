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


def kept(path: Path, **more: Any) -> dict[str, Reply]:
    with AnswerJournal(path, ABOUT, **more) as journal:
        return dict(journal.replies)


def write(path: Path, **replies: Reply) -> None:
    with AnswerJournal(path, ABOUT) as journal:
        for key, reply in replies.items():
            journal.add(key, reply)


def test_answers_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a" / "j"
    replies = {"a": Reply("yes\n\u2028", True, 3, 1, "n"), "b": Reply("", effect={"moved": 0.5})}
    write(path, **replies)
    assert kept(path) == replies
    before, other = path.read_bytes(), {"model": "m", "shown": {"frames": 4, "fps": 2}}
    with pytest.raises(MismatchError, match=r"fps None; now: shown\.fps 2"), AnswerJournal(path, other):
        pass
    assert path.read_bytes() == before
    assert kept(path, fresh=True) == {}


@settings(max_examples=20, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40), st.integers(1, 400))
def test_only_an_incomplete_last_line_is_dropped(tmp_path_factory: Any, text: str, cut: int) -> None:
    path = tmp_path_factory.mktemp("j") / "j"
    write(path, a=Reply(text), b=Reply("yes"))
    content = path.read_bytes()
    last = content.rstrip(b"\n").rfind(b"\n") + 1
    path.write_bytes(content[: max(last, len(content) - cut)])
    assert kept(path) == {"a": Reply(text)}
    write(path, b=Reply("no"))
    assert kept(path)["b"] == Reply("no")
    path.write_bytes(content[: min(cut, content.index(b"\n"))])  # killed before its first line was whole
    assert kept(path) == {}


def test_invalid_lines_and_other_writers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "j"
    for line in (b"[]", b"\xff", b'{"key": 1, "text": "a"}', b'{"key": "a", "text": "a", "input_tokens": "3"}'):
        write(path)
        path.write_bytes(path.read_bytes() + line + b"\n")
        with pytest.raises(InputError, match="line 2"):
            kept(path)
        path.unlink()
    with AnswerJournal(path, ABOUT), pytest.raises(OutputError, match="another run"):
        kept(path)
