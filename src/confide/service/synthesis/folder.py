"""The folder of a synthesis: tables, model and report beside what was released.

Everything here is a function of the released files; whoever has them makes the same again.  Files
and their metadata say that rows are synthetic, so that nobody takes them for patients.
"""

import enum
import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.jobs.synthesis.deep.generated import BASELINE, BaselineData
from confide.jobs.synthesis.synthetic import SyntheticData
from confide.jobs.synthesis.tables import ROWS_A_ROW
from confide.jobs.synthesis.values import Values
from confide.plans.canonical import Json
from confide.regular_file import tell_day_alone, write_bytes
from confide.release.export import inert
from confide.release.jobs.job_certificate import JobRelease
from confide.service.reading.verify import SYNTHETIC
from confide.service.synthesis.baseline_page import baseline_page
from confide.service.synthesis.combining import AnyData
from confide.service.synthesis.page import synthetic_page
from confide.tables.relation import domain

if TYPE_CHECKING:
    import pyarrow as pa

LABEL = "synthetic: no row is a patient"
MODEL = "synthetic-model.json"
OMOP = "omop"
"""Folder of OMOP tables, which an OMOP source opens."""


class Format(enum.Enum):
    """Of the synthetic table to look at."""

    CSV = "csv"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticFolder:
    """Where its files are.

    Attributes:
        table: To look at.
        tables: To infer from.
        report: For people.
        warehouse: Folder of OMOP tables; None where no events are named.
    """

    table: Path
    tables: tuple[Path, ...]
    report: Path
    warehouse: Path | None = None


def write_tables(
    made: AnyData, out: Path, *, release: JobRelease, tables: int, form: Format
) -> SyntheticFolder:
    """Write what belongs to a release of a synthesis, or of a baseline, into its folder."""
    if isinstance(made, BaselineData):
        return write_baseline(made, out, release=release, form=form)
    return write_synthetic(made, out, release=release, tables=tables, form=form)


def write_baseline(
    made: BaselineData, out: Path, *, release: JobRelease, form: Format
) -> SyntheticFolder:
    """Write the one table of a generator, and a report that says what it is."""
    label = {"confide": LABEL, "release": str(release.certificate["id"])}
    name = f"synthetic.{form.value}"
    content = _content(made.table(), form=form, label=label)
    about: Json = {
        **label,
        "baseline": BASELINE,
        "method": made.spec.generator.value,
        "rows": made.rows,
        "measured-together": [],
        "sha256": {name: hashlib.sha256(content).hexdigest()},
    }
    files = {
        name: content,
        SYNTHETIC: _json(about),
        "report.html": baseline_page(made, release=release).encode(),
    }
    for each, held in files.items():
        write_bytes(out / each, held)
    tell_day_alone([*(out / each for each in files), out])
    return SyntheticFolder(table=out / name, tables=(), report=out / "report.html")


def write_synthetic(
    made: SyntheticData, out: Path, *, release: JobRelease, tables: int, form: Format
) -> SyntheticFolder:
    """Write tables, model and report of a synthesis into the folder of its release.

    Args:
        made: What it gives.
        out: Folder.
        release: With the certificate that the files name.
        tables: How many carry the uncertainty.
        form: Of the table to look at.
    """
    label = {"confide": LABEL, "release": str(release.certificate["id"])}
    table = made.table()
    files = {f"synthetic.{form.value}": _content(table, form=form, label=label)}
    for number in range(1, tables + 1):
        content = _content(made.refitted(number), form=Format.PARQUET, label=label)
        files[f"synthetic-{number:03}.parquet"] = content
    if made.spec.kinds:
        for name, rows in made.warehouse().items():
            content = _content(rows, form=Format.PARQUET, label=label)
            files[f"{OMOP}/{name}.parquet"] = content
        (out / OMOP).mkdir(exist_ok=True)
    files[MODEL] = _json(model_json(made))
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    files[SYNTHETIC] = _json(
        {
            **label,
            "rows": made.rows,
            "rows-a-row-in-tables": ROWS_A_ROW,
            "measured-together": [list(each) for each in made.cliques],
            "sha256": digests,
        }
    )
    files["report.html"] = synthetic_page(made, release=release).encode()
    for name, content in files.items():
        write_bytes(out / name, content)
    folders = [out / OMOP] if made.spec.kinds else []
    tell_day_alone([*(out / name for name in files), *folders, out])
    return SyntheticFolder(
        table=out / f"synthetic.{form.value}",
        tables=tuple(out / f"synthetic-{number:03}.parquet" for number in range(1, tables + 1)),
        report=out / "report.html",
        warehouse=folders[0] if folders else None,
    )


def model_json(made: SyntheticData) -> Json:
    """Return the fitted model: chances of the cells of each clique, in merged levels."""
    plan, spec, model = made.answer.plan, made.spec, made.made.model
    merging = made.made.measured.merging
    columns = []
    for v, name in enumerate(spec.columns):
        of = domain(spec.reads.reads[v], dataset=plan.dataset)
        labels = list(of.keys) or [str(of.lower + i) for i in range(of.size())]
        columns.append({"name": name, "levels": labels, "merged": merging[v].tolist()})
    cliques = [
        {
            "columns": [spec.columns[v] for v in clique],
            "separator": [spec.columns[v] for v in between],
            "chances": [round(float(chance), 9) for chance in chances.ravel()],
        }
        for clique, between, chances in zip(
            model.tree.cliques, model.tree.separators, model.marginals, strict=True
        )
    ]
    return {
        "format": "confide-synthetic-model-1",
        "confide": LABEL,
        "rows": made.rows,
        "columns": columns,
        "cliques": cliques,
    }


def arrow_table(values: Values, *, label: dict[str, str]) -> "pa.Table":
    """Return columns as an Arrow table that says that it is synthetic."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name, column in values.items():
        if column.dtype == object:
            columns[name] = pa.array(column.tolist())
        else:
            columns[name] = pa.array(column, from_pandas=True)
    return pa.table(columns).replace_schema_metadata(label)


def _content(values: Values, *, form: Format, label: dict[str, str]) -> bytes:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    out = io.BytesIO()
    table = arrow_table(values, label=label)
    match form:
        case Format.PARQUET:
            pyarrow.parquet.write_table(table, out)
        case Format.CSV:
            for place, field in enumerate(table.schema):
                if pa.types.is_string(field.type):
                    told = [None if v is None else inert(v) for v in table[place].to_pylist()]
                    table = table.set_column(place, field.name, pa.array(told, pa.string()))
            names = [inert(name) for name in table.column_names]
            pyarrow.csv.write_csv(table.rename_columns(names), out)
    return out.getvalue()


def _json(body: Json) -> bytes:
    return json.dumps(body, ensure_ascii=False, indent=1).encode()
