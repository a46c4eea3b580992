"""Relays: Flower carries the files of a federation between folders that nobody shares.

A relay needs neither data nor keys: it may run on another machine than the site's Confide, as long
as it reads and writes the site's folder.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from confide.errors import ContractError, UnknownNameError
from confide.files.federation.federation import read_federation
from confide.jobs.federated.flower import bundle
from confide.jobs.federated.flower.hub_relay import relay_hub
from confide.jobs.federated.flower.mailbox import Mailbox
from confide.jobs.federated.flower.relays import SiteEnd
from confide.jobs.federated.flower.runtime import Runtime
from confide.jobs.federated.flower.site_relay import relay_site
from confide.plans.sites.federation import Federation

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowerApp:
    """What ``flwr run`` takes.

    Attributes:
        folder: Where it is.
        bundle: SHA-256 of the bundle that it makes; relays take part in no other.
    """

    folder: Path
    bundle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """Where a relay carries files to and from.

    Attributes:
        folder: Of this member alone.
        federation: A federation.yaml, as every member has it.
        runtime: host:port of this member's own SuperLink or SuperNode.
        secret: File of the secret that it was started with.
        root: Certificate of who signed its TLS certificate; None on loopback alone.
        seconds: How long it waits until something moves.
    """

    folder: Path
    federation: Path
    runtime: str
    secret: Path
    root: Path | None
    seconds: float


def write_flower_app(folder: Path) -> FlowerApp:
    """Write the app.

    Raises:
        ContractError: If the folder holds something.
        UnsupportedError: Without Flower.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ContractError(f"{folder.name or folder} is not empty.", hint="Choose another --out.")
    return FlowerApp(folder=folder, bundle=bundle.write_app(folder))


def serve_hub_relay(post: Post, *, told: Callable[[str], None]) -> None:
    """Carry files between the coordinator and all sites, until nothing moves for so long.

    Raises:
        ContractError: If the folder is missing, or the connection would be plain.
        UnsupportedError: Without Flower.
    """
    members = read_federation(post.federation)
    relay_hub(
        _mailbox(post, members),
        federation=members,
        runtime=_runtime(post),
        seconds=post.seconds,
        told=told,
    )


def serve_site_relay(post: Post, *, name: str, told: Callable[[str], None]) -> None:
    """Carry files between a site and the coordinator, until no letter comes for so long.

    Raises:
        ContractError: If the folder is missing, or the connection would be plain.
        UnknownNameError: If the federation has no such site.
        UnsupportedError: Without Flower.
    """
    members = read_federation(post.federation)
    sites = [site.name for site in members.sites]
    if name not in sites:
        raise UnknownNameError("site", name, known=sites)
    end = SiteEnd(mailbox=_mailbox(post, members), federation=members, member=name)
    relay_site(end, runtime=_runtime(post), seconds=post.seconds, told=told)


def _mailbox(post: Post, members: Federation) -> Mailbox:
    if not post.folder.is_dir():
        raise ContractError(
            f"{post.folder.name or post.folder} is no folder.",
            hint="Make it, and give it to serve-site or run as --folder.",
        )
    names = [each.name for each in (members.coordinator, *members.sites)]
    return Mailbox(post.folder, members=names)


def _runtime(post: Post) -> Runtime:
    host = post.runtime.rpartition(":")[0]
    if post.root is None and host not in _LOOPBACK:
        raise ContractError(
            f"{host} is not this machine, and the connection would be plain.",
            hint="Name the certificate of its authority: --root-certificate ca.pem",
        )
    return Runtime(address=post.runtime, secret=post.secret, root=post.root)
