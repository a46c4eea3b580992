"""What is published of how a hazard model does on held-out patients.

C-statistic and risks by the last edge (:mod:`.concordance`, :mod:`.horizon`); and, as of counts
(:mod:`.held_out_rates`), observed over expected events, the calibration slope, recalibration and
subgroups.  For these person-time is the baseline hazard that was lived through: of who left in an
interval, that of the intervals before and half of that one.

*Utility:* half of an interval is too much where hazards fall or are high inside it, by about a
twelfth of the hazard of an interval.

*Privacy:* post-processing of noisy counts; held-out patients are in no other answer.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from confide.arrays import Floats
from confide.plans.estimates import Covers, Estimate
from confide.plans.rounds.held_out import (
    AS_PREDICTED,
    HELD_OUT,
    RECALIBRATED,
    TOO_FEW,
    CalibrationLine,
    Judges,
)
from confide.plans.rounds.score_bins import ALIKE
from confide.statistics.person_time.concordance import held_out_concordance
from confide.statistics.person_time.held_out_rates import Sums
from confide.statistics.person_time.horizon import HorizonGroup, horizon_groups
from confide.statistics.person_time.published_rates import CONCORDANCE, JudgedRates
from confide.tables.aggregates.descent_terms import SCORE_BINS


def hazard_sums(exits: Floats, *, hazards: Floats, noise: float) -> Sums:
    """Return events, and baseline hazards lived through, by bin.

    Args:
        exits: Noisy; censored, then with the event, interval by interval, then who reached the end;
            shape (2K + 1, bins).
        hazards: Baseline hazard of each interval; shape (K,).
        noise: Standard deviation of the noise of a count.

    Example:
        Of three intervals with hazards of .1, .2 and .3 two have the event in the second, and one
        reaches the end; with the hazard .1 + .1 twice, and .6 once:

        >>> exits = np.zeros((7, 1))
        >>> exits[3], exits[6] = 2.0, 1.0
        >>> found = hazard_sums(exits, hazards=np.array([0.1, 0.2, 0.3]), noise=0.0)
        >>> float(found.events[0]), round(float(found.time[0]), 3)
        (2.0, 1.0)
    """
    before = np.cumsum(hazards) - hazards
    weights = np.append(np.repeat(before + hazards / 2, 2), hazards.sum())
    return Sums(
        events=exits[1::2].sum(axis=0),
        time=weights @ exits,
        noise=noise * math.sqrt(len(hazards)),
        dispersion=1.0,
        of_time=noise * float(np.linalg.norm(weights)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedHazards:
    """A hazard model, and its held-out patients.

    Attributes:
        rates: The model as one of rates: βᵀu, whose level is in the baseline.
        hazards: Baseline hazard of each interval; shape (K,).
        judges: Noisy counts by interval, outcome and bin.
        noise: Standard deviation of the noise of a count.
    """

    rates: JudgedRates
    hazards: Floats
    judges: Judges
    noise: float

    def published(self, *, predicting: Sequence[Estimate]) -> Iterator[Estimate]:
        """Yield what is published of held-out patients.

        Args:
            predicting: Coefficients that predict, baseline log hazards first.
        """
        rates, first, blurred = self.rates, self.judges.calibrating, self.judges.blurred
        sums = self._sums(self.judges.evaluating, blurred=blurred)
        found, line = rates.evaluated(sums), AS_PREDICTED
        if first is not None:
            calibrating = self._sums(first)
            line = rates.line(calibrating)
            yield from rates.put_right(
                line,
                calibrating,
                predicting=predicting,
                alike=found.alike,
                intercepts=len(self.hazards),
            )
        exits = self.judges.evaluating
        groups = self._groups(exits, blurred=blurred)
        c = self._concordance(exits, HELD_OUT, apart=len(groups) > 1, blurred=blurred)
        yield c
        usable = c.value is not None or ALIKE in c.flags
        moved = () if first is None else self._groups(exits, blurred=blurred, line=line)
        for place, group in enumerate(groups):
            key = group.label if place else HELD_OUT
            yield from self._risks(key, group, moved[place : place + 1], usable=usable)
        yield from rates.calibration(HELD_OUT, found)
        if first is not None:
            yield from rates.calibration(RECALIBRATED, rates.evaluated(sums, line=line))
        for label, each in self.judges.subgroups:
            yield from self._subgroup(label, each, line=line)

    def _subgroup(self, label: str, exits: Floats, *, line: CalibrationLine) -> Iterator[Estimate]:
        purpose, rates = f"rates/{label}", self.rates
        found = rates.evaluated(self._sums(exits), line=line, purpose=purpose)
        groups = self._groups(exits, line=line, purpose=f"horizon/{label}")
        c = self._concordance(exits, label, apart=not found.alike)
        yield rates.number(
            "count",
            label,
            float(exits.sum()),
            deviation=self.noise * math.sqrt(len(exits)),
            unit="persons",
        )
        yield c
        usable = c.value is not None or ALIKE in c.flags
        yield from self._risks(label, groups[0], (), usable=usable)
        yield from rates.calibration(label, found)

    def _sums(self, exits: Floats, *, blurred: float = 1.0) -> Sums:
        return hazard_sums(
            exits.reshape(-1, SCORE_BINS), hazards=self.hazards, noise=self.noise * blurred
        )

    def _groups(
        self,
        exits: Floats,
        *,
        blurred: float = 1.0,
        line: CalibrationLine = AS_PREDICTED,
        purpose: str = "horizon",
    ) -> tuple[HorizonGroup, ...]:
        return horizon_groups(
            exits.tolist(),
            slopes=self.rates.theta[1:],
            hazard=float(self.hazards.sum()),
            noise=self.noise * blurred,
            level=self.rates.level,
            simulation=self.rates.simulation,
            line=line,
            purpose=purpose,
        )

    def _concordance(
        self, exits: Floats, key: str, *, apart: bool, blurred: float = 1.0
    ) -> Estimate:
        """Return Harrell's C; of none but the whole, where risks are alike, there is none."""
        held = held_out_concordance(
            exits.tolist(),
            intervals=len(self.hazards),
            noise=self.noise * blurred,
            simulation=self.rates.simulation,
            purpose="concordance" if key == HELD_OUT else f"concordance/{key}",
        )
        shown, width = held.usable and apart, held.width(self.rates.level)
        return Estimate(
            statistic=self.rates.statistic,
            quantity=CONCORDANCE,
            key=(key,),
            value=held.value if shown else None,
            standard_error=held.error if shown else None,
            lower=max(0.0, held.value - width) if shown else None,
            upper=min(1.0, held.value + width) if shown else None,
            level=self.rates.level,
            covers=Covers.SAMPLING_AND_NOISE,
            unit="1",
            flags=() if shown else (ALIKE,) if held.usable else (TOO_FEW,),
        )

    def _risks(
        self, key: str, group: HorizonGroup, moved: Sequence[HorizonGroup], *, usable: bool
    ) -> Iterator[Estimate]:
        """Yield predicted and observed risks by the last edge."""
        observed = Estimate(
            statistic=self.rates.statistic,
            quantity="observed risk",
            key=(key,),
            value=group.observed if usable else None,
            standard_error=group.error if usable else None,
            lower=group.lower if usable else None,
            upper=group.upper if usable else None,
            level=self.rates.level,
            covers=Covers.SAMPLING_AND_NOISE,
            unit="1",
            flags=() if usable else (TOO_FEW,),
        )
        alone = replace(observed, standard_error=None, lower=None, upper=None)
        for name, each in (("predicted", group), *(("recalibrated", one) for one in moved)):
            value = each.predicted if usable else None
            yield replace(alone, quantity=f"{name} risk", value=value)
        yield observed
