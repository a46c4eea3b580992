"""A cell of a CSV file that is longer than the engine can pass over costs its own row alone."""

import csv
import random

import pytest

import confide
from confide.rows.sources import long_cells
from confide.rows.sources.header import LONGEST_LINE
from confide.rows.sources.long_cells import QuotedCells

DATASET = """
dataset: {id: d, lineage: d, snapshot: "1"}
source: {kind: csv, path: data}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 100000}}
tables:
  t: {from: t.csv, rows-per-patient: 1, columns: {x: {categories: [yes, no]}}}
"""
COUNT = {"id": "n", "kind": "count", "where": {"x": ["yes"]}}
OTHERS = 200


def _counted(folder, *, note):
    (folder / "data").mkdir(parents=True)
    (folder / "dataset.yaml").write_text(DATASET)
    with (folder / "data" / "t.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["pid", "x", "note"])
        rows.writerows([i, "yes", "a"] for i in range(OTHERS // 2))
        rows.writerow(["odd", "yes", note])
        rows.writerows([i, "yes", "a"] for i in range(OTHERS // 2, OTHERS))
    with confide.open(folder / "dataset.yaml") as workspace:
        release = workspace.release(workspace.plan(COUNT, epsilon="600"))
        return round(release.of("n")[0].value)


@pytest.mark.parametrize("piece", ["y\n", 'y"', "odd,yes,\n"])
def test_a_cell_over_three_buffers_of_the_engine_costs_its_own_row_alone(piece, tmp_path):
    three_buffers = 2 * 16 * LONGEST_LINE + LONGEST_LINE
    note = piece * (three_buffers // len(piece))
    assert _counted(tmp_path, note=note) == OTHERS


def test_a_cell_of_many_lines_that_fits_a_row_is_kept(tmp_path):
    assert _counted(tmp_path, note="y\n" * 300_000) == OTHERS + 1


@pytest.mark.mutant
def test_a_reader_that_leaves_long_cells_as_they_are_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(QuotedCells, "shortened", lambda _, chunk: chunk)
    assert _counted(tmp_path, note="y\n" * 2**25) < OTHERS


def _cells(octets, separator):
    """Return where quoted cells lie, byte by byte, and the state in which they leave the reader."""
    state, begin, found = "between", 0, []
    for place, octet in enumerate(octets):
        quote, end = octet == ord('"'), chr(octet) in f"{separator}\n\r"
        before, blank = state, octet == ord(" ")
        match before:
            case "between":
                state = "open" if quote else before if end else "blank" if blank else "plain"
            case "blank":
                state = "open" if quote else "between" if end else "plain"
            case "plain":
                state = "between" if end else before
            case "open":
                state = "closed" if quote else before
            case "closed":
                state = "open" if quote else "between" if end else before
        if state == "open" and before in {"between", "blank"}:
            begin = place
        if before == "closed" and state == "between":
            found.append((begin, place))
    if state in {"open", "closed"}:
        found.append((begin, len(octets)))
    return found, state


def _around(octets, cells):
    ends = [0, *(place for cell in cells for place in cell), len(octets)]
    return [octets[first:last] for first, last in zip(ends[::2], ends[1::2], strict=True)]


def _drawn(draw):
    signs = b'",\n\ra \t'
    weights = [draw.choice([1, 4, 8]), 1, 1, 1, 3, 1, 1]
    return bytes(draw.choices(signs, weights, k=draw.randrange(60)))


@pytest.mark.parametrize("separator", [",", "\t"])
def test_of_whatever_bytes_in_whatever_chunks_long_cells_alone_are_cut(separator, monkeypatch):
    draw = random.Random(5)
    for _ in range(5000):
        longest = draw.choice([3, 6, 20, 100])
        monkeypatch.setattr(long_cells, "LONGEST_CELL", longest)
        octets, kept, place = _drawn(draw), b"", 0
        cells, most = QuotedCells(separator), draw.choice([2, 4, 30])
        while place < len(octets):
            chunk = octets[place : place + draw.randrange(1, most + 1)]
            kept += cells.shortened(chunk)
            place += len(chunk)
        (whole, _), (left, _) = _cells(octets, separator), _cells(kept, separator)
        assert cells.cut or kept == octets
        assert _around(kept, left) == _around(octets, whole)
        for (first, last), (start, end) in zip(whole, left, strict=True):
            same = octets[first:last] == kept[start:end]
            assert same or longest < end - start <= longest + 2 * most + 1


def test_a_mark_of_byte_order_is_no_part_of_the_first_cell():
    cells = QuotedCells(",")
    first = b'\xef\xbb\xbf"a,' + b"x" * (2 * long_cells.LONGEST_CELL)
    assert cells.shortened(first) == first
    assert cells.shortened(b"x" * 9) == b""
    assert cells.shortened(b'x",b\n') == b'",b\n'


def cut(*chunks, monkeypatch):
    """What is kept of chunks where a cell may have eight bytes."""
    monkeypatch.setattr(long_cells, "LONGEST_CELL", 8)
    cells = QuotedCells(",")
    return [cells.shortened(chunk) for chunk in chunks]


def test_the_quote_that_closes_a_cell_after_a_separator_inside_it_opens_none(monkeypatch):
    closing = b'b,"\n1,yes\n'
    kept = [b'1,"a', closing, b"2,yes,long\n", b"3,yes,long\n", b"4,yes\n"]
    assert cut(*kept, monkeypatch=monkeypatch) == kept


def test_a_quote_inside_a_plain_cell_opens_none(monkeypatch):
    kept = [b"pid,note,\n", b'1,5" wide,x\n', b"2,yes,long\n", b"3,yes,long\n", b"4,yes\n"]
    assert cut(*kept, monkeypatch=monkeypatch) == kept
