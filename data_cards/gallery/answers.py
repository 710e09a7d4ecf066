"""The answers and scores that a gallery shows: from a folder of scores, a predictions file, an audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.errors import InputError
from ...core.files import sha256_file
from ...core.output import FinishedOutput
from ...evaluation.metrics.folder import read_scores
from ...evaluation.metrics.inputs import predictions_identity
from ...evaluation.metrics.predictions import of_output, read_predictions
from .exhibits import Answers
from .guesses import read_guesses
from .site import score_page

MATRICES = (".npy", ".safetensors")


@dataclass(frozen=True)
class GivenAnswers:
    """What a gallery is given besides the output.

    Attributes:
        answers: The answers.
        scores: What the page of scores shows; None if there are none.
        identity: What decides the content, for `output.json`.
        remark: What the user has to know; empty if nothing.
    """

    answers: Answers
    scores: dict[str, Any] | None = None
    identity: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""


def read_given(
    output: FinishedOutput,
    *,
    scores: Path | None = None,
    predictions: Path | None = None,
    config: str | None = None,
    first: int = 0,
    audit: Path | None = None,
) -> GivenAnswers:
    """Read what a gallery is given.

    Args:
        output: The output that it shows.
        scores: A folder of scores. Its predictions are looked for beside it, by their name and SHA-256.
        predictions: The predictions, if they are elsewhere, or without scores.
        config: The table that they answer.
        first: Number of the first option in answers that are numbers.
        audit: What models that see no video choose; see `data_cards.gallery.guesses`.

    Raises:
        UsageError: One of the paths is not there.
        InputError: One cannot be read, is of another output, or the predictions of the scores are not found.
    """
    fingerprint = output.info["fingerprint"]
    shown, remark = None, ""
    identity: dict[str, Any] = {}
    if scores is not None:
        scored = read_scores(scores)
        about = scored.about
        if about["output"]["fingerprint"] != fingerprint:
            raise InputError(
                f"{scores} holds scores on another output (fingerprint {about['output']['fingerprint'][:16]}, not "
                f"{fingerprint[:16]}). Give those of {output.path}, or score it again."
            )
        try:
            shown = score_page(about)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{scores} is damaged ({type(error).__name__}: {error}). Score again.") from error
        config = config or shown["config"]
        folder = scores.parent if scores.is_file() else scores
        identity["scores"] = sha256_file(folder / "scores.json")
        if predictions is None:
            predictions = _beside(folder, about["predictions"])
        if predictions is not None and _of_similarities(predictions):
            predictions = None
            remark = (
                "The scores are of similarities, by which no single item is right or wrong: tables alone are shown."
            )
    rows = None
    if predictions is not None:
        rows = of_output(read_predictions(predictions, expected=output.num_rows), config, fingerprint)
        identity |= {"predictions": predictions_identity(predictions), "config": config, "first_index": first}
    guesses = {}
    if audit is not None:
        guesses = read_guesses(audit, fingerprint=fingerprint)
        identity["audit"] = sha256_file(audit / "audit.json" if audit.is_dir() else audit)
    return GivenAnswers(Answers(rows, config, first, guesses), shown, identity, remark)


def _beside(folder: Path, named: Mapping[str, Any]) -> Path:
    """Find the predictions of scores beside their folder.

    Raises:
        InputError: They are not there, or changed since.
    """
    name = str(named["file"]).rstrip("/")
    path = folder.absolute().parent / name
    if name in ("", "..") or "\0" in name or name != Path(name).name or not path.exists():
        raise InputError(
            f"{folder} is of the predictions {name}, which are not beside it. Name them with --predictions."
        )
    if path.is_file() and "sha256" in named and sha256_file(path) != named["sha256"]:
        raise InputError(f"{path} has changed since {folder} was written. Score it again, or name --predictions.")
    return path


def _of_similarities(path: Path) -> bool:
    return path.is_dir() and any(each.suffix in MATRICES for each in path.iterdir())
