import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tiny_models
from stressreel.core.errors import InputError, UsageError
from stressreel.evaluation.models import AnswerError, Reply, Request
from stressreel.evaluation.models.clip_sources import Timing, View
from stressreel.evaluation.models.local import LocalModel
from stressreel.evaluation.tasks import prompts

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


FAMILIES = {
    "qwen2_5": lambda folder: tiny_models.write_qwen2_vl(folder, version="2_5"),
    "llava-onevision": tiny_models.write_llava_onevision,
    "internvl": tiny_models.write_internvl,
    "smolvlm": tiny_models.write_smolvlm,
}


every_family = pytest.mark.parametrize(
    "family", ["qwen2_5", *(pytest.param(name, marks=pytest.mark.full) for name in [*FAMILIES][1:])]
)


def view(*shades: int) -> View:
    """Frames of a clip of 20 s at 4 frames per second, at equal distances."""
    rng = np.random.default_rng(0)
    pictures = tuple((rng.integers(0, 30, (40, 60, 3)) + shade).astype(np.uint8) for shade in shades)
    step = 80 // len(shades)
    return View(pictures, 90, timing=Timing(4.0, 80, tuple(range(step // 2, 80, step))))


@pytest.mark.parametrize("family", ["qwen", pytest.param("llava", marks=pytest.mark.full)])
def test_model_sees_every_frame_and_decodes_greedily(family: str, request: pytest.FixtureRequest) -> None:
    model = LocalModel(str(request.getfixturevalue(family)), dtype="float32")
    before = torch.random.get_rng_state()
    one, two, four = (model.inputs(Request("Is it so?", view(*shades), 8)) for shades in ((0,), (0, 9), (0, 9, 8, 7)))
    names = ("image_token_id", "image_token_index")
    ids = {getattr(model.model.config, name) for name in names if hasattr(model.model.config, name)}
    count = [sum(int((each["input_ids"] == number).sum()) for number in ids) for each in (two, four)]
    assert count[1] == 2 * count[0] > 0
    text = model.processor.tokenizer.decode(one["input_ids"][0], skip_special_tokens=True)
    assert text == f"{prompts()['frames']}Is it so?:"
    blind = model.inputs(Request("Is it so?", None, 8))
    assert "pixel_values" not in blind
    assert model.processor.tokenizer.decode(blind["input_ids"][0]) == "Is it so?:"
    inputs = model.inputs(Request("Is it so?", view(0, 200), 6))
    (first,) = model.generate(inputs, [6])
    assert [first] == model.generate(inputs, [6])
    with torch.inference_mode():
        logits = model.model(**inputs).logits[0, -1]
        other = model.model(**model.inputs(Request("Is it so?", view(200, 0), 6))).logits[0, -1]
    assert not torch.allclose(logits, other)
    assert first.text.startswith(model.processor.decode(logits.argmax(), skip_special_tokens=True))
    (cut,) = model.generate(inputs, [1])
    assert (cut.output_tokens, cut.cut, cut.input_tokens) == (1, True, inputs["input_ids"].shape[1])
    model.model.generation_config.eos_token_id = [3, int(logits.argmax())]
    assert not model.generate(inputs, [1])[0].cut
    assert torch.equal(before, torch.random.get_rng_state())


@every_family
def test_video_is_sent_with_frame_times(family: str, once: Callable[..., Path]) -> None:
    pytest.importorskip("torchvision", reason="the extra video is not installed")
    pytest.importorskip("num2words", reason="the extra video is not installed")
    model = LocalModel(str(once(family, FAMILIES[family])), dtype="float32", send="")
    assert (model.send, model.about["sent"]) == ("video", "video")
    shown = view(0, 90, 180, 250)
    inputs = model.inputs(Request("Is it so?", shown, 8))
    frames = torch.from_numpy(np.stack(shown.pictures)).permute(0, 3, 1, 2)
    seen = model.processor.video_processor([frames], do_sample_frames=False, return_tensors="pt")
    name = "pixel_values_videos" if "pixel_values_videos" in inputs else "pixel_values"
    expected = seen[name if name in seen else "pixel_values_videos"]
    assert torch.equal(inputs[name].flatten(), expected.flatten())
    text = model.processor.tokenizer.decode(inputs["input_ids"][0])
    assert text.endswith("Is it so?:") or family == "smolvlm"
    assert prompts()["frames"] not in text
    if family == "qwen2_5":  # two frames of five seconds each in a place of the grid
        assert inputs["second_per_grid_ts"].tolist() == [10]
    if family == "smolvlm":
        assert [f"Frame from 00:{second:02}" in text for second in (2, 7, 12, 17)] == [True] * 4
        assert "from a 0:00:20" in text


@pytest.mark.parametrize("send", ["frames", "video"])
@every_family
def test_batch_gives_the_answers_of_single_requests(family: str, send: str, once: Callable[..., Path]) -> None:
    if send == "video" or family == "smolvlm":
        pytest.importorskip("torchvision", reason="the extra video is not installed")
        pytest.importorskip("num2words", reason="the extra video is not installed")
    asked = [Request("Is it so?", view(0, 90), 6), Request("Or is it not so, then?", view(0, 90), 2)]
    asked += [Request("Is it?", view(0, 90, 180, 250), 6), Request("Why?", None, 6), Request("And who is it?", None, 4)]
    model = LocalModel(str(once(family, FAMILIES[family])), dtype="float32", send=send)
    alone = [model.generate(model.inputs(request), [request.max_tokens])[0] for request in asked]
    model.batch = 4

    async def together() -> list[Reply]:
        replies = [asyncio.create_task(model.reply(request)) for request in asked]
        await asyncio.sleep(0)
        await model.finish()
        return await asyncio.gather(*replies)

    assert asyncio.run(together()) == alone


def test_failing_request_fails_alone_in_batch(qwen: Path) -> None:
    model = LocalModel(str(qwen), dtype="float32", batch=2)
    bad = View((np.zeros((2, 500, 3), np.uint8),), 90)  # the processor refuses its aspect ratio

    async def together() -> list[Reply | BaseException]:
        both = (model.reply(Request("Is it so?", shown, 2)) for shown in (bad, view(0)))
        return await asyncio.gather(*both, return_exceptions=True)

    failed, answered = asyncio.run(together())
    assert isinstance(failed, AnswerError)
    assert isinstance(answered, Reply)


def test_bad_models_and_options_are_refused(qwen: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    tiny_models.write_qwen2_vl(tmp_path / "pictures")
    template = tmp_path / "pictures" / "chat_template.jinja"
    template.write_text(template.read_text().replace("<|vision_start|><|video_pad|><|vision_end|>", ""))
    small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    transformers.BertModel(transformers.BertConfig(**small)).save_pretrained(tmp_path / "text")
    for folder, how, kind, says in (
        (qwen, {"dtype": "int7"}, UsageError, "got 'int7'"),
        (qwen, {"device": "tpu9"}, UsageError, "--device 'tpu9'"),
        (qwen, {"device": "cpu", "device_map": "auto"}, UsageError, "mutually exclusive"),
        (tmp_path / "pictures", {"send": "video"}, InputError, "does not support video|needs torchvision"),
        ("models/of/mine", {}, UsageError, "models/of/mine is neither"),
        ("./mine", {}, UsageError, "./mine is neither"),
        (tmp_path / "empty", {}, InputError, "contains no model"),
        (tmp_path / "text", {}, InputError, "cannot be loaded"),
    ):
        with pytest.raises(kind, match=says):
            LocalModel(str(folder), **how)


@pytest.mark.parametrize("installed", [True, False])
def test_missing_torchvision_is_noted(qwen: Path, installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalModel, "_takes_video", lambda self: False)
    monkeypatch.setattr("stressreel.evaluation.models.local.find_spec", lambda name: object() if installed else None)
    assert LocalModel(str(qwen), send="frames").remarks == ()
    model = LocalModel(str(qwen), send="")
    assert model.send == "frames"
    assert any("to send video" in remark for remark in model.remarks) is not installed
