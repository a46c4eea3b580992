"""What a cell of Stata, SPSS and SAS is read as."""

import datetime as dt
import math

import numpy as np
import pytest

from confide.errors import ContractError, MissingExtraError
from confide.rows.sources.exported.statistical import (
    StatisticalExport,
    _reading,
    _single,
    variables,
)
from confide.tables.encoding import Encoding
from confide.tables.source import SourceKind

pyreadstat = pytest.importorskip("pyreadstat", reason="the extra `files` is not installed")
pd = pytest.importorskip("pandas")

ENDINGS = {"dta": SourceKind.STATA, "sav": SourceKind.SPSS, "xpt": SourceKind.SAS}
WRITERS = {
    "dta": pyreadstat.write_dta,
    "sav": pyreadstat.write_sav,
    "xpt": pyreadstat.write_xport,
}
each_kind = pytest.mark.parametrize("ending", ENDINGS)


def stored(folder, ending, columns, **more):
    path = folder / f"t.{ending}"
    WRITERS[ending](pd.DataFrame(columns), str(path), **more)
    return path


def lines(path, *, read=None, **more):
    kind = ENDINGS[path.suffix[1:]]
    names = read or {"pid", "x"}
    return list(StatisticalExport(kind=kind, read=frozenset(names), **more).lines(path))


def told(path):
    found = variables(path, kind=ENDINGS[path.suffix[1:]], table="t", encoding=Encoding.UTF_8)
    return {each.name: each for each in found}


@each_kind
def test_numbers_are_the_numbers_that_were_stored(ending, tmp_path):
    numbers = [70.5, 3.0, -0.25, 0.0, math.nan, 1234567.0]
    path = stored(tmp_path, ending, {"pid": list("abcdef"), "x": numbers})
    assert [line[1] for line in lines(path)[1:]] == ["70.5", "3", "-0.25", "0", "", "1234567"]


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_no_number_drifts(ending, tmp_path):
    numbers = [70.1, 0.1 + 0.2, 2.0**53 - 1, 1e-7, 55.55]
    path = stored(tmp_path, ending, {"pid": list("abcde"), "x": numbers})
    assert [float(line[1]) for line in lines(path)[1:]] == numbers


@each_kind
def test_days_moments_and_times_are_what_they_were(ending, tmp_path):
    days = [dt.date(2020, 2, 29), None, dt.date(1850, 1, 1), dt.date(2999, 12, 31)]
    moments = [
        dt.datetime.fromisoformat("2020-01-31T23:59:59"),
        None,
        dt.datetime.fromisoformat("1850-01-01"),
        None,
    ]
    path = stored(tmp_path, ending, {"pid": list("abcd"), "day": days, "at": moments})
    _, *rows = lines(path, read={"pid", "day", "at"})
    assert [row[1] for row in rows] == ["2020-02-29", "", "1850-01-01", "2999-12-31"]
    assert [row[2] for row in rows] == ["2020-01-31 23:59:59", "", "1850-01-01 00:00:00", ""]
    assert told(path)["day"].is_day
    assert told(path)["at"].is_day
    assert not told(path)["pid"].is_day


def test_tagged_missing_values_of_stata_are_missing(tmp_path):
    cells = pd.Series([1.0, "a", "z", 2.0, None], dtype=object)
    path = stored(
        tmp_path, "dta", {"pid": list("abcde"), "x": cells}, missing_user_values={"x": ["a", "z"]}
    )
    assert [line[1] for line in lines(path)[1:]] == ["1", "", "", "2", ""]


def test_user_defined_missing_values_of_spss_are_missing(tmp_path):
    path = stored(
        tmp_path,
        "sav",
        {"pid": list("abcd"), "x": [1.0, 99.0, 98.0, 2.0]},
        missing_ranges={"x": [{"lo": 98, "hi": 99}]},
    )
    assert [line[1] for line in lines(path)[1:]] == ["1", "", "", "2"]


def test_a_cell_is_its_code_and_labels_are_told_apart(tmp_path):
    path = stored(
        tmp_path,
        "dta",
        {"pid": list("ab"), "x": [1, 2]},
        variable_value_labels={"x": {1: "female", 2: "male"}},
        column_labels={"x": "Sex at birth"},
    )
    assert [line[1] for line in lines(path)[1:]] == ["1", "2"]
    assert told(path)["x"].labels == (("1", "female"), ("2", "male"))
    assert told(path)["x"].label == "Sex at birth"
    assert not told(path)["x"].is_text
    assert told(path)["pid"].is_text


@each_kind
def test_columns_that_nobody_declared_are_named_and_not_read(ending, tmp_path):
    path = stored(tmp_path, ending, {"pid": ["a"], "secret": ["s"], "x": [1.5]})
    assert lines(path) == [["pid", "secret", "x"], ["a", "", "1.5"]]
    assert lines(path, read={"nothing"}) == [["pid", "secret", "x"]]


@each_kind
def test_a_file_is_read_in_parts(ending, tmp_path, monkeypatch):
    monkeypatch.setattr("confide.rows.sources.exported.statistical.ROWS_AT_ONCE", 4)
    for rows in (3, 4, 8, 9):
        path = stored(tmp_path, ending, {"pid": [f"p{i}" for i in range(rows)], "x": [1.5] * rows})
        assert lines(path)[1:] == [[f"p{i}", "1.5"] for i in range(rows)]


def test_a_number_of_four_bytes_is_the_shortest_decimal_that_is_it():
    assert _single(float(np.float32(70.1))) == "70.1"
    assert _single(3.0) == "3"
    assert _single(None) == ""
    reading = _reading("%9.0g", stored="float", kind=SourceKind.STATA)
    assert reading(float(np.float32(0.2))) == "0.2"


@pytest.mark.parametrize("value", [1e300, -1e300, math.inf, math.nan, None, "text", 5.5, -(10**9)])
@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("%td", SourceKind.STATA),
        ("%tc", SourceKind.STATA),
        ("DATE11", SourceKind.SPSS),
        ("DTIME20", SourceKind.SPSS),
        ("E8601DA10", SourceKind.SAS),
        ("DATETIME20.", SourceKind.SAS),
    ],
)
def test_whatever_a_cell_holds_it_becomes_a_text(value, form, kind):
    assert isinstance(_reading(form, stored="double", kind=kind)(value), str)


@pytest.mark.parametrize(
    ("form", "kind", "value", "text"),
    [
        ("%tdDD/NN/CCYY", SourceKind.STATA, 0, "1960-01-01"),
        ("%d", SourceKind.STATA, 21945, "2020-01-31"),
        ("%tcHH:MM", SourceKind.STATA, 1_896_093_000_000.0, "2020-01-31 12:30:00"),
        ("%tm", SourceKind.STATA, 720, "720"),
        ("EDATE10", SourceKind.SPSS, 13_799_808_000.0, "2020-01-31"),
        ("MOYR8", SourceKind.SPSS, 13_797_216_000.0, "2020-01-01"),
        ("TIME8", SourceKind.SPSS, 45_000.0, "12:30:00"),
        ("DDMMYYP10", SourceKind.SAS, 21945, "2020-01-31"),
        ("IS8601DT", SourceKind.SAS, 1_896_093_000.0, "2020-01-31 12:30:00"),
        ("BEST12", SourceKind.SAS, 21945, "21945"),
    ],
)
def test_a_format_says_whether_a_number_is_a_day(form, kind, value, text):
    assert _reading(form, stored="double", kind=kind)(value) == text


@each_kind
def test_what_is_no_such_file_is_refused_without_its_content(ending, tmp_path):
    path = tmp_path / f"t.{ending}"
    path.write_bytes(b"Mrs Secret," * 500)
    with pytest.raises(ContractError, match="cannot be read") as refused:
        told(path)
    assert "Secret" not in str(refused.value)
    with pytest.raises(OSError, match="Error"):
        lines(path)


@each_kind
def test_without_the_library_it_is_said_what_to_install(ending, tmp_path, monkeypatch):
    path = stored(tmp_path, ending, {"pid": ["a"], "x": [1.5]})
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    with pytest.raises(MissingExtraError, match=r"\[files\]"):
        told(path)
