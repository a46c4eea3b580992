"""Every file that the engine opens is refused as a public file, whatever leads to it.

The engine says which files it opens; whoever says which are private is asked about each of them, at
every place of dataset.yaml and of a study that takes labels or numbers from a file.
"""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.errors import ContractError
from confide.files.dataset import declare
from confide.files.study import read_study
from confide.files.yaml_text import parse_yaml
from confide.rows.engines.duckdb import open_engine
from rows_world import KEY

CELL = "zq7canary"
HEAD, ROWS = "person_id,ward,v", [f"{CELL}1,north,5", f"{CELL}2,south,7"]
DATASET = """\
dataset: {{id: d, lineage: d, snapshot: "1"}}
source: {{kind: {kind}, path: {path}{version}}}
protects: {{unit: patient, id: person_id, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 5}}}}
tables:
  visits:
    from: {of}
    columns:
      ward: {{categories: {categories}}}
      v: {{kind: number, lower: 0, upper: 10}}
{spines}
"""
STUDY = "study: {{id: s, purpose: test}}\nstatistics:\n  - {{id: r, {place}: {{file: {file!r}}}}}\n"
KINDS = ("csv", "parquet", "omop of csv", "omop of parquet")
PLACES = ("categories", "labels", "spine", "standard", "reference", "population")
FROM = {
    ".": "part-0{}",
    "./": "part-0{}",
    "visits": "visits{}",
    "./visits": "visits{}",
    "visits{}": "visits{}",
    "inner/visits": "inner/visits{}",
    "inner/visits{}": "inner/visits{}",
    "inner": "inner/part-0{}",
    "./inner/../inner/": "inner/part-0{}",
    "null": "visits{}",
    '""': "visits{}",
}
"""What a table may be called, and where its first file then is."""


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        columns = zip(*(row.split(",") for row in ROWS), strict=True)
        pq.write_table(pa.table(dict(zip(HEAD.split(","), columns, strict=True))), path)
        return
    text = "\n".join((HEAD, *ROWS)) + "\n"
    if ".tsv" in path.name:
        text = text.replace(",", "\t")
    raw = text.encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


def text_of(kind, of, *, path, categories="[north, south]", spines=""):
    version = ', version: "5.4"' if kind.startswith("omop") else ""
    return DATASET.format(
        kind=kind.split(" ")[0],
        path=path,
        version=version,
        of=of,
        categories=categories,
        spines=spines,
    )


def declared(text, base):
    return declare(parse_yaml(text, name="dataset.yaml"), path=base / "dataset.yaml")


def opened(kind, of, *, base, path):
    """Return the files that the engine opens; none where it finds no table."""
    site = declared(text_of(kind, of, path=path), base)
    try:
        engine = open_engine(site.source, base=base, dataset=site.dataset, hash_key=KEY)
    except ContractError:
        return ()
    with engine:
        assert not engine.state.files or not engine.problems()
        return engine.state.files


def public(place, file, *, kind, of, base, path):
    """Return what is told when a file is named at a place; empty if it was read."""
    try:
        if place in {"categories", "labels"}:
            column = ", column: ward" if place == "labels" else ""
            named = f"{{file: {str(file)!r}{column}}}"
            declared(text_of(kind, of, path=path, categories=named), base)
        elif place == "spine":
            spines = f"spines:\n  area: {{levels: [ward], file: {str(file)!r}}}"
            declared(text_of(kind, of, path=path, spines=spines), base)
        else:
            (base / "study.yaml").write_text(STUDY.format(place=place, file=str(file)))
            read_study(base / "study.yaml", declared=declared(text_of(kind, of, path=path), base))
    except ContractError as refused:
        return str(refused)
    return ""


def readable(kind, folder, *, path):
    """Return the names and files that the engine opens, over every name that a table may have."""
    endings = (".parquet",) if "parquet" in kind else (".csv", ".tsv", ".csv.gz")
    found = 0
    for ending in endings:
        for number, (of, first) in enumerate(FROM.items()):
            base = folder / f"{ending.strip('.')}-{number}"
            base.mkdir()
            name = first.format(ending)
            write(base / path / name)
            if "part-0" in name:
                write(base / path / name.replace("part-0", "part-1"))
            if kind.startswith("omop") and of == "visits":  # names of the CDM ignore case
                (base / path / name).rename(base / path / name.upper())
            called = of.format(ending)
            for file in opened(kind, called, base=base, path=path):
                found += 1
                yield base, called, file
    assert found >= (2 if kind.startswith("omop") else len(FROM))


def let_through(kind, folder, *, path):
    for base, of, file in readable(kind, folder, path=path):
        for place in PLACES:
            told = public(place, file, kind=kind, of=of, base=base, path=path)
            assert CELL not in told
            if "it is not public" not in told:
                yield f"{of} → {file.relative_to(base)} as {place}"


@pytest.mark.parametrize("path", [".", "data"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_file_that_the_engine_opens_is_public(kind, path, tmp_path):
    assert list(let_through(kind, tmp_path, path=path)) == []


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_a_source_that_is_one_file_is_not_public(kind, tmp_path):
    file = tmp_path / f"visits.{kind}"
    if kind == "duckdb":
        import duckdb

        with duckdb.connect(str(file)) as made:
            made.execute("CREATE TABLE visits AS SELECT 'a' AS person_id, 'north' AS ward, 1 AS v")
    else:
        write(file)
    of = "visits" if kind == "duckdb" else file.name
    assert opened(kind, of, base=tmp_path, path=file.name) == (file,)
    for place in PLACES:
        told = public(place, file, kind=kind, of=of, base=tmp_path, path=file.name)
        assert "it is not public" in told, place


def test_what_tools_leave_behind_beside_the_parts_is_not_public(tmp_path):
    for name in ("part-0.csv", "_part-1.csv", ".part-2.csv"):
        write(tmp_path / name)
        for place in PLACES:
            told = public(place, tmp_path / name, kind="csv", of=".", base=tmp_path, path=".")
            assert "it is not public" in told, (name, place)


def test_a_public_file_beside_a_table_is_read(tmp_path):
    write(tmp_path / "visits.csv")
    areas = tmp_path / "areas.csv"
    areas.write_text("ward,county\nnorth,a\nsouth,a\n")
    assert public("labels", areas, kind="csv", of="visits", base=tmp_path, path=".") == ""


def test_nothing_is_public_where_nobody_can_tell_what_is_private(tmp_path):
    write(tmp_path / "visits.csv")
    named = f"{{file: {str(tmp_path / 'visits.csv')!r}, column: person_id}}"
    text = text_of("csv", ".", path=".", categories=named).replace("kind: csv", "kind: cvs")
    with pytest.raises(ContractError) as refused:
        declared(text, tmp_path)
    assert CELL not in str(refused.value)


@pytest.mark.mutant
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_private_files_that_are_guessed_again_are_seen(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("confide.files.public.private_places.table_files", lambda *_, **__: ())
    through = list(let_through(kind, tmp_path, path="."))
    assert any(each.startswith(". → part-0") for each in through)
