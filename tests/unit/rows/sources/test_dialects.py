"""A CSV file is read in the dialect that is declared: its numbers and dates, and nobody else's row."""

import pytest

import confide
from confide.errors import ContractError
from confide.plans.canonical import encode
from confide.rows.sources import delimited, text_files
from confide.tables.dialect import AS_USUAL
from confide.tables.schema import Table

DATASET = """
dataset: {{id: lab, lineage: lab, snapshot: "1"}}
source: {{kind: csv, path: data}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 100000}}}}
tables:
  p:
    from: p.csv
    rows-per-patient: 1
    encoding: {encoding}
    {dialect}
    columns:
      v: {{kind: number, lower: 0, upper: 9}}
      d: {{kind: date, lower: 2020-01-01, upper: 2025-12-31}}
      town: {{categories: [Köln, Ulm]}}
derived:
  year: {{of: d, part: year}}
  size: {{of: v, bins: [0, 5, 9]}}
"""
ASKED = [{"id": name, "kind": "histogram", "by": [name]} for name in ("size", "year", "town")]


def counts(folder, raw, *, dialect="", encoding="utf-8"):
    """Return the counts of small and large numbers, of 2020 and 2021, and of both towns."""
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "p.csv").write_bytes(raw)
    text = DATASET.format(dialect=dialect, encoding=encoding)
    with confide.open(text, folder=folder) as ws:
        found = ws.release(ws.plan(*ASKED, epsilon="300")).estimates
    told = [round(each.value) for each in found]
    return tuple(told[:2]), tuple(told[2:4]), tuple(told[-2:])


def lines(*rows, by=","):
    return "\n".join([by.join(["pid", "v", "d", "town"]), *rows]) + "\n"


GERMAN = lines(
    "1;2,5;31.01.2020;Köln",
    "2; 7,0 ;1.2.2021 12:00;Ulm",
    "3;6.5;2020-01-01;Ulm",
    '4;"8";31.02.2020;"Köln"',
    "5;1,2,3;31/01/2020;köln",
    "6;;;",
    by=";",
)
DIALECT = 'dialect: {separator: ";", decimal: ",", dates: DD.MM.YYYY}'
READ = {
    "semicolons and commas": (GERMAN, DIALECT, (1, 2), (1, 1), (2, 2)),
    "a form more": (
        GERMAN,
        'dialect: {separator: ";", decimal: ",", dates: [DD.MM.YYYY, YYYY-MM-DD]}',
        (1, 2),
        (2, 1),
        (2, 2),
    ),
    "a point": (GERMAN, 'dialect: {separator: ";"}', (0, 2), (1, 0), (2, 2)),
    "groups of points": (
        lines("1;0.008,5;1;Ulm", "2;1.5;1;Ulm", "3;0.003;1;Ulm", "4;00.07;1;Ulm", by=";"),
        'dialect: {separator: ";", decimal: ",", thousands: "."}',
        (1, 1),
        (0, 0),
        (0, 4),
    ),
    "groups of commas": (
        lines("1|0,008.5|1|Ulm", "2|1,5|1|Ulm", "3|2|1|Ulm", by="|"),
        'dialect: {separator: bar, thousands: ","}',
        (1, 1),
        (0, 0),
        (0, 3),
    ),
    "groups of spaces and tabs": (
        lines("1\t0\u202f008\t1\tUlm", "2\t0 003\t1\tUlm", "3\t0\u00a007\t1\tUlm", by="\t"),
        "dialect: {separator: tab, thousands: space}",
        (1, 1),
        (0, 0),
        (0, 3),
    ),
    "apostrophes": (
        lines("1,0'008,1,Ulm", "2,0\u2019003,1,Ulm", "3,0 003,1,Ulm"),
        "dialect: {thousands: apostrophe}",
        (1, 1),
        (0, 0),
        (0, 3),
    ),
    "dates in letters, digits and days": (
        lines(
            "1,1,31-JAN-2020,Ulm",
            "2,1,1-Mär-2021,Ulm",
            "3,1,20210131,Ulm",
            "4,1,43831,Ulm",
            "5,1,44197.5,Ulm",
            "6,1,31-FOO-2020,Ulm",
            "7,1,2020-01-01,Ulm",
            "8,1,999999,Ulm",
        ),
        "dialect: {dates: [DD-MON-YYYY, YYYYMMDD, EXCEL]}",
        (8, 0),
        (2, 3),
        (0, 8),
    ),
    "American": (
        lines("1,1,01/31/2020,Ulm", "2,1,31/01/2020,Ulm", "3,1,12/1/2021 10:30,Ulm"),
        "dialect: {dates: MM/DD/YYYY}",
        (3, 0),
        (1, 1),
        (0, 3),
    ),
    "single quotes": (
        lines("1,'1',2020-01-01,'Ulm'", "2,'7',2020-01-01,'Köln'", '3,"7",2020-01-01,Ulm'),
        "dialect: {quote: single}",
        (1, 1),
        (3, 0),
        (1, 2),
    ),
    "no quotes": (
        lines("1,1,2020-01-01,Ulm", '2,",2020-01-01,Ulm', "3,7,2020-01-01,Köln"),
        "dialect: {quote: none}",
        (1, 1),
        (3, 0),
        (1, 2),
    ),
}


@pytest.mark.parametrize("name", READ)
def test_a_dialect_is_read_cell_by_cell(name, tmp_path):
    text, dialect, *expected = READ[name]
    assert list(counts(tmp_path, text.encode(), dialect=dialect)) == expected


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_an_encoding_of_a_dialect_moves_no_cell(encoding, tmp_path):
    raw = GERMAN.encode(encoding)
    raw = b"\xfe\xff" + raw if encoding == "utf-16-be" else raw
    declared = "latin-1" if encoding == "latin-1" else "utf-16"
    assert counts(tmp_path, raw, dialect=DIALECT, encoding=declared) == ((1, 2), (1, 1), (2, 2))


def test_half_of_a_character_of_utf_16_is_its_own_cells_alone(tmp_path):
    """A unit that begins a pair and stands before a separator takes nothing of the next cell."""
    rows = lines("1;2,5;31.01.2020;\ud83d", "2;7,0;1.2.2021;Ulm", "\udc00;8,0;1.2.2021;Ulm", by=";")
    raw = rows.encode("utf-16", errors="surrogatepass")
    assert counts(tmp_path, raw, dialect=DIALECT, encoding="utf-16") == ((1, 1), (1, 1), (0, 1))


def test_chunks_of_any_length_decode_utf_16_alike(tmp_path, monkeypatch):
    for length in (1, 3, 7):
        monkeypatch.setattr(text_files, "CHUNK", length)
        (tmp_path / str(length)).mkdir()
        found = counts(
            tmp_path / str(length), GERMAN.encode("utf-16"), dialect=DIALECT, encoding="utf-16"
        )
        assert found == ((1, 2), (1, 1), (2, 2))


@pytest.mark.parametrize(
    ("dialect", "told"),
    [
        ("dates: [DD/MM/YYYY, MM/DD/YYYY]", "look alike"),
        ("dates: DD.MM.YY", "no form of a date.*two digits"),
        ("dates: DD.MM", "no form of a date"),
        ("dates: DDMMYYYYx", "no form of a date"),
        ('decimal: ",", thousands: ","', "the same sign"),
        ('separator: "~"', "separator"),
    ],
)
def test_a_dialect_that_reads_one_text_in_two_ways_is_refused(dialect, told, tmp_path):
    text = DATASET.format(dialect=f"dialect: {{{dialect}}}", encoding="utf-8")
    with pytest.raises(ContractError, match=told):
        confide.open(text, folder=tmp_path)


def test_a_source_that_is_no_text_has_no_dialect(tmp_path):
    text = DATASET.format(dialect=DIALECT, encoding="utf-8").replace("kind: csv", "kind: parquet")
    with pytest.raises(ContractError, match="only CSV files have a dialect"):
        confide.open(text, folder=tmp_path)


def test_a_table_without_a_dialect_is_written_as_before():
    """So that no digest of a plan changes."""
    assert "dialect" not in encode(Table(name="t", source="t", columns=()))
    assert "dialect" not in encode(Table(name="t", source="t", columns=(), dialect=AS_USUAL))


@pytest.mark.mutant
def test_a_reader_that_passes_over_the_dialect_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_otherwise", lambda *_, **__: ({}, {}, []))
    assert counts(tmp_path, GERMAN.encode(), dialect=DIALECT) != ((1, 2), (1, 1), (2, 2))
