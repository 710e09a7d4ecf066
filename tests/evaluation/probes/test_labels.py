from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from stressreel.core.errors import InputError
from stressreel.evaluation.probes import TEXT, VIDEO, labels_for, labels_of_ids, labels_of_parts, labels_of_types

V, T = VIDEO, TEXT
QWEN: dict[str, Any] = {"model_type": "qwen2_vl", "video_token_id": 9, "image_token_id": 7}
QWEN |= {"vision_start_token_id": 3, "vision_end_token_id": 4, "text_config": SimpleNamespace(eos_token_id=[0, 1])}
VILT: dict[str, Any] = {"model_type": "vilt", "patch_size": 4, "max_image_length": -1}
PICTURE = {"input_ids": [[5]], "pixel_values": np.zeros((1, 3, 8, 12))}
SEEN = np.repeat([[[1] * 4 + [0] * 8]], 8, axis=1)
VISUAL = {"input_ids": [[5, 6]], "visual_embeds": np.zeros((1, 3, 4)), "visual_attention_mask": [[1, 1, 0]]}
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


@pytest.mark.parametrize(
    ("config", "inputs", "expected"),
    [
        (QWEN, {"input_ids": IDS}, [[T, T, V, V, T, T, T]]),
        ({"model_type": "visual_bert"}, VISUAL, [[T, T, V, V, 0]]),
        (VILT, PICTURE, [[T, *[V] * 7]]),
        (VILT, {**PICTURE, "pixel_mask": SEEN}, [[T, *[V] * 3]]),
        ({**VILT, "max_image_length": 2}, PICTURE, [[T, *[V] * 3]]),
    ],
)
def test_labels_for_known_families(config: dict[str, Any], inputs: dict[str, Any], expected: Any) -> None:
    assert np.asarray(labels_for(SimpleNamespace(**config), inputs)).tolist() == expected


def test_labels_for_streams_and_unknown_families() -> None:
    lxmert = SimpleNamespace(model_type="lxmert")
    two = labels_for(lxmert, {"input_ids": [[5, 6]], "visual_feats": np.zeros((1, 3, 4))})
    assert [one.tolist() for one in two] == [[[T, T]], [[V, V, V]]]
    with pytest.raises(InputError, match="visual_feats, which is missing"):
        labels_for(lxmert, {"input_ids": [[5]]})
    with pytest.raises(InputError, match="family bert are not supported"):
        labels_for(SimpleNamespace(model_type="bert"), {"input_ids": [[5]]})
