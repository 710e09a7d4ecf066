"""The card of an output, written as a build writes it, or rendered for another `build.json`."""

from pathlib import Path
from typing import Any

from jinja2 import UndefinedError
from stressreel.builders import benchmark_of
from stressreel.builders.parts import card_of
from stressreel.core.output import FinishedOutput
from stressreel.data_cards import card as cards


def render_card(out: Path, info: dict[str, Any]) -> str:
    """Render the card that an output would have with this `build.json`."""
    output = FinishedOutput(out, info)
    benchmark = benchmark_of(output)
    return cards.render_card(output, benchmark.declared(info), card_of(benchmark))


def fields_not_needed(output: FinishedOutput) -> list[str]:
    """Name what the template of a benchmark's card is given and can do without."""
    card = card_of(benchmark_of(output))
    assert card.template is not None
    template = cards.environment(card.template.parent).get_template(card.template.name)
    own = {"head": "", "info": output.info, **card.context(output, card.measure(output))}
    fields = {"title": "", "own_text": "", **cards.shared_fields(output, [], card), **own}
    template.render(fields)
    idle = []
    for name in own:
        try:
            template.render({key: value for key, value in fields.items() if key != name})
        except UndefinedError:
            continue
        idle.append(name)
    return idle
