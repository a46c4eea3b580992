"""accept: in synth.yaml: what the table is accepted by, agreed on before it is made."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from confide.errors import ContractError
from confide.files.texts import Level, Positive, Section
from confide.jobs.synthesis.criteria import (
    AlikeAssociation,
    Criteria,
    GoodPrediction,
)
from confide.jobs.synthesis.rules import Never, NotAfter

LevelsOf = Callable[[str, Any], tuple[int, ...]]
"""From a column and the words for its levels to their numbers."""


class SynthAssociation(Section):
    """Two columns that go together in the table as they do in the data."""

    of: list[str]
    measure: Literal["correlation", "odds-ratio"] = "correlation"
    levels: list[str] = Field(default_factory=list)
    within: Positive


class SynthPrediction(Section):
    """An outcome that is predicted well by what learned from the table."""

    outcome: str
    level: str
    at_least: Level


class SynthAccept(Section):
    """Criteria, and the share of the budget that checking them costs."""

    share: Level | None = None
    pairs: Level | None = None
    associations: list[SynthAssociation] = Field(default_factory=list)
    predictions: list[SynthPrediction] = Field(default_factory=list)
    never: list[dict[str, Any]] = Field(default_factory=list)
    order: list[list[str]] = Field(default_factory=list)
    implausible: Level | None = None


def read_criteria(
    section: SynthAccept,
    *,
    levels: LevelsOf,
    never: Callable[[Mapping[str, Any]], Never],
    order: Callable[[list[str]], NotAfter],
) -> Criteria:
    """Return the criteria of a synth.yaml.

    Args:
        section: As written.
        levels: Reads words for levels of a column.
        never: Reads a rule of what is not there.
        order: Reads a rule of order.

    Raises:
        ContractError: If one breaks its contract; UnknownNameError for a column or level that is
            not there.
    """
    return Criteria(
        share=section.share or Fraction(0),
        pairs=section.pairs or Fraction(0),
        associations=tuple(_association(each, levels=levels) for each in section.associations),
        predictions=tuple(
            GoodPrediction(
                outcome=each.outcome,
                level=_one(each.outcome, each.level, levels=levels),
                at_least=each.at_least,
            )
            for each in section.predictions
        ),
        never=tuple(never(each) for each in section.never),
        order=tuple(order(each) for each in section.order),
        implausible=section.implausible or Fraction(0),
    )


def _association(section: SynthAssociation, *, levels: LevelsOf) -> AlikeAssociation:
    if len(section.of) != 2:
        raise ContractError(
            "accept: an association names two columns.", hint="Write of: [stage, died]."
        )
    wants = section.measure == "odds-ratio"
    if wants != bool(section.levels) or len(section.levels) not in (0, 2):
        raise ContractError(
            "accept: an odds ratio names a level of each column, and a correlation none.",
            hint="Write measure: odds-ratio with levels: [IV, yes].",
        )
    one, other = section.of
    return AlikeAssociation(
        columns=(one, other),
        within=section.within,
        levels=tuple(
            _one(name, level, levels=levels)
            for name, level in zip(section.of, section.levels, strict=False)
        ),
    )


def _one(name: str, level: str, *, levels: LevelsOf) -> int:
    found = levels(name, level)
    if len(found) != 1:
        raise ContractError(f"accept: {name}: expected one level.")
    return found[0]
