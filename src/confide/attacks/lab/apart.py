"""Where the lab may write: a place of the steward's, apart from every release.

A folder is a release's if it, or a folder around it, holds a certificate; links are followed first.
A folder of lab results has mode 0700 and its files 0600, their names say whose they are, and none
is written over.
"""

from collections.abc import Mapping
from pathlib import Path

from confide.errors import ContractError
from confide.regular_file import create_durable
from confide.report.pages.folder import CERTIFICATE

PREFIX, EXAMPLE_PREFIX = "STEWARD-ONLY-", "EXAMPLE-"
_WORKSPACE = ".confide"


def require_apart(out: Path) -> None:
    """Refuse a place in a release, in a workspace's own folder, or with anything in it.

    Raises:
        ContractError: If it is one.
    """
    for folder in around(out):
        if (folder / CERTIFICATE).exists():
            raise ContractError(
                f"{out.name} lies in a release, and what the lab finds is exact.",
                hint="Name a folder apart from releases with --out.",
            )
        if folder.name == _WORKSPACE:
            raise ContractError(
                f"{out.name} lies in the folder of a ledger.", hint="Name another with --out."
            )
    if out.is_symlink() or (out.exists() and not (out.is_dir() and not any(out.iterdir()))):
        raise ContractError(
            f"{out.name} exists already.", hint="Name a new or empty folder with --out."
        )


def around(place: Path) -> tuple[Path, ...]:
    """Return a folder and all around it, where links lead."""
    real = place.resolve()
    return (real, *real.parents)


def write_apart(files: Mapping[str, bytes], *, out: Path) -> None:
    """Write files that this user alone may read, by the names that say whose they are.

    Raises:
        ContractError: If the place is not apart.
    """
    require_apart(out)
    out.mkdir(parents=True, exist_ok=True)
    out.chmod(0o700)
    for name, content in files.items():
        create_durable(out / name, content)
