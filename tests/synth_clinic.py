"""A small clinic in a folder, with a synth.yaml, for tests of the command and of the workspace."""

import json
from pathlib import Path

import pyarrow.csv

from synthesis_world import declared, frame, people

ASKED = {
    "synthesis": {"id": "ward-table", "title": "Wards"},
    "dataset": "dataset.yaml",
    "columns": ["age", "sex", "stage", "ward", "died"],
    "missing": "leave-out",
    "rows": "3000",
    "tables": "5",
    "spend": {"epsilon": "1"},
}


def clinic(folder, *, measure="zcdp", lifetime="5", values=None, **asked):
    """Write data, dataset.yaml and synth.yaml; return the path of synth.yaml."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    pyarrow.csv.write_csv(frame(people() if values is None else values), place / "people.csv")
    dataset = declared(measure=measure, lifetime=lifetime)
    dataset["source"] = {"kind": "csv", "path": "."}
    if measure == "pure":
        dataset["accounting"] = {"measure": "pure"}
    (place / "dataset.yaml").write_text(json.dumps(dataset))
    (place / "synth.yaml").write_text(json.dumps(ASKED | asked))
    return place / "synth.yaml"
