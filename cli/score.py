"""`stressreel score`: numbers of predictions on an output, and of an output alone."""

from __future__ import annotations

import click

from .score_answers import command as answers
from .score_modalities import command as modalities
from .score_open_ended import command as open_ended
from .score_permuted import command as permuted
from .score_text_shift import command as text_shift


class ScoreGroup(click.Group):
    """A group whose first argument may be an output instead of a command: then it is `answers`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `stressreel score OUT …` for `stressreel score answers OUT …`."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["answers", *args]
        return super().parse_args(ctx, args)


@click.group("score", cls=ScoreGroup)
def command() -> None:
    """Score predictions on an output: `stressreel score OUT --predictions FILE`.

    Its options are listed by `stressreel score answers --help`.
    """


command.add_command(answers)
command.add_command(modalities)
command.add_command(open_ended)
command.add_command(permuted)
command.add_command(text_shift)
