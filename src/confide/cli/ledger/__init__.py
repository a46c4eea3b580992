"""``confide ledger``: what was spent, whether the chain is whole, officers' decisions, upkeep."""

import typer

from confide.cli.ledger.acts import adopt, amend_caps, confirm_day, open_year, unfreeze
from confide.cli.ledger.anchor import anchor
from confide.cli.ledger.backup import backup
from confide.cli.ledger.export import export
from confide.cli.ledger.grants import grants
from confide.cli.ledger.restore import restore
from confide.cli.ledger.rotate_keys import rotate_keys
from confide.cli.ledger.show import show_ledger
from confide.cli.ledger.verify import verify_ledger

ledger = typer.Typer(
    help="The budget ledger: what was spent, and whether its chain is whole.",
    no_args_is_help=True,
)
ledger.command("show")(show_ledger)
ledger.command("verify")(verify_ledger)
for name, command in (
    ("unfreeze", unfreeze),
    ("open-year", open_year),
    ("adopt", adopt),
    ("confirm-day", confirm_day),
    ("amend-caps", amend_caps),
    ("backup", backup),
    ("restore", restore),
    ("rotate-keys", rotate_keys),
    ("export", export),
    ("anchor", anchor),
    ("grants", grants),
):
    ledger.command(name)(command)
