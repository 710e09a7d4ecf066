"""The commands of `stressreel` that are functions of the API, and what the command line adds to each."""

from __future__ import annotations

from typing import Any

import click

from ..core.errors import UsageError
from .functions import Command, function_command
from .terminal import CONTEXT


def pairs(values: dict[str, Any]) -> dict[str, Any]:
    """Read words such as `video+text=both.jsonl` as the predictions of each subset of modalities."""
    predictions: dict[str, str] = {}
    for text in values.pop("given"):
        names, equals, file = text.partition("=")
        if not equals:
            raise UsageError(f"{text!r} is not MODALITIES=FILE, such as video+text=both.jsonl.")
        if names in predictions:
            raise UsageError(f"{names} is given twice.")
        predictions[names] = file
    return {**values, "predictions": predictions}


def beside(values: dict[str, Any]) -> dict[str, Any]:
    """Choose the folder for scores: beside the predictions, if the user named none."""
    from ..api.score import default_folder

    given = values["predictions"] or values.get("similarity")
    if values["to"] is None and given is not None:
        values["to"] = default_folder(given, values["config"], values["split"])
    return values


def build_options(values: dict[str, Any]) -> dict[str, Any]:
    """Read words such as `--charades DIR` as options of the build whose output it is; of several values, all."""
    inputs: dict[str, list[str]] = {}
    name = ""
    for text in values.pop("given"):
        if text.startswith("--"):
            flag, equals, value = text.partition("=")
            name = flag.removeprefix("--").replace("-", "_")
            inputs.setdefault(name, [])
            text = value if equals else ""
        elif not name:
            raise UsageError(f"{text!r} is neither an option nor the value of one. See stressreel verify --help.")
        if text:
            inputs[name].append(text)
    for name, given in inputs.items():
        if not given:
            raise UsageError(
                f"--{name.replace('_', '-')} is no option of verify, nor one of a build with its value. See stressreel "
                "verify --help."
            )
    return {**values, "inputs": {name: given[0] if len(given) == 1 else given for name, given in inputs.items()}}


FUNCTIONS: dict[str, Command] = {
    "ask": Command(
        examples="""
        stressreel ask out/clavi --endpoint http://localhost:8000/v1 --model Qwen/Qwen2-VL-7B-Instruct --to qwen.jsonl
        stressreel ask out/clavi --transformers llava-hf/llava-onevision-qwen2-0.5b-ov-hf --to llava.jsonl
        stressreel ask out/perturbed --setting clean --setting "jpeg-*" --transformers ./model --to jpeg.jsonl
        stressreel ask tvqa.jsonl --videos clips --modalities video,text,both --transformers ./model --to answers
        """,
    ),
    "audit": Command(
        formats=("json",),
        examples="""
        stressreel audit out/causal --to audit
        stressreel audit --items A_test.csv --train A_train.csv --columns source=vid
        """,
    ),
    "card": Command(),
    "compare": Command(formats=("json",)),
    "data download": Command(),
    "data show": Command(),
    "decompose": Command(
        formats=("json", "dot"),
        examples="""
        stressreel decompose "Exists(phone, Iterate(Localize(after, opening a door), Filter(frame, [objects])))"
        """,
    ),
    "diff": Command(formats=("json",)),
    "score answers": Command(
        "score",
        formats=("json",),
        flags=("predictions",),
        names={"to": "out"},
        adapt=beside,
        other=("question", "explain"),
    ),
    "score modalities": Command(
        formats=("json",),
        given="MODALITIES=FILE...",
        adapt=pairs,
        examples="stressreel score modalities out/clavi video=v.jsonl text=t.jsonl video+text=both.jsonl",
    ),
    "score open-ended": Command(formats=("json",), flags=("predictions",), names={"to": "out"}, adapt=beside),
    "score permuted": Command(formats=("json",)),
    "score text-shift": Command(formats=("json",)),
    "export files": Command(),
    "export inspect": Command(),
    "export lmms-eval": Command(),
    "export released": Command(),
    "export webdataset": Command(),
    "gallery": Command(),
    "list": Command("list_", formats=("json",)),
    "permute": Command(),
    "push": Command(),
    "sample": Command(),
    "table": Command(
        formats=("markdown", "json"),
        examples="""
        stressreel table JustAsk=j1.scores JustAsk=j2.scores FrozenBiLM=f1.scores
        stressreel table a.scores b.scores --of families --only R@5 --only γr --only text --transpose
        """,
        given="[MODEL=]SCORES...",
        adapt=lambda values: values | {"models": values.pop("given")},
    ),
    "probe": Command(
        formats=("json",),
        examples="stressreel probe out/clavi --transformers llava-hf/llava-onevision-qwen2-0.5b-ov-hf --to probe",
    ),
    "sign": Command(examples="stressreel sign out/clavi --key key.pem"),
    "simulate-quag": Command(examples="stressreel simulate-quag --alphas 0.1,0.3 --steps 300 --out simulation.png"),
    "verify": Command(
        formats=("json",),
        given="[--BUILD-OPTION VALUE]...",
        loose=True,
        adapt=build_options,
        examples="""
        stressreel verify out/clavi
        stressreel verify out/clavi --sources ~/Charades --sample all
        stressreel verify out/clavi --charades ~/annotations --videos ~/Charades_v1_480
        stressreel verify out/clavi --signed-by key.pub
        """,
    ),
}
"""By the words of the command line, such as "score open-ended"."""

GROUPS = {
    "score": "Score predictions on an output: `stressreel score OUT --predictions FILE`.\n\n"
    "Its options are listed by `stressreel score answers --help`.",
    "data": "Show or fetch the language data that text perturbations use: NLTK's tagger and WordNet.",
    "export": "Write an output as tasks of an evaluation harness, in its authors' layout, as files, or as tar shards.",
}
"""Commands that hold others, with their help."""


class Group(click.Group):
    """A group whose commands are made when they run. `stressreel score OUT …` is `stressreel score answers OUT …`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        return [words.rpartition(" ")[2] for words in FUNCTIONS if words.rpartition(" ")[0] == self.name]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Make a command."""
        return make(f"{self.name} {cmd_name}") if f"{self.name} {cmd_name}" in FUNCTIONS else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take what is no command for the arguments of the command that the group is named for, if there is one."""
        known = self.list_commands(ctx)
        if "answers" in known and args and args[0] not in (*known, *ctx.help_option_names):
            args = ["answers", *args]
        return super().parse_args(ctx, args)


def load(name: str) -> click.Command | None:
    """Make a command of `stressreel`, or the group of that name; None if neither is here."""
    if name in GROUPS:
        return Group(name, help=GROUPS[name], context_settings=CONTEXT)
    return make(name) if name in FUNCTIONS else None


def make(words: str) -> click.Command:
    """Make a command; its words, such as "score open-ended", are a key of `FUNCTIONS`."""
    return function_command(words, FUNCTIONS[words])
