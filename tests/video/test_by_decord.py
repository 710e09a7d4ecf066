import pytest
from stressreel.video import by_decord
from stressreel.video.by_decord import differs_by_decord, read_by_decord


@pytest.fixture(scope="module")
def film(bars, tmp_path_factory):
    return bars.write(tmp_path_factory.mktemp("film") / "film.mp4", frames=90, size=(160, 96)).read_bytes()


def test_what_cannot_be_read(bars, film, tmp_path, monkeypatch):
    assert differs_by_decord(film[: len(film) // 2]) != ""
    at = film.index(b"stco") + 12  # where its pictures begin: after the end of the file
    with pytest.raises(ValueError, match="filter_graph"):
        read_by_decord(film[:at] + b"\xff" * 4 + film[at + 4 :])
    assert differs_by_decord(b"no video").startswith("PyAV cannot decode it")
    with pytest.raises(ValueError, match="Error reading"):
        read_by_decord(b"")
    narrow = bars.write(tmp_path / "narrow.mp4", frames=5, size=(96, 64))
    assert differs_by_decord(narrow.read_bytes()) == differs_by_decord(film) == ""  # the one is not compared


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda count, pictures: (count - 1, pictures), "decord counts 89 frames, PyAV 90"),
        (lambda count, pictures: (count, pictures | {44: pictures[44] ^ 4}), "frame 44 differs by 4 grey levels"),
        (lambda count, pictures: (count, pictures | {44: pictures[44] ^ 2}), ""),
        (lambda count, pictures: (count, pictures | {0: pictures[0][:-2]}), "decord decodes frames of"),
    ],
)
def test_differences_are_named(film, monkeypatch, change, words):
    read = change(*read_by_decord(film, 7))
    monkeypatch.setattr(by_decord, "read_by_decord", lambda content, most: read)
    found = differs_by_decord(film)
    assert found.startswith(words)
    assert bool(found) == bool(words)
