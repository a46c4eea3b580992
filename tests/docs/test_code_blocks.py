"""Pages of the documentation are walked: each file is written, each command run, in their order."""

import ast
import re
from pathlib import Path

import pytest

from cohort import write_cohort
from page_walk import walk
from pages import DOCS, PAGES, blocks, name_of

SHARED = DOCS / "tutorials" / "first-release.md"  # its dataset.yaml stands on other pages too
HELP = DOCS / "reference" / "cli.md"  # what the commands say of themselves: generated
COMMANDS = {"sh", "console"}
RUN = {"python", *COMMANDS}
LONG = {"docs/how-to/audit-a-model.md", "docs/how-to/write-legal-documents.md"}
"""Pages that run an audit: they are walked in the long suite."""
ELSEWHERE = {
    "docs/how-to/flower.md",
    "docs/how-to/postgres-ledger.md",
    "docs/tutorials/omop-on-postgresql.md",
    "docs/tutorials/spark.md",
}
"""Pages that need a server or Java: see test_*postgres_page.py, test_spark_secrets.py, and the
deployment on Flower, which takes the same steps."""
WITH_CODE = [
    pytest.param(page, marks=pytest.mark.audit if name_of(page) in LONG else ())
    for page in PAGES
    if any(b.language in RUN for b in blocks(page)) and name_of(page) not in ELSEWHERE
]
NEEDS = {
    "docs/how-to/compare-and-export.md": ("docx",),
    "docs/how-to/audit-a-model.md": ("dp_accounting",),
    "docs/how-to/deep-models.md": ("opacus",),
    "docs/how-to/cohorts-of-atlas.md": ("duckcdm",),
    "docs/how-to/link-two-tables.md": ("splink",),
    "docs/how-to/deep-synthesis.md": ("torch", "safetensors"),
    "docs/how-to/pate.md": ("sklearn",),
    "docs/how-to/excel-and-statistics-files.md": ("pandas", "pyreadstat"),
}
"""Libraries beyond those that are always there and those that the code of a page names."""
WITH_FILES = [page for page in PAGES if any(b.language == "yaml" and b.title for b in blocks(page))]


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cohort")
    write_cohort(folder)
    return folder


@pytest.fixture
def workplace(cohort, tmp_path, monkeypatch):
    for file in cohort.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    for block in blocks(SHARED):
        if block.title == "dataset.yaml":
            (tmp_path / block.title).write_text(block.text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_the_page_is_walked_from_top_to_bottom(page: Path, workplace: Path):
    """Files are written, Python and commands run, in the order of the page, in one folder."""
    assert Path.cwd() == workplace
    code = "\n".join(b.text for b in blocks(page) if b.language == "python")
    said = ("import {}", "to_{}(")
    named = tuple(n for n in ("pandas", "polars") if any(each.format(n) in code for each in said))
    for library in (*NEEDS.get(name_of(page), ()), *named):
        pytest.importorskip(library, reason="its extra is not installed")
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        if block.title:
            Path(block.title).parent.mkdir(exist_ok=True)
            Path(block.title).write_text(block.text, "utf-8")
        if block.language == "python":
            lines = "\n" * (block.line - 1) + block.text  # so that a trace points into the page
            exec(compile(lines, str(page), "exec"), names)  # noqa: S102
        if block.language in COMMANDS:
            walk(block, page=page)


def test_commands_stand_in_blocks_that_are_run():
    """A command of this product in a block of another language would be read, and never run."""
    hidden = [
        (name_of(page), block.line)
        for page in PAGES
        if page != HELP
        for block in blocks(page)
        if block.language not in {*COMMANDS, "python", "yaml"}
        and re.search(r"^(\$ )?confide ", block.text, re.MULTILINE)
    ]
    assert hidden == []


@pytest.mark.parametrize("page", WITH_FILES, ids=name_of)
def test_the_files_of_the_page_can_be_read_and_planned(page: Path, workplace: Path):
    from confide.files.dataset import read_dataset
    from confide.files.legal import read_legal
    from confide.files.linkage.linkage import read_linkage_file
    from confide.files.policy.policy import read_policy
    from confide.files.study import read_study
    from confide.files.synth.synth import read_synth

    titled = [block for block in blocks(page) if block.title]
    for block in titled:
        Path(block.title).parent.mkdir(exist_ok=True)
        Path(block.title).write_text(block.text, "utf-8")
    for path in (Path(block.title) for block in titled):
        if path.name.startswith("dataset"):
            assert read_dataset(path).dataset.tables
        if path.name.startswith("legal"):
            assert read_legal(path).sites
        if path.name.startswith("study"):
            assert read_study(path).plan().measurements
        if path.name.startswith("synth"):
            found = read_synth(path)
            assert found.job.events(found.declared.dataset)
        if path.name.startswith("linkage"):
            asked = read_linkage_file(path)
            assert asked.job.events(asked.declared.dataset)
        if path.name.startswith("policy"):
            assert read_policy(path).caps


def imported(text: str) -> list[tuple[str, str]]:
    """Module and name of what a text of Python imports from Confide."""
    return [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("confide")
        for alias in node.names
    ]


@pytest.mark.parametrize("page", sorted(LONG))
def test_every_name_that_a_long_page_imports_is_there(page):
    """Such a page is walked in the long suite alone; a name that is gone is found at once."""
    path = next(each for each in PAGES if name_of(each) == page)
    code = [block.text for block in blocks(path) if block.language == "python"]
    for module, name in (each for text in code for each in imported(text)):
        assert hasattr(pytest.importorskip(module), name), f"{module}.{name}"
