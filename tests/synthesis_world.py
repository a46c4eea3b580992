"""A small clinic for synthesis: public bins and categories, rows that depend on one another."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from confide.jobs.synthesis.finding.charged_bins import ChargedBins
from confide.jobs.synthesis.measuring import Measuring
from confide.jobs.synthesis.spec import Synthesis
from confide.plans.job import plan_job
from confide.plans.plan import Study
from confide.rows.records import RecordRows
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import BinOf, ColumnOf
from confide.tables.records import Records
from confide.tables.relation import Relation

COLUMNS = {
    "age": {"kind": "number", "unit": "a", "lower": 0, "upper": 100},
    "sex": {"categories": ["F", "M"]},
    "stage": {"categories": ["I", "II", "III", "IV"]},
    "ward": {"categories": ["A", "B", "C"]},
    "died": {"categories": ["no", "yes"]},
}


def declared(*, measure="zcdp", delta="1e-6", adjacency="add-remove", lifetime="200"):
    return {
        "dataset": {"id": "clinic", "lineage": "clinic", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "patient", "adjacency": adjacency},
        "accounting": {"measure": measure, "delta": delta},
        "caps": {"lifetime": {"epsilon": lifetime}},
        "tables": {"people": {"columns": COLUMNS}},
    }


def people(n=3000, *, start=5):
    """Values of made-up patients, by column; stage follows age, death follows stage and sex."""
    rng = np.random.default_rng(start)
    age = rng.integers(20, 95, n)
    stage = np.clip((age - 20) // 20 + rng.integers(-1, 2, n), 0, 3)
    sex = rng.integers(0, 2, n)
    chance = 1 / (1 + np.exp(2.2 - 1.1 * stage + 0.8 * sex))
    died = (rng.random(n) < chance).astype(int)
    ward = np.where(rng.random(n) < 0.7, sex, 2)
    return {"age": age, "sex": sex, "stage": stage, "ward": ward, "died": died}


def frame(values):
    import pyarrow as pa

    labels = {name: column.get("categories") for name, column in COLUMNS.items()}
    columns = {
        name: values[name].tolist() if of is None else [of[v] for v in values[name]]
        for name, of in labels.items()
    }
    return pa.table({"patient": [str(i) for i in range(len(values["age"]))]} | columns)


def workspace(folder, *, values=None, **given):
    from confide.workspace import open_workspace

    shown = frame(people() if values is None else values)
    return open_workspace(declared(**given), frames={"people": shown}, folder=folder)


def dataset(**given):
    from confide.service.opening import declared_in

    return declared_in(declared(**given), folder=".").dataset


def widened(**columns):
    """A data set in which some columns have so many categories."""
    found = dataset()
    table = found.table("people")
    names = tuple(
        replace(each, keys=keys, codes=tuple((key, i) for i, key in enumerate(keys)))
        if (many := columns.get(each.name)) and (keys := tuple(f"k{i}" for i in range(many)))
        else each
        for each in table.columns
    )
    others = tuple(replace(table, columns=names) if t is table else t for t in found.tables)
    return replace(found, tables=others)


def job(*, names=tuple(COLUMNS), rho=Fraction(1), rows=3000, most=1, found=0, **given):
    """Return a synthesis; of ages in ``found`` bins that are found, or in five that are known."""
    reads = {name: ColumnOf(table="people", column=name) for name in COLUMNS}
    edges = tuple(range(0, 101, 5)) if found else (0, 30, 45, 60, 75, 100)
    reads["age"] = BinOf(of=reads["age"], edges=edges)
    if found:
        given["charged"] = (ChargedBins(column="age", bins=found),)
        given["bins_share"] = Fraction(1, 10)
    return Synthesis(
        reads=Records(
            relation=Relation(table="people"),
            reads=tuple(reads[name] for name in names),
            bounds=RowBound(max_rows=most),
        ),
        columns=names,
        rho=rho,
        rows=rows,
        **given,
    )


def quiet(spec):
    """Return a job whose noise is so small that it is 0, for exact comparisons."""
    return replace(spec, rho=Fraction(10**9))


def records(spec, patients):
    """Return bounded rows of (patient, level of each column)."""
    table = np.array(patients, dtype=np.int64).reshape(-1, len(spec.columns) + 1)
    found = {"p": table[:, 0], "rk": np.arange(len(table)), "fold": np.zeros(len(table), int)}
    found |= {f"e{i}": table[:, i + 1] for i in range(len(spec.columns))}
    return RecordRows(found, columns=len(spec.columns), most=spec.reads.bounds.max_rows)


def levels(values):
    """Return rows of (patient, levels) of made-up patients, in the order of COLUMNS."""
    age = np.digitize(values["age"], [30, 45, 60, 75])
    others = [values[name] for name in list(COLUMNS)[1:]]
    return np.column_stack([np.arange(len(age)), age, *others])


def measured(spec, of, rows, *, entropy):
    """Run all parts and return the last file."""
    plan = plan_job(spec, study=Study(id="synthesis"), dataset=of)
    runner = Measuring(spec, plan=plan)
    files = runner.opened()
    for part in range(1, runner.parts + 1):
        files = runner.advanced(
            rows, part=part, before=files, entropy=entropy, progress=lambda _: None
        )
    return files
