"""Audit: try to break this installation's guarantee, on data it generates itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from confide.errors import ContractError, MissingExtraError, UnsupportedError
from confide.files.audit_results import write_audit
from confide.regular_file import write_bytes, write_text
from confide.service.dump import OMITTED, dump

if TYPE_CHECKING:
    from confide.attacks.audit.outcome import AuditCheck

_RUN = "confide.attacks.audit.run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Whom a membership attack finds.

    Attributes:
        model: Of what.
        epsilon: That it claims.
        delta: Beside ε.
        false_alarms: Shares of strangers that are taken for members.
        found: Shares of members that are found then.
    """

    model: str
    epsilon: float
    delta: float
    false_alarms: tuple[float, ...]
    found: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedPart:
    """One check.

    Attributes:
        layer: Of the audit.
        name: What was tried.
        holds: Whether the guarantee did.
        measured: What was seen.
        claimed: What may be seen.
        curve: Of a membership attack.
    """

    layer: str
    name: str
    holds: bool
    measured: str
    claimed: str
    curve: Annotated[Curve | None, OMITTED] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """What an audit found.

    Attributes:
        quick: Whether it was the part that takes seconds.
        holds: Whether nothing was broken.
        seconds: How long it took.
        checks: In the order they were made.
    """

    quick: bool
    holds: bool
    seconds: float
    checks: tuple[AuditedPart, ...]


def require_audit(*, out: Path | None) -> None:
    """Refuse what cannot be audited, or be written to, before anything is tried.

    Raises:
        MissingExtraError: If a library is missing.
        UnsupportedError: If this build has no audit.
        ContractError: If ``out`` is no folder.
    """
    _harness()
    if out is not None and out.exists() and not out.is_dir():
        raise ContractError(f"{out.name} is not a folder.", hint="Name a new folder.")


def audit(
    *,
    quick: bool,
    only: tuple[str, ...],
    trainings: tuple[Any, ...],
    out: Path | None,
    progress: Callable[[str], None],
) -> Audited:
    """Try to break this installation's guarantee; reads no data of anybody and charges nothing.

    Args:
        quick: The part that takes seconds.
        only: Parts whose name has each of these texts.
        trainings: In steps, by trainers of rooms above.
        out: Folder for the results and figures.
        progress: Told the name of each part.

    Raises:
        ContractError: If no part has those texts.
    """
    run = _harness()
    found = run(quick=quick, progress=progress, only=only, trainings=trainings)
    made = Audited(
        quick=quick,
        holds=found.passed,
        seconds=round(found.seconds, 1),
        checks=tuple(_part(check) for check in found.checks),
    )
    if out is not None:
        curves = [check.curve for check in found.checks if check.curve is not None]
        _write(made, curves, out=out)
    return made


def _harness() -> Any:
    try:
        return import_module(_RUN).run_audit
    except ModuleNotFoundError as missing:
        if missing.name and not missing.name.startswith("confide"):
            raise MissingExtraError(missing.name, extra="accounting") from None
        raise UnsupportedError(
            "This build has no audit.", hint="Install a release of confide that has it."
        ) from None


def _part(check: "AuditCheck") -> AuditedPart:
    curve = check.curve
    return AuditedPart(
        layer=check.layer.value,
        name=check.name,
        holds=check.passed,
        measured=check.measured,
        claimed=check.claimed,
        curve=None
        if curve is None
        else Curve(
            model=curve.name,
            epsilon=curve.epsilon,
            delta=curve.delta,
            false_alarms=tuple(round(alarms, 6) for alarms, _ in curve.points),
            found=tuple(round(found, 6) for _, found in curve.points),
        ),
    )


def _write(made: Audited, curves: Sequence[Any], *, out: Path) -> None:
    """Write the results, and a figure where there are curves."""
    out.mkdir(parents=True, exist_ok=True)
    write_audit(dump(made), out / "audit.json")
    if not curves:
        return
    from confide.drawing.charts.render import draw
    from confide.drawing.words import load_words
    from confide.report.charts.membership_chart import Attacked, membership_chart

    drawn = draw(
        membership_chart(
            [Attacked(model=curve.name, points=curve.points) for curve in curves],
            epsilon=curves[0].epsilon,
            delta=curves[0].delta,
            words=load_words("en"),
        )
    )
    write_text(out / "membership.svg", drawn.svg)
    write_bytes(out / "membership.png", drawn.png)
