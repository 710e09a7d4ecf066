"""`stressreel decompose`: one compositional question taken apart."""

from __future__ import annotations

import click


@click.command("decompose")
@click.argument("program")
@click.option("--question", help="The question's own words; by default they are made from the program.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: questions, children before parents, and edges.")
@click.option("--dot", "as_dot", is_flag=True, help="Print a graph for Graphviz.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(program: str, question: str | None, as_json: bool, as_dot: bool, debug: bool) -> None:
    """Take one question apart, whose PROGRAM is written as in AGQA 2.0, and print its graph of sub-questions.

    \b
    Example:
      stressreel decompose "Exists(phone, Iterate(Localize(after, opening a door), Filter(frame, [objects])))"
    """  # noqa: D301
    from ..programs.decomposition import decompose
    from ..programs.drawing import as_dot as dot
    from ..programs.drawing import as_json as json
    from ..programs.drawing import as_tree as tree
    from ..programs.parsing import parse_program

    if as_json and as_dot:
        raise click.UsageError("Give either --json or --dot.")
    steps = decompose(parse_program(program))
    show = json if as_json else dot if as_dot else tree
    click.echo(show(steps, question))
