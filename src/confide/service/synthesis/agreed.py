"""What was agreed on for a synthesis, and the job that checks it."""

from dataclasses import replace

from confide.errors import ContractError
from confide.files.synth.synth import DeclaredSynthesis, measure_word
from confide.jobs.synthesis.acceptance.check import SynthesisCheck
from confide.jobs.synthesis.asked import AnySynthesis
from confide.jobs.synthesis.criteria import Criteria
from confide.plans.plan import Study

NOT_YET = "0" * 64
"""Stands for what a synthesis will have released, where its check is priced before."""


def agreed_criteria(declared: DeclaredSynthesis) -> Criteria:
    """Return the criteria of a synthesis.

    Raises:
        ContractError: If it has none.
    """
    if declared.job.accept is None:
        raise ContractError(
            "No criteria were agreed on for this synthesis.",
            hint="Write accept: in synth.yaml before it is run: they are part of its plan.",
        )
    return declared.job.accept


def check_of(
    declared: DeclaredSynthesis, *, release: str, settled: AnySynthesis | None = None
) -> SynthesisCheck:
    """Return the job that checks what a synthesis released.

    Args:
        declared: With criteria.
        release: SHA-256 of what it released.
        settled: Its settings with the bins that it found; as they were declared when None.
    """
    amount = {measure_word(declared.declared.dataset): declared.check}
    return SynthesisCheck(synthesis=settled or declared.job, release=release, **amount)


def check_study(declared: DeclaredSynthesis) -> Study:
    """Return what the check is called."""
    study = declared.study
    title = f"Check: {study.title}" if study.title else ""
    return replace(study, id=f"{study.id}-check", title=title)
