from stressreel.annotations.captions import CaptionedClip
from stressreel.builders.perturbed.prepare import plan_perturbed
from stressreel.builders.perturbed.settings import PerturbedSettings


def clip(name, source, start, end):
    return CaptionedClip(name, source, start, end, ("a man runs",), "train")


def test_cut_clips_that_take_long_are_begun_first():
    """Costs come from the annotations and the table of measured factors alone, the same on every machine."""
    clips = [clip("a_0", "a", 0.0, 10.0), clip("a_1", "a", 20.0, 25.0), clip("b_0", "b", 5.0, 95.0)]
    settings = PerturbedSettings(perturbations=("gaussian_noise", "freeze"))
    costs = {unit.id: unit.cost for unit in plan_perturbed(clips, settings).units}
    assert sorted(costs, key=lambda name: -costs[name]) == [
        "b.gaussian_noise", "a.gaussian_noise", "b.freeze", "b.clean", "a.freeze", "a.clean"
    ]  # fmt: skip
    assert costs["b.freeze"] == 6 * costs["a.freeze"] > 0
    assert [unit.cost for unit in plan_perturbed([clip("a", "a", None, None)], settings).units] == [0.0]
