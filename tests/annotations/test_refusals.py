import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from stressreel.annotations.agqa import index_rows, iterate_rows
from stressreel.annotations.captions import read_captions
from stressreel.annotations.causalchaos import read_causalchaos, read_fps_map, read_offsets
from stressreel.annotations.charades import read_charades
from stressreel.annotations.clavi import read_released
from stressreel.annotations.msrvtt import read_msrvtt
from stressreel.annotations.question_tables import read_questions
from stressreel.annotations.segments import read_segments
from stressreel.annotations.youcook2 import read_youcook2
from stressreel.core.errors import InputError

SYNC = (
    "Episode,First color of actual cartoon frame after opening credits,Stable brightness of first actual cartoon frame"
)
CASES = [
    pytest.param(table["reader"], table["file"], case, id=f"{table['reader']}: {case['says'][0][:60]}")
    for table in yaml.safe_load(Path(__file__).with_name("refusals.yaml").read_text(encoding="utf-8"))
    for case in table["cases"]
]


def offsets(path: Path) -> object:
    reference = path.with_name("reference.csv")
    reference.write_text(f"{SYNC}\nS01E01,1,2\n", encoding="utf-8")
    return read_offsets(path, reference)


def agqa(path: Path) -> object:
    with pytest.raises(InputError):
        index_rows(path)
    return list(iterate_rows(path))


READERS: dict[str, Callable[[Path], object]] = {
    "agqa": agqa,
    "captions": read_captions,
    "causalchaos": read_causalchaos,
    "charades": lambda path: read_charades(path.parent),
    "clavi": read_released,
    "fps": read_fps_map,
    "msrvtt": read_msrvtt,
    "offsets": offsets,
    "questions": read_questions,
    "segments": read_segments,
    "youcook2": read_youcook2,
}


@pytest.mark.parametrize(("reader", "file", "case"), CASES)
def test_all_that_is_wrong_is_said(tmp_path: Path, reader: str, file: str, case: dict[str, Any]) -> None:
    path = tmp_path / file
    path.write_bytes(case["text"].encode(errors="surrogateescape"))
    with pytest.raises(InputError) as caught:
        READERS[reader](path)
    for part in case["says"]:
        pattern = part.removeprefix("re:") if part.startswith("re:") else re.escape(part)
        assert re.search(pattern, str(caught.value)), caught.value


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, '{"A-1": ' + "[" * 200_000, '{"A-1": ' + "9" * 5000])
@pytest.mark.parametrize(("reader", "file"), [("captions", "own.jsonl"), ("agqa", "test_balanced.txt")])
def test_what_would_overwhelm_a_parser_is_refused(tmp_path: Path, reader: str, file: str, text: str) -> None:
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=file):
        READERS[reader](path)


@pytest.mark.parametrize("reader", sorted(READERS))
def test_a_file_that_is_not_there_or_not_utf8_is_refused(tmp_path: Path, reader: str) -> None:
    names = {"charades": "Charades_v1_train.csv", "fps": "fps.json"}
    path = tmp_path / names.get(reader, "file.csv")
    with pytest.raises(InputError, match=r"cannot read|there is no|two levels deep"):
        READERS[reader](path)
    path.write_bytes(b'{"a\xff": 1}\n')
    with pytest.raises(InputError, match=r"expected UTF-8|byte \d+"):
        READERS[reader](path)
