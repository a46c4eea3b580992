"""``confide patients show``: what one patient was charged, for the patient and the officer alone.

*Privacy:* exact, so it is for nobody else.  That somebody looked, and why, is recorded in the
ledger first, with the keyed hash of the person id in place of the id.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from confide.cli.officers import Officer, officers_of
from confide.cli.output import Json, Output, Quiet, say, table
from confide.cli.patients.ids import Ids, read_ids
from confide.errors import ContractError


def show_patient(
    dataset: Annotated[Path, typer.Argument(help="A dataset.yaml.")] = Path("dataset.yaml"),
    *,
    reason: Annotated[str, typer.Option(help="Why; it is recorded for good.")],
    ids: Ids = None,
    officer: Officer = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what one patient was charged by each release; the look is recorded first.

    The id is asked for, or read from a file or standard input: command lines are kept by shells.
    """
    from confide.files.private_places import WORKSPACE
    from confide.privacy.amount import NANO, decimal_text
    from confide.privacy.individual import FEMTO, CapWindow
    from confide.release.approval import login
    from confide.release.consent import require_not_withdrawn
    from confide.workspace import open_workspace

    output, officers = Output(json=as_json, quiet=quiet), officers_of(officer)
    given = read_ids(ids)
    if len(given) != 1:
        raise ContractError("Expected the id of one patient.", hint="Write it on the only line.")
    with open_workspace(dataset) as site:
        of = site.declared.dataset
        if not of.patients:
            raise ContractError(
                "This data set leaves no patients out, so every charge is everybody's.",
                hint="See: confide ledger show",
            )
        identity = site.engine().identity(given[0])
        if identity is None:
            raise ContractError("That cannot be a person id of this source.")
        site.ledger.desk.note_access(
            of.lineage,
            patient="".join(f"{word:016x}" for word in identity),
            officer=login(),
            reason=reason,
            officers=officers,
        )
        require_not_withdrawn(site.declared.base / WORKSPACE, ledger=site.ledger, words=identity)
        told = site.patients().statement(site.ledger, identity=identity)
        lost = site.ledger.counting_now(of.lineage, window=CapWindow.LIFETIME.value).lost
        letter = of.measure.letter
        caps = [
            f"{decimal_text(cap.nano, per_one=NANO)} {letter} by {cap.window.value}"
            for cap in of.patients
        ]
    charges: list[dict[str, Any]] = [
        {
            "entry": entry.number,
            "at": entry.at,
            "study": entry.study,
            "state": entry.state.value,
            "left-out": paid is None,
            "charged": decimal_text(paid or 0, per_one=FEMTO),
        }
        for entry, paid in told
    ]
    body = {"measure": of.measure.value, "caps": caps, "charges": charges}
    body["charged-by-lost-rows"] = decimal_text(lost, per_one=NANO)
    output.result("patient", body, show=lambda: _show(body, letter=letter))
    output.note("This is exact, and for the patient and the privacy officer alone. It is recorded.")


def _show(body: dict[str, Any], *, letter: str) -> None:
    rows = [
        (
            str(each["entry"]),
            each["at"][:10],
            each["study"],
            each["state"],
            "left out" if each["left-out"] else f"{letter} {each['charged']}",
        )
        for each in body["charges"]
    ]
    lost = body["charged-by-lost-rows"]
    if lost != "0":
        rows.append(("", "", "(rows that were lost)", "everybody", f"{letter} {lost}"))
    table(("entry", "day", "study", "state", "charged"), rows, title="One patient", right=(0, 4))
    say(f"Caps: {', '.join(body['caps'])}.")
