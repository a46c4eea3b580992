"""Error of quartiles of a heavy tail, of heaped days and of costs, against OpenDP and Tumult.

Run: python benchmarks/quantiles_vs_peers.py   (needs .venv-bench-opendp and, for Tumult,
.venv-bench-tumult, which run_all.py makes)

All read the same rows, one a patient; all promise ε = 1, pure, for a patient added or removed, for
three quartiles together; all are told the same bounds.  OpenDP is asked in both of its ways: its
exponential mechanism over candidates (a third of ε for each quartile), of which there is one for
each value or 2^14 equal steps, as many as we have, and a histogram of 64 equal cells.  Errors are
the mean distance from the exact quartile, in ranges of the middle half; the length is that of our
95 % interval for the noise; without interval we choose among the values too.  Neither of the others gives an interval for a quantile.
"""

import bisect
import json
import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

RUNS, TUMULT_RUNS, SIZES = 40, 3, (300, 3_000)
OPENDP, TUMULT = (Path(f".venv-bench-{peer}") / "bin" / "python" for peer in ("opendp", "tumult"))
AT = (0.25, 0.5, 0.75)
Law = Callable[[random.Random], float]
LAWS: dict[str, tuple[Law, int]] = {
    "days in hospital": (lambda chance: math.exp(chance.gauss(1, 1)), 400),
    "days in heaps of seven": (lambda chance: 7 * max(1, round(chance.expovariate(0.3))), 400),
    "costs": (lambda chance: math.exp(chance.gauss(8, 1.3)), 10**6),
}


def rows(name: str, size: int) -> list[int]:
    """Return the clipped numbers of so many patients; the same in each run."""
    law, upper = LAWS[name]
    chance = random.Random(7)
    return [min(upper, max(0, round(law(chance)))) for _ in range(size)]


def quartiles(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered[math.ceil(q * len(ordered)) - 1] for q in AT]


def error(found: Sequence[float], values: Sequence[int]) -> float:
    """Return the mean distance from the exact quartiles, in ranges of the middle half."""
    true = quartiles(values)
    return sum(abs(a - b) for a, b in zip(found, true, strict=True)) / 3 / (true[2] - true[0])


def mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def cases() -> list[tuple[str, int]]:
    return [(name, size) for name in LAWS for size in SIZES]


def ours() -> dict[str, dict[str, float]]:
    import pyarrow as pa

    import confide

    found: dict[str, dict[str, float]] = {}
    for name, size in cases():
        values, upper = rows(name, size), LAWS[name][1]
        dataset = {
            "dataset": {"id": "bench", "lineage": "bench", "snapshot": "1"},
            "source": {"kind": "frames"},
            "protects": {"unit": "patient", "id": "person_id", "adjacency": "add-remove"},
            "accounting": {"measure": "pure"},
            "caps": {"lifetime": {"epsilon": "1000"}},
            "tables": {
                "people": {
                    "rows-per-patient": "1",
                    "columns": {"x": {"kind": "number", "lower": "0", "upper": str(upper)}},
                }
            },
        }
        people = pa.table({"person_id": list(range(size)), "x": values})
        asked = {"id": "q", "kind": "quantiles", "column": "x", "expect": {"count": size}}
        alone = asked | {"interval": "none"}
        errors, lengths, points = [], [], []
        with (
            tempfile.TemporaryDirectory() as folder,
            confide.open(dataset, frames={"people": people}, folder=folder) as ws,
        ):
            for run in range(RUNS):
                plan = ws.plan(asked, epsilon="1")
                told = [
                    each
                    for each in ws.release(plan, request=str(run)).estimates
                    if each.covers.value == "noise"
                ]
                errors.append(error([each.value for each in told], values))
                lengths.append(mean([each.upper - each.lower for each in told]))
                chosen = ws.release(ws.plan(alone, epsilon="1"), request=f"alone {run}").estimates
                points.append(error([each.value for each in chosen], values))
        true = quartiles(values)
        found[f"{name}, {size}"] = {
            "Confide": mean(errors),
            "Confide, without interval": mean(points),
            "length": mean(lengths) / (true[2] - true[0]),
        }
    return found


def opendp() -> dict[str, dict[str, float]]:
    """Run in OpenDP's own environment."""
    import opendp.prelude as dp  # type: ignore[import-not-found]

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    found: dict[str, dict[str, float]] = {}
    for name, size in cases():
        values, upper = rows(name, size), LAWS[name][1]
        steps = list(range(0, upper + 1, max(1, upper // 2**14)))

        def chosen(q: float, candidates: list[int] = steps) -> object:
            return dp.binary_search_chain(
                lambda scale: (
                    space >> dp.m.then_private_quantile(dp.max_divergence(), candidates, q, scale)
                ),
                d_in=1,
                d_out=1 / 3,
                T=float,
            )

        choices = [chosen(q) for q in AT]
        edges = [upper * cell // 64 for cell in range(65)]
        counts = (
            space
            >> dp.t.then_count_by_categories(
                categories=list(range(64)), MO=dp.L1Distance[int], null_category=False
            )
            >> dp.m.then_laplace(scale=1.0)
        )
        places = [bisect.bisect_right(edges, min(each, upper - 1)) - 1 for each in values]
        points, cells = [], []
        for _ in range(RUNS):
            points.append(error([choice(values) for choice in choices], values))
            noisy = [max(0, each) for each in counts(places)]
            cells.append(error(interpolated(noisy, edges), values))
        found[f"{name}, {size}"] = {
            "OpenDP, exponential mechanism": mean(points),
            "OpenDP, 64 cells": mean(cells),
        }
    return found


def interpolated(counts: Sequence[int], edges: Sequence[int]) -> list[float]:
    """Return quartiles of noisy counts, taken as evenly spread over each cell."""
    total, found = sum(counts), []
    for q in AT:
        below = 0.0
        for count, low, high in zip(counts, edges, edges[1:], strict=False):
            if below + count >= q * total:
                found.append(low + (high - low) * (q * total - below) / max(1, count))
                break
            below += count
    return found


def tumult() -> dict[str, dict[str, float]]:
    """Run in Tumult's own environment."""
    import pandas as pd
    from pyspark.sql import SparkSession  # type: ignore[import-not-found]
    from tmlt.analytics import (  # type: ignore[import-not-found]
        AddOneRow,
        PureDPBudget,
        QueryBuilder,
        Session,
    )

    spark = SparkSession.builder.master("local[1]").getOrCreate()
    found: dict[str, dict[str, float]] = {}
    for name, size in cases():
        values, upper = rows(name, size), LAWS[name][1]
        frame = spark.createDataFrame(pd.DataFrame({"x": [float(v) for v in values]}))
        session = Session.from_dataframe(
            privacy_budget=PureDPBudget(10_000),
            source_id="people",
            dataframe=frame,
            protected_change=AddOneRow(),
        )
        errors = []
        for _ in range(TUMULT_RUNS):
            told = [
                session.evaluate(
                    QueryBuilder("people").quantile("x", quantile=q, low=0.0, high=float(upper)),
                    PureDPBudget(1 / 3),
                ).collect()[0][0]
                for q in AT
            ]
            errors.append(error(told, values))
        found[f"{name}, {size}"] = {"Tumult": mean(errors)}
    return found


PEERS = {"opendp": (OPENDP, opendp), "tumult": (TUMULT, tumult)}


def main() -> None:
    if sys.argv[1:]:
        print(json.dumps(PEERS[sys.argv[1]][1]()))
        return
    found = ours()
    for peer, (python, _) in PEERS.items():
        if not python.exists():
            print(f"{peer} is not installed: run make bench")
            continue
        done = subprocess.run([python, __file__, peer], check=True, capture_output=True, text=True)
        for case, errors in json.loads(done.stdout.splitlines()[-1]).items():
            found[case] |= errors
    columns = list(dict.fromkeys(name for errors in found.values() for name in errors))
    print(f"| rows | {' | '.join(columns)} |")
    print(f"|---|{'--:|' * len(columns)}")
    for case, errors in found.items():
        told = (f"{errors[name]:.3f}" if name in errors else "" for name in columns)
        print(f"| {case} | {' | '.join(told)} |")


if __name__ == "__main__":
    main()
