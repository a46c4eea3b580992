"""What each person pays for a release, in SQL: norms of the very integers that are summed.

Input: stored tables of kept rows, added up by person and cell: ``p``, ``cell``, ``n``, ``s0, …``.
Every norm is a sum of one expression over the rows of a person:

- sums and counts over cells: |x|, or x²;
- moments: |·| or squares of the polynomials of a cell (see
  :mod:`confide.tables.aggregates.moments`);
- pooled counts: the same of the groups' weighted counts, added up by group first;
- running sums C·v: Σ v_t‖C_t‖₁ for the L1 norm, Σ v_t v_u ⟨C_t, C_u⟩ for the square of the L2 norm.

Products are wide where the claim allows more than 62 bits; norms, and sums of losses, are cut where
they are past every cap, so that nothing overflows because of somebody's rows.
"""

from collections.abc import Sequence

from sqlglot import exp

from confide.errors import UnsupportedError
from confide.plans.pricing.individual import Norm, OwnLoss, Rate
from confide.privacy.individual import ANYTHING
from confide.rows.cells.build import (
    BIGINT,
    HUGEINT,
    call,
    cast,
    less,
    named,
    num,
    own,
    plus,
    select,
    shifted_right,
    times,
)
from confide.rows.relational.shapes import of_person
from confide.rows.relational.summand import NARROW, Lend, Part, Stored, Summand
from confide.tables.aggregates.shapes import Measured, OfPersons
from confide.tables.schema import Dataset

_WIDE = 125
"""Bits of products that wide ones hold, with room for rounding."""


def losses_query(
    charges: Sequence[tuple[OwnLoss, tuple[Part, ...]]], *, dataset: Dataset, lend: Lend
) -> exp.Query:
    """Return ``p`` and ``loss`` > 0, in 1e-15, of everybody who pays for a release.

    Args:
        charges: What is paid for, with where the parts of its vector are stored.
        dataset: Public facts.
        lend: For weights of cells.
    """
    groups: dict[str, list[tuple[OwnLoss, Summand]]] = {}
    for number, (charge, parts) in enumerate(charges):
        stored = Stored(
            parts=parts, charge=charge, dataset=dataset, name=f"weights{number}", lend=lend
        )
        summand = _summand(charge.measurement.aggregate, stored)
        groups.setdefault(summand.key, []).append((charge, summand))
    wide = sum(charge.rate.most for charge, _ in charges) > ANYTHING
    each = [_losses(group, wide=wide) for group in groups.values()]
    query: exp.Query = each[0]
    for other in each[1:]:
        query = exp.Union(this=query, expression=other, distinct=False)
    if len(each) > 1:
        total = cast(_cut(exp.Sum(this=own("loss")), wide=wide), BIGINT)
        query = select(own("p"), named(total, "loss"), of=query, by=[own("p")])
    return select(own("p"), own("loss"), of=query, where=[less(num(0), own("loss"))])


def _losses(group: list[tuple[OwnLoss, Summand]], *, wide: bool) -> exp.Select:
    """Return ``p`` and ``loss`` of the measurements that read the same rows; wide if it adds up."""
    norms = [named(exp.Sum(this=each.value), f"x{i}") for i, (_, each) in enumerate(group)]
    rows = select(own("p"), *norms, of=group[0][1].rows, by=[own("p")])
    loss: exp.Expr | None = None
    for i, (charge, _) in enumerate(group):
        part = _rated(own(f"x{i}"), charge.rate, norm=charge.norm)
        part = cast(part, HUGEINT) if wide else part
        loss = part if loss is None else plus(loss, part)
    total = num(0) if loss is None else loss
    if wide:
        total = cast(_cut(total, wide=wide), BIGINT)
    return select(own("p"), named(total, "loss"), of=rows)


def _cut(total: exp.Expr, *, wide: bool) -> exp.Expr:
    """Return a sum; of losses that may be more than any cap, as what passes every cap."""
    return call("least", total, num(ANYTHING)) if wide else total


def _rated(x: exp.Expr, rate: Rate, *, norm: Norm) -> exp.Expr:
    """Return what a norm costs: :meth:`confide.plans.pricing.individual.Rate.of` in SQL."""
    x = cast(x, HUGEINT)
    if norm is Norm.L1_SQUARED:
        x = times(x, x)
    if rate.dropped:
        x = shifted_right(plus(x, num(2**rate.dropped - 1)), rate.dropped)
    if (rate.times << rate.shift).bit_length() < NARROW:
        x = cast(x, BIGINT)
    elif (rate.times << rate.shift).bit_length() > _WIDE:
        x = call("least", x, num(rate.enough))
    scaled = plus(times(x, num(rate.times)), num(2**rate.shift - 1))
    return cast(call("least", shifted_right(scaled, rate.shift), num(rate.most)), BIGINT)


def _summand(aggregate: Measured, stored: Stored) -> Summand:
    if not isinstance(aggregate, OfPersons):
        raise UnsupportedError("The vector is not a sum of patients' own.")
    return of_person(aggregate).summand(aggregate, stored)
