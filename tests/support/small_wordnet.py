"""A small WordNet of our own, in the files that NLTK reads (wndb(5WN)); tests find it as users' WordNet is found."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from stressreel.language.wordnet import LEXNAMES

SENSES = Path(__file__).with_suffix(".txt")
PARTS = {"noun": ("n", 1), "verb": ("v", 2), "adj": ("a", 3), "adv": ("r", 4)}
FORMS = {"noun": "men man\nwomen woman\n", "verb": "threw throw\nswept sweep\nrode ride\n"}
HEADER = "  1 A small WordNet of stressreel's tests. WordNet 0.1 Copyright the stressreel authors.\n"
FILES = LEXNAMES.split()


class Sense(NamedTuple):
    file: str
    words: dict[str, int]  # how often each occurs
    numbers: list[int]  # how many senses of each in the same file stand before
    opposite: str
    near: str
    meaning: str


def write_wordnet(folder: Path) -> Path:
    """Write the small WordNet to `corpora/wordnet` in a folder that is then one of NLTK's data."""
    place = folder / "corpora" / "wordnet"
    place.mkdir(parents=True)
    counts = []
    for part, (letter, number) in PARTS.items():
        senses = [sense for sense in _senses() if sense.file.startswith(f"{part}.")]
        places = {next(iter(sense.words)): at for at, sense in reversed([*enumerate(senses)])}
        lines, offsets = _lines(senses, places, letter), [len(HEADER)]
        for line in lines:
            offsets.append(offsets[-1] + len(line.format(*[0] * len(lines))))
        (place / f"data.{part}").write_text(HEADER + "".join(line.format(*offsets) for line in lines))
        found: dict[str, list[str]] = defaultdict(list)
        for sense, offset in zip(senses, offsets, strict=False):
            head = senses[places[sense.near]] if sense.near else None
            kind, behind = (5, f"{sense.near}:{head.numbers[0]:02}") if head else (number, ":")
            for (word, count), lex in zip(sense.words.items(), sense.numbers, strict=True):
                found[word].append(f"{offset:08}")
                key = f"{word}%{kind}:{FILES.index(sense.file):02}:{lex:02}:{behind}"
                counts += [f"{key} {len(found[word])} {count}\n"] if count else []
        index = [f"{word} {letter} {len(at)} 0 {len(at)} 0 {' '.join(at)}  \n" for word, at in sorted(found.items())]
        (place / f"index.{part}").write_text(HEADER + "".join(index))
        (place / f"{part}.exc").write_text(FORMS.get(part, ""))
    (place / "cntlist.rev").write_text("".join(sorted(counts)))
    (place / "lexnames").write_text("".join(f"{number:02}\t{name}\t0\n" for number, name in enumerate(FILES)))
    return folder


def _senses() -> list[Sense]:
    found: list[Sense] = []
    seen: Counter[tuple[str, str]] = Counter()
    for line in SENSES.read_text(encoding="utf-8").splitlines()[2:]:
        given, _, meaning = line.partition(" | ")
        file, *marked = given.split()
        marks = {mark[0]: mark[1:] for mark in marked if mark[0] in "!&"}
        words = {mark.partition(":")[0]: int(mark.partition(":")[2] or 0) for mark in marked if mark[0] not in "!&"}
        found.append(
            Sense(file, words, [seen[file, word] for word in words], marks.get("!", ""), marks.get("&", ""), meaning)
        )
        seen.update((file, word) for word in words)
    return found


def _lines(senses: list[Sense], places: dict[str, int], letter: str) -> list[str]:
    """Write the senses of a part of speech, with a place for each offset."""
    pointers: dict[int, list[str]] = defaultdict(list)
    for number, sense in enumerate(senses):
        for mark, word, words, kind in (("!", sense.opposite, "0101", letter), ("&", sense.near, "0000", "s")):
            if word:
                pointers[number].append(f"{mark} {{{places[word]}:08}} {letter} {words}")
                pointers[places[word]].append(f"{mark} {{{number}:08}} {kind} {words}")
    lines = []
    for number, sense in enumerate(senses):
        words = " ".join(f"{word} {lex:x}" for word, lex in zip(sense.words, sense.numbers, strict=True))
        start = f"{FILES.index(sense.file):02} {'s' if sense.near else letter} {len(sense.words):02x} {words}"
        own = " ".join([f"{len(pointers[number]):03}", *pointers[number]])
        frames = " 01 + 08 00" if letter == "v" else ""
        lines.append(f"{{{number}:08}} {start} {own}{frames} | {sense.meaning}  \n")
    return lines
