"""``confide survey``: answers that are randomised before they leave the respondent.

*Privacy:* ``encode`` runs on the respondent's side, uses no ledger of whoever collects, and writes
randomised answers alone; ``design`` and ``estimate`` see no true answer.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from confide.cli.output import Json, Output, Quiet, plain, say, table, write

if TYPE_CHECKING:
    from confide.release.survey.survey import Survey
    from confide.service.surveys.design import DesignedSurvey
    from confide.service.surveys.encode import Encoded
    from confide.service.surveys.estimate import EstimatedSurvey

survey = typer.Typer(
    help="Surveys whose answers are randomised before they leave the respondent.",
    no_args_is_help=True,
)

SurveyPath = Annotated[Path, typer.Argument(help="A survey.yaml.")]
HERE = Path("survey.yaml")
INTERACTIVE = "interactive"


@survey.command("design")
def design(path: SurveyPath = HERE, *, as_json: Json = False, quiet: Quiet = False) -> None:
    """Show what answers give away, what respondents are told, and the errors to expect."""
    from confide.service.surveys.design import design_survey

    made = design_survey(path)
    output = Output(json=as_json, quiet=quiet)
    output.result("survey-design", made, show=lambda: _show_design(made))


@survey.command("encode")
def encode(
    path: SurveyPath = HERE,
    *,
    answers: Annotated[
        str, typer.Option(help='A CSV of true answers, or "interactive" to be asked here.')
    ] = INTERACTIVE,
    respondent: Annotated[
        str, typer.Option(help="Local name of who is asked here; it is not sent.")
    ] = "me",
    receipts: Annotated[
        Path | None, typer.Option(help="Reports already made here. [default: beside the survey]")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A new file of reports. [default: standard output]")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Randomise true answers, on the respondent's side: one JSON line a respondent.

    Who is in the receipts already gets the first report again: fresh coins would spend anew.
    """
    from confide.service.surveys.encode import encode_answers

    made = encode_answers(
        path,
        answers=None if answers == INTERACTIVE else Path(answers),
        respondent=respondent,
        ask=_ask,
        receipts=receipts,
        out=out,
    )
    output = Output(json=as_json, quiet=quiet)
    output.result("survey-encode", made, show=lambda: _show_lines(made))
    again = f"{made.from_receipts} sent again from {made.receipts.name}"
    output.note(f"{made.new} new, {again}. Keep that file.")


@survey.command("estimate")
def estimate(
    path: SurveyPath,
    responses: Annotated[list[Path], typer.Argument(help="Files of reports, a line each.")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="A new folder for report.html, shares.csv and figures.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate the share of each answer, with intervals, from randomised reports."""
    from confide.service.surveys.estimate import estimate_shares

    found = estimate_shares(path, responses, out=out)
    output = Output(json=as_json, quiet=quiet)
    output.result("survey-estimate", found, show=lambda: _show_shares(found))
    if out is not None:
        output.note(f"Written to {out}: report.html, shares.csv and figures.")


def _show_design(made: "DesignedSurvey") -> None:
    say(made.heading, style="bold")
    for sentence in made.promised:
        say(sentence)
    say("")
    shown = made.table
    table(shown.columns, shown.rows, title=shown.title, right=(2, 3, 4, 5, 6))
    say(made.curator)
    for question in made.questions:
        say("")
        say(question.ask, style="bold")
        for sentence in question.told:
            say(f"  {sentence}")
    say("")
    say(made.not_promised_title, style="bold")
    for sentence in made.not_promised:
        say(f"  {sentence}")


def _ask(declared: "Survey") -> dict[str, str]:
    """Ask one respondent, on standard error, so that standard output holds the report alone."""
    from confide.drawing.words import load_words
    from confide.report.wording.survey_words import promised, told

    words, said = load_words("en"), typer.get_text_stream("stdin")  # once: it reads ahead
    for sentence in promised(declared, words=words):
        write(f"{plain(sentence)}\n", to_people=True)
    given = {}
    for question in declared.questions:
        write(f"\n{plain(question.ask)}\n", to_people=True)
        for sentence in told(question.mechanism, words=words):
            write(f"  {plain(sentence)}\n", to_people=True)
        for place, answer in enumerate(question.answers, start=1):
            write(f"  {place}. {plain(answer)}\n", to_people=True)
        given[question.id] = question.answers[_choice(len(question.answers), said=said) - 1]
    return given


def _choice(most: int, *, said: TextIO) -> int:
    """Read a number from 1 to ``most``; the prompt goes to standard error."""
    while True:
        write(f"1 to {most}: ", to_people=True)
        line = said.readline()
        if not line:
            raise typer.Abort
        if line.strip().isdecimal() and 1 <= int(line) <= most:
            return int(line)


def _show_lines(made: "Encoded") -> None:
    if made.lines is not None:
        write("".join(f"{line}\n" for line in made.lines))
    else:
        say(f"Written to {made.file}.")


def _show_shares(found: "EstimatedSurvey") -> None:
    for each in found.questions:
        table(each.table.columns, each.table.rows, title=each.table.title, right=(1, 2, 3))
    say(found.covers)
