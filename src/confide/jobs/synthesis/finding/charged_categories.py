"""Categories of a text that nobody knows beforehand: keys that enough patients have.

::

    texts     of the rows that patients keep
    counts    of the distinct patients of each text that is there
    found     texts whose noisy count reaches a threshold: the part "categories" of the job
    levels    those of the largest noisy counts, at most so many, and "other" for every further text

*Lemma.*  A patient keeps at most m rows, so they have at most m texts of a column, and are counted
once for each: the counts of at most m present texts move by 1, of 2m under substitution.  That is
what :class:`~confide.noise.threshold.KeyThreshold` asks for with k = m; its proof gives (ε, δ), and
(ε²/2, δ) under zCDP, for each column.  Losses of c columns add up, so each gets a c-th of both.  ∎

*Privacy:* the texts that were found, and their noisy counts, are released; which of them are levels
follows from that.  A text that one patient alone has becomes a level with a chance of at most δ.
The order in which texts are counted is that of their letters.

*Utility:* rare texts are "other" together, so counts of the column add up to all rows.  A level
stands for about as many patients as the threshold says, or more.

References:
    [KKMN09] Korolova, Kenthapadi, Mishra, Ntoulas. Releasing search queries and clicks privately.
        WWW 2009. https://doi.org/10.1145/1526709.1526733
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.arrays import Ints
from confide.errors import ContractError
from confide.noise.entropy import Entropy
from confide.noise.threshold import KeyThreshold
from confide.tables.expression import ColumnOf, Expression, OrMissing, TextAmong

MOST_CATEGORIES = 100
"""Most categories of a column that are found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargedCategories:
    """A column of text whose categories are found.

    Attributes:
        column: Its name; until they are found every text is "other".
        most: Most categories beside it.
    """

    column: str
    most: int

    def __post_init__(self) -> None:
        if not 1 <= self.most <= MOST_CATEGORIES:
            raise ContractError(
                f"Expected 1 to {MOST_CATEGORIES} charged categories, got {self.most}."
            )

    @property
    def foreseen(self) -> tuple[str, ...]:
        """As many texts as there may be, for a forecast."""
        return tuple(f"text {place}" for place in range(1, self.most + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCategories:
    """What a selection released of a column.

    Attributes:
        texts: By noisy count, the largest first.
        patients: Noisy numbers of patients who have them.
    """

    texts: tuple[str, ...]
    patients: tuple[int, ...]

    def require_of(self, column: ChargedCategories) -> None:
        """Refuse what no selection of the column released.

        Raises:
            ValueError: If it is not of that form.
        """
        whole = all(isinstance(each, str) and each for each in self.texts)
        if not whole or len(set(self.texts)) < len(self.texts) or len(self.texts) > column.most:
            raise ValueError
        if len(self.patients) != len(self.texts):
            raise ValueError


def text_read(of: Expression) -> ColumnOf:
    """Return the text that a column reads.

    Raises:
        ContractError: If it reads none, or does not keep rows that lack it.
    """
    if not isinstance(of, OrMissing) or not isinstance(of.of, TextAmong):
        raise ContractError("Charged categories are of a text, of which missing is a level.")
    return of.of.of


def read_among(of: Expression, texts: tuple[str, ...]) -> Expression:
    """Return what a column reads, among texts that were found; raises as :func:`text_read`."""
    return OrMissing(of=TextAmong(of=text_read(of), texts=texts))


def patients_of_texts(texts: Sequence[str | None], patients: Ints) -> dict[str, int]:
    """Return how many distinct patients have each text that is there, by its letters; secret.

    Args:
        texts: Of rows; None where it is missing.
        patients: Whose; shape (rows,).

    Example:
        >>> patients_of_texts(["gout", "flu", "gout", None], np.array([7, 7, 7, 8]))
        {'flu': 1, 'gout': 1}
    """
    pairs = {(text, who) for text, who in zip(texts, patients.tolist(), strict=True) if text}
    counts = dict.fromkeys(sorted({text for text, _ in pairs}), 0)
    for text, _ in pairs:
        counts[text] += 1
    return counts


def found_categories(
    texts: Sequence[str | None],
    patients: Ints,
    *,
    selection: KeyThreshold,
    most: int,
    entropy: Entropy,
) -> FoundCategories:
    """Return the texts that enough patients have.

    Args:
        texts: Of rows; None where it is missing.
        patients: Whose; shape (rows,).
        selection: Of texts, by distinct patients.
        most: Most of them that are returned.
        entropy: Source of the coins.
    """
    counts = patients_of_texts(texts, patients)
    names, exact = list(counts), np.array(list(counts.values()), dtype=np.int64)
    chosen = selection.select(exact, entropy=entropy)
    told = [
        (int(noisy), names[place])
        for place, noisy in zip(chosen.positions.tolist(), chosen.noisy.tolist(), strict=True)
    ]
    told.sort(key=lambda each: (-each[0], each[1]))
    return FoundCategories(
        texts=tuple(text for _, text in told[:most]),
        patients=tuple(noisy for noisy, _ in told[:most]),
    )


def places_among(texts: Sequence[str | None], among: Sequence[str]) -> Ints:
    """Return the place of each text among others; behind them that of others, then of none.

    Example:
        >>> places_among(["gout", None, "flu", "Gout"], ["flu", "gout"]).tolist()
        [1, 3, 0, 2]
    """
    known: dict[str | None, int] = {text: place for place, text in enumerate(among)}
    known[None] = len(among) + 1
    return np.array([known.get(text, len(among)) for text in texts], dtype=np.int64)
