"""A file that is no UTF-8 is read from a copy that is, cell by cell, and nobody can tell."""

import codecs
import gzip
import os
import random
import re
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

import confide
from confide.errors import ContractError, EngineError, ReleaseFailedError
from confide.rows.sources import text_files
from confide.rows.sources.delimited import csv_scan
from confide.rows.sources.fingerprint import SourceState
from confide.rows.sources.opened import Opened
from confide.rows.sources.text_files import TextFiles
from confide.tables.encoding import Encoding
from confide.tables.schema import Table

PIECES = [
    b",", b'"', b"\n", b"\r\n", b"\t", b"a", b"12", b"\0", b"\x7f",
    "é".encode(), "€".encode(), "😀".encode(), "\ufffd".encode(), "\ufeff".encode(),
    "\u2028\u0085".encode(), b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\x80", b"\xff", b"\xfc",
    b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x28\xa1",
]  # fmt: skip
SPECIAL = b',"\n\r\t'
HEAD = b"pid,note\n"


OF_BYTES = [each for each in Encoding if each is not Encoding.UTF_16]
"""Those in which an ASCII byte is itself; of units of two bytes see test_dialects.py."""


def read(folder, raw, *, encoding=Encoding.UTF_8, name="t.csv"):
    """Return the bytes that the engine reads of a file, and where they stand."""
    folder.mkdir()
    file, names = folder / name, folder / "names"
    names.mkdir()
    file.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    texts = TextFiles(names, state=SourceState.of((file,)))
    table = Table(name="t", source=name, columns=(), encoding=encoding)
    opened = texts.linked(Opened(scans={"t": csv_scan((file,), table=table, declared={"pid"})}))
    texts.settle(opened.relations["t"].sql("confideduckdb"))
    (link,) = names.iterdir()
    content = link.read_bytes()
    return (gzip.decompress(content) if name.endswith(".gz") else content), link


def alone(raw, *, encoding):
    """Return a file whose runs of other bytes than ASCII are decoded each by itself."""
    runs = re.findall(rb"[\x00-\x7f]+|[\x80-\xff]+", raw)
    return b"".join(run.decode(encoding.value, errors="replace").encode() for run in runs)


def drawn(rng):
    return HEAD + b"".join(rng.choices(PIECES, k=rng.randint(1, 30)))


def disturbing(folder, encoding, *, chunk, monkeypatch, files=60):
    """Return drawn files in which bytes of one cell decide what stands in another."""
    monkeypatch.setattr(text_files, "CHUNK", chunk)
    rng, found = random.Random(chunk), []
    for number in range(files):
        raw = drawn(rng)
        content, _ = read(folder / f"{chunk}-{number}", raw, encoding=encoding)
        if content != alone(raw, encoding=encoding):
            found.append(raw)
    return found


@pytest.mark.parametrize("chunk", [1, 3, 4096])
@pytest.mark.parametrize("encoding", OF_BYTES)
def test_what_lies_between_two_ascii_bytes_is_decoded_alone_wherever_chunks_end(
    encoding, chunk, tmp_path, monkeypatch
):
    assert disturbing(tmp_path, encoding, chunk=chunk, monkeypatch=monkeypatch) == []


@pytest.mark.parametrize("encoding", OF_BYTES)
def test_an_ascii_byte_is_itself_after_every_beginning_of_a_character(encoding):
    """Each byte, pair and a few longer beginnings, before each of what ends cells and rows."""
    begun = [bytes([one]) for one in range(128, 256)]
    begun += [bytes([one, two]) for one in range(192, 256) for two in range(128, 256)]
    begun += [b"\xf0\x9f\x98", b"\xf4\x8f\xbf", b"\xf1\x80\x80"]
    for each in begun:
        for end in SPECIAL:
            text = (each + bytes([end]) + b"x").decode(encoding.value, errors="replace")
            assert text.endswith(chr(end) + "x")
            assert not set(text[:-2]) & set(map(chr, range(128)))


@pytest.mark.mutant
@pytest.mark.parametrize("chunk", [3, 4096])
def test_a_decoder_that_swallows_what_follows_a_broken_byte_is_seen(chunk, tmp_path, monkeypatch):
    def swallowing(error):
        return "\ufffd", min(error.end + 1, len(error.object))

    codecs.register_error("swallowing", swallowing)
    monkeypatch.setattr(text_files, "ERRORS", "swallowing")
    assert disturbing(tmp_path, Encoding.UTF_8, chunk=chunk, monkeypatch=monkeypatch)


@pytest.mark.mutant
def test_a_decoder_that_forgets_where_a_chunk_ended_is_seen(tmp_path, monkeypatch):
    class Forgetting:
        def __init__(self, errors="strict"):
            self.errors = errors

        def decode(self, raw, **_):
            return raw.decode("utf-8", self.errors)

        def getstate(self):
            return b"", 0

    monkeypatch.setattr(text_files.codecs, "getincrementaldecoder", lambda _: Forgetting)
    assert disturbing(tmp_path, Encoding.UTF_8, chunk=3, monkeypatch=monkeypatch)


def test_a_file_that_is_utf8_is_read_itself_and_any_other_from_a_private_copy(tmp_path):
    for name, raw, copied in (
        ("ascii", HEAD + b"1,a\n", False),
        ("utf8", HEAD + "1,é\n".encode(), False),
        ("latin", HEAD + b"1,\xe9\n", True),
        ("cut off", HEAD + b"1,\xe2\x82", True),
    ):
        _, link = read(tmp_path / name, raw)
        assert link.is_symlink() is not copied
        if copied:
            assert stat.S_IMODE(link.stat().st_mode) == 0o600
            assert link.stat().st_uid == os.geteuid()
    ascii_in_latin = read(tmp_path / "declared", HEAD + b"1,a\n", encoding=Encoding.LATIN_1)
    assert ascii_in_latin[1].is_symlink()


def test_a_compressed_file_is_copied_compressed(tmp_path):
    content, link = read(tmp_path / "packed", HEAD + b"1,\xe9\n", name="t.csv.gz")
    assert content == HEAD + "1,\ufffd\n".encode()
    assert not link.is_symlink()


def test_a_copy_of_a_file_that_changed_since_it_was_opened_is_made_again(tmp_path):
    file, names = tmp_path / "t.csv", tmp_path / "names"
    names.mkdir()
    file.write_bytes(HEAD + b"1,\xe9\n")
    texts = TextFiles(names, state=SourceState.of((file,)))
    table = Table(name="t", source="t", columns=())
    opened = texts.linked(Opened(scans={"t": csv_scan((file,), table=table, declared={"pid"})}))
    sql = opened.relations["t"].sql("confideduckdb")
    for content in (b"2,\xe9\xe9\n", b"3,\xe9\xe9\xe9\n", b"4,ee\n"):
        file.write_bytes(HEAD + content)
        (link,) = names.iterdir()
        link.with_suffix(".part").write_bytes(b"of a process that ended")
        texts.settle(sql)
        assert list(names.iterdir()) == [link]
        assert link.read_bytes()[len(HEAD) :][:1] == content[:1]


DATASET = """
dataset: {id: lab, lineage: lab, snapshot: "1"}
source: {kind: csv, path: data}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 100000}}
tables:
  p:
    from: NAME
    rows-per-patient: 1
    columns:
      town: {categories: [Ulm, Bonn], other: Bonn}
"""
ROWS = b"".join(b"%d,Ulm\n" % place for place in range(30))
COUNT = {"id": "n", "kind": "count", "table": "p"}


def clinic(folder, raw, *, name="p.csv"):
    (folder / "data").mkdir(parents=True)
    (folder / "data" / name).write_bytes(raw)
    (folder / "dataset.yaml").write_text(DATASET.replace("NAME", name))
    return folder / "dataset.yaml"


def spilled(engine):
    return [each for each in engine._spill.path.iterdir() if each.name.startswith("text")]


def test_no_copy_is_made_before_the_charge_and_none_is_left(tmp_path):
    path = clinic(tmp_path, b"pid,town\n" + ROWS + b"99,K\xf6ln\n")
    with confide.open(path) as workspace:
        plan = workspace.plan(COUNT, epsilon="600")
        workspace.explain(plan)
        engine = workspace.engine()
        (before,) = spilled(engine)
        assert before.is_symlink()
        release = workspace.release(plan)
        (after,) = spilled(workspace.engine())
        assert not after.is_symlink()
        assert round(release.of("n")[0].value) == 31
        assert workspace.engine() is engine
    assert not after.parent.exists()


def test_nothing_that_is_published_or_planned_tells_of_a_copy(tmp_path):
    """A file with a broken byte, and the same without: all but noise, ids, times and keys is equal."""
    told = []
    for name, town in (("whole", b"Trier"), ("broken", b"K\xf6ln")):
        path = clinic(tmp_path / name, b"pid,town\n" + ROWS + b"99," + town + b"\n")
        with confide.open(path) as workspace:
            plan = workspace.plan(COUNT, epsilon="600")
            release = workspace.release(plan)
            told.append(
                (
                    plan.digest(),
                    workspace.explain(plan),
                    workspace.forecast(plan)["n"],
                    sorted(release.certificate),
                    release.certificate["mechanisms"],
                    release.certificate["guarantee"],
                    release.certificate["hazards"],
                )
            )
    assert told[0] == told[1]


def test_a_damaged_id_is_nobody_also_in_a_file_that_is_utf8(tmp_path):
    """Else one patient's broken byte would decide whether somebody else's honest U+FFFD counts."""
    honest = "J\ufffdrg,Ulm\n".encode()
    for name, last in (("alone", b""), ("beside", b"J\xf6rg,Ulm\nK\xf6,Ulm\n")):
        path = clinic(tmp_path / name, b"pid,town\n" + ROWS + honest + last)
        with confide.open(path) as workspace:
            release = workspace.release(workspace.plan(COUNT, epsilon="600"))
            assert round(release.of("n")[0].value) == 30


def test_the_engine_reads_every_row_of_what_counts_as_utf8(tmp_path):
    """One row for every character at the ends of a range, which two decoders might see otherwise."""
    ends = {
        0x80,
        0x85,
        0x7FF,
        0x800,
        0xD7FF,
        0xE000,
        0xFEFF,
        0xFFFD,
        0xFFFE,
        0xFFFF,
        0x10000,
        0x10FFFF,
    }
    ends |= set(range(0x80, 0x3000, 61)) | set(range(0x10000, 0x110000, 40_009))
    rows = "".join(f"{100 + place},{chr(code)}\n" for place, code in enumerate(sorted(ends)))
    path = clinic(tmp_path, b"pid,town\n" + rows.encode())
    with confide.open(path) as workspace:
        release = workspace.release(workspace.plan(COUNT, epsilon="600"))
        assert round(release.of("n")[0].value) == len(ends)


def test_a_mark_of_byte_order_stands_before_the_names_of_a_copy_too(tmp_path):
    path = clinic(tmp_path, b"\xef\xbb\xbfpid,town\n" + ROWS + b"99,K\xf6ln\n")
    with confide.open(path) as workspace:
        release = workspace.release(workspace.plan(COUNT, epsilon="600"))
        assert round(release.of("n")[0].value) == 31
    declared = path.read_text().replace("from: p.csv", "from: p.csv\n    encoding: latin-1")
    path.write_text(declared)
    with confide.open(path) as workspace:
        plan = workspace.plan(COUNT, epsilon="600")
        with pytest.raises(ContractError, match=r"begins with the mark of UTF-8.*Leave `encoding"):
            workspace.release(plan)


def test_a_temporary_folder_whose_name_is_a_pattern_is_refused_before_the_charge(
    tmp_path, monkeypatch
):
    (tmp_path / "a[b").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "a[b"))
    path = clinic(tmp_path / "here", b"pid,town\n" + ROWS)
    with confide.open(path) as workspace:
        plan = workspace.plan(COUNT, epsilon="600")
        with pytest.raises(ContractError, match=r"temporary folder.*TMPDIR"):
            workspace.release(plan)
        assert all(use.used == 0 for use in workspace.spent().scopes)


@pytest.mark.parametrize("fault", ["gone", "cut off"])
def test_a_file_that_cannot_be_read_fails_as_reading_does_after_the_charge(fault, tmp_path):
    packed = gzip.compress(b"pid,town\n" + ROWS * 500 + b"99,K\xf6ln\n")
    path = clinic(tmp_path, packed, name="p.csv.gz")
    file = tmp_path / "data" / "p.csv.gz"
    if fault == "cut off":
        file.write_bytes(packed[:-20])
    with confide.open(path) as workspace:
        plan = workspace.plan(COUNT, epsilon="600")
        engine = workspace.engine()
        if fault == "gone":
            file.unlink()
            with pytest.raises(EngineError) as told:
                engine.run(engine.scope.layout.tables["p"].relation)
        else:
            with pytest.raises(ReleaseFailedError) as told:
                workspace.release(plan)
    assert told.value.__cause__ is None
    assert told.value.__context__ is None


def test_two_threads_that_read_a_file_first_make_one_copy(tmp_path):
    file, names = tmp_path / "t.csv", tmp_path / "names"
    names.mkdir()
    file.write_bytes(HEAD + b"1,\xe9\n" * 200_000)
    table = Table(name="t", source="t", columns=())
    for number in range(3):
        folder = names / str(number)
        folder.mkdir()
        texts = TextFiles(folder, state=SourceState.of((file,)))
        scan = csv_scan((file,), table=table, declared={"pid"})
        sql = texts.linked(Opened(scans={"t": scan})).relations["t"].sql("confideduckdb")
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(texts.settle, [sql] * 4))
        (link,) = folder.iterdir()
        assert link.read_bytes() == HEAD + "1,\ufffd\n".encode() * 200_000
