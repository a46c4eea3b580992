"""One table in memory, released through the façade with hardly any noise."""

import confide

DATASET = {
    "dataset": {"id": "d", "lineage": "d", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "accounting": {"measure": "pure"},
    "caps": {"lifetime": {"epsilon": "1000"}},
}


def released(*asked, table, columns, name, folder, **more):
    """Return the release of statistics of a table with one row per patient, at ε = 200.

    ``more`` are other sections of the data set.
    """
    tables = {name: {"rows-per-patient": 1, "columns": columns}}
    frames = {name: table}
    with confide.open({**DATASET, "tables": tables, **more}, frames=frames, folder=folder) as ws:
        return ws.release(ws.plan(*asked, epsilon="200"))
