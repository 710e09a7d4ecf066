"""Derive what an output should contain from its open questions: divisions, correct options, positions and donors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...core.output import FinishedOutput
from ...core.schema import Row
from ...language.words import text_key
from ...negatives.options import Negative, arrange, even_places
from ...negatives.settings import strict
from ...video.frames import TOLERANCE_S
from ..runtime.table_checks import Derivation, Derived
from .divisions import divide
from .settings import SCHEMES, CausalSettings, Scheme, settings_of
from .tables import ASKED, CLIPS, CONFUSED, NAMES, OPEN, RIGHT, SPLITS, Target, asked_of, causal_row, source_row

WRONG = Negative("", "", 0.0, 0.0, 0.0, "")


def derived(output: FinishedOutput) -> Iterator[Derivation]:
    """Yield the expected rows of all tables, derived from the open questions."""
    settings = settings_of(output.info)
    right = {row["qid"]: row for row in output.rows(OPEN)}
    clips = {row["clip_id"]: row for row in right.values()}
    yield from open_rows(output, settings, right)
    for scheme in settings.schemes:
        for split in SPLITS if settings.split == "all" else (settings.split,):
            clips |= {row["clip_id"]: row for row in output.rows(scheme, [column.name for column in ASKED], split)}
            yield from choice_rows(output, settings, right, scheme, split)
    if CONFUSED in output.info["counts"]:
        yield from confused_rows(output, settings)
    skipped = {skip["unit_id"] for skip in output.info["skips"]["list"]}
    counts = {row["clip_id"]: row for row in output.rows(CLIPS, ["clip_id", "num_frames", "fps"])}
    for name in sorted(clips.keys() - skipped) if settings.render else ():
        row = {"clip_id": name, **{column: clips[name][column] for column in ("episode", "start_frame", "end_frame")}}
        if not output.info["settings"]["fps_map"]:
            row["num_frames"] = _stated(counts.get(name), row["end_frame"] - row["start_frame"])
        yield Derived(CLIPS, CLIPS, row)


def _stated(clip: Row | None, annotated: int) -> int:
    """Return the number of frames that a clip states if it lacks no more than is tolerated, else the annotated one."""
    if clip is None or clip["num_frames"] <= 0:
        return annotated
    lacking = annotated - clip["num_frames"]
    return clip["num_frames"] if 0 < lacking <= 2 * TOLERANCE_S * clip["fps"] else annotated


def open_rows(output: FinishedOutput, settings: CausalSettings, right: Mapping[str, Row]) -> Iterator[Derivation]:
    """Yield the expected open questions. Divisions are included only if complete and independent of file order."""
    annotations = [causal_row(row) for row in right.values()]
    divided = {
        scheme: divide(scheme, annotations, settings.seed, settings.ps_by)
        for scheme in settings.schemes
        if settings.split == "all" and not settings.drop and not (scheme == "ps" and settings.ps_by == "rows")
    }
    first = settings.schemes[0]
    for split in output.splits(OPEN):
        for row in output.rows(OPEN, None, split):
            splits: Row = {f"split_{scheme}": split_of[row["qid"]] for scheme, split_of in divided.items()}
            splits |= {f"split_{scheme}": None for scheme in SCHEMES if scheme not in settings.schemes}
            if splits.get(f"split_{first}", split) != split:
                yield f"{OPEN}: {row['qid']} is in {split}, not in {splits[f'split_{first}']}"
            yield Derived(OPEN, split, {**asked_of(causal_row(row)), f"split_{first}": split, **splits})


def choice_rows(
    output: FinishedOutput, settings: CausalSettings, right: Mapping[str, Row], scheme: Scheme, split: str
) -> Iterator[Derivation]:
    """Yield the expected questions of a division, with distractors derived from their donors."""
    ids = [row["qid"] for row in output.rows(scheme, ["qid"], split)]
    if settings.split == "all":
        members = {qid for qid, row in right.items() if row[f"split_{scheme}"] == split}
        yield from (f"{scheme}/{split}: {qid} is missing, or should not be there" for qid in sorted(members ^ {*ids}))
    most = settings.num_options
    even = {target: even_places(ids, most, settings.seed, f"{scheme}/{target}") for target in NAMES}
    anywhere = settings.pool == "all" or strict(settings)
    pool = right.keys() if anywhere else {*ids}
    for row in output.rows(scheme, None, split):
        expected = {"qid": row["qid"], **(asked_of(causal_row(right[row["qid"]])) if row["qid"] in right else {})}
        for target, (options, index, sources) in NAMES.items():
            title, texts, count = f"{scheme}/{split}: {row['qid']}", row[options], len(row[options])
            if not 2 <= count == len(row[sources]) <= most or len({*map(text_key, texts)}) < count:
                yield f"{title}: its {target} options are not 2 to {most} different ones, each with its source"
                continue
            place = row[index] if settings.drop else even[target][row["qid"]]
            even_place = place if strict(settings) else None
            correct = arrange("", [WRONG] * (count - 1), settings.seed, row["qid"], target, even_place).answer_index
            pairs = zip(texts, row[sources], strict=True)
            expected_options = [lent(text, source, target, right, settings) for text, source in pairs]
            stated = right[row["qid"]][target] if row["qid"] in right else texts[correct]
            expected_options[correct] = (as_written(texts[correct], stated, settings), source_row(row["qid"], None))
            expected |= {
                options: [text for text, _ in expected_options],
                index: correct,
                sources: [source for _, source in expected_options],
            }
            for text, source in expected_options:
                own = right.get(source["qid"], {}).get(target)
                if source["kind"] == "carried" and own is not None and text_key(text) == text_key(own):
                    yield f"{title}: a wrong {target} is recorded as adapted from {source['qid']}, but is unchanged"
            lenders = {source["qid"] for _, source in expected_options if source["kind"] != RIGHT}
            for qid in lenders:
                absent = (anywhere and settings.split != "all") or (settings.drop and qid not in right)
                is_possible = qid in pool or absent
                if qid == row["qid"] or not is_possible:
                    yield f"{title}: a wrong {target} is that of {qid}, which cannot be its donor"
        yield Derived(scheme, split, expected)


def lent(text: str, source: Row, target: Target, right: Mapping[str, Row], settings: CausalSettings) -> tuple[str, Row]:
    """Return the expected distractor and its source. A distractor adapted from another question keeps its text."""
    kind = "carried" if strict(settings) and source["kind"] == "carried" else settings.negatives
    stated = right[source["qid"]][target] if kind != "carried" and source["qid"] in right else text
    return as_written(text, stated, settings), {**source, "kind": kind}


def as_written(text: str, stated: str, settings: CausalSettings) -> str:
    """Return the text if it equals `stated` apart from the style of balanced options, else `stated`."""
    return text if strict(settings) and text_key(text) == text_key(stated) else stated


def confused_rows(output: FinishedOutput, settings: CausalSettings) -> Iterator[Derivation]:
    """Yield the expected questions with confusions, from the first division's test split and `confusions`."""
    rows = output.rows(CONFUSED, None, "test")
    for before in output.rows(settings.schemes[0], None, "test"):
        row = next(rows, None) or {**before, "confusions": []}
        expected = {**before, "blind_guessable": None}
        for target, (options, _, sources) in NAMES.items():
            tried = (confusion for confusion in row["confusions"] if confusion["target"] == target)
            replaced = [confusion for confusion in tried if confusion["place"] is not None]
            if len(replaced) > settings.confuse:
                yield f"{CONFUSED}: {row['qid']}: {len(replaced)} {target} options are replaced"
            expected |= {options: [*before[options]], sources: [*before[sources]]}
            for confusion in replaced:
                index = confusion["place"]
                if not 0 <= index < min(len(expected[options]), len(expected[sources]), len(row[sources])):
                    yield f"{CONFUSED}: {row['qid']}: {target} option {index}, which is replaced, does not exist"
                    continue
                source = row[sources][index]
                expected[options][index] = confusion["text"]
                expected[sources][index] = {**source, "kind": confusion["kind"]}
                if confusion["of"] == RIGHT:
                    expected[sources][index]["qid"] = row["qid"]
        yield Derived(CONFUSED, "test", expected)
