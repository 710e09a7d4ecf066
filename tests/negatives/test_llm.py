"""The language-model generator against a real HTTP server, and its checks."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from stressreel.core.errors import BuildError
from stressreel.language.cast import Cast
from stressreel.negatives.confusion import Confusion, Unconfused
from stressreel.negatives.llm import ChatEndpoint, LocalModel, ask, check_confusion

CAST = Cast(("Tom", "Jerry", "Spike"))
RIGHT = "Tom was hitting Jerry."
GOOD = {"State": "Tom was not hitting Jerry.", "Exchange": "Jerry was hitting Tom."}


DRIPPING = object()


class Server(ThreadingHTTPServer):
    """Gives the replies of a list, then those of GOOD, and keeps what it was asked."""

    replies: list[object]
    asked: list[dict[str, object]]
    keys: list[str | None]


@contextmanager
def served(*replies: object) -> Iterator[tuple[str, Server]]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server = self.server
            assert isinstance(server, Server)
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.asked.append(body)
            server.keys.append(self.headers.get("Authorization"))
            word = body["messages"][0]["content"].split()[0]
            reply = server.replies.pop(0) if server.replies else GOOD[word]
            if isinstance(reply, str) and reply.startswith("http://"):
                self.send_response(302)
                self.send_header("Location", reply)
                self.end_headers()
                return
            if reply is DRIPPING:
                self.send_response(200)
                self.end_headers()
                with suppress(OSError):
                    for _ in range(500):
                        self.wfile.write(b" ")
                        time.sleep(0.02)
                return
            if isinstance(reply, int):
                self.send_response(reply)
                self.end_headers()
                return
            text = (
                reply
                if isinstance(reply, bytes)
                else json.dumps({"choices": [{"message": {"role": "assistant", "content": reply}}]}).encode()
            )
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *arguments: object) -> None:
            """Describe nothing."""

    server = Server(("127.0.0.1", 0), Handler)
    server.replies, server.asked, server.keys = list(replies), [], []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_both_ways_and_no_second_question(tmp_path: Path) -> None:
    with served() as (url, server):
        found = ask(RIGHT, ChatEndpoint(url, "m", wait_s=0), CAST, tmp_path)
        assert found == {
            "negation": Confusion(GOOD["State"], "negation"),
            "swap": Confusion(GOOD["Exchange"], "swap"),
        }
        assert len(server.asked) == 2
        assert ask(RIGHT, ChatEndpoint(url, "m", wait_s=0), CAST, tmp_path) == found
        assert len(server.asked) == 2
        ask(RIGHT, ChatEndpoint(url, "another", wait_s=0), CAST, tmp_path)
        assert len(server.asked) == 4


@pytest.mark.parametrize("first", [500, 503, 429, b"no json", b'{"choices": []}', b'{"choices": [{"message": {}}]}'])
def test_a_fault_is_tried_again(first: object, tmp_path: Path) -> None:
    with served(first) as (url, server):
        found = ask(RIGHT, ChatEndpoint(url, "m", wait_s=0), CAST, tmp_path)
        assert isinstance(found["negation"], Confusion)
        assert len(server.asked) == 3


def test_a_refused_key_is_not_tried_again(tmp_path: Path) -> None:
    with served(401) as (url, server):
        with pytest.raises(BuildError, match="HTTP 401"):
            ask(RIGHT, ChatEndpoint(url, "m", wait_s=0), CAST, tmp_path)
        assert len(server.asked) == 1


def test_a_redirect_takes_the_key_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRESSREEL_LLM_KEY", "very-secret")
    with served() as (other, thief), served(f"{other}/chat/completions") as (url, _):
        with pytest.raises(BuildError, match="HTTP 302"):
            ask(RIGHT, ChatEndpoint(url, "m", wait_s=0), CAST, tmp_path)
        assert thief.keys == []


def test_an_answer_that_drips_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stressreel.negatives.llm.TRIES", 1)
    with served(DRIPPING) as (url, _), pytest.raises(BuildError, match="no whole answer within"):
        ask(RIGHT, ChatEndpoint(url, "m", timeout_s=0.2, wait_s=0), CAST, tmp_path)


def test_bad_answers_are_asked_for_again_and_then_refused(tmp_path: Path) -> None:
    with served("Spike was not hitting Jerry.", "", "impossible") as (url, server):
        found = ask(RIGHT, ChatEndpoint(url, "m", wait_s=0), CAST, tmp_path)
        assert found["negation"] == Unconfused("negation", "it is not one line of text")
        assert isinstance(found["swap"], Confusion)
        assert [body["seed"] for body in server.asked] == [0, 1, 0, 1]


def test_the_key_goes_to_the_server_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRESSREEL_LLM_KEY", "very-secret")
    with served(500, 500, 500, 500) as (url, server):
        endpoint = ChatEndpoint(url, "m", wait_s=0)
        with pytest.raises(BuildError) as caught:
            ask(RIGHT, endpoint, CAST, tmp_path)
        ask(RIGHT, endpoint, CAST, tmp_path)
        assert set(server.keys) == {"Bearer very-secret"}
    assert "very-secret" not in f"{caught.value} {endpoint!r} {endpoint.name}"
    assert all(b"very-secret" not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_damaged_memory_is_asked_for_again(tmp_path: Path) -> None:
    with served() as (url, server):
        endpoint = ChatEndpoint(url, "m", wait_s=0)
        found = ask(RIGHT, endpoint, CAST, tmp_path)
        for path in tmp_path.rglob("*.json"):
            path.write_text("{", encoding="utf-8")
        assert ask(RIGHT, endpoint, CAST, tmp_path) == found
        assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("kind", "made", "says"),
    [
        ("negation", "Tom was not hitting Jerry.", ""),
        ("negation", "tom was hitting jerry", "says the same"),
        ("negation", "Tom was hugging Jerry.", "not negated"),
        ("negation", "Tom was not hitting Spike.", "somebody new"),
        ("negation", "No.", "length"),
        ("negation", "Tom was not hitting Jerry", "final mark"),
        ("negation", "Tom was not\nhitting Jerry.", "one line"),
        ("swap", "Jerry was hitting Tom.", ""),
        ("swap", "Jerry was not hitting Tom.", "is negated"),
        ("swap", "Tom was kicking Jerry.", "nobody is exchanged"),
    ],
)
def test_checks(kind: str, made: str, says: str) -> None:
    found = check_confusion("negation" if kind == "negation" else "swap", RIGHT, made, CAST)
    assert says in found
    assert bool(found) == bool(says)


@pytest.mark.full
def test_a_tiny_local_model(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "tom": 1, "not": 2, "</s>": 3}, "[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="[UNK]", eos_token="</s>", pad_token="</s>"
    ).save_pretrained(tmp_path)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=4, n_positions=512, n_embd=8, n_layer=1, n_head=1, bos_token_id=3, eos_token_id=3
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    model = LocalModel(str(tmp_path))
    assert model.answer("Negate.", RIGHT, 0) == model.answer("Negate.", RIGHT, 0)
    found = ask(RIGHT, model, CAST, tmp_path / "kept")
    assert set(found) == {"negation", "swap"}
    before, shown = model.name, model.model_name
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "other" / tmp_path.name)
    tokens = transformers.AutoTokenizer.from_pretrained(tmp_path)
    tokens.save_pretrained(tmp_path / "other" / tmp_path.name)
    other = LocalModel(str(tmp_path / "other" / tmp_path.name))
    assert other.name != before  # other weights in a folder of the same name ask anew
    assert other.model_name != shown
    assert shown.startswith(tmp_path.name)
    assert ChatEndpoint("http://somewhere/v1", "big").model_name == "big"
