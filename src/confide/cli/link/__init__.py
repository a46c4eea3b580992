"""``confide link``: how two tables overlap, with differential privacy."""

import typer

from confide.cli.link.plan import plan_link
from confide.cli.link.run import run_link

link = typer.Typer(
    help="Link two tables, and tell with differential privacy how they overlap.",
    no_args_is_help=True,
)
link.command("plan")(plan_link)
link.command("run")(run_link)
