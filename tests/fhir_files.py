"""A small hospital as FHIR R4 in bulk, with the forms that real exports have."""

import gzip
import json
from pathlib import Path
from typing import Any

LOINC, SNOMED = "http://loinc.org", "http://snomed.info/sct"
PATIENTS = 40
DATASET = """\
dataset: {id: fhir, lineage: fhir, snapshot: "1"}
source: {kind: fhir, path: data}
protects: {unit: patient, id: person, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 200}}
tables:
  patients:
    from: Patient
    rows-per-patient: 1
    columns:
      gender: {categories: [female, male]}
      birth_year: {kind: year, lower: 1900, upper: 2026}
      deceased: {categories: {"true": died, "false": alive}}
  pressure:
    from: Observation
    only: {loinc: [8480-6]}
    columns:
      value: {kind: number, lower: 50, upper: 260, step: 0.1, unit: "mm[Hg]", units: {from: unit, known: {"mm[Hg]": "mm[Hg]"}}}
      date: {kind: date, lower: 2000-01-01, upper: 2026-12-31}
  diagnoses:
    from: Condition
    columns:
      snomed: {kind: text}
      start: {kind: date, lower: 2000-01-01, upper: 2026-12-31}
"""


def concept(*codings: tuple[str, str]) -> dict[str, Any]:
    return {"coding": [{"system": system, "code": code} for system, code in codings]}


def quantity(value: object, unit: str = "mm[Hg]", **more: object) -> dict[str, Any]:
    return {"value": value, "unit": unit, "code": unit, **more}


def patient(number: int) -> dict[str, Any]:
    return {
        "resourceType": "Patient",
        "id": f"p{number}",
        "name": [{"family": "Secret"}],
        "gender": ("female", "male")[number % 2],
        "birthDate": f"{1940 + number}-03-01",
        **({"deceasedDateTime": "2026-01-01T10:00:00Z"} if number % 10 == 0 else {}),
    }


REFERENCES = (
    "Patient/{}",
    "urn:uuid:{}",
    "https://h.example/fhir/Patient/{}",
    "Patient/{}/_history/2",
)
"""How a patient is referred to."""


def pressure(number: int, *, systolic: object = None, day: str = "2025-06-01") -> dict[str, Any]:
    """A panel of two components."""
    return {
        "resourceType": "Observation",
        "id": f"o{number}",
        "status": "final",
        "code": concept((LOINC, "85354-9")),
        "subject": {"reference": REFERENCES[number % len(REFERENCES)].format(f"p{number}")},
        "effectiveDateTime": f"{day}T09:00:00+02:00",
        "component": [
            {
                "code": concept(("urn:house", "SYS"), (LOINC, "8480-6")),
                "valueQuantity": quantity(100.5 + number if systolic is None else systolic),
            },
            {"code": concept((LOINC, "8462-4")), "valueQuantity": quantity(80)},
        ],
    }


def condition(number: int, code: str = "44054006") -> dict[str, Any]:
    return {
        "resourceType": "Condition",
        "subject": {"reference": f"Patient/p{number}"},
        "code": concept((SNOMED, code), ("http://hl7.org/fhir/sid/icd-10", "E11")),
        "onsetDateTime": "2020-05-01",
    }


def lines(*resources: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in resources)


MALFORMED = (
    b"{\n",
    b'{"resourceType": "Observation", "id": \n',
    b"[1, 2]\n",
    b'"Observation"\n',
    b'{"resourceType": "Patient", "id": "p1"}\n',
    b'{"resourceType": "Observation", "valueInteger": NaN}\n',
    b"[" * 100_000 + b"\n",
    b"\x00\xff\n",
    b'{"resourceType": "Observation", "value": ' + b"9" * 5000 + b"} trailing\n",
)
"""Lines of observations that are quarantined."""


def store(folder: Path, *, malformed: bool = False) -> Path:
    """Write the files, in parts and packed, and return where dataset.yaml is."""
    data = folder / "data"
    data.mkdir(parents=True)
    (data / "Patient.ndjson").write_bytes(lines(*map(patient, range(PATIENTS))))
    half = PATIENTS // 2
    parts = [[*map(pressure, range(half))], [*map(pressure, range(half, PATIENTS))]]
    (data / "1.Observation.ndjson").write_bytes(
        b"\xef\xbb\xbf" + lines(*parts[0]) + (b"".join(MALFORMED) if malformed else b"")
    )
    (data / "Observation_2.ndjson.gz").write_bytes(gzip.compress(lines(*parts[1])))
    (data / "Condition.000.ndjson").write_bytes(lines(*map(condition, range(0, PATIENTS, 2))))
    (data / "ObservationDefinition.ndjson").write_bytes(b"no table")
    (folder / "dataset.yaml").write_text(DATASET)
    return folder / "dataset.yaml"
