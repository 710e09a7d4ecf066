from pathlib import Path
from typing import Any

from forger import Forgery, forge
from stressreel.builders.causal.chosen import check_chosen
from stressreel.builders.causal.settings import settings_of
from stressreel.core.checks import Finding
from stressreel.core.output import open_output

Row = dict[str, Any]


def found(out: Path) -> list[Finding]:
    output = open_output(out)
    return [each for each in check_chosen(output, settings_of(output.info)) if isinstance(each, str)]


def wrong(row: Row) -> int:
    """The place of a mined option."""
    return next(place for place, source in enumerate(row["sources"]) if source["kind"] in ("hard", "carried"))


def other_text(row: Row) -> None:
    row["options"][wrong(row)] += " again"


def other_cosine(row: Row) -> None:
    row["sources"][wrong(row)]["cos_text"] += 0.01


def other_lender(row: Row) -> None:
    row["sources"][wrong(row)]["cos_question"] = 0.11


def the_same(row: Row) -> None:
    row["options"][wrong(row)] = row["options"][row["answer_index"]]


def test_what_was_not_is_found(built_causal: Path, tmp_path: Path) -> None:
    changed: list[str] = []

    def forgery(forged: Forgery) -> None:
        for row, change in zip(forged.rows("ud"), (other_text, other_cosine, other_lender, the_same), strict=False):
            change(row)
            changed.append(row["qid"])

    findings = found(forge(built_causal, tmp_path / "forged", forgery, card=False))
    named = {qid for each in findings if (qid := each.split(": ")[1]) not in changed}
    missed = [qid for qid in changed if not any(f" {qid}: " in each for each in findings)]
    assert (missed, len(changed)) == ([], 4), findings
    assert named == set(), findings  # of what was chosen, nothing is found
