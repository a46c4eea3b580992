"""What a cell of a workbook is read as; and that each row is made of its own cells."""

import datetime as dt

import pytest

from confide.errors import ContractError, MissingExtraError
from confide.rows.sources.exported import workbook as module
from confide.rows.sources.exported.workbook import sheet_export, sheet_names
from confide.tables.dialect import Dialect
from confide.tables.schema import Column, Kind, Table
from confide.tables.source_files import Sheet

pytest.importorskip("python_calamine", reason="the extra `files` is not installed")
from workbooks import DAY, HOURS, MOMENT, Stored, workbook

NUMBER = Column(name="x", kind=Kind.NUMBER, source="x", lower=0, upper=9)
DATE = Column(name="day", kind=Kind.DATE, source="day", lower=0, upper=9)


def table(*columns, sheet=None, **more):
    return Table(name="t", source="t", columns=columns, sheet=sheet or Sheet(), **more)


def cells(tmp_path, values, *, of=None, from_1904=False):
    """How cells below x are read."""
    path = tmp_path / "t.xlsx"
    rows = [["pid", "x"], *([f"p{i}", value] for i, value in enumerate(values))]
    path.write_bytes(workbook({"Data": rows}, from_1904=from_1904))
    lines = list(sheet_export(of or table(NUMBER)).lines(path))
    assert lines[0] == ["pid", "x"]
    return [line[1] for line in lines[1:]]


def read(tmp_path, value, **more):
    return cells(tmp_path, [value], **more)[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (70.1, "70.1"),
        (Stored(value="70.099999999999994"), "70.1"),  # as Excel writes it
        (0.1 + 0.2, "0.30000000000000004"),
        (3, "3"),
        (3.0, "3"),
        (-0.0, "0"),
        (2**53 - 1, "9007199254740991"),
        (2**53, "9.0071992547409920e+15"),  # two ids may be this number: it is no whole one
        (1e308, "1.0000000000000000e+308"),
        (1e-7, "1e-07"),
        ("70,5", "70,5"),
        (" 12 ", " 12 "),
        ("007", "007"),
        ("é\nß\t\"'", "é\nß\t\"'"),
        (True, "true"),
        (None, ""),
        (Stored(value="#N/A", type="e"), ""),
        (Stored(value="#DIV/0!", type="e"), ""),
        (Stored(value="12", type="str"), "12"),
        (dt.date(2020, 1, 31), "2020-01-31"),
        (dt.datetime.fromisoformat("2020-01-31T18:30"), "2020-01-31 18:30:00"),
        (dt.time(6, 30), "06:30:00"),
        (Stored(value="1.5", style=HOURS), "36:00:00"),
        (Stored(value="-5", style=DAY), "00:00:00"),
        (Stored(value="1e308", style=DAY), "1.0000000000000000e+308"),
        (Stored(value="2958466", style=DAY), "2958466"),
        (Stored(value="2020-01-31", type="d"), "2020-01-31"),
    ],
)
def test_a_cell_is_what_excel_takes_it_for(value, text, tmp_path):
    assert read(tmp_path, value) == text


@pytest.mark.parametrize("from_1904", [False, True])
@pytest.mark.parametrize("day", [dt.date(1910, 3, 1), dt.date(2024, 2, 29), dt.date(2026, 12, 31)])
def test_a_day_is_the_same_day_in_workbooks_of_1900_and_1904(day, from_1904, tmp_path):
    assert read(tmp_path, day, from_1904=from_1904) == day.isoformat()


@pytest.mark.parametrize(("from_1904", "serial"), [(False, 43831), (True, 43831 - 1462)])
def test_bare_numbers_of_days_are_counted_as_the_workbook_counts(from_1904, serial, tmp_path):
    of = table(
        Column(name="x", kind=Kind.DATE, source="x", lower=0, upper=9),
        dialect=Dialect(dates=("EXCEL",)),
    )
    assert read(tmp_path, serial, of=of, from_1904=from_1904) == "43831"  # 2020-01-01
    assert read(tmp_path, dt.date(2020, 1, 1), of=of, from_1904=from_1904) == "2020-01-01"


def test_numbers_have_the_declared_decimal_and_texts_stay_what_they_are(tmp_path):
    of = table(NUMBER, dialect=Dialect(decimal=","))
    assert cells(tmp_path, [70.5, "70,5", "70.5", 3], of=of) == ["70,5", "70,5", "70.5", "3"]


def test_formats_make_no_other_number_of_a_number(tmp_path):
    stored = Stored(value="0.70099999999999996", style=MOMENT)
    assert read(tmp_path, stored).startswith("16:49:")  # shown as a time of day


def test_a_row_is_made_of_its_own_cells_whatever_others_hold(tmp_path):
    values = [70.1, "x", None, dt.date(2020, 1, 1), Stored(value="#N/A", type="e"), True, "é" * 999]
    alone = [read(tmp_path, value) for value in values]
    assert cells(tmp_path, values) == alone
    assert cells(tmp_path, [*values[::-1], *values])[len(values) :] == alone


def test_empty_rows_are_no_rows_and_cells_beside_the_header_no_columns(tmp_path):
    path = tmp_path / "t.xlsx"
    rows = [["pid", "x"], [], ["a", 1, "remark", 2], [None, None, "alone"], ["b"]]
    path.write_bytes(workbook({"Data": rows}))
    assert list(sheet_export(table(NUMBER)).lines(path))[1:] == [["a", "1"], ["b", ""]]


def test_rows_are_counted_from_the_first_of_the_sheet_whatever_is_empty(tmp_path):
    path = tmp_path / "t.xlsx"
    rows = [[], ["Ward 7"], [], [None, "pid", "x"], [None, "id", "kg"], [None, "a", 1]]
    path.write_bytes(workbook({"Data": rows, "Other": [["pid", "x"]]}))
    with pytest.raises(ContractError, match="no name for column A"):
        sheet_names(
            path, table=table(NUMBER, sheet=Sheet(name="Data", header=4)), declared={"pid", "x"}
        )
    rows = [each[1:] for each in rows]
    path.write_bytes(workbook({"Data": rows, "Other": [["pid", "x"]]}))
    of = table(NUMBER, sheet=Sheet(name="Data", header=4, rows_from=6))
    assert sheet_names(path, table=of, declared={"pid", "x"}) == ("pid", "x")
    assert list(sheet_export(of).lines(path)) == [["pid", "x"], ["a", "1"]]


def test_of_a_row_that_is_no_header_nothing_is_told(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(workbook({"Data": [["4711", "Mrs Secret", "Mrs Secret"], ["4712", "x", ""]]}))
    with pytest.raises(ContractError) as refused:
        sheet_names(path, table=table(NUMBER), declared={"pid", "x7"})
    assert "Secret" not in str(refused.value)
    assert "4711" not in str(refused.value)


def test_rows_begin_below_the_header():
    with pytest.raises(ContractError, match="rows-from"):
        Sheet(header=3, rows_from=3)


def test_a_name_is_remembered_for_one_state_of_a_file(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(workbook({"Data": [["pid", "x"]]}))
    assert sheet_names(path, table=table(NUMBER), declared={"pid", "x"}) == ("pid", "x")
    path.write_bytes(workbook({"Data": [["pid", "y"]]}))
    assert sheet_names(path, table=table(NUMBER), declared={"pid", "x"}) == ("pid", "y")


def test_without_the_library_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"\[files\]"):
        module.reader()
