"""``confide federate``: one release over sites that pool no records.

*Privacy:* ``serve-site`` alone reads rows and spends, from its own site's budget, and only once its
operator has named the digest of the plan.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.federate_flower import flower
from confide.cli.output import Json, Output, Quiet, say, table
from confide.cli.releasing.stages import STAGES
from confide.errors import ContractError

if TYPE_CHECKING:
    from confide.service.federation.enrol import Enrolled, Founded
    from confide.service.federation.run import JointRelease
    from confide.service.federation.serve import OwnPlan, Served
    from confide.service.federation.status import FederationStatus

federate = typer.Typer(
    help="One release over sites that pool no records, none of which is seen.",
    no_args_is_help=True,
)
federate.add_typer(flower, name="flower")

StudyPath = Annotated[Path, typer.Argument(help="A study.yaml, the same at every member.")]
FederationPath = Annotated[
    Path, typer.Option("--federation", help="A federation.yaml, the same at every member.")
]
FolderPath = Annotated[Path, typer.Option("--folder", help="The folder that is synchronised.")]
Seconds = Annotated[
    float, typer.Option(min=1, help="How long each word of another member is waited for.")
]
OutPath = Annotated[Path, typer.Option("--out", "-o", help="Folder for the release.")]
HERE = Path("federation.yaml")
HOUR = 3600.0

_STAGES = STAGES | {
    "wait": "Waiting for a run",
    "gather": "Hearing the other sites",
    "add": "Adding over sites",
    "propose": "Proposing a run",
    "resume": "Going on with the run that was proposed",
    "advertise": "Round 1 of 5: keys",
    "share": "Round 2 of 5: shares of keys",
    "masked": "Round 3 of 5: hidden numbers",
    "consent": "Round 4 of 5: consent to who is in",
    "unmask": "Round 5 of 5: opening the sum",
    "certificates": "Waiting for the sites' certificates",
}


@federate.command("enrol")
def enrol(
    dataset: Annotated[Path, typer.Argument(help="This member's dataset.yaml.")] = Path(
        "dataset.yaml"
    ),
    *,
    name: Annotated[str, typer.Option(help="What the others call it, such as north.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Tell this member's name and public key, for whoever writes federation.yaml."""
    from confide.service.federation.enrol import enrol as enrolled

    made = enrolled(dataset, name=name)
    Output(json=as_json, quiet=quiet).result("federate-enrol", made, show=lambda: _enrolled(made))


@federate.command("init")
def init(
    *,
    coordinator: Annotated[str, typer.Option(help="name=key of who adds up, as enrol prints it.")],
    site: Annotated[list[str], typer.Option(help="name=key of a site; once for each.")],
    drops: Annotated[int, typer.Option(help="How many sites may be missing.")] = 0,
    colluders: Annotated[
        int, typer.Option(help="How many sites may act together with the coordinator.")
    ] = 1,
    sites_per_person: Annotated[
        int, typer.Option(help="Of how many of them one person may be a patient.")
    ] = 1,
    out: Annotated[Path, typer.Option("--out", "-o", help="A new file.")] = HERE,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write federation.yaml: who takes part, and what that withstands."""
    from confide.service.federation.enrol import found

    made = found(
        out,
        coordinator=coordinator,
        sites=site,
        drops=drops,
        colluders=colluders,
        sites_per_person=sites_per_person,
    )
    Output(json=as_json, quiet=quiet).result("federate-init", made, show=lambda: _founded(made))


@federate.command("serve-site")
def serve_site(  # noqa: PLR0913 - one for each option
    study: StudyPath,
    *,
    folder: FolderPath,
    federation: FederationPath = HERE,
    approve: Annotated[
        str | None,
        typer.Option(help="Digest of the plan that this site approves; else it is shown only."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for this site's release.")
    ] = None,
    seconds: Seconds = HOUR,
    again: Annotated[
        bool,
        typer.Option("--again", help="Take part anew in what was charged before: another charge."),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look at the plan; with --approve, take part: charge, read, hide, add, certify.

    Nothing is charged before the other sites have spoken. Once this site's numbers were asked for,
    the charge stays, also where the run then ends. What has its answer is delivered at no charge,
    whatever run is proposed.
    """
    from confide.service.federation.meeting import Meeting
    from confide.service.federation.serve import own_plan
    from confide.service.federation.serve import serve_site as served

    output = Output(json=as_json, quiet=quiet)
    if (approve is None) != (out is None):
        raise ContractError(
            "To take part needs --approve and --out; nothing was charged.",
            hint="Leave both out to look at the plan.",
        )
    if approve is None or out is None:
        looked_at = own_plan(study, federation=federation)
        output.result("federate-plan", looked_at, show=lambda: _own_plan(looked_at))
        return
    with output.stages(_STAGES) as progress:
        made = served(
            study,
            federation=federation,
            meeting=Meeting(folder=folder, seconds=seconds),
            approve=approve,
            out=out,
            again=again,
            progress=progress,
        )
    output.result("federate-serve-site", made, show=lambda: _served(made))


@federate.command("run")
def run(
    study: StudyPath,
    *,
    folder: FolderPath,
    out: OutPath,
    federation: FederationPath = HERE,
    seconds: Seconds = HOUR,
    again: Annotated[
        bool, typer.Option("--again", help="Begin another run: another charge at every site.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Coordinate: propose the study, bring the sum about, and keep all sites' certificates.

    Reads no rows and charges nothing here. Sites may begin within 7 days. A model is several sums,
    each after the one before. Run again after a cut, it goes on where it can.
    """
    from confide.service.federation.meeting import Meeting
    from confide.service.federation.run import run_over_sites

    output = Output(json=as_json, quiet=quiet)
    with output.stages(_STAGES) as progress:
        made = run_over_sites(
            study,
            federation=federation,
            meeting=Meeting(folder=folder, seconds=seconds),
            out=out,
            again=again,
            progress=progress,
        )
    output.result("federate-run", made, show=lambda: _ran(made))


@federate.command("status")
def status(
    *,
    folder: FolderPath,
    federation: FederationPath = HERE,
    every: Annotated[bool, typer.Option("--all", help="Earlier runs, too.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show how far the latest run has come, and what each site said; as JSON of all runs."""
    from confide.service.federation.status import status as told

    found = told(federation=federation, folder=folder)
    Output(json=as_json, quiet=quiet).result(
        "federate-status", found, show=lambda: _status(found, every=every)
    )


def _enrolled(made: "Enrolled") -> None:
    say(made.member)
    say("Tell this line to the others in a way that nobody else can change: they pin this key.")


def _founded(made: "Founded") -> None:
    say(f"Written to {made.file}; copy it to {', '.join(made.sites)}.", style="bold")
    say(f"Sums need {made.least_alive} of {len(made.sites)} sites.")
    say(f"The noise has {made.variance:.3g} times the variance of one trusted curator's.")


def _own_plan(found: "OwnPlan") -> None:
    from confide.cli.planning.plan import show_plan

    show_plan(found.preview)
    say(f"Over sites {', '.join(found.sites)}; this one is {found.site or 'no member'}.")
    say(f"The noise has {found.variance:.3g} times the variance of one trusted curator's.")
    say(f"Plan  {found.digest}", style="bold")
    say("Nothing was charged or read. Ask the coordinator for its digest: take part only if it is")
    say("the same, with  --approve " + found.digest + " --out release")


def _served(made: "Served") -> None:
    say(f"Report       {made.report}", style="bold")
    say(f"Certificate  {made.certificate}  (verifies; release {made.id})")
    say(f"In the sum: {', '.join(made.added)}.")
    spent = "Spent" if made.charged else "Delivered again, nothing charged or read; it had cost"
    say(f"{spent} {made.loss.text}.")


def _ran(made: "JointRelease") -> None:
    say(f"Report       {made.report}", style="bold")
    say(f"In the sum: {', '.join(made.added)}.")
    for path in made.certificates.values():
        say(f"Certificate  {path}  (verifies)")
    for name, why in made.missing.items():
        say(f"No certificate of {name}: {why}")


def _status(found: "FederationStatus", *, every: bool) -> None:
    say(f"Coordinator {found.coordinator}; sites {', '.join(found.sites)}.", style="bold")
    if not found.runs:
        say("No run was proposed.")
    for each in found.runs if every else found.runs[:1]:
        why = f" ({each.why})" if each.why else ""
        sums = f", {each.told} of {each.sums} sums" if each.sums > 1 else ""
        say(
            f"Run {each.run[:16]} of {each.at} UTC, plan {each.digest[:16]}: "
            f"{each.came_to}{sums}{why}"
        )
        table(("site", "said"), [(one.site, one.said) for one in each.sites])
        for reason in dict.fromkeys(one.why for one in each.sites if one.why):
            say(f"{', '.join(one.site for one in each.sites if one.why == reason)}: {reason}")
    earlier = 0 if every else len(found.runs[1:])
    if earlier:
        say(f"Earlier runs, which --all shows: {earlier}.")
