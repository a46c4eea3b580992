"""A clinic of 240 generated patients as files, with canaries in cells, for tests of the command line."""

from dataclasses import dataclass
from pathlib import Path

CANARY = "zq7canary"

DATASET = """\
dataset: {id: clinic, lineage: clinic, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {release: {epsilon: 1}, calendar-year: {epsilon: 3}, lifetime: {epsilon: 10}}
tables:
  patients:
    from: patients.csv
    rows-per-patient: 1
    columns:
      sex: {categories: {1: male, 2: female}}
      age: {kind: number, lower: 0, upper: 100, unit: a}
      diabetes: {categories: [yes, no]}
      note: {kind: text}
  visits:
    from: visits.csv
    columns:
      ward: {categories: [north, south]}
      cost: {kind: number, lower: 0, upper: 500}
      day: {kind: date, lower: 2026-01-01, upper: 2026-12-31}
derived:
  age_band: {of: age, bins: [0, 40, 60, 100]}
per-patient:
  stays: {count: visits, at-most: 3}
"""

STUDY = """\
study: {id: first, title: First look, purpose: test}
statistics:
  - {id: diabetes, kind: count, table: patients, where: {diabetes: [yes]}, error: {within: 20}}
  - {id: by_sex, kind: histogram, table: patients, by: [sex], error: {within: 30}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clinic:
    """Where the files are."""

    folder: Path

    @property
    def dataset(self) -> Path:
        return self.folder / "dataset.yaml"

    @property
    def study(self) -> Path:
        return self.folder / "study.yaml"


def make_clinic(folder: Path, *, last: bool = True, dataset: str = DATASET) -> Clinic:
    """Write a clinic; without ``last`` it is its neighbour, which lacks one patient.

    The last patient is odd: canaries stand in every cell that takes text, numbers overflow, dates do
    not exist.
    """
    folder.mkdir(parents=True, exist_ok=True)
    patients, visits = ["pid,sex,age,diabetes,note"], ["pid,ward,cost,day"]
    for i in range(240):
        answer = "yes" if i % 3 == 0 else "no"
        patients.append(f"{CANARY}{i},{1 + i % 2},{i % 100},{answer},{CANARY} note {i}")
        visits.extend(
            f"{CANARY}{i},{'north' if j else 'south'},{10 * j},2026-0{1 + j}-11"
            for j in range(i % 4)
        )
    if last:
        odd = f"{CANARY}odd"
        patients.append(f"{odd},{CANARY},1e999,{CANARY},=cmd|'{CANARY}'")
        visits.extend([f"{odd},{CANARY},NaN,{CANARY}", f"{odd},north,-1e308,0000-13-99"] * 50)
    (folder / "patients.csv").write_text("\n".join(patients) + "\n")
    (folder / "visits.csv").write_text("\n".join(visits) + "\n")
    clinic = Clinic(folder=folder)
    clinic.dataset.write_text(dataset)
    clinic.study.write_text(STUDY)
    return clinic
