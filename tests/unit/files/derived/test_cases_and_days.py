"""Cases and days within a row, from dataset.yaml to published numbers.

At ε = 150 a count's noise is not 0 with probability below 1e-60, and that of a sum of values up to
100 is 6 or more at ε = 600 with probability below 1e-15.
"""

import pytest

import confide
from command_line import confide as command
from confide.errors import ConfideError, ContractError

DATASET = """\
dataset: {id: w, lineage: w, snapshot: "1"}
source: {kind: csv, path: data}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 2000}}
tables:
  stays:
    from: stays.csv
    columns:
      arrival: {categories: [EMERGENCY, URGENT, ELECTIVE, NEWBORN], other: drop}
      age: {kind: number, lower: 0, upper: 120, unit: a}
      weight: {kind: number, lower: 2, upper: 250, step: 0.1, unit: kg, units: {in: cell, known: {kg: kg, lb: "[lb_av]"}}}
      admitted: {kind: date, lower: 2020-01-01, upper: 2025-12-31}
      discharged: {kind: date, lower: 2020-01-01, upper: 2025-12-31}
derived:
DERIVED
"""
DERIVED = """\
  route:
    case:
      unplanned: {arrival: [EMERGENCY, URGENT]}
      planned: {arrival: [ELECTIVE]}
    else: other
    missing: unknown
  group:
    of: stays
    case:
      child: {age: {to: 17}}
      heavy adult: {age: {from: 18}, weight: {from: 100}}
    else: adult
  stay: {days-between: [admitted, discharged], lower: 0, upper: 100, label: length of stay}
  clean_stay: {days-between: [stays.admitted, stays.discharged], lower: 0, upper: 100, outside: drop}
  week: {of: stay, bins: [0, 1, 7, 100]}
  long: {case: {"yes": {stay: {from: 7}}}, else: "no"}
"""
POISON = ("nan", "inf", "-inf", "1e400", "", "NULL", "  ", "x\ufffd", "🙂", "9" * 400, "2020-13-45")
ROWS = [
    # arrival, age, weight, admitted, discharged
    ("EMERGENCY", "40", "80 kg", "2024-02-27", "2024-03-01"),  # 3 days, over a leap day
    ("URGENT", "17", "220.5lb", "2024-01-01", "2024-01-01"),  # 0
    ("ELECTIVE", "70", "120 kg", "2023-12-31", "2024-01-07"),  # 7
    ("NEWBORN", "0", "3.4 kg", "2020-01-01", "2025-12-31"),  # 2191, so 100
    ("", "30", "220.5 lb", "2024-05-05", "2024-05-01"),  # -4, so 0
    *((value, value, value, value, "2024-05-01") for value in POISON),
    *(("ELECTIVE", "50", "70 kg", "2024-05-01", value) for value in POISON),
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    lines = ["pid,arrival,age,weight,admitted,discharged"]
    for number, row in enumerate(ROWS):
        for copy in range(2):  # two patients with each row
            lines.append(f"p{number}x{copy}," + ",".join(f'"{cell}"' for cell in row))
    (tmp_path / "data" / "stays.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "dataset.yaml").write_text(DATASET.replace("DERIVED\n", DERIVED))
    return tmp_path


def histogram(by, **more):
    return {"id": "h", "kind": "histogram", "table": "stays", "by": [by], "per-patient": {"cells": 1}, **more}  # fmt: skip


def counts(folder, *asked):
    with confide.open(folder / "dataset.yaml") as ws:
        found = ws.release(ws.plan(*asked, epsilon="150")).estimates
    return {e.key[0]: round(e.value) for e in found if e.quantity == "count"}


N = len(POISON)


@pytest.mark.parametrize("prepared", [False, True])
def test_categories_are_merged_and_poison_is_in_no_case(folder, prepared):
    if prepared:
        assert command("prepare", folder / "dataset.yaml", "--quiet").code == 0
    assert counts(folder, histogram("route")) == {
        "unplanned": 4,
        "planned": 2 + 2 * N,
        "other": 2,
        "unknown": 2 + 2 * N,
    }


def test_who_is_known_to_be_in_no_case_is_else_and_who_is_not_known_is_left_out(folder):
    # ±inf and numbers beyond all bounds are clipped, as of every number: three spellings of +∞
    # are 120 years old, and weigh nothing that is read, as no unit stands behind them
    assert counts(folder, histogram("group")) == {
        "child": 4 + 2,
        "heavy adult": 4,
        "adult": 2 + 2 * N,
    }


def test_days_within_a_row_are_cut_averaged_and_asked_for(folder):
    assert counts(folder, histogram("week")) == {"0": 4, "1-6": 2, "7-100": 4}
    assert counts(folder, histogram("long")) == {"yes": 4, "no": 6}
    assert counts(folder, histogram("route", where={"clean_stay": {"from": 0}})) == {
        "unplanned": 4,
        "planned": 2,
        "other": 0,
        "unknown": 0,
    }
    mean = {
        "id": "m",
        "kind": "sum",
        "table": "stays",
        "column": "stay",
        "per-patient": {"rows": 1},
    }
    with confide.open(folder / "dataset.yaml") as ws:
        release = ws.release(ws.plan(mean, epsilon="600"))
    (total,) = (e.value for e in release.estimates if e.quantity == "sum")
    assert abs(total - 2 * (3 + 0 + 7 + 100)) < 6


def test_a_study_of_them_is_planned_run_and_verified_and_says_what_they_are(folder):
    (folder / "study.yaml").write_text("""\
study: {id: s, title: Stays, purpose: test}
spend: {at-most: {epsilon: 90}}
statistics:
  - {id: one, kind: table-1, table: stays, by: [long], variables: [group, stay], per-patient: {rows: 1}, share: "0.2"}
  - {id: route, kind: histogram, table: stays, by: [route, long], per-patient: {cells: 1}, share: "0.2"}
  - {id: mean, kind: mean, table: stays, column: stay, by: [group], per-patient: {rows: 1}, share: "0.3"}
  - {id: median, kind: quantiles, table: stays, column: stay, at: [0.5], per-patient: {rows: 1}, share: "0.3"}
""")
    for words in (
        ["init", folder],
        ["check", folder / "dataset.yaml"],
        ["plan", folder / "study.yaml"],
    ):
        assert (ran := command(*words)).code == 0, ran.err
    ran = command("run", folder / "study.yaml", "--out", folder / "out")
    assert ran.code == 0, ran.err
    assert command("verify", folder / "out" / "certificate.json").code == 0
    report = (folder / "out" / "report.html").read_text()
    certificate = (folder / "out" / "certificate.json").read_text()
    assert "Length of stay is the number of days from admitted to discharged" in report
    assert "first of these that holds: unplanned, if arrival is EMERGENCY or URGENT" in report
    assert "days from stays.admitted to stays.discharged, [0, 100] d" in certificate
    assert "unplanned if stays.arrival in [EMERGENCY, URGENT]" in certificate


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("x: {case: {}}", "has no case"),
        ("x: {case: {a: {}}}", "has no condition"),
        ("x: {case: {drop: {age: {from: 5}}}}", "is no label"),
        ("x: {case: {a: {age: {from: 5}}}, lower: 0}", "does not read lower"),
        ("x: {case: {a: {route: [other]}}, of: stays}", "column of cases"),
        ("x: {case: {a: {nothing: [b]}}}", "nothing"),
        ("x: {case: {a: {age: {from: 5}}}, of: nowhere}", "nowhere"),
        ("x: {days-between: [admitted], lower: 0, upper: 5}", "two dates and bounds"),
        ("x: {days-between: [admitted, discharged]}", "two dates and bounds"),
        ("x: {days-between: [admitted, age], lower: 0, upper: 5}", "between two dates"),
        ("x: {days-between: [admitted, discharged], lower: 5, upper: 5}", "lower < upper"),
        ("x: {days-between: [admitted, discharged], bins: [0, 5], lower: 0, upper: 5}", "one of"),
        ("x: {of: stay, part: month}", "calendar parts"),
        ("x: {part: month}", "does not say of what"),
        ("x: {of: route, bins: [0, 5]}", "column or a per-patient value"),
    ],
)
def test_what_is_not_meant_is_refused_before_anything_is_read(folder, line, told):
    path = folder / "dataset.yaml"
    path.write_text(DATASET.replace("DERIVED\n", DERIVED + f"  {line}\n"))
    with pytest.raises(ConfideError, match=told):
        confide.open(path)


def test_dates_of_two_tables_with_several_rows_are_refused(folder):
    text = DATASET.replace(
        "DERIVED\n", "  x: {days-between: [stays.admitted, more.day], lower: 0, upper: 9}\n"
    )
    text = text.replace(
        "derived:",
        "  more:\n    from: stays.csv\n    columns: {day: {from: admitted, kind: date, lower: 2020-01-01, upper: 2025-12-31}}\nderived:",
    )
    (folder / "dataset.yaml").write_text(text)
    with pytest.raises(ContractError, match="different tables"):
        confide.open(folder / "dataset.yaml")
