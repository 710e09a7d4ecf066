"""Tools, with tiny models that are saved as a user would save them."""

import shutil
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


@pytest.fixture(scope="session")
def mlm(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return str(write_mlm(tmp_path_factory.mktemp("mlm")))


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    client = pytest.importorskip("huggingface_hub")

    def refuse(*arguments: Any, **named: Any) -> Any:
        if named.get("local_files_only"):
            raise client.errors.LocalEntryNotFoundError("not here")
        raise OSError("no network\nand more lines")

    monkeypatch.setattr(client, "snapshot_download", refuse)
    monkeypatch.setattr(client.HfApi, "model_info", lambda self, *arguments, **named: refuse())


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
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=32
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        shape = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 1, "num_heads": 4, "dropout_rate": 0.0}
        config = transformers.T5Config(vocab_size=len(vocabulary), decoder_start_token_id=0, **shape)
        model = transformers.T5ForConditionalGeneration(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    encoded = tokenizer(list(pairs), return_tensors="pt", padding=True)
    labels = tokenizer(list(pairs.values()), return_tensors="pt", padding=True)["input_ids"]
    for _ in range(60):
        optimizer.zero_grad()
        model(input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"], labels=labels).loss.backward()
        optimizer.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.full
def test_translation_there_and_back(tmp_path: Path, no_network: None) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    there = write_translator(tmp_path / "there", {"a dog sings": "ein hund singt", "a man rides": "ein mann reitet"})
    back = write_translator(tmp_path / "back", {"ein hund singt": "a hound sings", "ein mann reitet": "a guy rides"})
    tools = Tools(translate=(there, back))
    assert tools.translate_back("a dog sings") == "a hound sings"
    assert corrupt_text("a man rides", "back_trans", tools=tools).text == "a guy rides"


def test_suggestions_are_whole_words_by_likelihood(mlm: str, no_network: None) -> None:
    assert Tools(mlm=mlm).suggest("a ", " sings", 3) == ("woman", "horse", "dog")
    assert Tools(mlm=mlm).suggest("a ", " sings", 1) == ("woman",)
    results = {corrupt_text("a man", "mlm_suggestion", seed=seed, tools=Tools(mlm=mlm)) for seed in range(30)}
    assert {result.text for result in results} == {"a woman", "a horse", "a dog"}


@pytest.mark.parametrize(
    ("corruption", "options", "flag"),
    [
        (MLM_NEEDED, {}, "--mlm DIR"),
        (MLM_NEEDED, {"mlm": "some/model"}, "--mlm DIR"),
        (TRANSLATION_NEEDED, {"translate": ("./no/such", "./folder")}, "--translate DIR DIR"),
        (EMBEDDINGS_NEEDED, {"glove": "./no/such"}, "--glove"),
    ],
)
def test_missing_model_names_its_option(no_network: None, corruption: Any, options: dict[str, Any], flag: str) -> None:
    hub.model_files.cache_clear()
    with pytest.raises(InputError, match=rf"\A[^\n]*{flag}[^\n]*\Z"):
        Tools(**options).check([corruption])


def test_folder_without_a_model_names_the_option(tmp_path: Path, mlm: str) -> None:
    with pytest.raises(InputError, match=r"config.json .* --mlm DIR"):
        Tools(mlm=str(tmp_path)).check([MLM_NEEDED])
    broken = shutil.copytree(mlm, tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"cannot be loaded: .*--mlm DIR"):
        Tools(mlm=str(broken)).suggest("a ", "", 1)


def test_hub_model_is_downloaded_once(mlm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = pytest.importorskip("huggingface_hub")
    downloads = []

    def snapshot_download(name: str, *, revision: str | None, local_files_only: bool = False, **named: Any) -> str:
        folder = tmp_path / (revision or "none")
        if not folder.is_dir():
            if local_files_only:
                raise client.errors.LocalEntryNotFoundError("not here")
            downloads.append((name, revision))
            shutil.copytree(mlm, folder)
        return str(folder)

    class Info:
        sha = MLM[1]

    monkeypatch.setattr(client, "snapshot_download", snapshot_download)
    monkeypatch.setattr(client.HfApi, "model_info", lambda self, name, **named: Info)
    hub.model_files.cache_clear()
    identity = Tools().identity([MLM_NEEDED])["mlm"]
    assert (identity["name"], identity["revision"]) == MLM
    hub.model_files.cache_clear()
    assert Tools().suggest("a ", " sings", 1) == ("woman",)
    assert downloads == [MLM]
    hub.model_files.cache_clear()


def test_identity_names_only_needed_tools(tmp_path: Path) -> None:
    plain, synonyms = text_corruptions()["no_verbs"], text_corruptions()["swap_syn_wordnet"]
    identity = Tools().identity([plain])
    assert set(identity) == {"parser", "lemminflect"}
    assert identity["parser"].startswith("spacy")
    assert Tools().identity([]) == Tools().identity([text_corruptions()["typos"]]) == {}
    assert len(Tools().identity([plain, synonyms])["wordnet"]) == 64
    (tmp_path / "glove.txt").write_text("dog 1 0\ncat 0 1\n")
    glove = Tools(glove=str(tmp_path / "glove.txt")).identity([EMBEDDINGS_NEEDED])
    assert list(glove["embeddings"]) == ["glove"]
