"""Small databases of intensive care, made up: MIMIC-III and IV, eICU, and a stream of MEDS.

Of 40 patients each second one is female; patient i has a heart rate of 60 + i, a creatinine of
1.5 mg/dL, 98.6 °F, and one admission of 3 days, the first ten another one of 10.
"""

import csv
import datetime as dt
import gzip
from pathlib import Path

PATIENTS = 40
FIRST = dt.datetime(2150, 2, 27, 13, 30)  # noqa: DTZ001 - dates of MIMIC are shifted


def _write(path: Path, rows: list[dict], *, capitals: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", newline="", encoding="utf-8") as file:
        names = [name.upper() if capitals else name for name in rows[0]]
        out = csv.writer(file)
        out.writerow(names)
        out.writerows([row.values() for row in rows])


def _stays() -> list[tuple[int, int, dt.datetime, dt.datetime]]:
    """Patient, admission, and its two ends."""
    found = []
    for person in range(PATIENTS):
        for which, days in enumerate((3, 10) if person < 10 else (3,)):
            start = FIRST + dt.timedelta(days=100 * which + person)
            found.append(
                (
                    10_000 + person,
                    20_000 + 2 * person + which,
                    start,
                    start + dt.timedelta(days=days),
                )
            )
    return found  # fmt: skip


def _measured() -> list[tuple[int, int, str, str]]:
    """Patient, itemid, number, and unit as MIMIC writes it."""
    found = []
    for person in range(PATIENTS):
        subject = 10_000 + person
        found += [
            (subject, 220045, str(60 + person), "bpm"),
            (subject, 50912, "1.5", "mg/dL"),
            (subject, 223761, "98.6", "°F"),
            (subject, 999999, "7", "bpm"),  # no known item
        ]
    return found


def write_mimic(folder: Path, *, version: str) -> None:
    """Write files as PhysioNet gives them."""
    four = version == "4"
    hosp, icu = ("hosp/", "icu/") if four else ("", "")

    def write(name: str, rows: list[dict]) -> None:
        _write(folder / f"{name if four else name.upper()}.csv.gz", rows, capitals=not four)

    write(
        f"{hosp}patients",
        [
            {"subject_id": 10_000 + i, "gender": "FM"[i % 2]}
            | ({"anchor_age": 30 + i, "dod": ""} if four else {"expire_flag": int(i < 8)})
            for i in range(PATIENTS)
        ],
    )
    stays = _stays()
    write(
        f"{hosp}admissions",
        [
            {
                "subject_id": person,
                "hadm_id": stay,
                "admittime": start,
                "dischtime": end,
                "admission_type": "ELECTIVE" if stay % 2 else "URGENT",
                "hospital_expire_flag": 0,
            }
            for person, stay, start, end in stays
        ],
    )
    write(
        f"{icu}icustays",
        [
            {
                "subject_id": person,
                "stay_id": stay,
                "first_careunit": "Coronary Care Unit (CCU)" if four else "CCU",
                "intime": start,
                "outtime": end,
                "los": (end - start).days + 0.25,
            }
            for person, stay, start, end in stays
        ],
    )
    code = {"icd_code": "I10", "icd_version": 10} if four else {"icd9_code": "4019"}
    write(f"{hosp}diagnoses_icd", [{"subject_id": person} | code for person, *_ in stays])
    for name, lab in ((f"{icu}chartevents", False), (f"{hosp}labevents", True)):
        write(
            name,
            [
                {"subject_id": person, "itemid": item, "charttime": FIRST, "valuenum": number, "valueuom": unit}
                for person, item, number, unit in _measured()
                if (item < 60_000) is lab
            ],
        )  # fmt: skip


def write_eicu(folder: Path) -> None:
    """Write stays, and results that name the stay alone."""
    _write(
        folder / "patient.csv.gz",
        [
            {
                "patientunitstayid": stay,
                "uniquepid": f"00{person}-1",
                "gender": ("Female", "Male")[person % 2],
                "age": "> 89" if person == 10_000 else "61",
                "unittype": "MICU",
                "unitdischargestatus": "Alive",
                "hospitaldischargestatus": "Alive",
                "unitdischargeoffset": (end - start).days * 1440,
                "admissionheight": 170,
                "admissionweight": 70,
            }
            for person, stay, start, end in _stays()
        ],
    )
    _write(
        folder / "lab.csv.gz",
        [
            {"patientunitstayid": stay, "labname": "creatinine", "labresult": 1.5, "labresultoffset": 60}
            for _, stay, *_ in _stays()
        ],
    )  # fmt: skip


def write_meds(folder: Path) -> None:
    """Write shards of three splits; each subject is in one of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for split, name in enumerate(("train/0", "train/1", "tuning/0", "held_out/0")):
        subjects = [10_000 + i for i in range(PATIENTS) if i % 4 == split]
        rows = [(s, None, "GENDER//F", None) for s in subjects]
        rows += [
            (person, FIRST, f"LAB//{item}//{unit}", float(number))
            for person, item, number, unit in _measured()
            if person in subjects
        ]
        rows += [(s, FIRST, "LOINC/8480-6", 120.0) for s in subjects]
        table = pa.table(
            {
                "subject_id": pa.array([r[0] for r in rows], pa.int64()),
                "time": pa.array([r[1] for r in rows], pa.timestamp("us")),
                "code": pa.array([r[2] for r in rows], pa.string()),
                "numeric_value": pa.array([r[3] for r in rows], pa.float32()),
            }
        )
        path = folder / "data" / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)
    (folder / "metadata").mkdir(exist_ok=True)
    (folder / "metadata" / "dataset.json").write_text('{"meds_version": "0.4.0"}')
