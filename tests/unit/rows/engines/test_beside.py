"""The DuckDB beside an engine elsewhere: what is lent to it, and what it leaves behind."""

import numpy as np

from confide.rows.cells.build import HUGEINT, cast, named, own, own_table, select
from confide.rows.engines.beside import DuckDBBeside


def test_a_sum_of_one_patient_beyond_64_bits_is_lent_as_it_is():
    beside = DuckDBBeside({})
    session = beside.session()
    assert beside.session() is session
    sums = [2**63, -(2**100), 5, 10**38 - 1]
    lent = {"p": np.array(list("abcd"), dtype=object), "s": np.array(sums, dtype=object)}
    session.lend("given", lent)
    found = session.rows(
        select(own("p"), named(cast(own("s"), HUGEINT), "s"), of=own_table("given"))
    )
    assert sorted(found) == list(zip("abcd", sums, strict=True))
    session.take_back("given")
    beside.close()
    assert not session.sound()
