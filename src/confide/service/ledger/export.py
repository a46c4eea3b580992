"""Export a chain as JSON lines, without answers, for anybody to verify."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from confide.budget.integrity.export import chain_text
from confide.regular_file import create_text
from confide.service.dump import ASIDE
from confide.service.opening import open_ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedChain:
    """A chain as text.

    Attributes:
        out: Where it was written; None if nowhere.
        rows: How many.
        head: Hash of the last.
        text: One JSON object a line.
    """

    out: Path | None
    rows: int
    head: str
    text: Annotated[str, ASIDE]


def export_chain(dataset: Path, *, out: Path | None) -> ExportedChain:
    """Return the chain of a data set's ledger; write it to a new file if one is named."""
    with open_ledger(dataset) as (held, _):
        chain = held.chain()
    text = chain_text(chain)
    if out is not None:
        create_text(out, text)
    return ExportedChain(out=out, rows=chain.head.number, head=chain.head.hash, text=text)
