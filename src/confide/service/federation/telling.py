"""What a site tells the others where it takes no part in a run, or no longer.

*Privacy:* reasons are constant, but for what a round or a proposal says of itself; nothing of the
site's data, files or ledger is in them.
"""

import contextlib
from collections.abc import Iterator

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
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.service.site import Site


def tell(board: Board, kind: NoticeKind, why: str, *, site: Site, name: str) -> None:
    """Say once why this site takes no part, or no longer."""
    with contextlib.suppress(OSError, MessageRefusedError):
        if board.read(kind, name) is None:  # a member says one thing of each kind
            board.post(kind, {"why": why}, sender=name, key=site.signer)


@contextlib.contextmanager
def told_why(board: Board, *, site: Site, name: str) -> Iterator[None]:
    """Tell the others what a proposal is refused for: its time, or the part that differs."""
    try:
        yield
    except (PolicyError, ContractError) as refusal:
        tell(board, NoticeKind.REFUSED, str(refusal), site=site, name=name)
        raise


@contextlib.contextmanager
def told_that(board: Board, *, site: Site, name: str) -> Iterator[None]:
    """Tell the others that this site takes no part, or no longer; nothing of its data or ledger."""
    try:
        yield
    except ConfideError as failure:
        kind, why = _in_public(failure)
        tell(board, kind, why, site=site, name=name)
        raise


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
            return NoticeKind.ENDED, f"{failure} Nothing was charged."
        case ReleaseFailedError():
            return (
                NoticeKind.ENDED,
                "something failed after its rows were read; its charge stays.",
            )
        case _:
            return NoticeKind.ENDED, "something failed at this site."
    return NoticeKind.REFUSED, told
