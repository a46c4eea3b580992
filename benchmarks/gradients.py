"""What gradients by patient cost: those of a batch here, and Opacus' for the same network.

Run: .venv/bin/python benchmarks/gradients.py (needs the extra `learning`)

Opacus widens each layer by hooks and takes layers that hooks can handle; here the module's traced
operations are run in blocks of a fixed size, and what stands near an edge is computed alone.  Both
clip and sum in double precision on one thread; seconds are of the processor.
"""

import itertools
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

import numpy as np
import torch
from opacus import GradSampleModule
from torch import nn

from confide.jobs.learning.per_patient_gradients import Rows
from module_gradients import gradients_of

PATIENTS, TIMES, CLIP = 512, 7, 1.0
NETWORKS = ((20, 2), (20, 30, 2), (60, 128, 16, 2))


def network(sizes: tuple[int, ...]) -> nn.Module:
    """Return linear layers of these sizes with rectifiers between them."""
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1]).double()


def milliseconds(act) -> float:
    """Return the median of several times."""
    act()
    took = []
    for _ in range(TIMES):
        start = time.process_time()
        act()
        took.append(1000 * (time.process_time() - start))
    return sorted(took)[TIMES // 2]


def by_opacus(module: nn.Module, rows: Rows):
    """Return what sums clipped gradients by Opacus' own means."""
    widened = GradSampleModule(module)
    inputs, classes = torch.from_numpy(rows.inputs), torch.from_numpy(rows.classes)

    def summed():
        widened.zero_grad()
        nn.functional.cross_entropy(widened(inputs), classes, reduction="sum").backward()
        each = [p.grad_sample.reshape(PATIENTS, -1) for p in module.parameters()]
        factor = (CLIP / (torch.cat(each, 1).norm(dim=1) + 1e-6)).clamp(max=1.0)
        return [torch.einsum("n,nk->k", factor, part) for part in each]

    return summed


def main() -> None:
    """Measure networks of three sizes."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    numbers = np.random.default_rng(1)
    for sizes in NETWORKS:
        rows = Rows(
            patient=np.arange(PATIENTS),
            inputs=numbers.normal(size=(PATIENTS, sizes[0])),
            classes=numbers.integers(0, 2, PATIENTS),
        )
        ours = gradients_of(network(sizes), features=sizes[0], clip=CLIP)
        here = milliseconds(lambda ours=ours, rows=rows: ours.summed(rows))
        peer = milliseconds(by_opacus(network(sizes), rows))
        ratio = here / peer
        print(f"{ours.size} weights: {here:.1f} ms, Opacus {peer:.1f} ms, ratio {ratio:.1f}")


if __name__ == "__main__":
    main()
