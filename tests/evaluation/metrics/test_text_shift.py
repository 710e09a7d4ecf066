from math import exp, isclose
from pathlib import Path

import pytest
import tiny_models
from stressreel.evaluation.metrics.text_shift import (
    METRICS,
    Perplexity,
    Shift,
    family_means,
    load_language_model,
    measure_shift,
    similarity,
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model of single characters."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("tiny")
    vocabulary = tiny_models.write_tokenizer(folder, {"specials": (), "shown": ("", "")})
    with torch.random.fork_rng():
        torch.manual_seed(3)
        sizes = {"vocab_size": vocabulary["VOCABULARY"], "n_positions": 32, "n_embd": 16, "n_layer": 1, "n_head": 2}
        config = transformers.GPT2Config(**sizes, bos_token_id=2, eos_token_id=3)
        transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def test_similarity_by_hand() -> None:
    """The fourth of five words replaced: precisions 4/5, 2/4, 1/3 and, smoothed, 1/(2*2); the same length."""
    bleu, _, rouge = similarity("a man rides [UNK] horse", "a man rides a horse")
    assert isclose(rouge, 0.8)
    assert isclose(bleu, (4 / 5 * 2 / 4 * 1 / 3 * 1 / 4) ** 0.25)
    near, far = (similarity(f"a man drives his {word}", "a man drives his car")[1] for word in ("auto", "horse"))
    assert near > far  # METEOR knows synonyms
    # The caption is the reference, as in Table 7: of its 6 words the original has 4, all of whose own it has.
    recall, precision, chunks, matches = 4 / 6, 1.0, 1, 4
    mean = 10 * precision * recall / (recall + 9 * precision)
    _, meteor, _ = similarity("on Monday a man rides horses", "a man rides horses")
    assert isclose(meteor, mean * (1 - 0.5 * (chunks / matches) ** 3))
    assert similarity("it's so", "it's so")[::2] == pytest.approx((1, 1))  # fewer words than 4-grams need


def test_means_of_shifts() -> None:
    pairs = [("a dog runs", "a dog runs"), ("a [UNK] runs", "a dog runs")]
    shift, each = measure_shift(pairs), [similarity(*pair) for pair in pairs]
    assert (shift.captions, shift.changed, shift.perplexity) == (2, 0.5, None)
    means = [sum(values) / 2 for values in zip(*each, strict=True)]
    assert [getattr(shift, metric) for metric in METRICS] == pytest.approx(means)
    shifts = {"typos": Shift(1, 1, 0.2, 0.4, 0.6), "ocr": Shift(99, 1, 0.4, 0.4, 0.2), "tense": Shift(1, 1, 1, 1, 1)}
    found = family_means(shifts, {"typos": "change_char", "ocr": "change_char", "tense": "text_style"})
    assert found["change_char"] == pytest.approx({"perturbations": 2, "bleu4": 0.3, "meteor": 0.4, "rouge_l": 0.4})
    assert list(found) == ["change_char", "text_style"]
    assert Perplexity.of([100, 500, 900]) == Perplexity(500, 300, pytest.approx(1 / 3))


def test_perplexity_is_exp_of_the_mean_loss(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    model = load_language_model(str(tiny))
    texts = ["a man rides a horse", "dog", "the dog runs on the grass", "a man rides a horse"]
    found = model.perplexities(texts)
    for text, value in zip(texts, found, strict=True):
        ids = torch.tensor([[2, *model.tokenizer(text)["input_ids"]]])
        with torch.inference_mode():
            loss = model.model(input_ids=ids, labels=ids).loss
        assert value == pytest.approx(exp(float(loss)), rel=1e-5)
    assert model.name.startswith(f"{tiny.name} ")
    monkeypatch.setattr("stressreel.evaluation.metrics.text_shift.TOKENS", 30)
    assert model.perplexities(texts[::-1]) == pytest.approx(found[::-1], rel=1e-5)
    assert model.perplexities(["dog " * 20])[0] > 1  # cut where the model ends
