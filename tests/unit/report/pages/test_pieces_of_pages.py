"""Single parts of pages and sentences at their edges."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

import cohorts
from confide.budget.policy.policy import Limit, Participation, Profile
from confide.budget.policy.rows import Row
from confide.budget.policy.solve import solve
from confide.drawing.grid import Grid
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.plans.reuse import Earlier, Summed, answer
from confide.privacy.loss import ApproxDP, PureDP
from confide.privacy.measure import Measure
from confide.report.charts.chart import figure
from confide.report.pages.first_page import _noise
from confide.report.pages.page_parts import bounded_part, table_part
from confide.report.pages.reused_page import made
from confide.report.pages.table import Shown, arrow_table, html_table, shown
from confide.report.policy.policy_chart import _cap_rows
from confide.report.policy.policy_conflict import _cap_limit
from confide.report.policy.policy_planned import unlike_planned
from confide.report.policy.policy_words import notes
from confide.report.wording.bounding import _column, _Role, law_text
from confide.report.wording.bounds_told import BoundSaid
from confide.report.wording.guarantee import cap_loss
from confide.report.wording.methods import _mechanism
from confide.report.wording.section import _share, section
from confide.report.wording.summary import MOST, summary
from confide.statistics import Count, Histogram, TopCategory
from policies import ANNUAL, textbook

COUNT = Count(id="count", table="person")
SEXES = Histogram(id="sexes", table="person", by=("sex",))
HOSPITAL = cohorts.hospital()


def released(*statistics, answers=None):
    return cohorts.release_of(cohorts.plan_of(statistics, dataset=HOSPITAL), answers=answers)


def test_a_source_of_bounds_is_told_in_two_hundred_letters(words):
    age = replace(HOSPITAL.table("person").column("age"), because="x" * 300)
    said = " ".join(each.said for each in _column(age, role=_Role.NEEDED, words=words))
    assert "x" * 199 + "…" in said
    assert "x" * 200 not in said


def test_the_noise_of_a_choice_has_the_scale_of_one_over_its_slope(words):
    one = Grid(step=Fraction(1), units=("persons",))
    for kind in (SetSelection, Peeling):
        chosen = kind(epsilon=Fraction(1), reach=4, size=2, candidates=9)
        scale = one.text(math.ceil(10 / chosen.slope) / 10, words=words)
        assert scale in law_text(chosen, grid=one, words=words)


def test_the_shares_of_statistics_are_their_parts_of_the_charge():
    plan = cohorts.plan_of((COUNT, SEXES), dataset=HOSPITAL)
    shares = [_share(each, plan=plan) for each in plan.statistics]
    own = [sum(m.nano for m in plan.of(each.id)) for each in plan.statistics]
    assert shares == [Fraction(each, sum(own)) for each in own]


def test_a_bound_names_the_questions_that_it_is_about_unless_it_is_about_all(words):
    release = released(COUNT, SEXES)
    one, other = (
        replace(
            section(release, each, words=words),
            bounds=tuple(BoundSaid(said=said) for said in ("Of all.", *own)),
        )
        for each, own in ((COUNT, ()), (SEXES, ("Of one.",)))
    )
    html = str(bounded_part((one, other), words=words))
    about = words.say("bounded.of", questions="2")
    assert html.count("Of all.") == html.count("Of one.") == 1
    assert html.count(about) == 1
    assert html.index("Of all.") < html.index("Of one.") < html.index(about)


def test_one_number_has_no_table_unless_a_flag_is_said_of_it(words):
    for number, is_told in ((500, False), (-3, True)):
        release = released(COUNT, answers={"count/count": (number,)})
        (count,) = release.plan.statistics
        part = table_part(release, count, name="q1", title="Count", words=words)
        assert bool(str(part)) is is_told


def test_the_part_of_noise_is_of_cells_with_two_ends(words):
    release = released(SEXES)
    (sexes,) = release.plan.statistics
    assert words.say("page.noise-only") in str(_noise(release, sexes, words=words))
    open_ended = tuple(replace(each, upper=None) for each in release.estimates)
    without = replace(release, estimates=open_ended)
    assert _noise(without, sexes, words=words) == words.say("page.noise-none")


@pytest.mark.parametrize(
    ("columns", "letters", "is_dense"),
    [(7, 1, False), (8, 1, True), (2, 39, False), (2, 40, True)],
)
def test_a_table_of_many_columns_or_letters_is_dense(columns, letters, is_dense, words):
    row = ("x" * letters,) * columns
    table = Shown(head=row, rows=(row,), text_columns=1, numbers=columns - 1, notes=())
    assert ("dense" in str(html_table(table, name="t", words=words))) is is_dense


def test_counts_are_as_released_where_they_are_averaged_and_not_summed(words):
    measurement = cohorts.plan_of((COUNT,), dataset=HOSPITAL).measurements[0]
    earlier = [Earlier(entry=n, measurement=measurement, noisy=(9,)) for n in (1, 2)]
    found = answer(COUNT, earlier, dataset=HOSPITAL)
    assert isinstance(found, Summed)
    first, second, averaged = made(found, words=words)
    assert first == words.say("reuse.same", entry="1", name="count")
    assert second == words.say("reuse.same", entry="2", name="count")
    assert averaged == words.say("reuse.averaged", answers="2")


def test_a_figure_of_groups_says_their_total(words):
    release = released(SEXES)
    drawn = figure(release, SEXES, words=words).chart.to_dict()
    total = sum(release.noisy.values[0])
    assert f"{total:,}" in str(drawn["title"]["subtitle"])


def test_what_is_used_of_a_cap_is_rounded_up(words):
    row = Row(cap="c", whom="", window="2027", runs={"a": 1}, most=1, limit=10**9)
    (part,) = _cap_rows(row, {"a": Fraction(5 * 10**8 + Fraction(1, 3))}, words=words)
    assert "0.500000001" in part["text"]


def test_what_the_ledger_would_refuse_is_told_of_profiles_alone(words):
    every = textbook(caps=(ANNUAL,))
    assert not any("profile" in each for each in notes(solve(every), words=words))
    names = [each.id for each in every.releases]
    profiles = tuple(Profile(id=name, releases=(name,), why="declared") for name in names)
    some = replace(every, participation=Participation.PROFILES, profiles=profiles)
    assert any("profile" in each for each in notes(solve(some), words=words))


def test_a_table_says_how_many_rows_are_left_out_from_the_sixty_first_on(words):
    for rows, is_told in ((60, False), (61, True)):
        table = Shown(head=("a",), rows=(("x",),) * rows, text_columns=1, numbers=0, notes=())
        html = str(html_table(table, name="t", words=words))
        assert (words.say("page.rows-left-out", shown="60", rows=str(rows)) in html) is is_told


def test_a_cap_in_epsilon_has_a_delta_where_selections_may_spend_one():
    pure = cohorts.hospital(measure=Measure.PURE)
    half = Fraction(1, 2)
    for delta, loss in (
        (Fraction(0), PureDP(epsilon=half)),
        (Fraction("1e-7"), ApproxDP(epsilon=half, delta=Fraction("1e-7"))),
    ):
        assert cap_loss(half, of=replace(pure, selection_delta=delta)) == loss


def test_a_limit_in_odds_is_told_as_one():
    policy = textbook(caps=(replace(ANNUAL, limit=Limit(odds_factor=Fraction(3))),))
    assert _cap_limit(policy, ANNUAL.id) == "odds × 3"


@pytest.mark.parametrize(("number", "is_told"), [(MOST, False), (MOST + 1, True)])
def test_a_summary_says_how_many_statistics_it_leaves_out(number, is_told):
    release = released(*(replace(COUNT, id=f"c{k}") for k in range(number)))
    said = str(summary(release))
    assert ("more statistics" in said) is is_told
    assert ("and 1 more statistics" in said) is is_told


def test_methods_name_a_choice_where_something_is_chosen(words):
    chosen = next(e for e in cohorts.every_statistic() if isinstance(e, TopCategory))
    for asked, kind in ((chosen, "choice"), (COUNT, "gaussian")):
        release = released(asked)
        measurement = release.plan.measurements[0]
        said = _mechanism(release, measurement, words=words)
        start = words.say(
            f"methods.{kind}", name="N", moved="M", law="L", letter="E", charge="C"
        ).partition("N")
        assert start[0] in said
        assert (measurement.sensitivity.reach > 0) is (kind == "choice")
        assert start[2].partition("M")[0] in said


def test_a_table_of_numbers_has_as_many_rows_and_may_have_none():
    release = released(SEXES)
    table = release.to_arrow("sexes")
    assert table.num_rows == len(release.of("sexes")) > 0
    assert arrow_table([], schema=table.schema).num_rows == 0


def test_counts_have_one_column_for_them_and_one_for_their_interval(words):
    table = shown(released(SEXES), SEXES, words=words)
    assert (table.text_columns, table.numbers) == (1, 2)
    assert len(table.head) == 3


def test_a_plan_is_held_against_the_error_of_the_release_that_it_names(words):
    policy = textbook()
    first = policy.releases[0]
    plan = cohorts.plan_of((COUNT,), dataset=HOSPITAL, nano=1_000)
    named = replace(plan, study=replace(plan.study, release=first.id))

    def told(release):
        planned = replace(policy, releases=(replace(release, period=""),))
        return unlike_planned(named, policy=planned, words=words, day="2027-02-01")

    begin, floor = told(first)
    assert begin == words.say("policy.unlike.begin", release=first.id)
    assert floor.startswith("It asks for at most")
    assert told(replace(first, utility=None)) == []
