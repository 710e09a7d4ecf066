"""Kinds of forgery that leave all rows as pyarrow reads them, but show other programs or people something else."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from forgeries import NothingThereError
from stressreel.builders import benchmark_of
from stressreel.builders.parts import card_of, checks_for
from stressreel.builders.rebuild import RebuildOptions
from stressreel.builders.runtime.verify import run_checks
from stressreel.core.errors import StressreelError
from stressreel.core.output import open_output
from stressreel.data_cards.card import write_card
from thrift import LIST, STRUCT, TEXT, TRUE, Struct, change_footer, read_struct, write_struct

Edit = Callable[[Path], None]
Change = Callable[[Struct, bytes], bytes | None]
"""Changes the footer of a Parquet file; returns the new bytes before it, if they change."""

CHECKS = ("files", "schema", "counts", "written", "card", "figures", "croissant")
SHORT, LONG = 5, 6


def shard_of(out: Path) -> Path:
    """Return a shard without videos if there is one, else any."""
    return min(out.glob("*/*-of-*.parquet"), key=lambda path: path.stat().st_size)


def again(out: Path) -> None:
    """Write what depends on the bytes of the shards."""
    output = open_output(out)
    benchmark = benchmark_of(output)
    write_card(output, benchmark.declared(output.info), card_of(benchmark, output.info))


# Footers


def whole(footer: Struct) -> Struct:
    return footer


def group(footer: Struct) -> Struct:
    found: Struct = footer[4][1][1][0]
    return found


def column(footer: Struct) -> Struct:
    """Return the description of the first column in the first row group."""
    found: Struct = group(footer)[1][1][1][0]
    return found


def about(footer: Struct) -> Struct:
    found: Struct = column(footer)[3][1]
    return found


def statistics(footer: Struct) -> Struct:
    found: Struct = about(footer)[12][1]
    return found


def put(part: Callable[[Struct], Struct], field: int, kind: int, value: Any) -> Change:
    def change(footer: Struct, body: bytes) -> None:
        part(footer)[field] = (kind, value)

    return change


def metadata(name: bytes, value: bytes) -> Change:
    return lambda footer, body: footer[5][1][1].append({1: (TEXT, name), 2: (TEXT, value)})


def page_index(footer: Struct, body: bytes) -> bytes:
    """Let the index say that the first page has another smallest and largest value."""
    first, length = (column(footer)[field][1] // 2 for field in (6, 7))
    index = read_struct(io.BytesIO(body[first : first + length]))
    for field in (2, 3):
        kind, values = index[field][1]
        index[field] = (LIST, (kind, [bytes(value)[:-1] + b"\x7f" for value in values]))
    new = write_struct(index)
    if len(new) != length:
        raise NothingThereError
    return body[:first] + new + body[first + length :]


FOOTER_KINDS: dict[str, Change] = {
    "statistics: maximum": put(statistics, 5, TEXT, b"\x00"),
    "statistics: minimum": put(statistics, 6, TEXT, b"zzzz"),
    "statistics: null values": put(statistics, 3, LONG, 2),
    "statistics: distinct values": put(statistics, 4, LONG, 2),
    "page index": page_index,
    "bytes between pages and footer": lambda footer, body: body + b"other rows",
    "rows of the file": lambda footer, body: put(whole, 3, LONG, footer[3][1] + 2)(footer, body),
    "sorting columns": put(group, 4, LIST, (STRUCT, [{1: (SHORT, 0), 2: (TRUE, None), 3: (TRUE, None)}])),
    "Bloom filter": put(about, 14, LONG, 8),
    "offset of a row group": put(group, 5, LONG, 10),
    "column in another file": put(column, 1, TEXT, b"other.parquet"),
    "name of the writer": put(whole, 6, TEXT, b"impala version 1.8.0"),
    "metadata of pandas": metadata(
        b"pandas", b'{"index_columns": [{"kind": "range", "start": 0, "stop": 1, "step": 1}]}'
    ),
    "features twice": metadata(b"huggingface", b'{"info": {"features": {}}}'),
    "Arrow schema twice": metadata(b"ARROW:schema", b"AAAA"),
}


def in_footer(change: Change, out: Path) -> None:
    change_footer(shard_of(out), change)
    with suppress(StressreelError):  # the shard can no longer be read
        again(out)


# Texts, figures and files


def in_text(name: str, pattern: str, new: str) -> Edit:
    def change(out: Path) -> None:
        text, count = re.subn(pattern, new, (out / name).read_text(encoding="utf-8"), count=1)
        if not count:
            raise NothingThereError
        (out / name).write_text(text, encoding="utf-8")

    return change


def in_figure(edit: Callable[[bytes], bytes]) -> Edit:
    def change(out: Path) -> None:
        figure = next((out / "figures").glob("*.png"), None)
        if figure is None:
            raise NothingThereError
        figure.write_bytes(edit(figure.read_bytes()))

    return change


def chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content).to_bytes(4, "big")
    return len(content).to_bytes(4, "big") + kind + content + check


def painted(shade: int, software: str = "") -> Callable[[bytes], bytes]:
    """Write words into the lower right of a figure, which still names its program or another one."""

    def paint(content: bytes) -> bytes:
        from PIL import Image, ImageDraw, PngImagePlugin

        original, text, target = Image.open(io.BytesIO(content)), PngImagePlugin.PngInfo(), io.BytesIO()
        if named := software or original.info.get("Software"):
            text.add_text("Software", named)
        picture = original.convert("RGBA")
        place = (picture.width - 160, picture.height // 2)
        ImageDraw.Draw(picture).text(place, "Bananas sing", fill=(shade, shade, shade, 255))
        picture.save(target, "png", dpi=(120, 120), pnginfo=text)
        return target.getvalue()

    return paint


def beside(name: str) -> Edit:
    def change(out: Path) -> None:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(shard_of(out).read_bytes())

    return change


FILE_KINDS: dict[str, Edit] = {
    **{name: partial(in_footer, change) for name, change in FOOTER_KINDS.items()},
    "record: doubled key": in_text("build.json", r'\{\n  "builder"', '{\n  "builder": "other",\n  "builder"'),
    "record: byte order mark": in_text("build.json", r"\A", "\ufeff"),
    "record: more after its end": in_text("build.json", r"\Z", "{}\n"),
    "record: other spacing": in_text("build.json", ": ", ":  "),
    "card: byte order mark": in_text("README.md", r"\A", "\ufeff"),
    "card: hidden comment": in_text("README.md", "\n# ", "\n<!-- 99% -->\n# "),
    "card: number": in_text("README.md", r"\b(\d) (?=[a-z])", r"1\1 "),
    "card: other files": in_text("README.md", r"-\*\.parquet", "-00000*.parquet"),
    "card: after the notes": in_text("README.md", r"\Z", "\n99% correct.\n"),
    "croissant: doubled key": in_text("croissant.json", r"\{\n", '{\n  "name": "other",\n'),
    "figure: words": in_figure(painted(0)),
    "figure: pale words": in_figure(painted(200)),
    "figure: text chunk": in_figure(lambda content: content[:33] + chunk(b"tEXt", b"Comment\x0099%") + content[33:]),
    "figure: frames": in_figure(lambda content: content[:33] + chunk(b"acTL", bytes(8)) + content[33:]),
    "figure: trailing bytes": in_figure(lambda content: content + b"99%"),
    "table beside the shards": beside(".hidden/test-00000-of-00001.parquet"),
    "table in .build": beside(".build/test-00000-of-00001.parquet"),
    "plan of another build": in_text(".build/plan.json", r'"hash": "\w+"', f'"hash": "{"0" * 64}"'),
}


def noticed_in_files(out: Path) -> list[str]:
    """Return what the checks of files, without those of rows and videos, say of an output."""
    try:
        output = open_output(out)
        checks = checks_for(output, None, RebuildOptions(decode=False))
        some = {name: check for name, check in checks.items() if name in CHECKS}
        return [problem for outcome in run_checks(output, some) for problem in outcome.problems]
    except StressreelError as error:
        return [str(error)]
