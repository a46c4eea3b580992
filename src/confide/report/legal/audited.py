"""What ``confide audit --json`` found at the site, as far as a legal document tells it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResults:
    """An audit's outcome; it runs on generated data and reads none of the site's.

    Attributes:
        file: Name of the file.
        quick: Whether only the short form ran.
        holds: Whether no check failed.
        checks: How many were made, by layer.
        failed: Names of those that failed.
    """

    file: str
    quick: bool
    holds: bool
    checks: tuple[tuple[str, int], ...]
    failed: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many checks were made."""
        return sum(count for _, count in self.checks)
