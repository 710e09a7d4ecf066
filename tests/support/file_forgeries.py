"""Kinds of forgery that leave all rows as pyarrow reads them, but show other programs or people something else."""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
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
from thrift import LIST, STRUCT, TEXT, Struct, change_footer, read_struct, write_struct

Edit = Callable[[Path], None]
Change = Callable[[Struct, bytes], bytes | None]
"""Changes the footer of a Parquet file; returns the new bytes before it, if they change."""

CHECKS = ("files", "schema", "counts", "written", "card", "figures", "croissant")
BINARY, SHORT, LONG, TRUE = TEXT, 5, 6, 1


def shard_of(out: Path) -> Path:
    """Return a shard without videos if there is one, else any."""
    shards = sorted(out.glob("*/*-of-*.parquet"), key=lambda path: path.stat().st_size)
    return shards[0]


def again(out: Path) -> None:
    """Write what depends on the bytes of the shards."""
    output = open_output(out)
    benchmark = benchmark_of(output)
    write_card(output, benchmark.declared(output.info), card_of(benchmark, output.info))


def in_footer(change: Change) -> Edit:
    def edit(out: Path) -> None:
        change_footer(shard_of(out), change)
        with suppress(StressreelError):  # the shard can no longer be read
            again(out)

    return edit


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


def statistic(field: int, kind: int, value: Any) -> Change:
    def change(footer: Struct, body: bytes) -> None:
        about(footer)[12][1][field] = (kind, value)

    return change


def metadata(name: bytes, value: bytes) -> Change:
    def change(footer: Struct, body: bytes) -> None:
        footer[5][1][1].append({1: (BINARY, name), 2: (BINARY, value)})

    return change


def page_index(footer: Struct, body: bytes) -> bytes:
    """Let the index say that the first page has another smallest and largest value."""
    first, length = column(footer)[6][1], column(footer)[7][1]
    index = read_struct(io.BytesIO(body[first : first + length]))
    for field in (2, 3):
        kind, values = index[field][1]
        index[field] = (LIST, (kind, [bytes(value)[:-1] + b"\x7f" for value in values]))
    new = write_struct(index)
    if len(new) != length:
        raise NothingThereError
    return body[:first] + new + body[first + length :]


def gap(footer: Struct, body: bytes) -> bytes:
    return body + b"other rows"


def rows_of_file(footer: Struct, body: bytes) -> None:
    footer[3] = (LONG, footer[3][1] + 1)


def sorting(footer: Struct, body: bytes) -> None:
    group(footer)[4] = (LIST, (STRUCT, [{1: (SHORT, 0), 2: (TRUE, None), 3: (TRUE, None)}]))


def bloom_filter(footer: Struct, body: bytes) -> None:
    about(footer)[14] = (LONG, 4)


def file_offset(footer: Struct, body: bytes) -> None:
    group(footer)[5] = (LONG, 5)


def other_file(footer: Struct, body: bytes) -> None:
    column(footer)[1] = (BINARY, b"other.parquet")


def other_writer(footer: Struct, body: bytes) -> None:
    footer[6] = (BINARY, b"impala version 1.8.0")


def in_text(name: str, edit: Callable[[str], str]) -> Edit:
    def change(out: Path) -> None:
        path = out / name
        old = path.read_text(encoding="utf-8")
        new = edit(old)
        if new == old:
            raise NothingThereError
        path.write_text(new, encoding="utf-8")

    return change


def in_figure(edit: Callable[[bytes], bytes]) -> Edit:
    def change(out: Path) -> None:
        figures = sorted((out / "figures").glob("*.png")) if (out / "figures").is_dir() else []
        if not figures:
            raise NothingThereError
        figures[0].write_bytes(edit(figures[0].read_bytes()))

    return change


def chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content).to_bytes(4, "big")
    return len(content).to_bytes(4, "big") + kind + content + check


def painted(shade: int, software: str = "") -> Callable[[bytes], bytes]:
    """Write words into the lower right of a figure, which still names its program or another one."""

    def paint(content: bytes) -> bytes:
        from PIL import Image, ImageDraw, PngImagePlugin

        original = Image.open(io.BytesIO(content))
        text = PngImagePlugin.PngInfo()
        if named := software or original.info.get("Software"):
            text.add_text("Software", named)
        picture = original.convert("RGBA")
        place = (picture.width - 160, picture.height // 2)
        ImageDraw.Draw(picture).text(place, "Bananas sing", fill=(shade, shade, shade, 255))
        target = io.BytesIO()
        picture.save(target, "png", dpi=(120, 120), pnginfo=text)
        return target.getvalue()

    return paint


def beside(name: str, source: str | None = None) -> Edit:
    def change(out: Path) -> None:
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((shard_of(out) if source is None else out / source).read_bytes())

    return change


def other_plan(out: Path) -> None:
    path = out / ".build" / "plan.json"
    plan = json.loads(path.read_text())
    path.write_text(json.dumps({**plan, "hash": "0" * 64}))


def another_number(text: str) -> str:
    return re.sub(r"\b(\d) (?=[a-z])", lambda found: f"{int(found[1]) + 1} ", text, count=1)


def doubled(text: str) -> str:
    return text.replace('{\n  "builder"', '{\n  "builder": "other",\n  "builder"', 1)


FOOTER_KINDS: dict[str, Change] = {
    "statistics: maximum": statistic(5, BINARY, b"\x00"),
    "statistics: minimum": statistic(6, BINARY, b"zzzz"),
    "statistics: null values": statistic(3, LONG, 1),
    "statistics: distinct values": statistic(4, LONG, 1),
    "page index": page_index,
    "bytes between pages and footer": gap,
    "rows of the file": rows_of_file,
    "sorting columns": sorting,
    "Bloom filter": bloom_filter,
    "offset of a row group": file_offset,
    "column in another file": other_file,
    "name of the writer": other_writer,
    "metadata of pandas": metadata(
        b"pandas", b'{"index_columns": [{"kind": "range", "start": 0, "stop": 1, "step": 1}]}'
    ),
    "features twice": metadata(b"huggingface", b'{"info": {"features": {}}}'),
    "Arrow schema twice": metadata(b"ARROW:schema", b"AAAA"),
}
FILE_KINDS: dict[str, Edit] = {
    **{name: in_footer(change) for name, change in FOOTER_KINDS.items()},
    "record: doubled key": in_text("build.json", doubled),
    "record: byte order mark": in_text("build.json", lambda text: "\ufeff" + text),
    "record: more after its end": in_text("build.json", lambda text: text + "{}\n"),
    "record: other spacing": in_text("build.json", lambda text: text.replace(": ", ":  ", 1)),
    "card: byte order mark": in_text("README.md", lambda text: "\ufeff" + text),
    "card: hidden comment": in_text("README.md", lambda text: text.replace("\n# ", "\n<!-- 99% -->\n# ", 1)),
    "card: number": in_text("README.md", another_number),
    "card: other files": in_text("README.md", lambda text: text.replace("-*.parquet", "-00000*.parquet")),
    "card: after the notes": in_text("README.md", lambda text: text + "\n99% correct.\n"),
    "croissant: doubled key": in_text("croissant.json", lambda text: text.replace("{\n", '{\n  "name": "other",\n', 1)),
    "figure: words": in_figure(painted(0)),
    "figure: pale words": in_figure(painted(200)),
    "figure: text chunk": in_figure(lambda content: content[:33] + chunk(b"tEXt", b"Comment\x0099%") + content[33:]),
    "figure: frames": in_figure(lambda content: content[:33] + chunk(b"acTL", bytes(8)) + content[33:]),
    "figure: trailing bytes": in_figure(lambda content: content + b"99%"),
    "table beside the shards": beside(".hidden/test-00000-of-00001.parquet"),
    "table in .build": beside(".build/test-00000-of-00001.parquet"),
    "plan of another build": other_plan,
}  # fmt: skip


def noticed_in_files(out: Path) -> list[str]:
    """Return what the checks of files, without those of rows and videos, say of an output."""
    try:
        output = open_output(out)
        checks = checks_for(output, None, RebuildOptions(decode=False))
        some = {name: check for name, check in checks.items() if name in CHECKS}
        return [problem for outcome in run_checks(output, some) for problem in outcome.problems]
    except StressreelError as error:
        return [str(error)]
