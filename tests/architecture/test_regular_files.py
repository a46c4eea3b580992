"""Files are opened in one place, which refuses pipes and devices; and it does."""

import ast
import os
import socket

import pytest

from confide.errors import ContractError, NotAFileError
from confide.regular_file import descriptor, read_bytes, shared_folder, write_bytes
from pages import ROOT

SOURCE = ROOT / "src" / "confide"
HOME = SOURCE / "regular_file.py"
OPENS = {"read_text", "read_bytes", "write_text", "write_bytes", "open"}
LIBRARIES = {
    "connect",
    "copyfile",
    "copy",
    "copy2",
    "copytree",
    "fromfile",
    "memmap",
    "Reader",
    "File",
}
ELSEWHERE = {
    # what opens by name itself, after `require_regular` has looked at the name
    ("budget/stores/sqlite_store.py", "connect"),
    ("files/areas/shapes.py", "connect"),
    ("rows/cohort_definitions.py", "connect"),
    ("files/areas/shapes.py", "Reader"),
    # databases in memory, servers
    ("rows/engines/duckdb.py", "connect"),
    ("jobs/linkage/scoring.py", "connect"),
    ("budget/stores/postgres_session.py", "connect"),
    ("rows/engines/beside.py", "connect"),
    ("rows/engines/postgres_session.py", "connect"),
    # the null device, to take a closed or broken stream's place; __init__ exports confide.open
    ("cli/streams.py", "open"),
    ("release/quiet.py", "open"),  # or of one that libraries write to while rows are at hand
    # what the system says of a process of this host
    ("budget/stores/lease.py", "read_text"),
    # the package's own sources, for their digest
    ("release/certificate/software.py", "read_bytes"),
}
METHODS = {"copy"}  # of trees of SQL and of arrays, unless of shutil


def _opened(path):
    """Yield what a source file calls that opens files."""
    tree = ast.parse(path.read_text("utf-8"))
    own = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("confide.")
        for alias in node.names
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(id=name) if name in OPENS and name not in own:
                yield name, node.lineno
            case ast.Attribute(attr=name, value=ast.Name(id="shutil" | "np" | "numpy")) if (
                name in LIBRARIES
            ):
                yield name, node.lineno
            case ast.Attribute(attr=name) if name in OPENS | LIBRARIES - METHODS:
                yield name, node.lineno
            case _:
                pass


def _name(path):
    return path.relative_to(SOURCE).as_posix()


def test_every_room_opens_files_by_the_one_home_of_it():
    found = [
        f"{_name(path)}:{line} {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path != HOME
        for name, line in _opened(path)
        if (_name(path), name) not in ELSEWHERE
    ]
    assert not found, "use confide.regular_file"


def test_every_exception_of_the_rule_is_in_use():
    there = {(_name(path), name) for path in SOURCE.rglob("*.py") for name, _ in _opened(path)}
    assert there >= ELSEWHERE


@pytest.mark.parametrize(
    "text",
    ["open(p)", "p.read_text()", "p.open('rb')", "os.open(p, 0)", "gzip.open(p)", "io.open(p)"],
)
def test_the_rule_sees_every_way_to_open(text, tmp_path):
    (tmp_path / "a.py").write_text(text)
    assert list(_opened(tmp_path / "a.py"))


def pipe(path):
    os.mkfifo(path)


def bound(path):
    here = os.open(path.parent, os.O_RDONLY)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


KINDS = {
    "pipe": pipe,
    "socket": bound,
    "folder": lambda path: path.mkdir(),
    "zero": lambda path: path.symlink_to("/dev/zero"),
    "null": lambda path: path.symlink_to("/dev/null"),
    "terminal": lambda path: path.symlink_to("/dev/tty"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_neither_read_nor_written(kind, tmp_path):
    path = tmp_path / "dataset.yaml"
    KINDS[kind](path)
    for use in (read_bytes, lambda at: write_bytes(at, b"x")):
        with pytest.raises(NotAFileError, match="where a file is needed") as refused:
            use(path)
        assert isinstance(refused.value, ContractError)
        assert isinstance(refused.value, OSError)


def test_a_file_is_read_through_a_link_but_not_in_a_folder_that_others_write_to(tmp_path):
    (tmp_path / "data").write_bytes(b"x" * 10)
    (tmp_path / "link").symlink_to("data")
    assert read_bytes(tmp_path / "link", largest=10) == b"x" * 10
    with pytest.raises(NotAFileError, match="larger than"):
        read_bytes(tmp_path / "link", largest=9)
    with shared_folder(tmp_path) as folder, pytest.raises(NotAFileError, match="symbolic link"):
        descriptor(type(tmp_path)("link"), shared_folder=folder)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "there").symlink_to("elsewhere")
    with pytest.raises(OSError), shared_folder(tmp_path / "there"):
        pass


def test_a_file_that_states_no_size_is_bounded_all_the_same(tmp_path):
    (tmp_path / "x").symlink_to("/proc/self/maps")
    with pytest.raises(NotAFileError, match="larger than"):
        read_bytes(tmp_path / "x", largest=10)


def test_what_is_written_replaces_all_of_a_longer_file(tmp_path):
    path = tmp_path / "figure.svg"
    path.write_text("much longer than what follows")
    write_bytes(path, b"short")
    assert path.read_bytes() == b"short"
