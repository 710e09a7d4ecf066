"""Checks of a finished CausalChaos output, from its rows and decoded clips alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import exp, lgamma, log
from typing import Any

from ...language.text_key import text_key
from ...negatives.settings import strict
from ...records.checks import Check, VerifyOptions
from ...records.output import FinishedOutput
from ...records.schema import Row
from ...runtime.decoded import check_decord
from ...runtime.processes import on_processes
from ...video.thumbnails import UNDECODABLE, look_at
from ..remade import differs_from_row
from .divisions import divide
from .plan import causal_row
from .settings import SCHEMES, settings_of
from .source_checks import check_mined, check_source, check_sources
from .tables import ASKED, CLIPS, CONFUSED, OPEN, RIGHT, Target

UNLIKELY = 1e-6
FEW = 50
NAMES: dict[Target, tuple[str, str, str]] = {
    "answer": ("options", "answer_index", "sources"),
    "explanation": ("explanation_options", "explanation_index", "explanation_sources"),
}
COLUMNS = [column.name for column in ASKED]


def choice_tables(output: FinishedOutput) -> list[str]:
    """Name the tables with options."""
    return [name for name in (*SCHEMES, CONFUSED) if name in output.info["counts"]]


def questions(output: FinishedOutput) -> dict[str, Row]:
    """Read the open-ended table by id, in the order of the splits."""
    return {row["qid"]: row for row in output.rows(OPEN)}


def check_options(output: FinishedOutput) -> Iterator[str]:
    """Options are distinct, as many as wanted (or fewer, as counted), and the right one is where the row says."""
    settings = settings_of(output.info)
    wanted = settings.mining.num_options
    written = text_key if strict(settings) else str
    right = questions(output)
    fewer = Counter[str]()
    for table in choice_tables(output):
        for row in output.rows(table):
            place = f"{table}: {row['qid']}"
            for target, (options, index, sources) in NAMES.items():
                texts = row[options]
                if len({text_key(text) for text in texts}) < len(texts):
                    yield f"{place}: two {target} options say the same"
                if not 2 <= len(texts) <= wanted:
                    yield f"{place}: {len(texts)} {target} options, not {wanted}"
                fewer[target] += table in SCHEMES and len(texts) < wanted
                stated = right.get(row["qid"], {}).get(target, "")
                if not 0 <= row[index] < len(texts) or written(texts[row[index]]) != written(stated):
                    yield f"{place}: {index} {row[index]} is not the right {target}"
                kinds = [source["kind"] for source in row[sources]]
                if len(kinds) != len(texts) or [n for n, kind in enumerate(kinds) if kind == RIGHT] != [row[index]]:
                    yield f"{place}: {sources} does not go with {options} and {index}"
    if settings_of(output.info).only == "all":
        for target in NAMES:
            counted = output.info["notes"].get(f"{target}s_with_fewer_options", 0)
            if fewer[target] != counted:
                yield f"{fewer[target]} questions have fewer {target} options, build.json says {counted}"


def check_index(output: FinishedOutput) -> Iterator[str]:
    """Every place of the right option is equally frequent where options are balanced, else about so (chi-square)."""
    settings = settings_of(output.info)
    wanted = settings.mining.num_options
    for table in choice_tables(output):
        for target, (options, index, _) in NAMES.items():
            counts = Counter(row[index] for row in output.rows(table, [options, index]) if len(row[options]) == wanted)
            total = sum(counts.values())
            if strict(settings) and table in SCHEMES:
                yield from _uneven(output, table, target)
            if total < FEW:
                continue
            expected = total / wanted
            squares = sum((counts[place] - expected) ** 2 / expected for place in range(wanted))
            if chi_square_tail(squares, wanted - 1) < UNLIKELY:
                shown = ", ".join(f"{place}: {counts[place]}" for place in range(wanted))
                yield f"{table}: the places of the right {target} are not uniform ({shown})"


def _uneven(output: FinishedOutput, table: str, target: Target) -> Iterator[str]:
    """Yield a split whose places of the right option differ by more than a remainder."""
    options, index, _ = NAMES[target]
    wanted = settings_of(output.info).mining.num_options
    for split in output.splits(table):
        rows = list(output.rows(table, [options, index], split))
        if any(len(row[options]) < wanted for row in rows):
            continue
        counts = Counter(row[index] for row in rows)
        if max(counts.values(), default=0) - min(counts[place] for place in range(wanted)) > 1:
            yield f"{table}, {split}: the places of the right {target} are not equally frequent"


def chi_square_tail(value: float, degrees: int) -> float:
    """Return the probability of a chi-square variable this large or larger, by the series of the incomplete gamma."""
    a, x = degrees / 2, value / 2
    if x <= 0:
        return 1.0
    if x > a + 40 * (a + 1) ** 0.5 + 60:
        return 0.0
    term = total = 1 / a
    number = 0
    while term > total * 1e-17:
        number += 1
        term *= x / (a + number)
        total += term
    return max(0.0, 1 - total * exp(a * log(x) - x - lgamma(a)))


def check_pool(output: FinishedOutput) -> Iterator[str]:
    """Every wrong option is the right one of the question that it names, in the pool that the build says.

    With the pool "split" that question is of the same split, and no wrong option of validation and test is right in
    train, where they are not balanced. An option that was carried over from another question has other words.
    """
    settings = settings_of(output.info)
    balanced = strict(settings)
    written = text_key if balanced else str
    right = questions(output)
    by_split = settings.pool == "split"
    for table in choice_tables(output):
        scheme = table if table in SCHEMES else settings.splits[0]
        trained: dict[Target, set[str]] = {
            target: {text_key(row[target]) for row in right.values() if row[f"split_{scheme}"] == "train"}
            for target in NAMES
        }
        for split in output.splits(table):
            for row in output.rows(table, None, split):
                place = f"{table}: {row['qid']}"
                for target, (options, _, sources) in NAMES.items():
                    turned = {
                        r["place"] for r in row.get("confusions", ()) if r["of"] == "wrong" and r["target"] == target
                    }
                    for number, (text, source) in enumerate(zip(row[options], row[sources], strict=False)):
                        if source["kind"] not in ("hard", "random", "carried"):
                            if source["qid"] != row["qid"] and number not in turned:
                                yield f"{place}: a {source['kind']} option comes from {source['qid']}"
                            continue
                        lender = right.get(source["qid"])
                        if lender is None:
                            if settings.only == "all" or by_split:
                                yield f"{place}: {source['qid']}, which lends an option, is not in {OPEN}"
                            continue
                        same = written(lender[target]) == written(text)
                        if source["kind"] == "carried":
                            if same or source["qid"] == row["qid"] or not balanced:
                                yield f"{place}: an option is not carried over from {source['qid']}"
                            continue
                        if not same or source["kind"] != settings.mining.negatives:
                            yield f"{place}: an option is not the {target} of {source['qid']}"
                        if by_split and lender[f"split_{scheme}"] != split:
                            yield f"{place}: {source['qid']}, which lends an option, is not in {split}"
                        if by_split and not balanced and split != "train" and text_key(text) in trained[target]:
                            yield f"{place}: a wrong {target} is a right one in train: {text}"


def check_divisions(output: FinishedOutput) -> Iterator[str]:
    """Every table has the splits that its rule and the seed give; in `un` no episode is in two splits.

    The rules need all rows, so of a build with --split only the episodes are looked at.
    """
    settings = settings_of(output.info)
    right = questions(output)
    for scheme in settings.splits:
        found = {row["qid"]: split for split in output.splits(scheme) for row in output.rows(scheme, ["qid"], split)}
        if scheme == "un":
            places: dict[str, set[str]] = {}
            for row in right.values():
                places.setdefault(row["episode"], set()).add(row["split_un"])
            yield from (
                f"un: episode {name} is in {len(splits)} splits" for name, splits in places.items() if len(splits) > 1
            )
        stated = {qid: row[f"split_{scheme}"] for qid, row in right.items()}
        differing = [qid for qid, split in found.items() if stated.get(qid, split) != split]
        yield from (f"{scheme}: {qid} is in another split than {OPEN} says" for qid in differing)
        if settings.only != "all" or (scheme == "ps" and settings.places == "rows"):
            continue  # rows of the file's order are divided among the tables
        rows = [causal_row(row) for row in right.values()]
        for qid, split in divide(scheme, rows, settings.seed, settings.places).items():
            if found.get(qid) != split:
                yield f"{scheme}: {qid} is in {found.get(qid)}, by the rule it is in {split}"


def check_links(output: FinishedOutput) -> Iterator[str]:
    """Tables agree on clips and questions; every clip is there, or listed as skipped, and belongs to a question."""
    right = questions(output)
    for table in choice_tables(output):
        for row in output.rows(table, COLUMNS):
            known = right.get(row["qid"])
            if known is None:
                if settings_of(output.info).only == "all":
                    yield f"{table}: {row['qid']} is not in {OPEN}"
            elif any(row[name] != known[name] for name in COLUMNS):
                yield f"{table}: {row['qid']} has another clip or question than in {OPEN}"
    if not settings_of(output.info).render:
        return
    clips = {row["clip_id"]: row for row in output.rows(CLIPS, ["clip_id", "episode", "start_frame", "end_frame"])}
    skipped = {skip["unit_id"] for skip in output.info["skips"]["list"]}
    wanted = {row["clip_id"]: row for table in (*choice_tables(output), OPEN) for row in output.rows(table, COLUMNS)}
    for name, row in wanted.items():
        clip = clips.get(name)
        if clip is None:
            if name not in skipped:
                yield f"{row['qid']}: its clip {name} is neither there nor skipped"
        elif any(clip[key] != row[key] for key in ("episode", "start_frame", "end_frame")):
            yield f"{row['qid']}: its clip {name} has other frames"
    yield from (f"clip {name} belongs to no question" for name in clips.keys() - wanted.keys())


def check_confusions(output: FinishedOutput) -> Iterator[str]:
    """`causal_confusion` is the first division's test, but for the options that a negation or exchange replaced."""
    settings = settings_of(output.info)
    plain = {row["qid"]: row for row in output.rows(settings.splits[0], None, "test")}
    seen = set()
    for row in output.rows(CONFUSED):
        seen.add(row["qid"])
        place, before = f"{CONFUSED}: {row['qid']}", plain.get(row["qid"])
        if before is None:
            yield f"{place} is not in the test of {settings.splits[0]}"
            continue
        for target, (options, index, sources) in NAMES.items():
            made = {r["place"]: r for r in row["confusions"] if r["target"] == target and r["place"] is not None}
            differing = [
                n for n, texts in enumerate(zip(before[options], row[options], strict=False)) if texts[0] != texts[1]
            ]
            if before[index] != row[index] or sorted(made) != differing or len(differing) > settings.confuse:
                yield f"{place}: other {target} options differ from those of {settings.splits[0]} than is said"
            for number, result in made.items():
                kind = row[sources][number]["kind"]
                if result["text"] != row[options][number] or result["kind"] != kind:
                    yield f"{place}: {target} option {number} is not the {kind} that is said"
    for qid in sorted(plain.keys() - seen):
        yield f"{CONFUSED}: {qid} is missing"


def check_frames(output: FinishedOutput) -> Iterator[str]:
    """A clip has the frames that its row names, where no frame rates were mapped."""
    mapped = "fps_map" in output.info["files"]
    for row in output.rows(CLIPS, ["clip_id", "start_frame", "end_frame", "num_frames", "fps", "duration_s"]):
        length = row["end_frame"] - row["start_frame"]
        if not mapped and row["num_frames"] != length:
            yield f"{row['clip_id']}: num_frames is {row['num_frames']}, the annotation names {length}"
        if abs(row["num_frames"] / row["fps"] - row["duration_s"]) > 1e-6:
            yield f"{row['clip_id']}: num_frames / fps is not duration_s"


def check_decoded(output: FinishedOutput, workers: int) -> Iterator[str]:
    """Every clip decodes to what its row says: frames, size, rate and length."""
    keep = settings_of(output.info).audio == "keep"
    rows = output.rows(CLIPS, ["clip_id", "num_frames", "fps", "width", "height", "duration_s", "video"])
    for problems in on_processes(clip_problems, ((row, keep) for row in rows), workers):
        yield from problems


def clip_problems(row: Row, keep_sound: bool) -> list[str]:
    """Decode a clip and compare it with its row."""
    try:
        look = look_at(row["video"]["bytes"] or b"", pictures=False)
    except UNDECODABLE as error:
        return [f"{row['clip_id']}: it cannot be decoded ({error})"]
    return [f"{row['clip_id']}: {problem}" for problem in differs_from_row(look, row, None if keep_sound else False)]


def causal_checks(info: Mapping[str, Any], options: VerifyOptions) -> dict[str, Check]:
    """Return the checks of a CausalChaos output by name.

    Args:
        info: The content of `build.json`.
        options: How far to look.
    """
    checks: dict[str, Check] = {
        "source": check_source,
        "options": check_options,
        "answer_index": check_index,
        "pool": check_pool,
        "divisions": check_divisions,
        "links": check_links,
    }
    if CONFUSED in info["counts"]:
        checks["confusions"] = check_confusions
    checks["mined"] = lambda output: check_mined(output, options)
    if CLIPS in info["counts"]:
        checks["frames"] = check_frames
        if options.decode:
            checks["decoded"] = lambda output: check_decoded(output, options.workers)
            checks["decord"] = lambda output: check_decord(output, options.workers)
        checks["sources"] = lambda output: check_sources(output, options)
    return checks
