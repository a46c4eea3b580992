"""Associations of columns with an outcome, of which only the strongest columns are published.

How strongly a column goes with an outcome is told in one of two ways:

- about the *means*: u_j = m_j·|Σ(x_j − x̄_j)(y − ȳ)|, rounded up, n times the covariance; for
  genotypes 0/1/2 and cases 0/1 the numerator of the Cochran–Armitage trend test [Arm55];
- about the *centres* of the public bounds: u_j = m_j·|Σ(2x_j − L_j − U_j)(2y − L − U)|.

The whole numbers m_j are public and make the widths of the features as equal as 1 in 1,024, so that
each is measured in its own unit.

*Lemma* (one kept row more; R_j = U_j − L_j and R_y are the widths of the bounds).  About the
centres a factor is at most R_j or R_y, so the sum, and its absolute value, moves by at most
R_j·R_y.  About the means, with n rows before, Σ(x − x̄)(y − ȳ) moves by n/(n+1)·(a − x̄)(b − ȳ) for
the row (a, b) [Wel62], less than R_j·R_y in absolute value whatever n; rounding up m_j times it
keeps a move of at most m_j·R_j·R_y, a whole number.  A row that replaces another moves the sum
about the centres by at most 2R_j·R_y, and that about the means by no more than an added one: with
x̄ = L_j + tR_j and ȳ = L + sR_y of the n others, (a − x̄)(b − ȳ) is between −max(t(1−s), s(1−t))
and max(ts, (1−t)(1−s)) times R_j·R_y, and each of the four sums of these is one of t, s, 1−t, 1−s.
A patient with at most r rows moves either r times as far, row by row.  ∎

Where both means are at the centres, the sum about the centres is four times that about the means,
with the same sensitivity; and where one of them is, too: n(x̄ − c_j)(ȳ − c) is the difference.

*Reach* (how far a set of k candidates can rise over another, when candidate j moves by at most
D_j).  Only the candidates of one set and not of the other matter: at most s = min(k, n−k) of each.
So R_k is at most the sum of the 2s largest D_j.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006, def. 3.
        https://doi.org/10.1007/11681878_14
    [Arm55] Armitage. Tests for linear trends in proportions and frequencies. Biometrics 11, 1955.
        https://doi.org/10.2307/3001775
    [Wel62] Welford. Note on a method for calculating corrected sums of squares and products.
        Technometrics 4, 1962. https://doi.org/10.1080/00401706.1962.10490022
"""

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self, assert_never

from confide.errors import InvalidParameterError
from confide.privacy.adjacency import Adjacency
from confide.privacy.sensitivity import Sensitivity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.overflow import check_sums
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import Centred, Ones, Product, Step, Value
from confide.tables.bound_contributions import ContributionBounds, rows_per_unit
from confide.tables.expression import Expression
from confide.tables.filter import All, Between
from confide.tables.relation import Relation, centre, domain
from confide.tables.schema import Dataset

MOST_FEATURES = 1_000
_FINE = 1_024


class About(enum.Enum):
    """Where the products of features and outcome are centred."""

    MEANS = "means"
    CENTRES = "centres"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedFeatures:
    """Associations of public columns with an outcome, of which the strongest are chosen.

    Attributes:
        relation: Which rows; those in which a feature or the outcome is unknown are left out.
        features: Numbers.
        outcome: Number.
        about: Where products are centred.
        bounds: What one privacy unit keeps.
        size: How many features are chosen.
        axes: None in a release; the databases of a sensitivity search, each of which has scores.
    """

    relation: Relation
    features: tuple[Expression, ...]
    outcome: Expression
    about: About
    bounds: ContributionBounds
    size: int
    axes: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        if len(self.features) > MOST_FEATURES:
            raise InvalidParameterError(
                f"Expected at most {MOST_FEATURES} features, got {len(self.features)}.",
                hint="Screen to a public panel: features named in the literature, say.",
            )
        if len(set(self.features)) != len(self.features) or self.outcome in self.features:
            raise InvalidParameterError(
                "A feature is listed twice, or is the outcome.", hint="List each once."
            )

    @property
    def reads(self) -> tuple[Expression, ...]:
        """What must be known of a row that is kept, beside what the filter says."""
        return (*self.features, self.outcome)

    def parts(self) -> tuple[Aggregate, ...]:
        """Return the sums of :func:`scores`, all over the same complete rows."""
        outcome = Centred(of=self.outcome)
        known = All(of=(self.relation.where, *(Between(of=each) for each in self.reads)))
        values: list[Value] = [Product(of=(Centred(of=f), outcome)) for f in self.features]
        values += [Ones(), outcome, *(Centred(of=f) for f in self.features)]
        relation = Relation(table=self.relation.table, where=known)
        return tuple(
            Aggregate(relation=relation, axes=self.axes, value=value, bounds=self.bounds)
            for value in values
        )

    def combined(self, sums: Sequence[Sequence[int]], *, dataset: Dataset) -> tuple[int, ...]:
        """Return the utilities from the exact sums of the parts."""
        return scores(self, sums, dataset=dataset)

    def coordinates(self, dataset: Dataset) -> int:
        """Return the number of candidates."""
        del dataset
        return len(self.features)

    def check(self, dataset: Dataset) -> None:
        """Refuse what is undeclared or could overflow."""
        for part in self.parts():
            part.check(dataset)
        check_sums(max(moves(self, dataset=dataset)), bounds=self.bounds, dataset=dataset)

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one privacy unit moves the utilities of features, and sets of them."""
        del counted
        each = moves(self, dataset=dataset)
        where = {About.MEANS: "means", About.CENTRES: "centres of the bounds"}[self.about]
        return Sensitivity(
            l1=sum(each),
            l2_squared=sum(m * m for m in each),
            linf=max(each),
            entity=dataset.unit.entity,
            unit="1",
            because=f"a product of feature and outcome about the {where}, scaled to equal widths, "
            f"moves by at most {max(each)}; of two sets of {self.size}, one may rise and the other "
            "fall [DMNS06, def. 3].",
            reach=reach_of_features(each, size=1),
            set_reach=reach_of_features(each, size=self.size),
        )

    def step(self, dataset: Dataset) -> Step:
        """Return what one step is worth: the most that one patient's row adds is the unit."""
        return Step(size=Fraction(1, one_row(self, dataset=dataset)), units=("persons",))

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""
        return (
            f"the {self.size} of {len(self.features)} columns that go most strongly with "
            f"{say.of(self.outcome)}, in {say.rows(self.relation)}"
        )

    def beside(self, axes: tuple[Expression, ...], *, copies: int) -> Self:
        """Return the same for each combination of further axes, of which there are ``copies``."""
        del copies
        return replace(self, axes=(*axes, *self.axes))


def multipliers(ranked: RankedFeatures, *, dataset: Dataset) -> tuple[int, ...]:
    """Return m_j: whole numbers that make the features' widths equal, in lowest terms."""
    widths = [_width(feature, dataset=dataset) for feature in ranked.features]
    fine = [_FINE * max(widths) // w for w in widths]
    common = math.gcd(*fine)
    return tuple(m // common for m in fine)


def moves(ranked: RankedFeatures, *, dataset: Dataset) -> tuple[int, ...]:
    """Return how far one privacy unit moves each utility, in the order of the features."""
    match ranked.about, dataset.adjacency:
        case (About.MEANS, _) | (_, Adjacency.ADD_REMOVE):
            times = 1
        case About.CENTRES, Adjacency.SUBSTITUTE:
            times = 2
        case _:
            raise InvalidParameterError("Unknown adjacency.")
    rows = times * rows_per_unit(ranked.bounds)
    return tuple(rows * each for each in _of_one_row(ranked, dataset=dataset))


def one_row(ranked: RankedFeatures, *, dataset: Dataset) -> int:
    """Return the most that one kept row moves a utility: the unit in which leads are told."""
    return max(_of_one_row(ranked, dataset=dataset))


def scores(
    ranked: RankedFeatures, sums: Sequence[Sequence[int]], *, dataset: Dataset
) -> tuple[int, ...]:
    """Return the utilities, cell by cell, from the sums that an engine answers.

    With e = L + U − 2c, which is 0 or 1, 2x − L − U = 2(x − c) − e.

    Args:
        ranked: What is ranked.
        sums: Σ(x_j − c_j)(y − c) for each feature, n, Σ(y − c), and Σ(x_j − c_j) for each feature.
        dataset: Public facts.
    """
    scale = multipliers(ranked, dataset=dataset)
    *odd, odd_y = (_odd(e, dataset=dataset) for e in (*ranked.features, ranked.outcome))
    found: list[int] = []
    for cell in zip(*sums, strict=True):
        products, (n, total), own = cell[: len(scale)], cell[len(scale) :][:2], cell[-len(scale) :]
        each = zip(scale, odd, products, own, strict=True)
        match ranked.about:
            case About.MEANS:
                found += [-(-m * abs(n * p - x * total) // max(1, n)) for m, _, p, x in each]
            case About.CENTRES:
                found += [
                    m * abs(4 * p - 2 * odd_y * x - 2 * e * total + e * odd_y * n)
                    for m, e, p, x in each
                ]
            case _:
                assert_never(ranked.about)
    return tuple(found)


def reach_of_features(each: Sequence[int], *, size: int) -> int:
    """Return how far a set of ``size`` candidates can rise over another, from their moves.

    Example:
        >>> reach_of_features((5, 5, 5, 4), size=1), reach_of_features((5, 5, 5, 4), size=2)
        (10, 19)
    """
    swapped = min(size, len(each) - size)
    return sum(sorted(each, reverse=True)[: 2 * swapped])


def _of_one_row(ranked: RankedFeatures, *, dataset: Dataset) -> list[int]:
    outcome = _width(ranked.outcome, dataset=dataset)
    scale = multipliers(ranked, dataset=dataset)
    pairs = zip(ranked.features, scale, strict=True)
    return [m * _width(feature, dataset=dataset) * outcome for feature, m in pairs]


def _width(expression: Expression, *, dataset: Dataset) -> int:
    of = domain(expression, dataset=dataset)
    return of.upper - of.lower


def _odd(expression: Expression, *, dataset: Dataset) -> int:
    """Return L + U − 2c."""
    of = domain(expression, dataset=dataset)
    return of.lower + of.upper - 2 * centre(of)[0]
