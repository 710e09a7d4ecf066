"""Ask a model the questions of an output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..core.errors import UsageError
from ..core.functions import Natural, public
from ..core.options import Option, comma_separated
from .questions import (
    Checkpoint,
    Device,
    Frames,
    Limit,
    MostTokens,
    TestSplit,
    check_target,
    find_clips,
    read_questions,
)

if TYPE_CHECKING:
    from ..evaluation.models.answers import ModelAnswers
    from ..evaluation.models.models import Model


def read_prices(given: Sequence[Any]) -> tuple[float, float]:
    """Read two prices, as a text with a comma between them or as two values.

    Raises:
        ValueError: They are something else.
    """
    try:
        first, second = (float(one) for one in (given.split(",") if isinstance(given, str) else given))
    except ValueError:
        first = second = -1.0
    if not (0 <= first < float("inf") and 0 <= second < float("inf")):
        raise ValueError("is not two prices with a comma between, such as 2.5,10")
    return first, second


def read_request(given: str | dict[str, Any]) -> dict[str, Any]:
    """Read further fields of requests; see `evaluation.models.endpoint.parsed_request`."""
    from ..evaluation.models.endpoint import parsed_request

    return parsed_request(given)


@public
def ask(
    out: Path | str,
    *,
    to: Path | str | None = None,
    endpoint: Annotated[str | None, Option("", metavar="URL")] = None,
    model: str | None = None,
    transformers: Checkpoint = None,
    revision: str | None = None,
    device: Device = None,
    dtype: str = "auto",
    modalities: Annotated[Sequence[str] | str, Option("", shown="all there is", read=comma_separated)] = (),
    config: Sequence[str] | str = (),
    split: TestSplit = None,
    setting: Sequence[str] | str = (),
    limit: Limit = None,
    videos: Path | str | None = None,
    frames: Frames = 16,
    size: Natural = 448,
    quality: Annotated[int, Option("", minimum=1, maximum=100)] = 90,
    send: Literal["frames", "video"] = "frames",
    max_tokens: MostTokens = None,
    seed: Natural = 0,
    at_once: Annotated[int, Option("", minimum=1, maximum=1024)] = 8,
    per_minute: Annotated[int, Option("", minimum=0, shown="no limit")] = 0,
    retries: Natural = 5,
    timeout: Annotated[float, Option("", minimum=0.1)] = 120,
    key_variable: str = "OPENAI_API_KEY",
    request: Annotated[str | dict[str, Any] | None, Option("", metavar="JSON", read=read_request)] = None,
    prices: Annotated[Sequence[float] | str | None, Option("", metavar="IN,OUT", read=read_prices)] = None,
    partial: bool = False,
    fresh: bool = False,
    dry_run: bool = False,
    progress: bool = True,
) -> ModelAnswers:
    """Ask a model the questions of `out`, and write its answers as predictions.

    `out` is the output of a build, or a file of your own questions: id, question, options, answer, video_id, start,
    end, subtitles (CSV, JSON lines, Parquet; TVQA's columns are read, too), with their videos in `videos`.

    Args:
        out: The output, or the file.
        to: Predictions to write (.jsonl); with several `modalities` a folder for one file each.
        endpoint: Base of an OpenAI-compatible endpoint, such as http://localhost:8000/v1.
        model: With `endpoint`: the model's name there.
        transformers: A model of transformers that runs here.
        revision: With `transformers`: commit, tag or branch of the hub.
        device: With `transformers`: such as cuda:0.
        dtype: With `transformers`: such as bfloat16.
        modalities: What is shown, between commas: video (frames alone), text (subtitles alone), both, blind (neither),
            unasked (all but the question).
        config: Ask this table only; may be repeated.
        split: The split to ask.
        setting: Of a suite: ask these settings only, such as `clean` or `"jpeg-*"`; may be repeated.
        limit: Ask the first N questions of each task and setting.
        videos: Folder of the source videos, where `out` holds none: perturbed frames are made on the fly.
        frames: Frames of a clip.
        size: Longer side of a frame at most, pixels; 0: as it is.
        quality: Quality of frames' JPEGs.
        send: With `endpoint`: send frames as pictures, or the file as a video_url, which some servers take.
        max_tokens: Longest answer.
        seed: Sent to the endpoint.
        at_once: Requests at once.
        per_minute: Requests a minute at most.
        retries: Retries of a request.
        timeout: Seconds for a request.
        key_variable: Environment variable that has the key.
        request: Further fields of requests; null takes one of ours away.
        prices: Price of a million tokens, sent and answered.
        partial: Write the predictions there are, where some questions got no answer.
        fresh: Ask all again; answers so far are thrown away.
        dry_run: Count requests, pictures and tokens; ask nothing.
        progress: Show progress.

    Raises:
        UsageError: What is asked for is not there, or options do not go together.
        InputError: Questions or videos cannot be read.
        BuildError: Questions got no answer.
    """
    from ..evaluation.models.answers import SHOWN, answer, plan
    from ..evaluation.models.clips import Sampling
    from ..evaluation.models.endpoint import Endpoint
    from ..evaluation.models.local import LocalModel
    from ..evaluation.models.questions import MODALITIES, chosen_modalities
    from ..evaluation.models.run import AskSettings, calls_of

    if (endpoint is None) == (transformers is None) and not dry_run:
        raise UsageError("give either --endpoint URL --model NAME, or --transformers NAME_OR_DIR.")
    if (endpoint is None) != (model is None):
        raise UsageError("--endpoint and --model go together: where the model is, and its name there.")
    if endpoint is None and send == "video":
        raise UsageError("--send video goes with --endpoint. A model that runs here is shown frames.")
    asked = read_questions(Path(out), config, split, setting, limit)
    chosen = chosen_modalities(modalities, asked.questions)
    how = AskSettings(Sampling(frames, size, quality), send == "video", max_tokens)
    calls = calls_of(asked.questions, chosen)
    clips = find_clips(asked, videos) if any("video" in MODALITIES[name] for name in chosen) else None
    paid = None if prices is None else read_prices(prices)
    if dry_run:
        return plan(asked, calls, clips, how, paid)
    if to is None:
        raise UsageError("--to is missing: the file for the predictions; with several --modalities a folder.")
    target = Path(to)
    check_target(target, asked)
    several = len(chosen) > 1
    files = {name: target / f"{SHOWN.get(name, name)}.jsonl" if several else target for name in chosen}
    if not several and target.suffix.lower() != ".jsonl":
        raise UsageError(
            f"--to {to}: a file that ends in .jsonl is written, not {target.suffix or 'one without an ending'}."
        )
    journal = target / "answers.journal" if several else target.with_suffix(".journal")
    written = (*files.values(), journal, journal.with_suffix(".json"))
    if asked.path.is_file() and any(file.resolve() == asked.path.resolve() for file in written):
        raise UsageError(f"--to {to} would write over {out}, which holds the questions. Give another --to.")
    foreign = next((file for file in written if file.exists() and not journal.exists()), None)
    if foreign is not None:
        raise UsageError(f"{foreign} is there already, without the journal of this command. Give another --to.")
    whom: Model
    if endpoint is not None and model is not None:
        fields = {} if request is None else read_request(request)
        whom = Endpoint(endpoint, model, seed, at_once, per_minute, retries, timeout, key_variable, fields)
    else:
        whom = LocalModel(str(transformers), revision or "", device or "", dtype)
    return answer(
        asked, calls, whom, clips, how, files, journal, prices=paid, partial=partial, fresh=fresh, progress=progress
    )
