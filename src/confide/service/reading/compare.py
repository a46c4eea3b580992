"""Compare: two certificates side by side; what cannot be ranked is not ranked. Verifies neither."""

from dataclasses import dataclass
from pathlib import Path

from confide.release.verify.compare import Order
from confide.release.verify.compare import compare as compared
from confide.release.verify.verify import read_certificate
from confide.service.reading.certificate_file import certificate_path


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """A line that differs.

    Attributes:
        line: Which.
        first: What one certificate says.
        second: What the other says.
    """

    line: str
    first: str
    second: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """Two certificates side by side.

    Attributes:
        first: Id of one.
        second: Id of the other.
        ranked: Whether one promises more.
        order: Which.
        because: Why they cannot be ranked.
        versions: How one follows the other.
        lines: What differs.
    """

    first: str
    second: str
    ranked: bool
    order: str
    because: tuple[str, ...]
    versions: str
    lines: tuple[DiffLine, ...]


def compare(first: Path, second: Path) -> Diff:
    """Compare two releases: promise, bounds, scales, charges, versions.

    Raises:
        VerificationError: If one cannot be read as a certificate.
    """
    paths = [certificate_path(each) for each in (first, second)]
    one, other = (read_certificate(path) for path in paths)
    found = compared(one, other)
    return Diff(
        first=str(one.get("id")),
        second=str(other.get("id")),
        ranked=found.order is not Order.NONE,
        order=found.order.value,
        because=tuple(found.because),
        versions=found.versions,
        lines=tuple(
            DiffLine(line=each.line, first=each.one, second=each.other) for each in found.lines
        ),
    )
