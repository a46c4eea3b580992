"""Receipts: the reports already made on this device, so that nobody is randomised twice.

Fresh coins for the same answer let a reader average them out: m reports of one respondent cost mε.
So the first report of a respondent is *permanent* [EPK14]: whoever answers again, alike or
otherwise, gets that report back, byte for byte, and no further loss occurs.  A name that is
composed of other characters, or has blanks around it, is the same respondent.

*Privacy:* a receipt holds what was sent and the local name of the respondent, never an answer; it
stays on the device, readable by its owner alone.  It is on disk before a report is handed out, so
that a crash in between cannot lead to a second one.

References:
    [EPK14] Erlingsson, Pihur, Korolova. RAPPOR: randomized aggregatable privacy-preserving ordinal
        response. CCS 2014, sec. 2. https://arxiv.org/abs/1407.6981
"""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from confide.errors import ContractError
from confide.noise.entropy import Entropy, SystemEntropy
from confide.regular_file import locked, read_bytes, replace_durable, sync_folder
from confide.release.survey.responses import body_of, read_report
from confide.release.survey.survey import Report, Survey, encode, one_spelling

SCHEMA = "confide.survey-receipts/1"


def respond(
    survey: Survey, answers: Mapping[str, Mapping[str, str]], *, receipts: Path
) -> tuple[tuple[Report, ...], int]:
    """Return the report of each respondent, and how many of them are new.

    Args:
        survey: What is asked.
        answers: By respondent, in order: true answers by question.
        receipts: Their file; made if there is none.

    Raises:
        ContractError: If an answer is not public, two names are one respondent, or ``receipts`` is
            not of this survey.
    """
    answers = _by_respondent(answers)
    with _locked(receipts):
        held = read_receipts(receipts, survey=survey)
        made = permanent(survey, answers, held=held, entropy=SystemEntropy())
        if made:
            _write(receipts, {**held, **made}, survey=survey)
    everyone = {**held, **made}
    return tuple(everyone[name] for name in answers), len(made)


def _by_respondent(answers: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """Return answers under the one spelling of each name."""
    named = {one_spelling(name): given for name, given in answers.items()}
    if len(named) < len(answers):
        raise ContractError(
            "Two names are one respondent, written in two ways.",
            hint="Give each respondent one name: more than one report of somebody gives away more.",
        )
    return named


def permanent(
    survey: Survey,
    answers: Mapping[str, Mapping[str, str]],
    *,
    held: Mapping[str, Report],
    entropy: Entropy,
) -> dict[str, Report]:
    """Return fresh reports of those respondents of whom no report is held."""
    fresh = [name for name in answers if name not in held]
    if not fresh:
        return {}
    places = {
        question.id: np.array(
            [question.place(_answer(answers[name], question.id)) for name in fresh], dtype=np.int64
        )
        for question in survey.questions
    }
    return dict(zip(fresh, encode(survey, places, entropy=entropy), strict=True))


def _answer(given: Mapping[str, str], question: str) -> str:
    if question not in given:
        raise ContractError(
            f"A respondent has no answer to {question!r}.",
            hint='Let "prefer not to say" be one of the public answers.',
        )
    return given[question]


def read_receipts(path: Path, *, survey: Survey) -> dict[str, Report]:
    """Return the reports that a file of receipts holds, by respondent; none if there is no file.

    Of a respondent whom an earlier version knew under two spellings the first report stays.

    Raises:
        ContractError: If the file is damaged or of another survey: a lost receipt would let the
            same respondent be randomised again, so nothing is guessed.
    """
    if not path.exists():
        return {}
    try:
        value = json.loads(read_bytes(path))
        reports = value["reports"].items() if value["schema"] == SCHEMA else ()
        if value["survey"] == survey.digest():
            held: dict[str, Report] = {}
            for name, report in reports:
                held.setdefault(one_spelling(name), read_report(report, survey=survey))
            return held
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise ContractError(
        f"{path.name} does not hold receipts of this survey.",
        hint="Restore it, or name another file with --receipts for another survey.",
    )


def _write(path: Path, reports: Mapping[str, Report], *, survey: Survey) -> None:
    """Replace the file as a whole, on disk before this returns."""
    body = {
        "schema": SCHEMA,
        "survey": survey.digest(),
        "reports": {name: body_of(report) for name, report in reports.items()},
    }
    replace_durable(path, json.dumps(body, ensure_ascii=False).encode())
    sync_folder(path.parent)


def _locked(path: Path) -> contextlib.AbstractContextManager[None]:
    """Let one process at a time read and replace a file of receipts."""
    return locked(path.with_name(f".{path.name}.lock"))
