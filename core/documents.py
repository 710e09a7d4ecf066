"""Read text, JSON and YAML of unknown origin without letting a file exhaust time or memory.

No other module parses such files, apart from the exceptions in `tests/test_layout.py`. The limits are far above what
the formats need, but keep time and memory proportional to the size of the file.
"""

from __future__ import annotations

import gc
import json
import pickle
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_LE
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from math import isfinite
from pathlib import Path
from types import NoneType
from typing import Any

from .errors import InputError, UsageError
from .files import regular

LARGEST_TEXT = 500_000_000  # bytes; the largest released annotations have 20 million
LARGEST_OWN = 50_000_000  # bytes; limit for files that stressreel writes and reads whole, such as build.json
MOST_VALUES = 15_000_000  # in JSON, counted by start or separator characters; a value takes at most 100 bytes
LARGEST_YAML = 200_000  # characters; the options of a command take about a thousand
DEEPEST = 50  # nesting depth; build.json has 6
SHOWN = 80
LONGEST_LINE = 100_000_000  # characters
HALF = re.compile(r"\\u[dD][89a-fA-F]")
ESCAPES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
KINDS = {
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "an integer",
    float: "a decimal number",
    bool: "true or false",
    NoneType: "null",
}

Pairs = list[tuple[str, Any]]


def shortened(value: Any) -> str:
    """Return the `repr` of a value, truncated to 80 characters."""
    if isinstance(value, int) and value.bit_length() > SHOWN:
        return f"a number of {value.bit_length():,} bits"
    text = repr(value[: SHOWN + 1] if isinstance(value, str | bytes) else value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def read_text(path: Path, *, largest: int = LARGEST_TEXT, errors: str = "strict") -> str:
    """Return the text of a file of at most `largest` bytes, in UTF-8 or in UTF-16 with a byte order mark.

    Raises:
        UsageError: The file does not exist.
        InputError: The file is not a regular file, not readable, in another encoding, or too large.
    """
    content = read_bytes(path, largest)
    try:
        return content.decode(_encoding(content[:4]), errors)
    except UnicodeDecodeError as error:
        raise _undecodable(path, error, error.object[: error.start].count(b"\n") + 1) from error


def read_bytes(path: Path, largest: int) -> bytes:
    """Return the content of a file of at most `largest` bytes; see `read_text` for what it raises."""
    try:
        with open(regular(path), "rb") as handle:
            content = handle.read(largest + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(content) > largest:
        size = path.stat().st_size
        raise InputError(f"{path} is too large: it is {size:,} bytes, and the limit is {largest:,}. Check the path.")
    return content


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file that is encoded as for `read_text`, with their ends.

    Raises:
        UsageError: The file does not exist.
        InputError: The file is not a regular file, not readable, in another encoding, or has a line that is too long.
    """
    line_number = 0
    try:
        with open(regular(path), "rb") as handle:
            encoding = _encoding(handle.read(4))
        with open(path, encoding=encoding, newline="") as handle:
            while line := handle.readline(LONGEST_LINE + 1):
                line_number += 1
                if len(line) > LONGEST_LINE:
                    raise InputError(f"{path}, line {line_number}: the line has more than {LONGEST_LINE:,} characters.")
                yield line
    except UnicodeDecodeError as error:
        raise _undecodable(path, error, _first_undecodable(path, encoding) or line_number + 1) from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> InputError:
    kind = UsageError if isinstance(error, FileNotFoundError | NotADirectoryError) else InputError
    return kind(f"cannot read {path}: {error.strerror}. Check the path and its permissions.")


def _encoding(start: bytes) -> str:
    utf16 = start[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) and start != BOM_UTF32_LE
    return "utf-16" if utf16 else "utf-8-sig"


def _first_undecodable(path: Path, encoding: str) -> int | None:
    if encoding == "utf-16":
        return None
    with open(path, "rb") as handle:
        for line_number, line in enumerate(iter(lambda: handle.readline(LONGEST_LINE), b""), 1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return line_number
    return None


def _undecodable(path: Path, error: UnicodeDecodeError, line: int) -> InputError:
    return InputError(
        f"{path.name}, line {line}: expected UTF-8, got byte 0x{error.object[error.start]:02x}. Save the file as UTF-8."
    )


def read_own(path: Path, *, errors: str = "strict") -> str:
    r"""Read a file that stressreel wrote and a user may have edited, converting line endings to "\n"."""
    return read_text(path, largest=LARGEST_OWN, errors=errors).replace("\r\n", "\n")


def once(pairs: Pairs) -> dict[str, Any]:
    """Build a dictionary from the pairs of a JSON object, or raise ValueError if a name is repeated."""
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
        raise ValueError(f"{', '.join(map(shortened, twice[:5]))} given more than once")
    return values


def parse_json(
    text: str,
    make_object: Callable[[Pairs], Any] | None = None,
    *,
    replace_surrogates: bool = True,
    finite: bool = False,
) -> Any:
    r"""Parse JSON of unknown origin.

    `make_object` builds an object from its name-value pairs; by default, the last value of a repeated name applies.
    `replace_surrogates` replaces lone surrogates ("\ud800"), which cannot be encoded, by "\ufffd". With `finite`, NaN
    and numbers beyond the range of a float, such as 1e400, are invalid.

    Raises:
        ValueError: The text is invalid (`json.JSONDecodeError`), too deeply nested, or has too many values or digits.
    """
    count = sum(map(text.count, "[{,"))
    if count > MOST_VALUES:
        raise ValueError(f"it has {count:,} values, and the limit is {MOST_VALUES:,}")
    if replace_surrogates and HALF.search(text):
        text = ESCAPES.sub(lambda found: "\\ufffd" if found[1] else found[0], text)
    number = _finite if finite else None  # None: as by default
    try:
        value = json.loads(text, object_pairs_hook=make_object, parse_float=number, parse_constant=number)
    except RecursionError as error:
        raise _too_deep() from error
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _parts(outer) if isinstance(inner, dict | list)]
        if not level:
            return value
    raise _too_deep()


def parse_own(text: str, *, replace_surrogates: bool = True) -> Any:
    """Parse JSON that stressreel wrote and someone may have changed, as `parse_json` does with `finite`.

    Raises:
        ValueError: It is not valid JSON, a number is not finite, or a name occurs twice in an object.
    """
    return parse_json(text, once, finite=True, replace_surrogates=replace_surrogates)


def check_shape(value: Any, shape: Any, place: str = "") -> None:
    """Check the types in a parsed JSON value.

    A shape is a type, which must be exact (`object` accepts any value), None, or a tuple of shapes of different types,
    one of which must fit. A list contains the shape of its elements, and a dictionary those of required names;
    `{str: shape}` applies to all names.

    Raises:
        ValueError: A name is missing, or a value has another type. The message names its place, such as
            `tables.types[2].accuracy`.
    """
    shapes = shape if isinstance(shape, tuple) else (shape,)
    kinds = {option if isinstance(option, type) else type(option): option for option in shapes}
    if object not in kinds and type(value) not in kinds:
        expected = " or ".join(KINDS[kind] for kind in kinds)
        raise ValueError(f"{place or 'the content'} is {shortened(value)}, not {expected}")
    inner = kinds.get(type(value))
    if isinstance(inner, list):
        for index, element in enumerate(value):
            check_shape(element, inner[0], f"{place}[{index}]")
    elif isinstance(inner, dict):
        for name in value if str in inner else inner:
            if name not in value:
                raise ValueError(f"{place or 'the content'} has no {name}")
            check_shape(value[name], inner.get(str, inner.get(name)), f"{place}.{name}" if place else name)


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"the number {shortened(text)} is not finite")
    return value


def _parts(outer: dict[str, Any] | list[Any]) -> Any:
    return outer.values() if isinstance(outer, dict) else outer


@cache
def package_table(path: Path) -> Any:
    """Load a YAML table that comes with the package, and cache it. Callers must not modify it."""
    import yaml

    return yaml.safe_load(path.read_text(encoding="utf-8"))


def parse_yaml(text: str) -> Any:
    """Parse a single YAML document without aliases, which can expand a few lines to gigabytes.

    Raises:
        ValueError: The document is invalid, too long, too deeply nested, contains an alias, or has a key twice.
    """
    import yaml

    if len(text) > LARGEST_YAML:
        raise ValueError(f"it has {len(text):,} characters, and the limit is {LARGEST_YAML:,}")
    try:
        return yaml.load(text, _strict_loader())
    except yaml.YAMLError as error:
        where = _line(getattr(error, "problem_mark", None))
        raise ValueError(f"{where}{getattr(error, 'problem', None) or error}") from error
    except (AttributeError, LookupError, TypeError) as error:  # for values that do not match their tags
        raise ValueError(f"a value does not match its tag ({type(error).__name__}: {error})") from error


@cache
def _strict_loader() -> Any:
    import yaml

    class StrictLoader(yaml.SafeLoader):
        """Refuses aliases, deep nesting, and keys that occur twice, of which only the last value would apply."""

        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.AliasEvent):
                raise ValueError(f"{_line(event.start_mark)}aliases are not allowed; write the value out")
            self.depth += isinstance(event, yaml.CollectionStartEvent)
            if self.depth > DEEPEST:
                raise _too_deep()
            node = super().compose_node(parent, index)
            self.depth -= isinstance(event, yaml.CollectionStartEvent)
            return node

        def compose_mapping_node(self, anchor: Any) -> Any:
            node, keys = super().compose_mapping_node(anchor), set()
            for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
                if (key.tag, key.value) in keys:
                    raise ValueError(f"{_line(key.start_mark)}{shortened(key.value)} given more than once")
                keys.add((key.tag, key.value))
            return node

    return StrictLoader


def _line(mark: Any) -> str:
    return f"line {mark.line + 1}: " if mark else ""


def _too_deep() -> ValueError:
    return ValueError(f"lists and objects are nested more than {DEEPEST} levels deep")


PLAIN = {("builtins", "set"): set, ("builtins", "frozenset"): frozenset}


class _PlainOnly(pickle.Unpickler):
    """Unpickler that refuses to import any class or function except sets, so that no code can run."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in PLAIN:
            return PLAIN[module, name]
        raise InputError(
            f"refers to {shortened(f'{module}.{name}')}, but annotations may only contain builtin values. Loading such "
            "a file can run arbitrary code, so it was not read"
        )

    def persistent_load(self, pid: Any) -> Any:
        raise InputError("refers to external objects, so it was not read")


def read_pickle(path: Path, advice: str) -> Any:
    """Load a pickle that consists of builtin containers, strings and numbers. `advice` is appended to error messages.

    Raises:
        InputError: The file contains other values, or is damaged.
        OSError, MemoryError: The file cannot be read, or needs more memory than is available.
    """
    running = gc.isenabled()
    gc.disable()  # with millions of live dictionaries, garbage collection would double the time
    try:
        with open(regular(path), "rb") as handle:
            return _PlainOnly(handle).load()
    except InputError as error:
        raise InputError(f"{path.name} {error}. {advice}") from None
    except (OSError, MemoryError):
        raise
    except Exception as error:  # a damaged pickle can raise almost any exception
        detail = shortened(str(error))
        raise InputError(
            f"{path.name} is damaged or not a pickle ({type(error).__name__}: {detail}). {advice}"
        ) from error
    finally:
        if running:
            gc.enable()
