"""Which software made a release: version, commit, source files and libraries."""

import contextlib
import functools
import hashlib
import platform
import re
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path

from confide.plans.canonical import digest
from confide.regular_file import read_text
from confide.release.certificate.parts import SoftwarePart

CHECKS = (
    "before charging: measurements and sensitivities derived again from the statistics",
    "before charging: loss computed again from noise and sensitivity, at most the charge",
    "on opening the ledger: every row, payload, copy and signed head; losses recomputed",
)
"""What was checked before a row was read; each stops the release when it fails."""

_COMMIT = re.compile(r"[0-9a-f]{40}")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@functools.cache
def software() -> SoftwarePart:
    """Return what a certificate says of the software."""
    from confide.version import __version__

    total = hashlib.sha256()
    for name, content in sorted(_sources(resources.files("confide"), "")):
        total.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return SoftwarePart(
        name="confide",
        version=__version__,
        source_sha256=total.hexdigest(),
        python=platform.python_version(),
        lock_sha256=digest(libraries()),
        libraries=libraries(),
        checks=list(CHECKS),
        commit=commit(Path(__file__).parents[3]),
    )


@functools.cache
def libraries() -> dict[str, str]:
    """Return the installed versions of what the package requires, by name."""
    try:
        required = metadata.requires("confide") or []
    except metadata.PackageNotFoundError:  # run from a source tree
        required = []
    names = {match.group() for each in required if (match := _NAME.match(each))}
    found = {}
    for name in sorted(names):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name) or ""
    return found


def commit(root: Path) -> str | None:
    """Return the commit that a source tree is at; None where the package runs from elsewhere.

    What runs is named by ``source-sha256``, also if files differ from the commit.
    """
    try:
        place = root / ".git"
        if place.is_file():  # of a further worktree
            place = root / read_text(place).removeprefix("gitdir:").strip()
        head = read_text(place / "HEAD").strip()
        name = head.removeprefix("ref:").strip()
        shared = place / "commondir"
        stores = [place, place / read_text(shared).strip()] if shared.exists() else [place]
        for store in stores if head.startswith("ref:") else ():
            if (store / name).is_file():
                head = read_text(store / name).strip()
    except (OSError, UnicodeDecodeError):
        return None
    return head if _COMMIT.fullmatch(head) else None


def _sources(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for item in folder.iterdir():
        if item.is_dir() and item.name != "__pycache__":
            found += _sources(item, f"{prefix}{item.name}/")
        elif item.name.endswith(
            (".py", ".sql", ".toml", ".css", ".jinja", ".yaml", ".csv", ".txt", ".bib")
        ):
            found.append((f"{prefix}{item.name}", item.read_bytes()))
    return found
