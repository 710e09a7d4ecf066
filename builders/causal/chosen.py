"""Check options that were chosen on another machine, where rounding may change the choice, against the mining rules."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core.checks import Chosen, Finding
from ...core.output import FinishedOutput
from ...core.schema import Row
from ...negatives.embeddings_cache import embed
from ...negatives.settings import MiningSettings
from ..runtime.derived import check_derived
from .derived import derived
from .settings import CausalSettings
from .tables import CONFUSED, NAMES, OPEN, RIGHT, causal_configs

FREE = ("blind_guessable", *(name for names in NAMES.values() for name in names))
ROOM = 1.5e-4  # tolerance for a cosine rounded to four decimals on another processor


MINED = ("hard", "carried")


def chosen(settings: CausalSettings) -> Chosen:
    """Return the columns that depend on cosines, and the function that checks them."""
    columns = {scheme: FREE for scheme in settings.splits} | {CONFUSED: (*FREE, "confusions")}
    return Chosen(columns, lambda output: check_chosen(output, settings))


def check_chosen(output: FinishedOutput, settings: CausalSettings) -> Iterator[Finding]:
    """Yield options that do not follow from their donors, or whose cosines are wrong."""
    yield from check_derived(output, causal_configs(settings), derived(output))
    asked: dict[str, str] = {row["qid"]: row["question"] for row in output.rows(OPEN, ["qid", "question"])}
    for table in (name for name in (*settings.splits, CONFUSED) if name in output.info["counts"]):
        for row in output.rows(table):
            asked.setdefault(row["qid"], row["question"])
        rows = list(output.rows(table))
        texts = [text for row in rows for options, *_ in NAMES.values() for text in row[options]]
        texts = list(dict.fromkeys([*texts, *asked.values(), *(row["question"] for row in rows)]))
        vectors = dict(zip(texts, embed(texts, settings.model).astype(np.float64), strict=True))
        for row in rows:
            for options, index, sources in NAMES.values():
                others: list[str] = [asked.get(source["qid"], str(row["question"])) for source in row[sources]]
                right, own = vectors[row[options][row[index]]], vectors[row["question"]]
                for place, source in enumerate(row[sources]):
                    if source["kind"] == RIGHT:
                        continue
                    known = source["qid"] in asked
                    if source["kind"] in MINED and not _allowed(source, settings.mining):
                        yield f"{table}: {row['qid']}: option {place}, or its question, is too similar"
                    text, question = vectors[row[options][place]], vectors[others[place]]
                    for name, cosine in (("cos_text", text @ right), ("cos_question", question @ own)):
                        if (name == "cos_text" or known) and abs(source[name] - cosine) > ROOM:
                            yield f"{table}: {row['qid']}: option {place}: {name} is {source[name]}, not {cosine:.4f}"


def _allowed(source: Row, mining: MiningSettings) -> bool:
    return bool(source["cos_text"] < mining.same_text + ROOM and source["cos_question"] < mining.same_question + ROOM)
