"""``confide synth``: synthetic tables, planned for free, and made by one charge."""

import typer

from confide.cli.synth.evaluate import evaluate_synth
from confide.cli.synth.examine import examine_synth
from confide.cli.synth.memorisation import show_memorised
from confide.cli.synth.plan import plan_synth
from confide.cli.synth.run import run_synth
from confide.cli.synth.start import start_synth

synth = typer.Typer(
    help="Synthetic tables with differential privacy, whose analyses have valid intervals.",
    no_args_is_help=True,
)
synth.command("start")(start_synth)
synth.command("plan")(plan_synth)
synth.command("run")(run_synth)
synth.command("evaluate")(evaluate_synth)
synth.command("examine")(examine_synth)
synth.command("memorisation")(show_memorised)
