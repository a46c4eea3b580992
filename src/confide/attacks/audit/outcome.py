"""What an audit found: one line a check, with what was measured and what was claimed."""

import enum
from dataclasses import dataclass


class Layer(enum.Enum):
    """Layers of the audit, from the noise switched off to the whole release."""

    SENSITIVITY = "L1"  # sensitivity search with the noise off
    FIT = "L2"  # goodness of fit of the samplers
    LOWER_BOUND = "L3"  # black-box lower bounds on the loss
    ORACLE = "L4"  # numbers known in closed form
    COMPOSITION = "L5"  # strategies against caps on every kind of loss
    MODEL = "L6"  # whole models: canaries in one training, membership attacks


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Whom an attack on membership finds, and the claim beside it.

    Attributes:
        name: Which model was attacked.
        points: Share of others accused and share of members found, both rising.
        epsilon: Of the claim.
        delta: Of the claim.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCheck:
    """One thing that was checked.

    Attributes:
        name: What.
        layer: Which layer of the audit.
        passed: Whether it holds.
        measured: What was found, in words.
        claimed: What was expected, in words.
        curve: What a figure shows of it.
    """

    name: str
    layer: Layer
    passed: bool
    measured: str
    claimed: str
    curve: Curve | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """All checks of one audit.

    Attributes:
        checks: In the order they were made.
        seconds: How long they took.
    """

    checks: tuple[AuditCheck, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return all(check.passed for check in self.checks)

    @property
    def failures(self) -> tuple[AuditCheck, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.passed)
