"""The card of an output, written as a build writes it, or rendered for another `build.json`."""

import re
from pathlib import Path
from typing import Any

from jinja2 import UndefinedError
from stressreel.builders import benchmark_of
from stressreel.builders.parts import card_of
from stressreel.core.output import FinishedOutput
from stressreel.data_cards import card as cards

FIRST = ("Licence", "Loading", "Scoring", "Tables", "Blind baselines", "Columns")
LAST = ("Provenance", "Citation")


def check_layout(text: str) -> None:
    """Check that a card states the licence at once, and what a user needs first above the columns, in brief."""
    body = text.split("\n---\n", 1)[1]
    headings = re.findall(r"^## (.+)$", re.sub(r"^```.*?^```$", "", body, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    above = headings[: headings.index("Columns") + 1]
    assert tuple(above) in (FIRST, tuple(name for name in FIRST if name != "Blind baselines"))
    assert tuple(headings[-len(LAST) :]) == LAST
    assert len(set(headings)) == len(headings)
    assert len(body.split("\n## Columns\n")[0].split()) <= 1_500
    stated = re.search(r"\*\*(Licence: \S|Unknown licence)", body)
    assert stated
    assert len(body[: stated.end()].split()) <= 300


def render_card(out: Path, info: dict[str, Any]) -> str:
    """Render the card that an output would have with this `build.json`."""
    output = FinishedOutput(out, info)
    benchmark = benchmark_of(output)
    return cards.render_card(output, benchmark.declared(info), card_of(benchmark))


def fields_not_needed(output: FinishedOutput) -> list[str]:
    """Name what the template of a benchmark's card is given and can do without."""
    card = card_of(benchmark_of(output))
    own = {"head": "", "info": output.info, **card.fields(output)}
    fields = {"title": "", "own_text": "", **cards.shared_fields(output, [], card), **own}
    card.template.render(fields)
    idle = []
    for name in own:
        try:
            card.template.render({key: value for key, value in fields.items() if key != name})
        except UndefinedError:
            continue
        idle.append(name)
    return idle
