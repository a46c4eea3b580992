"""Pages as a browser lays them out: nothing is cut, overlaps its box or breaks inside a number."""

import pytest

from browser import browser, measured, printed_pages
from command_line import confide
from small_clinic import STUDY, make_clinic

WIDTHS = {"desk": (1200, "screen"), "tablet": (768, "screen"), "phone": (390, "screen")}
PAPERS = {"A4": (703, "print"), "letter": (725, "print")}
BROKEN = """
<!DOCTYPE html><style>td { white-space: normal; width: 3em; display: block }
.table { overflow-x: auto; width: 6em }</style>
<div class="table"><table><tr><td class="number">12 345 678</td></tr></table></div>
<p style="width: 2em; overflow: hidden; white-space: nowrap">a long sentence</p>
<figure><svg viewBox="0 0 100 20" width="50" height="10"><text x="90" y="15" font-size="12">cut
off</text></svg></figure><div style="width: 3000px; height: 1px"></div>
"""


@pytest.fixture(scope="module")
def window():
    with browser() as driver:
        yield driver


@pytest.fixture(scope="module")
def every_kind(files, tmp_path_factory):
    page = tmp_path_factory.mktemp("page") / "report.html"
    page.write_bytes(files["report.html"])
    return page


@pytest.mark.parametrize(("width", "media"), (WIDTHS | PAPERS).values(), ids=WIDTHS | PAPERS)
def test_no_text_of_any_kind_is_cut_or_leaves_its_box_and_no_number_breaks(
    window, every_kind, width, media
):
    assert measured(window, every_kind, width=width, media=media) == []


def test_a_report_of_one_count_prints_on_three_pages(window, tmp_path):
    clinic = make_clinic(tmp_path)
    one = STUDY.split("  - {id: by_sex", maxsplit=1)[0]
    clinic.study.write_text(one)
    assert confide("run", clinic.study, "--out", tmp_path / "out").code == 0
    assert printed_pages(window, tmp_path / "out" / "report.html") <= 3


def test_the_browser_sees_each_fault(window, tmp_path):
    page = tmp_path / "broken.html"
    page.write_text(BROKEN)
    told = " ".join(measured(window, page, width=390, media="print"))
    for fault in (
        "wider than its window",
        "a number breaks",
        "text leaves its box",
        "a label leaves its figure",
        "letters of",
    ):
        assert fault in told
