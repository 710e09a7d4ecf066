"""Tools, with tiny models that the tests make and save as a user would."""

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
PAIRS = {"a dog sings": "ein hund singt", "a man rides": "ein mann reitet"}
BACK = {"ein hund singt": "a hound sings", "ein mann reitet": "a guy rides"}


@pytest.fixture(scope="session")
def mlm(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return str(write_mlm(tmp_path_factory.mktemp("mlm")))


@pytest.fixture(scope="session")
def translate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two tiny models that have learnt two sentences each."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    there, back = tmp_path_factory.mktemp("there"), tmp_path_factory.mktemp("back")
    learn(there, PAIRS)
    learn(back, BACK)
    return str(there), str(back)


def learn(folder: Path, pairs: dict[str, str]) -> None:
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
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # so small a model is slower on more
    with torch.random.fork_rng():
        torch.manual_seed(0)
        shape = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 1, "num_heads": 4, "dropout_rate": 0.0}
        config = transformers.T5Config(vocab_size=len(vocabulary), decoder_start_token_id=0, **shape)
        model = transformers.T5ForConditionalGeneration(config)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        given = tokenizer(list(pairs), return_tensors="pt", padding=True)
        wanted = tokenizer(list(pairs.values()), return_tensors="pt", padding=True)["input_ids"]
        for _ in range(60):
            optimizer.zero_grad()
            model(input_ids=given["input_ids"], attention_mask=given["attention_mask"], labels=wanted).loss.backward()
            optimizer.step()
    torch.set_num_threads(threads)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    hub_client = pytest.importorskip("huggingface_hub")

    def refuse(*arguments: Any, **named: Any) -> Any:
        if named.get("local_files_only"):
            raise hub_client.errors.LocalEntryNotFoundError("not here")
        raise OSError("no network\nand more lines")

    monkeypatch.setattr(hub_client, "snapshot_download", refuse)
    monkeypatch.setattr(hub_client.HfApi, "model_info", lambda self, *arguments, **named: refuse())


def test_suggestions_are_whole_words_of_the_same_form_the_likeliest_first(mlm: str, no_network: None) -> None:
    assert Tools(mlm=mlm).suggest("a ", " sings", 3) == ("woman", "horse", "dog")
    assert Tools(mlm=mlm).suggest("a ", " sings", 1) == ("woman",)
    found = {corrupt_text("a man", "mlm_suggestion", seed=seed, tools=Tools(mlm=mlm)) for seed in range(30)}
    assert {result.text for result in found} == {"a woman", "a horse", "a dog"}


@pytest.mark.full
def test_a_text_is_translated_there_and_back(translate: tuple[str, str], no_network: None) -> None:
    tools = Tools(translate=translate)
    assert tools.translate_back("a dog sings") == "a hound sings"
    assert corrupt_text("a man rides", "back_trans", tools=tools).text == "a guy rides"


@pytest.mark.parametrize(
    ("corruption", "given", "flag"),
    [
        (MLM_NEEDED, {}, "--mlm DIR"),
        (MLM_NEEDED, {"mlm": "some/model"}, "--mlm DIR"),
        (TRANSLATION_NEEDED, {"translate": ("./no/such", "./folder")}, "--translate DIR DIR"),
    ],
)
def test_a_missing_model_is_reported_with_its_flag_in_one_line(
    no_network: None, corruption: Any, given: dict[str, Any], flag: str
) -> None:
    hub.model_files.cache_clear()
    with pytest.raises(InputError, match=rf"\A[^\n]*{flag}[^\n]*\Z"):
        Tools(**given).check([corruption])


def test_a_folder_without_a_model_names_the_flag(tmp_path: Path, mlm: str) -> None:
    with pytest.raises(InputError, match=r"contains no model: expected config.json .* --mlm DIR"):
        Tools(mlm=str(tmp_path)).check([MLM_NEEDED])
    broken = tmp_path / "broken"
    shutil.copytree(mlm, broken)
    (broken / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"cannot be loaded: .*--mlm DIR"):
        Tools(mlm=str(broken)).suggest("a ", "", 1)


def test_a_model_on_the_hub_is_fetched_once_at_its_pinned_commit(
    mlm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = pytest.importorskip("huggingface_hub")
    asked = []
    snapshots = tmp_path / "snapshots"

    def snapshot_download(name: str, *, revision: str | None, local_files_only: bool = False, **named: Any) -> str:
        folder = snapshots / (revision or "none")
        if not folder.is_dir():
            if local_files_only:
                raise client.errors.LocalEntryNotFoundError("not here")
            asked.append((name, revision))
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
    assert asked == [MLM]
    hub.model_files.cache_clear()


def test_the_identity_names_only_what_is_needed(tmp_path: Path) -> None:
    plain, syn = text_corruptions()["no_verbs"], text_corruptions()["swap_syn_wordnet"]
    found = Tools().identity([plain])
    assert set(found) == {"parser", "lemminflect"}
    assert found["parser"].startswith("spacy")
    assert Tools().identity([]) == Tools().identity([text_corruptions()["typos"]]) == {}
    assert len(Tools().identity([plain, syn])["wordnet"]) == 64
    (tmp_path / "glove.txt").write_text("dog 1 0\ncat 0 1\n")
    glove = Tools(glove=str(tmp_path / "glove.txt")).identity([EMBEDDINGS_NEEDED])
    assert list(glove["embeddings"]) == ["glove"]
    with pytest.raises(InputError, match="--glove"):
        Tools(glove=str(tmp_path / "none")).check([EMBEDDINGS_NEEDED])
