"""Whatever a card's head says, `load_dataset` is led to nothing but the shards."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from datasets import load_dataset
from stressreel.builders.runtime.table_checks import check_load_dataset
from stressreel.core.output import FinishedOutput
from stressreel.core.output_files import data_files, other_files
from stressreel.core.schema import Column, Config

NUMBERS = Config("numbers", "numbers", (Column("number", "int32", "a number"),))
COUNTS = {"numbers": {"test": 0}}
GOOD = yaml.safe_dump({"license": "mit", "configs": data_files([NUMBERS], COUNTS)})


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (GOOD.replace("numbers/test-*", "http://127.0.0.1/x"), "lists files other"),
        (GOOD.replace("numbers/test-*", "../secret"), "lists files other"),
        ("- a\n", "lists files other"),
        (f"{GOOD}a: &a [x]\nb: *a\n", "is invalid"),
        (GOOD, ".huggingface.yaml overrides the head"),
        (None, "there is no README.md"),
    ],
)
def test_card_with_other_files_is_not_loaded(tmp_path, head, said):
    if head is not None:
        (tmp_path / "README.md").write_text(f"---\n{head}---\n\n# A card\n")
    if head == GOOD:
        assert other_files(tmp_path, [NUMBERS], COUNTS) == ""
        (tmp_path / ".huggingface.yaml").write_text(GOOD)
    assert said in other_files(tmp_path, [NUMBERS], COUNTS)
    (problem,) = check_load_dataset(FinishedOutput(tmp_path, {"counts": COUNTS}), [NUMBERS])
    assert said in problem


def test_rebuilt_output_is_loaded_anew(tmp_path):
    out, found = tmp_path / "out", []
    (out / "numbers").mkdir(parents=True)
    for rows, fingerprint in ((3, "aa"), (2, "bb")):
        pq.write_table(pa.table({"number": list(range(rows))}), out / "numbers" / "test-00000-of-00001.parquet")
        head = yaml.safe_dump({"configs": data_files([NUMBERS], COUNTS, fingerprint)})
        (out / "README.md").write_text(f"---\n{head}---\n", encoding="utf-8")
        assert other_files(out, [NUMBERS], COUNTS) == ""
        found.append(load_dataset(str(out), "numbers", split="test").num_rows)
    assert found == [3, 2]
