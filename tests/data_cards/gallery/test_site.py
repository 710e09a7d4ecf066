import hashlib
import json
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from commands import refuses, rows, run, succeed
from PIL import Image
from stressreel.core import progress
from stressreel.core.errors import InputError
from stressreel.core.source import Source
from stressreel.data_cards.gallery import site
from stressreel.data_cards.gallery.exhibits import Exhibit, ExhibitQuestion, Facet, Film, Gallery, distinct, spread
from stressreel.data_cards.gallery.site import About, data_files, data_names, licence_notice, page
from stressreel.video.index import index_frames

HERE = Path(site.__file__).parent
ROOT = Path(__file__).parents[3]
SCRIPTS = sorted(HERE.glob("*.js"))
FILM = "0" * 64
OWN = Source("own", "clips & <b>more</b>", {"license": "other", "license_link": "javascript:alert(1)"})


def about(source=OWN):
    given = {"title": "t", "summary": "A < B: what it asks", "version": "1.0.0", "fingerprint": "f" * 64}
    return About(**given, source=source, embed="videos", total=3)


def exhibit(name, **changed):
    given = {"title": f"Title {name}", "facets": {"split": ["test"]}, "view": "question", "content": {}}
    return Exhibit(name, **{**given, **changed})


def index(content):
    return json.loads(re.fullmatch(r"\w+\((.*)\);\n", content.decode(), re.S)[1])


def test_page_escapes_texts_and_allows_only_own_files():
    text = page(about()).decode()
    assert "clips &amp; &lt;b&gt;more&lt;/b&gt;" in text
    assert "<title>A &lt; B</title>" in text
    assert 'data-line="What it asks"' in text
    assert "javascript:" not in text
    linked = Source("own", "clips", {"license": "other", "license_link": "https://example.org/licence"})
    assert 'href="https://example.org/licence"' in page(about(linked)).decode()
    assert 'http-equiv="Content-Security-Policy"' in text
    assert "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self';" in text
    assert not re.search(r"unsafe|<script(?![^>]* src=)|<style|\son\w+=|\sstyle=", text)
    scripts = re.findall(r'src="([^"]*)"', text)
    assert set(scripts) <= {*site.static_files(), *data_names(0)}
    assert {path.name for path in SCRIPTS} == {name.removeprefix("gallery/") for name in scripts if name != site.INDEX}
    for path in (*SCRIPTS, *HERE.glob("*.css"), *HERE.glob("*.j2")):
        code = path.read_text("utf-8")
        assert set(re.findall(r"https?://[^\s\"')]+", code)) <= {"http://www.w3.org/2000/svg"}
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", code)


@pytest.mark.parametrize(
    ("redistributable", "notice", "heading"),
    [
        (False, "may not be shared. Its terms: No copies.", "Not for sharing."),
        (None, "does not know", "Check before sharing."),
        (True, "", ""),
    ],
)
def test_page_states_restrictive_licence(redistributable, notice, heading):
    licence = {"license": "other" if redistributable is not True else "cc0-1.0"}
    source = Source("own", "the films", licence, terms="No copies.", redistributable=redistributable)
    found, text = licence_notice(source, pictures=True), page(about(source)).decode()
    assert (notice in found, bool(found)) == (True, bool(notice))
    assert [words for words in ("Not for sharing.", "Check before sharing.") if words in text] == [heading] * bool(
        found
    )
    assert licence_notice(source, pictures=False).startswith("The texts") == bool(found)


def test_data_files_list_exhibits_and_facets():
    asked = [ExhibitQuestion(text, {"type": "E"}, "wrong") for text in ("Is él Red?", "again")]
    asked.append(ExhibitQuestion("", {}))
    shown = [
        exhibit("a", asked=asked, films=[Film("videos", FILM)]),
        exhibit("b", facets={"split": ["train", "test"]}, asked=[ExhibitQuestion("</script>", {"type": "B"}, "right")]),
    ]
    gallery = Gallery(2, lambda places: iter(shown), "clip", [Facet("split", "Split")], [Facet("type", "Type")])
    films = {FILM: {"file": "media/x.mp4", "poster": "thumbs/x.jpg"}}
    files = dict(data_files(about(), gallery, shown, films))
    assert list(files) == data_names(2)
    listed = index(files[site.INDEX])
    assert listed["facets"][0]["values"] == ["test", "train"]
    assert listed["kinds"] == [[0, "wrong"], [-1, ""], [1, "right"]]
    assert [entry[:5] for entry in listed["entries"]] == [
        ["a", "Title a", FILM, [[0]], [0, 1]],
        ["b", "Title b", None, [[1, 0]], [2]],
    ]
    assert listed["entries"][0][5] == "a title is el red again"  # words to search, without case, accents and points
    part = index(files[data_names(2)[1]])
    assert ([item["id"] for item in part["items"]], part["films"]) == (["a", "b"], films)
    assert all(b"<" not in content for content in files.values())
    count = 2 * site.IN_A_FILE + 1
    files = dict(data_files(about(), gallery, [exhibit(str(number)) for number in range(count)], {}))
    sizes = [len(index(files[name])["items"]) for name in data_names(count)[1:]]
    assert sizes == [site.IN_A_FILE, site.IN_A_FILE, 1]
    with pytest.raises(InputError, match="two exhibits have the id 'a'"):
        list(distinct(iter([exhibit("a"), exhibit("a")])))
    assert [list(spread(*given)) for given in ((5, 9), (10, 4), (0, 3))] == [[0, 1, 2, 3, 4], [0, 2, 5, 7], []]


def test_scripts_type_check():
    compiler = ROOT / ".ci" / "node_modules" / ".bin" / "tsc"
    if not compiler.is_file() or shutil.which("node") is None:
        pytest.skip("no TypeScript compiler: install node, then npm install --prefix .ci")
    assert all(path.read_text("utf-8").startswith("// @ts-check\n") for path in SCRIPTS)
    done = subprocess.run([compiler, "-p", ROOT / ".ci/tsconfig.json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write(out, folder, *arguments):
    return run("stressreel", "gallery", out, "--to", folder, "--no-progress", *arguments)


@pytest.fixture(scope="module")
def small(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("small") / "gallery"
    done = write(built, folder, "--limit", 2)
    said = f"Wrote 2 of 11 pairs with 4 videos to {folder}.\nOpen {folder / 'index.html'} in a browser.\n"
    assert (done.code, done.out) == (0, said)
    return folder


def test_videos_are_stored_once_with_thumbnails(built, small):
    media = {name: content for name, content in files(small).items() if name.startswith("media/")}
    stored = {row["sha256"]: row["video"]["bytes"] for row in rows(built, "videos")}
    assert len(media) == 4
    for name, content in media.items():
        assert name == f"media/{hashlib.sha256(content).hexdigest()}.mp4"
        assert stored[name[6:70]] == content
        with Image.open(small / "thumbs" / f"{name[6:70]}.jpg") as picture:
            assert picture.size == (320, 240)


def test_embed_selects_copied_files(built, tmp_path):
    for embed, kinds in (("none", set()), ("thumbnails", {"thumbs"})):
        assert write(built, tmp_path / embed, "--split", "train", "--limit", 1, "--embed", embed).code == 0
        found = {path.name for path in (tmp_path / embed).iterdir()}
        assert found == kinds | {"data", "gallery", "index.html", "output.json"}
        listed = index((tmp_path / embed / "data/index.js").read_bytes())
        assert [entry[2] is None for entry in listed["entries"]] == [embed == "none"]


def test_interrupted_gallery_resumes(built, small, tmp_path, monkeypatch):
    folder, written = tmp_path / "g", []
    real = site.write_atomic

    def stopping(path, content):
        if path.parent.name == "media":
            written.append(path.name)
            if len(written) == 3:
                raise KeyboardInterrupt
        real(path, content)

    monkeypatch.setattr(site, "write_atomic", stopping)
    stopped = write(built, folder, "--limit", 2)
    assert (stopped.code, "Kept: 2 videos." in stopped.err) == (130, True)
    assert not (folder / "index.html").exists()
    kept = list(written[:2])
    assert write(built, folder, "--limit", 2).code == 0
    assert not set(written[3:]) & set(kept)
    assert files(folder) == files(small)
    assert not progress.interrupted()


def test_restriction_is_stated_and_damage_refused(built, tmp_path):
    out = shutil.copytree(built, tmp_path / "out")
    info = json.loads((out / "build.json").read_text())
    info["source"] |= {"redistributable": False, "terms": "You may <not> pass them on.", "name": "Own films"}
    (out / "build.json").write_text(json.dumps(info))
    done = write(out, tmp_path / "g", "--limit", 1)
    assert done.code == 0
    assert "are from Own films and may not be shared. Its terms: You may <not> pass them on." in done.err
    for shard in (out / "videos").glob("*.parquet"):
        content = bytearray(shard.read_bytes())
        place = content.find(b"mdat") + 2000
        content[place : place + 4] = bytes(4 * [255])
        shard.write_bytes(bytes(content))
    refuses(write(out, tmp_path / "h"), "does not match its sha256")
    assert not (tmp_path / "h" / "index.html").exists()


def test_scores_select_answered_exhibits(built, tmp_path):
    answers, scores, refused = tmp_path / "yes.jsonl", tmp_path / "yes.scores", tmp_path / "h"
    ids = [row["question_id"] for row in rows(built, "questions", "test")]
    answers.write_text("".join(json.dumps({"id": name, "answer": "yes"}) + "\n" for name in ids))
    succeed("stressreel", "score", built, "--predictions", answers)
    done = write(built, tmp_path / "g", "--scores", scores, "--embed", "none")
    assert "The model answered 3 of them." in done.out
    found = index((tmp_path / "g/data/index.js").read_bytes())
    verdict = len(found["askedFacets"])
    assert {found["kinds"][kind][verdict] for entry in found["entries"] for kind in entry[4]} == {"right", "wrong"}
    assert len(found["entries"]) == 3  # of 11 pairs: what nobody answered is not shown
    answers.write_text(answers.read_text() + "\n")
    refuses(write(built, refused, "--scores", scores), "has changed since")
    told = json.loads((scores / "scores.json").read_text())
    told["output"]["fingerprint"] = "0" * 64
    (scores / "scores.json").write_text(json.dumps(told))
    refuses(write(built, refused, "--scores", scores), "scores for a different output")
    (scores / "scores.json").write_text(json.dumps({**told, "headline": {"accuracy": 1}}))
    refuses(write(built, refused, "--scores", scores), "headline.accuracy is 1, not an object")
    assert not refused.exists()


def test_videos_have_rate_or_times(bars, tmp_path):
    steady = index_frames(bars.write(tmp_path / "a.mp4", frames=10, rate=Fraction(25)))
    assert site.described(steady) == {"frames": 10, "seconds": 0.4, "rate": [25, 1]}
    uneven = index_frames(bars.write(tmp_path / "b.mp4", frames=4, rate=Fraction(25), pts=[0, 1, 3, 4], last=1))
    assert site.described(uneven) == {"frames": 4, "seconds": 0.2, "times": [0.0, 0.04, 0.12, 0.16]}
