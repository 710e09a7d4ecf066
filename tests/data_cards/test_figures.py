import numpy as np
import pytest
from figures import keep_drawn
from stressreel.core.errors import UsageError
from stressreel.core.results import Estimate, Spread, Table
from stressreel.data_cards import figures
from stressreel.evaluation.metrics.bootstrap import tally
from stressreel.evaluation.metrics.comparison import Comparison
from stressreel.evaluation.metrics.scores import Scores

NONE = float("nan")


def scores(benchmark, headline):
    counted = tally(["s"], {"A": (np.zeros(1, np.intp), np.ones(1))})
    return Scores(benchmark, "test", {}, headline, (), counted)


def shown(axes):
    """Return the labels, the widths of the bars and the other texts of a figure."""
    labels, texts = axes.get_yticklabels(), axes.texts
    widths = [bar.get_width() for bar in axes.patches]
    return [each.get_text() for each in labels], widths, [each.get_text() for each in texts]


def intervals(axes):
    """Return the ends of the error bars, rounded."""
    bars = [bar for container in axes.containers if (bar := getattr(container, "errorbar", None))]
    segments = [segment for bar in bars for lines in bar.lines[2] for segment in lines.get_segments()]
    return [(round(float(segment[0][0]), 6), round(float(segment[1][0]), 6)) for segment in segments]


@pytest.fixture
def drawn(monkeypatch):
    return keep_drawn(monkeypatch, figures)


def test_scores_are_shares_of_their_maximum(drawn):
    headline = {
        "A BLEU-1": Estimate(0.5, 0.4, 0.6),
        "A CIDEr": Estimate(7.5, 5.0, 8.0),
        "CapsMIX": Estimate(17.0, NONE, NONE),
        "normalised mean": Estimate(NONE, NONE, NONE),
    }
    assert list(figures.score_figures(scores("open-ended", headline))) == ["scores.png"]
    axes = drawn[0].axes[0]
    labels, widths, texts = shown(axes)
    assert labels == ["A BLEU-1", "A CIDEr / 10", "CapsMIX / 34", "normalised mean"]
    assert widths == pytest.approx([0.5, 0.75, 0.5, 0])
    assert texts == ["0.500", "0.750", "0.500", "–"]
    assert intervals(axes) == [(0.4, 0.6), (0.5, 0.8), (0.5, 0.5), (0, 0)]
    figures.score_figures(scores("causal", {"A": Estimate(0.5, NONE, NONE)}))
    assert [each.axes[0].get_title("left") for each in drawn] == ["Scores, 95% intervals", "Scores"]


def test_shares_are_stacked_to_one(drawn):
    rows = (("sound", 4, 0.75, 0.25), ("–", 1, 0.0, 1.0))
    figures.shares_png(Table("by_type", "Shares", ("kind", "questions", "a", "b"), rows))
    axes = drawn[0].axes[0]
    labels, _, texts = shown(axes)
    assert (labels, [text for text in texts if text]) == (["sound (4)", "– (1)"], ["75%", "25%", "100%"])
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [(0, 0.75), (0, 0), (0.75, 0.25), (0, 1)]


def test_perplexities_mark_means_without_outliers(drawn):
    def shift(mean, inner, outliers, **more):
        return {"perplexity": {"mean": mean, "mean_without_outliers": inner, "outliers": outliers}, **more}

    shifts = {"all_male": shift(400, 200, 0.25, family="bias"), "no_verbs": shift(900, 0, 1, family="drop_text")}
    families = {"drop_text": {}, "bias": {}}
    figures.perplexity_png({"originals": shift(300, 100, 0.1), "families": families, "perturbations": shifts})
    axes = drawn[0].axes[0]
    labels, widths, texts = shown(axes)
    assert (labels, widths[:2], texts) == (["no_verbs", "all_male"], [900, 400], ["100%", "25%"])
    lines = [list(line.get_xdata()) for line in axes.lines]
    assert lines == [[200], [300, 300], [100, 100]]  # all of no_verbs is above 500: no mark


def test_models_are_grouped_bars(drawn):
    cells = {("E", "A"): Spread(0.5, 0.1, 2), ("E", "B"): Spread(1.1, NONE, 1), ("BA", "A"): None}
    cells["BA", "B"] = Spread(0.25, 0.5, 2)
    figures.models_png(Comparison("title", ("A", "B"), ("E", "BA"), cells, over_settings=False))
    axes = drawn[0].axes[0]
    assert shown(axes)[:2] == (["E", "BA"], [0.5, 0, 1.1, 0.25])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["A", "B"]
    assert intervals(axes) == [(0.4, 0.6), (0, 0), (1.1, 1.1), (-0.25, 0.75)]
    assert axes.get_xlim()[1] > 1.1
    names = tuple(map(str, range(200)))
    many = Comparison("", ("A",), names, {(name, "A"): None for name in names}, over_settings=False)
    with pytest.raises(UsageError, match="200 bars"):
        figures.models_png(many)


def test_scores_against_one_of_them(drawn):
    cells = {("clean", "A"): Spread(0.5, NONE, 1), ("clean", "B"): Spread(0.7, 0.1, 2), ("γa", "A"): None}
    cells |= {("γr", "A"): Spread(0.9, 0.2, 1), ("γr", "B"): Spread(0.8, 0.0, 2), ("γa", "B"): Spread(1.0, NONE, 1)}
    table = Comparison("title", ("A", "B"), ("clean", "γr", "γa"), cells, over_settings=False)
    figures.against_png(table, "clean")
    first, second, *_ = drawn[0].axes
    assert (first.get_xlabel(), first.get_ylabel(), second.get_ylabel()) == ("clean", "γr", "γa")
    points = [(float(dot[0].get_xdata()[0]), float(dot[0].get_ydata()[0])) for dot in first.containers]
    assert points == [(0.5, 0.9), (0.7, 0.8)]
    assert [text.get_text() for text in second.texts] == ["B"]
    with pytest.raises(UsageError, match="--against x"):
        figures.against_png(table, "x")


@pytest.mark.usefixtures("paint")
def test_long_texts_are_truncated():
    """Drawing them whole would take minutes."""

    def drawn_with(text):
        return figures.draw_png(lambda figure: figure.subplots().set_title(text), 2)

    long = "wide " * 100_000
    assert drawn_with(long) == drawn_with(figures.shorten(long))
