"""Examine: a synthetic table beside the rows themselves, exactly; for the steward's eyes alone.

*Privacy:* none.  Reads files that the steward names and writes a folder of mode 0700 apart from
releases and ledgers; opens no ledger and charges nothing, as the attack lab does.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from confide.errors import ContractError, UnknownNameError
from confide.jobs.synthesis.criteria import GoodPrediction
from confide.jobs.synthesis.examining.copies import (
    CopiesFound,
    NearestFound,
    copies_found,
    nearest_found,
)
from confide.jobs.synthesis.examining.likeness import (
    CorrelationError,
    MarginalError,
    TrainedOn,
    correlation_error,
    marginal_errors,
    trained_on,
)
from confide.jobs.synthesis.examining.own_rows import read_own_rows
from confide.service.dump import OMITTED, dump
from confide.service.synthesis.combining import AnyData, synthetic_in
from confide.tables.relation import domain

SCHEMA_OF_EXAMINATION = "confide.synthesis-examination/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedSynthesis:
    """What was found; exact, for the steward alone.

    Attributes:
        for_whom: Whose eyes it is for.
        of: Folder of the synthesis.
        rows: How many were compared with.
        left_out: How many rows of the file could not be read as rows of the table.
        holdout: Rows that the table was not made of; 0 for none.
        marginals: Errors of tables of one, two and three columns.
        correlations: Of pairs of columns.
        trained: On the synthetic table, and on rows; absent where no outcome is named.
        copies: Exact ones, beside a baseline.
        nearest: Distances to the nearest row, beside a baseline.
        says: What follows, in sentences.
        files: That were written.
    """

    for_whom: str
    of: str
    rows: int
    left_out: int
    holdout: int
    marginals: tuple[MarginalError, ...]
    correlations: CorrelationError
    trained: Annotated[TrainedOn | None, OMITTED]
    copies: CopiesFound
    nearest: NearestFound
    says: tuple[str, ...]
    files: tuple[str, ...]


def examine_synthesis(
    folder: Path,
    *,
    table: Path,
    holdout: Path | None,
    outcome: str,
    level: str,
    out: Path,
) -> ExaminedSynthesis:
    """Compare a synthetic table with rows, and write a page and a file for the steward alone.

    Args:
        folder: That ``confide synth run`` left.
        table: CSV of the rows from which it was made, in the form of ``synthetic.csv``.
        holdout: Of rows from which it was not made; None where there are none.
        outcome: Column that is to be predicted; the target's when "".
        level: Of it, that is told from its others; its last when "".
        out: A new folder, apart from releases.

    Raises:
        ContractError: If the place lies in a release, or a file is no such table.
        VerificationError: If the folder holds no synthesis, or a file of it was changed.
    """
    from confide.attacks.lab.apart import PREFIX, require_apart, write_apart
    from confide.attacks.lab.lab_page import STEWARD_ONLY
    from confide.service.synthesis.examination_page import examination_page

    require_apart(out)
    made = synthetic_in(folder)
    spec, dataset = made.spec, made.answer.plan.dataset
    wanted = _wanted(made, outcome=outcome or spec.target, level=level)
    own = read_own_rows(table, spec=spec, dataset=dataset)
    other = None if holdout is None else read_own_rows(holdout, spec=spec, dataset=dataset)
    levels, fresh = made.levels(), None if other is None else other.levels
    copies = copies_found(levels, own.levels, fresh)
    trained = None
    if wanted is not None:
        trained = trained_on(levels, own.levels, fresh, wanted=wanted, spec=spec, dataset=dataset)
    names = tuple(f"{PREFIX}examination.{end}" for end in ("html", "json"))
    found = ExaminedSynthesis(
        for_whom=STEWARD_ONLY,
        of=folder.name,
        rows=len(own.levels),
        left_out=own.left_out,
        holdout=0 if fresh is None else len(fresh),
        marginals=marginal_errors(levels, own.levels, spec=spec, dataset=dataset),
        correlations=correlation_error(levels, own.levels, spec=spec, dataset=dataset),
        trained=trained,
        copies=copies,
        nearest=nearest_found(levels, own.levels, fresh),
        says=tuple(_says(copies, trained)),
        files=names,
    )
    text = json.dumps(
        {"schema": SCHEMA_OF_EXAMINATION, **dump(found)}, ensure_ascii=False, indent=2
    )
    page = examination_page(found, title=made.answer.plan.study.title or spec.kind)
    write_apart(dict(zip(names, (page.encode(), f"{text}\n".encode()), strict=True)), out=out)
    return found


def _wanted(made: AnyData, *, outcome: str, level: str) -> GoodPrediction | None:
    if not outcome:
        return None
    spec, dataset = made.spec, made.answer.plan.dataset
    if outcome not in spec.columns:
        raise UnknownNameError("column", outcome, known=spec.columns)
    of = domain(spec.reads.reads[spec.columns.index(outcome)], dataset=dataset)
    if not of.keys:
        raise ContractError(
            f"Column {outcome!r} has no labels, so there is no level to predict.",
            hint="Name a category with --outcome.",
        )
    labels = [each for each in of.keys if each != "missing"]
    chosen = level or labels[-1]
    if chosen not in labels:
        raise UnknownNameError(f"label of {outcome!r}:", chosen, known=labels)
    return GoodPrediction(outcome=outcome, level=of.keys.index(chosen), at_least="1/2")  # type: ignore[arg-type]


def _says(copies: CopiesFound, trained: TrainedOn | None) -> list[str]:
    whose = "a holdout" if copies.held_out else "the rows themselves, each left out in turn"
    found = [
        f"{100 * copies.copies:.1f} % of the synthetic rows equal a row of the data in every "
        f"column; of fresh rows {100 * copies.baseline:.1f} % do, by {whose}. "
        + ("That is more than by chance." if copies.above else "That is not more than by chance.")
    ]
    if trained is not None:
        off = trained.from_rows - trained.from_synthetic
        found.append(
            f"A regression for {trained.outcome} has an AUC of {trained.from_synthetic:.3f} where "
            f"it learned from the table, and {trained.from_rows:.3f} from rows: {off:.3f} are lost."
        )
    return found
