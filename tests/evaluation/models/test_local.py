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
Load = Callable[..., LocalModel]


@pytest.fixture
def load(once: Callable[..., Path]) -> Load:
    return lambda family, **how: LocalModel(str(once(family, FAMILIES[family])), dtype="float32", **how)


every_family = pytest.mark.parametrize(
    "family", ["qwen2_5", *(pytest.param(name, marks=pytest.mark.full) for name in [*FAMILIES][1:])]
)


def view(*shades: int) -> View:
    """Frames of a clip of 20 s at 4 frames per second, at equal distances."""
    rng = np.random.default_rng(0)
    pictures = tuple((rng.integers(0, 30, (40, 60, 3)) + shade).astype(np.uint8) for shade in shades)
    step = 80 // len(shades)
    return View(pictures, 90, timing=Timing(4.0, 80, tuple(range(step // 2, 80, step))))


def need_video() -> None:
    for needed in ("torchvision", "num2words"):
        pytest.importorskip(needed, reason="the extra video is not installed")


def asked(*shades: int, tokens: int = 6) -> Request:
    return Request("Is it so?", view(*shades) if shades else None, tokens)


@pytest.mark.parametrize("family", ["qwen2_5", pytest.param("llava-onevision", marks=pytest.mark.full)])
def test_model_sees_every_frame_and_decodes_greedily(family: str, load: Load) -> None:
    model = load(family)
    before = torch.random.get_rng_state()
    names = ("image_token_id", "image_token_index")
    ids = {getattr(model.model.config, name) for name in names if hasattr(model.model.config, name)}
    two, four = (sum((model.inputs(asked(*range(n)))["input_ids"] == i).sum() for i in ids) for n in (2, 4))
    assert four == 2 * two > 0
    inputs, blind = model.inputs(asked(0, 200)), model.inputs(asked())
    text = model.processor.tokenizer.decode(inputs["input_ids"][0], skip_special_tokens=True)
    assert text == f"{prompts()['frames']}Is it so?:"
    assert "pixel_values" not in blind
    assert model.processor.tokenizer.decode(blind["input_ids"][0]) == "Is it so?:"
    (first,) = model.generate(inputs, [6])
    assert [first] == model.generate(inputs, [6])
    with torch.inference_mode():
        logits, other = (model.model(**each).logits[0, -1] for each in (inputs, model.inputs(asked(200, 0))))
    assert not torch.allclose(logits, other)
    assert first.text.startswith(model.processor.decode(logits.argmax(), skip_special_tokens=True))
    (cut,) = model.generate(inputs, [1])
    assert (cut.output_tokens, cut.cut, cut.input_tokens) == (1, True, inputs["input_ids"].shape[1])
    model.model.generation_config.eos_token_id = [3, int(logits.argmax())]
    assert not model.generate(inputs, [1])[0].cut
    assert torch.equal(before, torch.random.get_rng_state())


@every_family
def test_video_is_sent_with_frame_times(family: str, load: Load) -> None:
    need_video()
    model, shown = load(family, send=""), view(0, 90, 180, 250)
    assert (model.send, model.about["sent"]) == ("video", "video")
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
def test_batch_gives_the_answers_of_single_requests(family: str, send: str, load: Load) -> None:
    if send == "video" or family == "smolvlm":
        need_video()
    requests = [asked(0, 90), Request("Or is it not so, then?", view(0, 90), 2), asked(0, 90, 180, 250)]
    requests += [Request("Why?", None, 6), Request("And who is it?", None, 4)]
    model = load(family, send=send)
    alone = [model.generate(model.inputs(request), [request.max_tokens])[0] for request in requests]
    model.batch = 4

    async def together() -> list[Reply]:
        replies = [asyncio.create_task(model.reply(request)) for request in requests]
        await asyncio.sleep(0)
        await model.finish()
        return await asyncio.gather(*replies)

    assert asyncio.run(together()) == alone


def test_failing_request_fails_alone_in_batch(load: Load) -> None:
    model = load("qwen2_5", batch=2)
    bad = View((np.zeros((2, 500, 3), np.uint8),), 90)  # the processor refuses its aspect ratio

    async def together() -> list[Reply | BaseException]:
        both = (model.reply(Request("Is it so?", shown, 2)) for shown in (bad, view(0)))
        return await asyncio.gather(*both, return_exceptions=True)

    assert [type(each) for each in asyncio.run(together())] == [AnswerError, Reply]


def test_bad_models_and_options_are_refused(load: Load, tmp_path: Path) -> None:
    for how in ({"device": "tpu9"}, {"device": "cpu", "device_map": "auto"}):
        with pytest.raises(UsageError, match="--device"):
            load("qwen2_5", **how)
    tiny = tiny_models.write_qwen2_vl(tmp_path)
    template = tiny / "chat_template.jinja"
    template.write_text(template.read_text().replace("<|vision_start|><|video_pad|><|vision_end|>", ""))
    assert LocalModel(str(tiny), send="").send == "frames"
    with pytest.raises(InputError, match=r"does not support video|needs torchvision"):
        LocalModel(str(tiny), send="video")
    (tiny / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="cannot be loaded"):
        LocalModel(str(tiny))
