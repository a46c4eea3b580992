"""Distinct persons per value of a text column: each person's first keys in the keyed order.

The place of a key is made of 60 bits of its SHA-256.  Prepared copies hold the numbers of the keys
and those bits; a number orders keys at the same place as the texts would, and is replaced by its
text before the totals leave the engine.

*Privacy:* the bound on the keys of a person is that of cells, with the same guard
(:mod:`confide.rows.stream`).

References:
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

from confide.rows.bounding import Bounded, Cells, bounded_totals
from confide.rows.build import named, own, select
from confide.rows.keyed_order import limbs_of, limbs_of_text, with_point
from confide.rows.person_rows import relation_rows
from confide.rows.table_rows import Scope
from confide.tables.aggregate import KeyedAggregate
from confide.tables.bound_contributions import CellBound
from confide.tables.schema import Table


def key_totals(keyed: KeyedAggregate, bounds: CellBound, *, scope: Scope) -> Bounded:
    """Return (tag, ``cell``, ``n``) by key; by the number of the key, of prepared copies."""
    copied, key = scope.copies is not None, (keyed.key,)
    column = key_column(keyed, table=scope.dataset.table(keyed.relation.table))
    beside = ("x", f"t{column}") if copied else ("x",)
    rows = relation_rows(
        scope,
        keyed.relation,
        reads=key,
        known=key,
        ordered=False,
        carried=beside if copied else (),
    )
    if not copied:
        rows = with_point(rows, person="p", ids=scope.layout.ids)
    return bounded_totals(
        select(own("p"), named(own("e0"), "cell"), *map(own, beside), of=rows),
        bounds=bounds,
        values=0,
        order=[],
        cells=Cells(
            number=None,
            times=1,
            limbs=limbs_of(own(f"t{column}")) if copied else limbs_of_text(own("cell")),
            beside=beside,
            packed=copied,
        ),
        late=None,
        summed=scope.summed,
    )


def key_column(keyed: KeyedAggregate, *, table: Table) -> int:
    """Return the index of the key's column."""
    return [column.name for column in table.columns].index(keyed.key.column)
