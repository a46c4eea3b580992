"""``confide federate flower``: relays that carry a federation's files by Flower.

*Privacy:* relays read no rows and need no keys; what they carry is signed, and masked where it is
of a site's numbers.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say

if TYPE_CHECKING:
    from confide.service.federation.flower import FlowerApp, Post

flower = typer.Typer(
    help="Carry a federation's files by Flower, where members see no common folder.",
    no_args_is_help=True,
)

FederationPath = Annotated[
    Path, typer.Option("--federation", help="A federation.yaml, the same at every member.")
]
FolderPath = Annotated[
    Path, typer.Option("--folder", help="This member's folder, as of serve-site or run.")
]
RuntimeAddress = Annotated[
    str, typer.Option("--runtime", help="host:port of this member's SuperLink or SuperNode.")
]
SecretPath = Annotated[
    Path, typer.Option("--secret", help="Its file of --superexec-auth-secret-file.")
]
RootPath = Annotated[
    Path | None,
    typer.Option("--root-certificate", help="Of who signed its TLS certificate."),
]
Seconds = Annotated[float, typer.Option(min=1, help="How long it waits until something moves.")]
DAY = 86_400.0


@flower.command("app")
def app(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="A new folder for `flwr run`.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the app that ``flwr run`` takes: a ticket, of which nothing is run at any member."""
    from confide.service.federation.flower import write_flower_app

    made = write_flower_app(out)
    Output(json=as_json, quiet=quiet).result(
        "federate-flower-app", made, show=lambda: _written(made)
    )


@flower.command("hub")
def hub(
    *,
    folder: FolderPath,
    runtime: RuntimeAddress,
    secret: SecretPath,
    federation: FederationPath = Path("federation.yaml"),
    root_certificate: RootPath = None,
    seconds: Seconds = DAY,
    quiet: Quiet = False,
) -> None:
    """Carry files between the coordinator's folder and all sites, beside its SuperLink.

    Ends once nothing moved for --seconds; begun again, it goes on where it was.
    """
    from confide.service.federation.flower import serve_hub_relay

    post = _post(folder, federation, runtime, secret, root_certificate, seconds)
    serve_hub_relay(post, told=Output(json=False, quiet=quiet).note)


@flower.command("site")
def site(
    *,
    name: Annotated[str, typer.Option(help="Of the site, in federation.yaml.")],
    folder: FolderPath,
    runtime: RuntimeAddress,
    secret: SecretPath,
    federation: FederationPath = Path("federation.yaml"),
    root_certificate: RootPath = None,
    seconds: Seconds = DAY,
    quiet: Quiet = False,
) -> None:
    """Carry files between a site's folder and the coordinator, beside its SuperNode.

    Ends once no letter came for --seconds; begun again, it goes on where it was.
    """
    from confide.service.federation.flower import serve_site_relay

    post = _post(folder, federation, runtime, secret, root_certificate, seconds)
    serve_site_relay(post, name=name, told=Output(json=False, quiet=quiet).note)


def _post(
    folder: Path, federation: Path, runtime: str, secret: Path, root: Path | None, seconds: float
) -> "Post":
    from confide.service.federation.flower import Post

    return Post(
        folder=folder,
        federation=federation,
        runtime=runtime,
        secret=secret,
        root=root,
        seconds=seconds,
    )


def _written(made: "FlowerApp") -> None:
    say(f"Written to {made.folder}.", style="bold")
    say(f"Bundle  {made.bundle}")
    say("Nothing of it is run at any member; relays take part in runs of this bundle alone.")
