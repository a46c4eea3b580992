"""A hospital with a policy that leaves patients out, as files; and gates over frames for audits."""

from pathlib import Path

POLICY = """\
policy: {{id: hospital, version: 1, effective: 2020-01-01}}
protects: {{unit: patient, adjacency: {adjacency}}}
accounting: {accounting}
caps:
  - {{id: annual, basis: ethics, priority: 2, scope: patient, window: {window}, limit: {{{cap}}}, enforce: drop}}
  - {{id: life, basis: internal, priority: 3, scope: dataset, window: lifetime, limit: {{{life}}}}}
"""

DATASET = """\
dataset: {{id: hospital, lineage: hospital, snapshot: "{snapshot}"}}
source: {{kind: csv, path: .}}
protects: {{unit: patient, id: pid, adjacency: {adjacency}}}
accounting: {accounting}
policy: policy.yaml
tables:
  visits:
    from: visits.csv
    columns:
      ward: {{categories: [north, south, east, west]}}
      cost: {{kind: number, lower: 0, upper: 100}}
      note: {{kind: text}}
  people:
    from: people.csv
    rows-per-patient: 1
    columns:
      sex: {{categories: [f, m]}}
"""
ACCOUNTING = {
    "pure": "{measure: pure}",
    "mixed": '{measure: mixed, report-delta: "1e-6", selection-delta: "1e-7"}',
    "zcdp": '{measure: zcdp, report-delta: "1e-6", selection-delta: "1e-7"}',
}
DATASET_ACCOUNTING = {
    "pure": "{measure: pure}",
    "mixed": '{measure: mixed, delta: "1e-6"}',
    "zcdp": '{measure: zcdp, delta: "1e-6"}',
}


def write_hospital(
    folder: Path,
    *,
    patients: int = 40,
    measure: str = "pure",
    cap: str = 'epsilon: "1"',
    life: str = 'epsilon: "100"',
    window: str = "calendar-year",
    adjacency: str = "add-remove",
    snapshot: str = "1",
    without: tuple[int, ...] = (),
) -> Path:
    """Write a hospital in which patient i has i % 5 visits, all in wards of their own; its file."""
    folder.mkdir(parents=True, exist_ok=True)
    visits, people = ["pid,ward,cost,note"], ["pid,sex"]
    for i in range(patients):
        if i in without:
            continue
        people.append(f"{i},{'fm'[i % 2]}")
        visits += [
            f"{i},{('north', 'south', 'east', 'west')[j % 4]},{10 * j},note {j}"
            for j in range(i % 5)
        ]
    (folder / "visits.csv").write_text("\n".join(visits) + "\n")
    (folder / "people.csv").write_text("\n".join(people) + "\n")
    terms = {"adjacency": adjacency}
    (folder / "policy.yaml").write_text(
        POLICY.format(**terms, window=window, cap=cap, life=life, accounting=ACCOUNTING[measure])
    )
    path = folder / "dataset.yaml"
    path.write_text(
        DATASET.format(**terms, snapshot=snapshot, accounting=DATASET_ACCOUNTING[measure])
    )
    return path
