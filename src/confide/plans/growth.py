"""Which plans grow, and what may change from one step of a growing release to the next.

A plan grows when its one measurement is a factorised count of which not all periods are published.
Its steps differ in how many are, and in the snapshot that they read; in nothing else.

*Privacy:* steps of one question have the same rows in question, horizon, sensitivity, noise and
charge, so their coordinates are those of one mechanism [DMRST22].

References:
    [DMRST22] Denisov, McMahan, Rush, Smith, Thakurta. Improved differential privacy for SGD via
        optimal private linear operators on adaptive streams. NeurIPS 2022, thm. 2.1.
        https://arxiv.org/abs/2202.08312
"""

from dataclasses import replace

from confide.plans.canonical import digest
from confide.plans.plan import Plan
from confide.tables.aggregates.shapes import Growing


def grown_to(plan: Plan) -> int | None:
    """Return how many periods a growing plan publishes; None if it does not grow."""
    match plan.measurements:
        case (measurement,):
            aggregate = measurement.aggregate
            if isinstance(aggregate, Growing) and aggregate.until is not None:
                return aggregate.published(plan.dataset)
        case _:
            pass
    return None


def horizon(plan: Plan) -> int:
    """Return how many periods a growing plan is charged for, published or not; 0 of another."""
    for measurement in plan.measurements:
        if isinstance(measurement.aggregate, Growing):
            return measurement.aggregate.length(plan.dataset)
    return 0


def growing_question(plan: Plan) -> str:
    """Return the SHA-256 of a growing plan without periods published, snapshot, patients' caps."""
    value = plan.to_json()
    value["dataset"].pop("snapshot")
    value["dataset"].pop("patients", None)  # who is in was decided when it was opened
    for statistic in value["statistics"]:
        statistic.pop("through", None)
    for measurement in value["measurements"]:
        measurement["aggregate"].pop("until", None)
    return digest(value)


def continued(plan: Plan, *, before: Plan) -> Plan:
    """Return a growing plan that states who may be left out as the plan that it continues does."""
    return replace(plan, dataset=replace(plan.dataset, patients=before.dataset.patients))


def appended(
    before: tuple[int, ...], after: tuple[int, ...], *, start: int, stop: int
) -> tuple[int, ...]:
    """Return each series' first ``start`` values of ``before``, then its new ones of ``after``.

    Example:
        Two series of two periods, and their third:

        >>> appended((1, 2, 10, 20), (3, 30), start=2, stop=3)
        (1, 2, 3, 10, 20, 30)
    """
    more = stop - start
    series = zip(range(0, len(before), start), range(0, len(after), more), strict=True)
    return tuple(
        value
        for old, new in series
        for value in (*before[old : old + start], *after[new : new + more])
    )
