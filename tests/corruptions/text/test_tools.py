"""Tools, with tiny models that are saved as a user would save them."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import text_corruptions
from stressreel.corruptions.text.engine import corrupt_text
from stressreel.corruptions.text.tools import MLM, Tools
from stressreel.language import hub
from tiny_models import write_mlm

MLM_NEEDED, TRANSLATION_NEEDED = (text_corruptions()[name] for name in ("mlm_suggestion", "back_trans"))
EMBEDDINGS_NEEDED = replace(MLM_NEEDED, needs=("embeddings",))


@pytest.fixture(scope="module")
def mlm(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return str(write_mlm(tmp_path_factory.mktemp("mlm")))


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[list[Any]]:
    """What is downloaded from a Hub that has the masked language model."""
    client = pytest.importorskip("huggingface_hub")
    found: list[Any] = []

    def snapshot_download(name: str, *, revision: str | None = None, local_files_only: bool = False, **_: Any) -> str:
        folder = tmp_path / "cache" / str(revision)
        if not folder.is_dir():
            if local_files_only:
                raise client.errors.LocalEntryNotFoundError("not here")
            found.append((name, revision))
            shutil.copytree(request.getfixturevalue("mlm"), folder)
        return str(folder)

    monkeypatch.setattr(client, "snapshot_download", snapshot_download)
    monkeypatch.setattr(client.HfApi, "model_info", lambda self, name, **_: type("Info", (), {"sha": MLM[1]}))
    hub.model_files.cache_clear()
    yield found
    hub.model_files.cache_clear()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, downloads: list[Any]) -> None:
    def refuse(*_: Any, **named: Any) -> None:
        raise OSError("no network\nand more lines")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", refuse)


def write_translator(folder: Path, pairs: dict[str, str]) -> str:
    """Train a tiny T5 to translate some sentences, and save it with its tokenizer."""
    import tokenizers
    import torch
    import transformers

    words = sorted({word for pair in pairs.items() for text in pair for word in text.split()})
    vocabulary = {piece: number for number, piece in enumerate(["<pad>", "</s>", "<unk>", *words])}
    plain = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    plain.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    plain.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, model_max_length=32, **special)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        shape = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 1, "num_heads": 4, "dropout_rate": 0.0}
        config = transformers.T5Config(vocab_size=len(vocabulary), decoder_start_token_id=0, **shape)
        model = transformers.T5ForConditionalGeneration(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    given, labels = (tokenizer(list(texts), return_tensors="pt", padding=True) for texts in (pairs, pairs.values()))
    for _ in range(60):
        optimizer.zero_grad()
        model(**{**given, "labels": labels["input_ids"]}).loss.backward()
        optimizer.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.full
def test_translation_there_and_back(tmp_path: Path, offline: None) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    there = write_translator(tmp_path / "there", {"a dog sings": "ein hund singt", "a man rides": "ein mann reitet"})
    back = write_translator(tmp_path / "back", {"ein hund singt": "a hound sings", "ein mann reitet": "a guy rides"})
    tools = Tools(translate=(there, back))
    assert tools.translate_back("a dog sings") == "a hound sings"
    assert corrupt_text("a man rides", "back_trans", tools=tools).text == "a guy rides"


def test_suggestions_are_whole_words_by_likelihood(mlm: str, offline: None) -> None:
    for count in (1, 3):
        assert Tools(mlm=mlm).suggest("a ", " sings", count) == ("woman", "horse", "dog")[:count]
    results = {corrupt_text("a man", "mlm_suggestion", seed=seed, tools=Tools(mlm=mlm)) for seed in range(30)}
    assert {result.text for result in results} == {"a woman", "a horse", "a dog"}


@pytest.mark.parametrize(
    ("corruption", "options", "flag"),
    [
        (MLM_NEEDED, {}, "--mlm DIR"),
        (MLM_NEEDED, {"mlm": "some/model"}, "--mlm DIR"),
        (MLM_NEEDED, {"mlm": "."}, r"config.json .* --mlm DIR"),
        (TRANSLATION_NEEDED, {"translate": ("./no/such", "./folder")}, "--translate DIR DIR"),
        (EMBEDDINGS_NEEDED, {"glove": "./no/such"}, "--glove"),
    ],
)
def test_missing_model_names_its_option(offline: None, corruption: Any, options: dict[str, Any], flag: str) -> None:
    with pytest.raises(InputError, match=rf"\A[^\n]*{flag}[^\n]*\Z"):
        Tools(**options).check([corruption])


def test_damaged_model_names_its_option(tmp_path: Path, mlm: str) -> None:
    broken = shutil.copytree(mlm, tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"cannot be loaded: .*--mlm DIR"):
        Tools(mlm=str(broken)).suggest("a ", "", 1)


def test_hub_model_is_downloaded_once(downloads: list[Any]) -> None:
    identity = Tools().identity([MLM_NEEDED])["mlm"]
    assert (identity["name"], identity["revision"]) == MLM
    hub.model_files.cache_clear()
    assert Tools().suggest("a ", " sings", 1) == ("woman",)
    assert downloads == [MLM]


def test_identity_names_only_needed_tools(tmp_path: Path) -> None:
    (tmp_path / "glove.txt").write_text("dog 1 0\ncat 0 1\n")
    tools = Tools(glove=str(tmp_path / "glove.txt"))
    no_verbs, typos, synonyms = (text_corruptions()[name] for name in ("no_verbs", "typos", "swap_syn_wordnet"))
    assert tools.identity([]) == tools.identity([typos]) == {}
    identity = tools.identity([no_verbs, synonyms, EMBEDDINGS_NEEDED])
    assert set(identity) == {"parser", "lemminflect", "wordnet", "embeddings"}
    assert identity["parser"].startswith("spacy")
    assert len(identity["wordnet"]) == 64
    assert list(identity["embeddings"]) == ["glove"]
    assert tools.identity([no_verbs]).keys() == {"parser", "lemminflect"}
