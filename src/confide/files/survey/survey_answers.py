"""True answers to a survey, as a CSV file on the device where they were given.

*Privacy:* this file never leaves that device; errors name rows and columns of it, never an answer.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from confide.errors import ContractError
from confide.regular_file import reading_text
from confide.release.survey.survey import Survey, one_spelling

RESPONDENT = "respondent"


def read_answers(path: Path, *, survey: Survey) -> dict[str, Mapping[str, str]]:
    """Return the answers of a CSV file with a column ``respondent`` and one a question.

    Raises:
        ContractError: If a column is missing or unknown, a respondent is unnamed or comes twice, or
            an answer is not public; messages name rows and columns, never answers.
    """
    wanted = [RESPONDENT, *(question.id for question in survey.questions)]
    answers: dict[str, Mapping[str, str]] = {}
    try:
        with reading_text(path, encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, strict=True)
            _require_columns(reader.fieldnames or (), wanted=wanted, name=path.name)
            for number, row in enumerate(reader, start=2):
                answers |= _row(
                    row, survey=survey, known=answers, place=f"{path.name} row {number}"
                )
    except (UnicodeDecodeError, csv.Error):
        raise ContractError(f"{path.name} cannot be read as CSV in UTF-8.") from None
    if not answers:
        raise ContractError(f"{path.name} holds no respondent.")
    return answers


def _require_columns(found: Sequence[str], *, wanted: Sequence[str], name: str) -> None:
    if sorted(found) != sorted(wanted):
        raise ContractError(
            f"{name} does not have the columns of the survey.", hint=f"Expected: {','.join(wanted)}"
        )


def _row(
    row: Mapping[str | None, str | None], *, survey: Survey, known: Mapping[str, object], place: str
) -> dict[str, Mapping[str, str]]:
    texts = {name: (text or "").strip() for name, text in row.items() if name and name.strip()}
    respondent = one_spelling(texts.pop(RESPONDENT))
    if None in row or not respondent or respondent in known:
        raise ContractError(
            f"{place}: expected one row a respondent, each with a name of its own.",
            hint="Names stay on this device; a, b, c will do.",
        )
    for question in survey.questions:
        try:
            question.place(texts[question.id])
        except ContractError as error:
            message = str(error).removesuffix(error.hint).strip()
            raise ContractError(f"{place}: {message}", hint=error.hint) from None
    return {respondent: texts}
