import numpy as np
from stressreel.corruptions.text.add_text import append_irr, insert_adv
from stressreel.corruptions.text.lexical import read_table
from stressreel.language.parse import parse

TABLE = read_table("add_text")
OPENINGS, PROVERBS = TABLE["openings"]["rows"], TABLE["proverbs"]["rows"]


def test_a_proverb_follows_from_ten_tokens_on() -> None:
    long = "one two three four five six seven eight nine ten"
    short = long.removesuffix(" ten")
    rng = np.random.default_rng(0)
    for _ in range(30):
        assert str(append_irr(parse(short), rng)).removesuffix(f", {short}") in OPENINGS
        before, _, proverb = str(append_irr(parse(long), rng)).partition(f", {long}. ")
        assert before in OPENINGS
        assert proverb.removesuffix(".") in PROVERBS


def test_both_sample_from_all_entries() -> None:
    generator = np.random.default_rng(1)
    caption = parse("a girl does gymnastics with her friends in the big room today")
    texts = [append_irr(caption, generator) for _ in range(1500)]
    assert {str(text).split(", a girl")[0] for text in texts} == set(OPENINGS)
    assert {str(text).split("today. ")[1].removesuffix(".") for text in texts} == set(PROVERBS)
    adverbs = {str(insert_adv(caption, generator)).split()[2] for _ in range(1500)}
    assert adverbs == {*TABLE["general"]["rows"], *TABLE["action"]["rows"]}
