"""For whom a plan is run, where nobody says: under whose caps its charge counts.

The user's login, unless an approval that admits the charge is somebody else's alone, who then let
the user run it; or the key has its answer under such an approval.  Whoever merely asked, was told
no, or asked where nobody's approval is needed, pays for nobody.

*Privacy:* a cap on each analyst would be passed at the cost of whoever once asked for the plan.
"""

import itertools
from dataclasses import replace

from confide.budget.accounts.book import Book
from confide.budget.chain.readings import Moment
from confide.budget.workflow.rules import PolicyClaim


def requester(
    book: Book, lineage: str, *, claim: PolicyClaim, request_key: str, now: Moment
) -> str:
    """Return for whom a plan is run.

    Args:
        book: The ledger so far.
        lineage: Of the data.
        claim: What is to be charged, and to whom where nobody else has approval.
        request_key: Idempotency key.
        now: Of the charge.
    """

    def is_approved(name: str) -> bool:
        found = book.admit(replace(claim, analyst=name), lineage=lineage, now=now)
        return isinstance(found, int) and found > 0

    own = (claim.analyst, claim.plan_digest, request_key)
    if book.requests.answered(own) is not None or is_approved(claim.analyst):
        return claim.analyst
    about = tuple(book.docket.submissions.about(lineage, plan_digest=claim.plan_digest))
    charged = (book.charged_under(each.number) for each in about)
    answered = (each.analyst for each in charged if each and each.request_key == request_key)
    approved = (each.requester for each in about if is_approved(each.requester))
    return next(itertools.chain(answered, approved), claim.analyst)
