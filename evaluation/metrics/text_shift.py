"""Measure how similar perturbed captions are to their originals, with BLEU-4, METEOR, ROUGE-L and perplexity.

See Schiappa et al. 2022 (arXiv 2207.02159), appendix A.3, Table 7 and Figure 11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from math import exp, fsum, isclose
from pathlib import Path
from typing import Any

from ...core.documents import check_shape, package_table, shortened
from ...core.errors import InputError
from ...core.extras import import_extra, named
from ...core.output_files import TEXT_SHIFT, read_report
from ...language.hub import load_model, model_files
from ...language.wordnet import load_wordnet
from ...language.words import tokenize
from .open_ended import nltk_meteor

METRICS = ("bleu4", "meteor", "rouge_l")
OUTLIER = 500
"""Perplexity above which the paper's Figure 11 counts a caption as an outlier."""

SAME = 1e-9
"""Tolerance of scores, as other machines may round differently."""

TOKENS = 8192
"""Maximum number of tokens in a batch of the language model, including padding."""

_METRICS = dict.fromkeys(METRICS, float)
_PERPLEXITY = dict.fromkeys(("mean", "mean_without_outliers", "outliers"), float)
SHAPE = {  # of a report; see `check_shape`
    "fingerprint": str,
    "tools": {str: str},
    "originals": {"different": int, "perplexity": (None, _PERPLEXITY)},
    "perturbations": {str: {"family": str, "captions": int, "changed": float, **_METRICS}},
    "families": {str: {"perturbations": int, **_METRICS}},
    "paper": {str: _METRICS},
}


@dataclass(frozen=True)
class Perplexity:
    """Summary of the perplexities of captions.

    Attributes:
        mean_without_outliers: Mean over captions with a perplexity of at most 500, or 0 if there are none.
        outliers: Fraction of the other captions.
    """

    mean: float
    mean_without_outliers: float
    outliers: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Perplexity:
        """Compute the summary from the perplexities of one or more captions."""
        inner = [value for value in values if value <= OUTLIER]
        return cls(_mean(values), _mean(inner) if inner else 0.0, 1 - len(inner) / len(values))


@dataclass(frozen=True)
class Shift:
    """Mean similarity of the captions of one perturbation to their originals.

    Attributes:
        bleu4: BLEU-4 of a caption against its original, 0 to 1.
        meteor: METEOR, from 0 to slightly below 1 for equal captions.
        rouge_l: F1 of ROUGE-L, 0 to 1.
        perplexity: Perplexities, if a language model was specified.
    """

    captions: int
    changed: float
    bleu4: float
    meteor: float
    rouge_l: float
    perplexity: Perplexity | None = None


Judge = Callable[[Sequence[str]], list[float]]
"""Function that returns the perplexity of each text."""


def measure_shift(pairs: Iterable[tuple[str, str]], judge: Judge | None = None) -> Shift:
    """Compare captions with their originals. Raise InputError if a package or WordNet is missing."""
    pairs = list(pairs)
    bleu, meteor, rouge = zip(*(similarity(caption, original) for caption, original in pairs), strict=True)
    return Shift(
        captions=len(pairs),
        changed=sum(caption != original for caption, original in pairs) / len(pairs),
        bleu4=_mean(bleu),
        meteor=_mean(meteor),
        rouge_l=_mean(rouge),
        perplexity=Perplexity.of(judge([caption for caption, _ in pairs])) if judge else None,
    )


def family_means(shifts: Mapping[str, Shift], families: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return the mean of each metric over the perturbations in each family (Table 7), and their number."""
    members: dict[str, list[Shift]] = {}
    for name, shift in shifts.items():
        members.setdefault(families[name], []).append(shift)
    return {
        family: {
            "perturbations": len(of_family),
            **{metric: _mean([getattr(shift, metric) for shift in of_family]) for metric in METRICS},
        }
        for family, of_family in members.items()
    }


def table7() -> dict[str, dict[str, dict[str, float]]]:
    """Return the numbers in the paper's Table 7, by dataset ("msrvtt", "youcook2"), family and metric."""
    table = package_table(Path(__file__).with_name("table7.yaml"))
    return {name: table[name] for name in ("msrvtt", "youcook2")}


@lru_cache(maxsize=1 << 14)
def similarity(caption: str, original: str) -> tuple[float, float, float]:
    """Return BLEU-4, METEOR and ROUGE-L F1 of a caption compared with its original, each from 0 to 1.

    BLEU-4 is sacrebleu's sentence score with exponential smoothing and effective order, so that an unchanged caption of
    fewer than four words scores 1. METEOR is NLTK's with WordNet and with the perturbed caption as the reference, which
    reproduces Table 7: added words lower it, since recall has nine times the weight of precision. ROUGE-L is
    rouge-score's without stemming. BLEU and METEOR use this package's tokens, in which [UNK] is one token. Only BLEU is
    case-sensitive.
    """
    bleu, rouge = _scorers()
    if caption == original and not any(character.isalnum() for character in original):
        return 1.0, 1.0, 1.0  # emoji only: METEOR and ROUGE-L find no words
    words = [[token.text for token in tokenize(text)] for text in (original, caption)]
    return (
        bleu.sentence_score(" ".join(words[1]), [" ".join(words[0])]).score / 100,
        nltk_meteor(words[0], words[1]),
        float(rouge.score(original, caption)["rougeL"].fmeasure),
    )


@cache
def _scorers() -> tuple[Any, Any]:
    try:
        from rouge_score.rouge_scorer import RougeScorer
        from sacrebleu.metrics.bleu import BLEU
    except ModuleNotFoundError as error:
        raise named(error, "score text-shift") from error
    return BLEU(effective_order=True, tokenize="none"), RougeScorer(["rougeL"], use_stemmer=False)


def scorer_versions() -> dict[str, str]:
    """Return the versions of the packages and of WordNet that determine the scores."""
    _scorers()
    versions = {name: version(name) for name in ("sacrebleu", "nltk", "rouge-score")}
    return {**versions, "wordnet": load_wordnet().name}


@dataclass(frozen=True)
class LanguageModel:
    """A causal language model that computes perplexities.

    Attributes:
        name: Name or folder, with the revision or a hash of the weights.
    """

    name: str
    tokenizer: Any
    model: Any

    def perplexities(self, texts: Sequence[str]) -> list[float]:
        """Return the perplexity of each text, which is the exponential of the mean loss of its tokens.

        The tokenizer's beginning-of-text token (or end-of-text token, as for GPT-2) is prepended, so that the first
        word counts. Without either, prediction starts after the first token, and a text of one token has perplexity 1.
        """
        known: dict[str, float] = {}
        waiting = sorted({*texts}, key=lambda text: (len(text), text))
        batch: list[tuple[str, list[int]]] = []
        for text in waiting:
            ids = self._ids(text)
            if batch and (len(batch) + 1) * max(len(ids), len(batch[-1][1])) > TOKENS:
                known |= self._batch(batch)
                batch = []
            batch.append((text, ids))
        if batch:
            known |= self._batch(batch)
        return [known[text] for text in texts]

    def _ids(self, text: str) -> list[int]:
        first = self.tokenizer.bos_token_id
        first = self.tokenizer.eos_token_id if first is None else first
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        limit = getattr(self.model.config, "max_position_embeddings", None) or len(ids) + 1
        return [*([] if first is None else [first]), *ids][:limit]

    def _batch(self, batch: Sequence[tuple[str, list[int]]]) -> dict[str, float]:
        import torch

        longest = max(len(ids) for _, ids in batch)
        ids = torch.zeros((len(batch), longest), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, (_, own) in enumerate(batch):  # padded at the end, which a causal model ignores
            ids[row, : len(own)] = torch.tensor(own)
            mask[row, : len(own)] = 1
        ids, mask = ids.to(self.model.device), mask.to(self.model.device)
        with torch.inference_mode():
            logits = self.model(input_ids=ids, attention_mask=mask).logits.float()
            losses = torch.nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
            counted = mask[:, 1:]
            means = (losses * counted).sum(1) / counted.sum(1).clamp(min=1)
        return {text: exp(loss) for (text, _), loss in zip(batch, means.double().tolist(), strict=True)}


def load_language_model(name: str) -> LanguageModel:
    """Load a causal language model from a folder or the Hub, on a GPU if available.

    Raises:
        InputError: transformers is not installed, or the model does not exist.
    """
    advice = "Pass the folder or Hub name of a causal language model with --lm."
    torch = import_extra("torch", what="--lm")
    files = model_files(name, "", advice)
    tokenizer, model = load_model(files, "AutoModelForCausalLM", advice)
    identity = files.identity()
    title = f"{Path(name).name if not files.revision else name} {files.revision or identity['weights'][:12]}"
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return LanguageModel(title, tokenizer, model.to(device))


def shift_report(
    tables: Mapping[str, Sequence[tuple[str, str]]],
    families: Mapping[str, str],
    *,
    fingerprint: str,
    paper: str | None = None,
    model: LanguageModel | None = None,
    each: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Compare the captions of all perturbations with their originals, and return a report as JSON values.

    `paper` is the dataset in Table 7 for comparison. `each` is called with the name of each finished perturbation.
    """
    judge = model.perplexities if model else None
    shifts: dict[str, Shift] = {}
    for name, pairs in tables.items():
        shifts[name] = measure_shift(pairs, judge)
        each(name)
    originals = list({original: None for pairs in tables.values() for _, original in pairs})
    return {
        "fingerprint": fingerprint,
        "tools": scorer_versions() | ({"language model": model.name} if model else {}),
        "originals": {
            "different": len(originals),
            "perplexity": asdict(Perplexity.of(judge(originals))) if judge else None,
        },
        "perturbations": {name: {"family": families[name], **asdict(shift)} for name, shift in shifts.items()},
        "families": family_means(shifts, families),
        "paper": table7()[paper] if paper else {},
    }


def read_text_shift(folder: Path, fingerprint: str) -> dict[str, Any] | None:
    """Return the report that an output contains, or None if it is missing or outdated.

    Raises:
        InputError: The file is damaged, lacks a key, or has a value of the wrong type.
    """
    file = folder / TEXT_SHIFT
    report = read_report(file, fingerprint)
    if report is None:
        return None
    try:
        check_shape(report, SHAPE)
        perplexity = _PERPLEXITY if report["originals"]["perplexity"] else None
        check_shape(report, {"perturbations": {str: {"perplexity": perplexity}}})
    except ValueError as error:
        raise InputError(f"{file} is damaged ({error}). Score again, or remove it.") from error
    return report


def unlike_report(stated: Any, again: Any, where: str = "") -> Iterator[str]:
    """Yield where a report differs from a new one, except for perplexities and the last digits of floats."""
    if isinstance(stated, dict) and isinstance(again, dict):
        for name in {**stated, **again}:
            if name not in ("perplexity", "language model"):
                absent = "absent"
                yield from unlike_report(
                    stated.get(name, absent), again.get(name, absent), f"{where}.{name}".strip(".")
                )
    elif type(stated) is not type(again) or (
        not isclose(stated, again, rel_tol=SAME, abs_tol=SAME) if isinstance(again, float) else stated != again
    ):
        yield f"{where} is {shortened(stated)}, not {shortened(again)}"


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)
