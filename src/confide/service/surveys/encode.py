"""Encode: randomise true answers, on the respondent's side: one JSON line a respondent.

*Privacy:* uses no ledger of whoever collects, and writes randomised answers alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from confide.errors import ContractError
from confide.files.survey.survey import read_survey
from confide.files.survey.survey_answers import read_answers
from confide.regular_file import create_text
from confide.release.survey.receipts import read_receipts, respond
from confide.release.survey.responses import line_of
from confide.release.survey.survey import Survey, one_spelling

Asking: TypeAlias = Callable[[Survey], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """Randomised answers.

    Attributes:
        survey: Its digest.
        reports: How many.
        new: That were made now.
        from_receipts: That are sent again.
        receipts: Where the receipts are.
        lines: One a respondent; None where they are in a file.
        file: In which they are.
    """

    survey: str
    reports: int
    new: int
    from_receipts: int
    receipts: Path
    lines: tuple[str, ...] | None
    file: Path | None


def encode_answers(
    path: Path,
    *,
    answers: Path | None,
    respondent: str,
    ask: Asking,
    receipts: Path | None = None,
    out: Path | None = None,
) -> Encoded:
    """Randomise true answers; who is in the receipts already gets the first report again.

    Args:
        path: A survey.yaml.
        answers: A CSV of true answers; the respondent is asked when None.
        respondent: Local name of who is asked; it is not sent.
        ask: Asks a respondent who is not in the receipts.
        receipts: Reports already made; beside the survey when None.
        out: A new file of reports.

    Raises:
        ContractError: If a file breaks its contract, or ``out`` is there.
    """
    declared = read_survey(path)
    kept = receipts or path.with_name(f"{path.stem}.receipts.json")
    if out is not None and out.exists():
        raise ContractError(f"{out.name} exists already.", hint="Name a new file with --out.")
    given: Mapping[str, Mapping[str, str]]
    if answers is not None:
        given = read_answers(answers, survey=declared)
    elif one_spelling(respondent) in read_receipts(kept, survey=declared):
        given = {respondent: {}}  # asked before: the same report again, whatever the answers
    else:
        given = {respondent: ask(declared)}
    reports, made = respond(declared, given, receipts=kept)
    lines = tuple(line_of(report) for report in reports)
    if out is not None:
        create_text(out, "".join(f"{line}\n" for line in lines))
    return Encoded(
        survey=declared.digest(),
        reports=len(reports),
        new=made,
        from_receipts=len(reports) - made,
        receipts=kept,
        lines=None if out is not None else lines,
        file=out,
    )
