from types import SimpleNamespace

import numpy as np
import pytest
from stressreel.core.errors import InputError
from stressreel.evaluation.probes import TEXT, VIDEO, labels_for, labels_of_ids, labels_of_parts, labels_of_types

V, T = VIDEO, TEXT
IDS = [[8, 3, 9, 9, 4, 5, 0]]


def test_labels_of_parts_segments_and_ids() -> None:
    found = labels_of_parts((V, np.ones((2, 2))), (T, [[1, 1], [1, 0]]))  # FrozenBiLM and JustAsk: video, then text
    assert (found.tolist(), found.dtype) == ([[V, V, T, T], [V, V, T, 0]], np.int64)
    for wrong in ([], [(V, [1, 1])], [(V, [[1]]), (T, [[1], [1]])]):
        with pytest.raises(InputError, match="one batch size"):
            labels_of_parts(*wrong)
    assert labels_of_types([[0, 0, 1, 2]], {0: T, 1: V}).tolist() == [[T, T, V, 0]]
    with pytest.raises(InputError, match="does not match"):
        labels_of_types([[0, 1]], {0: T}, attention_mask=[[1]])
    assert labels_of_ids(IDS, [9], attention_mask=[[1] * 6 + [0]]).tolist() == [[T, T, V, V, T, T, 0]]


def test_labels_for_known_families() -> None:
    text = {"input_ids": [[5, 6]]}
    qwen = {"video_token_id": 9, "image_token_id": 7, "text_config": SimpleNamespace(eos_token_id=[0, 1])}
    visual = {**text, "visual_embeds": np.zeros((1, 3, 4)), "visual_attention_mask": [[1, 1, 0]]}
    vilt, picture = {"patch_size": 4, "max_image_length": -1}, {**text, "pixel_values": np.zeros((1, 3, 8, 12))}
    seen = {"pixel_mask": np.repeat([[[1] * 4 + [0] * 8]], 8, axis=1)}
    for family, config, inputs, expected in (
        ("qwen2_vl", qwen, {"input_ids": IDS}, [T, T, V, V, T, T, T]),
        ("visual_bert", {}, visual, [T, T, V, V, 0]),
        ("vilt", vilt, picture, [T, T, *[V] * 7]),
        ("vilt", vilt, picture | seen, [T, T, *[V] * 3]),
        ("vilt", {**vilt, "max_image_length": 2}, picture, [T, T, *[V] * 3]),
    ):
        assert labels_for(SimpleNamespace(model_type=family, **config), inputs).tolist() == [expected]
    lxmert = SimpleNamespace(model_type="lxmert")
    two = labels_for(lxmert, {**text, "visual_feats": np.zeros((1, 3, 4))})
    assert [one.tolist() for one in two] == [[[T, T]], [[V, V, V]]]
    for config, says in ((lxmert, "visual_feats, which is missing"), (SimpleNamespace(), "are not supported")):
        with pytest.raises(InputError, match=says):
            labels_for(config, text)
