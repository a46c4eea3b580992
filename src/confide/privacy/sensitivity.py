"""Sensitivity: the most that one privacy unit can move an integer vector.

Exact integers, so that nothing is ever rounded down; the squared L2 norm because √m·(U−L) is
irrational.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006, def. 3.
        https://doi.org/10.1007/11681878_14
"""

from dataclasses import dataclass

from confide.errors import InvalidParameterError
from confide.privacy.unit import Entity


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """Bounds on ‖f(D) − f(D′)‖ over neighbouring data sets.

    Attributes:
        l1: Largest sum of absolute changes, in ``unit``; at least 1.
        l2_squared: Largest sum of squared changes.
        linf: Largest single change.
        entity: Whose change it is.
        unit: "persons", "visits", "tenths of mm[Hg]".
        because: One sentence and a citation, shown to the privacy officer.
        reach: Where a candidate is chosen by its coordinate, the most by which one coordinate rises
            over another; 0 where nothing is chosen.
        set_reach: The same for the sums of two sets of as many coordinates as are chosen.
    """

    l1: int
    l2_squared: int
    linf: int
    entity: Entity
    unit: str
    because: str
    reach: int = 0
    set_reach: int = 0

    def __post_init__(self) -> None:
        for name, value in (("l1", self.l1), ("l2_squared", self.l2_squared), ("linf", self.linf)):
            if not isinstance(value, int) or value < 1:
                raise InvalidParameterError(
                    f"Expected {name} ≥ 1, got {name}={value}.",
                    hint="A statistic that nobody can move is not a measurement.",
                )
        if not (self.linf <= self.l1 and self.linf**2 <= self.l2_squared <= self.l1**2):
            raise InvalidParameterError(
                f"Expected linf ≤ l1 and linf² ≤ l2² ≤ l1², got linf={self.linf}, "
                f"l2²={self.l2_squared}, l1={self.l1}."
            )
        if not (self.reach <= self.set_reach <= self.l1 and self.reach <= 2 * self.linf):
            raise InvalidParameterError(
                f"Expected reach ≤ set-reach ≤ l1 and reach ≤ 2·linf, got reach={self.reach}, "
                f"set-reach={self.set_reach}."
            )
        if not self.because:
            raise InvalidParameterError("Expected a reason in `because`, got an empty text.")
