"""`stressreel ask`: predictions of a model behind an endpoint, or of one that runs here."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .question_options import Asked, check_target, find_clips, question_options, read_questions

if TYPE_CHECKING:
    from ..asking.clips import Clips
    from ..asking.journal import Journal
    from ..asking.models import Model
    from ..asking.run import Call, How

CHARACTERS_PER_TOKEN = 4
SHOWN = {"video": "video", "text": "text", "both": "video+text"}  # as `score modalities` names them
FAILED_SHOWN = 5


def read_prices(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """Read two prices with a comma between."""
    if value is None:
        return None
    try:
        first, second = (float(one) for one in value.split(","))
    except ValueError:
        first = second = -1.0
    if not (0 <= first < float("inf") and 0 <= second < float("inf")):
        raise click.BadParameter(f"{value!r}: expected two prices with a comma between, such as 2.5,10")
    return first, second


@click.command("ask")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    help="Predictions to write (.jsonl); with several --modalities a folder for one file each.",
)
@click.option(
    "--endpoint", metavar="URL", help="Base of an OpenAI-compatible endpoint, such as http://localhost:8000/v1."
)
@click.option("--model", help="With --endpoint: the model's name there.")
@click.option("--transformers", metavar="NAME_OR_DIR", help="A model of transformers that runs here.")
@click.option("--revision", default="", help="With --transformers: commit, tag or branch of the hub.")
@click.option("--device", default="", help="With --transformers: such as cuda:0.  [default: a GPU where there is one]")
@click.option("--dtype", default="auto", show_default=True, help="With --transformers: such as bfloat16.")
@click.option(
    "--modalities",
    default="",
    help="What is shown, between commas: video (frames alone), text (subtitles alone), both, blind (neither), unasked "
    "(all but the question).  [default: all there is]",
)
@question_options
@click.option("--quality", type=click.IntRange(1, 100), default=90, show_default=True, help="Quality of frames' JPEGs.")
@click.option(
    "--send",
    type=click.Choice(["frames", "video"]),
    default="frames",
    show_default=True,
    help="With --endpoint: send frames as pictures, or the file as a video_url, which some servers take.",
)
@click.option("--max-tokens", type=click.IntRange(min=1), help="Longest answer.  [default: 16; in sentences 96]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Sent to the endpoint.")
@click.option("--at-once", type=click.IntRange(1, 1024), default=8, show_default=True, help="Requests at once.")
@click.option(
    "--per-minute", type=click.IntRange(min=0), default=0, help="Requests a minute at most.  [default: no limit]"
)
@click.option("--retries", type=click.IntRange(min=0), default=5, show_default=True, help="Retries of a request.")
@click.option(
    "--timeout", type=click.FloatRange(min=0.1), default=120, show_default=True, help="Seconds for a request."
)
@click.option(
    "--key-variable", default="OPENAI_API_KEY", show_default=True, help="Environment variable that has the key."
)
@click.option(
    "--request", "request_json", metavar="JSON", help="Further fields of requests; null takes one of ours away."
)
@click.option("--prices", callback=read_prices, metavar="IN,OUT", help="Price of a million tokens, sent and answered.")
@click.option("--partial", is_flag=True, help="Write the predictions there are, where some questions got no answer.")
@click.option("--fresh", is_flag=True, help="Ask all again; answers so far are thrown away.")
@click.option("--dry-run", is_flag=True, help="Count requests, pictures and tokens; ask nothing.")
@click.option("--progress/--no-progress", default=True, show_default=True, help="Show progress.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(out: Path, to: Path | None, **options: Any) -> None:
    """Ask a model the questions of OUT, and write its answers as predictions.

    OUT is the output of a build, or a file of your own questions: id, question, options, answer, video_id, start, end,
    subtitles (CSV, JSON lines, Parquet; TVQA's columns are read, too), with their videos in --videos.

    \b
    Examples:
      stressreel ask out/clavi --endpoint http://localhost:8000/v1 --model Qwen/Qwen2-VL-7B-Instruct --to qwen.jsonl
      stressreel ask out/clavi --transformers llava-hf/llava-onevision-qwen2-0.5b-ov-hf --to llava.jsonl
      stressreel ask out/perturbed --setting clean --setting "jpeg-*" --transformers ./model --to jpeg.jsonl
      stressreel ask tvqa.jsonl --videos clips --modalities video,text,both --transformers ./model --to answers
    """  # noqa: D301
    from ..asking.questions import MODALITIES, chosen_modalities
    from ..asking.run import calls_of
    from ..errors import UsageError

    remote = _check(options)
    chosen_by = {name: options[name] for name in ("configs", "split", "settings", "limit")}
    asked = read_questions(out, **chosen_by)
    for remark in asked.remarks:
        click.echo(f"note: {remark}", err=True)
    chosen = chosen_modalities(options["modalities"], asked.questions)
    how = _how(options)
    calls = calls_of(asked.questions, chosen)
    clips = find_clips(asked, options["videos"]) if any("video" in MODALITIES[name] for name in chosen) else None
    if options["dry_run"]:
        click.echo(_plan(calls, clips, how, options["prices"]))
        return
    if to is None:
        raise UsageError("--to is missing: the file for the predictions; with several --modalities a folder.")
    check_target(to, asked)
    files = {name: to / f"{SHOWN.get(name, name)}.jsonl" for name in chosen} if len(chosen) > 1 else {chosen[0]: to}
    if len(chosen) == 1 and to.suffix.lower() != ".jsonl":
        raise UsageError(
            f"--to {to}: a file that ends in .jsonl is written, not {to.suffix or 'one without an ending'}."
        )
    journal = to / "answers.journal" if len(chosen) > 1 else to.with_suffix(".journal")
    written = (*files.values(), journal, journal.with_suffix(".json"))
    if out.is_file() and any(file.resolve() == out.resolve() for file in written):
        raise UsageError(f"--to {to} would write over {out}, which holds the questions. Give another --to.")
    foreign = next((file for file in written if file.exists() and not journal.exists()), None)
    if foreign is not None:
        raise UsageError(f"{foreign} is there already, without the journal of this command. Give another --to.")
    model = _remote(options) if remote else _local(options)
    _run(asked, calls, model, clips, how, journal, files, options)


def _check(options: dict[str, Any]) -> bool:
    """Return whether a remote model is asked.

    Raises:
        UsageError: Options do not go together.
    """
    from ..errors import UsageError

    remote = options["endpoint"] is not None
    if remote == (options["transformers"] is not None) and not options["dry_run"]:
        raise UsageError("give either --endpoint URL --model NAME, or --transformers NAME_OR_DIR.")
    if remote != (options["model"] is not None):
        raise UsageError("--endpoint and --model go together: where the model is, and its name there.")
    if not remote and options["send"] == "video":
        raise UsageError("--send video goes with --endpoint. A model that runs here is shown frames.")
    return remote


def _how(options: dict[str, Any]) -> How:
    from ..asking.clips import Sampling
    from ..asking.run import How

    sampling = Sampling(options["frames"], options["size"], options["quality"])
    return How(sampling, options["send"] == "video", options["max_tokens"])


def _remote(options: dict[str, Any]) -> Model:
    from ..asking.endpoint import Endpoint, parsed_request

    names = ("model", "seed", "at_once", "per_minute", "retries", "timeout", "key_variable")
    request = parsed_request(options["request_json"]) if options["request_json"] else {}
    return Endpoint(options["endpoint"], request=request, **{name: options[name] for name in names})


def _local(options: dict[str, Any]) -> Model:
    from ..asking.local import LocalModel

    return LocalModel(options["transformers"], options["revision"], options["device"], options["dtype"])


def _plan(calls: list[Call], clips: Clips | None, how: How, prices: tuple[float, float] | None) -> str:
    """Describe what would be asked: requests, pictures and about how many tokens; nothing is sent."""
    from ..asking.run import by_clip
    from ..errors import VideoError

    text = sum(len(call.text) for call in calls) // CHARACTERS_PER_TOKEN
    shown = [call for call in calls if call.clip is not None]
    lines = [f"{len(calls):,} requests, {len({call.clip for call in shown}):,} clips"]
    seen = 0
    if shown and clips is not None and how.whole:
        lines.append(f"{len(shown):,} videos sent whole; how many tokens they are depends on the model")
    elif shown and clips is not None:
        first = next(clip for clip, _ in by_clip(shown) if clip is not None)
        try:
            view = clips.view(first, how.sampling, whole=False)
            seen = view.tokens * len(shown)
            size = f", those of the first clip {view.pictures[0].shape[1]} x {view.pictures[0].shape[0]} pixels"
        except VideoError as error:
            size = f"; the first clip cannot be decoded: {error}"
        lines.append(f"{how.sampling.frames * len(shown):,} pictures{size}")
    longest = sum(how.max_tokens or call.question.most_tokens for call in calls)
    lines.append(
        f"about {text:,} tokens of text (4 characters each) and {seen:,} of pictures (28 x 28 pixels each, if all are "
        f"as large); answers of {longest:,} tokens at most"
    )
    if prices:
        cost = ((text + seen) * prices[0] + longest * prices[1]) / 1e6
        lines.append(f"at most about {cost:,.2f} at the given prices")
    return "\n".join(lines)


def _run(
    asked: Asked,
    calls: list[Call],
    model: Model,
    clips: Clips | None,
    how: How,
    journal_path: Path,
    files: dict[str, Path],
    options: dict[str, Any],
) -> None:
    from ..asking.journal import Journal
    from ..asking.run import Usage, ask, write_predictions
    from ..errors import BuildError
    from ..progress import Progress
    from ..records.files import write_json

    about = {**asked.identity, **model.about, **how.as_json()}
    journal = Journal(journal_path, about, fresh=options["fresh"])
    with journal, Progress("asking", len(calls), "question", shown=options["progress"]) as progress:
        failures = ask(calls, model, clips, how, journal, progress=progress.advance)
        replies = {call.key: journal.replies[call.key] for call in calls if call.key in journal.replies}
        usage = Usage.of(list(replies.values()))
        if failures and not (options["partial"] and replies):
            reasons = "; ".join(f"{each.key}: {each.reason}" for each in failures[:FAILED_SHOWN])
            raise BuildError(
                f"{len(failures):,} of {len(calls):,} requests got no answer ({reasons}). The other answers are kept "
                f"in {journal_path}: run the same command again to ask these, or with --partial to write what there is."
            )
        for name, file in files.items():
            write_predictions(file, [call for call in calls if call.modalities == name], journal, asked.fingerprint)
        cost = usage.cost(options["prices"])
        record = {
            **about,
            "modalities": list(files),
            "asked": len(asked.questions),
            "requests": {"answered": usage.answers, "failed": len(failures), "cut": usage.cut},
            "tokens": {"sent": usage.input_tokens, "answered": usage.output_tokens, "uncounted": usage.uncounted},
            "models": list(usage.models),
            **({"prices": list(options["prices"]), "cost": cost} if cost is not None else {}),
        }
        write_json(journal_path.with_suffix(".json"), record)
    unread = _unreadable(calls, journal)
    click.echo(
        f"{usage.answers:,} answers, {unread:,} of them unreadable, {usage.cut:,} cut short; {usage.input_tokens:,} "
        f"tokens sent, {usage.output_tokens:,} answered" + (f", cost {cost:,.4f}" if cost is not None else "")
    )
    if failures:
        click.echo(f"{len(failures):,} requests got no answer; their questions are left out (score --partial).")
    click.echo("\n" + "\n".join(_commands(asked, files, partial=bool(failures) or asked.part)))


def _unreadable(calls: list[Call], journal: Journal) -> int:
    """Count the answers that choose none of the options."""
    from ..metrics.answers import read_answer

    replies = ((call.question, journal.replies.get(call.key)) for call in calls)
    return sum(
        reply is not None
        and (read_answer(reply.text, question.options) is None if question.options else not reply.text.strip())
        for question, reply in replies
    )


def _commands(asked: Asked, files: dict[str, Path], *, partial: bool) -> list[str]:
    """Return the commands that score the predictions."""
    out = shlex.quote(str(asked.path))
    if files.keys() >= SHOWN.keys() and not partial:
        given = " ".join(f"{shown}={shlex.quote(str(files[name]))}" for name, shown in SHOWN.items())
        return [f"stressreel score modalities {out} {given}"]
    flags = " --partial" * partial
    found = []
    for file in files.values():
        for each in asked.tables:
            kind = "score open-ended" if each.written else "score"
            config = f" --config {each.config}" if each.config and not each.written else ""
            given = f"--predictions {shlex.quote(str(file))}{config}"
            found.append(f"stressreel {kind} {out} {given} --split {each.split}{flags}")
    return found
