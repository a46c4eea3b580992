"""``confide patients show``: what one patient was charged, for the patient and the officer alone.

*Privacy:* exact, so it is for nobody else.  That somebody looked, and why, is recorded in the
ledger first, with the keyed hash of the person id in place of the id.
"""

from typing import TYPE_CHECKING

from confide.cli.options import HERE, Dataset, Officer, Reason
from confide.cli.output import Json, Output, Quiet, say, table
from confide.cli.patients.ids import Ids, read_ids

if TYPE_CHECKING:
    from confide.service.patients.statement import Statement


def show_patient(
    dataset: Dataset = HERE,
    *,
    reason: Reason,
    ids: Ids = None,
    officer: Officer = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what one patient was charged by each release; the look is recorded first.

    The id is asked for, or read from a file or standard input: command lines are kept by shells.
    """
    from confide.service.patients.statement import statement

    output = Output(json=as_json, quiet=quiet)
    found = statement(dataset, lambda: read_ids(ids), reason=reason, officers=officer)
    output.result("patient", found, show=lambda: _show(found))
    output.note("This is exact, and for the patient and the privacy officer alone. It is recorded.")


def _show(found: "Statement") -> None:
    rows = [
        (
            str(each.entry),
            each.at[:10],
            each.study,
            each.state,
            "left out" if each.left_out else f"{found.letter} {each.charged}",
        )
        for each in found.charges
    ]
    lost = found.charged_by_lost_rows
    if lost != "0":
        rows.append(("", "", "(rows that were lost)", "everybody", f"{found.letter} {lost}"))
    table(("entry", "day", "study", "state", "charged"), rows, title="One patient", right=(0, 4))
    say(f"Caps: {', '.join(found.caps)}.")
