"""Every YAML and Python block of the documentation is read and run, page by page."""

from pathlib import Path

import pytest

from cohort import write_cohort
from pages import DOCS, PAGES, blocks, name_of

SHARED = DOCS / "tutorials" / "first-release.md"  # its dataset.yaml stands on other pages too
WITH_CODE = [page for page in PAGES if any(b.language == "python" for b in blocks(page))]
NEEDS = {
    "docs/how-to/audit-a-model.md": ("dp_accounting",),
    "docs/how-to/deep-models.md": ("opacus",),
    "docs/how-to/pate.md": ("sklearn",),
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
def test_the_code_of_the_page_runs(page: Path, workplace: Path):
    assert Path.cwd() == workplace
    code = "\n".join(b.text for b in blocks(page) if b.language == "python")
    named = tuple(name for name in ("pandas", "polars") if f"import {name}" in code)
    for library in (*NEEDS.get(name_of(page), ()), *named):
        pytest.importorskip(library, reason="its extra is not installed")
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        if block.title:
            Path(block.title).write_text(block.text, "utf-8")
        if block.language == "python":
            lines = "\n" * (block.line - 1) + block.text  # so that a trace points into the page
            exec(compile(lines, str(page), "exec"), names)  # noqa: S102


@pytest.mark.parametrize("page", WITH_FILES, ids=name_of)
def test_the_files_of_the_page_can_be_read_and_planned(page: Path, workplace: Path):
    from confide.files.dataset import read_dataset
    from confide.files.legal import read_legal
    from confide.files.policy import read_policy
    from confide.files.study import read_study

    titled = [block for block in blocks(page) if block.title]
    for block in titled:
        Path(block.title).write_text(block.text, "utf-8")
    for block in titled:
        if block.title.startswith("dataset"):
            assert read_dataset(Path(block.title)).dataset.tables
        if block.title.startswith("legal"):
            assert read_legal(Path(block.title)).sites
        if block.title.startswith("study"):
            assert read_study(Path(block.title)).plan().measurements
        if block.title.startswith("policy"):
            assert read_policy(Path(block.title)).caps
