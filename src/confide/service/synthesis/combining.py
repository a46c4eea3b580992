"""Combine: an analysis of the tables of a synthesis, with intervals that cover noise and sampling.

*Privacy:* reads what was published; costs nothing.
"""

from pathlib import Path
from typing import TypeAlias

from confide.errors import VerificationError
from confide.jobs.synthesis.analyses import Analysis
from confide.jobs.synthesis.combine import CombinedEstimate
from confide.jobs.synthesis.deep.generated import BaselineData, refuse_intervals
from confide.jobs.synthesis.measured import MEASURED
from confide.jobs.synthesis.synthetic import TABLES, SyntheticData
from confide.release.jobs.job_answer import JOB_PATH, JobAnswer
from confide.release.verify.verify_job import answer_in

AnyData: TypeAlias = SyntheticData | BaselineData
"""What a release of a synthesis gives: of marginals, or of a generator."""


def combine(
    source: str | Path | AnyData,
    analysis: Analysis,
    *,
    tables: int = TABLES,
    level: float = 0.95,
) -> tuple[CombinedEstimate, ...]:
    """Return estimates of an analysis, with intervals that cover sampling and noise.

    The tables are made anew from the released counts, so that no changed file is analysed.

    Args:
        source: The folder that ``confide synth run`` left, or what ``ws.synthesize`` gave.
        analysis: ``MeanIn``, ``ShareIn``, ``LogisticIn``, ``SurvivalIn``; or ``AnalysisOf``, one of
            your own.
        tables: How many carry the uncertainty, at least 5; more give shorter intervals.
        level: Of the intervals.

    Raises:
        ContractError: If the columns were not measured together, as none of a baseline are; or
            tables are too few.
        VerificationError: If the folder holds no release of a synthesis, or a file was changed.
    """
    made = synthetic_in(source) if isinstance(source, str | Path) else source
    if isinstance(made, BaselineData):
        refuse_intervals()
    return made.combine(analysis, tables=tables, level=level)


def data_of(answer: JobAnswer) -> AnyData:
    """Return what a released answer gives.

    Raises:
        VerificationError: If it is of no synthesis, or cannot be read.
    """
    if MEASURED in answer.files:
        return SyntheticData.of(answer)
    return BaselineData.of(answer)


def synthetic_in(folder: str | Path) -> AnyData:
    """Return what the release in a folder gives.

    Raises:
        MissingExtraError: If a generator made it, without the extra ``learning``.
        VerificationError: If it is none of a synthesis, or a file was changed.
        OSError: If a file cannot be read.
    """
    place = Path(folder)
    if not (place / JOB_PATH).is_file():
        raise VerificationError(
            f"{str(folder)!r} holds no synthesis.",
            hint="Name the folder that confide synth run --out left.",
        )
    return data_of(answer_in(place))
