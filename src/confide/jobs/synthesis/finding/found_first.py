"""Which columns of a synthesis have levels that a first part finds, and what they may not be."""

from collections.abc import Sequence
from fractions import Fraction

from confide.errors import ContractError, InvalidParameterError
from confide.jobs.synthesis.finding.charged_bins import ChargedBins, edges_read
from confide.jobs.synthesis.finding.charged_categories import ChargedCategories, text_read
from confide.tables.expression import ColumnOf, Expression


def require_shares(*ways: tuple[Fraction, bool]) -> None:
    """Refuse shares of the charge that leave nothing, or pay for nothing.

    Args:
        ways: Share of the charge of each way of finding, and whether a column is found so.

    Raises:
        InvalidParameterError: If they do.
    """
    shares = [share for share, _ in ways]
    if min(shares) < 0 or sum(shares) >= 1 or any(used and not share for share, used in ways):
        raise InvalidParameterError(
            "Expected shares of the charge for what is found, above 0 and together below 1."
        )


def require_found_first(
    bins: Sequence[ChargedBins],
    categories: Sequence[ChargedCategories],
    *,
    reads: dict[str, Expression],
    texts: tuple[ColumnOf, ...],
    events: bool,
    ruled: Sequence[str],
) -> list[str]:
    """Return the columns whose levels are found first.

    Args:
        bins: Columns whose bins are found.
        categories: Columns whose categories are found.
        reads: What each column reads, by name.
        texts: Of the rows.
        events: Whether events of patients are written.
        ruled: Columns that rules name.

    Raises:
        ContractError: If they cannot be found, or a rule names one before they are.
    """
    found = [*(each.column for each in bins), *(each.column for each in categories)]
    if len(set(found)) != len(found):
        raise ContractError("Levels of a column are to be found twice.")
    for name in found:
        if name not in reads:
            raise ContractError(f"No column of the table is called {name!r}.")
        if name in ruled:
            raise ContractError(
                f"A rule names {name!r}, whose levels are not known yet.",
                hint="Give it bins with the edges that the rule needs, or declare its categories.",
            )
    if categories and events:
        raise ContractError(
            "Events are written with declared codes, and beside them no categories are found.",
            hint="Leave categories: charged out, or the events.",
        )
    for each in bins:
        edges_read(reads[each.column])
    if texts != tuple(text_read(reads[each.column]) for each in categories):
        raise ContractError("Texts of the rows are those whose categories are found.")
    return found
