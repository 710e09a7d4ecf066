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
from stressreel.core.numerics import rng_for
from stressreel.core.output import open_output
from stressreel.language.embeddings import Embeddings

Row = dict[str, Any]
Elsewhere = tuple[Path, Any]


class Noisy(Embeddings):
    """Embeddings of another processor."""

    def __call__(self, texts: Sequence[str]) -> Any:
        noise = [rng_for(0, "noise", text).standard_normal(384) for text in texts]
        return (super().__call__(texts) + 1e-7 * np.array(noise)).astype(np.float32)


@pytest.fixture(scope="module", params=["none", pytest.param("strict", marks=pytest.mark.full)])
def elsewhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    """Build the sample as on a machine with another processor, and prepare it again on this one."""
    out: Path = tmp_path_factory.mktemp("elsewhere") / "out"
    options = {"annotations": "sample", "render": False, "splits": ["UD"], "balance": request.param}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepare, "Embeddings", Noisy)
        patch.setattr(prepare, "engine", lambda: "another engine")
        build("causal", out=out, **options, progress=False)
    folder, output = cached_sample("causal-annotations"), open_output(out)
    return out, prepare_again(output, benchmark_of(output), Sources([folder], folder))


def problems(out: Path, again: Any) -> list[str]:
    """Compare rows and records with those of the build made again."""
    output = open_output(out)
    rebuild = Rebuild(*again, output, RebuildOptions(decode=False))
    checks = (rebuild.check_rows, rebuild.check_choices, rebuild.check_record)
    return [finding for check in checks for finding in check(output) if isinstance(finding, str)]


def test_honest_choices_of_another_machine_are_accepted(elsewhere: Elsewhere) -> None:
    assert problems(*elsewhere) == []


def other_text(row: Row, place: int) -> None:
    row["options"][place] = "Bananas sing."


def other_cosine(row: Row, place: int) -> None:
    row["sources"][place]["cos_text"] += 0.01


def other_donor(row: Row, place: int) -> None:
    row["sources"][place]["qid"] = row["qid"]


def test_what_was_not_chosen_is_noticed(elsewhere: Elsewhere, tmp_path: Path) -> None:
    """Each change in a row of its own; and in the notes and the plan."""
    changes: list[Callable[[Row, int], None]] = [other_text, other_cosine, other_donor]
    changed: list[str] = ["notes.leaks.ud.test.overlapping", "plan_sha256"]

    def forgery(forged: Forgery) -> None:
        for row, change in zip(forged.rows("ud")[1:], changes, strict=False):
            kinds = [source["kind"] for source in row["sources"]]
            change(row, next(place for place, kind in enumerate(kinds) if kind in ("hard", "carried")))
            changed.append(f": {row['qid']}: ")
        forged.info["notes"]["leaks"]["ud"]["test"]["overlapping"] += 1
        forged.info["plan_sha256"] = "0" * 64

    found = problems(forge(elsewhere[0], tmp_path / "forged", forgery, card=False), elsewhere[1])
    assert [name for name in changed if not any(name in problem for problem in found)] == []
