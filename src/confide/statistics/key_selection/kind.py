"""What reports say of keys that are selected."""

from collections.abc import Sequence

from confide.drawing.asking import Asking, unit_axis
from confide.drawing.cells import Cell, key_text
from confide.drawing.headlines import number, usable
from confide.drawing.words import Words
from confide.statistics.key_selection.section import KeySelectionSection
from confide.statistics.key_selection.spec import KeySelection
from confide.statistics.kind import Kind


def _title(statistic: KeySelection, asking: Asking) -> str:
    return asking.words.say("title.key-selection", key=asking.words.named(statistic.key))


def _groups(statistic: KeySelection, asking: Asking) -> tuple[str, ...]:
    return (asking.words.named(statistic.key),)


def _headline(cells: Sequence[Cell], words: Words) -> str:
    """Return how many keys were selected, and the first."""
    known = usable(cells)
    sound = [cell for cell in known if not cell.flags]
    if not sound:
        return words.say_count("headline.keys-near", len(known))
    first, key = number(sound[0], 0, words=words), key_text(sound[0], words=words)
    return words.say_count("headline.keys", len(known), key=key, **first)


KIND = Kind(
    name="key-selection",
    spec=KeySelection,
    section=KeySelectionSection,
    bias="upwards near the threshold: counts that pass by luck are over-represented",
    title=_title,
    groups=_groups,
    axis=unit_axis,
    headline=_headline,
    nothing="headline.no-keys",
    figure="confide.statistics.key_selection.figure:draw",
    audit="confide.statistics.key_selection.audit:AUDITED",
)
