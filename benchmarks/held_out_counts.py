"""How well held-out patients tell how a model of counts does, by the bound of the events.

Run: python benchmarks/held_out_counts.py [--rows 5000] [--cohorts 3] [--draws 6]

The cohorts of :mod:`counts`: eight numbers, 0.8 events on average, of a Poisson law or of an uneven
one.  Models are fitted as public numbers choose at ε = 1, δ = 10⁻⁵, 30 % held out.  What is published
of those held out stands beside what 40,000 other patients say of the same model, with events that
count up to the bound.  "told" is the share of fits of which there is a number; "off" the root of the mean square
of published less true, of logarithms of ratios; "holds" the share of intervals that hold the truth.
With ``--whole-bound`` events are summed in units of their public bound, as they were before.
"""

import argparse
import math
from fractions import Fraction

import numpy as np
from counts import DELTA, JUDGES, MEAN, TERMS, Cohort, declared

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.rounds.in_turn import ask_in_turn
from confide.plans.rounds.wide_terms import WideTerms
from confide.privacy.accounting.concentrated import rho_for
from confide.release.noisy import NoisyAggregates
from confide.rows.relational.descent import DescentRows
from confide.statistics import PoissonRegression
from confide.statistics.person_time.few_events import HazardFit
from confide.tables.aggregates.check_descent import descent_sensitivity

RHO = rho_for(Fraction(1), delta=DELTA)
QUANTITIES = ("observed to expected", "calibration slope", "concordance")
OTHERS = 10 * JUDGES


def published(cohort: Cohort, *, most: int, rng: np.random.Generator) -> dict[str, object]:
    """Return what one release says, by quantity and label."""
    n = len(cohort.days)
    dataset, _ = declared(most, expected=1)
    spec = PoissonRegression(
        id="rates",
        table="people",
        events="events",
        covariates=tuple(f"x{i}" for i in range(TERMS)),
        time="days",
        method=HazardFit.AUTO,
        hold_out=Fraction(3, 10),
        expect=Fraction(n),
        expect_share=Fraction(MEAN).limit_denominator() / most,
    )
    nano = math.floor(RHO * 10**9)
    plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=dataset, nano=nano)
    (measurement,) = plan.measurements
    model = measurement.aggregate
    read = (*cohort.steps.T, np.minimum(cohort.events, most), cohort.days)
    columns = {"p": np.arange(n), "rk": np.ones(n), "fold": rng.integers(0, 1000, n)}
    columns |= {f"e{i}": values.astype(np.int64) for i, values in enumerate(read)}
    rows = DescentRows(model, columns, dataset=dataset)
    squared = descent_sensitivity(model, dataset=dataset).l2_squared / (2 * float(RHO))
    noise, sigma, noisy = DiscreteGaussian(sigma_squared=round(squared)), math.sqrt(squared), ()
    while ask := ask_in_turn(model, noisy, mechanism=noise, dataset=dataset):
        exact = rows.answer(ask)
        drawn = rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, drawn, strict=True))
    found = NoisyAggregates(plan=plan, values=(noisy,)).estimates()
    return {(e.quantity, e.key[0]): e for e in found}


def truth(by: dict[str, object], others: Cohort, *, most: int) -> dict[str, float]:
    """Return what other patients say of the model that was published."""
    used = [e for (name, _), e in by.items() if name == "prediction coefficient"]
    (first, *slopes) = [math.nan if e.value is None else e.value for e in used]
    half = np.array([500.0] * TERMS)  # coefficients are per step of a number of 1,000 steps
    eta = first + others.terms @ (np.array(slopes) * half)
    counted = np.minimum(others.events, most)
    mean = np.exp(np.clip(eta, -30, 30)) * others.days
    ratio = counted.sum() / mean.sum()
    a, b = math.log(ratio), 1.0
    for _ in range(20):
        fitted = np.exp(np.clip(a + b * eta, -30, 30)) * others.days
        x = np.column_stack([np.ones(len(eta)), eta])
        step = np.linalg.solve(x.T @ (fitted[:, None] * x), x.T @ (counted - fitted))
        a, b = a + step[0], b + step[1]
    order = np.argsort(eta)
    events, days = counted[order].astype(float), others.days[order].astype(float)
    below = np.cumsum(days) - days / 2
    c = float(events @ below / (events.sum() * days.sum()))
    return dict(zip(QUANTITIES, (ratio, float(b), c), strict=True))


def off(quantity: str, value: float, true: float) -> float:
    """Return how far a number is from the truth; of ratios their logarithm."""
    if quantity == QUANTITIES[0]:
        return math.log(max(value, 1e-3) / true)
    return value - true


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cohorts", type=int, default=3)
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--rows", type=int, nargs="*", default=[5000])
    parser.add_argument("--bounds", type=int, nargs="*", default=[5, 20, 50])
    parser.add_argument("--whole-bound", action="store_true")
    given = parser.parse_args()
    if given.whole_bound:
        WideTerms.cut = property(lambda _: 0)
    print("| n, law | bound | " + " | ".join(f"{q}: told, off, holds" for q in QUANTITIES) + " |")
    for n in given.rows:
        for uneven in (False, True):
            for most in given.bounds:
                rng, of_noise = np.random.default_rng(1), np.random.default_rng(2)
                told: dict[str, list[tuple[bool, float, bool]]] = {q: [] for q in QUANTITIES}
                for _ in range(given.cohorts):
                    weights = rng.normal(0, 0.6, TERMS)
                    both = Cohort(n + OTHERS, uneven=uneven, truth=weights, rng=rng)
                    fitted, others = both.part(slice(n)), both.part(slice(n, None))
                    for _ in range(given.draws):
                        by = published(fitted, most=most, rng=of_noise)
                        true = truth(by, others, most=most)
                        for q, found in told.items():
                            e = by[q, "held out"]
                            if e.value is None:
                                found.append((False, math.nan, False))
                                continue
                            holds = e.lower <= true[q] <= e.upper
                            found.append((True, off(q, e.value, true[q]), holds))
                cells = []
                for found in told.values():
                    shown = [each for each in found if each[0]]
                    if not shown:
                        cells.append("0 %")
                        continue
                    errors = np.array([each[1] for each in shown])
                    held = np.mean([each[2] for each in shown])
                    cells.append(
                        f"{len(shown) / len(found):.0%}, {math.sqrt(np.mean(errors**2)):.3f} "
                        f"({errors.mean():+.3f}), {held:.0%}"
                    )
                law = "uneven" if uneven else "Poisson"
                print(f"| {n:,}, {law} | {most} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
