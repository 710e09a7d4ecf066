"""Checks of a finished CLAVI output: what makes it CLAVI, found again from the rows and the decoded videos alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...records.checks import Check, VerifyOptions
from ...records.output import FinishedOutput
from ...records.schema import Row
from ...runtime.decoded import check_decord
from ...runtime.processes import on_processes
from ...video.thumbnails import UNDECODABLE, Look, look_at, misplaced
from ..remade import differs_from_row
from .questions import phrases_of, templates_of
from .render import FRAMES, SHARED
from .row_checks import check_columns
from .source_checks import check_annotations, check_source, check_sources
from .tables import ANSWERS, pair_columns

CUTS = ("out_a", "in_a", "in_b", "out_b")
FLIPPING = ("BE", "BA")
LINKS = ("complement_question_id", "counterpart_question_id")


class Wording(NamedTuple):
    """What a question asks: its template, and the letters of the actions in it."""

    template: str
    x: str
    y: str


def check_questions_per_video(output: FinishedOutput) -> Iterator[str]:
    """Every video has 19 questions, 6 yes and 13 no, and every pair has both videos."""
    answers: dict[str, Counter[str]] = {}
    for row in output.rows("questions", ["video_id", "answer"]):
        answers.setdefault(row["video_id"], Counter())[ANSWERS[row["answer"]]] += 1
    for video, counts in answers.items():
        if counts != {"yes": 6, "no": 13}:
            yield f"{video} has {counts['yes']} yes and {counts['no']} no, not 6 and 13"
    pairs = {row["pair_id"] for row in output.rows("pairs", ["pair_id"])}
    expected = {f"{pair}_{number}" for pair in pairs for number in (1, 2)}
    tables = {"questions": set(answers)}
    if "videos" in output.info["counts"]:
        tables["videos"] = {row["video_id"] for row in output.rows("videos", ["video_id"])}
    for table, videos in tables.items():
        for video in sorted(expected ^ videos):
            yield f"{video} is {'missing from' if video in expected else 'in no pair but in'} {table}"


def check_links(output: FinishedOutput) -> Iterator[str]:
    """Q′ links and counterpart links point back, to the right video, wording and type."""
    columns = ["question_id", "video_id", "pair_id", "question", "type", *LINKS]
    pairs = {row["pair_id"]: row for row in output.rows("pairs", phrase_columns(output))}
    questions = {row["question_id"]: row for row in output.rows("questions", columns)}
    for name, row in questions.items():
        other = questions.get(row["counterpart_question_id"])
        if other is None or other["counterpart_question_id"] != name:
            yield f"{name}: counterpart {row['counterpart_question_id']} does not point back"
        elif (
            other["video_id"] == row["video_id"]
            or other["pair_id"] != row["pair_id"]
            or other["question"] != row["question"]
            or other["type"] != row["type"]
        ):
            yield f"{name}: counterpart {other['question_id']} is not the same question about the other video"
        link = row["complement_question_id"]
        if link is None:
            if not row["type"].startswith("E"):
                yield f"{name}: a {row['type']} question without a complement"
            continue
        other = questions.get(link)
        if other is None or other["complement_question_id"] != name:
            yield f"{name}: complement {link} does not point back"
        elif other["video_id"] != row["video_id"] or other["question"] != opposite(
            pairs[row["pair_id"]], row["question"]
        ):
            yield f"{name}: complement {link} is not the question with the opposite time about the same video"


OPPOSITE = {
    **{"BE-beginning": "BE-end", "BE-end": "BE-beginning"},
    **{"BA-before": "BA-after", "BA-after": "BA-before"},
}


def wordings(pair: Row) -> dict[str, Wording]:
    """Return what every question asks that templates word from a pair's phrases: template, x and y."""
    phrases, asked = phrases_of(pair)
    found: dict[str, Wording] = {}
    for template in {template.template_id: template for template in templates_of(pair)}.values():
        for x in phrases:
            for y in phrases if template.y else [""]:
                if x != y:
                    text = replace(template, x=x, y=y).worded(phrases, asked)
                    found[text] = Wording(template.template_id, x, y)
    return found


def opposite(pair: Row, question: str) -> str | None:
    """Word the question that asks the opposite time about a pair; None if no template words the one that is given."""
    known = wordings(pair)
    if question not in known:
        return None
    asked = known[question]
    turned = asked._replace(template=OPPOSITE.get(asked.template, asked.template))
    return next(text for text, wording in known.items() if wording == turned)


def phrase_columns(output: FinishedOutput) -> list[str]:
    """Name the columns of `pairs` that word questions."""
    there = {column.name for column in pair_columns(output.info["settings"].get("collection", "charades"))}
    names = [f"{what}_{letter}" for what in ("phrase", "asked") for letter in "abc"]
    return ["pair_id", *(name for name in names if name.startswith("phrase") or name in there)]


def check_answers(output: FinishedOutput) -> Iterator[str]:
    """Every answer is what the order of actions makes true; BE and BA flip between V and V′, Q and Q′."""
    pairs = {row["pair_id"]: row for row in output.rows("pairs", phrase_columns(output))}
    columns = ["question_id", "pair_id", "question", "answer", "type", "variant", *LINKS]
    questions = {row["question_id"]: row for row in output.rows("questions", columns)}
    for name, row in questions.items():
        answer = ANSWERS[row["answer"]]
        true = truth(pairs[row["pair_id"]], row["variant"] == "original", row["question"])
        if true is None:
            yield f"{name}: {row['question']!r} is not worded by a template from the pair's phrases"
        elif answer != ANSWERS[true]:
            yield f"{name}: {row['question']!r} is answered {answer!r}, but the order of the actions says otherwise"
        flips = row["type"] in FLIPPING
        for link in LINKS:
            other = questions.get(row[link] or "")
            if other and (other["answer"] != row["answer"]) != flips:
                yield f"{name}: the answer must {'flip' if flips else 'stay'} in {other['question_id']}"


def truth(pair: Row, original: bool, question: str) -> bool | None:
    """Work out the answer from which action comes first, without the answer table.

    Args:
        pair: `phrase_a`, `phrase_b` and `phrase_c`, and their questions where they have any.
        original: True for V, False for V′.
        question: The question.

    Returns:
        The answer, or None if no template gives this wording.
    """
    asked = wordings(pair).get(question)
    if asked is None:
        return None
    order = "AB" if original else "BA"
    if asked.y:
        return asked.x + asked.y == (order if asked.template == "BA-before" else order[::-1])
    if asked.template.startswith("BE"):
        return asked.x == order[0 if asked.template == "BE-beginning" else 1]
    return asked.x in order


def check_negative_controls(output: FinishedOutput) -> Iterator[str]:
    """The negative control shares no verb and no object with anything annotated in the source.

    Of other collections than Charades it shares no content word with anything annotated in the clip and near it.
    """
    columns = ["pair_id", "verb_c", "objects_c", "phrase_c"]
    if output.info["settings"].get("collection", "charades") != "charades":
        for row in output.rows("pairs", [*columns, "clip_words"]):
            if shared := sorted({row["verb_c"], *row["objects_c"]} & set(row["clip_words"])):
                yield f"{row['pair_id']}: {row['phrase_c']!r} shares {', '.join(shared)} with the clip"
        return
    for row in output.rows("pairs", [*columns, "source_verbs", "source_objects"]):
        shared = [row["verb_c"]] if row["verb_c"] in row["source_verbs"] else []
        shared += sorted(set(row["objects_c"]) & {*row["source_objects"], *row["source_verbs"]})
        if shared:
            yield f"{row['pair_id']}: {row['phrase_c']!r} shares {', '.join(shared)} with the source"


def check_durations(output: FinishedOutput) -> Iterator[str]:
    """Cuts contain the actions and keep them equally far apart; V and V′ are as long as the cuts say."""
    times = ("start_a_s", "end_a_s", "start_b_s", "end_b_s")
    pairs = {}
    for row in output.rows("pairs", ["pair_id", *CUTS, *FRAMES, *times]):
        name = row["pair_id"]
        pairs[name] = row
        out_a, in_a, in_b, out_b = (round(row[edge] * 1000) for edge in CUTS)
        start_a, end_a, start_b, end_b = (round(row[time] * 1000) for time in times)
        if not out_a <= start_a < end_a <= in_a <= in_b <= start_b < end_b <= out_b:
            yield f"{name}: the cuts do not contain the two actions in order"
        inwards, outwards = (in_a - end_a) + (start_b - in_b), (start_a - out_a) + (out_b - end_b)
        if abs(inwards - outwards) > 1:  # the release rounds each cut to a millisecond
            yield f"{name}: extended by {inwards} ms inwards and {outwards} ms outwards"
    if "videos" not in output.info["counts"]:
        return
    lengths: dict[str, set[tuple[int, float]]] = {}
    for row in output.rows("videos", ["pair_id", "video_id", "num_frames", "duration_s", "fps"]):
        pair = pairs[row["pair_id"]]
        lengths.setdefault(row["pair_id"], set()).add((row["num_frames"], row["duration_s"]))
        if row["num_frames"] != pair["out_b_frame"] - pair["out_a_frame"]:
            yield f"{row['video_id']}: {row['num_frames']} frames, the pair's frame range says otherwise"
        if abs(row["num_frames"] / row["fps"] - row["duration_s"]) > 1e-6:
            yield f"{row['video_id']}: {row['num_frames']} frames at {row['fps']} fps do not last {row['duration_s']} s"
        if abs(row["duration_s"] - (pair["out_b"] - pair["out_a"])) > 0.5 + 2 / row["fps"]:
            yield f"{row['video_id']}: lasts {row['duration_s']:.3f} s, cut as {pair['out_b'] - pair['out_a']:.3f} s"
    for name, values in lengths.items():
        if len(values) > 1:
            yield f"{name}: V and V′ differ in length"


def check_permutation(output: FinishedOutput, workers: int) -> Iterator[str]:
    """By decoded frames, V′ shows the frames of V with the two pieces exchanged, cut as the rows say."""
    pairs = {row["pair_id"]: row for row in output.rows("pairs", ["pair_id", *CUTS, *FRAMES])}
    waiting: dict[str, list[Row]] = {}
    keep = output.info["settings"]["audio"] == "keep"

    def calls() -> Iterator[tuple[Row, list[Row], bool]]:
        for row in output.rows("videos", ["video_id", "pair_id", "variant", *SHARED, "video"]):
            both = waiting.setdefault(row["pair_id"], [])
            both.append(row)
            if len(both) == 2:
                yield pairs[row["pair_id"]], sorted(waiting.pop(row["pair_id"]), key=lambda r: r["video_id"]), keep

    for problems in on_processes(compare_videos, calls(), workers):
        yield from problems
    yield from (f"{name}: only one of its two videos is there" for name in waiting)


def compare_videos(pair: Row, videos: Sequence[Row], keep_sound: bool) -> list[str]:
    """Compare V and V′ frame by frame, and both with their rows; see `misplaced`.

    Args:
        pair: The row of `pairs`: its id, cuts and frames.
        videos: The two rows of `videos`, V first.
        keep_sound: Whether the build kept sound.

    Returns:
        Problems, one line each.
    """
    name = pair["pair_id"]
    try:
        looks = [look_at(row["video"]["bytes"] or b"") for row in videos]
    except UNDECODABLE as error:
        return [f"{name}: its videos cannot be decoded ({error})"]
    v, w = looks
    problems = [
        f"{row['video_id']}: {problem}"
        for row, look in zip(videos, looks, strict=True)
        for problem in differs_from_row(look, row, None if keep_sound else False)
    ]
    if v.tracks != w.tracks:
        problems.append(f"{name}: V has the tracks {', '.join(v.tracks)}, V′ {', '.join(w.tracks)}")
    out_a, in_a, in_b, out_b = (pair[edge] - pair[FRAMES[0]] for edge in FRAMES)
    order = np.r_[in_b:out_b, in_a:in_b, out_a:in_a]
    if v.num_frames != len(order) or w.num_frames != len(order):
        return [*problems, f"{name}: V has {v.num_frames} and V′ {w.num_frames} frames, the record {len(order)}"]
    if not np.array_equal(w.durations, v.durations[order]):
        problems.append(f"{name}: a frame is shown longer or shorter in V′ than in V")
    problems += [
        f"{name}: {cut} is {pair[cut] - pair['out_a']:.3f} s after out_a, but V does not show {cut}_frame then"
        for cut, edge in (("in_a", in_a), ("in_b", in_b))
        if not _in_time(v, edge, pair[cut] - pair["out_a"])
    ]
    wrong = misplaced(w.pictures, v.pictures, order)
    if wrong:
        first, seen = wrong[0]
        problems.append(
            f"{name}: {len(wrong)} frames of V′ are not where the record puts them; the first, {first}, shows frame "
            f"{seen} of V instead of {int(order[first])}"
        )
    return problems


def _in_time(look: Look, frame: int, seconds: float) -> bool:
    """Whether a frame may be the first after a moment; V may begin up to a frame after its own cut."""
    longest = float(look.durations.max()) * float(look.time_base) + 0.001
    shown = float(look.times[frame] - look.times[0]) * float(look.time_base)
    return abs(shown - seconds) <= longest


def clavi_checks(info: Mapping[str, Any], options: VerifyOptions) -> dict[str, Check]:
    """Return the checks of a CLAVI output by name.

    Args:
        info: The content of `build.json`.
        options: How far to look.
    """
    checks: dict[str, Check] = {
        "source": check_source,
        "columns": check_columns,
        "questions_per_video": check_questions_per_video,
        "links": check_links,
        "answers": check_answers,
        "negative_controls": check_negative_controls,
        "durations": check_durations,
        "annotations": lambda output: check_annotations(output, options),
    }
    if "videos" in info["counts"]:
        if options.decode:
            checks["permutation"] = lambda output: check_permutation(output, options.workers)
            checks["decord"] = lambda output: check_decord(output, options.workers)
        checks["sources"] = lambda output: check_sources(output, options)
    return checks
