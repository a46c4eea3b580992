"""``confide ledger unfreeze``, ``open-year``, ``adopt``, ``confirm-day``, ``amend-caps``."""

from typing import Annotated

import typer

from confide.cli.options import HERE, Dataset, Officer, Reason
from confide.cli.output import Json, Output, Quiet, say

_UNKNOWN = (
    "Whether rows are lost is not known, nor which: what they may have spent counts nothing here, "
    "and a policy that they adopted does not hold. Find out from the certificates that were "
    "issued, before anything is released. Approvals of before count no more."
)
_WITHDRAWN = (
    "Who withdrew consent in lost rows may be counted again: run confide patients forget for them. "
    "Whoever is met from now on counts, under caps that leave patients out, as charged the whole "
    "loss of every release before."
)


def unfreeze(
    dataset: Dataset = HERE,
    *,
    reason: Reason,
    officer: Officer = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Go on after an officer has looked; recorded, and never gives budget back."""
    from confide.service.ledger import acts

    done = acts.unfreeze(dataset, reason=reason, officers=officer)
    output = Output(json=as_json, quiet=quiet)
    output.result("ledger-unfreeze", done, show=lambda: say("The ledger goes on."))
    if done.rows_unknown:
        output.note(_UNKNOWN)
    if done.consent_lost:
        output.note(_WITHDRAWN)


def open_year(
    year: Annotated[int, typer.Argument(help="The calendar year, as the clock shows it.")],
    dataset: Dataset = HERE,
    *,
    reason: Reason,
    officer: Officer = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Start the budget of a calendar year."""
    from confide.service.ledger import acts

    done = acts.open_year(dataset, year=year, reason=reason, officers=officer)
    output = Output(json=as_json, quiet=quiet)
    output.result("ledger-open-year", done, show=lambda: say(f"The budget of {year} is open."))


def adopt(
    dataset: Dataset = HERE,
    *,
    reason: Reason = "",
    officer: Officer = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Let the policy that dataset.yaml names hold from now on; versions only go up."""
    from confide.service.ledger import acts

    done = acts.adopt(dataset, reason=reason, officers=officer)
    text = f"Policy {done.policy}, version {done.version}, is in force."
    Output(json=as_json, quiet=quiet).result("ledger-adopt", done, show=lambda: say(text))


def confirm_day(
    day: Annotated[str, typer.Argument(help="Today in UTC, as 2027-06-01.")],
    dataset: Dataset = HERE,
    *,
    reason: Reason,
    officer: Officer = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say that today is that day: rolling windows let go of what is 365 days behind."""
    from confide.service.ledger import acts

    done = acts.confirm_day(dataset, day=day, reason=reason, officers=officer)
    output = Output(json=as_json, quiet=quiet)
    output.result("ledger-confirm-day", done, show=lambda: say(f"{day} is confirmed."))


def amend_caps(
    dataset: Dataset = HERE, *, reason: Reason = "", as_json: Json = False, quiet: Quiet = False
) -> None:
    """Take the caps of dataset.yaml; raising one needs a reason, which is recorded."""
    from confide.service.ledger import acts

    done = acts.amend_caps(dataset, reason=reason)
    output = Output(json=as_json, quiet=quiet)
    output.result(
        "ledger-amend-caps", done, show=lambda: say("The caps are those of dataset.yaml.")
    )
