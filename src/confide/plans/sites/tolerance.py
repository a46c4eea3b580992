"""How many sites may fail or collude, and what follows from it for thresholds and noise.

*Law.*  Of n sites d may drop out and c may collude with the coordinator.  A sum is opened only if
n − d sites are alive, and only by t sites together, where

    (n + c)/2 < t ≤ n − d.

Two groups of t sites then share more than c of them, so an honest site is in both; and it signs one
list of survivors alone.  m = n − d − c survivors are honest at the least; with m = 1 the colluders
would subtract their own numbers and read the one that is left, so m ≥ 2.

*Privacy:* noise is shared out among m sites (``noise/distributed``): a site knows its own noise,
which hides nothing from itself, so c ≥ 1 always.

References:
    [BIKMMPRSS17] Bonawitz, Ivanov, Kreuter, Marcedone, McMahan, Patel, Ramage, Segal, Seth.
        Practical secure aggregation for privacy-preserving machine learning. CCS 2017, sec. 6.
        https://doi.org/10.1145/3133956.3133982
"""

from dataclasses import dataclass

from confide.errors import InvalidParameterError

MOST_SITES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """What a federation of so many sites withstands.

    Attributes:
        sites: n, in [3, 200].
        drops: d, how many may drop out.
        colluders: c ≥ 1, how many may act with the coordinator.
        threshold: t, how many open the sum together.

    Raises:
        InvalidParameterError: If no site would be protected, or the threshold is out of its range.

    Example:
        Ten hospitals, of which two may be away:

        >>> held = Tolerance(sites=10, drops=2, colluders=1, threshold=6)
        >>> held.least_alive, held.honest
        (8, 7)
    """

    sites: int
    drops: int
    colluders: int
    threshold: int

    def __post_init__(self) -> None:
        numbers = (self.sites, self.drops, self.colluders, self.threshold)
        if any(not isinstance(each, int) or isinstance(each, bool) for each in numbers):
            raise InvalidParameterError("Expected whole numbers of sites.")
        if not 3 <= self.sites <= MOST_SITES:
            raise InvalidParameterError(
                f"Expected 3 to {MOST_SITES} sites, got {self.sites}.",
                hint="Of two sites each would get the other's numbers: enrol a third one."
                if self.sites < 3
                else "Let some that may pool their rows take part as one site.",
            )
        if self.drops < 0 or self.colluders < 1:
            raise InvalidParameterError(
                f"Expected drops ≥ 0 and colluders ≥ 1, got {self.drops} and {self.colluders}.",
                hint="A site knows its own noise, so it counts as one that colludes.",
            )
        if self.honest < 2:
            raise InvalidParameterError(
                f"Expected two honest survivors, got {self.sites} − {self.drops} − "
                f"{self.colluders} = {self.honest}.",
                hint="Enrol more sites, or let fewer drop out.",
            )
        least = least_threshold(sites=self.sites, colluders=self.colluders)
        if not least <= self.threshold <= self.least_alive:
            raise InvalidParameterError(
                f"Expected a threshold from {least} to {self.least_alive}, got {self.threshold}.",
                hint="(n + c)/2 < t ≤ n − d; where no t is between, let fewer sites drop out.",
            )

    @property
    def least_alive(self) -> int:
        """Survivors without whom no sum is opened, n − d."""
        return self.sites - self.drops

    @property
    def honest(self) -> int:
        """Survivors whose noise nobody knows, m = n − d − c."""
        return self.least_alive - self.colluders


def least_threshold(*, sites: int, colluders: int) -> int:
    """Return the least t with t > (n + c)/2.

    Example:
        >>> least_threshold(sites=10, colluders=1)
        6
    """
    return (sites + colluders) // 2 + 1
