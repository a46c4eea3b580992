"""Withdraw: persons who take their consent back, out of what is kept and of every later release."""

from collections.abc import Iterable

from confide.release.consent import Forgotten, Lost
from confide.release.consent import withdraw as taken_out
from confide.service.site import Site


def withdraw(site: Site, ids: Iterable[str], *, lost: Lost | None = None) -> Forgotten:
    """Take persons who withdrew consent out of what is kept and of every later release.

    Args:
        site: Of which data set.
        ids: Person ids as the source has them; the data need not hold them.
        lost: Why these are all who ever withdrew; None if lists of before hold.

    Raises:
        ContractError: If one cannot be a person id; nothing was done.
    """
    site.close_patients()
    return taken_out(
        ids,
        lost,
        dataset=site.declared.dataset,
        over=site.engine_without,
        ledger=site.ledger,
        folder=site.folder,
    )
