"""Sentences on areas: which levels a spine has, and where it is from."""

from confide.drawing.asking import Asking
from confide.drawing.conditions import label
from confide.drawing.numbers import clean


def spine_text(name: str, asking: Asking) -> str:
    """Return which levels a spine has, and its stated source."""
    words, spine = asking.words, asking.dataset.spine(name)
    return words.say(
        "bounded.spine",
        levels=words.listed([label(level) for level in spine.levels]),
        source=clean(spine.because, most=200) or words.say("bounded.no-source"),
    )
