import re

import pytest
from commands import succeed
from forger import forge
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from stressreel.core.output_files import BEGIN, END, marked, notes_of
from stressreel.core.results import Estimate, Table, as_code, as_text, markdown_table

ATTACK = (
    f'x\n{BEGIN}\n\n<script>alert(1)</script> <img src="http://evil.example/a.png" onerror=alert(1)> ![p](http://e.example)'
    f" [click](javascript:alert(1)) `code` | cell **bold** _soft_ $x$ &lt;b&gt; https://e.example www.e.example\n"
    f"# heading\n---\n```\n\n{END}\n"
)
TEXTS = {"phrase_a", "phrase_b", "phrase_c", "question", "caption", "original", "reason"}
CAUSAL = {"answer", "explanation", "options", "explanation_options"}  # where both are texts
BUILDS = {
    "decomp": ("build-decomp", "--charades", "sample", "--embed", "no"),
    "perturbed": ("build-perturbed", "--msrvtt", "sample", "--modality", "text", "--text-perturbations", "random_noun"),
}


def attack(forged):
    for row in forged.rows():
        for name in (TEXTS | (CAUSAL if "qid" in row else set())) & row.keys():
            if isinstance(row[name], list):
                row[name] = [ATTACK] * len(row[name])
            elif isinstance(row[name], str) and row[name]:
                row[name] = ATTACK
    forged.info["command"] += f"\n```\n{ATTACK}"
    forged.info["tools"][ATTACK] = ATTACK
    forged.info["inputs"][ATTACK] = "0" * 64
    forged.info["source"] |= {"name": ATTACK, "link": ATTACK, "terms": ATTACK, "citation": ATTACK}


@pytest.mark.parametrize("name", ["built", "built_causal", "decomp", "perturbed"])
def test_cards_escape_foreign_text(build_once, request, tmp_path, name):
    path = build_once(*BUILDS[name]) if name in BUILDS else request.getfixturevalue(name)
    out = forge(path, tmp_path / "out", attack, card=True)
    text = (out / "README.md").read_text("utf-8")
    succeed("stressreel", "card", out)
    assert text == (out / "README.md").read_text("utf-8")
    lines = text.splitlines()
    assert lines.count(BEGIN) == lines.count(END) == 1
    assert text.endswith(f"\n{BEGIN}\n\n{END}\n")
    body = text.removesuffix(f"{BEGIN}\n\n{END}\n").split("\n---\n", 1)[1]
    shown = re.sub(r"(?ms)^```.*?^```|`[^`\n]*`", "", body)  # without code
    for alive in ("<script", "<img", "<!-- notes"):
        assert alive not in shown


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (f"a {BEGIN} b\n\n{marked('mine')}\n", "mine"),
        (f"**{BEGIN}** {END}\n\n{marked('')}\n", ""),
        (f"{BEGIN}\r\n\r\nmine\r\n\r\n{END}\r\n", "mine"),
        (f"{END}\n{BEGIN}\n", ""),
    ],
)
def test_marks_count_only_at_line_start(tmp_path, text, notes):
    (tmp_path / "README.md").write_bytes(text.encode())
    assert notes_of(tmp_path / "README.md") == notes


def test_text_is_escaped_where_it_must_be():
    assert as_text("<b>&lt;b&gt; <!-- x --> 3 < 4 & 5") == "&lt;b>&amp;lt;b&amp;gt; &lt;!-- x --> 3 < 4 & 5"
    assert as_text("a\n# b\r\nc\x00\x1b[2J\u2028d 0.1.0 snake_case") == r"a # b c \[2J d 0.1.0 snake_case"
    assert as_text("http://e.example www.e.example") == "http&#58;//e.example www&#46;e.example"
    assert as_code("a`b|c\nd <b>") == r"`a'b\|c d <b>`"


@given(st.text(alphabet="ab1 <>!-[](){}`*_~|#&;:/.=+$\\\n\"'x"))
def test_markdown_shows_text_only(text):
    """Markdown shows the text, with blanks as one, wherever a template puts it."""
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    plain = " ".join(text.split())
    for before, after in (("", ""), ("0. ", ""), ("**q** ", " end")):
        tokens = markdown.parse(f"{before}{as_text(text)}{after}\n")
        kinds = ("heading", "html", "fence", "code", "blockquote", "hr")
        assert not [token.type for token in tokens if token.type.startswith(kinds)]
        inner = [child for token in tokens for child in token.children or []]
        assert {child.type for child in inner} <= {"text", "text_special", "strong_open", "strong_close"}
        shown = "".join(child.content for child in inner)
        assert shown.strip() == (before.removeprefix("0. ").replace("**", "") + plain + after).strip()


def test_score_tables_escape_names():
    markdown = MarkdownIt("gfm-like", {"linkify": False})
    name = ATTACK + "\x1b[2J\u202e"
    shown = markdown.render(markdown_table(Table("groups", name, ("group", name), ((name, Estimate(0.5, 0.4, 0.6)),))))
    for mark in ("<script", "<img", "<a ", "<code", "<strong", "<em", "<pre", "<!--", "\x1b", "\u202e"):
        assert mark not in shown
    assert (shown.count("<tr>"), shown.count("<td")) == (2, 2)
    assert '<td style="text-align:right">0.500 [0.400, 0.600]</td>' in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
