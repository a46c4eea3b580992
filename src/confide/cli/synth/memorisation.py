"""``confide synth memorisation``: what generators remember of made-up patients."""

from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.synthesis.memorisation import MemorisationShown


def show_memorised(
    *,
    epsilon: Annotated[str, typer.Option(help="Of the generator with noise.")] = "2",
    method: Annotated[
        str, typer.Option(help="tree, from marginals; or vae, which takes minutes.")
    ] = "tree",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show, on made-up patients, what a generator without noise gives away.

    Plants unique rows among them and looks for them in the synthetic table; infers by shadow models
    who was there. Reads no data and charges nothing; may be shown to anybody.
    """
    from confide.service.synthesis.memorisation import show_memorisation

    output = Output(json=as_json, quiet=quiet)
    found = show_memorisation(epsilon, method=method, progress=output.note)
    output.result("synth-memorisation", found, show=lambda: print_memorised(found))


def print_memorised(found: "MemorisationShown") -> None:
    """Print what generators remember, for people."""
    rows = [
        (
            each.noise,
            f"{each.given_back} of {each.planted}",
            f"{100 * each.copies:.1f} %",
            f"{100 * each.held_out_copies:.1f} %",
            "–" if each.advantage is None else f"{each.advantage:.2f} ± {each.standard_error:.2f}",
            "–" if each.bound is None else f"{each.bound:.2f}",
        )
        for each in found.generators
    ]
    head = ("noise", "canaries given back", "copies", "by chance", "membership", "bound")
    table(head, rows, title="What a generator remembers", right=(1, 2, 3, 4, 5))
    say("Made-up patients: this may be shown to anybody.")
