"""Options chosen on a machine that rounds differently: they are taken where the rules allow them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forger import Forgery, forge
from stressreel import build
from stressreel.annotations.samples import cached_sample
from stressreel.builders import benchmark_of
from stressreel.builders.causal import prepare
from stressreel.builders.rebuild import Rebuild, RebuildOptions, Sources, prepare_again
from stressreel.core.output import open_output
from stressreel.core.seeds import rng_for
from stressreel.language.embeddings import Embeddings

Row = dict[str, Any]
NOISE = 1e-7


class Noisy(Embeddings):
    """Embeddings of another processor."""

    def __call__(self, texts: Sequence[str]) -> Any:
        noise = [rng_for(0, "noise", text).standard_normal(384) for text in texts]
        return (super().__call__(texts) + NOISE * np.array(noise)).astype(np.float32)


@pytest.fixture(scope="module", params=["strict", "none"])
def elsewhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sample as on a machine with another processor."""
    out: Path = tmp_path_factory.mktemp("elsewhere") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepare, "Embeddings", Noisy)
        patch.setattr(prepare, "engine", lambda: "another engine")
        build(
            "causal", out=out, annotations="sample", render=False, splits=["UD"], balance=request.param, progress=False
        )
    return out


def problems(out: Path) -> list[str]:
    """Compare rows and records with those of the build made again."""
    output = open_output(out)
    folder = cached_sample("causal-annotations")
    found = prepare_again(output, benchmark_of(output), Sources([folder], folder))
    assert isinstance(found, tuple)
    prepared, info = found
    again = RebuildOptions(decode=False)
    rebuild = Rebuild(prepared, info, output, again)
    checks = (rebuild.check_rows, rebuild.check_choices, rebuild.check_record)
    return [finding for check in checks for finding in check(output) if isinstance(finding, str)]


def wrong(row: Row) -> int:
    return next(place for place, source in enumerate(row["sources"]) if source["kind"] in ("hard", "carried"))


def other_text(row: Row) -> None:
    row["options"][wrong(row)] = "Bananas sing."


def other_cosine(row: Row) -> None:
    row["sources"][wrong(row)]["cos_text"] += 0.01


def other_donor(row: Row) -> None:
    row["sources"][wrong(row)]["qid"] = row["qid"]


def test_honest_choices_of_another_machine_are_accepted(elsewhere: Path) -> None:
    assert problems(elsewhere) == []


@pytest.mark.parametrize("change", [other_text, other_cosine, other_donor])
def test_what_was_not_chosen_is_noticed(elsewhere: Path, tmp_path: Path, change: Callable[[Row], None]) -> None:
    changed: list[str] = []

    def forgery(forged: Forgery) -> None:
        row = forged.rows("ud")[1]
        change(row)
        changed.append(row["qid"])

    found = problems(forge(elsewhere, tmp_path / "forged", forgery, card=False))
    assert any(f": {changed[0]}: " in problem for problem in found), found


def test_notes_and_plan_are_compared(elsewhere: Path, tmp_path: Path) -> None:
    def forgery(forged: Forgery) -> None:
        forged.info["notes"]["leaks"]["ud"]["test"]["overlapping"] += 1
        forged.info["plan_sha256"] = "0" * 64

    found = problems(forge(elsewhere, tmp_path / "forged", forgery, card=False))
    assert [
        name for name in ("notes.leaks.ud.test.overlapping", "plan_sha256") if not any(name in each for each in found)
    ] == []
