"""Rates as they are published: each with an interval for the noise, and one for sampling too."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from confide.errors import ContractError, UnknownNameError
from confide.plans.estimates import Covers, Estimate
from confide.plans.estimation.rates import Rate, difference, quotient

TOO_SMALL = "denominator too small"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRate:
    """A rate of one group, with both of its intervals.

    Attributes:
        noise: For the patients at hand.
        both: For the population that they are a sample of.
        small: Whether the denominator is too small to rely on.
    """

    noise: Rate
    both: Rate
    small: bool = False

    def widest(self) -> Rate:
        """Return ``both``, cut nowhere inside the interval of the noise."""
        high: float | None = None
        if self.noise.upper is not None and self.both.upper is not None:
            high = max(self.noise.upper, self.both.upper)
        return replace(self.both, lower=min(self.noise.lower, self.both.lower), upper=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Publishing:
    """What the published rates of a statistic share.

    Attributes:
        statistic: Its id.
        level: Coverage of each interval.
        factor: The published rate is this times the rate.
        unit: Of the published rate.
    """

    statistic: str
    level: float
    factor: float
    unit: str

    def rate(self, quantity: str, key: tuple[str, ...], found: FoundRate) -> tuple[Estimate, ...]:
        """Return a rate in ``unit``, twice."""
        return self._twice(quantity, key, found, factor=self.factor, unit=self.unit)

    def ratio(self, quantity: str, key: tuple[str, ...], found: FoundRate) -> tuple[Estimate, ...]:
        """Return a pure number, twice."""
        return self._twice(quantity, key, found, factor=1.0, unit="1")

    def compared(
        self, found: Mapping[tuple[str, ...], FoundRate], *, baseline: tuple[str, ...]
    ) -> tuple[Estimate, ...]:
        """Return the ratio and the difference of every group's rate to the baseline's."""
        base = found[baseline]
        estimates: list[Estimate] = []
        for key, each in found.items():
            if key == baseline:
                continue
            small = each.small or base.small
            ratio = FoundRate(
                noise=quotient(each.noise, base.noise),
                both=quotient(each.both, base.both),
                small=small,
            )
            less = FoundRate(
                noise=difference(each.noise, base.noise),
                both=difference(each.both, base.both),
                small=small,
            )
            estimates += self.ratio("rate ratio", key, ratio)
            estimates += self.rate("rate difference", key, less)
        return tuple(estimates)

    def _twice(
        self, quantity: str, key: tuple[str, ...], found: FoundRate, *, factor: float, unit: str
    ) -> tuple[Estimate, ...]:
        def scaled(number: float | None) -> float | None:
            return None if number is None or math.isinf(number) else factor * number

        return tuple(
            Estimate(
                statistic=self.statistic,
                quantity=quantity,
                key=key,
                value=scaled(rate.value),
                standard_error=scaled(rate.standard_error),
                lower=scaled(rate.lower),
                upper=scaled(rate.upper),
                level=self.level,
                covers=covers,
                unit=unit,
                flags=(TOO_SMALL,) if found.small or rate.value is None else (),
            )
            for covers, rate in (
                (Covers.NOISE, found.noise),
                (Covers.SAMPLING_AND_NOISE, found.widest()),
            )
        )


def baseline_of(
    compare: tuple[str, ...], *, by: tuple[str, ...], keys: tuple[tuple[str, ...], ...]
) -> tuple[str, ...] | None:
    """Return the group that others are compared to; None when there is none.

    Raises:
        ContractError: If the labels are not those of one group.
    """
    if not compare:
        return None
    if not by:
        raise ContractError(
            "There are no groups to compare.", hint="Write by: [sex], or leave compare out."
        )
    if compare not in keys:
        if len(compare) != len(by):
            raise ContractError(
                f"compare names {len(compare)} labels for {len(by)} groupings.",
                hint=f"Write one label each for {', '.join(by)}.",
            )
        raise UnknownNameError("group", ", ".join(compare), known=[", ".join(k) for k in keys])
    return compare
