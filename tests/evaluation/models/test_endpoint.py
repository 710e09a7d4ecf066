"""A model behind an endpoint that answers, fails for a while, fails for good, or talks nonsense."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import logging
import time
import zlib
from typing import Any

import numpy as np
import pytest
from endpoint import Body, Endless, Slow, Status, Truncated, completion, running
from stressreel.core.errors import InputError, UsageError
from stressreel.evaluation.models.clips import View
from stressreel.evaluation.models.endpoint import Endpoint, check_address, content_of, parsed_request
from stressreel.evaluation.models.models import AnswerError, Reply, Request
from stressreel.evaluation.tasks import prompts

pytest.importorskip("openai", reason="the extra ask is not installed")
ASKED = Request("Is it so?", None, 16)
KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for module in ("_base_client",):
        monkeypatch.setattr(f"openai.{module}.INITIAL_RETRY_DELAY", 0.01, raising=False)
        monkeypatch.setattr(f"openai.{module}.MAX_RETRY_DELAY", 0.02, raising=False)


def asked(model: Endpoint, *requests: Request) -> list[Reply]:
    async def all_of_them() -> list[Reply]:
        try:
            return list(await asyncio.gather(*(model.reply(request) for request in requests)))
        finally:
            await model.close()

    return asyncio.run(all_of_them())


def test_an_answer_is_kept_as_it_came() -> None:
    with running(lambda request, before: completion(" Yes,\n it is. ", "length")) as server:
        (reply,) = asked(Endpoint(server.url, "m", seed=3), ASKED)
    assert reply == Reply(" Yes,\n it is. ", True, 100, 2, "loopback-1")
    (request,) = server.requests
    assert (request["model"], request["temperature"], request["seed"], request["max_tokens"]) == ("m", 0, 3, 16)
    assert server.keys == {f"Bearer {KEY}"}


def test_pictures_go_before_the_question_in_order() -> None:
    shades = (0, 120, 240)
    view = View(tuple(np.full((8, 8, 3), shade, np.uint8) for shade in shades), 95)
    first, *pictures, last = content_of(Request("Q?", view, 16))
    assert first == {"type": "text", "text": prompts()["frames"]}
    assert last == {"type": "text", "text": "Q?"}
    sent = [
        base64.b64decode(picture["image_url"]["url"].removeprefix("data:image/jpeg;base64,")) for picture in pictures
    ]
    assert sent == list(view.jpegs)
    (video, _) = content_of(Request("Q?", View((), 90, b"\0mp4"), 16))
    assert video["video_url"]["url"] == "data:video/mp4;base64,AG1wNA=="
    assert content_of(ASKED) == [{"type": "text", "text": "Is it so?"}]


@pytest.mark.parametrize("fault", [Status(429), Status(500), Status(503), Truncated(), Status(409)])
def test_what_may_pass_is_tried_again(fault: Any) -> None:
    with running(lambda request, before: fault if before < 2 else "yes") as server:
        (reply,) = asked(Endpoint(server.url, "m", retries=3), ASKED)
    assert reply.text == "yes"
    assert len(server.requests) == 3


def test_a_server_may_say_how_long_to_wait() -> None:
    wait = Status(429, headers=(("Retry-After", "0.3"),))
    with running(lambda request, before: wait if before < 1 else "yes") as server:
        start = time.monotonic()
        asked(Endpoint(server.url, "m"), ASKED)
    assert time.monotonic() - start >= 0.3
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Status(500, "the GPU is on fire"), "on fire"),
        (Status(400, "that picture is refused"), "picture is refused"),
        (Truncated(), "onnection"),
        (Slow(1.5), "imed out"),
        (Body(b"{"), "not what an endpoint sends"),
        (Body(b"<html>", "text/html"), "not what an endpoint sends"),
        (Body(b"[]"), "not what an endpoint sends"),
        (Body(b"null"), "not what an endpoint sends"),
        (Body(b'{"choices": []}'), "not what an endpoint sends"),
        (Body(b'{"choices": null}'), "not what an endpoint sends"),
        (Body(b'{"choices": [{"message": null}]}'), "not what an endpoint sends"),
        (Body(b'{"choices": [{"message": {"content": 3}}]}'), "not what an endpoint sends"),
        (Body(b'{"choices": [3]}'), "not what an endpoint sends"),
        (Body(b'{"choices": "yes"}'), "not what an endpoint sends"),
        (Body(b'{"error": {"message": "odd"}}'), "not what an endpoint sends"),
        (Body(b"\xff\xfe"), "not what an endpoint sends"),
    ],
)
def test_what_stays_wrong_is_no_answer(fault: Any, said: str) -> None:
    with running(lambda request, before: fault) as server, pytest.raises(AnswerError, match=said):
        asked(Endpoint(server.url, "m", retries=1, timeout=0.5 if isinstance(fault, Slow) else 60), ASKED)


@pytest.mark.parametrize("piece", [b" ", b" " * 1000])
def test_an_answer_that_never_ends_is_waited_for_as_long_as_was_said(piece: bytes) -> None:
    with running(lambda request, before: Endless(piece, pause=0.05)) as server:
        start = time.monotonic()
        with pytest.raises(AnswerError, match="imed out"):
            asked(Endpoint(server.url, "m", retries=0, timeout=0.5), ASKED)
    assert time.monotonic() - start < 2


def test_an_answer_without_measure_is_read_so_far_and_once() -> None:
    with running(lambda request, before: Endless(b"x" * 100_000)) as server:
        with pytest.raises(AnswerError, match="more than 4,000,000 bytes"):
            asked(Endpoint(server.url, "m", retries=3), ASKED)
        assert len(server.requests) == 1
    assert server.sent < 100_000_000


@pytest.mark.parametrize("packed", ["gzip", "deflate", "gzip, gzip", "br", "zstd"])
def test_a_packed_answer_is_unpacked_within_limits(packed: str) -> None:
    pack = zlib.compress if packed == "deflate" else gzip.compress
    bomb = Body(pack(b" " * 200_000_000), headers=(("Content-Encoding", packed),))
    with running(lambda request, before: bomb) as server:
        with pytest.raises(AnswerError, match=r"more than 4,000,000|packed as"):
            asked(Endpoint(server.url, "m", retries=3), ASKED)
        assert len(server.requests) == 1
    if packed in ("gzip", "deflate"):
        small = Body(pack(json.dumps(completion("yes")).encode()), headers=bomb.headers)
        with running(lambda request, before: small) as server:
            assert asked(Endpoint(server.url, "m"), ASKED)[0].text == "yes"


def test_an_answer_is_not_unpacked_by_what_it_calls_its_letters() -> None:
    bomb = zlib.compress(b" " * 200_000_000)
    behave = lambda request, before: Body(bomb, "application/json; charset=zlib_codec")  # noqa: E731
    with running(behave) as server, pytest.raises(AnswerError, match="not what an endpoint sends"):
        asked(Endpoint(server.url, "m"), ASKED)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(code: int) -> None:
    with running() as stranger:
        moved = Status(code, headers=(("Location", f"{stranger.url}/chat/completions"),))
        with running(lambda request, before: moved) as server, pytest.raises(InputError, match="redirect") as caught:
            asked(Endpoint(server.url, "m"), ASKED)
        assert server.url in str(caught.value)
        assert stranger.url in str(caught.value)
        assert not stranger.requests
        assert not stranger.keys


@pytest.mark.parametrize("levels", [60, 900, 5_000, 100_000])
def test_nested_answers_are_none(levels: int) -> None:
    for body in (
        b"[" * levels + b"]" * levels,
        b'{"choices": [{"message": {"content": ' + b"[" * levels + b"]" * levels + b"}}]}",
        b'{"a":' * levels + b"1" + b"}" * levels,
    ):
        with (
            running(lambda request, before, body=body: Body(body)) as server,
            pytest.raises(AnswerError, match="not what an endpoint sends"),
        ):
            asked(Endpoint(server.url, "m"), ASKED)


@pytest.mark.parametrize("count", ["1" + "0" * 400, "1e400", "-1e400", "NaN", "true", "1.5", "[]", "{}"])
def test_counts_that_no_answer_has_are_not_taken_for_counts(count: str) -> None:
    usage = f'"usage": {{"prompt_tokens": {count}, "completion_tokens": {count}}}'
    body = f'{{"choices": [{{"message": {{"content": "no"}}}}], {usage}}}'.encode()
    with running(lambda request, before: Body(body)) as server:
        assert asked(Endpoint(server.url, "m"), ASKED) == [Reply("no")]


def test_texts_that_no_file_or_terminal_can_hold_are_cleaned() -> None:
    sent = {**completion("\ud800yes"), "model": "m\udfff\x1b[2J" + "x" * 10_000}
    with running(lambda request, before: sent) as server:
        (reply,) = asked(Endpoint(server.url, "m"), ASKED)
    assert reply.text == "\ufffdyes"
    assert reply.model == ("m\ufffd\ufffd[2J" + "x" * 10_000)[:200]


def test_an_answer_longer_than_any_is_none() -> None:
    with running(lambda request, before: "x" * 200_000) as server, pytest.raises(AnswerError, match="200,000"):
        asked(Endpoint(server.url, "m"), ASKED)


def test_odd_counts_are_not_taken_for_counts() -> None:
    body = (
        b'{"model": 3, "choices": [{"message": {"content": "no"}}], '
        b'"usage": {"prompt_tokens": -4, "completion_tokens": "2"}}'
    )
    with running(lambda request, before: Body(body)) as server:
        assert asked(Endpoint(server.url, "m"), ASKED) == [Reply("no")]


def test_nothing_said_is_an_empty_answer_and_a_refusal_is_its_words() -> None:
    refusal = completion(None)
    refusal["choices"][0]["message"]["refusal"] = "I will not."
    answers = iter([completion(None), refusal])
    with running(lambda request, before: next(answers)) as server:
        model = Endpoint(server.url, "m", at_once=1)
        assert asked(model, ASKED)[0].text == ""
        assert asked(Endpoint(server.url, "m"), ASKED)[0].text == "I will not."


@pytest.mark.parametrize(
    ("code", "said"), [(401, "OPENAI_API_KEY"), (403, "OPENAI_API_KEY"), (404, "does not know the model")]
)
def test_what_no_request_can_pass_ends_the_run(code: int, said: str) -> None:
    behave = lambda request, before: Status(code, f"wrong key {KEY}")  # noqa: E731
    with running(behave) as server, pytest.raises(InputError, match=said) as caught:
        asked(Endpoint(server.url, "m"), ASKED)
    assert KEY not in str(caught.value)
    assert len(server.requests) == 1


def test_the_key_is_in_no_error_record_or_log(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with running(lambda request, before: Status(400, f"Bearer {KEY} sent {KEY}")) as server:
        model = Endpoint(server.url, "m")
        with pytest.raises(AnswerError) as caught:
            asked(model, ASKED)
    assert KEY not in str(caught.value)
    assert "<key>" in str(caught.value)
    assert KEY not in str(dict(model.about))
    assert KEY not in capfd.readouterr().err
    assert KEY not in "".join(record.getMessage() for record in caplog.records if record.name.startswith("stressreel"))


def test_a_key_from_a_file_with_an_odd_end_is_taken_and_an_odd_key_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY + "\r\n")
        asked(Endpoint(server.url, "m"), ASKED)
        assert server.keys == {f"Bearer {KEY}"}
        for odd in ("sk-a\rb", "sk a", "sk-\u00e9"):
            monkeypatch.setenv("OPENAI_API_KEY", odd)
            with pytest.raises(UsageError, match="OPENAI_API_KEY") as caught:
                Endpoint(server.url, "m")
            assert odd not in str(caught.value)


def test_a_refusal_after_an_answer_is_about_one_request() -> None:
    with running(lambda request, before: Status(403, "moderated") if before else "yes") as server:
        model = Endpoint(server.url, "m")
        with pytest.raises(AnswerError, match="moderated"):
            asyncio.run(_twice(model))


async def _twice(model: Endpoint) -> None:
    try:
        await model.reply(ASKED)
        await model.reply(ASKED)
    finally:
        await model.close()


def test_what_ended_without_an_answer_is_none() -> None:
    behave = lambda request, before: completion(None, "content_filter")  # noqa: E731
    with running(behave) as server, pytest.raises(AnswerError, match="content_filter"):
        asked(Endpoint(server.url, "m"), ASKED)


def test_another_variable_may_have_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "abc")
    with running() as server:
        asked(Endpoint(server.url, "m", key_variable="MY_KEY"), ASKED)
        asked(Endpoint(server.url, "m", key_variable="NOT_SET"), ASKED)
    assert server.keys == {"Bearer abc", "Bearer none"}


def test_requests_begin_at_the_rate_that_was_asked_for() -> None:
    with running() as server:
        start = time.monotonic()
        asked(Endpoint(server.url, "m", per_minute=600), *[ASKED] * 4)
    assert time.monotonic() - start >= 0.29


def test_fields_of_requests_can_be_added_and_taken_away() -> None:
    given = parsed_request('{"max_completion_tokens": 9, "max_tokens": null, "seed": null, "top_p": 0.5}')
    with running() as server:
        asked(Endpoint(server.url, "m", request=given), ASKED)
    (request,) = server.requests
    assert {name: request.get(name) for name in ("max_completion_tokens", "top_p", "temperature")} == {
        "max_completion_tokens": 9, "top_p": 0.5, "temperature": 0
    }  # fmt: skip
    assert not {"max_tokens", "seed"} & set(request)


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"messages": []}', '{"model": "x"}', '{"stream": true}'])
def test_other_requests_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--request"):
        parsed_request(text)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost:8000",
        "ftp://h/v1",
        "http://",
        "http://u:p@h/v1",
        "http://u@h",
        "http://h/v1?key=1",
        "http://h/#a",
        "http://[",
        "http://h:99999",
    ],
)
def test_addresses_that_are_none_or_hold_a_secret_are_refused(address: str) -> None:
    with pytest.raises(UsageError, match="--endpoint") as caught:
        check_address(address)
    assert "p@h" not in str(caught.value)
