import contextlib
import datetime as dt
import functools
import io
import json
import re
import shutil
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import confide as public
import every_kind
from command_line import confide
from confide.errors import ContractError, VerificationError
from confide.files.dataset import declared_by
from confide.files.study import read_study
from confide.jobs.twin.rows import patients_of, twin
from confide.release.noisy import read_payload
from confide.release.verify.verify import verify
from confide.report.load import load
from confide.tables.schema import Kind
from small_clinic import DATASET, STUDY, make_clinic
from told_reports import NAMES, planned

ACROSS = "REHEARSAL, NO DATA"
WORDS = "Rehearsal: these numbers are of"
POLICY = """\
policy: {id: board, version: 1, effective: 2025-01-01, owner: dpo@clinic.example}
protects: {unit: patient, adjacency: add-remove}
accounting: {measure: pure}
caps:
  - {id: annual, basis: ethics, priority: 2, scope: patient, window: calendar-year, limit: {epsilon: "0.5"},
     enforce: drop}
  - {id: life, basis: internal, priority: 3, scope: dataset, window: lifetime, limit: {epsilon: "4"}}
tiers:
  - {id: routine, weight: 1, approvals: [steward]}
"""


def says_so(name, content):
    """Whether a file of a rehearsal says what it is, in its own way."""
    match Path(name).suffix:
        case ".svg":
            return ACROSS in content.decode()
        case ".png":
            return content[:4] == b"\x89PNG"  # drawn from the SVG beside it: see below
        case ".csv":
            lines = content.decode().splitlines()
            marked = [line.split(",")[0] for line in lines]
            return marked == ["rehearsal", *["made-up rows"] * (len(lines) - 1)]
        case ".parquet":
            table = pq.read_table(io.BytesIO(content))
            told = table.schema.metadata[b"rehearsal"].decode()
            return WORDS in told and set(table["rehearsal"].to_pylist()) <= {"made-up rows"}
        case ".json":
            return "rehearsal" in json.loads(content)
        case ".docx":
            with zipfile.ZipFile(io.BytesIO(content)) as parts:
                heads = [n for n in parts.namelist() if "header" in n]
                return any(WORDS in parts.read(name).decode() for name in heads)
        case ".html":
            page = content.decode()
            figures = re.findall(r"<svg[^>]*class=\"marks\".*?</svg>", page, re.DOTALL)
            assert figures
            across = all(ACROSS in figure for figure in figures)
            return (
                WORDS in page and "made-up-across" in page and across and "<title>REHEARSAL" in page
            )
        case _:
            return WORDS in content.decode()


def files_of(folder):
    found = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return {path.relative_to(folder).as_posix(): content for path, content in found.items()}


def without_map(study):
    """The map of a test is no real one, and a broken map is refused as in a run."""
    dataset = study.parent / "dataset.yaml"
    dataset.write_text(re.sub(r"\n    shapes:\n.*", "", dataset.read_text()))
    return study


@functools.cache
def rehearsed(name, folder):
    study = without_map(planned(name, into=folder))
    made = confide("run", study, "--out", folder / "out", "--twin", "--json")
    assert made.code == 0, made.err
    return study, made.json


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("examples")


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_rehearsed_without_its_data(name, place):
    study, told = rehearsed(name, place / name)
    plan = read_study(study).plan()
    assert told["plan"] == plan.digest()
    assert told["charged"] is False
    assert told["patients"] == patients_of(plan)
    folder = Path(told["folder"])
    assert folder.name == "out-rehearsal"
    files = files_of(folder)
    assert [name for name, content in files.items() if not says_so(name, content)] == []
    kept = {"report.html", "methods.md", "references.bib", "rehearsal.json"}
    assert kept | {"noisy.json", "tables.tex"} <= set(files)
    assert {f"tables/{each.id}.csv" for each in plan.statistics} <= set(files)
    assert {f"figures/{each.id}.svg" for each in plan.statistics} <= set(files)
    assert not (study.parent / ".confide").exists()
    first = f"figures/{plan.statistics[0].id}"
    assert files[f"{first}.png"] == _png_of(files[f"{first}.svg"])


def _png_of(svg):
    import vl_convert

    return vl_convert.svg_to_png(svg.decode(), scale=2.0)


VARIANTS = {
    "mixed": [("{measure: zcdp, delta: 1e-6}", "{measure: mixed, delta: 1e-6}")],
    "substitute": [("adjacency: add-remove", "adjacency: substitute")],
    "event": [("unit: patient", "unit: event"), ("    rows-per-patient: 1\n", "")],
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_whatever_is_protected_and_however_it_is_counted_has_a_twin(variant, tmp_path):
    dataset = DATASET[: DATASET.index("per-patient:\n")]
    for before, after in VARIANTS[variant]:
        assert before in dataset
        dataset = dataset.replace(before, after)
    study = (
        "study: {id: first}\nstatistics:\n"
        "  - {id: wards, kind: histogram, table: visits, by: [ward], count: events, per-patient: {rows: 2}}\n"
        'spend: {at-most: {epsilon: "0.5"}}\n'
    )
    if variant == "event":
        study = study.replace(", per-patient: {rows: 2}", "")
    clinic = clinic_of(tmp_path, dataset=dataset, study=study)
    ran = confide("run", clinic.study, "--out", tmp_path / "out", "--twin", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["plan"] == read_study(clinic.study).plan().digest()


def test_a_house_rule_withholds_in_a_rehearsal_what_it_withholds_in_a_release(tmp_path):
    study = STUDY.replace("statistics:", "small-cells: cms\nstatistics:")
    clinic = clinic_of(tmp_path, study=study)
    ran = confide("run", clinic.study, "--out", tmp_path / "out", "--twin")
    assert ran.code == 0, ran.err
    files = files_of(tmp_path / "out-rehearsal")
    assert "noisy.json" not in files
    assert [name for name, content in files.items() if not says_so(name, content)] == []


def clinic_of(folder, *, study=STUDY, dataset=DATASET):
    clinic = make_clinic(folder / "clinic", dataset=dataset)
    clinic.study.write_text(study)
    return clinic


def test_a_rehearsal_leaves_ledger_keys_and_data_as_they_are(tmp_path):
    clinic = clinic_of(tmp_path)
    released = confide("run", clinic.study, "--out", tmp_path / "out", "--json")
    before = files_of(clinic.folder)
    told = confide("run", clinic.study, "--out", tmp_path / "out", "--twin", "--json").json
    assert files_of(clinic.folder) == before
    ours = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert told["plan"] == ours["plan"]["sha256"]
    assert told["loss"]["text"] == released.json["loss"]["text"]
    assert set(files_of(tmp_path / "out")) - {"certificate.json"} <= set(
        files_of(tmp_path / "out-rehearsal")
    )


def test_a_poisoned_source_is_not_opened(tmp_path):
    clinic = clinic_of(tmp_path)
    for name in ("patients.csv", "visits.csv"):
        (clinic.folder / name).unlink()
        (clinic.folder / name).mkdir()  # whoever opens it fails
    assert confide("run", clinic.study, "--out", tmp_path / "real").code != 0
    assert confide("run", clinic.study, "--out", tmp_path / "out", "--twin").code == 0


@pytest.fixture
def rehearsal(tmp_path):
    clinic = clinic_of(tmp_path)
    assert confide("run", clinic.study, "--out", tmp_path / "out", "--twin").code == 0
    return tmp_path / "out-rehearsal"


DOORS = (
    "verify PLACE",
    "show PLACE",
    "diff PLACE PLACE",
    "explain certificate PLACE",
    "export PLACE --as latex",
    "export PLACE --as word --out x.docx",
)


@pytest.mark.parametrize("door", DOORS)
def test_nobody_takes_a_rehearsal_for_a_release(door, rehearsal):
    ran = confide(*(rehearsal if word == "PLACE" else word for word in door.split()))
    assert ran.code == 6
    assert "is a rehearsal: its rows are made up" in ran.err


def test_what_stands_in_the_place_of_a_certificate_is_refused_wherever_it_is_put(
    rehearsal, tmp_path
):
    copied = tmp_path / "copied"
    shutil.copytree(rehearsal, copied)
    (copied / "rehearsal.json").rename(copied / "certificate.json")
    ran = confide("verify", copied)
    assert ran.code == 6
    assert "is a rehearsal" in ran.err
    with pytest.raises(VerificationError):
        verify(json.loads((copied / "certificate.json").read_text()), folder=copied)
    with pytest.raises(VerificationError, match="is a rehearsal"):
        load(rehearsal)
    with pytest.raises((VerificationError, ContractError)):
        read_payload((copied / "noisy.json").read_bytes())


def test_a_rehearsal_takes_the_place_of_a_rehearsal_and_of_nothing_else(rehearsal, tmp_path):
    study = tmp_path / "clinic" / "study.yaml"
    assert confide("run", study, "--out", rehearsal, "--twin").code == 0
    (rehearsal / "mine.txt").write_text("kept")
    ran = confide("run", study, "--out", rehearsal, "--twin")
    assert ran.code == 7
    assert (rehearsal / "mine.txt").read_text() == "kept"
    assert confide("run", study, "--out", tmp_path / "out").code == 0  # the release is beside it


def test_a_rehearsal_does_not_lie_among_ledger_and_keys(tmp_path):
    clinic = clinic_of(tmp_path)
    ran = confide("run", clinic.study, "--out", clinic.folder / ".confide" / "x", "--twin")
    assert ran.code == 7
    assert not (clinic.folder / ".confide").exists()


@pytest.mark.parametrize("more", [["--reuse"], ["--again"], ["--request", "two"]])
def test_a_rehearsal_has_no_request_and_is_not_reused(more, tmp_path):
    clinic = clinic_of(tmp_path)
    assert confide("run", clinic.study, "--out", tmp_path / "out", "--twin", *more).code == 7
    assert not (tmp_path / "out-rehearsal").exists()


def test_the_number_of_made_up_patients_is_public_or_asked_for(tmp_path):
    clinic = clinic_of(tmp_path)

    def patients(*more):
        return confide("run", clinic.study, "--out", tmp_path / "out", "--twin", "--json", *more)

    assert patients().json["patients"] == 2_000
    assert patients("--twin-patients", "300").json["patients"] == 300
    assert patients("--twin-patients", "0").code == 7
    clinic.dataset.write_text(DATASET.replace("tables:\n", "population: 700\ntables:\n", 1))
    assert patients().json["patients"] == 700
    assert confide("run", clinic.study, "--out", tmp_path / "x", "--twin-patients", "9").code == 7


def test_a_policy_that_asks_for_approval_and_leaves_patients_out_is_rehearsed(tmp_path):
    dataset = DATASET.replace("{measure: zcdp, delta: 1e-6}", "{measure: pure}")
    dataset = re.sub("caps: .*", "policy: policy.yaml", dataset)
    study = STUDY.replace("purpose: test", "purpose: test, tier: routine")
    study = study.replace(", error: {within: 20}", "").replace(", error: {within: 30}", "")
    clinic = clinic_of(
        tmp_path, dataset=dataset, study=study + 'spend: {at-most: {epsilon: "0.2"}}\n'
    )
    (clinic.folder / "policy.yaml").write_text(POLICY)
    ran = confide("run", clinic.study, "--out", tmp_path / "out", "--twin", "--json")
    assert ran.code == 0, ran.err
    plan = read_study(clinic.study).plan()
    assert plan.dataset.patients
    assert ran.json["plan"] == plan.digest()


SOURCES = {
    "duckdb": {"path": "none.duckdb"},
    "parquet": {"path": "none"},
    "csv": {"path": "none"},
    "excel": {"path": "none.xlsx"},
    "stata": {"path": "none"},
    "spss": {"path": "none"},
    "sas": {"path": "none"},
    "omop": {"path": "none", "version": "5.4"},
    "fhir": {"path": "none"},
    "frames": {},
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_kind_of_source_has_a_twin(kind, tmp_path):
    written = ", ".join(
        f'{name}: "{value}"' for name, value in {"kind": kind, **SOURCES[kind]}.items()
    )
    dataset = DATASET.replace("{kind: csv, path: .}", f"{{{written}}}")
    if kind == "csv":
        dataset = dataset.replace(
            "    from: visits.csv\n",
            '    from: visits.csv\n    dialect: {decimal: ",", dates: DD.MM.YYYY, separator: ";"}\n',
        )
    if kind == "excel":
        dataset = dataset.replace("from: patients.csv", "sheet: {name: one, header: 3}")
        dataset = dataset.replace("from: visits.csv", "sheet: {name: two}")
    if kind == "fhir":
        dataset = dataset.replace("id: pid", "id: person")
    if kind == "duckdb":
        dataset = dataset.replace(
            "from: visits.csv", "query: SELECT pid, ward, cost, day FROM raw WHERE ward IS NOT NULL"
        )
    study = (
        STUDY
        + "  - {id: cost, kind: mean, table: visits, column: cost, per-patient: {rows: 2}, expect: {count: 300}, share: 1}\nspend: {at-most: {epsilon: 1}}\n"
    )
    clinic = clinic_of(tmp_path, dataset=dataset, study=study)
    ran = confide("run", clinic.study, "--out", tmp_path / "out", "--twin", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["plan"] == read_study(clinic.study).plan().digest()


@pytest.fixture(scope="module")
def town():
    return every_kind.dataset(measure="zcdp")


@pytest.mark.thinned(8)
@pytest.mark.parametrize("kind", every_kind.STUDIES)
def test_every_kind_of_statistic_is_rehearsed(kind, town, tmp_path):
    with public.open(town, frames={}, folder=tmp_path) as ws:
        asked = {"id": "asked", "kind": kind, **every_kind.STUDIES[kind]}
        plan = ws.plan(asked, epsilon="3")
        made = ws.twin(plan, patients=400)
        made.save(tmp_path / "june-rehearsal")
        assert ws.ledger.entries("town") == ()
    files = files_of(tmp_path / "june-rehearsal")
    assert [name for name, content in files.items() if not says_so(name, content)] == []


def test_a_rehearsal_says_so_in_a_notebook(town, tmp_path):
    with public.open(town, frames={}, folder=tmp_path) as ws:
        asked = {"id": "ages", "kind": "histogram", **every_kind.STUDIES["histogram"]}
        made = ws.twin(ws.plan(asked, epsilon="3"), patients=400)
    assert repr(made).startswith("<Rehearsal rehearsal of town")
    assert WORDS in made._repr_html_()
    assert WORDS in repr(made.table("ages"))
    assert ACROSS in made.figure("ages")._repr_svg_()
    assert made.figure("ages").spec["title"]["text"].startswith(ACROSS)
    assert set(made.to_arrow()["rehearsal"].to_pylist()) == {"made-up rows"}
    made.figure("ages").save(tmp_path / "ages.svg")
    made.figure("ages").save(tmp_path / "ages.png")
    assert ACROSS in (tmp_path / "ages.svg").read_text()
    unmarked = made.figure("ages").chart
    assert (tmp_path / "ages.png").read_bytes() != _png(unmarked)
    assert "signature" not in made.certificate
    assert made.form.signature.value == ""
    with pytest.raises(ContractError, match="could be a release"):
        made.save(tmp_path / "june")
    assert not (tmp_path / "june").exists()


def _png(chart):
    from confide.drawing.charts.render import draw

    return draw(chart).png


CELLS = """\
dataset: {id: wards, lineage: wards, snapshot: "1"}
source: {kind: duckdb, path: none.duckdb}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 4}}
tables:
  people:
    rows-per-patient: 1
    columns:
      sex: {categories: {F: female, M: male}}
      size: {kind: number, lower: 50, upper: 220, step: 0.5, unit: cm}
  stays:
    columns:
      begins: {kind: date, lower: 2024-01-01, upper: 2025-12-31}
      ends: {kind: date, lower: 2024-01-01, upper: 2026-01-31}
      code: {categories: [I10, E11], from: what}
      other: {kind: text, from: what}
      level: {kind: number, lower: 0, upper: 9, from: value}
      dose: {kind: number, lower: 100, upper: 200, from: value}
"""


def test_a_twin_holds_what_is_declared_and_nothing_else():
    dataset = declared_by(CELLS, folder=None).dataset
    made = twin(dataset, patients=500)
    people, stays = made["people"].to_pydict(), made["stays"].to_pydict()
    assert people["pid"] == list(range(1, 501))
    assert set(people["sex"]) == {"F", "M", None}
    sizes = [size for size in people["size"] if size is not None]
    assert min(sizes) >= 50
    assert max(sizes) <= 220
    assert {2 * size % 1 for size in sizes} == {0}
    assert set(stays["pid"]) <= set(range(1, 501))
    assert len(stays["pid"]) > 900  # three rows a patient, in the mean
    begins = [day for day in stays["begins"] if day is not None]
    assert dt.date(2024, 1, 1) <= min(begins) <= max(begins) <= dt.date(2025, 12, 31)
    pairs = zip(stays["begins"], stays["ends"], strict=True)
    assert all(first <= last for first, last in pairs if first and last)
    texts = {text for text in stays["what"] if text is not None}
    assert {"I10", "E11", "made up 1"} <= texts
    assert all(text in {"I10", "E11"} or text.startswith("made up ") for text in texts)
    values = {value for value in stays["value"] if value is not None}
    assert values <= {*range(10), *range(100, 201)}
    assert made["people"].schema.field("size").type == pa.float64()
    again = twin(dataset, patients=500)
    assert all(again[name].equals(table) for name, table in made.items())


def test_a_twin_has_codes_units_and_areas_as_declared():
    text = CELLS.replace(
        "      dose: {",
        "      heavy: {kind: number, lower: 0, upper: 300, unit: kg, units: {in: cell, known: {kg: kg, g: g}}}\n      dose: {",
    )
    dataset = declared_by(text, folder=None).dataset
    heavy = twin(dataset, patients=200)["stays"]["heavy"].to_pylist()
    told = [re.fullmatch(r"([0-9.]+) (kg|g)", cell) for cell in heavy if cell is not None]
    assert all(told)
    factors = {"kg": 1, "g": 0.001}
    assert all(0 <= float(each[1]) * factors[each[2]] <= 300 for each in told)
    assert {each[2] for each in told} == {"kg", "g"}


def test_the_page_of_a_rehearsal_names_no_entry_no_key_and_nothing_to_verify(rehearsal):
    page = (rehearsal / "report.html").read_text()
    with contextlib.suppress(ValueError):
        page = page[page.index("<body>") :]
    assert "ledger entry" not in page
    assert "confide verify certificate.json" not in page
    assert "0" * 64 not in page
    assert "There is nothing to verify" in page
    across = re.search(r"\.made-up-across \{([^}]*)\}", (rehearsal / "report.html").read_text())
    assert "position: fixed" in across[1]  # so it is on every screen and every sheet of paper
    assert "The study itself would cost" in page
    assert "0" * 64 not in (rehearsal / "methods.md").read_text()


def test_kinds_of_columns_are_all_made(town, tmp_path):
    dataset = declared_by(town, folder=tmp_path).dataset
    made = twin(dataset, patients=50)
    kinds = {column.kind for table in dataset.tables for column in table.columns}
    assert kinds == set(Kind)
    contacts = made["contacts"].to_pydict()
    assert all(a != b for a, b in zip(contacts["pid"], contacts["other"], strict=True))


OMOP = """\
dataset: {id: cdm, lineage: cdm, snapshot: "1"}
source: {kind: omop, version: "5.4", path: none.duckdb}
protects: {unit: patient, id: person_id, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {lifetime: {epsilon: 10}}
tables:
  person:
    rows-per-patient: 1
    columns:
      sex: {from: gender_concept_id, categories: {8507: male, 8532: female}}
  glucose:
    from: measurement
    only: {measurement_concept_id: [3004501]}
    without: {measurement_source_concept_id: [7]}
    usual-rows: {1: 0.5, 2: 0.5}
    columns:
      value:
        {from: value_as_number, kind: number, lower: 40, upper: 400, unit: mg/dL,
         units: {from: unit_concept_id, analyte: glucose, known: {8840: mg/dL, 8753: mmol/L}}}
  pressure:
    from: measurement
    only: {measurement_concept_id: [3004249]}
    columns:
      value: {from: value_as_number, kind: number, lower: 60, upper: 260, unit: "mm[Hg]"}
per-patient:
  tests: {count: glucose, at-most: 3}
"""
OMOP_STUDY = """\
study: {id: first}
statistics:
  - {id: glucose, kind: mean, table: glucose, column: value, per-patient: {rows: 2}, expect: {count: 800}}
  - {id: pressure, kind: mean, table: pressure, column: value, per-patient: {rows: 3}, expect: {count: 800}}
  - {id: tests, kind: mean, table: person, column: tests, by: [sex], expect: {count: 800}}
spend: {at-most: {epsilon: 4}}
"""


def test_two_tables_of_one_source_have_rows_of_their_own_in_their_own_units(tmp_path):
    clinic = clinic_of(tmp_path, dataset=OMOP, study=OMOP_STUDY)
    ran = confide("run", clinic.study, "--out", tmp_path / "out", "--twin", "--json")
    assert ran.code == 0, ran.err
    found = {}
    for name in ("glucose", "pressure", "tests"):
        table = pq.read_table(tmp_path / "out-rehearsal" / "tables" / f"{name}.parquet").to_pylist()
        found[name] = {row["quantity"]: row["value"] for row in table}
    # 1,600 patients; noise is below 1 % of these numbers
    assert found["glucose"]["mean"] == pytest.approx(220, abs=15)  # no mmol/L was taken for mg/dL
    assert found["pressure"]["mean"] == pytest.approx(160, abs=10)
    assert 1 < found["tests"]["mean"] < 2
