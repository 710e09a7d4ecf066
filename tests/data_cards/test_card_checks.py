import io

import pytest
from file_forgeries import chunk, painted
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image, ImageFilter, PngImagePlugin
from stressreel.data_cards.card_checks import figure_difference
from stressreel.data_cards.figures import draw_png


def drawn(words: str = "") -> bytes:
    def draw(figure: Figure) -> None:
        axes: Axes = figure.subplots()
        axes.barh(range(4), [4, 3, 2, 1])
        axes.set_yticks(range(4), ["open a door", "close a book", "wash a cup", "turn a page"])
        axes.text(3, 2.5, words)

    return draw_png(draw, 2.5)


def picture_of(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content)).convert("RGBA")


def saved(picture: Image.Image, software: str = "Matplotlib 0.1") -> bytes:
    target, text = io.BytesIO(), PngImagePlugin.PngInfo()
    text.add_text("Software", software)
    picture.save(target, "png", dpi=(120, 120), pnginfo=text)
    return target.getvalue()


FIGURE = drawn()  # painted, as tests are only collected yet


def test_same_pixels_are_equal() -> None:
    assert figure_difference(saved(picture_of(FIGURE)), FIGURE) == ""


def test_softer_rendering_is_another_version() -> None:
    softer = picture_of(FIGURE).filter(ImageFilter.GaussianBlur(0.25))
    assert figure_difference(saved(softer), FIGURE) is None
    assert figure_difference(saved(softer, Image.open(io.BytesIO(FIGURE)).info["Software"]), FIGURE)


@pytest.mark.parametrize("shade", [0, 120, 200, 235])
def test_painted_words_differ(shade: int) -> None:
    assert figure_difference(painted(shade)(FIGURE), FIGURE)
    assert figure_difference(painted(shade, "Matplotlib 0.1")(FIGURE), FIGURE)


@pytest.mark.parametrize(
    "content",
    [
        FIGURE + b"more",
        FIGURE[:33] + chunk(b"tEXt", b"Comment\x0099%") + FIGURE[33:],
        FIGURE[:33] + chunk(b"acTL", bytes(8)) + FIGURE[33:],
        FIGURE[:33] + chunk(b"eXIf", bytes(8)) + FIGURE[33:],
        FIGURE[:-12],
        FIGURE[:100],
        b"",
        drawn("Bananas sing"),
    ],
)
def test_other_content_differs(content: bytes) -> None:
    assert figure_difference(content, FIGURE)
