import io

import pytest
from file_forgeries import chunk, painted
from PIL import Image, ImageFilter, PngImagePlugin
from stressreel.data_cards.card_checks import figure_difference
from stressreel.data_cards.figures import draw_png


def drawn(words=""):
    def draw(figure):
        axes = figure.subplots()
        axes.barh(range(4), [4, 3, 2, 1])
        axes.set_yticks(range(4), ["open a door", "close a book", "wash a cup", "turn a page"])
        axes.text(3, 2.5, words)

    return draw_png(draw, 2.5)


def saved(picture, software="Matplotlib 0.1"):
    target, text = io.BytesIO(), PngImagePlugin.PngInfo()
    text.add_text("Software", software)
    picture.save(target, "png", dpi=(120, 120), pnginfo=text)
    return target.getvalue()


FIGURE = drawn()  # painted, as tests are only collected yet
PICTURE = Image.open(io.BytesIO(FIGURE))


def test_softer_rendering_is_another_version():
    assert figure_difference(saved(PICTURE.convert("RGBA")), FIGURE) == ""
    softer = PICTURE.convert("RGBA").filter(ImageFilter.GaussianBlur(0.25))
    assert figure_difference(saved(softer), FIGURE) is None
    assert figure_difference(saved(softer, PICTURE.info["Software"]), FIGURE)


@pytest.mark.parametrize(
    "content",
    [
        *(painted(shade)(FIGURE) for shade in (0, 235)),
        *(painted(shade, "Matplotlib 0.1")(FIGURE) for shade in (0, 120, 200, 235)),
        FIGURE + b"more",
        *(FIGURE[:33] + chunk(name, bytes(8)) + FIGURE[33:] for name in (b"tEXt", b"acTL", b"eXIf")),
        saved(PICTURE.convert("RGB").filter(ImageFilter.MinFilter(5)).convert("RGBA")),  # more ink
        *(FIGURE[:-12], FIGURE[:100], b"", drawn("Bananas sing")),
    ],
)
def test_other_content_differs(content):
    assert figure_difference(content, FIGURE)
