from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from endpoint import Body, Endpoint, Status, running
from stressreel.core.errors import BuildError
from stressreel.language.people import Cast
from stressreel.negatives.confusion import Confusion, ConfusionKind, Unconfused
from stressreel.negatives.llm import ChatEndpoint, LocalModel, ask, check_confusion

from .test_content_words import CASES

CAST = Cast(("Tom", "Jerry", "Spike"))
RIGHT = "Tom was hitting Jerry."
GOOD = {"State": "Tom was not hitting Jerry.", "Exchange": "Jerry was hitting Tom."}
MADE = {"negation": Confusion(GOOD["State"], "negation"), "swap": Confusion(GOOD["Exchange"], "swap")}


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai", reason="endpoints need openai: pip install 'stressreel[ask]'")
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("openai._base_client.MAX_RETRY_DELAY", 0.02)


@contextmanager
def served(*replies: object) -> Iterator[tuple[ChatEndpoint, Endpoint]]:
    """Run an endpoint that sends the replies of a list, then those of GOOD."""
    left = list(replies)
    with running(
        lambda request, before: left.pop(0) if left else GOOD[request["messages"][0]["content"].split()[0]]
    ) as server:
        yield ChatEndpoint(server.url, "m"), server


def test_answers_are_cached_by_model(tmp_path: Path) -> None:
    with served() as (endpoint, server):
        assert ask(RIGHT, endpoint, CAST, tmp_path) == ask(RIGHT, endpoint, CAST, tmp_path) == MADE
        assert len(server.requests) == 2
        ask(RIGHT, ChatEndpoint(server.url, "another"), CAST, tmp_path)
        assert len(server.requests) == 4
        for path in tmp_path.rglob("*.json"):
            path.write_text("{", encoding="utf-8")
        assert ask(RIGHT, endpoint, CAST, tmp_path) == MADE
        assert len(server.requests) == 6


@pytest.mark.parametrize("first", [Status(503), Status(429), Body(b"no json"), Body(b'{"choices": []}')])
def test_faults_are_retried(first: object, tmp_path: Path) -> None:
    with served(first) as (endpoint, server):
        assert ask(RIGHT, endpoint, CAST, tmp_path) == MADE
        assert len(server.requests) == 3


def test_refused_key_is_not_retried(tmp_path: Path) -> None:
    with served(Status(401)) as (endpoint, server):
        with pytest.raises(BuildError, match="401"):
            ask(RIGHT, endpoint, CAST, tmp_path)
        assert len(server.requests) == 1


def test_bad_answers_are_requested_again_then_refused(tmp_path: Path) -> None:
    with served("Spike was not hitting Jerry.", "", "impossible") as (endpoint, server):
        confusions = ask(RIGHT, endpoint, CAST, tmp_path)
        assert confusions == MADE | {"negation": Unconfused("negation", "it is not one line of text")}
        assert [body["seed"] for body in server.requests] == [0, 1, 0, 1]


def test_key_is_sent_to_the_server_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRESSREEL_LLM_KEY", "very-secret")
    with served(*[Status(500)] * 4) as (endpoint, server):
        with pytest.raises(BuildError) as caught:
            ask(RIGHT, endpoint, CAST, tmp_path)
        ask(RIGHT, endpoint, CAST, tmp_path)
        assert server.keys == {"Bearer very-secret"}
    assert "very-secret" not in f"{caught.value} {endpoint!r} {endpoint.name}"
    assert all(b"very-secret" not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize(("kind", "answer", "says"), CASES["checked"])
def test_confusions_are_checked(kind: ConfusionKind, answer: str, says: str) -> None:
    problem = check_confusion(kind, RIGHT, answer, CAST)
    assert says in problem
    assert bool(problem) == bool(says)


@pytest.mark.full
def test_tiny_local_model_is_repeatable(tmp_path: Path) -> None:
    tokenizers, transformers, torch = map(pytest.importorskip, ("tokenizers", "transformers", "torch"))
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "tom": 1, "not": 2, "</s>": 3}, "[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    named = {"unk_token": "[UNK]", "eos_token": "</s>", "pad_token": "</s>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, **named).save_pretrained(tmp_path)
    torch.manual_seed(0)
    sizes = {"vocab_size": 4, "n_positions": 512, "n_embd": 8, "n_layer": 1, "n_head": 1}
    config = transformers.GPT2Config(**sizes, bos_token_id=3, eos_token_id=3)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    model = LocalModel(str(tmp_path))
    assert model.answer("Negate.", RIGHT, 0) == model.answer("Negate.", RIGHT, 0)
    assert ask(RIGHT, model, CAST, tmp_path / "kept").keys() == MADE.keys()
