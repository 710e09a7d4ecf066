"""The options about wrong options, which `mine` and `build-causal` share, and what is said of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from ..negatives.mining import MiningSettings

OPTIONS = (
    click.option("--model", help="Sentence encoder: folder or name on the hub.  [default: all-MiniLM-L6-v2]"),
    click.option(
        "--negatives",
        type=click.Choice(["hard", "random"]),
        default="hard",
        show_default=True,
        help="Hard negatives, or random ones as a baseline with the same exclusions.",
    ),
    click.option(
        "--num-options", type=int, default=5, show_default=True, help="Options of a question, the right one too."
    ),
    click.option("--top-k", type=int, default=10, show_default=True, help="Nearest questions that lend their answers."),
    click.option(
        "--alpha",
        type=float,
        default=1.0,
        show_default=True,
        help="Weight of the questions' cosine.",
    ),
    click.option("--beta", type=float, default=0.001, show_default=True, help="Factor of answers at or above --tau."),
    click.option(
        "--tau", type=float, default=0.85, show_default=True, help="Cosine from which an answer is too similar."
    ),
    click.option(
        "--same-question",
        type=float,
        default=0.9,
        show_default=True,
        help="Cosine from which two questions ask the same and lend each other nothing; above 1 is never.",
    ),
    click.option(
        "--same-text",
        type=float,
        default=0.9,
        show_default=True,
        help="Cosine from which two answers say the same and are never options together, like answers of which one has "
        "all content words of the other; above 1 only equal words count.",
    ),
    click.option(
        "--max-lend",
        type=float,
        default=1.2,
        show_default=True,
        help="An answer lends at most this many times its even share, else the rarest option gives the right one away; "
        "0 is no limit, as released.",
    ),
    click.option(
        "--ties",
        type=click.Choice(["lot", "id"]),
        default="lot",
        show_default=True,
        help="Equal candidates by a lot drawn for each pair of questions, or by id, as released.",
    ),
    click.option(
        "--pool",
        type=click.Choice(["split", "all"]),
        default="split",
        show_default=True,
        help="Take options from the question's own split, and outside of train never one that is right in train; or "
        "from all questions, as released (which leaks).",
    ),
    click.option(
        "--rank-by",
        type=click.Choice(["own", "explanation"]),
        default="own",
        show_default=True,
        help="Score answers by their own cosine, or by that of their explanations, as in the released CausalChaos.",
    ),
    click.option(
        "--keep-apart/--no-keep-apart",
        default=True,
        show_default=True,
        help="Take no option from a question of the same group, or about the same moment of the video.",
    ),
    click.option(
        "--apart-frames",
        type=click.IntRange(0),
        default=50,
        show_default=True,
        help="Two parts of an episode are the same moment if fewer frames lie between them (50 are about 2 s).",
    ),
)


def mining_options(command: Any) -> Any:
    """Add the options."""
    return reduce(lambda wrapped, option: option(wrapped), reversed(OPTIONS), command)


@dataclass(frozen=True)
class Choice:
    """What the options say.

    Attributes:
        settings: How to choose.
        model: The sentence encoder; None for the default.
        pool: Where wrong options come from.
        rank_by: What answers are scored by.
        keep_apart: Whether questions of a group or moment lend each other nothing.
        apart_frames: What counts as the same moment.
    """

    settings: MiningSettings
    model: str | None
    pool: Literal["split", "all"]
    rank_by: Literal["own", "explanation"]
    keep_apart: bool
    apart_frames: int

    def command_line(self) -> dict[str, Any]:
        """Give the options that decide the content, for `options.exact_command`."""
        used, hard = self.settings, self.settings.negatives == "hard"
        return {
            "negatives": used.negatives,
            "pool": self.pool,
            "model": "DIR" if self.model else None,
            "num-options": used.num_options,
            "top-k": used.top_k if hard else None,
            "alpha": used.alpha,
            "beta": used.beta,
            "tau": used.tau,
            "same-question": used.same_question,
            "same-text": used.same_text,
            "max-lend": used.max_lend,
            "ties": used.ties if hard else None,
            "rank-by": self.rank_by if hard else None,
            "no-keep-apart": not self.keep_apart,
            "apart-frames": self.apart_frames if self.keep_apart else None,
        }


def read_choice(given: Mapping[str, Any]) -> Choice:
    """Read the values of the options; what random negatives do not use is what it would be without the option.

    Raises:
        InputError: A number makes no sense.
    """
    from ..negatives.mining import MiningSettings

    values = dict(given)
    own = {name: values.pop(name) for name in ("model", "pool", "rank_by", "keep_apart", "apart_frames")}
    settings = MiningSettings(**values)
    if settings.negatives == "random":
        default = MiningSettings()
        settings = MiningSettings(**values | {"top_k": default.top_k, "ties": default.ties})
        own["rank_by"] = "own"
    return Choice(settings, **own)


def advice(choice: Choice) -> str:
    """Say what gives a question more wrong options, of what is not chosen yet."""
    pool = "--pool all, " if choice.pool == "split" else ""
    apart = "--no-keep-apart, " if choice.keep_apart else ""
    return f"Give more questions, {pool}a smaller --num-options, {apart}or higher --same-question and --same-text."


def bar(stack: ExitStack, what: str, wanted: bool) -> Callable[[int, int], None] | None:
    """Make a progress bar that appears with its first report."""
    if not wanted:
        return None
    from tqdm import tqdm

    bars: list[Any] = []

    def update(done: int, total: int) -> None:
        if not bars:
            bars.append(stack.enter_context(tqdm(desc=what, total=total, leave=False, disable=None)))
        bars[0].total = total
        bars[0].update(done - bars[0].n)

    return update
