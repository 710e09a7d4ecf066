from stressreel.language.cast import Cast
from stressreel.language.tagger import load_tagger
from stressreel.negatives.confuser import Confuser
from stressreel.negatives.entities import entities

CAST = Cast(("Tom", "Uncle Pecos"), {"tom": "male", "uncle pecos": "male"})


def test_entities() -> None:
    caption = Confuser(load_tagger("pattern"), CAST).read(
        "Uncle Pecos and the baby duck saw tom's owner near his girlfriend."
    )
    assert [entity.key for entity in entities(caption, CAST)] == [
        ("baby duck", "uncle pecos"),
        ("tom's owner",),
        ("his girlfriend",),
    ]
