from collections.abc import Callable
from pathlib import Path

import pytest
from commands import run
from forger import Forgery, forge
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.output_files import BEGIN, END, marked, notes_of
from stressreel.core.results import Estimate, Table, as_code, as_text, markdown_table

ATTACK = (
    f'x\n{BEGIN}\n\n<script>alert(1)</script> <img src="http://evil.example/a.png" onerror=alert(1)> ![p](http://e.example)'
    f" [click](javascript:alert(1)) `code` | cell **bold** _soft_ $x$ &lt;b&gt; https://e.example www.e.example\n"
    f"# heading\n---\n```\n\n{END}\n"
)


TEXTS = {"phrase_a", "phrase_b", "phrase_c", "question", "caption", "original", "reason"}
CAUSAL = {"answer", "explanation", "options", "explanation_options"}  # where both are texts


def attacked(forged: Forgery) -> None:
    for row in forged.rows():
        for name in (TEXTS | (CAUSAL if "qid" in row else set())) & row.keys():
            if isinstance(row[name], list):
                row[name] = [ATTACK] * len(row[name])
            elif isinstance(row[name], str) and row[name]:
                row[name] = ATTACK


@pytest.mark.parametrize("name", ["clavi", "causal", "decomp", "perturbed"])
def test_cards_escape_foreign_text(
    build_once: Callable[..., Path], request: pytest.FixtureRequest, tmp_path: Path, name: str
) -> None:
    if name == "decomp":
        path = build_once("build-decomp", "--charades", "sample", "--embed", "no")
    elif name == "perturbed":
        texts = ("--modality", "text", "--text-perturbations", "random_noun")
        path = build_once("build-perturbed", "--msrvtt", "sample", *texts)
    else:
        path = request.getfixturevalue("built" if name == "clavi" else "built_causal")

    def forged(content: Forgery) -> None:
        attacked(content)
        content.info["command"] += f"\n```\n{ATTACK}"
        content.info["tools"][ATTACK] = ATTACK
        content.info["inputs"][ATTACK] = "0" * 64
        content.info["source"] |= {"name": ATTACK, "link": ATTACK, "terms": ATTACK, "citation": ATTACK}

    out = forge(path, tmp_path / "out", forged, card=True)
    card = out / "README.md"
    text = card.read_text("utf-8")
    done = run("stressreel", "card", out)
    assert done.code == 0, done.err
    assert text == card.read_text("utf-8")
    lines = text.splitlines()
    assert lines.count(BEGIN) == lines.count(END) == 1
    assert text.endswith(f"\n{BEGIN}\n\n{END}\n")
    shown = without_code(text)
    for alive in ("<script", "<img", "<!-- notes"):
        assert alive not in shown.removesuffix(f"{BEGIN}\n\n{END}\n").partition("\n---\n")[2]


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (f"a {BEGIN} b\n\n{marked('mine')}\n", "mine"),
        (f"**{BEGIN}** {END}\n\n{marked('')}\n", ""),
        (f"{BEGIN}\r\n\r\nmine\r\n\r\n{END}\r\n", "mine"),
        (f"{END}\n{BEGIN}\n", ""),
    ],
)
def test_marks_count_only_at_line_start(tmp_path: Path, text: str, notes: str) -> None:
    (tmp_path / "README.md").write_bytes(text.encode())
    assert notes_of(tmp_path / "README.md") == notes


def without_code(text: str) -> str:
    found, inside = [], False
    for line in text.splitlines(keepends=True):
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            found += line.split("`")[::2]
    return "".join(found)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a man's hat, 3 < 4 & 5 > 2", "a man's hat, 3 < 4 & 5 > 2"),
        ("_soft_ *x* `y` [z](u) a|b ~c~ $d$", r"\_soft\_ \*x\* \`y\` \[z\](u) a\|b \~c\~ \$d\$"),
        ("<b>&lt;b&gt; <!-- x --> </b> <?x", "&lt;b>&amp;lt;b&amp;gt; &lt;!-- x --> &lt;/b> &lt;?x"),
        ("a\n# b\r\nc\x00\x1b[2J\u2028d", r"a # b c \[2Jd".replace("2Jd", "2J d")),
        ("12. a", r"12\. a"),
        ("0.1.0 snake_case", "0.1.0 snake_case"),
        ("http://e.example www.e.example", "http&#58;//e.example www&#46;e.example"),
    ],
)
def test_text_is_escaped(text: str, written: str) -> None:
    assert as_text(text) == written
    assert as_code("a`b|c\nd <b>") == r"`a'b\|c d <b>`"


@given(st.text(alphabet="ab1 <>!-[](){}`*_~|#&;:/.=+$\\\n\"'x"))
def test_markdown_shows_text_only(text: str) -> None:
    """Markdown shows the text, with blanks as one, wherever a template puts it."""
    markdown = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    plain = " ".join(text.split())
    for before, after in (("", ""), ("0. ", ""), ("**q** ", " end")):
        tokens = markdown.parse(f"{before}{as_text(text)}{after}\n")
        kinds = {token.type for token in tokens if token.type not in ("inline",)}
        assert not {kind for kind in kinds if kind.startswith(("heading", "html", "fence", "code", "blockquote", "hr"))}
        inner = [child for token in tokens for child in token.children or []]
        known = {"text", "text_special", "strong_open", "strong_close"}
        assert {child.type for child in inner} <= known
        shown = "".join(child.content for child in inner)
        assert shown.strip() == (before.removeprefix("0. ").replace("**", "") + plain + after).strip()


def test_score_tables_escape_names() -> None:
    markdown = pytest.importorskip("markdown_it").MarkdownIt("gfm-like", {"linkify": False})
    name = ATTACK + "\x1b[2J\u202e"
    shown = markdown.render(markdown_table(Table("groups", name, ("group", name), ((name, Estimate(0.5, 0.4, 0.6)),))))
    for mark in ("<script", "<img", "<a ", "<code", "<strong", "<em", "<pre", "<!--", "\x1b", "\u202e"):
        assert mark not in shown
    assert (shown.count("<tr>"), shown.count("<td")) == (2, 2)
    assert '<td style="text-align:right">0.500 [0.400, 0.600]</td>' in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
