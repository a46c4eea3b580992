"""A key that a newcomer guesses and the kind has not: the refusal names the key or kind that does it."""

import pytest

from command_line import confide
from small_clinic import make_clinic

GUESSES = {
    "kind: count, by: [sex]": "write kind: histogram",
    "kind: count, group-by: [sex]": "write kind: histogram",
    "kind: histogram, groups: [sex]": "Did you mean 'by'?",
    "kind: histogram, by: [sex], filter: {diabetes: [yes]}": "Did you mean 'where'?",
    "kind: mean, variable: age": "Did you mean 'column'?",
    "kind: count, column: age": "write kind: sum or mean",
    "kind: smr, column: age": "Other kinds have column: sum, mean, variance, ",
    "kind: degree-histogram, by: [sex]": "Other kinds have by: histogram, sum, ",
    "kind: linear-regression, outcome: age, covariates: [sex], by: [sex]": "one of the covariates",
    "kind: logistic-regression, outcome: diabetes, covariates: [sex]": "of: {stroke: [yes]}",
    "kind: hazard-regression, event: diabetes, covariates: [sex]": "of: {stroke: [yes]}",
    "kind: poisson-regression, outcome: stays, covariates: [sex]": "is called events",
    "kind: proportion, of: {diabetes: [yes]}, bounds: [0, 1]": "Allowed: by, cohort",
}


@pytest.mark.parametrize("guess", GUESSES)
def test_a_first_guess_is_sent_to_the_key_or_kind_that_does_it(tmp_path, guess):
    clinic = make_clinic(tmp_path)
    clinic.study.write_text(
        f"study: {{id: s, purpose: test}}\nstatistics:\n  - {{id: a, table: patients, {guess}}}\n"
    )
    ran = confide("plan", clinic.study)
    assert ran.code == 7
    assert "unknown key at statistics → 0 (a) → " in ran.err
    assert GUESSES[guess] in ran.err
