"""The page about ledgers in PostgreSQL is walked against a server, its administrator first."""

import os
import re
import subprocess
from pathlib import Path

import pytest

import confide
from cohort import write_cohort
from confide.budget.ledger import Scope
from page_walk import ran, walk
from pages import DOCS, Block, blocks
from postgres_server import server

PAGE = DOCS / "how-to" / "postgres-ledger.md"
FIRST = DOCS / "tutorials" / "first-release.md"
ROLES = ("confide_owner", "confide_writer")


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A study of a cohort, and PostgreSQL's programs, whose user is the administrator."""
    home, programs = server().home, server().programs
    write_cohort(tmp_path)
    for block in blocks(FIRST):
        if block.title:
            (tmp_path / block.title).write_text(block.text, "utf-8")
    for name, value in (("PGHOST", str(home)), ("PGUSER", "postgres")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", os.pathsep.join([str(programs), os.environ["PATH"]]))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    monkeypatch.setenv("PGUSER", "postgres")
    for words in (["dropdb", "--if-exists", "privacy"], *(["dropuser", role] for role in ROLES)):
        subprocess.run([programs / words[0], *words[1:]], check=True)


def declared_in_postgres(text: str) -> str:
    """Return the page's declaration, over the server that this process has."""
    home = server().home
    here = re.sub(
        r"//db\.hospital\.example/(\w+)\?sslmode=verify-full", rf"///\1?host={home}", text
    )
    assert here != text
    return here


def step(block: Block) -> None:
    """Do what a block says."""
    if block.language == "yaml":
        with Path("dataset.yaml").open("a", encoding="utf-8") as declared:
            declared.write(declared_in_postgres(block.text))
    if block.language == "sh":
        walk(block, page=PAGE)


def used() -> dict[Scope, int]:
    with confide.open("dataset.yaml") as workspace:
        return {use.scope: use.used for use in workspace.spent().scopes}


def test_the_page_is_walked_and_what_was_spent_in_sqlite_stays_spent(workplace, monkeypatch):
    with confide.open("dataset.yaml") as workspace:
        costs = workspace.study("study.yaml").plan().amount.nano
        other = {"id": "n", "kind": "count", "table": "participants"}
        workspace.release(workspace.plan(other, epsilon="0.5"), request="before")
    before = used()
    for block in blocks(PAGE):
        step(block)
    monkeypatch.setenv("PGUSER", "confide_writer")
    after = used()
    assert before[Scope.LIFETIME] > 0
    assert after[Scope.LIFETIME] == before[Scope.LIFETIME] + costs
    assert (workplace / "results" / "certificate.json").is_file()


def test_a_ledger_in_postgresql_begins_when_its_owner_plans_a_study(workplace):
    for block in blocks(PAGE):
        if "moved" in block.text:  # into which nothing was backed up
            continue
        if "grants" in block.text:
            ran("PGUSER=confide_owner confide plan study.yaml", page=PAGE, line=block.line)
        step(block)
    assert (workplace / "results" / "certificate.json").is_file()
