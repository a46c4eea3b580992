"""Error of a released histogram and mean at an equal guarantee, against OpenDP 0.16.

Run: python benchmarks/accuracy_vs_opendp.py   (needs .venv-bench-opendp, which run_all.py makes)

Both read the same generated table of one row a patient, both promise ε = 1 for a patient added or
removed, and both are asked 200 times.  Noise is what differs: for the histogram nothing should, and
for the mean what a patient can move.  OpenDP is used in two ways: plainly (noisy
clamped sum over noisy count, half of ε each), and with the values centred by hand first.
"""

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

PATIENTS, BINS, RUNS = 2_000, 20, 200
LOWER, UPPER = 60, 260
OPENDP = Path(".venv-bench-opendp") / "bin" / "python"


def cohort() -> tuple[list[int], list[int]]:
    """Return a bin and a blood pressure for each patient; the same in each run."""
    import random

    chance = random.Random(7)
    bins = [min(BINS - 1, int(chance.expovariate(0.3))) for _ in range(PATIENTS)]
    return bins, [round(chance.gauss(132, 18)) for _ in range(PATIENTS)]


def root_mean_square(errors: Sequence[float]) -> float:
    return math.sqrt(math.fsum(e * e for e in errors) / len(errors))


def truth(bins: Sequence[int], pressure: Sequence[int]) -> tuple[list[int], float]:
    clipped = [min(UPPER, max(LOWER, p)) for p in pressure]
    return [bins.count(b) for b in range(BINS)], sum(clipped) / len(clipped)


def ours() -> dict[str, float]:
    import pyarrow as pa

    import confide

    bins, pressure = cohort()
    counts, mean = truth(bins, pressure)
    dataset = {
        "dataset": {"id": "bench", "lineage": "bench", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "person_id", "adjacency": "add-remove"},
        "accounting": {"measure": "pure"},
        "caps": {"lifetime": {"epsilon": "1000"}},
        "tables": {
            "people": {
                "rows-per-patient": "1",
                "columns": {
                    "bin": {"categories": [str(b) for b in range(BINS)]},
                    "pressure": {"kind": "number", "lower": str(LOWER), "upper": str(UPPER)},
                },
            }
        },
    }
    people = pa.table({"person_id": list(range(PATIENTS)), "bin": bins, "pressure": pressure})
    in_cells, in_mean = [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        confide.open(dataset, frames={"people": people}, folder=folder) as ws,
    ):
        for run in range(RUNS):
            plan = ws.plan({"id": "h", "kind": "histogram", "by": ["bin"]}, epsilon="1")
            cells = ws.release(plan, request=f"h{run}").estimates
            in_cells += [cell.value - true for cell, true in zip(cells, counts, strict=True)]
            plan = ws.plan({"id": "m", "kind": "mean", "column": "pressure"}, epsilon="1")
            in_mean += [e.value - mean for e in ws.release(plan, request=f"m{run}").estimates]
    return {"histogram": root_mean_square(in_cells), "mean": root_mean_square(in_mean)}


def opendp() -> dict[str, float]:
    """Run in OpenDP's own environment."""
    import opendp.prelude as dp  # type: ignore[import-not-found]

    dp.enable_features("contrib")
    bins, pressure = cohort()
    counts, mean = truth(bins, pressure)
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    names = list(range(BINS))
    histogram = (
        space
        >> dp.t.then_count_by_categories(
            categories=names, MO=dp.L1Distance[int], null_category=False
        )
        >> dp.m.then_laplace(scale=1.0)
    )
    count = space >> dp.t.then_count() >> dp.m.then_laplace(scale=2.0)

    def noisy_sum(lower: int, upper: int) -> object:
        clamped = space >> dp.t.then_clamp((lower, upper)) >> dp.t.then_sum()
        return clamped >> dp.m.then_laplace(scale=2.0 * max(abs(lower), abs(upper)))

    centre = (LOWER + UPPER) // 2
    plain, centred = noisy_sum(LOWER, UPPER), noisy_sum(LOWER - centre, UPPER - centre)
    shifted = [p - centre for p in pressure]
    assert histogram.map(1) <= 1 and count.map(1) + plain.map(1) <= 1 + 1e-9  # noqa: S101, PT018
    in_cells, in_mean, in_centred = [], [], []
    for _ in range(RUNS):
        in_cells += [n - true for n, true in zip(histogram(bins), counts, strict=True)]
        in_mean.append(plain(pressure) / count(pressure) - mean)
        in_centred.append(centre + centred(shifted) / count(shifted) - mean)
    return {
        "histogram": root_mean_square(in_cells),
        "mean": root_mean_square(in_mean),
        "mean, centred by hand": root_mean_square(in_centred),
    }


def main() -> None:
    if sys.argv[1:] == ["--opendp"]:
        print(json.dumps(opendp()))
        return
    here = ours()
    if not OPENDP.exists():
        sys.exit("OpenDP is not installed: run make bench")
    done = subprocess.run(
        [OPENDP, __file__, "--opendp"], check=True, capture_output=True, text=True
    )
    there = json.loads(done.stdout)
    print(f"root mean square error over {RUNS} releases at ε = 1, {PATIENTS} patients")
    for name, error in there.items():
        own = here[name.split(",")[0]]
        print(f"  {name:24} OpenDP {error:7.4f}   Confide {own:7.4f}   ratio {own / error:5.2f}")


if __name__ == "__main__":
    main()
