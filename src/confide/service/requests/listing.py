"""List and show requests: where each stands, whose approval is missing, and what is withheld."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from confide.budget.plan_text import plan_in
from confide.errors import UnknownNameError
from confide.service.dump import SPREAD
from confide.service.opening import open_ledger, open_site
from confide.service.requests.seen import seen_of
from confide.service.requests.standing import (
    Asked,
    Standing,
    ToldDecision,
    charged_to,
    standing,
    withholding,
)
from confide.statistics import read_priced


@dataclass(frozen=True, slots=True, kw_only=True)
class WithheldEntry:
    """An answer that is delivered to nobody.

    Attributes:
        entry: Of the ledger.
        by: Whose decision.
    """

    entry: int
    by: Annotated[ToldDecision, SPREAD]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """Every request of a data set.

    Attributes:
        requests: In order.
        withheld: Answers that are delivered to nobody.
    """

    requests: tuple[Standing, ...]
    withheld: tuple[WithheldEntry, ...]


def list_requests(dataset: Path) -> Requests:
    """Return every request, where it stands, whose approval is missing, and what is withheld."""
    with open_ledger(dataset) as (held, declared):
        lineage = declared.dataset.lineage
        found = tuple(standing(each, ledger=held) for each in held.desk.submissions(lineage))
        withheld = tuple(
            WithheldEntry(entry=each.number, by=by)
            for each in held.entries(lineage)
            if each.withheld and (by := withholding(each.number, ledger=held)) is not None
        )
    return Requests(requests=found, withheld=withheld)


def show_request(number: int, *, dataset: Path) -> Asked:
    """Return a request as those who decide see it: plan, errors, charges; reads no data.

    Raises:
        UnknownNameError: If there is no such request.
    """
    with open_site(dataset, spends=False) as site:
        desk = site.ledger.desk
        found = {s.number: s for s in desk.submissions(site.declared.dataset.lineage)}
        if number not in found:
            raise UnknownNameError("request", str(number), known=map(str, found))
        plan = read_priced(plan_in(found[number].asked.plan_json))
        seen = seen_of(plan, site=site, analyst=charged_to(found[number], desk=desk))
        return Asked(request=standing(found[number], ledger=site.ledger), preview=seen)
