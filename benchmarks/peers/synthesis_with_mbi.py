"""The model of mbi 2 from the marginals that a synthesis measured: seconds, and a table.

Run by ``synthesis.py --peer``: python synthesis_with_mbi.py MEASURED.npz OUT.npz
"""

import json
import sys
import time

import numpy as np
from mbi import Domain, LinearMeasurement
from mbi.estimation import MirrorDescent

ITERATIONS = 1000


def main(path, out):
    held = np.load(path)
    about = json.loads(str(held["about"]))
    names = [f"c{v}" for v in range(len(about["sizes"]))]
    measured = [
        LinearMeasurement(
            held[f"counts{i}"].ravel(),
            tuple(names[v] for v in variables),
            stddev=float(held[f"deviation{i}"]),
        )
        for i, variables in enumerate(about["cliques"])
    ]
    domain = Domain(names, about["sizes"])
    seconds = []
    for _ in range(2):
        began = time.process_time()
        model = MirrorDescent().estimate(
            domain, measured, known_total=about["total"], iters=ITERATIONS
        )
        seconds.append(time.process_time() - began)
    began = time.process_time()
    rows = model.synthetic_data(rows=about["rows"])
    seconds.append(time.process_time() - began)
    columns = rows.to_dict() if hasattr(rows, "to_dict") else rows.df
    table = np.column_stack([np.asarray(columns[name]) for name in names])
    np.savez(out, table=table, seconds=np.array(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
