import html as escaping
import itertools
import re
from html.parser import HTMLParser

import cohorts
from confide.drawing.charts.figure import Plate
from confide.drawing.charts.render import draw
from confide.noise.threshold import KeyThreshold
from confide.report.charts.chart import figure
from confide.report.pages.page import page
from confide.report.pages.save import contents
from confide.report.wording.bounds_told import told_once
from confide.report.wording.section import section
from confide.statistics.histogram.spec import Histogram
from confide.statistics.key_selection.spec import KeySelection
from confide.statistics.registry import kind_of

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "\u202eمستشفى",
    "</svg></title></style><b>",
    "&lt;i&gt; {{7*7}} ${x} [link](https://evil.example)",
    "\x00\x1b[31m",
    "=HYPERLINK(1)",
)
VOID = {"meta", "br", "img", "hr", "link", "input"}


class Document(HTMLParser):
    """Elements, attributes and text of a page; checks that it is well nested."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.ids, self.open = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(html: str) -> Document:
    document = Document()
    document.feed(html)
    document.close()
    assert document.open == []
    return document


def assert_harmless(html: str) -> None:
    document = read(html)
    assert not {"script", "link", "iframe", "object", "embed", "img", "form", "base"} & set(
        document.tags
    )
    names = {name for name, _ in document.attributes}
    assert not {name for name in names if name.startswith("on")}
    assert not {"src", "srcset", "action", "data", "xlink:href"} & names
    links = [value for name, value in document.attributes if name == "href"]
    assert all(value.startswith("#") for value in links)
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL).group(1)
    assert "url(" not in style
    assert "@import" not in style


def test_the_page_has_no_script_and_asks_nothing_of_a_network(html):
    assert_harmless(html)


def test_ids_are_unique_and_links_lead_to_one(html):
    document = read(html)
    assert len(set(document.ids)) == len(document.ids)
    links = [value[1:] for name, value in document.attributes if name == "href"]
    assert links
    assert set(links) <= set(document.ids)


def test_headings_go_down_one_level_at_a_time(html):
    levels = [int(tag[1]) for tag in read(html).tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_every_figure_and_gauge_has_a_text_alternative(html, release):
    figures = len(release.plan.statistics)
    assert html.count("<figure>") == figures
    assert len(re.findall(r'<div role="img" aria-label="[^"]{10,}">', html)) == figures
    assert len(re.findall(r'class="gauge"[^>]*aria-label="[^"]{10,}"', html)) == 4
    assert '<html lang="en">' in html


def unjoined(html):
    """Return a page without what keeps ranges and amounts on one line."""
    return html.replace("\N{WORD JOINER}", "").replace("\N{NO-BREAK SPACE}", " ")


def test_every_statistic_has_its_headline_and_fitness(html, words, release):
    fit = {
        sentence
        for each in release.plan.statistics
        for said in [section(release, each, words=words)]
        for sentence in (*said.fit, *said.unfit)
    }
    for sentence in fit:
        assert unjoined(html).count(f"<li><bdi>{escaping.escape(sentence)}</bdi>") == 1


def test_the_first_page_has_a_sentence_a_question_one_line_of_privacy_and_all_costs(
    html, words, release
):
    first, rest = html.split('<section class="whole"', 1)
    whole, _ = rest.split("<main>", 1)
    for place, statistic in enumerate(release.plan.statistics, start=1):
        said = section(release, statistic, words=words)
        assert first.count(f'href="#s{place}"') == whole.count(f'href="#s{place}"') == 1
        assert unjoined(escaping.escape(said.finding)) in unjoined(first)
        assert f"<td>{said.alone}</td>" in whole
    assert first.count("Someone who thinks it") == 1


def test_how_influence_was_bounded_is_told_once_with_the_questions_that_it_is_about(
    html, words, release
):
    _, after = html.split('id="bounded"', 1)
    listed = after.split("</section>", 1)[0]
    of = [section(release, each, words=words).bounds for each in release.plan.statistics]
    items = told_once(of, words=words)
    assert len(items) < sum(map(len, of)) / 2
    for item in map(unjoined, map(str, items)):
        assert unjoined(html).count(item) == 1
        assert item in unjoined(listed)
    for name in {each.column for said in of for each in said} - {""}:
        assert escaping.escape(name[1:]) in listed


def test_thirty_of_sixty_cells_are_drawn_and_all_of_them_tabulated(html):
    assert "30 largest of 60 cells" in html
    wards = html[html.index(">Patients by ward<") :]
    assert "Ward 60" in wards[wards.index('class="table shown') :]


def test_a_table_of_more_rows_than_a_question_holds_stands_in_the_appendix(html):
    question = html[html.index(">Patients by ward</bdi></h2>") :]
    said = "The table of 53 rows stands in the appendix."  # nine withheld cells are one row
    (place,) = re.findall(rf'<a href="#(s\d+t)">{said}</a>', question)
    appendix = html.index(">Tables<")
    assert appendix > html.index(">The guarantee<")
    assert html.index(f'id="{place}"') > appendix
    short = html[html.index('id="s2"') :]
    assert short.index('id="s2t"') < short.index('id="s3"')


def test_below_a_forest_plot_that_writes_its_numbers_stands_no_table(html, release):
    places = {each.id: f"s{place}" for place, each in enumerate(release.plan.statistics, start=1)}
    appendix = html.index(">Tables</h2>")
    told = [each.id for each in release.plan.statistics if kind_of(each).figure_tells]
    assert len(told) >= 4
    for name in told:
        assert html.index(f'id="{places[name]}t"') > appendix
        assert f'href="#{places[name]}t"' in html[:appendix]


def test_the_public_key_the_caps_and_the_digest_of_the_software_are_printed(html, release):
    assert release.certificate["issuer"]["key"] in html
    assert release.certificate["software"]["source-sha256"] in html
    for name in ("Per release", "Calendar year 2026", "Lifetime"):
        assert name in html


def test_the_same_release_gives_the_same_bytes_in_every_file(words):
    statistics = (cohorts.every_statistic()[0], cohorts.every_statistic()[7])
    plan = cohorts.plan_of(statistics, dataset=cohorts.hospital())
    first, second = (contents(cohorts.release_of(plan), words=words) for _ in range(2))
    assert first == second
    assert len(first) == 13


def test_hostile_names_are_text_wherever_they_appear(words):
    dataset = cohorts.hospital(districts=HOSTILE, name=HOSTILE[0])
    study = cohorts.Study(
        id="x", title=HOSTILE[0], purpose=HOSTILE[1], region=HOSTILE[2], period=HOSTILE[3]
    )
    districts = Histogram(id="a", table="person", by=("district",), title=HOSTILE[4])
    drugs = KeySelection(
        id="b", table="visit", key="drug", per_patient=cohorts.PerPatient(cells=1), title=HOSTILE[1]
    )
    plan = cohorts.plan_of((districts, drugs), dataset=dataset, nano=200_000_000, study=study)
    answers = {"b/keys": {name: 5000 - place for place, name in enumerate(HOSTILE)}}
    release = cohorts.release_of(plan, answers=answers)
    drawn = {}
    for statistic in plan.statistics:
        built = figure(release, statistic, words=words)
        plate = Plate(name=statistic.id, figure=built, drawing=draw(built.chart))
        drawn[statistic.id] = (plate,)
    html = page(release, figures=drawn, words=words)
    assert_harmless(html)
    assert "\u202e" not in html
    assert "\x00" not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 5
    for (plate,) in drawn.values():
        assert "<script" not in plate.drawing.svg


def test_a_key_selection_that_selects_nothing_is_reported(words):
    plan = cohorts.plan_of((cohorts.every_statistic()[-1],), dataset=cohorts.hospital())
    assert isinstance(plan.measurements[0].mechanism, KeyThreshold)
    release = cohorts.release_of(plan, answers={"drugs/keys": {}})
    assert figure(release, plan.statistics[0], words=words) is None
    html = page(release, figures={}, words=words)
    assert "No value occurs often enough" in html
    assert "nothing to draw" in html


def test_a_histogram_of_withheld_cells_is_reported(words):
    statistic = Histogram(id="districts", table="person", by=("district",), threshold=50)
    plan = cohorts.plan_of((statistic,), dataset=cohorts.hospital())
    release = cohorts.release_of(plan, answers={"districts/count": (3,) * 8})
    assert figure(release, statistic, words=words) is None
    html = page(release, figures={}, words=words)
    assert html.count("withheld") >= 8
