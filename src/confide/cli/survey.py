"""``confide survey``: answers that are randomised before they leave the respondent.

*Privacy:* ``encode`` runs on the respondent's side, uses no ledger of whoever collects, and writes
randomised answers alone; ``design`` and ``estimate`` see no true answer.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from confide.cli.output import Json, Output, Quiet, plain, say, table, write
from confide.errors import ContractError
from confide.regular_file import create_text, reading_text, write_bytes

if TYPE_CHECKING:
    from confide.release.survey import Survey
    from confide.report.survey_page import SurveyReport

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
    from confide.files.survey import read_survey

    declared = read_survey(path)
    body = _design(declared)
    output = Output(json=as_json, quiet=quiet)
    output.result("survey-design", body, show=lambda: _show_design(declared))


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
    from confide.files.survey import read_survey
    from confide.files.survey_answers import read_answers
    from confide.release.receipts import read_receipts, respond
    from confide.release.responses import line_of

    declared = read_survey(path)
    kept = receipts or path.with_name(f"{path.stem}.receipts.json")
    if out is not None and out.exists():
        raise ContractError(f"{out.name} exists already.", hint="Name a new file with --out.")
    output = Output(json=as_json, quiet=quiet)
    if answers != INTERACTIVE:
        given = read_answers(Path(answers), survey=declared)
    elif respondent in read_receipts(kept, survey=declared):
        given = {respondent: {}}  # asked before: the same report again, whatever the answers
    else:
        given = {respondent: _ask(declared)}
    reports, made = respond(declared, given, receipts=kept)
    lines = "".join(f"{line_of(report)}\n" for report in reports)
    if out is not None:
        create_text(out, lines)
    body = {
        "survey": declared.digest(),
        "reports": len(reports),
        "new": made,
        "from-receipts": len(reports) - made,
        "receipts": str(kept),
        "lines": None if out is not None else lines.splitlines(),
        "file": None if out is None else str(out),
    }
    output.result("survey-encode", body, show=lambda: _show_lines(lines, out=out))
    output.note(f"{made} new, {len(reports) - made} sent again from {kept.name}. Keep that file.")


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
    from confide.drawing.words import load_words
    from confide.files.survey import read_survey
    from confide.release.responses import estimate as shares
    from confide.release.responses import read_reports
    from confide.report.survey_page import SurveyReport, contents
    from confide.report.survey_words import LEVEL

    declared = read_survey(path)
    if out is not None and out.exists():
        raise ContractError(f"{out.name} exists already.", hint="Name a new folder with --out.")
    reports = read_reports(_lines(responses), survey=declared)
    found = shares(reports, survey=declared, level=LEVEL)
    report = SurveyReport(survey=declared, reports=len(reports), found=found)
    if out is not None:
        out.mkdir(parents=True)
        for name, content in contents(report, words=load_words("en")).items():
            write_bytes(out / name, content)
    output = Output(json=as_json, quiet=quiet)
    output.result("survey-estimate", _shares(report), show=lambda: _show_shares(report))
    if out is not None:
        output.note(f"Written to {out}: report.html, shares.csv and figures.")


def _design(declared: "Survey") -> dict[str, Any]:
    from confide.drawing.words import load_words
    from confide.report.survey_words import design, excluded, odds_text, promised, told

    words, loss = load_words("en"), declared.loss()
    questions = [
        {
            "id": each.question.id,
            "ask": each.question.ask,
            "answers": list(each.question.answers),
            "method": each.method.value,
            "total-variance": {m.value: round(v, 6) for m, v in each.variances.items()},
            "epsilon": str(each.question.mechanism.loss().epsilon),
            "odds": odds_text(each.question.mechanism.loss()),
            "truth": each.question.mechanism.keep_probability(),
            "lie": each.question.mechanism.lie_probability(),
            "half-width-at-10-percent": each.small,
            "half-width-at-most": each.widest,
            "half-width-not-randomised": each.plain,
            "half-width-of-a-trusted-curator": each.curator,
            "told": list(told(each.question.mechanism, words=words)),
        }
        for each in design(declared)
    ]
    return {
        "survey": declared.digest(),
        "title": declared.title,
        "respondents": declared.respondents,
        "epsilon": str(loss.epsilon),
        "odds": odds_text(loss),
        "promised": list(promised(declared, words=words)),
        "not-promised": list(excluded(words=words)[1]),
        "questions": questions,
    }


def _show_design(declared: "Survey") -> None:
    from confide.drawing.words import load_words
    from confide.report.survey_words import (
        curator_text,
        design_table,
        design_title,
        excluded,
        promised,
        told,
    )

    words = load_words("en")
    say(design_title(declared, words=words), style="bold")
    for sentence in promised(declared, words=words):
        say(sentence)
    title, shown = design_table(declared, words=words)
    say("")
    table(shown.head, shown.rows, title=title, right=(2, 3, 4, 5, 6))
    say(curator_text(words=words))
    for question in declared.questions:
        say("")
        say(question.ask, style="bold")
        for sentence in told(question.mechanism, words=words):
            say(f"  {sentence}")
    title, sentences = excluded(words=words)
    say("")
    say(title, style="bold")
    for sentence in sentences:
        say(f"  {sentence}")


def _ask(declared: "Survey") -> dict[str, str]:
    """Ask one respondent, on standard error, so that standard output holds the report alone."""
    from confide.drawing.words import load_words
    from confide.report.survey_words import promised, told

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


def _show_lines(lines: str, *, out: Path | None) -> None:
    if out is None:
        write(lines)
    else:
        say(f"Written to {out}.")


def _lines(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield every line that is not blank, with the place that errors name."""
    for path in paths:
        try:
            with reading_text(path, newline=None) as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        yield f"{path.name} line {number}", line
        except UnicodeDecodeError:
            raise ContractError(f"{path.name} is not text in UTF-8.") from None


def _shares(report: "SurveyReport") -> dict[str, Any]:
    return {
        "survey": report.survey.digest(),
        "reports": report.reports,
        "epsilon": str(report.survey.loss().epsilon),
        "questions": [
            {
                "id": found.question.id,
                "shares": [
                    {
                        "answer": answer,
                        "share": share.estimate,
                        "standard-error": share.standard_error,
                        "lower": share.lower,
                        "upper": share.upper,
                        "together": share.together,
                        "level": share.level,
                    }
                    for answer, share in zip(found.question.answers, found.shares, strict=True)
                ],
            }
            for found in report.found
        ],
    }


def _show_shares(report: "SurveyReport") -> None:
    from confide.drawing.words import load_words
    from confide.report.survey_page import covers
    from confide.report.survey_page import table as shares_table

    words = load_words("en")
    for found in report.found:
        shown = shares_table(found, words=words)
        table(shown.head, shown.rows, title=found.question.ask, right=(1, 2, 3))
    say(covers(report.found[0], words=words))
