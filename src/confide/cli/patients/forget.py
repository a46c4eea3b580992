"""``confide patients forget``: take out a person who withdrew consent, for good."""

from typing import Annotated

import typer

from confide.cli.options import HERE, Dataset, Officer
from confide.cli.output import Json, Output, Quiet, say
from confide.cli.patients.ids import Ids, read_ids

NOT_UNDONE = (
    "Not undone: what was published, models that were trained, backups, and the source itself. "
    "See docs/how-to/consent-withdrawn.md."
)
KEY_LOST = (
    "Per-patient budgets of {lost} data set(s) were kept under a hash.key that is lost: nobody can "
    "tell any more whose they are, so there is nothing in them to take out."
)
ENDS = (
    "This ends every list of before ({lists} in the ledger): whoever is not listed now is counted "
    "again. Under caps that leave patients out, whoever is met from now on counts as charged the "
    "whole loss of every release before, since nobody can tell what they paid."
)


def forget_patients(
    dataset: Dataset = HERE,
    *,
    ids: Ids = None,
    lists_lost: Annotated[
        str,
        typer.Option(
            metavar="REASON",
            help="The lists of before are lost: these are all who ever withdrew. An officer's act.",
        ),
    ] = "",
    officer: Officer = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Take patients who withdrew consent out of copies, records and every later release, for good.

    Ids are asked for, or read from a file or standard input: command lines are kept by shells.
    """
    from confide.service.patients.forget import forget

    output = Output(json=as_json, quiet=quiet)
    done = forget(
        dataset,
        lambda: read_ids(ids),
        lost=lists_lost,
        officers=officer,
        ending=lambda lists: output.note(ENDS.format(lists=lists)),
        stages=lambda: output.stages({}),
    )
    shown = f"Taken out of every later release: {done.patients}, whether or not the data hold them."
    output.result("patients-forget", done, show=lambda: say(shown))
    output.note(f"Row {done.ledger_row} of the ledger says that it was done, and not who.")
    if done.budgets_of_a_lost_key:
        output.note(KEY_LOST.format(lost=done.budgets_of_a_lost_key))
    if done.incidents:
        output.note("incidents.log may hold values of anybody: read it, then delete it.")
    if ids is not None:
        output.note("Delete the file of ids once your own records are in order.")
    output.note(NOT_UNDONE)
