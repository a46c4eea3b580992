"""``confide policy``: read, solve, explain and play through what an institution allows."""

import typer

from confide.cli.policy.check import check
from confide.cli.policy.explain import explain
from confide.cli.policy.simulate import simulate
from confide.cli.policy.solve import solve

policy = typer.Typer(
    help="The policy file: what may be spent on whom, and whether it can be met. Reads no data.",
    no_args_is_help=True,
)
for command in (check, solve, simulate, explain):
    policy.command(command.__name__)(command)
