"""List the commands of `stressreel` by task, and adapt their arguments to the API functions."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import click

from ..core.errors import UsageError
from .functions import Command, function_command
from .terminal import CONTEXT


def modality_files(values: dict[str, Any]) -> dict[str, Any]:
    """Parse arguments such as `video+text=both.jsonl` into predictions files by modalities."""
    predictions: dict[str, str] = {}
    for text in values.pop("given"):
        names, equals, file = text.partition("=")
        if not equals:
            raise UsageError(f"{text!r} is not in the form MODALITIES=FILE, such as video+text=both.jsonl.")
        if names in predictions:
            raise UsageError(f"{names} is given twice.")
        predictions[names] = file
    return {**values, "predictions": predictions}


def default_out(values: dict[str, Any]) -> dict[str, Any]:
    """Set the default of --out to a folder beside the predictions."""
    from ..api.score import default_folder

    given = values["predictions"] or values.get("similarity")
    if values["to"] is None and given is not None:
        without = values.get("without")
        values["to"] = default_folder(given, values["config"], values["split"], without and f"without-{without}")
    return values


def build_inputs(values: dict[str, Any]) -> dict[str, Any]:
    """Parse arguments such as `--charades DIR` into options of the build."""
    inputs: dict[str, list[str]] = {}
    name = ""
    for text in values.pop("given"):
        if text.startswith("--"):
            flag, equals, value = text.partition("=")
            name = flag.removeprefix("--").replace("-", "_")
            inputs.setdefault(name, [])
            text = value if equals else ""
        elif not name:
            raise UsageError(f"{text!r} is neither an option nor the value of an option. See stressreel verify --help.")
        if text:
            inputs[name].append(text)
    for name, given in inputs.items():
        if not given:
            raise UsageError(
                f"--{name.replace('_', '-')} is not an option of verify; if it is an option of the build, it needs a "
                "value. See stressreel verify --help."
            )
    return {**values, "inputs": {name: given[0] if len(given) == 1 else given for name, given in inputs.items()}}


HARNESSES = {
    "inspect": "inspect-ai, with samples as JSON lines and Python code that runs them",
    "lmms-eval": "lmms-eval, with YAML files and Python code that loads videos and parses answers",
    "vlmevalkit": "VLMEvalKit, with a TSV file for each task and a script that registers them",
}


def harness_command(harness: str, what: str) -> Command:
    """Return the command that exports tasks for an evaluation harness."""
    text = f"Export `out` as tasks for {what}.\n\nScore the logs with `stressreel score OUT --predictions LOGS`."
    return Command(function="export_tasks", fixed={"harness": harness}, help=text)


TASKS: dict[str, dict[str, Command]] = {
    "Build": {
        "build": Command("Build a benchmark: `stressreel build NAME`, the same as `build-NAME`."),
        "list": Command(
            "List benchmarks, perturbations, build options, or what an output lacks.",
            function="list_",
            formats=("json",),
            examples="""
            stressreel list visual
            stressreel list left-out out/clavi
            """,
        ),
        "sample": Command("Write a sample dataset, with annotations in the original format and animated videos."),
        "mine": Command("Find distractors for your own questions, using sentence embeddings."),
        "data": Command(
            "Show or download the language data that text perturbations use.",
            help="Show the parser, WordNet and models that text perturbations use, or download WordNet.",
            subcommands={"show": Command(), "download": Command()},
        ),
    },
    "Inspect": {
        "verify": Command(
            "Check the schema, counts, hashes, answers, frames and card of an output.",
            formats=("json",),
            given="[--BUILD-OPTION VALUE]...",
            loose=True,
            adapt=build_inputs,
            examples="""
            stressreel verify out/clavi
            stressreel verify out/clavi --sources ~/Charades --sample all
            stressreel verify out/clavi --charades ~/annotations --videos ~/Charades_v1_480
            stressreel verify out/clavi --signed-by key.pub
            """,
        ),
        "gallery": Command("Show an output as a gallery of web pages."),
        "diff": Command("Compare the settings, tables, rows and videos of two outputs.", formats=("json",)),
        "card": Command("Rewrite the dataset card of an output."),
        "decompose": Command(
            "Decompose a compositional question into sub-questions.",
            formats=("json", "dot"),
            examples="""
            stressreel decompose "Exists(phone, Iterate(Localize(after, opening a door), Filter(frame, [objects])))"
            """,
        ),
    },
    "Evaluate": {
        "ask": Command(
            "Ask a model the questions of an output, at an endpoint or with transformers.",
            examples="""
        stressreel ask out/clavi --endpoint http://localhost:8000/v1 --model Qwen/Qwen2-VL-7B-Instruct --to qwen.jsonl
        stressreel ask out/clavi --transformers llava-hf/llava-onevision-qwen2-0.5b-ov-hf --to llava.jsonl
        stressreel ask out/perturbed --setting clean --setting "jpeg-*" --transformers ./model --to jpeg.jsonl
        stressreel ask tvqa.jsonl --videos clips --modalities video,text,both --transformers ./model --to answers
            """,
        ),
        "score": Command(
            "Score predictions on an output.",
            help="Score predictions on an output: `stressreel score OUT --predictions FILE`.\n\n"
            "`stressreel score answers --help` lists the options.",
            subcommands={
                "answers": Command(
                    function="score",
                    formats=("json",),
                    flags=("predictions",),
                    names={"to": "out"},
                    adapt=default_out,
                ),
                "explain": Command(function="explain", formats=("json",), flags=("predictions",)),
                "modalities": Command(
                    formats=("json",),
                    given="MODALITIES=FILE...",
                    adapt=modality_files,
                    examples="stressreel score modalities out/clavi video=v.jsonl text=t.jsonl video+text=both.jsonl",
                ),
                "open-ended": Command(
                    formats=("json",), flags=("predictions",), names={"to": "out"}, adapt=default_out
                ),
                "permuted": Command(formats=("json",)),
                "text-shift": Command(formats=("json",)),
            },
        ),
        "compare": Command(
            "Compare the scores of two models, with confidence intervals of the differences.", formats=("json",)
        ),
        "table": Command(
            "Tabulate the scores of several models and runs.",
            formats=("markdown", "json"),
            examples="""
            stressreel table JustAsk=j1.scores JustAsk=j2.scores FrozenBiLM=f1.scores
            stressreel table a.scores b.scores --of families --only R@5 --only γr --only text --transpose
            """,
            given="[MODEL=]SCORES...",
            adapt=lambda values: values | {"models": values.pop("given")},
        ),
        "audit": Command(
            "Measure how many questions can be answered without the video.",
            formats=("json",),
            examples="""
            stressreel audit out/causal --to audit
            stressreel audit --items A_test.csv --train A_train.csv --columns source=vid
            """,
        ),
        "probe": Command(
            "Impair a model's fusion of modalities (QUAG), and show how its scores change.",
            formats=("json",),
            examples="stressreel probe out/clavi --transformers llava-hf/llava-onevision-qwen2-0.5b-ov-hf --to probe",
        ),
        "permute": Command("Pair each question with the video or the text of another question."),
        "simulate-quag": Command(
            "Reproduce QUAG's simulation study on synthetic data.",
            examples="stressreel simulate-quag --alphas 0.1,0.3 --steps 300 --out simulation.png",
        ),
    },
    "Share": {
        "push": Command("Push an output to the Hugging Face Hub, and verify it before and after."),
        "export": Command(
            "Export an output for an evaluation harness, or as files or tar shards.",
            help="Export an output as tasks for an evaluation harness, as files or tar shards, or in the layout of the "
            "published dataset.",
            subcommands={
                "files": Command(),
                **{harness: harness_command(harness, text) for harness, text in HARNESSES.items()},
                "released": Command(),
                "webdataset": Command(),
            },
        ),
        "withhold": Command(
            "Write a public copy of an output without answers, and a private one for scoring.",
            examples="stressreel withhold out/clavi --to out/leaderboard --contact leaderboard@example.org",
        ),
        "sign": Command(
            "Sign an output, so that others can verify its origin and integrity.",
            examples="stressreel sign out/clavi --key key.pem",
        ),
    },
}
"""The commands by task, with the most common ones first."""

COMMANDS = {name: command for commands in TASKS.values() for name, command in commands.items()}


def load_command(name: str) -> click.Command:
    """Return the click command with this name, such as "score" or "build-clavi"."""
    from . import build

    if name.startswith("build-"):
        return build.build_command(name.removeprefix("build-"), name)
    if name == "build":
        return build.command
    if name == "mine":
        return build.mine_command()
    if COMMANDS[name].subcommands:
        return Subcommands(name, help=COMMANDS[name].help, context_settings=CONTEXT)
    return function_command(name, COMMANDS[name])


class Subcommands(click.Group):
    """Click group in which `stressreel score OUT …` is short for `stressreel score answers OUT …`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all subcommands."""
        return list(COMMANDS[str(self.name)].subcommands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a subcommand, or None if it is unknown."""
        found = COMMANDS[str(self.name)].subcommands.get(cmd_name)
        return function_command(f"{self.name} {cmd_name}", found) if found else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert `answers` before the arguments unless they start with a subcommand."""
        known = self.list_commands(ctx)
        if "answers" in known and args and args[0] not in (*known, *ctx.help_option_names):
            args = ["answers", *args]
        return super().parse_args(ctx, args)


class Stressreel(click.Group):
    """Click group of all commands, which are imported only when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, ordered by task."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if it is unknown."""
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Look up a command, or suggest the most similar name if it is unknown."""
        if args and args[0] not in COMMANDS:
            raise click.UsageError(f"unknown command {args[0]!r}. {_closest_command(args[0])}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, grouped by task, without importing them."""
        width = max(map(len, COMMANDS))
        for task, commands in TASKS.items():
            with formatter.section(task):
                formatter.write_dl([(f"{name:{width}}", command.summary) for name, command in commands.items()])


def _closest_command(name: str) -> str:
    from ..builders import benchmark_names

    _, build, benchmark = name.partition("build-")
    benchmarks = {known: f"build {known}" for known in benchmark_names()}
    near: Sequence[str] = difflib.get_close_matches(benchmark if build else name, [*benchmarks, *COMMANDS], 1)
    return f"Did you mean `stressreel {benchmarks.get(near[0], near[0])}`?" if near else "`stressreel -h` lists them."
