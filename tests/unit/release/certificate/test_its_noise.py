"""A certificate says what its release loses by itself, and why it has its noise."""

import copy
from fractions import Fraction

import pytest

from confide.drawing.words import load_words
from confide.release.certificate.form import FIRST_VERSION, VERSION
from confide.release.verify.verify import verify
from confide.report.wording.explain import explain_certificate
from confide.service.planning.loss import told_loss
from issued import issue, signed

ADDED = ("by-itself", "noise-because")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return issue(tmp_path_factory.mktemp("plain"))


def test_a_certificate_says_less_by_itself_than_what_it_is_charged_and_both_verify(plain):
    guarantee = plain.certificate["guarantee"]
    alone, charged = guarantee["by-itself"], guarantee["equivalent"]
    assert plain.certificate["certificate"] == VERSION
    assert Fraction(alone["epsilon"]) < Fraction(charged["epsilon"])
    assert Fraction(alone["delta"]) == Fraction(charged["delta"])
    assert alone["epsilon"] in alone["in-words"]["en"]
    assert guarantee["noise-because"]["en"].startswith("The noise is Gaussian and counts as ρ")
    assert verify(plain.certificate, folder=plain.out).holds


@pytest.mark.parametrize(
    ("member", "value"), [("epsilon", "0.0001"), ("delta", "0.000000001"), ("via", "hope")]
)
def test_a_smaller_loss_by_itself_does_not_verify_even_if_it_is_signed(plain, member, value):
    lie = plain.certificate
    lie["guarantee"]["by-itself"][member] = value
    failed = verify(signed(lie, plain.signer), folder=plain.out)
    assert "guarantee" in failed.failed


def test_a_certificate_of_the_first_version_verifies_without_what_came_later(plain):
    older = plain.certificate | {"certificate": FIRST_VERSION}
    still_there = signed(copy.deepcopy(older), plain.signer)
    for name in ADDED:
        del older["guarantee"][name]
    assert verify(signed(older, plain.signer), folder=plain.out).holds
    assert not verify(still_there, folder=plain.out).holds
    lacking = older | {"certificate": VERSION}
    assert not verify(signed(lacking, plain.signer), folder=plain.out).holds


def test_explanations_and_plans_say_both(plain):
    guarantee = plain.certificate["guarantee"]
    said = explain_certificate(plain.certificate, words=load_words("en")).sentences
    assert guarantee["by-itself"]["in-words"]["en"] in said
    assert guarantee["noise-because"]["en"] in said
    told = told_loss(plain.release.plan)
    assert Fraction(told.epsilon_by_itself) == Fraction(guarantee["by-itself"]["epsilon"])
    assert told.noise[0] == guarantee["noise-because"]["en"]
    assert "budgets are charged ρ" in told.noise[1]


def test_a_certificate_of_the_first_version_is_explained_without_what_came_later(plain):
    older = plain.certificate | {"certificate": FIRST_VERSION}
    added = [older["guarantee"].pop(name) for name in ADDED]
    said = explain_certificate(older, words=load_words("en")).sentences
    assert added[0]["in-words"]["en"] not in said
    assert added[1]["en"] not in said
