"""What ``enforce: drop`` does to counts: who is still counted, from public visit frequencies alone.

A table says which share of patients appears how often a year.  Of the n runs in a cap's window, a
patient who appears v times is taken to appear in v runs at random, each set equally likely; run by
run the chance to appear is (v − those before)/(n − runs before).  A patient who appears pays the
whole spend, or is left out where the cap would be passed, and then pays nothing.  Summed over these
paths, exactly, that gives the share of a run's patients who are still counted.

*Privacy:* only public numbers go in; how many were in fact left out is never computed.
*Utility:* counts come out low by the rest.  Patients whose own contribution is smaller than the
sensitivity pay less and stay longer, so the preview errs towards more loss.  Frequent visitors that
come in bursts are left out later in some runs and earlier in others than this says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from confide.errors import ContractError, InvalidParameterError, UnsupportedError
from confide.privacy.amount import amount
from confide.public_csv import csv_lines

_MOST_STATES = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLoss:
    """What one run loses.

    Attributes:
        counted: Share of the run's patients who are still counted, expected.
        patients: Expected share of all patients who appear in the run.
    """

    counted: Fraction
    patients: Fraction

    @property
    def undercount(self) -> Fraction:
        """The share that is missing."""
        return 1 - self.counted


def read_frequencies(path: Path) -> dict[int, Fraction]:
    """Return the share of patients by appearances a year, from a CSV: appearances, share.

    The second column may also be ``patients``, a public number of them.

    Raises:
        ContractError: If it is not such a table.
    """
    hint = "Write a header appearances,share and lines such as 1,0.62; shares add up to 1."
    columns, *lines = csv_lines(path)
    named = [name for name in ("share", "patients") if name in columns]
    if "appearances" not in columns or len(named) != 1 or len(set(columns)) != len(columns):
        raise ContractError(f"{path.name} has no such columns.", hint=hint)
    place, share = columns.index("appearances"), columns.index(named[0])
    found: dict[int, Fraction] = {}
    for times, weight in ((line[place], line[share]) for line in lines):
        if not times.isascii() or not times.isdigit() or int(times) in found:
            raise ContractError(
                f"{path.name}: expected each number of appearances once.", hint=hint
            )
        try:
            found[int(times)] = amount(weight)
        except InvalidParameterError:
            message = f"{path.name}: expected {named[0]} > 0 at {int(times)} appearances."
            raise ContractError(message, hint=hint) from None
    total = sum(found.values(), start=Fraction(0))
    if not found or (named == ["share"] and abs(total - 1) > Fraction(1, 100)):
        raise ContractError(f"{path.name}: shares do not add up to 1.", hint=hint)
    return {times: weight / total for times, weight in sorted(found.items())}


def losses(
    spends: Sequence[int], *, limit: int, frequencies: Mapping[int, Fraction]
) -> tuple[RunLoss, ...]:
    """Return the loss of each run in one window.

    Args:
        spends: Of every run in the order of time, in 1e-9.
        limit: Of the cap, in the same.
        frequencies: Share of patients by how many of the runs they appear in.

    Raises:
        UnsupportedError: If the spends are too different to follow every path.

    Example:
        A cap for two of three equal runs, and patients who are in all of them:

        >>> [str(loss.counted) for loss in losses([1, 1, 1], limit=2, frequencies={3: Fraction(1)})]
        ['1', '1', '0']
    """
    runs = len(spends)
    here = [Fraction(0)] * runs
    counted = [Fraction(0)] * runs
    for times, share in frequencies.items():
        appearing = min(times, runs)
        kept = _kept(spends, limit=limit, appearing=appearing)
        for run in range(runs):
            here[run] += share * Fraction(appearing, runs)
            counted[run] += share * kept[run]
    return tuple(
        RunLoss(counted=kept / all_ if all_ else Fraction(1), patients=all_)
        for kept, all_ in zip(counted, here, strict=True)
    )


def _kept(spends: Sequence[int], *, limit: int, appearing: int) -> list[Fraction]:
    """Return the chance to appear and be counted, run by run."""
    states: dict[tuple[int, int], Fraction] = {(0, 0): Fraction(1)}
    found = []
    for run, units in enumerate(spends):
        after: dict[tuple[int, int], Fraction] = {}
        counted = Fraction(0)
        for (seen, spent), mass in states.items():
            chance = Fraction(appearing - seen, len(spends) - run)
            fits = spent + units <= limit
            counted += mass * chance if fits else 0
            moves = (
                ((seen, spent), mass * (1 - chance)),
                ((seen + 1, spent + units if fits else spent), mass * chance),
            )
            for state, part in moves:
                if part:
                    after[state] = after.get(state, Fraction(0)) + part
        if len(after) > _MOST_STATES:
            raise UnsupportedError(
                "The spends are too different to follow every path.",
                hint="Preview fewer releases, or give alike releases the same tier and utility.",
            )
        states = after
        found.append(counted)
    return found
