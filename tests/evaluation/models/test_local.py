"""Models of transformers that run here, tiny and random."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from stressreel.core.errors import InputError, UsageError
from stressreel.evaluation.models.clips import View
from stressreel.evaluation.models.local import LocalModel
from stressreel.evaluation.models.models import Request
from stressreel.evaluation.tasks import prompts

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def view(*shades: int) -> View:
    rng = np.random.default_rng(0)
    return View(tuple((rng.integers(0, 30, (40, 60, 3)) + shade).astype(np.uint8) for shade in shades), 90)


@pytest.mark.parametrize("family", ["qwen", "llava"])
def test_a_model_is_shown_every_frame_and_asked_in_its_template(family: str, request: pytest.FixtureRequest) -> None:
    model = LocalModel(str(request.getfixturevalue(family)))
    one, three = (model.inputs(Request("Is it so?", view(*shades), 8)) for shades in ((0,), (0, 90, 180)))
    ids = {
        getattr(model.model.config, name)
        for name in ("image_token_id", "image_token_index")
        if hasattr(model.model.config, name)
    }
    count = [sum(int((each["input_ids"] == number).sum()) for number in ids) for each in (one, three)]
    assert count[1] == 3 * count[0] > 0
    text = model.processor.tokenizer.decode(one["input_ids"][0], skip_special_tokens=True)
    assert text == f"{prompts()['frames']}Is it so?:"
    blind = model.inputs(Request("Is it so?", None, 8))
    assert "pixel_values" not in blind
    assert model.processor.tokenizer.decode(blind["input_ids"][0]) == "Is it so?:"


@pytest.mark.parametrize("family", ["qwen", "llava"])
def test_answers_are_greedy_and_depend_on_the_frames(family: str, request: pytest.FixtureRequest) -> None:
    model = LocalModel(str(request.getfixturevalue(family)), dtype="float32")
    inputs = model.inputs(Request("Is it so?", view(0, 200), 6))
    first, again = model.generate(inputs, 6), model.generate(inputs, 6)
    assert first == again
    assert (first.input_tokens, first.output_tokens) == (inputs["input_ids"].shape[1], first.output_tokens)
    with torch.inference_mode():
        logits = model.model(**inputs).logits[0, -1]
        other = model.model(**model.inputs(Request("Is it so?", view(200, 0), 6))).logits[0, -1]
    assert not torch.allclose(logits, other)
    said = model.processor.decode(logits.argmax(), skip_special_tokens=True)
    assert first.text.startswith(said)
    assert model.generate(inputs, 1).output_tokens == 1


def test_a_model_that_stops_is_not_cut(qwen: Path) -> None:
    model = LocalModel(str(qwen))
    inputs = model.inputs(Request("Is it so?", None, 4))
    first = int(model.model.generate(**inputs, max_new_tokens=1, do_sample=False)[0, -1])
    assert model.generate(inputs, 1).cut
    model.model.generation_config.eos_token_id = [3, first]
    assert not model.generate(inputs, 1).cut


def test_no_state_of_torch_is_touched(qwen: Path) -> None:
    model = LocalModel(str(qwen))
    before = torch.random.get_rng_state()
    model.generate(model.inputs(Request("Is it so?", view(0), 4)), 4)
    assert torch.equal(before, torch.random.get_rng_state())


def test_what_cannot_be_loaded_is_said(qwen: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--dtype 'int7'"):
        LocalModel(str(qwen), dtype="int7")
    with pytest.raises(UsageError, match="--device 'tpu9'"):
        LocalModel(str(qwen), device="tpu9")
    with pytest.raises(UsageError, match="there is no"):
        LocalModel(str(tmp_path / "none"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="cannot be loaded"):
        LocalModel(str(tmp_path / "empty"))
    text = tmp_path / "text"
    config = transformers.BertConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
    transformers.BertModel(config).save_pretrained(text)
    with pytest.raises(InputError, match="cannot be loaded"):
        LocalModel(str(text))
