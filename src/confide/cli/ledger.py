"""``confide ledger``: what was spent, whether the chain is whole, and an officer's decisions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli.officers import Officer, officers_of
from confide.cli.output import Json, Output, Quiet, say, table
from confide.errors import ContractError

if TYPE_CHECKING:
    from confide.budget.ledger import Entry, Spent
    from confide.tables.schema import Dataset as Schema

ledger = typer.Typer(
    help="The budget ledger: what was spent, and whether its chain is whole.",
    no_args_is_help=True,
)

Dataset = Annotated[Path, typer.Argument(help="A dataset.yaml.")]
Reason = Annotated[str, typer.Option(help="Why; it is recorded for good.")]
HERE = Path("dataset.yaml")
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


@ledger.command("show")
def show_ledger(
    dataset: Dataset = HERE,
    *,
    last: Annotated[int, typer.Option(min=0, help="Show so many of the newest requests.")] = 100,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show the use of every cap and the newest requests."""
    from confide.cli.left_out import patient_caps_body
    from confide.cli.request.words import withheld_body
    from confide.workspace import open_ledger

    with open_ledger(dataset) as (held, declared):
        lineage = declared.dataset.lineage
        spent, entries = held.spent(lineage), held.entries(lineage, last=last)
        adopted = held.desk.policy(lineage)
        left_out = patient_caps_body(declared.dataset, ledger=held)
        listed = [
            _entry(each, dataset=declared.dataset)
            | {"withheld": withheld_body(each.number, ledger=held)}
            for each in entries
        ]
    body = {
        "lineage": lineage,
        "measure": spent.measure.value,
        "policy": None
        if adopted is None
        else {
            "id": adopted.policy.id,
            "version": adopted.policy.version,
            "sha256": adopted.digest,
        },
        "caps": _caps(spent, dataset=declared.dataset),
        "epsilon-delta": _delta_text(declared.dataset),
        "patient-caps": left_out,
        "entries": listed,
    }
    Output(json=as_json, quiet=quiet).result("ledger", body, show=lambda: _show(body))


@ledger.command("verify")
def verify_ledger(
    dataset: Dataset = HERE,
    *,
    anchor: Annotated[
        Path | None, typer.Option(help="Heads noted in another place, to compare with.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="An exported chain to check instead; needs no ledger.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="The signing.pub that you trust, for --export.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check every row of the chain, every copy and every signed head."""
    from confide.cli.upkeep.verify import exported, held

    output = Output(json=as_json, quiet=quiet)
    if export is None:
        with output.stages({}) as progress:
            body = held(dataset, anchor=anchor, progress=progress)
    else:
        body = exported(export, key=key)
    pinned = {
        True: f" Signed by {body['signer']}, which you have pinned.",
        False: f" Signed by {body['signer']}, which you have not pinned.",
    }
    show = f"The chain is whole: {body['rows']} rows, head {body['head'][:16]}…"
    show += f", ledger {body['ledger']}." if body["ledger"] else "."
    if export is not None:
        show += pinned[body["pinned"]]
    output.result("ledger-verify", body, show=lambda: say(show))


@ledger.command("unfreeze")
def unfreeze(
    dataset: Dataset = HERE,
    *,
    reason: Reason,
    officer: Officer = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Go on after an officer has looked; recorded, and never gives budget back."""
    from confide.workspace import open_ledger

    officers = officers_of(officer)
    with open_ledger(dataset) as (held, _):
        held.unfreeze(reason, officers=officers)
        last = held.chain().events[-1].fields()
    _done("unfreeze", "The ledger goes on.", as_json=as_json, quiet=quiet)
    if last["kind"] != "unfrozen" or "consent" not in last:
        return
    output = Output(json=as_json, quiet=quiet)
    if "lost" not in last:
        output.note(_UNKNOWN)
    output.note(_WITHDRAWN)


@ledger.command("open-year")
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
    from confide.workspace import open_ledger

    officers = officers_of(officer)
    with open_ledger(dataset) as (held, declared):
        lineage = declared.dataset.lineage
        held.open_year(lineage, year=year, reason=reason, officers=officers)
    _done("open-year", f"The budget of {year} is open.", as_json=as_json, quiet=quiet)


@ledger.command("adopt")
def adopt(
    dataset: Dataset = HERE,
    *,
    reason: Reason = "",
    officer: Officer = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Let the policy that dataset.yaml names hold from now on; versions only go up."""
    from confide.workspace import open_ledger

    officers = officers_of(officer)
    with open_ledger(dataset) as (held, declared):
        policy = declared.policy
        if policy is None:
            raise ContractError(
                "dataset.yaml names no policy.", hint="Write policy: policy.yaml instead of caps:."
            )
        lineage = declared.dataset.lineage
        held.desk.adopt(lineage, policy=policy, reason=reason, officers=officers)
    text = f"Policy {policy.id}, version {policy.version}, is in force."
    _done("adopt", text, as_json=as_json, quiet=quiet)


@ledger.command("confirm-day")
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
    from confide.workspace import open_ledger

    officers = officers_of(officer)
    with open_ledger(dataset) as (held, declared):
        lineage = declared.dataset.lineage
        held.desk.confirm_day(lineage, day=day, reason=reason, officers=officers)
    _done("confirm-day", f"{day} is confirmed.", as_json=as_json, quiet=quiet)


@ledger.command("amend-caps")
def amend_caps(
    dataset: Dataset = HERE, *, reason: Reason = "", as_json: Json = False, quiet: Quiet = False
) -> None:
    """Take the caps of dataset.yaml; raising one needs a reason, which is recorded."""
    from confide.workspace import open_ledger

    with open_ledger(dataset) as (held, declared):
        if declared.caps is None:
            raise ContractError(
                "dataset.yaml names a policy, and that says the caps.",
                hint="Run: confide ledger adopt --reason ...",
            )
        held.amend_caps(declared.dataset.lineage, caps=declared.caps, reason=reason)
    _done("amend-caps", "The caps are those of dataset.yaml.", as_json=as_json, quiet=quiet)


def _done(what: str, text: str, *, as_json: bool, quiet: bool) -> None:
    output = Output(json=as_json, quiet=quiet)
    output.result(f"ledger-{what}", {"done": True}, show=lambda: say(text))


def _caps(spent: "Spent", *, dataset: "Schema") -> list[dict[str, Any]]:
    from confide.budget.ledger import Scope
    from confide.cli.caps import cap_name
    from confide.privacy.amount import ATTO, NANO, decimal_text
    from confide.release.refusal import beside_units

    rows = []
    for use in spent.scopes:
        delta = use.scope is Scope.LIFETIME_DELTA
        per_one = ATTO if delta else NANO

        def text(units: int | None, per_one: int = per_one) -> str | None:
            return None if units is None else decimal_text(units, per_one=per_one)

        held = {"limit": use.cap, "spent": use.used, "free": use.remaining}
        beside = {n: None if delta else beside_units(u, dataset=dataset) for n, u in held.items()}
        rows.append(
            {
                "cap": cap_name(use),
                "letter": "δ" if delta else spent.measure.letter,
                **{name: text(units) for name, units in held.items()},
                "epsilon": {name: epsilon for name, epsilon in beside.items() if epsilon},
            }
        )
    return rows


def _at(body: dict[str, Any]) -> str:
    """Say at which δ an ε stands beside an amount in ρ; "" where none does."""
    delta = body["epsilon-delta"]
    return f" (ε at δ = {delta}, as in caps)" if delta else ""


def _delta_text(dataset: "Schema") -> str | None:
    """Return the δ of every ε beside an amount in ρ; none where amounts are in ε."""
    from confide.drawing.numbers import power_text
    from confide.privacy.measure import Measure
    from confide.release.refusal import epsilon_delta

    return power_text(epsilon_delta(dataset)) if dataset.measure is Measure.ZCDP else None


def _under(policy: dict[str, Any] | None) -> str:
    return "" if policy is None else f" under {policy['id']}, version {policy['version']}"


def _entry(entry: "Entry", *, dataset: "Schema") -> dict[str, Any]:
    from confide.release.refusal import beside_units

    epsilon = beside_units(entry.amount.nano, dataset=dataset)
    return {
        "number": entry.number,
        "at": entry.at,
        "analyst": entry.analyst,
        "study": entry.study,
        "request": entry.request_key,
        "plan": entry.plan_digest,
        "amount": entry.amount.text(entry.measure),
        **({} if epsilon is None else {"epsilon": epsilon}),
        "state": "withheld" if entry.withheld else entry.state.value,
    }


def _show(body: dict[str, Any]) -> None:
    from confide.cli.caps import cap_text
    from confide.cli.left_out import show_patient_caps
    from confide.cli.request.words import withheld_text

    def amount(cap: dict[str, Any], name: str) -> str:
        beside = cap["epsilon"].get(name)
        epsilon = f" (ε {beside})" if beside else ""
        return "–" if cap[name] is None else f"{cap_text(cap, name)}{epsilon}"

    table(
        ("cap", "limit", "spent", "free"),
        [
            (
                cap["cap"],
                "no cap" if cap["limit"] is None else f"{cap['letter']} {amount(cap, 'limit')}",
                *(amount(cap, name) for name in ("spent", "free")),
            )
            for cap in body["caps"]
        ],
        title=f"Budget of {body['lineage']}{_under(body['policy'])}{_at(body)}",
        right=(1, 2, 3),
    )
    show_patient_caps(body["patient-caps"])
    table(
        ("entry", "when (UTC)", "who", "study", "request", "amount", "state"),
        [
            (
                str(each["number"]),
                each["at"][:19].replace("T", " "),
                each["analyst"],
                each["study"][:24],
                each["request"][:16],
                each["amount"] + (f" (ε {each['epsilon']})" if "epsilon" in each else ""),
                each["state"],
            )
            for each in body["entries"]
        ],
        title="Requests",
    )
    for each in body["entries"]:
        if each["withheld"]:
            say(withheld_text(each["number"], each["withheld"]))
