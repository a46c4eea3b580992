"""small-cells: of study.yaml and synth.yaml: which promise about small counts is to be kept."""

from typing import Literal, TypeAlias

from confide.errors import ContractError
from confide.files.texts import Section
from confide.plans.house_rule import HouseRule, NoisyFile, SmallCells

HouseRuleName: TypeAlias = Literal["cms", "opensafely", "uk-llc", "acro"]


class SmallCellsSection(Section):
    """A house rule, and whether the raw noisy counts are published beside it."""

    rule: HouseRuleName
    noisy: Literal["published", "withheld"] = "withheld"


SmallCellsWords: TypeAlias = HouseRuleName | Literal["none"] | SmallCellsSection


def promised_of(words: SmallCellsWords) -> SmallCells | None:
    """Return the house rule that words name; None for none."""
    match words:
        case "none":
            return None
        case str():
            return SmallCells(rule=HouseRule(words))
        case SmallCellsSection():
            return SmallCells(rule=HouseRule(words.rule), noisy=NoisyFile(words.noisy))


def require_no_house_rule(words: object) -> None:
    """Refuse a promise that a synthesis cannot keep: every noisy count of its marginals is public.

    Rows, model and intervals are functions of that file, so nothing of it can be held back.

    Raises:
        ContractError: If words name a rule.
    """
    if words != "none":
        raise ContractError(
            "small-cells: no house rule is kept by a synthesis, since marginals.json has each "
            "noisy count as it is, and rows follow from it.",
            hint="Publish the counts by a study with this rule; or leave small-cells out, where "
            "whoever gave the data made no such promise of synthetic tables.",
        )
