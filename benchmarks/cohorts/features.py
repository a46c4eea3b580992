"""Four cohorts of real patients as risk models see them: features, public bounds and an outcome.

Nothing is used that is known only after the index date: at enrolment (free light chains,
Framingham), 48 hours after admission to intensive care (PhysioNet 2012), at discharge (diabetes).
Bounds are clinical ranges; a missing value becomes a public constant, with an indicator where
missingness itself may tell.
"""

from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

TEN_YEARS = 3652  # days


@dataclass
class Cohort:
    """Features of one row a patient, with bounds, and an outcome of 0 or 1."""

    name: str
    outcome: np.ndarray
    values: dict[str, np.ndarray] = field(default_factory=dict)
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict)

    def number(self, name: str, values, lower: float, upper: float, *, missing=None) -> None:
        """Add a number, cut to its bounds; ``missing`` is a public constant."""
        found = pd.Series(np.asarray(values, dtype=float))
        if missing is not None:
            found = found.fillna(missing)
        self.values[name] = found.clip(lower, upper).to_numpy()
        self.bounds[name] = (lower, upper)

    def indicator(self, name: str, values) -> None:
        """Add a condition."""
        self.values[name] = np.asarray(values).astype(bool)

    @property
    def terms(self) -> np.ndarray:
        """Numbers in [−1, 1] and indicators in {0, 1}, without intercept; shape (n, d)."""
        columns = []
        for name, values in self.values.items():
            if name in self.bounds:
                lower, upper = self.bounds[name]
                columns.append((2 * values - lower - upper) / (upper - lower))
            else:
                columns.append(values.astype(float))
        return np.column_stack(columns)


def free_light_chains(folder: Path) -> Cohort:
    """Death within ten years of the blood sample; patients censored before are left out."""
    d = pd.read_parquet(folder / "survival/flchain.parquet")
    d = d[(d.futime >= TEN_YEARS) | (d.death == 1)]
    of = Cohort("flchain", ((d.futime < TEN_YEARS) & (d.death == 1)).to_numpy().astype(int))
    of.number("age", d.age, 50, 100)
    of.indicator("male", d.sex.astype(str).str.upper().str[0] == "M")
    of.number("kappa", d.kappa, 0, 10)
    of.number("lambda", d["lambda"], 0, 10)
    of.number("creatinine", d.creatinine, 0.4, 4, missing=1.0)
    of.indicator("creatinine missing", d.creatinine.isna())
    of.indicator("mgus", d.mgus == 1)
    return of


def framingham(folder: Path) -> Cohort:
    """Coronary heart disease within ten years; participants censored before are left out."""
    d = pd.read_parquet(folder / "cohort/Framingham.parquet")
    d = d[(d.time >= TEN_YEARS) | (d.event == 1)]
    of = Cohort("Framingham", ((d.time < TEN_YEARS) & (d.event == 1)).to_numpy().astype(int))
    of.number("age", d.num_age, 30, 70)
    of.indicator("sex", d.fac_sex == 2)
    of.number("systolic", d.num_sbp, 90, 200)
    of.number("diastolic", d.num_dbp, 50, 120)
    of.number("cholesterol", d.num_scl, 120, 350, missing=220)
    of.number("bmi", d.num_bmi, 15, 40, missing=25)
    return of


MEANS = {
    "HR": (40, 140), "SysABP": (70, 190), "DiasABP": (30, 100), "MAP": (50, 120),
    "NISysABP": (70, 190), "NIDiasABP": (30, 100), "NIMAP": (50, 120), "Urine": (0, 400),
    "Weight": (40, 140), "Temp": (34, 40), "GCS": (3, 15), "RespRate": (8, 40), "FiO2": (0.2, 1),
    "pH": (7.1, 7.6), "PaCO2": (20, 70), "PaO2": (50, 300), "HCT": (20, 50), "K": (2.5, 6.5),
    "Platelets": (0, 500), "Creatinine": (0, 6), "BUN": (0, 100), "Na": (120, 155), "Mg": (1, 3.5),
    "HCO3": (10, 40), "Glucose": (50, 300), "WBC": (0, 30), "Lactate": (0, 10), "SaO2": (80, 100),
    "Bilirubin": (0, 15), "AST": (0, 1000), "ALT": (0, 1000), "ALP": (0, 400), "Albumin": (1, 5),
}  # fmt: skip
MEASURED = (
    "MechVent", "Lactate", "Albumin", "Bilirubin", "SaO2", "SysABP", "NISysABP", "RespRate",
    "FiO2", "pH",
)  # fmt: skip


def intensive_care(folder: Path) -> Cohort:
    """Death in hospital, from the means of the first 48 hours in intensive care."""
    file = folder / "icu/physionet2012_measurements.parquet"
    wide = (
        duckdb.sql(
            f"SELECT record_id, parameter, avg(value) AS v FROM '{file}' "
            "WHERE minute <= 2880 AND value >= 0 GROUP BY ALL"
        )
        .df()
        .pivot_table(index="record_id", columns="parameter", values="v")
    )
    stays = pd.read_parquet(folder / "icu/physionet2012_stays.parquet").set_index("record_id")
    wide = wide.reindex(stays.index)
    of = Cohort("physionet2012", stays.in_hospital_death.to_numpy().astype(int))
    of.number("age", stays.age, 15, 90)
    of.indicator("male", stays.gender == 1)
    for kind in (1, 2, 3):
        of.indicator(f"unit {kind}", stays.icu_type == kind)
    for name, (lower, upper) in MEANS.items():
        of.number(name, wide[name], lower, upper, missing=(lower + upper) / 2)
    for name in MEASURED:
        of.indicator(f"has {name}", wide[name].notna())
    return of


COUNTS = {
    "time_in_hospital": 14, "num_lab_procedures": 120, "num_procedures": 6, "num_medications": 50,
    "number_outpatient": 5, "number_emergency": 5, "number_inpatient": 5, "number_diagnoses": 16,
}  # fmt: skip
DISCHARGED = {"nursing": (3,), "home care": (6,), "rehabilitation": (22, 23, 24), "transfer": (2, 4, 5, 15)}  # fmt: skip
DEAD_OR_HOSPICE = (11, 13, 14, 19, 20, 21)
CHAPTERS = {"circulatory": (390, 460), "respiratory": (460, 520), "injury": (800, 1000), "diabetes": (250, 251), "neoplasm": (140, 240)}  # fmt: skip


def diabetes(folder: Path) -> Cohort:
    """Readmission within 30 days of a patient's first encounter, discharged alive."""
    e = pd.read_parquet(folder / "encounters/diabetes130_encounters.parquet")
    e = e.sort_values("encounter_id").drop_duplicates("patient_nbr")
    e = e[~e.discharge_disposition_id.isin(DEAD_OR_HOSPICE)]
    of = Cohort("diabetes130", (e.readmitted == "<30").to_numpy().astype(int))
    of.number("age", e.age.str.extract(r"\[(\d+)")[0].astype(float) + 5, 0, 100)
    for name, upper in COUNTS.items():
        of.number(name, e[name], 0, upper)
    of.indicator("male", e.gender == "Male")
    of.indicator("black", e.race == "AfricanAmerican")
    for name, codes in DISCHARGED.items():
        of.indicator(name, e.discharge_disposition_id.isin(codes))
    of.indicator("insulin", e.insulin != "No")
    of.indicator("change", e.change == "Ch")
    of.indicator("medicated", e.diabetesMed == "Yes")
    of.indicator("A1c measured", e.A1Cresult.isin([">7", ">8", "Norm"]))
    of.indicator("emergency", e.admission_type_id == 1)
    code = pd.to_numeric(e.diag_1, errors="coerce")
    for name, (first, end) in CHAPTERS.items():
        of.indicator(name, (code >= first) & (code < end))
    return of


COHORTS = (free_light_chains, framingham, intensive_care, diabetes)
