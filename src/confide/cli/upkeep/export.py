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
    from confide.workspace import open_ledger

    with open_ledger(dataset) as (held, _):
        head = held.chain().head
    if head.number == 0:
        raise ContractError("The ledger is empty.", hint="Plan or run a study first.")
    line = canonical(head.to_fields())
    if out is not None:
        Anchor(out).append(head)
    show = line if out is None else f"Appended the head of row {head.number} to {out}."
    Output(json=as_json, quiet=quiet).result(
        "ledger-anchor", {"head": head.to_fields()}, show=lambda: write(f"{show}\n")
    )
