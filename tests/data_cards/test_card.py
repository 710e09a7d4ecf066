import re
import shutil
import struct
import sys

import pytest
import yaml
from cards import check_layout, render_card
from commands import run
from stressreel.annotations.charades import CHARADES, SAMPLE
from stressreel.annotations.samples import cached_sample
from stressreel.builders import benchmark_of
from stressreel.builders.clavi.tables import PAIRS, QUESTIONS, VIDEOS
from stressreel.builders.parts import card_of
from stressreel.builders.runtime.output import claim
from stressreel.core.output import open_output
from stressreel.core.output_files import BEGIN, END
from stressreel.data_cards.card_checks import card_checks

BUILD = ("build-clavi", "--charades", cached_sample("charades"), "--no-render", "--version", "1.2.3")


@pytest.fixture(scope="module")
def output(build_once):
    return open_output(build_once(*BUILD))


def card(output):
    return (output.path / "README.md").read_text(encoding="utf-8")


def table(text, first):
    lines = text[text.index(f"\n{first} |") + 1 :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0], *lines[2:])]


def test_card_follows_from_shards_anywhere(output, tmp_path, monkeypatch):
    copy = shutil.copytree(output.path, tmp_path / "elsewhere")
    (copy / "README.md").unlink()
    assert run("stressreel", "card", copy).code == 0
    for name in ("sklearn", "sentence_transformers", "torch", "nltk", "spacy"):
        monkeypatch.setitem(sys.modules, name, None)
    assert card(open_output(copy)) == card(output) == render_card(output.path, output.info)
    assert str(tmp_path) not in card(output)
    assert all(f"`{column.name}` | " in card(output) for table in (QUESTIONS, PAIRS) for column in table.columns)
    for said in (output.info["command"], output.info["fingerprint"], "1.2.3", "--rules released"):
        assert said in card(output)
    with pytest.raises(LookupError):
        render_card(output.path, {name: value for name, value in output.info.items() if name != "limit"})
    noted = {"notes": output.info["notes"] | {"odd_ones": 7}}
    assert "| odd ones | 7 |" in render_card(output.path, output.info | noted)


@pytest.mark.parametrize("name", ["built", "built_causal", "built_graphs", "built_suite"])
def test_card_starts_with_licence_and_loading(request, name):
    check_layout((request.getfixturevalue(name) / "README.md").read_text(encoding="utf-8"))


def test_header_and_numbers_match_the_tables(output):
    text = card(output)
    fields = yaml.safe_load(text.split("---\n")[1])
    listed = {
        (config["config_name"], entry["split"], path.name)
        for config in fields["configs"]
        for entry in config["data_files"]
        for path in output.path.glob(entry["path"])
    }
    assert listed == {(p.parent.name, p.name.split("-")[0], p.name) for p in output.path.glob("*/*.parquet")}
    assert [config["config_name"] for config in fields["configs"] if config.get("default")] == ["questions"]
    assert (fields["license"], fields["language"], fields["size_categories"]) == ("other", ["en"], ["n<1K"])
    assert fields["task_categories"] == ["video-text-to-text", "visual-question-answering"]
    pairs, questions = (list(output.rows(name)) for name in ("pairs", "questions"))
    durations = [row[f"end_{letter}_s"] - row[f"start_{letter}_s"] for row in pairs for letter in "ab"]
    lengths = [row["out_b"] - row["out_a"] for row in pairs]
    numbers = {row[0]: row[1] for row in table(text, "| | this build")[1:]}
    assert (numbers["videos (V and V′)"], numbers["questions"]) == (str(2 * len(pairs)), str(len(questions)))
    assert numbers["duration of an action"].startswith(f"{sum(durations) / len(durations):.2f} ± ")
    assert numbers["duration of a video"].startswith(f"{sum(lengths) / len(lengths):.2f} ± ")
    assert numbers["duration of a video"].endswith(f"{min(lengths):.2f} to {max(lengths):.2f} s")
    swapped, asked = ({row[f"class_{letter}"] for row in pairs for letter in part} for part in ("ab", "abc"))
    assert numbers["action classes: A and B; with C"] == f"{len(swapped)}; {len(asked)}"
    for kind, *_, train, test, yes, no in table(text, "| type")[1:-1]:
        of_it = [row for row in questions if row["type"] == kind]
        assert int(yes) == sum(row["answer"] for row in of_it)
        assert int(no) + int(yes) == int(train) + int(test) == len(of_it)
    assert table(text, "| baseline")[1][:3] == ["no to everything", "68.4%", "50.0%"]


def test_card_states_source_rules_and_skips(output, build_once, built):
    sources = ({"source": source.as_json()} for source in (SAMPLE, CHARADES))
    sample, charades = (render_card(output.path, output.info | source) for source in sources)
    for said in ("This is not Charades.", "license: cc0-1.0"):
        assert (said in sample, said in charades) == (True, False)
    for said in ("license_name: charades-non-commercial", "license_link", "a third party in any form"):
        assert (said in sample, said in charades) == (False, True)
    foreign = {**SAMPLE.as_json(), "license": {"license": "other", "license_name": "für alle"}}
    assert "license_name: für alle" in render_card(output.path, output.info | {"source": foreign})
    paper = card(open_output(build_once(*BUILD, "--source", "sta", "--rules", "paper")))
    assert ("--rules paper" in paper, "Gao, Jiyang" in paper) == (True, True)
    skips = {"count": 3, "by_reason": {"too_short": 2, "strange": 1}, "list": []}
    text = render_card(built, open_output(built).info | {"limit": 5, "skips": skips})
    skipped = ("| the source video does not show all that is annotated | 2 |", "| strange | 1 |")
    for said in ('load_dataset("OUT", "videos"', "sound", "--limit 5", *skipped, "(figures/swap.png)"):
        assert said in text
    assert all(f"| `{column.name}` |" in text for column in VIDEOS.columns)
    figure = (built / "figures" / "swap.png").read_bytes()
    assert not re.search(rb"tEXt|iTXt|zTXt|tIME", figure)  # no date
    width, height = struct.unpack(">II", figure[16:24])
    assert (1000 < width < 1500, 150 < height < 400) == (True, True)


def test_user_notes_survive_rewriting(output, tmp_path):
    def findings(output):
        benchmark = benchmark_of(output)
        return list(card_checks(benchmark.declared(output.info), card_of(benchmark))["card"](output))

    copy = open_output(shutil.copytree(output.path, tmp_path / "out"))
    assert card(copy).endswith(f"{BEGIN}\n\n{END}\n")
    kept = card(copy).replace(END, f"## Contact\n\nWrite to *me*. | {{{{ no template }}}}\n<!-- mine -->\n\n{END}")
    (copy.path / "README.md").write_bytes(kept.replace("\n", "\r\n").encode())
    assert findings(copy) == []
    for edited in (f"{kept}more\n", kept.replace(BEGIN, f"more\n{BEGIN}"), kept.replace("# ", "# More ", 1)):
        (copy.path / "README.md").write_text(edited, encoding="utf-8")
        (problem,) = findings(copy)
        assert "README.md does not match the content" in problem
        run("stressreel", "card", copy.path)
        assert card(copy) == kept
    (copy.path / "README.md").write_text(kept.replace(END, ""), encoding="utf-8")
    assert findings(copy)
    (copy.path / "README.md").write_text(kept, encoding="utf-8")
    with claim(copy.path) as held:
        held.clear()
    assert run(*BUILD, "--out", copy.path, "--no-progress").code == 0
    assert card(copy) == kept
