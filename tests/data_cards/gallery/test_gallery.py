import hashlib
import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from commands import refuses, rows, run
from PIL import Image
from stressreel.core import interrupt
from stressreel.data_cards.gallery import site as gallery
from stressreel.data_cards.gallery.site import described
from stressreel.video.index import index_frames


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write(out: Path, folder: Path, *arguments: object) -> Any:
    return run("stressreel", "gallery", out, "--to", folder, "--no-progress", *arguments)


def index(folder: Path) -> Any:
    text = (folder / "data" / "index.js").read_text("utf-8")
    return json.loads(text.removeprefix("galleryIndex(").removesuffix(");\n"))


@pytest.fixture(scope="module")
def small(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small") / "gallery"
    done = write(built, folder, "--limit", 2)
    said = f"Wrote 2 of 11 pairs with 4 videos to {folder}.\nOpen {folder / 'index.html'} in a browser.\n"
    assert (done.code, done.out) == (0, said)
    return folder


def test_it_is_the_same_again(built: Path, small: Path, tmp_path: Path) -> None:
    assert write(built, tmp_path / "again", "--limit", 2).code == 0
    assert files(tmp_path / "again") == files(small)


def test_videos_are_there_once_by_their_hash_with_a_picture(built: Path, small: Path) -> None:
    found = files(small)
    media = {name: content for name, content in found.items() if name.startswith("media/")}
    assert {f"media/{hashlib.sha256(content).hexdigest()}.mp4" for content in media.values()} == set(media)
    stored = {row["sha256"]: row["video"]["bytes"] for row in rows(built, "videos")}
    assert len(media) == 4
    assert all(stored[name[6:70]] == content for name, content in media.items())
    for name in media:
        with Image.open(small / "thumbs" / f"{name[6:70]}.jpg") as picture:
            assert picture.size == (320, 240)


def test_what_is_copied_of_videos_is_what_was_asked_for(built: Path, tmp_path: Path) -> None:
    for embed, kinds in (("none", set()), ("thumbnails", {"thumbs"})):
        assert write(built, tmp_path / embed, "--split", "train", "--limit", 1, "--embed", embed).code == 0
        found = {path.name for path in (tmp_path / embed).iterdir()}
        assert found == kinds | {"data", "gallery", "index.html", "output.json"}
        assert [entry[2] is None for entry in index(tmp_path / embed)["entries"]] == [embed == "none"]


def test_another_gallery_needs_force_and_takes_away_what_it_has_not(built: Path, small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "g"
    shutil.copytree(small, folder)
    (folder / "mine.txt").write_text("mine")
    refuses(write(built, folder, "--limit", 1), "--force")
    assert write(built, folder, "--limit", 1, "--force").code == 0
    assert len(list((folder / "media").iterdir())) == 2
    assert (folder / "mine.txt").read_text() == "mine"
    refuses(write(built, folder / "mine.txt"), "is a file")


def test_a_stopped_one_goes_on_and_keeps_its_videos(built: Path, small: Path, tmp_path: Path, monkeypatch: Any) -> None:
    folder, written = tmp_path / "g", []
    real = gallery.write_atomic

    def stopping(path: Path, content: bytes) -> None:
        if path.parent.name == "media":
            written.append(path.name)
            if len(written) == 3:
                raise KeyboardInterrupt
        real(path, content)

    monkeypatch.setattr(gallery, "write_atomic", stopping)
    stopped = write(built, folder, "--limit", 2)
    assert stopped.code == 130
    assert "Kept: 2 videos. Run the same command again to continue." in stopped.err
    assert not (folder / "index.html").exists()
    kept = list(written[:2])
    assert write(built, folder, "--limit", 2).code == 0
    assert not set(written[3:]) & set(kept)
    assert files(folder) == files(small)
    assert not interrupt.asked()


def test_a_damaged_video_and_a_missing_one_are_refused(built: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(built, out)
    for shard in (out / "videos").glob("*.parquet"):
        content = bytearray(shard.read_bytes())
        place = content.find(b"mdat") + 2000
        content[place : place + 4] = bytes(4 * [255])
        shard.write_bytes(bytes(content))
    refuses(write(out, tmp_path / "g"), "does not match its sha256")
    assert not (tmp_path / "g" / "index.html").exists()


def test_a_licence_that_forbids_it_is_said_before_writing_and_on_the_page(built: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(built, out)
    info = json.loads((out / "build.json").read_text())
    info["source"] |= {"redistributable": False, "terms": "You may <not> pass them on.", "name": "Own films"}
    (out / "build.json").write_text(json.dumps(info))
    done = write(out, tmp_path / "g", "--limit", 1)
    assert done.code == 0
    assert "are from Own films and may not be shared. Its terms: You may <not> pass them on." in done.err
    page = (tmp_path / "g" / "index.html").read_text("utf-8")
    assert "Own films and may not be shared. Its terms: You may &lt;not&gt; pass them on." in page


def test_scores_show_with_the_answers_beside_them(built: Path, tmp_path: Path) -> None:
    answers = tmp_path / "yes.jsonl"
    ids = [row["question_id"] for row in rows(built, "questions", "test")]
    answers.write_text("".join(json.dumps({"id": name, "answer": "yes"}) + "\n" for name in ids))
    assert run("stressreel", "score", built, "--predictions", answers).code == 0
    scores = tmp_path / "yes.scores"
    done = write(built, tmp_path / "g", "--scores", scores, "--embed", "none")
    assert "The model answered 3 of them." in done.out
    found = index(tmp_path / "g")
    verdict = len(found["askedFacets"])
    assert {found["kinds"][kind][verdict] for entry in found["entries"] for kind in entry[4]} == {"right", "wrong"}
    assert len(found["entries"]) == 3  # of 11 pairs: what nobody answered is not shown
    answers.write_text(answers.read_text() + "\n")
    refuses(write(built, tmp_path / "h", "--scores", scores), "has changed since")
    answers.unlink()
    refuses(write(built, tmp_path / "h", "--scores", scores), "not in the same parent folder", "--predictions")
    about = json.loads((scores / "scores.json").read_text())
    about["output"]["fingerprint"] = "0" * 64
    (scores / "scores.json").write_text(json.dumps(about))
    refuses(write(built, tmp_path / "h", "--scores", scores), "scores for a different output")
    (scores / "scores.json").write_text(json.dumps({**about, "headline": {"accuracy": 1}}))
    for refused in (write(built, tmp_path / "h", "--scores", scores), run("stressreel", "compare", scores)):
        refuses(refused, "scores.json is damaged (headline.accuracy is 1, not an object). Score again.")
    assert not (tmp_path / "h").exists()


def test_frames_are_told_by_a_rate_or_by_their_times(bars: Any, tmp_path: Path) -> None:
    steady = index_frames(bars.write(tmp_path / "a.mp4", frames=10, rate=Fraction(25)))
    found = described(steady)
    assert found == {"frames": 10, "seconds": 0.4, "rate": [25, 1]}
    uneven = index_frames(bars.write(tmp_path / "b.mp4", frames=4, rate=Fraction(25), pts=[0, 1, 3, 4], last=1))
    assert described(uneven) == {"frames": 4, "seconds": 0.2, "times": [0.0, 0.04, 0.12, 0.16]}
