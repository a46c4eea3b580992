"""The tutorial of OMOP on PostgreSQL is walked against a server, its administrator first."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from page_walk import walk
from pages import DOCS, blocks
from postgres_server import server

PAGE = DOCS / "tutorials" / "omop-on-postgresql.md"


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """An empty folder, and PostgreSQL's programs, whose user is the administrator."""
    home, programs = server().home, server().programs
    for name, value in (("PGHOST", str(home)), ("PGUSER", "postgres")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", os.pathsep.join([str(programs), os.environ["PATH"]]))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    monkeypatch.setenv("PGUSER", "postgres")
    for words in (
        ["dropdb", "--if-exists", "--force", "warehouse"],
        ["dropuser", "confide_reader"],
    ):
        subprocess.run([programs / words[0], *words[1:]], check=True)


def test_the_tutorial_of_omop_on_postgresql_is_walked_from_top_to_bottom(workplace):
    there = rf"///\1?host={server().home}"
    for block in blocks(PAGE):
        if block.title:
            text = re.sub(r"//db\.hospital\.example/(\w+)\?sslmode=verify-full", there, block.text)
            Path(block.title).write_text(text, "utf-8")
        if block.language == "sh":
            walk(block, page=PAGE)
    assert (workplace / "results" / "certificate.json").is_file()
    kept = [*workplace.rglob("*.json"), *workplace.rglob("*.html"), *workplace.rglob("*.jsonl")]
    assert kept
    assert not [path for path in kept if str(server().home) in path.read_text("utf-8")]
