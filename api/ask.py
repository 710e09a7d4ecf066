"""Ask a model the questions of an output, and write its answers as predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ..core.errors import InputError, UsageError
from ..core.files import check_outside, check_writable, resolved
from ..core.functions import public
from ..core.rows import AnyPath
from ..core.settings import ColumnNames, Limit, Seed, parsed, within
from ..core.tabular import columns_of, comma_separated

if TYPE_CHECKING:
    from ..evaluation.models import Model
    from ..evaluation.models.clip_sources import ClipSource
    from ..evaluation.models.question_set import QuestionSet
    from ..evaluation.models.run import ModelAnswers


Frames = Annotated[int, within(1, 1024)]
Names = Annotated[Sequence[str] | str, parsed(comma_separated)]
Device = Annotated[str | None, Parameter(show_default="a GPU if available")]
Checkpoint = str | Path | None
MostTokens = Annotated[int | None, within(1, 100_000, show_default="16, or 96 for sentences")]
TestSplit = Annotated[str | None, Parameter(show_default="test if it exists")]


def read_prices(prices: Sequence[Any]) -> tuple[float, float]:
    """Parse two nonnegative prices, from a text such as "2.5,10" or from two numbers."""
    try:
        first, second = (float(price) for price in (prices.split(",") if isinstance(prices, str) else prices))
    except (TypeError, ValueError):
        first = second = -1.0
    if not (0 <= first < float("inf") and 0 <= second < float("inf")):
        raise ValueError("must be two prices separated by a comma, such as 2.5,10")
    return first, second


def read_request(fields: str | dict[str, Any]) -> dict[str, Any]:
    """Parse additional fields of a request, given as JSON or as a dictionary."""
    from ..evaluation.models.endpoint import parsed_request

    return parsed_request(fields)


@public
def ask(
    out: AnyPath,
    *,
    to: Path | str | None = None,
    endpoint: str | None = None,
    model: str | None = None,
    transformers: Checkpoint = None,
    revision: str | None = None,
    device: Device = None,
    dtype: str = "auto",
    device_map: str | None = None,
    batch: Annotated[int, within(1, 1024)] = 1,
    modalities: Annotated[Sequence[str] | str, parsed(comma_separated, show_default="everything available")] = (),
    config: Sequence[str] | str = (),
    split: TestSplit = None,
    setting: Sequence[str] | str = (),
    limit: Limit = None,
    videos: Path | str | None = None,
    frames: Annotated[int | None, within(1, 1024, show_default="16")] = None,
    fps: Annotated[float | None, within(0.001, 1000)] = None,
    size: Annotated[int | None, within(0, 8192, show_default="448; videos are not resized")] = None,
    quality: Annotated[int, within(1, 100)] = 90,
    send: Annotated[
        Literal["frames", "video"] | None, Parameter(show_default="video if a local model supports it, else frames")
    ] = None,
    max_tokens: MostTokens = None,
    seed: Seed = 0,
    at_once: Annotated[int, within(1, 1024)] = 8,
    per_minute: Annotated[int, within(0, 1_000_000, show_default="no limit")] = 0,
    retries: Annotated[int, within(0, 100)] = 5,
    timeout: Annotated[float, within(0.1, 86_400)] = 120,
    key_variable: str = "OPENAI_API_KEY",
    request: Annotated[str | dict[str, Any] | None, parsed(read_request)] = None,
    prices: Annotated[Sequence[float] | str | None, parsed(read_prices)] = None,
    columns: ColumnNames = (),
    partial: bool = False,
    fresh: bool = False,
    dry_run: bool = False,
    progress: bool = True,
) -> ModelAnswers:
    """Ask a model the questions of an output, and write its answers as predictions.

    `out` is the output of a build, or a file with your own questions (CSV, JSON lines or Parquet) with the columns id,
    question, options, answer, video_id, start, end and subtitles, or with TVQA's columns, and their videos in `videos`.

    For example::

        stressreel ask out/clavi --transformers ./model --to answers.jsonl
        stressreel ask out/clavi --endpoint http://gpu:8000/v1 --model qwen --to a.jsonl
        stressreel ask tvqa.jsonl --videos clips --transformers ./model --to a.jsonl

    Args:
        out: The output, or the file with questions.
        to: Predictions file to write (.jsonl); with several `modalities`, a folder with one file for each.
        endpoint: Base URL of an OpenAI-compatible endpoint, such as http://localhost:8000/v1.
        model: With `endpoint`: name of the model.
        transformers: Model to run locally with transformers.
        revision: With `transformers`: commit, tag or branch on the Hub.
        device: With `transformers`: device, such as cuda:0.
        dtype: With `transformers`: data type, such as bfloat16.
        device_map: With `transformers`: how to distribute the model over several devices, such as auto.
        batch: With `transformers`: number of questions to answer in one batch.
        modalities: Inputs of the model, separated by commas: video (frames only), text (subtitles only), both, blind
            (neither), unasked (everything except the question).
        config: Ask only the questions of this table; may be repeated.
        split: Split to ask.
        setting: For suites of perturbations: ask only these settings, such as `clean` or `"jpeg-*"`; may be repeated.
        limit: Ask only the first N questions of each task and setting.
        videos: Folder with the source videos, if `out` has no videos; perturbed frames are then made on the fly.
        frames: Number of frames per clip.
        fps: Frames per second to take from each clip, instead of a fixed number.
        size: Maximum length of a frame's longer side, in pixels; 0 keeps the original size.
        quality: JPEG quality of frames.
        send: Whether to send frames as images, or a video. An endpoint receives the video as a video_url, which only
            some servers support. A local model receives the frames with their times.
        max_tokens: Maximum number of tokens per answer.
        seed: Random seed that is sent to the endpoint.
        at_once: Maximum number of concurrent requests.
        per_minute: Maximum number of requests per minute.
        retries: Maximum number of retries per request.
        timeout: Timeout of a request, in seconds.
        key_variable: Environment variable that contains the API key.
        request: Additional fields of the request, as a JSON object. The value null removes a default field.
        prices: Prices per million input tokens and per million output tokens.
        columns: With a file: columns that have other names in it, such as video=clip,id=key.
        partial: Write the predictions even if some questions have no answer.
        fresh: Discard earlier answers and ask all questions again.
        dry_run: Count requests, images and tokens without sending anything.
        progress: Show progress.

    Raises:
        UsageError: A path, table, split or setting does not exist, or options conflict.
        InputError: Questions or videos cannot be read.
        BuildError: Some questions have no answer.
    """
    from ..evaluation.models.clip_sources import Sampling
    from ..evaluation.models.endpoint import Endpoint
    from ..evaluation.models.local import LocalModel
    from ..evaluation.models.question_set import MODALITIES, chosen_modalities
    from ..evaluation.models.run import AskSettings, answer, calls_of, plan

    local, two_rates = bool(device_map) or batch > 1, frames is not None and fps is not None
    check_options(endpoint, model, transformers, local=local, two_rates=two_rates, dry_run=dry_run)
    questions = read_questions(Path(out), config, split, setting, limit, columns_of(tuple(columns)))
    inputs = chosen_modalities(modalities, questions.questions)
    sampling = Sampling(16 if frames is None else frames, 448 if size is None else size, quality, fps)
    settings = AskSettings(sampling, send == "video" and transformers is None, max_tokens)
    calls = calls_of(questions.questions, inputs)
    clips = find_clips(questions, videos) if any("video" in MODALITIES[name] for name in inputs) else None
    costs = None if prices is None else read_prices(prices)
    if dry_run:
        return plan(questions, calls, clips, settings, costs)
    files, journal = plan_files(to, questions, inputs)  # before the model is loaded
    asked_model: Model
    if endpoint is not None and model is not None:
        fields = {} if request is None else read_request(request)
        asked_model = Endpoint(endpoint, model, seed, at_once, per_minute, retries, timeout, key_variable, fields)
    else:
        texts = (str(transformers), revision or "", device or "", dtype, device_map or "")
        asked_model = LocalModel(*texts, batch, send or "")
        if asked_model.send == "video" and size is None:
            settings = replace(settings, sampling=replace(sampling, size=0))
        questions = replace(questions, remarks=questions.remarks + asked_model.remarks)
    flags = {"partial": partial, "fresh": fresh, "progress": progress}
    return answer(questions, calls, asked_model, clips, settings, files, journal, prices=costs, **flags)


def check_options(
    endpoint: str | None, model: str | None, transformers: Checkpoint, *, local: bool, two_rates: bool, dry_run: bool
) -> None:
    """Raise UsageError if options conflict. `local` states whether one of them requires a local model."""
    if (endpoint is None) == (transformers is None) and not dry_run:
        raise UsageError("specify either --endpoint URL and --model NAME, or --transformers NAME_OR_DIR.")
    if (endpoint is None) != (model is None):
        raise UsageError(
            "--endpoint and --model must be used together: specify the URL of the server and the name of the model on "
            "it."
        )
    if two_rates:
        raise UsageError(
            "--frames and --fps are mutually exclusive. Specify either a number of frames or a frame rate."
        )
    if transformers is None and local:
        raise UsageError("--device-map and --batch require --transformers. For endpoints, use --at-once.")


def plan_files(to: Path | str | None, questions: QuestionSet, inputs: Sequence[str]) -> tuple[dict[str, Path], Path]:
    """Return the predictions file of each combination of modalities, and the journal, after checking the paths."""
    from ..evaluation.models.run import prediction_files

    if to is None:
        raise UsageError(
            "--to is missing. Use it to specify the file in which to save the predictions (.jsonl), or a folder for "
            "several --modalities."
        )
    target = Path(to)
    check_outside(target, questions.path)
    if len(inputs) == 1 and target.suffix.lower() != ".jsonl":
        raise UsageError(f"--to {to}: the name of the predictions file must end in .jsonl.")
    files, journal = prediction_files(target, inputs)
    outputs = (*files.values(), journal, journal.with_suffix(".json"))
    if questions.path.is_file() and any(resolved(file) == resolved(questions.path) for file in outputs):
        raise UsageError(
            f"--to {to} would overwrite {questions.path}, which contains the questions. Choose another path with --to."
        )
    old = next((file for file in outputs if file.exists() and not journal.exists()), None)
    if old is not None:
        raise UsageError(f"{old} already exists but was not written by this command. Choose another path with --to.")
    check_writable(journal, option="--to")
    return files, journal


def read_questions(
    path: Path,
    configs: Sequence[str],
    split: str | None,
    settings: Sequence[str],
    limit: int | None,
    columns: Mapping[str, str] | None = None,
) -> QuestionSet:
    """Load the questions to ask from an output or a file. Empty `configs` or `settings` select all.

    `columns` are names of columns in a file that differ from the usual ones.

    Raises:
        UsageError: The path, table, split or setting does not exist.
        InputError: The questions cannot be read.
    """
    from ..builders import benchmark_of
    from ..core.files import sha256_file
    from ..core.output import reading
    from ..evaluation.models.question_set import QuestionSet, Scorable, questions_of_file, questions_of_output
    from ..evaluation.tasks import remarks

    part = limit is not None or bool(settings)
    if path.is_file():
        if configs or split or settings:
            raise UsageError(f"{path} is a file, which has no tables, splits or settings. Omit these options.")
        questions = tuple(questions_of_file(path, limit=limit, columns=columns))
        return QuestionSet(path, questions, {"questions": path.name, "sha256": sha256_file(path)}, "", (), part, ())
    if columns:
        raise UsageError(f"{path} is an output, whose columns have fixed names. Omit --columns.")
    with reading(path) as output:
        benchmark = benchmark_of(output)
        tasks = benchmark.tasks(output, split)
        by_table = benchmark.scoring().by_table
        names = {task.table for task in tasks}
        if unknown := sorted(set(configs) - names):
            raise UsageError(
                f"{path} has no questions in table {unknown[0]!r}. Tables with questions: {', '.join(sorted(names))}."
            )
        tasks = [task for task in tasks if not configs or task.table in configs]
        questions = tuple(questions_of_output(output, tasks, settings=settings, limit=limit))
        identity = {name: output.info[name] for name in ("builder", "dataset_version", "fingerprint")}
    if not questions:
        raise InputError(f"{path} has no questions to ask in {', '.join(sorted(names))}.")
    part = part or any(task.left_out for task in tasks) or (bool(configs) and not by_table)
    named = {Scorable(task.table if by_table else None, task.split, task.writes): None for task in tasks}
    return QuestionSet(path, questions, identity, identity["fingerprint"], tuple(named), part, tuple(remarks(tasks)))


def find_clips(questions: QuestionSet, videos: Path | str | None) -> ClipSource:
    """Locate the videos to which questions refer, in the output itself or in a folder.

    Raises:
        UsageError: The folder does not exist, or is required but not specified.
        InputError: Videos are missing.
    """
    from ..builders import benchmark_of
    from ..core.output import reading
    from ..evaluation.models.clip_sources import StoredClips, clips_in_folder, holds_videos

    if questions.path.is_file():
        return clips_in_folder(questions.questions, Path(videos or questions.path.parent))
    with reading(questions.path) as output:
        benchmark = benchmark_of(output)
        tables = {question.clip.table for question in questions.questions if question.clip}
        if holds_videos(output, benchmark.declared(output.info), tables):
            return StoredClips(output)
        if videos is None and benchmark.defines("clips"):
            raise UsageError(
                f"{questions.path} has no videos. Use --videos to specify the folder with the source videos."
            )
        return benchmark.clips(output, questions.questions, Path(videos or ""))
