"""``confide doctor``: what a question about an installation needs, and nothing of the data."""

import os
import platform
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say, table
from confide.errors import ConfideError

LAST = 5
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def doctor(
    dataset: Annotated[Path, typer.Argument(help="A dataset.yaml.")] = Path("dataset.yaml"),
    *,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show versions, who may read the workspace, the ledger's state, and past failures.

    Holds neither rows nor what failures said: kinds of errors and lines of programs alone. It opens
    the ledger and no source. Send this with a question, never a log.
    """
    from confide.cli.border import log_file
    from confide.release.incidents import incidents, older

    logs = [log_file()]
    body: dict[str, Any] = {"software": _software(), "workspace": None}
    if dataset.exists():
        body["workspace"], folder = _workspace(dataset)
        logs.append(folder / "incidents.log")
    seen = [each for log in logs for name in (older(log), log) for each in incidents(name)]
    body["incidents"] = [
        {"at": each.at, "incident": each.incident, "kinds": each.kinds, "places": each.places}
        for each in sorted(seen, key=lambda each: each.at)[-LAST:]
    ]
    Output(json=as_json, quiet=quiet).result("doctor", body, show=lambda: _show(body))


def _software() -> dict[str, Any]:
    from confide.release.software import software

    found = software()
    return {
        "confide": found["version"],
        "source-sha256": found["source-sha256"],
        "python": found["python"],
        "platform": platform.platform(),
        "libraries": found["libraries"],
    }


def _workspace(dataset: Path) -> tuple[dict[str, Any], Path]:
    """Return what is known of a workspace without reading a row, and its folder."""
    from confide.files.private_places import WORKSPACE

    folder = dataset.parent / WORKSPACE
    kind, ledger = _ledger(dataset)
    body = {
        "ledger": kind,
        "state": ledger,
        "open-to-others": sorted(_open_to_others(folder)),
        "writable": os.access(folder if folder.exists() else dataset.parent, os.W_OK),
    }
    return body, folder


def _ledger(dataset: Path) -> tuple[str, str]:
    """Return the kind of a ledger and how it is, in a sentence."""
    from confide.budget.place import SQLitePlace
    from confide.workspace import open_ledger

    try:
        with open_ledger(dataset) as (held, declared):
            rows = held.head().number
            kind = "SQLite" if isinstance(declared.ledger, SQLitePlace) else "PostgreSQL"
            return kind, f"whole as far as was looked at, {rows} rows"
    except ConfideError as error:
        return "", str(error).removesuffix(error.hint).strip()


def _open_to_others(folder: Path) -> Iterator[str]:
    """Yield what others may read or write of a workspace; nothing of a folder they cannot enter."""
    if not folder.exists() or not folder.stat().st_mode & _OTHERS:
        return
    for place in (folder, *folder.rglob("*")):
        if not place.is_symlink() and place.lstat().st_mode & _OTHERS:
            yield str(place.relative_to(folder.parent))


def _show(body: dict[str, Any]) -> None:
    software, workspace = body["software"], body["workspace"]
    say(f"confide {software['confide']}, Python {software['python']}, {software['platform']}")
    say(", ".join(f"{name} {version}" for name, version in software["libraries"].items()))
    if workspace is None:
        say("No dataset.yaml here, so no workspace was looked at.")
    else:
        say(f"Ledger: {workspace['ledger'] or 'not opened'}; {workspace['state'].rstrip('.')}.")
        others = ", ".join(workspace["open-to-others"])
        say(f"Others may look into: {others}." if others else "Nobody else may look into it.")
        if not workspace["writable"]:
            say("The workspace cannot be written, so nothing can be planned or released here.")
    if not body["incidents"]:
        say("No failures on record.")
        return
    rows = [
        (each["at"], each["incident"], " from ".join(each["kinds"]), ", ".join(each["places"][-3:]))
        for each in body["incidents"]
    ]
    table(("when", "incident", "kind", "innermost lines"), rows, title="Failures")
