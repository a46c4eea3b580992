"""k, l and t as another program finds them, and an anonymiser that keeps what it says."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.attacks.lab.anonymity import anonymity
from confide.attacks.lab.mondrian import mondrian
from confide.attacks.lab.own_table import OwnTable, coded
from lab_world import own_table, rows


def _coarse(of):
    """The table in classes of forty years, sex and twenty areas; ``of`` makes a sensitive text."""
    lines = rows()
    quasi = {
        "years": coded([str(int(age) // 40) for age, *_ in lines]),
        "sex": coded([line[1] for line in lines]),
        "area": coded([str(int(line[2]) // 20) for line in lines]),
    }
    return OwnTable(quasi=quasi, sensitive=coded([of(line) for line in lines]), sensitive_name="s")


@pytest.mark.parametrize(
    ("of", "k", "distinct", "entropy", "t"),
    [
        # pycanon 1.3.6: k_anonymity(d, q), l_diversity(d, q, [s]), entropy_l_diversity(d, q, [s])
        # (rounded down), t_closeness(d, q, [s]), where s is a text and a number
        (lambda line: line[3], 15, 3, 1, 0.48),
        (lambda line: str(int(line[0]) % 7), 15, 6, 5, 0.11208333333333338),
    ],
    ids=["categories", "numbers"],
)
def test_k_l_and_t_are_those_of_another_program(of, k, distinct, entropy, t):
    table = _coarse(of)
    found = anonymity(table.groups(), table.sensitive)
    assert (found.k, found.l_distinct, int(found.l_entropy)) == (k, distinct, entropy)
    assert found.t == pytest.approx(t, abs=1e-12)
    assert found.classes == 12
    assert found.unique == 0


@pytest.mark.parametrize("cells", [1, 13, 50])
def test_classes_are_measured_some_at_a_time(cells, monkeypatch):
    tables = [_coarse(of) for of in (lambda line: line[3], lambda line: line[0])]
    whole = [anonymity(table.groups(), table.sensitive) for table in tables]
    monkeypatch.setattr("confide.attacks.lab.anonymity._CELLS", cells)
    assert [anonymity(table.groups(), table.sensitive) for table in tables] == whole


def test_t_closeness_of_salaries_is_that_of_the_paper():
    """Li et al. 2007, sec. 4.1: {3k, 4k, 5k} is at .375 from nine salaries, {6k, 8k, 11k} at .167."""
    thousands = [3, 4, 5, 6, 8, 11, 7, 9, 10]
    three = np.array([0] * 3 + [1] * 3 + [2] * 3)
    salaries = coded([str(each) for each in thousands])
    assert anonymity(three, salaries).t == pytest.approx(0.375)
    shares = np.isin(salaries.labels, ["6", "8", "11"]) / 3 - 1 / 9
    assert np.abs(shares.cumsum()).sum() / 8 == pytest.approx(0.167, abs=1e-3)


_KNOWN = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 3)), min_size=8, max_size=60
)


@settings(max_examples=150, deadline=None)
@given(_KNOWN, st.integers(2, 4), st.integers(1, 3), st.integers(0, 2))
def test_every_class_of_an_anonymised_table_holds_k_patients_and_l_values(known, k, values, first):
    known = np.array(known)
    sensitive = np.arange(len(known)) % 4
    classes = mondrian(known, sensitive, k=k, l=values, first=first)
    found = anonymity(classes, coded([str(each) for each in sensitive]))
    assert found.k >= k
    assert found.l_distinct >= values
    homes = defaultdict(set)
    for row, home in zip(known.tolist(), classes, strict=True):
        homes[tuple(row)].add(home)
    assert {len(each) for each in homes.values()} == {1}, "alike in all, so in one class"
    assert sorted(set(classes.tolist())) == list(range(found.classes))


def test_classes_are_cut_as_long_as_both_halves_hold_k():
    known = np.arange(64)[:, None]
    assert np.bincount(mondrian(known, np.zeros(64, dtype=int), k=4)).tolist() == [4] * 16


def test_what_looks_alike_in_no_column_is_found_in_the_groups():
    lines = [("30", "F", "1", "flu"), ("30", "M", "1", "flu"), ("30", "F", "1", "HIV")]
    groups = own_table(lines).groups()
    assert groups[0] == groups[2] != groups[1]


@pytest.mark.parametrize(
    ("texts", "labels", "ordered"),
    [
        (["10", "9", ""], ("", "9", "10"), True),
        (["b", "a", "10"], ("10", "a", "b"), False),
        (["nan", "1"], ("1", "nan"), False),
        (["", ""], ("",), False),
        (["1", "1.0"], ("1", "1.0"), True),
    ],
)
def test_a_column_is_ordered_as_numbers_where_all_its_texts_are(texts, labels, ordered):
    found = coded(texts)
    assert (found.labels, found.ordered) == (labels, ordered)
    assert [found.labels[code] for code in found.codes] == texts
