"""The accounting measure: in what the losses of a ledger add up.

*Privacy:* under ``PURE`` ε adds (basic composition); under ``ZCDP`` ρ adds [BS16, lem. 1.7].  A
*mixed* ledger takes plans of both: each event counts at what it costs at public orders, and as pure
ε while everything is pure (:mod:`confide.privacy.accounting.mixed`).

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [Mir17] Mironov. Rényi differential privacy. CSF 2017. https://arxiv.org/abs/1702.07476
"""

import enum
import re
from dataclasses import dataclass
from typing import TypeAlias

from confide.errors import InvalidParameterError


class Measure(enum.Enum):
    """ε of pure DP, or ρ of zero-concentrated DP."""

    PURE = "pure"
    ZCDP = "zcdp"

    @property
    def letter(self) -> str:
        """The Greek letter of this measure."""
        return "ε" if self is Measure.PURE else "ρ"


_ORDERS = 10**12
"""Orders are below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixed:
    """The measure of a ledger that takes plans of either: caps are ε at one δ.

    A ledger keeps its orders for life: one that is chosen once answers were seen is not covered.

    Attributes:
        atto: That δ, in 1e-18; without what is kept for selections of keys.
        yearly: Whole order, at least 2, in which caps by year or by 365 days count.
        lifetime: The same of caps over the life of the ledger.
        each: The two orders of caps on each analyst or project; none where they are the same.
    """

    atto: int
    yearly: int
    lifetime: int
    each: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _require_below("atto", self.atto, least=1, below=10**18)
        for name, order in zip(("yearly", "lifetime"), (self.yearly, self.lifetime), strict=True):
            _require_below(name, order, least=2, below=_ORDERS)
        for order in self.each:
            _require_below("each", order, least=2, below=_ORDERS)
        if len(self.each) not in {0, 2}:
            raise InvalidParameterError(f"Expected two orders or none, got {self.each!r}.")

    @property
    def letter(self) -> str:
        """The Greek letter of its caps."""
        return "ε"

    @property
    def value(self) -> str:
        """What it is called in the ledger.

        Example:
            >>> Mixed(atto=10**12, yearly=9, lifetime=4).value
            'mixed/1000000000000/9/4'
            >>> Mixed(atto=10**12, yearly=9, lifetime=4, each=(22, 4)).value
            'mixed/1000000000000/9/4/22/4'
        """
        return "/".join(map(str, ("mixed", self.atto, self.yearly, self.lifetime, *self.each)))

    def order(self, *, yearly: bool, each: bool) -> int:
        """Return the order of caps by year, or over the lifetime, on everybody or on each asker."""
        of_year, of_life = (each and self.each) or (self.yearly, self.lifetime)
        return of_year if yearly else of_life

    @property
    def of_patients(self) -> int:
        """Return the order at which each patient's own losses add up: the largest.

        It is at least that of the tightest cap of a patient, which is one of the caps that decide.
        """
        return self.orders[-1]

    @property
    def orders(self) -> tuple[int, ...]:
        """The orders, each once."""
        return tuple(sorted({self.yearly, self.lifetime, *self.each}))


def _require_below(name: str, value: object, *, least: int, below: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < below:
        told = f"Expected {name} as an int from {least} on and below {below}"
        raise InvalidParameterError(f"{told}, got {value!r}.")


def letter_in(order: int, *, letter: str) -> str:
    """Return the letter of an amount that is counted at an order: ε(a) of Rényi DP [Mir17].

    Example:
        >>> letter_in(9, letter="ε"), letter_in(0, letter="ρ")
        ('ε(9)', 'ρ')
    """
    return f"ε({order})" if order else letter


LedgerMeasure: TypeAlias = Measure | Mixed
"""In what a ledger counts."""


def letter_of_patients(measure: LedgerMeasure) -> str:
    """Return the letter of what each patient's rows cost.

    Example:
        >>> letter_of_patients(Mixed(atto=10**12, yearly=9, lifetime=4))
        'ε(9)'
    """
    order = measure.of_patients if isinstance(measure, Mixed) else 0
    return letter_in(order, letter=measure.letter)


_ORDER = r"([2-9]|[1-9][0-9]{1,11})"
_MIXED = re.compile(
    rf"mixed/([1-9][0-9]{{0,17}})/{_ORDER}/{_ORDER}(?:/{_ORDER}/{_ORDER})?", re.ASCII
)
_ANY = re.sub(r"\((?!\?)", "(?:", _MIXED.pattern)
MEASURES = "|".join([*(each.value for each in Measure), _ANY])
"""What the measure of a ledger is called, as a regular expression."""


def measure_of(text: str) -> LedgerMeasure:
    """Return the measure of a ledger by its name.

    Raises:
        ValueError: If there is none of this name.

    Example:
        >>> measure_of("zcdp")
        <Measure.ZCDP: 'zcdp'>
        >>> measure_of("mixed/1000000000000/9/4").orders
        (4, 9)
    """
    found = _MIXED.fullmatch(text)
    if found is None:
        return Measure(text)
    atto, yearly, lifetime, *each = (int(part) for part in found.groups() if part is not None)
    return Mixed(atto=atto, yearly=yearly, lifetime=lifetime, each=tuple(each))
