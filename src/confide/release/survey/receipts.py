"""Receipts: the reports already made on this device, so that nobody is randomised twice.

Fresh coins for the same answer let a reader average them out: m reports of one respondent cost mε.
So the first report of a respondent is *permanent* [EPK14]: whoever answers again, alike or
otherwise, gets that report back, byte for byte, and no further loss occurs.

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
from confide.release.survey.survey import Report, Survey, encode

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
        ContractError: If an answer is not public, or ``receipts`` is not of this survey.
    """
    with _locked(receipts):
        held = read_receipts(receipts, survey=survey)
        made = permanent(survey, answers, held=held, entropy=SystemEntropy())
        if made:
            _write(receipts, {**held, **made}, survey=survey)
    everyone = {**held, **made}
    return tuple(everyone[name] for name in answers), len(made)


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
            return {name: read_report(report, survey=survey) for name, report in reports}
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
