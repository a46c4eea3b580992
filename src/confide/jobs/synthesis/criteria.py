"""What a synthetic table is accepted by, agreed on before it is made.

Criteria stand in the settings of the synthesis, so they are in its plan, its approval and its
certificate; whoever checks them later cannot choose those that the table happens to meet.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import ContractError, UnknownNameError
from confide.jobs.synthesis.rules import Never, NotAfter
from confide.privacy.exact import takes_numbers

MOST_CRITERIA = 20


@takes_numbers
@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeAssociation:
    """How two columns go together is in the table as it is in the data.

    Attributes:
        columns: Two of them.
        within: Largest difference that is accepted, of correlations, or of log odds ratios.
        levels: A level of each, for the odds ratio of having both; empty for the correlation of
            levels in their order.
    """

    columns: tuple[str, str]
    within: Fraction
    levels: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.columns)) != 2:
            raise ContractError("accept: an association is of two different columns.")
        if self.within <= 0 or (not self.levels and self.within > 2):
            raise ContractError(
                f"accept: expected within > 0, and of a correlation at most 2, got {self.within}."
            )
        if len(self.levels) not in (0, 2):
            raise ContractError("accept: an odds ratio names a level of each column.")


@takes_numbers
@dataclass(frozen=True, slots=True, kw_only=True)
class GoodPrediction:
    """A regression that learned from the table ranks the patients of the data well enough.

    Attributes:
        outcome: Column that is predicted.
        level: Of it, that is told from its others.
        at_least: Least AUC that is accepted.
    """

    outcome: str
    level: int
    at_least: Fraction

    def __post_init__(self) -> None:
        if not Fraction(1, 2) <= self.at_least < 1:
            raise ContractError(f"accept: expected an AUC from 0.5 to 1, got {self.at_least}.")


@takes_numbers
@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """What a table is accepted by.

    Attributes:
        share: Of the budget, that checking them costs.
        pairs: Largest mean total-variation distance of tables of two columns; 0 for no such
            criterion.
        associations: Of two columns each.
        predictions: Of an outcome each.
        never: What is implausible in a row.
        order: Numbers or dates that are implausible in another order.
        implausible: Largest share of synthetic rows that is accepted to be so.
    """

    share: Fraction = Fraction(0)
    pairs: Fraction = Fraction(0)
    associations: tuple[AlikeAssociation, ...] = ()
    predictions: tuple[GoodPrediction, ...] = ()
    never: tuple[Never, ...] = ()
    order: tuple[NotAfter, ...] = ()
    implausible: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not 0 <= self.pairs < 1 or not 0 <= self.implausible < 1:
            raise ContractError("accept: expected shares of at least 0 and below 1.")
        many = self.measured + len(self.rules)
        if not 1 <= many <= MOST_CRITERIA:
            raise ContractError(f"accept: expected 1 to {MOST_CRITERIA} criteria, got {many}.")
        if not 0 <= self.share <= Fraction(1, 2):
            raise ContractError(f"accept: expected a share of at most 1/2, got {self.share}.")
        if bool(self.measured) != bool(self.share):
            raise ContractError(
                "accept: what is compared with the data has to have a share of the budget, and "
                "plausibility alone needs none.",
                hint="Write share: 1/10 beside pairs, associations or predictions.",
            )

    @property
    def measured(self) -> int:
        """How many are compared with the data; each gets an equal part of the share."""
        return bool(self.pairs) + len(self.associations) + len(self.predictions)

    @property
    def rules(self) -> tuple[Never | NotAfter, ...]:
        """What is implausible."""
        return (*self.never, *self.order)

    def require_known(self, columns: Sequence[str], *, found: Sequence[str] = ()) -> None:
        """Refuse a criterion of a column that is not there, or of a level that is not yet found.

        Args:
            columns: Of the table.
            found: Those whose levels are found by a first part.

        Raises:
            UnknownNameError: Naming a column that is not there.
            ContractError: If a criterion names a level of a column whose levels are unknown.
        """
        for name in self._named():
            if name not in columns:
                raise UnknownNameError("column", name, known=tuple(columns))
        for name in self._levelled():
            if name in found:
                raise ContractError(
                    f"A criterion names {name!r}, whose levels are not known yet.",
                    hint="Give it bins with the edges that the criterion needs, or declare its "
                    "categories.",
                )

    def _named(self) -> Iterator[str]:
        for association in self.associations:
            yield from association.columns
        for prediction in self.predictions:
            yield prediction.outcome
        for rule in self.rules:
            yield from rule.columns

    def _levelled(self) -> Iterator[str]:
        """Yield columns of which a criterion names a level, or an order of values."""
        for association in self.associations:
            yield from association.columns if association.levels else ()
        for prediction in self.predictions:
            yield prediction.outcome
        for rule in self.rules:
            yield from rule.columns
