"""What bounds one patient's influence, each sentence once, with all columns that it is true of.

*Privacy:* words about a plan, which is public.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from confide.drawing.markup import Html, isolated, tag
from confide.drawing.numbers import in_sentence, opening
from confide.drawing.words import Words

THIS = "\ue000"
"""Stands for the column in a sentence; no label holds it, as none keeps private characters."""

_MOST, _FIRST = 8, 3
"""Columns that a sentence names; of more the first ones and the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundSaid:
    """A sentence, and the column that it is about.

    Attributes:
        said: The sentence, with :data:`THIS` in place of the column.
        column: What the column is called; "" where it is about none.
        joint: How several columns are joined in it.
    """

    said: str
    column: str = ""
    joint: Literal["and", "or"] = "and"

    @classmethod
    def plain(cls, said: str) -> Self:
        """Return a sentence that is about no column by itself."""
        return cls(said=said)


def sentences_of(bounds: Iterable[BoundSaid], *, words: Words) -> tuple[str, ...]:
    """Return the sentences of one question."""
    return tuple(text for text, _ in _merged([tuple(bounds)], words=words))


def told_once(of: Sequence[Sequence[BoundSaid]], *, words: Words) -> Sequence[Html]:
    """Return each sentence once, as items of a list, with the questions that it is about.

    Args:
        of: What is said of each question, in their order.
        words: Language.
    """
    items = []
    for text, places in _merged(of, words=words):
        whom = words.listed([str(place) for place in places])
        every = len(places) == len(of)
        about = "" if every else words.say("bounded.of", questions=whom)
        items.append(tag("li", isolated(text), " ", tag("span", about, class_="note")))
    return items


def _merged(
    of: Sequence[Sequence[BoundSaid]], *, words: Words
) -> Iterable[tuple[str, tuple[int, ...]]]:
    """Yield each sentence with its questions; columns of which the same is true share one."""
    asked: dict[BoundSaid, dict[int, None]] = {}
    for place, bounds in enumerate(of, start=1):
        for bound in bounds:
            asked.setdefault(bound, {})[place] = None
    columns: dict[tuple[str, str, tuple[int, ...]], list[str]] = {}
    for bound, places in asked.items():
        columns.setdefault((bound.said, bound.joint, tuple(places)), []).append(bound.column)
    for (said, joint, told), names in columns.items():
        yield _filled(said, names, joint=joint, words=words), told


def _filled(said: str, names: Sequence[str], *, joint: str, words: Words) -> str:
    shown = [in_sentence(name) for name in names]
    if len(shown) > _MOST:
        few = [*shown[:_FIRST], "…", shown[-1]]
        listed = words.say(
            "bounded.many", columns=words.listed(few, joint=joint), count=f"{len(shown):,}"
        )
    else:
        listed = words.listed(shown, joint=joint)
    if said.startswith(THIS):
        listed = opening(listed)
    return said.replace(THIS, listed)


def sentences_once(of: Sequence[Sequence[str]], *, words: Words) -> Sequence[Html]:
    """Return each sentence once, as items of a list, with the questions that it is about."""
    return told_once([[BoundSaid(said=said) for said in each] for each in of], words=words)
