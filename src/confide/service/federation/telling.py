"""What a site tells the others where it takes no part in a run, or no longer.

*Privacy:* reasons are constant, but for what a round or a proposal says of itself; nothing of the
site's data, files or ledger is in them.
"""

import contextlib
from collections.abc import Iterator

from confide.budget.entry import State
from confide.errors import (
    BudgetExhaustedError,
    ConfideError,
    ContractError,
    MessageRefusedError,
    PolicyError,
    ReleaseFailedError,
    RoundAbortedError,
    UnsupportedError,
)
from confide.jobs.federated.runs.coordinate import ANOTHER_RUN
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.plans.canonical import Json
from confide.plans.plan import Priced
from confide.service.site import Site

_CHARGED_BEFORE = (
    "it was charged for this before, and its operator asked for no other run; nothing was charged."
)
_LOST = "it was charged in this run before its part ended; its charge stays."
_FAILED = "something failed after its rows were read; its charge stays."
_UNKNOWN = "something failed at this site."
_BEGIN_AGAIN = "Nothing was charged here: once the coordinator runs, begin again."
_CHARGED = frozenset({State.READING, State.COMMITTED, State.PUBLISHED, State.BURNED})


def tell(board: Board, kind: NoticeKind, why: str, *, site: Site, name: str) -> None:
    """Say once why this site takes no part, or no longer."""
    with contextlib.suppress(OSError, MessageRefusedError):
        if board.read(kind, name) is None:  # a member says one thing of each kind
            board.post(kind, {"why": why}, sender=name, key=site.signer)


def certify(board: Board, certificate: Json, *, site: Site, name: str) -> None:
    """Say a site's certificate, once: what is made again later may name other versions.

    Raises:
        OSError: If it cannot be written.
    """
    with contextlib.suppress(MessageRefusedError):  # it said two before
        if board.read(NoticeKind.CERTIFIED, name) is None:
            board.post(NoticeKind.CERTIFIED, certificate, sender=name, key=site.signer)


def tell_charged_before(board: Board, *, plan: Priced, site: Site, name: str) -> None:
    """Say that this site was charged for the same before, in another run."""
    refused = NoticeKind.REFUSED, _CHARGED_BEFORE
    _tell_uncharged(board, *refused, plan=plan, digest=plan.digest(), site=site, name=name)


@contextlib.contextmanager
def told_why(board: Board, *, proposed: str, plan: Priced, site: Site, name: str) -> Iterator[None]:
    """Tell the others what a proposal is refused for: its time, or the part that differs.

    Args:
        board: Of the run.
        proposed: Digest of what the coordinator proposes.
        plan: This site's own.
        site: Open.
        name: Of the site.
    """
    try:
        yield
    except (PolicyError, ContractError) as refusal:
        refused = NoticeKind.REFUSED, str(refusal).removesuffix(refusal.hint).strip()
        _tell_uncharged(board, *refused, plan=plan, digest=proposed, site=site, name=name)
        raise


@contextlib.contextmanager
def told_that(board: Board, *, hub: str, plan: Priced, site: Site, name: str) -> Iterator[None]:
    """Tell the others that this site takes no part, or no longer; nothing of its data or ledger.

    That nothing was charged is said only where this site's ledger says so.  Its own people are told
    why the coordinator ended the run, if it did, and what begins another one.
    """
    try:
        yield
    except ReleaseFailedError as failure:
        tell(board, NoticeKind.ENDED, _FAILED, site=site, name=name)
        failure.add_note(_why_it_ended(board, hub=hub))
        raise
    except ConfideError as failure:
        ended = _in_public(failure)
        uncharged = _tell_uncharged(
            board, *ended, plan=plan, digest=plan.digest(), site=site, name=name
        )
        if uncharged and isinstance(failure, RoundAbortedError):
            failure.add_note(_BEGIN_AGAIN)
        raise


def _why_it_ended(board: Board, *, hub: str) -> str:
    """Return the coordinator's word on a run that ended after a charge, and what begins anew."""
    said = None
    with contextlib.suppress(OSError, MessageRefusedError):
        said = board.read(NoticeKind.ABORTED, hub)
    if not isinstance(said, dict):
        return ANOTHER_RUN
    return f"The coordinator ended the run: {str(said.get('why', ''))[:500]} {ANOTHER_RUN}"


def _tell_uncharged(
    board: Board, kind: NoticeKind, why: str, *, plan: Priced, digest: str, site: Site, name: str
) -> bool:
    """Say why a site takes no part, unless it was charged in this very run.

    Then it says that its charge stays; and nothing where another process of it is at the run.

    Returns:
        Whether this site's ledger says that nothing was charged in it.
    """
    uncharged = False
    try:
        asked = site.ledger.of_plan(plan.dataset.lineage, digest=digest)
        here = [entry for entry in asked if entry.request_key == board.run]
        if any(site.ledger.is_under_way(entry.number) for entry in here):
            return False
        if any(entry.state in _CHARGED for entry in here):
            kind, why = NoticeKind.ENDED, _LOST
        else:
            uncharged = True
    except ConfideError:  # of a ledger that cannot be read nothing is said
        kind, why = NoticeKind.ENDED, _UNKNOWN
    tell(board, kind, why, site=site, name=name)
    return uncharged


def _in_public(failure: ConfideError) -> tuple[NoticeKind, str]:
    """Return what the others are told of a failure; no text of it but that of the round."""
    match failure:
        case BudgetExhaustedError():
            told = "its budget does not allow the charge; nothing was charged."
        case PolicyError():
            told = "its policy or ledger does not allow the charge; nothing was charged."
        case ContractError() | UnsupportedError():
            told = "its files do not fit the plan; nothing was charged."
        case RoundAbortedError():
            said = str(failure).removesuffix(failure.hint).strip()
            is_said = said.lower().endswith("nothing was charged.")
            return NoticeKind.ENDED, said if is_said else f"{said} Nothing was charged."
        case _:
            return NoticeKind.ENDED, _UNKNOWN
    return NoticeKind.REFUSED, told
