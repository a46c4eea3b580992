"""What a site does by itself in a round of federated averaging: full batches from public weights.

*Law.*  From the public weights w a site takes E steps w ← w − η·g, where g is the mean gradient
over all its rows; its update is v = trunc((w₀ − w)·min(1, C/‖w₀ − w‖)·R/C), cut once more where a
float's last digit made ‖v‖ > R (:func:`~confide.jobs.learning.per_patient_gradients.whole`).  A
site without rows adds 0, and so does one whose training ends in no finite number, or fails.

*Privacy:* floats of patients stay here; what leaves is a vector of whole numbers with ‖v‖ ≤ R,
whatever the rows are, and no bound rests on anything else in this file.  Rows go through the
module's written-down program alone (:mod:`confide.jobs.learning.row_program`): none of its author's
code sees one.  *Utility:* full batches need no coins, and no order of rows.
"""

from typing import Any

import numpy as np

from confide.arrays import Floats, Ints
from confide.jobs.federated.training.fedavg import FedAvg
from confide.jobs.learning.kinks import with_kinks
from confide.jobs.learning.per_patient_gradients import (
    Rows,
    Weights,
    nobody_watching,
    scaled,
    whole,
)
from confide.jobs.learning.row_program import RowProgram

_AT_ONCE = 2**20
"""Numbers of gradients that one pass makes, at most."""


class LocalTraining:
    """Trains at one site, on all its rows.

    Args:
        spec: What is planned.
        program: Of the module.
        rows: This site's.
    """

    def __init__(self, spec: FedAvg, *, program: RowProgram, rows: Rows) -> None:
        import torch

        self._spec, self._rate = spec, float(spec.local_rate)
        run = with_kinks(program)  # which writes no logs and runs no hooks
        self._each = torch.func.vmap(run, in_dims=(None, None, 0, 0), randomness="error")
        self._inputs = torch.from_numpy(np.array(rows.inputs, dtype=np.float64, order="C"))
        self._classes = torch.from_numpy(np.array(rows.classes, dtype=np.int64))

    def update(self, weights: Weights) -> Ints | None:
        """Return v of this site at public weights, which stay as they are; shape (parameters,).

        None where the training came to no finite number, or failed on the rows: whether it did is
        a fact of them, so it must not end a run.
        """
        try:
            moved = self._moved(weights)
        except Exception:  # noqa: BLE001 - see above
            return None
        if not np.isfinite(moved).all():
            return None
        cut = whole(scaled(moved[None, :], clip=float(self._spec.clip)))
        return np.asarray(cut[0], dtype=np.int64)

    def _moved(self, weights: Weights) -> Floats:
        """Return w₀ − w after the local steps; shape (parameters,)."""
        import torch
        from torch.nn.utils import parameters_to_vector, vector_to_parameters

        trained, frozen = weights
        with nobody_watching(), torch.no_grad():
            first = parameters_to_vector(trained)
            here = [each.clone() for each in trained]
            now = first.clone()
            for _ in range(self._spec.local_steps if self._classes.numel() else 0):
                vector_to_parameters(now, here)
                now = now - self._rate * self._mean_gradient((here, frozen))
            return np.asarray((first - now).numpy())

    def _mean_gradient(self, weights: Weights) -> Any:
        """Return the mean of the gradients of all rows; shape (parameters,)."""
        rows = self._classes.numel()
        block = max(1, _AT_ONCE // self._spec.parameters)
        total: Any = 0.0
        for first in range(0, rows, block):
            some = slice(first, first + block)
            found, _ = self._each(*weights, self._inputs[some], self._classes[some])
            total = total + found.sum(0)
        return total / rows
