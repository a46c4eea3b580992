"""Pages as a browser lays them out: nothing is cut, overlaps its box or breaks inside a number."""

from dataclasses import replace

import pytest

import cohorts
import told_reports
from areas import land, squares
from browser import browser, measured, printed_pages
from command_line import confide
from confide.report.pages.save import contents
from confide.statistics import AreaRate
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from small_clinic import STUDY, make_clinic
from synth_clinic import clinic

WIDTHS = {"desk": (1200, "screen"), "tablet": (768, "screen"), "phone": (390, "screen")}
PAPERS = {"A4": (703, "print"), "letter": (725, "print")}
BROKEN = """
<!DOCTYPE html><style>td { white-space: normal; width: 3em; display: block }
.table { overflow-x: auto; width: 6em }</style>
<div class="table"><table><tr><td class="number">12 345 678</td></tr></table></div>
<p style="width: 2em; overflow: hidden; white-space: nowrap">a long sentence</p>
<figure><svg viewBox="0 0 100 20" width="50" height="10"><text x="90" y="15" font-size="12">cut
off</text><text x="92" y="15" font-size="12">on top</text></svg></figure>
<figure><div class="wide" style="width: 9em; overflow-x: auto">
<svg viewBox="0 0 100 20" width="500" height="10"></svg></div>
<div class="narrow"><svg viewBox="0 0 9 9" width="9"></svg></div></figure><div style="width: 3000px; height: 1px"></div>
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


@pytest.fixture(scope="module")
def mapped(tmp_path_factory, words):
    """Rates of areas in two levels, of which one has a file of outlines."""
    sick = IsIn(of=ColumnOf(table="persons", column="sick"), values=(1,))
    spec = AreaRate(id="r", table="persons", spine="place", of=sick)
    to = land([3, 2], population=(9, 800, 1_500, 4_000, 0))
    plan = cohorts.plan_of((spec,), dataset=to, nano=500_000_000)
    release = cohorts.release_of(plan, answers={"r/count": (4, 300, -2, 2000, 1)})
    shapes = {("place", "tract"): squares(("t0.0", "t0.1", "t0.2", "t1.0", "t1.1"))}
    page = tmp_path_factory.mktemp("map") / "report.html"
    page.write_bytes(contents(replace(release, outlines=shapes), words=words)["report.html"])
    return page


@pytest.mark.parametrize(("width", "media"), [(390, "screen"), (703, "print")])
def test_no_text_of_a_map_is_cut_or_overlaps(window, mapped, width, media):
    assert measured(window, mapped, width=width, media=media) == []


@pytest.mark.parametrize(("width", "kind"), [(390, "narrow"), (768, "wide"), (1200, "wide")])
def test_one_of_two_drawings_of_a_figure_is_shown(window, every_kind, width, kind):
    metrics = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
    window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "screen"})
    window.get(every_kind.as_uri())
    waiting = pytest.importorskip("selenium.webdriver.support.wait").WebDriverWait(window, 10)
    waiting.until(lambda page: all(page.execute_script(SHOWN)))  # a busy machine draws later
    assert window.execute_script(SHOWN) == [
        [kind] for _ in window.find_elements("css selector", "figure")
    ]


SHOWN = """
return [...document.querySelectorAll('figure')].map(figure =>
  [...figure.querySelectorAll('.wide, .narrow')]
    .filter(node => node.getBoundingClientRect().width > 0).map(node => node.className));
"""

CONTRAST = """
const light = text => {
  const [r, g, b] = text.match(/[0-9.]+/g).map(Number).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const paper = node => {
  for (; node; node = node.parentElement) {
    const fill = getComputedStyle(node).backgroundColor;
    if (fill && fill !== 'rgba(0, 0, 0, 0)') return light(fill);
  }
  return 1;
};
const found = [];
for (const node of document.querySelectorAll('h1, h2, h3, p, li, td, th, a, dd, dt')) {
  if (node.closest('svg')) continue;
  const a = light(getComputedStyle(node).color), b = paper(node);
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) found.push(node.tagName + ' ' + ratio.toFixed(2));
}
return [paper(document.querySelector('.sheet')), [...new Set(found)]];
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground_by_day_and_by_night(window, every_kind, scheme):
    wanted = {"media": "screen", "features": [{"name": "prefers-color-scheme", "value": scheme}]}
    window.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)
    window.get(every_kind.as_uri())
    paper, faint = window.execute_script(CONTRAST)
    window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert (paper > 0.5) is (scheme == "light")
    assert faint == []


def test_a_report_of_one_count_prints_on_three_pages(window, tmp_path):
    made = make_clinic(tmp_path)
    one = STUDY.split("  - {id: by_sex", maxsplit=1)[0]
    made.study.write_text(one)
    assert confide("run", made.study, "--out", tmp_path / "out").code == 0
    assert printed_pages(window, tmp_path / "out" / "report.html") <= 3


@pytest.mark.parametrize("name", ["every", "framingham", "ny8"])
def test_numbers_of_seven_digits_fit_a_telephone_as_well(window, tmp_path, words, name):
    if name == "every":
        release = told_reports.told(told_reports.every_plan(), answers="enormous")
    else:
        release = told_reports.example(name, answers="enormous", into=tmp_path)
    page = tmp_path / "report.html"
    page.write_bytes(contents(release, words=words)["report.html"])
    assert measured(window, page, width=390) == []


@pytest.fixture(scope="module", params=told_reports.NAMES)
def example(request, tmp_path_factory, words):
    """The report of an example, with made-up answers."""
    folder = tmp_path_factory.mktemp("example")
    release = told_reports.example(request.param, answers="anything", into=folder)
    page = folder / "report.html"
    page.write_bytes(contents(release, words=words)["report.html"])
    return page


@pytest.mark.parametrize(("width", "media"), (WIDTHS | PAPERS).values(), ids=WIDTHS | PAPERS)
def test_no_text_of_any_example_is_cut_or_leaves_its_box_and_no_number_breaks(
    window, example, width, media
):
    assert measured(window, example, width=width, media=media) == []


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Pages of a synthetic table, and of an attack on made-up patients."""
    folder = tmp_path_factory.mktemp("others")
    asked = clinic(folder, target="died")
    assert confide("synth", "run", asked, "--out", folder / "synth").code == 0
    lab = ("attack", "differencing", "--example", "--out", folder / "lab")
    assert confide(*lab).code == 0
    return {
        "synthesis": folder / "synth" / "report.html",
        "attack": next((folder / "lab").glob("*.html")),
    }


@pytest.mark.parametrize("kind", ["phone", "A4"])
@pytest.mark.parametrize("page", ["synthesis", "attack"])
def test_pages_of_a_synthesis_and_an_attack_can_be_read_on_a_telephone_and_on_paper(
    window, others, page, kind
):
    width, media = (WIDTHS | PAPERS)[kind]
    assert measured(window, others[page], width=width, media=media) == []


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
        "labels overlap",
        "a figure scrolls",
        "2 drawings",
    ):
        assert fault in told
