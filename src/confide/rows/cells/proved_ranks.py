"""Ranks that were proved when they were written, and how a query shows that it read those rows.

A rank projection holds each pair of rank and person once, so whoever reads the ranks 1 … m keeps at
most m rows of a person.  An engine that hands rows on in no order cannot see that in one pass.  So
the pairs are looked at once, in the order of the file, when a copy is written; and they are counted
and summed there by rank, as a number of 62 bits that products make of a pair, in two halves.
A query counts and sums the same beside the rows that it adds up.

*Lemma.*  Rows with the pairs of ranks up to m that were proved hold each of them once: at most m of
a person.  Rows with other pairs (a pair that comes twice, a false rank, a lost row) have another
count or other sums, but for chance: one time in 2⁶² or so, as no fault looks for it.

*Privacy:* the guard does not rely on the query that chose the rows, on their order, or on what a
reader made of a file.  It relies on the pass in order, which :mod:`confide.rows.prepared.ranks`
makes over the file as it was written, and on the manifest: who may write either is the steward.
*Utility:* a query adds three products a row, and no shuffle, sort or window.

References:
    [CDDGS03] Clarke et al. Incremental multiset hash functions. ASIACRYPT 2003.
        https://doi.org/10.1007/978-3-540-40061-5_12
"""

from collections.abc import Collection, Sequence

from sqlglot import exp

from confide.rows.cells.build import (
    STAR,
    at_most,
    bit_and,
    bit_xor,
    call,
    named,
    num,
    own,
    select,
    shifted_right,
    times,
)
from confide.rows.cells.keyed_order import LIMB, MASK, folded
from confide.rows.cells.operations import ShortSum, operation
from confide.rows.cells.stream import SUMS

PATIENT_BITS = 32
"""Bits of the person, below the rank."""
FACTORS = (1_518_500_249, 1_859_775_393, 1_112_871_217, 1_779_033_703, 1_013_904_242, 1_359_893_119)
"""Below 2³¹, and of no meaning: what goes wrong does not know them."""
PROOF = ("ranked", "low", "high")
"""What is counted and summed beside the rows of a projection."""


def proved_totals(
    rows: exp.Select, *, sums: Sequence[str], short: Collection[str] = ()
) -> exp.Select:
    """Return (tag, ``cell``, ``n``, sums, proof) over rows with ``p``, their rank and person.

    Args:
        rows: With what is to be summed.
        sums: Columns to be summed.
        short: Those of few bits.
    """
    added = [
        named(operation(ShortSum, own(name)) if name in short else exp.Sum(this=own(name)), name)
        for name in sums
    ]
    return select(
        named(num(SUMS), "tag"),
        own("cell"),
        named(exp.Count(this=STAR), "n"),
        *added,
        *_proof(),
        of=_with_halves(rows),
        by=[own("cell")],
    )


def unproved_totals(rows: exp.Query, *, sums: Sequence[str]) -> exp.Select:
    """Return totals that are guarded otherwise, with nothing to prove."""
    columns = [own(name) for name in ("tag", "cell", "n", *sums)]
    return select(*columns, *(named(num(0), name) for name in PROOF), of=rows)


def proof_by_rank(ranks: exp.Table) -> exp.Select:
    """Return of each rank of a file: rank, proof, whether a pair is not above the one before.

    Args:
        ranks: With ``k``, in an engine that hands rows on as they stand in a file.
    """
    last = exp.Window(this=exp.Lag(this=own("k"), offset=num(1)))
    rows = select(named(own("k"), "p"), named(last, "last"), of=ranks)
    rank = shifted_right(own("p"), PATIENT_BITS)
    wrong = call("bool_or", at_most(own("p"), own("last")))
    return select(
        named(rank, "rank"), *_proof(), named(wrong, "wrong"), of=_with_halves(rows), by=[rank]
    )


def is_proved(
    rows: Sequence[Sequence[int | None]], *, at: int, proved: Sequence[Sequence[int]], most: int
) -> bool:
    """Return whether rows of totals are of the pairs that were proved.

    Args:
        rows: Of :func:`proved_totals` and :func:`unproved_totals`.
        at: Place of the first number of the proof.
        proved: Of each rank from 1, what :func:`proof_by_rank` found.
        most: Ranks that may be read, by the sensitivity.
    """
    for place in range(len(PROOF)):
        expected = sum(numbers[place] for numbers in proved[:most])
        if sum(int(row[at + place] or 0) for row in rows) != expected:
            return False
    return True


def _proof() -> list[exp.Expr]:
    halves = [named(operation(ShortSum, own(name)), name) for name in PROOF[1:]]
    return [named(exp.Count(this=STAR), PROOF[0]), *halves]


def _with_halves(rows: exp.Select) -> exp.Select:
    """Add ``low`` and ``high``, each below 2³¹, of the pair ``p``."""
    pair = own("p")
    product = times(bit_xor(bit_and(pair, num(MASK)), num(FACTORS[0])), num(FACTORS[1]))
    rows = select(STAR, named(product, "a"), of=rows)
    mixed = bit_xor(bit_xor(folded("a"), num(FACTORS[2])), shifted_right(pair, PATIENT_BITS))
    rows = select(STAR, named(times(mixed, num(FACTORS[3])), "b"), of=rows)
    rows = select(
        STAR, named(times(bit_xor(folded("b"), num(FACTORS[4])), num(FACTORS[5])), "c"), of=rows
    )
    low, high = bit_and(own("c"), num(MASK)), shifted_right(own("c"), LIMB)
    return select(STAR, named(low, "low"), named(high, "high"), of=rows)
