"""Gradients by patient, clipped to whole numbers of bounded norm.

For each row its program (:mod:`.row_program`) gives the gradient of its loss; rows of one patient
are summed, and the sum g is clipped once: v = trunc(g·min(1, C/‖g‖)·R/C).  What is not finite
counts as zero.

*Lemma* (norm).  Every coordinate is truncated towards zero, and Σv² is then computed in whole
numbers; where it passes R², as a float's last digit may make it, v becomes trunc(v·R/(⌊√Σv²⌋+1)),
whose norm is below R.  So ‖v‖ ≤ R holds of the numbers that are summed, not of floats before.  ∎

*Lemma* (alone).  The program of a row takes the weights, that row and its class, and ``vmap`` runs
it for each row by itself: no operation has two rows to mix, whatever the module's author wrote.  So
g is a function of the patient's own rows at the present weights, in every batch, up to the last
bits of floats, which depend on where a row stands in one.  ∎

*Lemma* (last bits).  Truncation can make a whole unit of last bits, and a steep module any number
of them; one patient more could so move *others'* parts.  Two things keep them apart, each by itself
enough.  First, rows go through the program in blocks of a fixed number of rows, filled up with
zeros, in a *lane* (the place in a block, modulo LANES) that the row's own content chooses; so the
same operations of the same shapes, on memory aligned alike, meet a row whoever else is there.  That
a row's bits are then the same is measured, not proved.  Second, a coordinate further than MARGIN
from a whole number truncates alike, whatever the last bits; patients with a coordinate nearer than
that are computed alone, and so are those of whom a row stands at a kink of the module, where last
bits turn the gradient (:mod:`.kinks`).  While bits in a block and alone differ by less than
MARGIN = 2⁻²⁰ units, which is 2⁻⁴⁰ of the clip in float64, 2¹² times its rounding, v is what the
patient's rows give in a batch of their own, exactly.  Which patients are computed alone is a
function of their own rows too, as nothing that one patient does changes how another is computed: a
program with an operation that may fail on a row's numbers is run for each patient alone from the
start, so that a row on which it fails sends nobody else another way.  ∎

*Utility:* a pass a block, of which a quarter or so are zeros; at 10⁴ weights two patients in a
hundred are computed twice.

References:
    [Shew97] Shewchuk. Adaptive precision floating-point arithmetic and fast robust geometric
        predicates. Discrete Comput. Geom. 18, 1997, sec. 3. https://doi.org/10.1007/PL00009321
"""

import contextlib
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats, Ints
from confide.jobs.learning.dp_sgd import REACH
from confide.jobs.learning.kinks import smooth, with_kinks
from confide.jobs.learning.row_program import RowProgram

MARGIN = 2.0**-20
_ELEMENTS = 2**20
"""Numbers of gradients that one pass makes, at most; four times as many are held."""
LANES = 8
"""Rows of numbers of 8 bytes after which memory is aligned as before, to 64 bytes."""
_BLOCK = 256
"""Most rows of a block."""

Weights: TypeAlias = tuple[list[Any], list[Any]]
"""Tensors of a module, trained and frozen, in the order of its program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of patients, ordered by patient.

    Attributes:
        patient: Number of each row's patient, from 0, ascending; shape (rows,).
        inputs: Shape (rows, features).
        classes: Of the outcome; shape (rows,).
    """

    patient: Ints
    inputs: Floats
    classes: Ints

    @property
    def patients(self) -> int:
        """Number of patients: secret."""
        return int(self.patient[-1]) + 1 if self.patient.size else 0

    def of(self, chosen: Ints) -> "Rows":
        """Return the rows of some patients, who are numbered anew."""
        places = np.searchsorted(chosen, self.patient)
        mine = np.zeros(self.patient.size, dtype=np.bool_)
        inside = places < chosen.size
        mine[inside] = chosen[places[inside]] == self.patient[inside]
        return Rows(patient=places[mine], inputs=self.inputs[mine], classes=self.classes[mine])


class PerPatientGradients:
    """Sums clipped gradients of patients at the present weights.

    Attributes:
        size: Number of weights that are trained.
    """

    def __init__(self, program: RowProgram, *, weights: Weights, clip: float) -> None:
        """Take a program and the tensors that it is run at; they may change between sums."""
        self._run, self._smooth = with_kinks(program), smooth(program)
        self._weights, self._clip = weights, clip
        self._at_kinks: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)  # rows, of the last pass
        self.size = sum(each.numel() for each in weights[0])

    def summed(self, rows: Rows) -> Ints:
        """Return Σv over the patients of a batch, zero of an empty one; shape (size,)."""
        total = np.zeros(self.size)  # whole numbers below 2⁵³, which floats hold exactly
        most = max(1, 4 * _ELEMENTS // self.size)
        edges = np.append(np.flatnonzero(np.diff(rows.patient, prepend=-1)), rows.patient.size)
        first = 0
        while first < edges.size - 1:
            last = int(np.searchsorted(edges, edges[first] + most, side="right")) - 1
            last = max(first + 1, last)  # the rows of one patient are never parted
            part = slice(int(edges[first]), int(edges[last]))
            total += self.clipped(
                Rows(
                    patient=rows.patient[part] - rows.patient[part][0],
                    inputs=rows.inputs[part],
                    classes=rows.classes[part],
                )
            ).sum(axis=0)
            first = last
        return total.astype(np.int64)

    @np.errstate(all="ignore")  # whatever the caller set: what is not finite stops nothing
    def clipped(self, rows: Rows) -> Floats:
        """Return each patient's v, whole, as their rows alone give it; shape (patients, size)."""
        if not self._smooth:  # also whatever may fail on somebody's numbers
            return whole(np.stack([self._alone(rows, each) for each in range(rows.patients)]))
        together = scaled(self.by_patient(rows), clip=self._clip)
        found = whole(together)
        turned = np.unique(rows.patient[self._at_kinks])
        for patient in np.union1d(doubtful(together, found), turned).tolist():
            found[patient] = whole(self._alone(rows, patient)[None, :])[0]
        return found

    def by_patient(self, rows: Rows) -> Floats:
        """Return the gradient of each patient's rows before the clip; shape (patients, size)."""
        by_row = np.zeros((rows.patient.size, self.size))
        self._at_kinks = np.zeros(rows.patient.size, dtype=np.bool_)
        block = 1 << (min(_BLOCK, max(1, _ELEMENTS // self.size)).bit_length() - 1)
        for places in in_lanes(rows, block=block):
            real = places >= 0
            inputs = np.zeros((places.size, rows.inputs.shape[1]))
            classes = np.zeros(places.size, np.int64)
            inputs[real], classes[real] = rows.inputs[places[real]], rows.classes[places[real]]
            found, near = self._pass(inputs, classes)
            by_row[places[real]], self._at_kinks[places[real]] = found[real], near[real]
        return _summed_by_patient(by_row, rows)

    def _alone(self, rows: Rows, patient: int) -> Floats:
        """Return one patient's scaled gradient in a batch of their own; shape (size,).

        Zero where an operation fails on their numbers, as an index beyond its table does: that a
        training stopped would tell of one patient without noise.
        """
        own = rows.of(np.array([patient], dtype=np.int64))
        try:
            found = _summed_by_patient(self._pass(own.inputs, own.classes)[0], own)
        except Exception:  # noqa: BLE001 - see above
            return np.zeros(self.size)
        return np.asarray(scaled(found, clip=self._clip)[0])

    def _pass(self, inputs: Floats, classes: Ints) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the gradient of each row, and whether it stands at a kink."""
        import torch

        each = torch.func.vmap(self._run, in_dims=(None, None, 0, 0), randomness="error")
        with nobody_watching(), torch.no_grad():
            of = torch.from_numpy(np.array(classes, dtype=np.int64))
            given = torch.from_numpy(np.array(inputs, dtype=np.float64, order="C"))
            found, near = (part.numpy() for part in each(*self._weights, given, of))
        return found, near


def in_lanes(rows: Rows, *, block: int) -> Iterator[Ints]:
    """Yield the places of rows in blocks, each row in the lane that its own content chooses.

    Args:
        rows: Of patients.
        block: Rows of a block, a power of 2.

    Yields:
        Shape (block,): the number of the row at each place, −1 where there is none.
    """
    lanes = min(LANES, block)
    content = np.column_stack([rows.inputs, rows.classes.astype(np.float64)])
    lane = np.array([zlib.crc32(row.tobytes()) % lanes for row in content], dtype=np.int64)
    of_lane = [np.flatnonzero(lane == k) for k in range(lanes)]
    slots = block // lanes
    for first in range(0, max(each.size for each in of_lane), slots):
        places = np.full((slots, lanes), -1, dtype=np.int64)
        for k, each in enumerate(of_lane):
            some = each[first : first + slots]
            places[: some.size, k] = some
        yield places.ravel()


def _summed_by_patient(by_row: Floats, rows: Rows) -> Floats:
    if rows.patients == rows.patient.size:
        return by_row
    starts = np.flatnonzero(np.diff(rows.patient, prepend=-1))
    return np.asarray(np.add.reduceat(by_row, starts, axis=0))


@contextlib.contextmanager
def nobody_watching() -> Iterator[None]:
    """Turn off what a caller or a module left watching PyTorch's operations: it would see rows."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    with torch._C.DisableTorchFunction(), _disable_current_modes():  # noqa: SLF001
        yield


def scaled(gradients: Floats, *, clip: float) -> Floats:
    """Return g·min(1, C/‖g‖)·R/C, zero of what is not finite; shape as given.

    Example:
        >>> cut = scaled(np.array([[3.0, 4.0], [0.5, np.nan], [0.0, -1e300]]), clip=1.0)
        >>> np.round(cut / REACH, 9).tolist()
        [[0.6, 0.8], [0.0, 0.0], [0.0, -1.0]]
    """
    with np.errstate(all="ignore"):
        squares = np.einsum("ij,ij->i", gradients, gradients)
        found = gradients * (REACH / np.maximum(np.sqrt(squares), clip))[:, None]
    for row in np.flatnonzero(~np.isfinite(squares)).tolist():  # or too large to be squared
        largest = np.abs(gradients[row]).max()
        unit = gradients[row] / largest if np.isfinite(largest) else np.zeros(found.shape[1])
        found[row] = unit * (REACH / max(1.0, float(np.sqrt(np.square(unit).sum()))))
    return np.asarray(found)


def doubtful(scaled_gradients: Floats, found: Floats) -> Ints:
    """Return the patients of whom a number is so near to a whole one that floats may disagree.

    Args:
        scaled_gradients: Shape (patients, size).
        found: The same, truncated; both sides of 0 truncate to it.
    """
    rest = scaled_gradients - found
    np.abs(rest, out=rest)
    rest -= 0.5
    rows, columns = np.nonzero(np.abs(rest) >= 0.5 - MARGIN)
    near = (rest[rows, columns] > 0) | (found[rows, columns] != 0)
    return np.unique(rows[near]).astype(np.int64)


def whole(scaled_gradients: Floats) -> Floats:
    """Return whole numbers towards zero, of norm at most R; shape as given.

    They and their squares' sums stay below 2⁵³, so float64 holds them exactly.

    Example:
        >>> whole(np.array([[1.9, -2.9]])).tolist()
        [[1.0, -2.0]]
    """
    found = np.trunc(scaled_gradients)
    squares = np.einsum("ij,ij->i", found, found)
    for row in np.flatnonzero(squares > REACH**2).tolist():
        root = math.isqrt(int(squares[row])) + 1
        found[row] = np.trunc(found[row] * REACH / root)
    return np.asarray(found)
