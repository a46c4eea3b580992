"""Drafts of dataset.yaml from dictionaries: what they say, what they leave out, what they lead to."""

import csv
import io
import re
from fractions import Fraction

import pytest

from command_line import confide
from confide.files.dataset import read_dataset
from exported_sources import STORED, store
from workbooks import workbook

DAYS = ("--since", "2010-01-01", "--until", "2026-12-31")
needs_files = pytest.mark.parametrize("kind", STORED)


def drafted(kind, source, *more):
    ran = confide("describe", "--model", kind, "--source", source, *DAYS, *more, "--quiet")
    assert ran.code == 0, ran.err
    return ran.out


def libraries():
    for library in ("python_calamine", "pyreadstat", "pandas"):
        pytest.importorskip(library, reason="the extra `files` is not installed")


@needs_files
def test_a_draft_lacks_bounds_and_is_a_data_set_once_they_are_written(kind, tmp_path):
    libraries()
    declared = store(kind, tmp_path)
    text = drafted(kind, tmp_path / "data" / STORED[kind][0])
    declared.write_text(text)
    if "kind: number" in text:
        assert "has no clip bounds" in confide("check", declared).err
    bounds = {"age": (0, 110), "creatinine": (20, 2000), "weight": (20, 250), "sex": (1, 2)}
    for name, (lower, upper) in bounds.items():
        of_column = rf"(      {name}:\n(?:        label: .*\n)?        )(kind: number)"
        text = re.sub(of_column, rf"\1lower: {lower}\n        upper: {upper}\n        \2", text)
    declared.write_text(text)
    dataset = read_dataset(declared)
    assert dataset.dataset.unit.id_column == "pid"
    (table,) = dataset.dataset.tables
    assert {c.name for c in table.columns} == {
        *("sex", "town", "age", "creatinine", "weight", "admitted")
    }
    told = confide("check", declared, "--json", "--quiet").json
    assert told["tables"][0]["rows"] == 60
    assert told["findings"] == []


def test_labels_of_variables_and_values_become_labels_of_the_report(tmp_path):
    libraries()
    for kind in ("stata", "spss"):
        store(kind, tmp_path / kind)
        text = drafted(kind, tmp_path / kind / "data" / STORED[kind][0])
        assert '        label: "Sex at birth"\n        categories:\n          "1": "female"' in text
        assert '        label: "Body weight"' in text


def test_names_that_are_no_keys_are_kept_as_labels(tmp_path):
    libraries()
    from workbooks import workbook

    path = tmp_path / "x.xlsx"
    rows = [["Ward 7"], ["Pat-Nr.", "Body weight [kg]", "2nd visit", "body_weight_kg", "no"], [1]]
    path.write_bytes(workbook({"Data": rows, "Legend": []}))
    assert "several sheets" in confide("describe", "--model", "excel", "--source", path).err
    title = confide("describe", "--model", "excel", "--source", path, "--sheet", "Data")
    assert "No names of columns stand in row 1: say where, as in --header 3." in title.err
    text = drafted("excel", path, "--sheet", "Data", "--header", 2)
    assert 'sheet: {name: "Data", header: 2}' in text
    assert 'id: "Pat-Nr."' in text
    (tmp_path / "dataset.yaml").write_text(text)
    declared = read_dataset(tmp_path / "dataset.yaml")
    (table,) = declared.dataset.tables
    assert {c.source for c in table.columns} == set(rows[1][1:])
    assert declared.labels.columns["body_weight_kg"] == "Body weight [kg]"


def test_no_cell_is_part_of_a_draft(tmp_path):
    libraries()
    for kind in STORED:
        store(kind, tmp_path / kind)
        text = drafted(kind, tmp_path / kind / "data" / STORED[kind][0])
        assert "p001" not in text
        assert "Ulm" not in text


# -- REDCap

NAMES = (
    "Variable / Field Name,Form Name,Section Header,Field Type,Field Label,"
    '"Choices, Calculations, OR Slider Labels",Field Note,'
    "Text Validation Type OR Show Slider Number,Text Validation Min,Text Validation Max,"
    "Identifier?,Required Field?"
)
FIELDS = (
    ("record_id", "text", "Record", "", "", "", "", "", ""),
    ("name", "text", "Family name", "", "", "", "", "y", ""),
    ("mail", "text", "E-mail", "", "email", "", "", "", ""),
    ("sex", "radio", "<b>Sex</b> at\nbirth", "1, female | 2, male | 9, not known, or asked", "", "", "", "", "y"),
    ("weight", "text", "Weight (kg)", "", "number_1dp", "20", "250.5", "", ""),
    ("height", "text", "Height (m)", "", "number_2dp", "0.5", "2.5", "", ""),
    ("age", "text", "Age", "", "integer", "0", "", "", ""),
    ("seen", "text", "Seen", "", "date_dmy", "2015-01-01", "2026-12-31", "", ""),
    ("at", "text", "Hour", "", "time", "", "", "", ""),
    ("drugs", "checkbox", "Drugs", "1, Insulin | a-b, Metformin &amp; others", "", "", "", "", ""),
    ("smokes", "yesno", "Smokes", "", "", "", "", "", ""),
    ("pain", "slider", "Pain", "none | some | worst", "number", "", "", "", ""),
    ("bmi", "calc", "BMI", "[weight]/2", "", "", "", "", ""),
    ("story", "notes", "History", "", "", "", "", "", ""),
    ("thanks", "descriptive", "Thank you", "", "", "", "", "", ""),
    ("town", "text", "Town", "", "", "", "", "", ""),
)  # fmt: skip


def dictionary(folder, *, names=NAMES):
    text = io.StringIO()
    text.write(f"\ufeff{names}\r\n")
    for name, kind, label, choices, checked, lower, upper, identifier, required in FIELDS:
        row = (
            name,
            "form",
            "",
            kind,
            label,
            choices,
            "",
            checked,
            lower,
            upper,
            identifier,
            required,
        )
        csv.writer(text).writerow(row)
    path = folder / "dictionary.csv"
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path


def of_redcap(folder, **more):
    text = drafted("redcap", "data/export.csv", "--dictionary", dictionary(folder, **more))
    path = folder / "dataset.yaml"
    path.write_text(text)
    return text, path


def columns_of(path):
    text = path.read_text()
    for name, bounds in {"age": "upper: 110", "bmi": "lower: 5\n        upper: 80"}.items():
        text = text.replace(f"      {name}:\n", f"      {name}:\n        {bounds}\n")
    path.write_text(text)
    declared = read_dataset(path)
    (table,) = declared.dataset.tables
    return declared, {column.name: column for column in table.columns}


def test_a_dictionary_of_redcap_says_types_choices_bounds_and_checkboxes(tmp_path):
    _, path = of_redcap(tmp_path)
    declared, columns = columns_of(path)
    assert declared.dataset.unit.id_column == "record_id"
    assert columns["sex"].codes == (("1", 0), ("2", 1), ("9", 2))
    assert columns["sex"].keys == ("female", "male", "not known, or asked")
    weight = columns["weight"].domain()
    assert (weight.lower, weight.upper, weight.scale) == (200, 2505, Fraction(1, 10))
    assert columns["drugs___1"].keys == ("yes", "no")
    assert "drugs___a_b" in columns
    assert columns["smokes"].codes == (("1", 0), ("0", 1))
    assert (columns["pain"].domain().lower, columns["pain"].domain().upper) == (0, 100)
    assert columns["seen"].kind.value == "date"
    assert columns["town"].kind.value == "text"
    assert declared.labels.columns["sex"] == "Sex at birth"
    assert declared.labels.columns["drugs___a_b"] == "Drugs: Metformin & others"


def test_identifiers_free_text_and_files_are_left_out(tmp_path):
    text, path = of_redcap(tmp_path)
    _, columns = columns_of(path)
    assert not {"name", "mail", "at", "story", "thanks", "record_id"} & set(columns)
    assert "# left out: name (an identifier)" in text
    assert "# left out: story (free text)" in text


def test_the_names_of_redcaps_interface_say_the_same(tmp_path):
    names = (
        "field_name,form_name,section_header,field_type,field_label,"
        "select_choices_or_calculations,field_note,text_validation_type_or_show_slider_number,"
        "text_validation_min,text_validation_max,identifier,required_field"
    )
    (tmp_path / "other").mkdir()
    assert of_redcap(tmp_path)[0] == of_redcap(tmp_path / "other", names=names)[0]


def test_numbers_typed_with_a_comma_are_declared_or_told(tmp_path, monkeypatch):
    some = [
        (*f[:4], f[4].replace("number_1dp", "number_1dp_comma_decimal"), *f[5:]) for f in FIELDS
    ]
    monkeypatch.setitem(globals(), "FIELDS", some)
    text, _ = of_redcap(tmp_path)
    assert "# typed as 6,5 where others" in text
    assert "dialect" not in text
    monkeypatch.setitem(globals(), "FIELDS", [f for f in some if f[0] != "height"])
    assert 'dialect: {decimal: ","}' in of_redcap(tmp_path)[0]


def test_what_is_no_dictionary_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("pid,sex\n1,female\n")
    words = ("describe", "--model", "redcap", "--source", "export.csv")
    ran = confide(*words, "--dictionary", path)
    assert ran.code == 7
    assert "no data dictionary" in ran.err
    assert "--dictionary" in confide(*words).err


def test_an_export_is_checked_and_released_by_its_dictionary(tmp_path):
    _, path = of_redcap(tmp_path)
    columns_of(path)
    (tmp_path / "data").mkdir()
    rows = ["record_id,name,sex,weight,height,age,seen,drugs___1,drugs___a_b,smokes,pain,bmi,town"]
    rows += [
        f"{i},Secret,{1 + i % 2},{50 + i}.5,1.75,{20 + i},2020-01-{1 + i % 28:02},{i % 2},0,1,{i},25,Ulm"
        for i in range(60)
    ]
    (tmp_path / "data" / "export.csv").write_text("\n".join(rows) + "\n")
    told = confide("check", path, "--json", "--quiet").json
    assert told["findings"] == []
    assert told["tables"][0]["patients"] == 60


def test_what_a_column_is_called_proposes_a_plausible_range(tmp_path):
    """A proposal in a remark: bounds are written by whoever knows what the column holds."""
    pytest.importorskip("python_calamine", reason="the extra `files` is not installed")
    path = tmp_path / "labs.xlsx"
    path.write_bytes(workbook({"Labs": [["pid", "SBP", "Kreatinin", "mood"], ["p1", 7, 8, 9]]}))
    text = confide("describe", "--model", "excel", "--source", path, "--quiet").out
    told = [line.strip() for line in text.splitlines() if "plausible" in line]
    assert len(told) == 2
    assert 'lower: 50, upper: 260, step: 1, unit: "mm[Hg]"' in told[0]
    assert "LOINC 2160-0" in told[1]
