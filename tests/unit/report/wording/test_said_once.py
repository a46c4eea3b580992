"""Sentences that several questions or columns share, and totals that several questions have."""

from dataclasses import replace

import pytest

import cohorts
from confide.drawing.words import load_words
from confide.report.wording.bounds_told import THIS, BoundSaid, sentences_of, told_once
from confide.report.wording.describe import Total, total_of, total_text
from confide.statistics.histogram.spec import Histogram
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn

WORDS = load_words("en")
LEFT_OUT = f"Records without {THIS} are left out."


def _bounds(*names, said=LEFT_OUT, joint="or"):
    return tuple(BoundSaid(said=said, column=name, joint=joint) for name in names)


def test_columns_of_which_the_same_is_true_share_a_sentence():
    assert sentences_of(_bounds("Age", "follow-up", "HbA1c"), words=WORDS) == (
        "Records without age, follow-up or HbA1c are left out.",
    )
    bounds = _bounds("age", "pH", said=f"{THIS}: 2 categories.", joint="and")
    assert sentences_of(bounds, words=WORDS) == ("Age and pH: 2 categories.",)


def test_of_many_columns_the_first_and_the_last_are_named():
    (said,) = sentences_of(_bounds(*(f"G{i}" for i in range(20))), words=WORDS)
    assert said == "Records without G0, G1, G2, … or G19 (20 columns) are left out."


def test_columns_of_other_questions_are_told_with_their_questions():
    items = told_once([_bounds("age", "sex"), _bounds("age")], words=WORDS)
    assert len(items) == 2
    assert "age are left out" in items[0]
    assert "(of 1)" in items[1]


def _of(*specs, nano=50_000_000):
    plan = cohorts.plan_of(specs, dataset=cohorts.hospital(), nano=nano)
    return cohorts.noisy_of(plan), plan.statistics


def test_questions_of_the_same_rows_have_one_total_with_less_noise():
    one = Histogram(id="a", table="person", by=("district",))
    noisy, (first, second) = _of(one, replace(one, id="b"))
    alone, (only,) = _of(one, nano=25_000_000)
    both = [total_of(noisy, each) for each in (first, second)]
    assert both[0] == both[1]
    assert both[0].deviation == pytest.approx(total_of(alone, only).deviation / 2**0.5, rel=0.1)


def test_questions_of_other_rows_keep_their_own_total():
    one = Histogram(id="a", table="person", by=("district",))
    women = IsIn(of=ColumnOf(table="person", column="sex"), values=(1,))
    noisy, (first, second) = _of(one, replace(one, id="b", where=women))
    lonely, (only, _) = _of(one, Histogram(id="b", table="person", by=("sex",)))
    assert total_of(noisy, second).deviation == total_of(noisy, first).deviation
    assert total_of(noisy, first).deviation == total_of(lonely, only).deviation


def test_a_total_says_how_far_its_noise_may_be():
    assert total_text(Total(value=17_576, deviation=31, once=True), words=WORDS) == (
        "n = 17,576 ± 61"
    )
    assert total_text(Total(value=270, deviation=9, once=True, ruled=True), words=WORDS) == (
        "n ≈ 270"
    )
