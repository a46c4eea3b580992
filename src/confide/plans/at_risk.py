"""Who is at risk, by group and stratum: persons, person-time, or a public population."""

from dataclasses import dataclass

from confide.errors import ContractError
from confide.plans.person_time import Per, step_of
from confide.plans.public_numbers import PublicNumber, in_order
from confide.tables.aggregates.cells import cell_keys
from confide.tables.conditions.known import where_told
from confide.tables.expression import Expression, Holds
from confide.tables.filter import All, Between, Predicate
from confide.tables.relation import Relation, axes_of, centre, domain, resolve
from confide.tables.schema import Dataset, Domain

Keys = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtRisk:
    """The denominator of a standardised rate.

    Attributes:
        id: Of the statistic, for errors.
        table: Whose rows.
        by: Groups.
        strata: What is adjusted for.
        time: Column or per-patient value: the time at risk of a row; "" counts persons.
        population: Public number at risk by group and stratum; none: from the rows.
        per: What rates are reported per.
    """

    id: str
    table: str
    by: tuple[str, ...]
    strata: tuple[str, ...]
    time: str
    population: tuple[PublicNumber, ...]
    per: Per

    def check(self) -> None:
        """Refuse two denominators.

        Raises:
            ContractError: If time and population are both named.
        """
        if self.time and self.population:
            raise ContractError(
                f"{self.id!r} names both a time at risk and a public population.",
                hint="Keep one of `time` and `population`.",
            )

    @property
    def of_persons(self) -> bool:
        """Whether persons in the rows are counted, each with at most one event."""
        return not self.time and not self.population

    def unit(self, dataset: Dataset) -> str:
        """Return the unit of the published rate."""
        once = bool(self.population) or dataset.table(self.table).one_row_per_patient
        return self.per.unit if self.time else self.per.counted(once=once)

    def groups(self, dataset: Dataset) -> tuple[Expression, ...]:
        """Return the axes of the groups."""
        return axes_of(self.by, table=self.table, dataset=dataset)

    def cells(self, dataset: Dataset) -> tuple[Expression, ...]:
        """Return the axes of groups and strata."""
        return axes_of((*self.by, *self.strata), table=self.table, dataset=dataset)

    def times(self, dataset: Dataset) -> Expression:
        """Return the time at risk of a row."""
        return resolve(self.time, table=self.table, dataset=dataset)

    def group_keys(self, dataset: Dataset) -> Keys:
        """Return the labels of every group."""
        return cell_keys(self.groups(dataset), dataset=dataset)

    def by_stratum(
        self, numbers: tuple[PublicNumber, ...], *, name: str, dataset: Dataset
    ) -> tuple[float, ...]:
        """Return public numbers in the order of the strata."""
        keys = cell_keys(axes_of(self.strata, table=self.table, dataset=dataset), dataset=dataset)
        return in_order(numbers, keys=keys, name=f"The {name} of {self.id!r}")

    def public(self, dataset: Dataset) -> tuple[float, ...]:
        """Return the public population by group and stratum."""
        keys = cell_keys(self.cells(dataset), dataset=dataset)
        return in_order(self.population, keys=keys, name=f"The population of {self.id!r}")

    def step(self, dataset: Dataset) -> float:
        """Return what one step of the base is worth: a person, or a grid step of time."""
        if not self.time:
            return 1.0
        return step_of(self.domain_of_time(dataset), per=self.per, name=self.time)

    def domain_of_time(self, dataset: Dataset) -> Domain:
        """Return the bounds of the time of a row."""
        return domain(self.times(dataset), dataset=dataset)

    def full(self, dataset: Dataset) -> float:
        """Return the most that one row is at risk, in the unit of the base."""
        return self.domain_of_time(dataset).upper * self.step(dataset) if self.time else 1.0

    def middle(self, dataset: Dataset) -> float:
        """Return the public centre of a row's time, in the unit of the base; 1 for a person."""
        if not self.time:
            return 1.0
        return centre(self.domain_of_time(dataset))[0] * self.step(dataset)

    def events(
        self, of: Predicate, *, where: Predicate, by: tuple[Expression, ...], dataset: Dataset
    ) -> tuple[Relation, tuple[Expression, ...]]:
        """Return the rows at risk, and the axes that count those in which ``of`` holds.

        Under a public population these are rows of events alone.
        """
        if self.population:
            self.public(dataset)
            known = self._known(where, dataset)
            return Relation(table=self.table, where=All(of=(known.where, of))), by
        told = where_told(where, of=of, table=self.table, dataset=dataset)
        return self._known(told, dataset), (*by, Holds(of=of))

    def _known(self, where: Predicate, dataset: Dataset) -> Relation:
        """Return the rows whose strata and time are known."""
        read = (
            *axes_of(self.strata, table=self.table, dataset=dataset),
            *([self.times(dataset)] if self.time else []),
        )
        parts = (where, *(Between(of=each) for each in read))
        return Relation(table=self.table, where=All(of=parts))
