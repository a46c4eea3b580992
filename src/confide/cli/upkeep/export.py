"""``confide ledger export`` and ``anchor``: what others keep, so that they can check us."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say, write
from confide.regular_file import create_text

HERE = Path("dataset.yaml")
Dataset = Annotated[Path, typer.Argument(help="A dataset.yaml.")]


def export(
    dataset: Dataset = HERE,
    *,
    out: Annotated[Path | None, typer.Option(help="File to make; stdout when left out.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the chain as JSON lines, without answers, for anybody to verify."""
    from confide.budget.export import chain_text
    from confide.workspace import open_ledger

    with open_ledger(dataset) as (held, _):
        chain = held.chain()
    text = chain_text(chain)
    if out is None:
        write(text)
        return
    create_text(out, text)
    body = {"out": str(out), "rows": chain.head.number, "head": chain.head.hash}
    output = Output(json=as_json, quiet=quiet)
    output.result("ledger-export", body, show=lambda: say(f"Wrote {chain.head.number} rows."))
    output.note(f"Anybody checks it with: confide ledger verify --export {out} --key signing.pub")


def anchor(
    dataset: Dataset = HERE,
    *,
    out: Annotated[
        Path | None, typer.Option(help="File in another place to append to; stdout when left out.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the signed head for a notary, or append it to a file in another place."""
    from confide.budget.anchor import Anchor
    from confide.budget.chain import canonical
    from confide.errors import ContractError
    from confide.files.private_places import WORKSPACE
    from confide.release.keys import retired_keys
    from confide.release.site_ledger import ANCHOR
    from confide.workspace import open_ledger

    with open_ledger(dataset) as (held, declared):
        head = held.chain().head
    if head.number == 0:
        raise ContractError("The ledger is empty.", hint="Plan or run a study first.")
    line = canonical(head.to_fields())
    if out is not None:
        folder = declared.base / WORKSPACE
        old = (name.removeprefix("ed25519:") for name in retired_keys(folder))
        _require_notes(out, own=declared.anchor or folder / ANCHOR, keys={head.key, *old})
        Anchor(out).append(head)
    show = line if out is None else f"Appended the head of row {head.number} to {out}."
    Output(json=as_json, quiet=quiet).result(
        "ledger-anchor", {"head": head.to_fields()}, show=lambda: write(f"{show}\n")
    )


def _require_notes(out: Path, *, own: Path, keys: set[str]) -> None:
    """Refuse to append a head to what is no file of noted heads.

    Args:
        out: Where to.
        own: The anchor that the ledger keeps itself.
        keys: Public keys, in hexadecimal, that sign or signed heads of this ledger.

    Raises:
        ContractError: If it is an anchor that a ledger keeps itself, which one more line would
            freeze, or holds anything but whole lines of heads of this ledger.
    """
    from confide.budget.anchor import Anchor
    from confide.errors import ContractError
    from confide.files.private_places import WORKSPACE

    is_own = out.exists() and own.exists() and out.samefile(own)
    if is_own or WORKSPACE in out.resolve().parent.parts:
        raise ContractError(
            f"{out} is an anchor that a ledger keeps itself, or lies beside one.",
            hint="Note heads in another file, in another place.",
        )
    if not Anchor(out).is_of(keys):
        raise ContractError(
            f"{out} holds something else than heads of this ledger, one a line.",
            hint="Name a new file; or end or remove its last line, where a crash left that torn.",
        )
