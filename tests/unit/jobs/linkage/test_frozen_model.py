"""A model that is not frozen, or looks at more than two rows, is refused before a charge."""

import json

import pytest

from confide.errors import ConfideError, ContractError
from confide.jobs.linkage.frozen_model import read_frozen_model, require_frozen
from confide.jobs.linkage.pair_conditions import written_condition
from linkage_world import FIELDS, level, model

COLUMNS = {f"{name}_{side}": f'"{name}_{side}"' for name in ("a", "b") for side in "lr"}

REFUSED = {
    "an aggregate": "count(*) > 1",
    "a query": "a_l = (select max(a_l) from t)",
    "a query in a list": "a_l in (select 1)",
    "a window": "row_number() over () = 1",
    "chance": "random() < 0.5",
    "a file": "read_text('/etc/passwd') = 'x'",
    "a cast that fails for some cell": "cast(a_l as int) = 1",
    "a date that fails for some cell": "a_l::date = a_r::date",
    "a text that the engine would cast": "a_l > 4",
    "a distance that fails for an empty text": "jaccard(a_l, a_r) > 0.5",
    "a distance that fails for unlike lengths": "hamming(a_l, a_r) < 2",
    "a number that overflows": "length(a_l) - 9223372036854775807 < 0",
    "places that are no constants": "substr(a_l, length(a_r)) = 'x'",
    "another argument": "trim(both 'x' from a_l) = 'a'",
    "another column": "c_l = c_r",
    "a column of another table": "other.a_l = a_r",
    "two statements": "a_l = a_r; drop table t",
    "no truth": "length(a_l)",
    "nothing": "",
    "no end": "(" * 3000,
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_condition_that_is_more_than_a_comparison_of_two_rows_is_refused(what):
    with pytest.raises(ConfideError) as refused:
        written_condition(REFUSED[what], columns=COLUMNS, where="Comparison 'a'")
    assert isinstance(refused.value, ContractError)


@pytest.mark.parametrize(
    ("sql", "written"),
    [
        ("a_l = a_r", '("a_l" = "a_r")'),
        ("not (a_l is null)", '(NOT ("a_l" IS NULL))'),
        ("a_l in ('x', 'it''s')", "(\"a_l\" IN ('x', 'it''s'))"),
        ("substr(a_l, 1, 2) = left(a_r, 2)", '(substring("a_l", 1, 2) = left("a_r", 2))'),
        (
            "abs(try_cast(a_l as double) - try_cast(a_r as double)) <= 1.5",
            '(abs((TRY_CAST("a_l" AS DOUBLE) - TRY_CAST("a_r" AS DOUBLE))) <= 1.5)',
        ),
        (
            "jaro_winkler_similarity(lower(a_l), a_r) > .9 or damerau_levenshtein(a_l, b_r) < 2",
            '((jaro_winkler_similarity(lower("a_l"), "a_r") > 0.9) OR (damerau_levenshtein("a_l", "b_r") < 2))',
        ),
    ],
)
def test_a_condition_is_written_anew_from_what_was_understood(sql, written):
    found = written_condition(sql, columns=COLUMNS, where="Comparison 'a'")
    assert found == written
    assert written_condition(found, columns=COLUMNS, where="Comparison 'a'") == written


def _changed(change):
    settings = model()
    change(settings)
    return settings


def _tf(settings):
    settings["comparisons"][0]["comparison_levels"][1]["tf_adjustment_column"] = "given_name"


def _untrained(settings):
    del settings["comparisons"][0]["comparison_levels"][1]["m_probability"]


def _rules(*rules):
    return lambda s: s.update(blocking_rules_to_generate_predictions=list(rules))


BROKEN = {
    "term frequencies": (_tf, "term frequencies"),
    "a level without m": (_untrained, "nothing is trained"),
    "a table with itself": (lambda s: s.update(link_type="dedupe_only"), "link_type: link_only"),
    "no blocking": (
        lambda s: s.update(blocking_rules_to_generate_predictions=[]),
        "blocking_rules_to_generate_predictions",
    ),
    "salted blocking": (
        lambda s: s.update(
            blocking_rules_to_generate_predictions=[
                {"blocking_rule": "l.surname = r.surname", "salting_partitions": 4}
            ]
        ),
        "salting_partitions",
    ),
    "a rule that looks at every pair": (_rules("length(l.born) > 0"), "every pair of rows"),
    "a rule of one table": (_rules("l.born = l.surname"), "every pair of rows"),
    "a rule of constants": (_rules("l.born = 'x' and r.born = 'x'"), "every pair of rows"),
    "a rule that may be another": (
        _rules("l.born = r.born or length(l.born) > 2"),
        "rules of their own",
    ),
    "a rule of what is not equal": (_rules("not (l.born <> r.born)"), "every pair of rows"),
    "a number that is none": (_rules("length(l.born) > 1e"), "a number that is none"),
    "a chance of any size": (
        lambda s: s.update(probability_two_random_records_match=10**400),
        "between 0 and 1",
    ),
    "an unknown key": (lambda s: s.update(colour="blue"), "colour"),
    "a chance of one": (
        lambda s: s.update(probability_two_random_records_match=1),
        "between 0 and 1",
    ),
    "an undeclared field": (
        lambda s: s["comparisons"][0].update(output_column_name="nobody"),
        "nobody",
    ),
    "a condition of more": (
        lambda s: s["comparisons"][0]["comparison_levels"].insert(
            1, level("count(*) over () > 3", 0.5, 0.5)
        ),
        "not understood",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_model_that_is_not_frozen_is_refused(what):
    change, said = BROKEN[what]
    with pytest.raises(ConfideError) as refused:
        read_frozen_model(_changed(change), fields=FIELDS)
    assert said in f"{refused.value} {refused.value.hint}"


def test_a_model_in_a_plan_is_in_its_canonical_form():
    text = read_frozen_model(model(), fields=FIELDS)
    require_frozen(text, fields=FIELDS)
    other = json.dumps(json.loads(text), indent=1)
    with pytest.raises(ContractError, match="canonical form"):
        require_frozen(other, fields=FIELDS)
    with pytest.raises(ContractError, match="cannot be read"):
        require_frozen("{", fields=FIELDS)


@pytest.mark.parametrize(
    "rule",
    [
        "l.born = r.born",
        "length(l.born) > 2 and (r.surname = l.surname and l.given_name <> r.given_name)",
        "substr(l.surname, 1, 3) = left(r.born, 3)",
    ],
)
def test_a_rule_asks_that_something_of_both_rows_is_equal(rule):
    assert read_frozen_model(_changed(_rules(rule)), fields=FIELDS)
