"""A small WordNet of our own, in the files that NLTK reads (wndb(5WN)); tests find it as users' WordNet is found."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from stressreel.language.wordnet import LEXNAMES

# A line is a sense: its lexicographer file; its words, with how often they occur in it; an opposite or a near adjective
# that stands before; what it means. A word's senses stand from the most frequent to the rarest.
SENSES = """
noun.person man:60 | a grown male human
noun.person woman:50 !man | a grown female human
noun.person boy:30 male_child | a young male human
noun.person girl:30 !boy | a young female human
noun.person lady:9 | a woman, said politely
noun.person guy:9 | a man, said loosely
noun.animal dog:40 | the animal that barks at the post
noun.animal cat:18 | the animal that purrs on the sofa
noun.animal horse:20 | the animal that carries a rider
noun.animal fish:6 | an animal that breathes in water
noun.artifact machine:9 | a thing of moving parts that does work
noun.artifact car:71 automobile:15 auto:2 motorcar:1 machine | a thing on four wheels that is driven on roads
noun.artifact car:2 railcar:1 | a part of a train
noun.artifact sofa:7 couch:5 lounge | a long soft seat for several
noun.artifact ball:12 | a round thing that is thrown
noun.artifact pillow:4 | a soft thing under a sleeping head
noun.artifact door:30 | what closes an entrance
noun.artifact floor:20 flooring:1 | what one stands on in a room
noun.artifact broom:3 | a brush on a long stick
noun.artifact fridge:3 refrigerator:2 | a cold cupboard for food
noun.artifact output:4 | what a machine gives
noun.communication film:11 movie:9 picture:1 | a story in moving pictures
noun.substance oil:8 | a liquid that floats on water
noun.substance water:30 | the liquid of rivers
noun.substance paint:6 | a liquid that colours what it dries on
noun.food hot_dog:1 | a sausage in a bun
noun.food milk:5 | the white drink that cows give
noun.event walk:7 | a way on foot
noun.event swim:3 | a while of moving through water
noun.location place:40 spot:8 | where something is
noun.act dance:9 | steps to music
noun.act drive:5 | a way by car
noun.act answer:6 reply:4 | what is said to a question
noun.phenomenon light:9 | what lets eyes see
verb.contact put:40 place:12 set:6 | bring to somewhere
verb.contact position:2 place:2 | bring to the right spot
verb.contact paint:5 | cover with colour
verb.contact sweep:6 brush:2 | clean with a broom
verb.contact water:2 | pour water on plants
verb.contact oil:1 | pour oil on a hinge
verb.contact milk:2 | take milk from a cow
verb.contact throw:14 fling:2 | send through the air by hand
verb.contact open:20 | move so that one can go through
verb.contact close:15 shut:8 !open | move so that nobody can go through
verb.motion walk:30 | go on foot
verb.motion drive:12 | steer a car
verb.motion ride:12 | sit on a horse that goes
verb.motion dance:5 | move to music
verb.motion swim:6 | move through water
verb.motion dog:1 | follow somebody everywhere
verb.motion wander:4 roam:3 | go without an aim
verb.creation film:2 | take moving pictures of
verb.creation output:1 | give as a result
verb.communication answer:20 reply:9 respond:8 | say something to a question
verb.weather light:4 | make bright
verb.consumption fish:2 | catch fish
adj.all large:40 big:30 | of great size
adj.all little:30 small:28 !large | of no great size
adj.all huge:9 immense:3 &large | of very great size
adj.all tiny:5 &little | of hardly any size
adj.all slow:9 | in no hurry
adj.all fast:8 quick:6 !slow | in a hurry
adj.all clean:12 | free of dirt
adj.all dirty:8 !clean | full of dirt
adj.all dry:11 | free of water
adj.all wet:9 !dry | full of water
adj.all red:9 | of the colour of blood
adj.all light:6 | of no great weight
adj.all open:9 | that one can go through
verb.change clean:8 | free of dirt, as an act
verb.change dirty:1 | fill with dirt
verb.change dry:5 | free of water, as an act
verb.change slow:3 | lose speed
verb.change wet:1 | fill with water
adv.all quickly:9 rapidly:5 | in little time
adv.all slowly:8 !quickly | in much time
"""
PARTS = {"noun": ("n", 1), "verb": ("v", 2), "adj": ("a", 3), "adv": ("r", 4)}
FORMS = {"noun": "men man\nwomen woman\n", "verb": "threw throw\nswept sweep\nrode ride\n"}
HEADER = "  1 A small WordNet of stressreel's tests. WordNet 0.1 Copyright the stressreel authors.\n"
WIDTH = 8  # digits of an offset


class Sense(NamedTuple):
    part: str
    file: int
    words: dict[str, int]
    numbers: tuple[int, ...]
    opposite: str
    near: str
    meaning: str


def write_wordnet(folder: Path) -> Path:
    """Write the small WordNet to `corpora/wordnet` in a folder that is then one of NLTK's data."""
    place = folder / "corpora" / "wordnet"
    place.mkdir(parents=True)
    senses, counts = _senses(), []
    for part, (letter, number) in PARTS.items():
        own = [sense for sense in senses if sense.part == part]
        lines = _data(own, letter, [0] * len(own))
        offsets = [len(HEADER) + sum(map(len, lines[:at])) for at in range(len(own))]
        (place / f"data.{part}").write_text(HEADER + "".join(_data(own, letter, offsets)))
        found: dict[str, list[int]] = defaultdict(list)
        for sense, offset in zip(own, offsets, strict=True):
            head = own[_at(own, sense.near)] if sense.near else None
            for (word, count), lex in zip(sense.words.items(), sense.numbers, strict=True):
                found[word].append(offset)
                kind, behind = (5, f"{sense.near}:{head.numbers[0]:02}") if head else (number, ":")
                if count:
                    counts.append(f"{word}%{kind}:{sense.file:02}:{lex:02}:{behind} {len(found[word])} {count}\n")
        index = (
            f"{word} {letter} {len(at)} 0 {len(at)} 0 {' '.join(f'{each:0{WIDTH}}' for each in at)}  \n"
            for word, at in sorted(found.items())
        )
        (place / f"index.{part}").write_text(HEADER + "".join(index))
        (place / f"{part}.exc").write_text(FORMS.get(part, ""))
    (place / "cntlist.rev").write_text("".join(sorted(counts)))
    names = (f"{number:02}\t{name}\t0\n" for number, name in enumerate(LEXNAMES.split()))
    (place / "lexnames").write_text("".join(names))
    return folder


def _senses() -> list[Sense]:
    found: list[Sense] = []
    seen: Counter[tuple[str, str]] = Counter()
    for line in SENSES.strip().splitlines():
        given, _, meaning = line.partition(" | ")
        name, *marked = given.split()
        marks = {word[0]: word[1:] for word in marked if word[0] in "!&"}
        words = {
            word: int(count or 0) for word, _, count in (each.partition(":") for each in marked) if word[0] not in "!&"
        }
        numbers = tuple(seen[name, word] for word in words)
        seen.update((name, word) for word in words)
        file = LEXNAMES.split().index(name)
        part = name.partition(".")[0]
        found.append(Sense(part, file, words, numbers, marks.get("!", ""), marks.get("&", ""), meaning))
    return found


def _data(senses: list[Sense], letter: str, offsets: list[int]) -> list[str]:
    """Write the senses of a part of speech, whose lines are as long whatever the offsets are."""
    pointers: dict[int, list[str]] = defaultdict(list)
    for number, sense in enumerate(senses):
        for mark, word, words in (("!", sense.opposite, "0101"), ("&", sense.near, "0000")):
            if word:
                other = _at(senses, word)
                pointers[number].append(f"{mark} {offsets[other]:0{WIDTH}} {letter} {words}")
                kind = "s" if mark == "&" else letter
                pointers[other].append(f"{mark} {offsets[number]:0{WIDTH}} {kind} {words}")
    lines = []
    for number, sense in enumerate(senses):
        words = " ".join(f"{word} {lex:x}" for word, lex in zip(sense.words, sense.numbers, strict=True))
        own = " ".join([f"{len(pointers[number]):03}", *pointers[number]])
        kind = "s" if sense.near else letter
        frames = " 01 + 08 00" if letter == "v" else ""
        start = f"{offsets[number]:0{WIDTH}} {sense.file:02} {kind} {len(sense.words):02x}"
        lines.append(f"{start} {words} {own}{frames} | {sense.meaning}  \n")
    return lines


def _at(senses: list[Sense], word: str) -> int:
    """Find the sense whose first word this is."""
    return next(number for number, sense in enumerate(senses) if next(iter(sense.words)) == word)
