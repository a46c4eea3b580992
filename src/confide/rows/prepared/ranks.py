"""The ranks of prepared copies, proved in the order of their files once they are written.

*Privacy:* a file in which a pair of rank and patient comes twice, or out of order, comes into no
manifest.  What is counted here is exact, and stays in the manifest, which is the steward's alone.
"""

from confide.errors import EngineError
from confide.rows.cells.proved_ranks import PROOF, proof_by_rank
from confide.rows.copies.copies import MOST_RANKS, Copies, parquet
from confide.rows.engines.duckdb import DuckDBEngine


def proved_ranks(copies: Copies, *, engine: DuckDBEngine) -> dict[str, list[list[int]]]:
    """Return what proves the ranks of each table that has any, by rank from 1.

    Raises:
        EngineError: If reading failed, or somebody has a rank twice.
    """
    found: dict[str, list[list[int]]] = {}
    for name, copy in copies.tables.items():
        if copy.ranks is None:
            continue
        proved = [[0] * len(PROOF) for _ in range(MOST_RANKS)]
        for rank, *proof, wrong in engine.run(proof_by_rank(parquet(copy.ranks))):
            if wrong or not 1 <= rank <= MOST_RANKS:
                raise EngineError("ranks out of order")
            proved[rank - 1] = [int(number) for number in proof]
        found[name] = proved
    return found
