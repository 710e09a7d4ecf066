import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stressreel.core.errors import InputError
from stressreel.core.source import Source
from stressreel.data_cards.gallery import site
from stressreel.data_cards.gallery.answers import judged
from stressreel.data_cards.gallery.exhibits import Exhibit, ExhibitQuestion, Facet, Film, Gallery, distinct, spread
from stressreel.data_cards.gallery.site import About, data_files, data_names, licence_notice, page
from stressreel.evaluation.metrics.items import Items
from stressreel.evaluation.metrics.predictions import Predictions

HERE = Path(site.__file__).parent
ROOT = Path(__file__).parents[3]
SCRIPTS = sorted(HERE.glob("*.js"))
FILM = "0" * 64


def about(**changed: Any) -> About:
    source = Source("own", "clips & <b>more</b>", {"license": "other", "license_link": "javascript:alert(1)"})
    given = {"title": "t", "summary": "A < B: what it asks", "version": "1.0.0", "fingerprint": "f" * 64}
    return About(**{**given, "source": source, "embed": "videos", "total": 3, **changed})


def exhibit(name: str, **changed: Any) -> Exhibit:
    return Exhibit(
        name, **{"title": f"Title {name}", "facets": {"split": ["test"]}, "view": "question", "content": {}, **changed}
    )


def parsed(content: bytes) -> Any:
    return json.loads(re.fullmatch(r"\w+\((.*)\);\n", content.decode(), re.S)[1])  # type: ignore[index]


def test_a_page_escapes_what_it_says_and_links_to_the_web_alone() -> None:
    text = page(about()).decode()
    assert "clips &amp; &lt;b&gt;more&lt;/b&gt;" in text
    assert "<title>A &lt; B</title>" in text
    assert 'data-line="What it asks"' in text
    assert "javascript:" not in text
    linked = about(source=Source("own", "clips", {"license": "other", "license_link": "https://example.org/licence"}))
    assert 'href="https://example.org/licence"' in page(linked).decode()


def test_a_page_forbids_all_but_its_own_files_and_has_no_code_between_its_lines() -> None:
    text = page(about()).decode()
    assert 'http-equiv="Content-Security-Policy"' in text
    assert "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self';" in text
    assert "unsafe" not in text
    assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=", text)
    scripts = re.findall(r'src="([^"]*)"', text)
    assert set(scripts) <= {*site.static_files(), *data_names(0)}
    assert {path.name for path in SCRIPTS} == {name.removeprefix("gallery/") for name in scripts if name != site.INDEX}


def test_a_restrictive_licence_is_on_the_page() -> None:
    for redistributable, notice, heading in (
        (False, "may not be shared. Its terms: No copies.", "Not for sharing."),
        (None, "does not know", "Check before sharing."),
        (True, "", ""),
    ):
        licence = {"license": "other" if redistributable is not True else "cc0-1.0"}
        source = Source("own", "the films", licence, terms="No copies.", redistributable=redistributable)
        found, text = licence_notice(source, pictures=True), page(about(source=source)).decode()
        assert (notice in found, bool(found)) == (True, bool(notice))
        shown = [words for words in ("Not for sharing.", "Check before sharing.") if words in text]
        assert shown == ([heading] if found else [])
        assert licence_notice(source, pictures=False).startswith("The texts") == bool(found)


def test_data_hold_what_is_shown_and_number_what_it_is_filtered_by() -> None:
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
    index = parsed(files[site.INDEX])
    assert index["facets"][0]["values"] == ["test", "train"]
    assert index["kinds"] == [[0, "wrong"], [-1, ""], [1, "right"]]
    assert [entry[:5] for entry in index["entries"]] == [
        ["a", "Title a", FILM, [[0]], [0, 1]],
        ["b", "Title b", None, [[1, 0]], [2]],
    ]
    assert index["entries"][0][5] == "a title is el red again"  # words to search, without case, accents and points
    part = parsed(files[data_names(2)[1]])
    assert [item["id"] for item in part["items"]] == ["a", "b"]
    assert part["films"] == films
    assert all(b"<" not in content for content in files.values())


def test_files_of_data_hold_so_many_each_ids_are_unique_and_a_limit_is_spread_evenly() -> None:
    count = 2 * site.IN_A_FILE + 1
    shown = [exhibit(str(number)) for number in range(count)]
    gallery = Gallery(count, lambda places: iter(shown), "clip", [Facet("split", "Split")])
    files = dict(data_files(about(), gallery, shown, {}))
    sizes = [len(parsed(files[name])["items"]) for name in data_names(count)[1:]]
    assert sizes == [site.IN_A_FILE, site.IN_A_FILE, 1]
    with pytest.raises(InputError, match="two exhibits have the id 'a'"):
        list(distinct(iter([exhibit("a"), exhibit("a")])))
    assert [list(spread(*given)) for given in ((5, 9), (10, 4), (0, 3))] == [[0, 1, 2, 3, 4], [0, 2, 5, 7], []]


def test_answers_are_judged_where_there_are_some() -> None:
    items = Items(["x", "y", "z"], [], [], [], [("no", "yes")] * 3, np.array([0, 1, -1], np.int64))
    rows = [{"id": name, "answer": "yes"} for name in ("x", "y", "z")]
    said = judged(items, Predictions(Path("p.jsonl"), rows))
    assert {name: (each.choice, each.verdict) for name, each in said.items()} == {"x": (1, "wrong"), "y": (1, "right")}
    assert judged(items, Predictions(Path("p.jsonl"), [{"id": "other", "answer": "yes"}])) == {}
    assert judged(items, Predictions(Path("p.jsonl"), rows[:1])).keys() == {"x"}
    assert judged(items, None) == {}


def test_scripts_and_styles_make_no_markup_of_texts_and_load_nothing_from_elsewhere() -> None:
    for path in (*SCRIPTS, HERE / "gallery.css", HERE / "index.html.j2"):
        text = path.read_text("utf-8")
        assert set(re.findall(r"https?://[^\s\"')]+", text)) <= {"http://www.w3.org/2000/svg"}
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)


def test_scripts_keep_their_types() -> None:
    compiler = ROOT / ".ci" / "node_modules" / ".bin" / "tsc"
    if not compiler.is_file() or shutil.which("node") is None:
        pytest.skip("no TypeScript compiler: install node, then npm install --prefix .ci")
    assert all(path.read_text("utf-8").startswith("// @ts-check\n") for path in SCRIPTS)
    done = subprocess.run([compiler, "-p", ROOT / ".ci/tsconfig.json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
