import hashlib

import pytest
from stressreel.annotations.charades import COLUMNS, class_files, read_charades
from stressreel.core.errors import InputError
from stressreel.templates import load_classes

ROW = "46GP8,HR43,Kitchen,6,7,Yes,A script.,food;stove,A description.,c092 11.90 21.20;c147 0.00 12.60,24.83"


def test_class_files_must_match_the_table(tmp_path):
    (tmp_path / "Charades_v1_train.csv").write_text("\n".join([",".join(COLUMNS), ROW, ""]), encoding="utf-8")
    for name, lines in class_files(load_classes()).items():
        (tmp_path / name).write_bytes("".join(f"{line} \r\n\n" for line in lines).encode())
    hashes = read_charades(tmp_path).hashes
    assert hashes == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.iterdir()}
    for name in class_files(load_classes()):
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole + b"c157 Flying\n")
        with pytest.raises(InputError, match=rf"{name}, line \d+: .*'c157 Flying'"):
            read_charades(tmp_path)
        (tmp_path / name).write_bytes(whole)
