"""Labels of tokens, from what models are given."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from stressreel.core.errors import InputError
from stressreel.evaluation.probes import TEXT, VIDEO, labels_for, labels_of_ids, labels_of_parts, labels_of_types

V, T = VIDEO, TEXT


def test_parts_one_after_the_other() -> None:
    """FrozenBiLM and JustAsk: video, then text."""
    found = labels_of_parts((V, np.ones((2, 2))), (T, [[1, 1], [1, 0]]))
    assert found.tolist() == [[V, V, T, T], [V, V, T, 0]]
    assert found.dtype == np.int64
    for wrong in ([], [(V, [1, 1])], [(V, [[1]]), (T, [[1], [1]])]):
        with pytest.raises(InputError, match="one batch"):
            labels_of_parts(*wrong)


def test_ids_and_special_tokens() -> None:
    ids = [[8, 3, 9, 9, 4, 5, 0]]
    assert labels_of_ids(ids, [9]).tolist() == [[T, T, V, V, T, T, T]]
    assert labels_of_ids(ids, [9], attention_mask=[[1] * 6 + [0]]).tolist() == [[T, T, V, V, T, T, 0]]
    config = SimpleNamespace(
        model_type="qwen2_vl",
        video_token_id=9,
        image_token_id=7,
        vision_start_token_id=3,
        vision_end_token_id=4,
        text_config=SimpleNamespace(eos_token_id=[0, 1]),
    )
    assert labels_for(config, {"input_ids": ids}).tolist() == [[T, T, V, V, T, T, T]]
    assert labels_for(config, {"input_ids": ids}, special=False).tolist() == [[T, 0, V, V, 0, T, 0]]
    assert labels_for(config, {"input_ids": ids}, special=False, special_ids=[8]).tolist() == [[0, 0, V, V, 0, T, 0]]


def test_segments() -> None:
    assert labels_of_types([[0, 0, 1, 2]], {0: T, 1: V}).tolist() == [[T, T, V, 0]]
    with pytest.raises(InputError, match="does not go with"):
        labels_of_types([[0, 1]], {0: T}, attention_mask=[[1]])


def test_families() -> None:
    visual = {"input_ids": [[5, 6]], "visual_embeds": np.zeros((1, 3, 4)), "visual_attention_mask": [[1, 1, 0]]}
    assert labels_for(SimpleNamespace(model_type="visual_bert"), visual).tolist() == [[T, T, V, V, 0]]
    two = labels_for(SimpleNamespace(model_type="lxmert"), {"input_ids": [[5, 6]], "visual_feats": np.zeros((1, 3, 4))})
    assert [one.tolist() for one in two] == [[[T, T]], [[V, V, V]]]
    config = SimpleNamespace(model_type="vilt", patch_size=4, max_image_length=-1)
    pictures = {"input_ids": [[5]], "pixel_values": np.zeros((1, 3, 8, 12))}
    assert labels_for(config, pictures).tolist() == [[T, *[V] * 7]]
    mask = np.ones((1, 8, 12))
    mask[:, :, 4:] = 0
    assert labels_for(config, {**pictures, "pixel_mask": mask}).tolist() == [[T, *[V] * 3]]
    config.max_image_length = 2
    assert labels_for(config, pictures).tolist() == [[T, *[V] * 3]]
    with pytest.raises(InputError, match="visual_feats, which is not among the inputs"):
        labels_for(SimpleNamespace(model_type="lxmert"), {"input_ids": [[5]]})
    with pytest.raises(InputError, match="family bert are not known"):
        labels_for(SimpleNamespace(model_type="bert"), {"input_ids": [[5]]})
