import pytest
from stressreel.video import compare
from stressreel.video.compare import decord_difference, read_by_decord


def test_unreadable_videos_and_differences_are_named(bars, tmp_path, monkeypatch):
    film = bars.write(tmp_path / "film.mp4", frames=90, size=(160, 96)).read_bytes()
    narrow = bars.write(tmp_path / "narrow.mp4", frames=5, size=(96, 64)).read_bytes()  # not compared
    assert decord_difference(narrow) == decord_difference(film) == ""
    assert decord_difference(film[: len(film) // 2]) != ""
    assert decord_difference(b"no video").startswith("PyAV cannot decode it")
    at = film.index(b"stco") + 12  # where its pictures begin: after the end of the file
    for content, message in ((film[:at] + b"\xff" * 4 + film[at + 4 :], "filter_graph"), (b"", "Error reading")):
        with pytest.raises(ValueError, match=message):
            read_by_decord(content)
    _, pictures = read_by_decord(film, 7)
    for counted, changed, message in (
        (89, {}, "decord counts 89 frames, PyAV 90"),
        (90, {44: pictures[44] ^ 4}, "frame 44 differs by 4 grey levels"),
        (90, {44: pictures[44] ^ 2}, ""),
        (90, {0: pictures[0][:-2]}, "decord decodes frames of 160x94, PyAV of 160x96"),
    ):
        monkeypatch.setattr(compare, "read_by_decord", lambda *_, read=(counted, pictures | changed): read)
        difference = decord_difference(film)
        assert difference.startswith(message)
        assert bool(difference) == bool(message)
