"""Degree histogram of a contact network: persons by number of contacts, and the mean number.

A contact is a pair of persons that a table with two id columns names together, however often.

*Lemma:* see :mod:`confide.tables.aggregates.degrees`.  One contact as privacy unit: Δ₁ = 4, Δ₂² =
8, and larger degrees are counted in the last bin.  One person: after a stable projection to D
contacts, Δ₁ = 2D + 1, Δ₂² = D² + (D + 1)² under add-remove; 4D and 8D² under substitution.

*Privacy:* D, the degrees that are shown and the table of persons are public.  Under edge adjacency
the persons are not protected, only who meets whom.

*Utility:* counts are unbiased for the capped, or projected, network; a negative one is shown as 0
and flagged.  The mean is Σk·h_k/Σh_k with Fieller's interval for the noise.  It is that of the
bounded network: below the true mean as far as anybody has more than D contacts, and flagged so.

References:
    [DLL16] Day, Li, Lyu. Publishing graph degree distribution with node differential privacy.
        SIGMOD 2016. https://doi.org/10.1145/2882903.2926745
    [HLMJ09] Hay, Li, Miklau, Jensen. Accurate estimation of the degree distribution of private
        networks. ICDM 2009. https://doi.org/10.1109/ICDM.2009.11
    [Fie54] Fieller. Some problems in interval estimation. JRSS B 16(2), 1954.
        https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from confide.noise.mechanism import Mechanism
from confide.plans.contribution import question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.intervals import noise_component, score_interval
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.tables.aggregates.degrees import DegreeAggregate, DegreeBounds, How, degrees_bounded
from confide.tables.relation import Relation
from confide.tables.schema import Dataset

DEGREES = "degrees"
MEAN = "mean degree"
_FEWEST = 10
"""A mean needs this many standard deviations of noise in its denominator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeHistogram(Statistic):
    """Persons by number of contacts.

    Attributes:
        at_most: D, the public bound of degrees.
        persons: Table of the persons, one row each; "" counts those who have a contact.
    """

    at_most: int
    persons: str = ""

    def _aggregate(self, dataset: Dataset) -> DegreeAggregate:
        return DegreeAggregate(
            relation=Relation(table=self.table, where=self.where),
            persons=self.persons,
            bounds=DegreeBounds(at_most=self.at_most, how=degrees_bounded(dataset)),
        )

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector of counts."""
        return (question(DEGREES, self._aggregate(dataset), dataset=dataset),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error of one bin; a note gives the simultaneous one."""
        noise = additive(mechanisms[DEGREES])
        bins = len(self._aggregate(dataset).degrees)
        together = noise.half_width(float(level), coordinates=bins)
        return Forecast(
            half_width=noise.half_width(float(level)),
            median_error=noise.half_width(0.5),
            level=float(level),
            unit="persons",
            planning=None if self.expect is None else float(self.expect),
            notes=(f"all {bins} bins at once: ±{together} persons",),
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return one count a degree, in increasing order, and the mean degree."""
        del simulation
        aggregate, noise = self._aggregate(dataset), additive(mechanisms[DEGREES])
        counts = vector(noisy[DEGREES])
        width, deviation = noise.half_width(float(self.level)), math.sqrt(noise.variance())
        bins = tuple(
            self._estimate(
                "count",
                label,
                value=float(max(0, raw)),
                error=deviation,
                ends=(max(0.0, float(raw - width)), max(0.0, float(raw + width))),
                flags=("below zero",) if raw < 0 else (),
            )
            for label, raw in zip(labels(aggregate), counts, strict=True)
        )
        return (*bins, self._mean(counts, aggregate=aggregate, mechanisms=mechanisms))

    def counts_behind(
        self, noisy: Mapping[str, Sequence[float]], *, dataset: Dataset
    ) -> Iterator[tuple[str, tuple[str, ...], float]]:
        """Yield the persons behind the mean degree; a house rule asks."""
        del dataset
        yield MEAN, ("all",), sum(noisy[DEGREES])

    def _mean(
        self,
        counts: tuple[int, ...],
        *,
        aggregate: DegreeAggregate,
        mechanisms: Mapping[str, Mechanism],
    ) -> Estimate:
        """Return Σk·h_k/Σh_k: Σ(k − t)h_k has variance σ²Σ(k − t)² around 0 at the true t."""
        degrees = list(aggregate.degrees)
        flag = {How.CAPPED: "capped", How.PROJECTED: "projected"}[aggregate.bounds.how]
        persons = sum(counts)
        contacts = sum(k * count for k, count in zip(degrees, counts, strict=True))
        component = noise_component(additive(mechanisms[DEGREES]))
        squares, total = sum(k * k for k in degrees), sum(degrees)
        interval, mean = None, 0.0
        if persons >= _FEWEST * math.sqrt(len(degrees) * component.variance):
            mean = contacts / persons
            of = component.variance
            interval = score_interval(
                contacts,
                persons,
                coefficients=(of * squares, -2 * of * total, of * len(degrees)),
                parts=lambda t: [component.times(k - t) for k in degrees],
                level=float(self.level),
            )
        if interval is None:
            flags = ("denominator too small", flag)
            return self._estimate(MEAN, "all", value=None, error=None, ends=None, flags=flags)
        spread = sum((k - mean) ** 2 for k in degrees)
        least, most = float(degrees[0]), float(degrees[-1])
        return self._estimate(
            MEAN,
            "all",
            value=min(max(mean, least), most),
            error=math.sqrt(component.variance * spread) / persons,
            ends=(min(max(interval[0], least), most), min(max(interval[1], least), most)),
            flags=(flag,),
        )

    def _estimate(
        self,
        quantity: str,
        key: str,
        *,
        value: float | None,
        error: float | None,
        ends: tuple[float, float] | None,
        flags: tuple[str, ...],
    ) -> Estimate:
        return Estimate(
            statistic=self.id,
            quantity=quantity,
            key=(key,),
            value=value,
            standard_error=error,
            lower=None if ends is None else ends[0],
            upper=None if ends is None else ends[1],
            level=float(self.level),
            covers=Covers.NOISE,
            unit="persons" if quantity == "count" else "1",
            flags=flags,
        )


def labels(aggregate: DegreeAggregate) -> tuple[str, ...]:
    """Return the name of each bin: a capped last one holds larger degrees too."""
    *low, last = (str(degree) for degree in aggregate.degrees)
    return (*low, last if aggregate.bounds.how is How.PROJECTED else f"{last} or more")
