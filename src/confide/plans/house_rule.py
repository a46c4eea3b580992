"""House rules for small cells: what a data holder has promised not to print, and to whom.

References:
    [CMS20] Centers for Medicare & Medicaid Services. CMS cell suppression policy: no cell of 1 to
        10, nor a number from which one follows. 2020.
        https://www.hhs.gov/guidance/document/cms-cell-suppression-policy
    [OS25] OpenSAFELY. Applying statistical disclosure control: counts of 7 or less are redacted,
        the others rounded. https://docs.opensafely.org/outputs/sdc
    [LLC26] UK Longitudinal Linkage Collaboration. Statistical disclosure control: no count below
        10, including zero. https://guidebook.ukllc.ac.uk/docs/user_guide/sdc
    [PAB22] Preen et al. ACRO: a multi-language toolkit for supporting automated checking of
        research outputs. 2022. https://arxiv.org/abs/2212.02935
"""

import enum
import math
from dataclasses import dataclass


class HouseRule(enum.Enum):
    """A rule that several data holders share."""

    CMS = "cms"
    OPENSAFELY = "opensafely"
    UK_LLC = "uk-llc"
    ACRO = "acro"

    @property
    def least(self) -> int:
        """The least count that may be printed, in persons or rows."""
        match self:
            case HouseRule.CMS:
                return 11
            case HouseRule.OPENSAFELY:
                return 8
            case HouseRule.UK_LLC | HouseRule.ACRO:
                return 10

    @property
    def round_to(self) -> int:
        """To a multiple of what a printed count is rounded."""
        return 5 if self is HouseRule.OPENSAFELY else 1

    def rounded(self, count: float) -> int:
        """Return a count as it is printed.

        Example:
            >>> HouseRule.OPENSAFELY.rounded(156), HouseRule.CMS.rounded(156)
            (155, 156)
        """
        return math.floor(count / self.round_to + 0.5) * self.round_to

    @property
    def source(self) -> str:
        """Who asks for it."""
        match self:
            case HouseRule.CMS:
                return "CMS cell suppression policy: no cell of 1 to 10"
            case HouseRule.OPENSAFELY:
                return "OpenSAFELY: counts of 7 or less redacted, others rounded to 5"
            case HouseRule.UK_LLC:
                return "UK LLC: no count below 10, including zero"
            case HouseRule.ACRO:
                return "ACRO: safe threshold of 10"


class NoisyFile(enum.Enum):
    """Whether the raw noisy numbers lie in the published folder, from which all others follow."""

    PUBLISHED = "published"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallCells:
    """What becomes of small noisy counts.

    Attributes:
        rule: Which house's.
        noisy: Whether noisy.json, which shows every noisy count as it is, is published.
    """

    rule: HouseRule
    noisy: NoisyFile = NoisyFile.WITHHELD
