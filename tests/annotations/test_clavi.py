import json

from stressreel.annotations.clavi import ReleasedPair, read_released


def test_released_pairs_have_exact_milliseconds(tmp_path):
    info = [["c000", "6.50", "14.70"], ["c063", "17.20", "24.50"]]
    touching = {"out_a": "0.0", "in_a": "9.7", "in_b": "9.7", "out_b": "15.441"}
    inexact = {"out_a": "0.57", "in_a": "1.005", "in_b": "4.35", "out_b": "16.1"}  # as binary fractions
    entries = {
        "9b71c4ad": {"vid_id": "DOQ9Y", "info": info, "other_actions": ["c006", "c097"], "ext": touching},
        "00000000": {"vid_id": "QGQGZ", "info": info, "other_actions": [], "ext": inexact},
    }
    (tmp_path / "train_annotations.json").write_text(json.dumps(entries))
    a, b = ("c000", 6.5, 14.7), ("c063", 17.2, 24.5)
    assert read_released(tmp_path / "train_annotations.json") == [
        ReleasedPair("9b71c4ad", "DOQ9Y", a, b, ("c006", "c097"), (0, 9700, 9700, 15441)),
        ReleasedPair("00000000", "QGQGZ", a, b, (), (570, 1005, 4350, 16100)),
    ]
