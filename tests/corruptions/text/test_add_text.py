import numpy as np
from stressreel.corruptions.text.add_text import append_irr, insert_adv
from stressreel.corruptions.text.lexical import read_table
from stressreel.language.parse import parse

TABLE = read_table("add_text")
OPENINGS, PROVERBS = TABLE["openings"]["rows"], TABLE["proverbs"]["rows"]


def test_ten_tokens_get_a_proverb() -> None:
    long = "one two three four five six seven eight nine ten"
    short = long.removesuffix(" ten")
    rng = np.random.default_rng(0)
    openings, proverbs, adverbs = set(), set(), set()
    caption = parse("a girl does gymnastics with her friends in the big room today")
    for _ in range(1500):
        assert str(append_irr(parse(short), rng)).removesuffix(f", {short}") in OPENINGS
        opening, _, proverb = str(append_irr(parse(long), rng)).partition(f", {long}. ")
        openings.add(opening)
        proverbs.add(proverb.removesuffix("."))
        adverbs.add(str(insert_adv(caption, rng)).split()[2])
    assert (openings, proverbs) == (set(OPENINGS), set(PROVERBS))
    assert adverbs == {*TABLE["general"]["rows"], *TABLE["action"]["rows"]}
