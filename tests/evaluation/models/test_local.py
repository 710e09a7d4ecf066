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


@pytest.mark.parametrize("family", ["qwen", pytest.param("llava", marks=pytest.mark.full)])
def test_a_model_sees_every_frame_in_its_template_and_answers_greedily(
    family: str, request: pytest.FixtureRequest
) -> None:
    model = LocalModel(str(request.getfixturevalue(family)), dtype="float32")
    before = torch.random.get_rng_state()
    one, three = (model.inputs(Request("Is it so?", view(*shades), 8)) for shades in ((0,), (0, 90, 180)))
    names = ("image_token_id", "image_token_index")
    ids = {getattr(model.model.config, name) for name in names if hasattr(model.model.config, name)}
    count = [sum(int((each["input_ids"] == number).sum()) for number in ids) for each in (one, three)]
    assert count[1] == 3 * count[0] > 0
    text = model.processor.tokenizer.decode(one["input_ids"][0], skip_special_tokens=True)
    assert text == f"{prompts()['frames']}Is it so?:"
    blind = model.inputs(Request("Is it so?", None, 8))
    assert "pixel_values" not in blind
    assert model.processor.tokenizer.decode(blind["input_ids"][0]) == "Is it so?:"
    inputs = model.inputs(Request("Is it so?", view(0, 200), 6))
    first = model.generate(inputs, 6)
    assert first == model.generate(inputs, 6)
    with torch.inference_mode():
        logits = model.model(**inputs).logits[0, -1]
        other = model.model(**model.inputs(Request("Is it so?", view(200, 0), 6))).logits[0, -1]
    assert not torch.allclose(logits, other)
    assert first.text.startswith(model.processor.decode(logits.argmax(), skip_special_tokens=True))
    cut = model.generate(inputs, 1)
    assert (cut.output_tokens, cut.cut, cut.input_tokens) == (1, True, inputs["input_ids"].shape[1])
    model.model.generation_config.eos_token_id = [3, int(logits.argmax())]
    assert not model.generate(inputs, 1).cut
    assert torch.equal(before, torch.random.get_rng_state())


def test_what_cannot_be_loaded_is_said(qwen: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    transformers.BertModel(transformers.BertConfig(**small)).save_pretrained(tmp_path / "text")
    for folder, how, kind, says in (
        (qwen, {"dtype": "int7"}, UsageError, "--dtype 'int7'"),
        (qwen, {"device": "tpu9"}, UsageError, "--device 'tpu9'"),
        (tmp_path / "none", {}, UsageError, "there is no"),
        (tmp_path / "empty", {}, InputError, "cannot be loaded"),
        (tmp_path / "text", {}, InputError, "cannot be loaded"),
    ):
        with pytest.raises(kind, match=says):
            LocalModel(str(folder), **how)
