"""Whether a time stands on a grid so coarse that rounding it to steps shapes the answer.

*Utility:* a follow-up of three years in steps of a year has four values; person-time, hazards and
survival curves of it are those of the rounding.  Bounds and step are public.
"""

from confide.plans.plan import Plan, Statistic, WithTime
from confide.tables.expression import ColumnOf
from confide.tables.grid import in_words
from confide.tables.relation import domain, resolve
from confide.tables.schema import Kind

LEAST_STEPS = 20


def coarse_time_notes(plan: Plan, statistic: Statistic) -> tuple[str, ...]:
    """Return what a forecast says of a time column with few steps between its bounds."""
    name = statistic.time if isinstance(statistic, WithTime) else None
    if not name:
        return ()
    table = plan.of(statistic.id)[0].aggregate.relation.table
    expression = resolve(name, table=table, dataset=plan.dataset)
    if not isinstance(expression, ColumnOf):  # days between two dates cannot be finer
        return ()
    of = domain(expression, dataset=plan.dataset)
    if of.kind is not Kind.NUMBER or of.upper - of.lower >= LEAST_STEPS:
        return ()
    return (
        (
            f"the time {name!r} is rounded to steps of {in_words(of.scale)}, of which only "
            f"{of.upper - of.lower} lie between its bounds, and the ± does not cover that: write a "
            "finer step for it in dataset.yaml"
        ),
    )
