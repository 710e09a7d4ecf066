import asyncio
import base64
import gzip
import json
import logging
import zlib
from typing import Any

import numpy as np
import pytest
from endpoint import Behave, Body, Endless, Slow, Status, Truncated, completion, running
from extras import needs
from stressreel.core.errors import InputError, UsageError
from stressreel.evaluation.models import AnswerError, Reply, Request
from stressreel.evaluation.models.clip_sources import View
from stressreel.evaluation.models.endpoint import Endpoint, check_address, content_of, parsed_request
from stressreel.evaluation.tasks import prompts

pytestmark = needs("openai")
ASKED = Request("Is it so?", None, 16)
KEY = "sk-very-secret-0123456789"
ODD = "not a chat completion"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("openai._base_client.MAX_RETRY_DELAY", 0.02)


def replies(url: str, *requests: Request, **options: Any) -> list[Reply]:
    async def one_by_one() -> list[Reply]:
        model = Endpoint(url, "m", **options)
        try:
            return [await model.reply(request) for request in requests or [ASKED]]
        finally:
            await model.close()

    return asyncio.run(one_by_one())


def reply_to(behave: Any, **options: Any) -> Reply:
    with running(lambda request, before: behave) as server:
        return replies(server.url, **options)[0]


def test_request_and_reply_have_their_fields() -> None:
    given = parsed_request('{"max_completion_tokens": 9, "max_tokens": null, "top_p": 0.5}')
    with running(lambda request, before: completion(" Yes,\n it is. ", "length")) as server:
        (reply,) = replies(server.url, seed=3)
        replies(server.url, request=given)
    assert reply == Reply(" Yes,\n it is. ", True, 100, 2, "loopback-1")
    first, changed = ({key: each[key] for key in each if key != "messages"} for each in server.requests)
    assert first == {"model": "m", "temperature": 0, "seed": 3, "max_tokens": 16}
    assert changed == {"model": "m", "temperature": 0, "seed": 0, "max_completion_tokens": 9, "top_p": 0.5}
    assert server.keys == {f"Bearer {KEY}"}
    for text in ("{", "[]", '{"messages": []}', '{"model": "x"}', '{"stream": true}'):
        with pytest.raises(UsageError, match="--request"):
            parsed_request(text)


def test_pictures_precede_the_question_in_order() -> None:
    view = View(tuple(np.full((8, 8, 3), shade, np.uint8) for shade in (0, 120, 240)), 95)
    first, *pictures, last = content_of(Request("Q?", view, 16))
    assert (first["text"], last["text"]) == (prompts()["frames"], "Q?")
    urls = [picture["image_url"]["url"].removeprefix("data:image/jpeg;base64,") for picture in pictures]
    assert [base64.b64decode(url) for url in urls] == list(view.jpegs)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Status(500, "the GPU is on fire"), "on fire"),
        (Truncated(), "onnection"),
        (Slow(1.5), "imed out"),
        (Endless(b" " * 1000, pause=0.05), "imed out"),
        *((Body(content), ODD) for content in (b"<html>", b"\xff\xfe", b"[]", b'{"choices": [{"message": null}]}')),
        (Body(b'{"choices": [{"message": {"content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}]}"), ODD),
        (Body(zlib.compress(b" " * 10**7), "application/json; charset=zlib_codec"), ODD),
        ("x" * 200_000, "200,000"),
        (completion(None, "content_filter"), "content_filter"),
    ],
)
def test_lasting_faults_raise_answer_error(fault: Any, said: str) -> None:
    endless = isinstance(fault, Slow | Endless)
    with pytest.raises(AnswerError, match=said):
        reply_to(fault, retries=1 - endless, timeout=0.5 if endless else 60)


@pytest.mark.parametrize("packed", ["", "gzip", "deflate", "gzip, gzip"])
def test_responses_are_unpacked_within_limits(packed: str) -> None:
    pack = zlib.compress if packed == "deflate" else gzip.compress
    headers = (("Content-Encoding", packed),)
    bomb = Body(pack(b" " * 50_000_000), headers=headers) if packed else Endless(b"x" * 100_000)
    with running(lambda request, before: bomb) as server:
        with pytest.raises(AnswerError, match=r"more than 4,000,000|packed as"):
            replies(server.url, retries=3)
        assert len(server.requests) == 1
    assert server.sent < 100_000_000
    if packed in ("gzip", "deflate"):
        assert reply_to(Body(pack(json.dumps(completion("yes")).encode()), headers=headers)).text == "yes"


def test_redirects_are_not_followed() -> None:
    with running() as stranger:
        moved = Status(308, headers=(("Location", f"{stranger.url}/chat/completions"),))
        with pytest.raises(InputError, match="redirect") as caught:
            reply_to(moved)
        assert stranger.url in str(caught.value)
        assert not stranger.requests


def test_requests_start_at_the_requested_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("stressreel.evaluation.models.endpoint.asyncio.sleep", sleep)
    monkeypatch.setattr("stressreel.evaluation.models.endpoint.time.monotonic", lambda: 50.0)
    with running() as server:
        replies(server.url, *[ASKED] * 4, per_minute=600)
    assert [each for each in waited if each < 1] == pytest.approx([0, 0.1, 0.2, 0.3])


def test_invalid_or_secret_addresses_are_refused() -> None:
    wrong = ("", "localhost:8000", "ftp://h/v1", "http://[", "http://h:99999")
    for address in (*wrong, "http://u:p@h/v1", "http://h/v1?key=1", "http://h/#a"):
        with pytest.raises(UsageError, match=r"^(?!.*p@h).*--endpoint"):
            check_address(address)


def test_implausible_counts_and_texts_are_cleaned() -> None:
    for count in ("1" + "0" * 400, "NaN", "true", "1.5", "-4", '"2"'):
        usage = f'"usage": {{"prompt_tokens": {count}, "completion_tokens": {count}}}'
        body = f'{{"model": 3, "choices": [{{"message": {{"content": "no"}}}}], {usage}}}'
        assert reply_to(Body(body.encode())) == Reply("no")
    refusal = completion(None)
    refusal["choices"][0]["message"]["refusal"] = "I will \ud800not."
    reply = reply_to(refusal | {"model": "m\udfff\x1b[2J" + "x" * 10_000})
    assert (reply.text, reply.model) == ("I will \ufffdnot.", "m\ufffd\\u001b[2J" + "x" * 194)
    assert reply_to(completion(None)).text == ""


def test_permanent_errors_end_the_run_without_the_key(caplog, capfd) -> None:
    caplog.set_level(logging.DEBUG)
    video = Request("Q?", View((), 90, b"mp4"), 16)
    for code, said, asked in (
        (401, "OPENAI_API_KEY", ASKED),
        (404, "does not offer the model", ASKED),
        (400, "use --send frames", video),
    ):
        fault = Status(code, f"wrong key {KEY}")
        refused = pytest.raises(InputError, match=said)
        with running(lambda request, before, fault=fault: fault) as server, refused as caught:
            replies(server.url, asked)
        assert len(server.requests) == 1
        later: Behave = lambda request, before, fault=fault: fault if before else "yes"  # noqa: E731
        with running(later) as server, pytest.raises(AnswerError, match="wrong key <key>"):
            replies(server.url, asked, asked)
        logged = "".join(each.getMessage() for each in caplog.records if each.name.startswith("stressreel"))
        assert KEY not in f"{caught.value} {capfd.readouterr().err} {logged}"


def test_keys_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "abc\r\n")  # from a file with an odd end
    with running() as server:
        for variable in ("MY_KEY", "NOT_SET"):
            replies(server.url, key_variable=variable)
    assert server.keys == {"Bearer abc", "Bearer none"}
    for odd in ("sk-a\rb", "sk a", "sk-\u00e9"):
        monkeypatch.setenv("MY_KEY", odd)
        with pytest.raises(UsageError, match=r"^(?!.*sk).*MY_KEY"):
            Endpoint(server.url, "m", key_variable="MY_KEY")
