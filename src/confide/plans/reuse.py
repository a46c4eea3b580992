"""Answering a statistic from noisy numbers that were published before, at no cost.

Two ways, tried in this order:

- *summed*: the statistic is made of one vector of counts, and every earlier count whose cells add
  up to it (:mod:`confide.tables.cell_sums`; the same question is the simplest case)
  gives an independent answer; they are averaged by precision (:mod:`sums`);
- *same*: each of its questions was measured before as it stands, for whatever statistic; the answer
  with the least noise is read by the statistic itself.  A count that was
  measured once, and that nothing else adds up to, is read like this too.

*Privacy:* post-processing [DR14, prop. 2.1]: a function of published numbers and public facts, so
nothing is charged and no row is read.  Which answers are used depends on the questions and on their
noise, never on the numbers, so the choice biases none of them.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014.
        https://doi.org/10.1561/0400000042
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from confide.errors import ContractError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.mechanism import NoiseLaw
from confide.plans.estimates import Estimate, Forecast
from confide.plans.estimation.intervals import noise_component
from confide.plans.estimation.sums import NoisySum, Summable, averaged, repeated
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Measurement, Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.plans.soundness.small_cells import Answered
from confide.tables.aggregates.shapes import Measured, Sums, parts
from confide.tables.aggregates.value import reads
from confide.tables.cell_sums import CellSums, cell_sums
from confide.tables.expression import Expression
from confide.tables.schema import Dataset

_MOST_REASONS = 3
_MOMENTS = (
    "means and other moments answer the same groups, rows and bounds alone: no cells are added"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """One noisy vector that was published.

    Attributes:
        entry: Number in the ledger.
        measurement: What was measured.
        noisy: What came out.
    """

    entry: int
    measurement: Measurement
    noisy: Noisy


@dataclass(frozen=True, slots=True, kw_only=True)
class Same:
    """A statistic whose questions were all measured before.

    Attributes:
        statistic: What is asked.
        of: The earlier measurement of each question, in order.
        unread: Entries that measured one of its questions too, with no less noise.
        otherwise: Entries with sums or moments of its value in other groups, rows or bounds.
    """

    statistic: Statistic
    of: tuple[tuple[str, Earlier], ...]
    unread: tuple[int, ...] = ()
    otherwise: tuple[int, ...] = ()

    @property
    def sources(self) -> tuple[Earlier, ...]:
        """The earlier measurements."""
        return tuple(earlier for _, earlier in self.of)

    def answered(self) -> tuple[Answered, ...]:
        """Return its questions with their noisy answers."""
        return tuple(
            Answered(name=name, aggregate=earlier.measurement.aggregate, noisy=earlier.noisy)
            for name, earlier in self.of
        )

    def estimates(self, *, dataset: Dataset, simulation: Simulation) -> tuple[Estimate, ...]:
        """Return the published numbers, as the statistic makes them of any noisy answer."""
        return self.statistic.estimate(
            {name: earlier.noisy for name, earlier in self.of},
            mechanisms={name: earlier.measurement.mechanism for name, earlier in self.of},
            dataset=dataset,
            simulation=simulation,
        )

    def forecast(self, *, dataset: Dataset, level: Fraction) -> Forecast:
        """Return the error, from public facts only."""
        noise = {name: earlier.measurement.mechanism for name, earlier in self.of}
        return self.statistic.forecast(noise, dataset=dataset, level=level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """A statistic whose one vector of counts is made of sums of published cells.

    Attributes:
        statistic: What is asked.
        question: Its question.
        terms: Earlier measurements, each with the cells that add up; None: cell by cell the same.
    """

    statistic: Statistic
    question: Question
    terms: tuple[tuple[Earlier, CellSums | None], ...]

    @property
    def sources(self) -> tuple[Earlier, ...]:
        """The earlier measurements."""
        return tuple(earlier for earlier, _ in self.terms)

    def sums(self) -> tuple[NoisySum, ...]:
        """Return each count that is asked for."""
        each = [_term(*term) for term in self.terms]
        return tuple(averaged(answers) for answers in zip(*each, strict=True))

    def answered(self) -> tuple[Answered, ...]:
        """Return its question with what the sums say."""
        values = tuple(each.value for each in self.sums())
        asked = self.question
        return (Answered(name=asked.name, aggregate=asked.aggregate, noisy=values),)

    def estimates(self, *, dataset: Dataset, simulation: Simulation) -> tuple[Estimate, ...]:
        """Return the published numbers."""
        del simulation
        return _summable(self.statistic).estimate_sums(self.sums(), dataset=dataset)

    def forecast(self, *, dataset: Dataset, level: Fraction) -> Forecast:
        """Return the error, from public facts only."""
        errors = [found.error for found in self.sums()]
        return _summable(self.statistic).forecast_sums(errors, dataset=dataset, level=level)


Answer: TypeAlias = Same | Summed


def answer(statistic: Statistic, earlier: Sequence[Earlier], *, dataset: Dataset) -> Answer:
    """Return how a statistic follows from earlier answers about the same data.

    Raises:
        ContractError: If it does not; the message says why.
    """
    questions = statistic.questions(dataset)
    reasons: dict[str, None] = {}
    if isinstance(statistic, Summable) and len(questions) == 1:
        terms = tuple(_terms(questions[0], earlier, dataset=dataset, reasons=reasons))
        if len(terms) > 1 or any(sums is not None for _, sums in terms):
            return Summed(statistic=statistic, question=questions[0], terms=terms)
    found = {question.name: _least_noisy(question, earlier) for question in questions}
    missing = [name for name, each in found.items() if each is None]
    if not missing:
        return Same(
            statistic=statistic,
            of=tuple((name, each) for name, each in found.items() if each is not None),
            unread=_unread(questions, earlier, read=tuple(found.values())),
            otherwise=tuple(sorted({each.entry for each in _otherwise(questions, earlier)})),
        )
    for each in _otherwise(questions, earlier):
        name = f"{each.measurement.statistic!r} of entry {each.entry}"
        reasons[f"of {name}, {_MOMENTS}"] = None
    if len(missing) < len(questions):
        reasons = {f"measured before, but not: {', '.join(missing)}": None, **reasons}
    told = "; ".join(list(reasons)[:_MOST_REASONS]) or "nothing published measured it"
    raise ContractError(f"Statistic {statistic.id!r} is not answered by earlier releases: {told}.")


def _least_noisy(question: Question, earlier: Sequence[Earlier]) -> Earlier | None:
    same = [each for each in earlier if each.measurement.aggregate == question.aggregate]
    return max(same, key=_precision, default=None)


def _precision(earlier: Earlier) -> tuple[float, int]:
    """Return what is larger where noise is less; charges of two measures do not compare."""
    measurement = earlier.measurement
    match measurement.mechanism:
        case DiscreteLaplace() | DiscreteGaussian() | PolyaDifference() as noise:
            return -noise_component(noise).variance, measurement.nano
        case _:
            return 0.0, measurement.nano


def _unread(
    questions: Sequence[Question],
    earlier: Sequence[Earlier],
    *,
    read: Sequence[Earlier | None],
) -> tuple[int, ...]:
    """Return the entries that measured one of the questions and are not read."""
    asked = [question.aggregate for question in questions]
    same = {each.entry for each in earlier if each.measurement.aggregate in asked}
    return tuple(sorted(same - {each.entry for each in read if each is not None}))


def _otherwise(questions: Sequence[Question], earlier: Sequence[Earlier]) -> Iterator[Earlier]:
    """Yield sums and moments of a value that is asked for, in other groups, rows or bounds."""
    asked = [question.aggregate for question in questions]
    values = {of for aggregate in asked for of in _read(aggregate)}
    for each in earlier:
        aggregate = each.measurement.aggregate
        if aggregate not in asked and values & _read(aggregate):
            yield each


def _read(aggregate: Measured) -> frozenset[Expression]:
    """Return the numbers of which sums, means or other moments are formed; none of counts."""
    plain = (part for part in parts(aggregate) if isinstance(part, Sums))
    return frozenset(of for part in plain for of in reads(part.value))


def _terms(
    question: Question,
    earlier: Sequence[Earlier],
    *,
    dataset: Dataset,
    reasons: dict[str, None],
) -> list[tuple[Earlier, CellSums | None]]:
    """Return every earlier count that gives the asked one; notes why others do not."""
    asked, terms = question.aggregate, list[tuple[Earlier, CellSums | None]]()
    for each in earlier:
        published = each.measurement.aggregate
        if not isinstance(asked, Sums) or not isinstance(published, Sums):
            continue
        if not isinstance(each.measurement.mechanism, NoiseLaw):
            continue
        if published == asked:
            terms.append((each, None))
            continue
        try:
            terms.append((each, cell_sums(asked, published, dataset=dataset)))
        except ContractError as reason:
            if published.relation.table == asked.relation.table:
                name = f"{each.measurement.statistic!r} of entry {each.entry}"
                reasons[f"of {name}, {reason}"] = None
    return terms


def _term(earlier: Earlier, sums: CellSums | None) -> tuple[NoisySum, ...]:
    """Return what one earlier measurement says of each asked count."""
    values = vector(earlier.noisy)
    error = noise_component(additive(earlier.measurement.mechanism))
    if sums is None:
        return tuple(NoisySum(value=float(value), error=error) for value in values)
    return tuple(
        NoisySum(value=float(total), error=repeated(error, times=n))
        for total, n in zip(sums.totals(values), sums.counts(), strict=True)
    )


def _summable(statistic: Statistic) -> Summable:
    if not isinstance(statistic, Summable):  # made only of those
        raise ContractError(f"Statistic {statistic.id!r} is not a function of one count.")
    return statistic
