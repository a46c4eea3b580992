"""A small OMOP warehouse in a folder, with a synth.yaml of events, for tests of synthetic tables.

Stroke follows high pressure and age; a bleed comes 1 to 90 days after the first warfarin; nobody
has an event before birth or after death.
"""

import datetime as dt
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FIRST, LAST = dt.date(2010, 1, 1), dt.date(2019, 12, 31)
WINDOW = {"kind": "date", "lower": FIRST.isoformat(), "upper": LAST.isoformat()}
DAYS = (LAST - FIRST).days
START = np.datetime64("2010-01-01")
DATASET = {
    "dataset": {"id": "town", "lineage": "town", "snapshot": "1"},
    "source": {"kind": "omop", "version": "5.4", "path": "cdm"},
    "protects": {"unit": "patient", "id": "person_id", "adjacency": "add-remove"},
    "accounting": {"measure": "zcdp", "delta": "1e-6"},
    "caps": {"lifetime": {"epsilon": "1000"}},
    "tables": {
        "person": {
            "rows-per-patient": 1,
            "columns": {
                "sex": {"from": "gender_concept_id", "categories": {"8507": "m", "8532": "f"}},
                "born": {"from": "year_of_birth", "kind": "year", "lower": 1920, "upper": 2019},
            },
        },
        "death": {"rows-per-patient": 1, "columns": {"died": {"from": "death_date"} | WINDOW}},
        "condition_occurrence": {
            "columns": {
                "condition": {
                    "from": "condition_concept_id",
                    "categories": {"381316": "stroke", "192671": "bleed"},
                },
                "start": {"from": "condition_start_date"} | WINDOW,
            }
        },
        "drug_exposure": {
            "columns": {
                "drug": {"from": "drug_concept_id", "categories": {"1310149": "warfarin"}},
                "start": {"from": "drug_exposure_start_date"} | WINDOW,
            }
        },
        "visit_occurrence": {
            "columns": {
                "visit": {
                    "from": "visit_concept_id",
                    "categories": {"9201": "inpatient", "9202": "outpatient"},
                },
                "start": {"from": "visit_start_date"} | WINDOW,
                "end": {"from": "visit_end_date"} | WINDOW,
            }
        },
        "systolic": {
            "from": "measurement",
            "only": {"measurement_concept_id": ["3004249"]},
            "columns": {
                "value": {
                    "from": "value_as_number",
                    "kind": "number",
                    "lower": 80,
                    "upper": 220,
                    "unit": "mm[Hg]",
                    "units": {"from": "unit_concept_id", "known": {"8876": "mm[Hg]"}},
                },
                "date": {"from": "measurement_date"} | WINDOW,
            },
        },
    },
    "per-patient": {
        "stroke": {"any": "condition_occurrence", "where": {"condition": ["stroke"]}},
        "warfarin": {"first": "start", "of": "drug_exposure"},
        "bleed": {
            "first": "start",
            "of": "condition_occurrence",
            "where": {"condition": ["bleed"]},
        },
        "until_bleed": {"days-between": ["warfarin", "bleed"], "lower": 0, "upper": 400},
        "stays": {
            "count": "visit_occurrence",
            "where": {"visit": ["inpatient"]},
            "at-most": 4,
        },
        "pressure": {"last": "value", "of": "systolic", "by": "date"},
    },
}
STUDY = {
    "study": {"id": "town"},
    "dataset": "dataset.yaml",
    "statistics": [
        {"id": "sexes", "kind": "histogram", "table": "person", "by": ["sex"]},
        {"id": "strokes", "kind": "count", "table": "person", "where": {"stroke": ["yes"]}},
        {
            "id": "bleeds",
            "kind": "count",
            "table": "person",
            "where": {"until_bleed": {"from": 0, "to": 90}},
        },
        {"id": "stays", "kind": "mean", "table": "person", "column": "stays"},
        {
            "id": "visits",
            "kind": "histogram",
            "table": "visit_occurrence",
            "by": ["visit"],
            "count": "events",
            "per-patient": {"rows": 5},
        },
        {
            "id": "pressures",
            "kind": "mean",
            "table": "systolic",
            "column": "value",
            "per-patient": {"rows": 3},
        },
        {"id": "deaths", "kind": "count", "table": "death"},
    ],
    "spend": {"at-most": {"epsilon": "100"}},
}
YEARS = [f"{year}-01-01" for year in (2010, 2012, 2014, 2016, 2018)] + ["2019-12-31"]
ASKED = {
    "synthesis": {"id": "town-warehouse"},
    "dataset": "dataset.yaml",
    "columns": {
        "sex": {},
        "born": {"bins": [1920, 1940, 1960, 1980, 2000, 2019], "missing": "leave-out"},
        "died": {"of": "death.died", "bins": YEARS},
    },
    "events": {
        "stroke": {
            "of": "condition_occurrence",
            "where": {"condition": ["stroke"]},
            "dates": YEARS,
        },
        "warfarin": {"of": "drug_exposure", "where": {"drug": ["warfarin"]}, "dates": YEARS},
        "bleed": {
            "of": "condition_occurrence",
            "where": {"condition": ["bleed"]},
            "dates": YEARS,
            "after": ["warfarin"],
            "later": [0, 30, 60, 91],
        },
        "inpatient": {
            "of": "visit_occurrence",
            "where": {"visit": ["inpatient"]},
            "dates": YEARS,
            "at-most": 4,
            "days": [0, 1, 366, 1096, 2192, DAYS],
            "end": "end",
            "stay": [0, 1, 4, 15],
        },
        "pressure": {
            "of": "systolic",
            "dates": YEARS,
            "at-most": 3,
            "days": [0, 1, 366, DAYS],
            "number": "value",
            "values": [80, 120, 140, 160, 220],
        },
    },
    "together": [["pressure_value", "stroke_first"]],
    "rows": "2000",
    "tables": "2",
    "spend": {"epsilon": "100"},
}


def patients(n=2000, *, start=8):
    """Return the tables of the CDM of made-up patients."""
    rng = np.random.default_rng(start)
    ids = np.arange(1, n + 1)
    born = rng.integers(1925, 2019, n)
    alive = START + np.maximum((born - 2009) * 366, 0)
    died = np.where(rng.random(n) < 0.2, rng.integers(1, DAYS, n), DAYS)
    last = np.maximum(START + died, alive)

    def days(patient):
        room = (last[patient] - alive[patient]).astype(int)
        return alive[patient] + (rng.random(len(patient)) * (room + 1)).astype(int)

    level = np.clip(rng.normal(125, 18, n) + (born < 1960) * 12, 85, 215).astype(int)
    struck = np.flatnonzero(rng.random(n) < np.where(level >= 140, 0.6, 0.1))
    on = np.flatnonzero(rng.random(n) < 0.4)
    begun = days(on)
    bleeds = np.flatnonzero((rng.random(on.size) < 0.5) & (begun + 90 <= last[on]))
    later = begun[bleeds] + rng.integers(1, 91, bleeds.size)
    stayed = np.repeat(np.arange(n), rng.choice(5, size=n, p=[0.6, 0.2, 0.1, 0.06, 0.04]))
    in_on = days(stayed)
    out = np.minimum(in_on + rng.integers(1, 14, stayed.size), last[stayed])
    measured = np.repeat(np.arange(n), rng.integers(1, 4, n))
    return {
        "person": {
            "person_id": ids,
            "gender_concept_id": np.where(rng.random(n) < 0.3, 8507, 8532),
            "year_of_birth": born,
        },
        "death": {"person_id": ids[died < DAYS], "death_date": last[died < DAYS]},
        "condition_occurrence": {
            "person_id": np.concatenate([ids[struck], ids[on[bleeds]]]),
            "condition_concept_id": np.repeat([381316, 192671], [struck.size, bleeds.size]),
            "condition_start_date": np.concatenate([days(struck), later]),
        },
        "drug_exposure": {
            "person_id": ids[on],
            "drug_concept_id": np.full(on.size, 1310149),
            "drug_exposure_start_date": begun,
        },
        "visit_occurrence": {
            "person_id": ids[stayed],
            "visit_concept_id": np.full(stayed.size, 9201),
            "visit_start_date": in_on,
            "visit_end_date": out,
        },
        "measurement": {
            "person_id": ids[measured],
            "measurement_concept_id": np.full(measured.size, 3004249),
            "measurement_date": days(measured),
            "value_as_number": level[measured].astype(float),
            "unit_concept_id": np.full(measured.size, 8876),
        },
    }


def town(folder, *, cdm=None, dataset=DATASET, **asked):
    """Write a warehouse, dataset.yaml, study.yaml and synth.yaml; return the last one's path."""
    place = Path(folder)
    (place / "cdm").mkdir(parents=True, exist_ok=True)
    for name, columns in (patients() if cdm is None else cdm).items():
        pq.write_table(pa.table(columns), place / "cdm" / f"{name}.parquet")
    for name, body in (("dataset", dataset), ("study", STUDY), ("synth", ASKED | asked)):
        (place / f"{name}.yaml").write_text(json.dumps(body))
    return place / "synth.yaml"


def opened_as_town(folder, *, omop):
    """Write a dataset.yaml that differs in path and names alone, and the same study.yaml."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    of = DATASET | {
        "dataset": {"id": "twin", "lineage": "twin", "snapshot": "1"},
        "source": DATASET["source"] | {"path": str(omop)},
    }
    (place / "dataset.yaml").write_text(json.dumps(of))
    (place / "study.yaml").write_text(json.dumps(STUDY))
    return place / "study.yaml"
