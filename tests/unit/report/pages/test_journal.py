"""Tables as journals take them: LaTeX that runs nothing of a label, and a Word document."""

import re

import pytest

from command_line import confide
from confide.report.pages.journal import latex_tables, latex_text, word_document
from confide.report.pages.layouts import laid_out
from confide.report.wording.describe import title_of
from small_clinic import make_clinic


def test_every_statistic_has_a_latex_table_of_as_many_columns_as_its_head(release, words):
    written = latex_tables(release, words=words)
    floats = re.findall(r"\\begin\{table\}.*?\\end\{table\}", written, re.DOTALL)
    assert len(floats) == len(release.plan.statistics)
    for statistic, each in zip(release.plan.statistics, floats, strict=True):
        shown = laid_out(release, statistic, words=words)
        (columns,) = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", each)
        assert len(columns) == len(shown.head)
        body = each.split(r"\toprule")[1].split(r"\bottomrule")[0]
        rows = [line for line in body.splitlines() if line.endswith(r" \\")]
        assert len(rows) == 1 + len(shown.rows)
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(shown.head) - 1}
        assert latex_text(title_of(statistic, plan=release.plan, words=words)) in each
        assert "Published with differential privacy" in each


def test_no_label_is_run_by_latex():
    assert latex_text(r"\input{/etc/passwd}") == r"\textbackslash{}input\{/etc/passwd\}"
    assert latex_text("a_b & 3 % #1 ^ ~ $") == (
        r"a\_b \& 3 \% \#1 \textasciicircum{} \textasciitilde{} \$"
    )


def test_a_word_document_has_every_table_with_its_numbers(release, words, tmp_path):
    docx = pytest.importorskip("docx")
    file = tmp_path / "tables.docx"
    file.write_bytes(word_document(release, words=words))
    document = docx.Document(file)
    tables, headings = document.tables, [p for p in document.paragraphs if "Head" in p.style.name]
    assert len(tables) == len(headings) == len(release.plan.statistics)
    assert {heading.style.name for heading in headings} == {"Heading 2"}  # below a paper's sections
    for statistic, table in zip(release.plan.statistics, tables, strict=True):
        shown = laid_out(release, statistic, words=words)
        cells = [tuple(cell.text for cell in row.cells) for row in table.rows]
        assert cells == [tuple(shown.head), *shown.rows]


def test_the_command_writes_both_and_a_word_document_only_to_a_file(tmp_path):
    clinic = make_clinic(tmp_path)
    assert confide("run", clinic.study, "--out", tmp_path / "out").code == 0
    ran = confide("export", tmp_path / "out", "--as", "latex")
    assert ran.code == 0
    assert ran.out.count(r"\begin{tabular}") == 2
    refused = confide("export", tmp_path / "out", "--as", "word")
    assert refused.code != 0
    assert "--out" in refused.err
    pytest.importorskip("docx")
    ran = confide("export", tmp_path / "out", "--as", "word", "--out", tmp_path / "t.docx")
    assert ran.code == 0
    assert (tmp_path / "t.docx").read_bytes()[:2] == b"PK"
