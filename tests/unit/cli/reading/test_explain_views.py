"""``confide explain groups``, ``bits`` and ``deployments``: other views of the same loss."""

import math
import re
import tomllib
from fractions import Fraction
from importlib import resources

import pytest

from command_line import confide
from confide.drawing.words import load_words
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.group import group_loss
from confide.privacy.information import bits_of_fact, bits_of_record
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.report.wording.views import DEPLOYMENTS, SIZES

WIDTH, HEIGHT = 80, 24
VIEWS = (
    ("1",),
    ("0.5", "--delta", "1e-6"),
    ("groups", "0.5"),
    ("groups", "rho 0.1", "--delta", "1e-9"),
    ("bits", "1"),
    ("bits", "0.5", "--delta", "1e-6"),
    ("deployments", "1"),
    *(("deployments", name) for name in DEPLOYMENTS),
)


@pytest.mark.parametrize("words", VIEWS, ids=" ".join)
def test_a_view_is_one_screen_of_eighty_columns(words, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    ran = confide("explain", *words)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert sum(max(1, math.ceil(len(line.rstrip()) / WIDTH)) for line in lines) <= HEIGHT
    assert all(len(line) <= WIDTH for line in lines if line.startswith("  "))


def groups(*words):
    body = confide("explain", "groups", *words, "--json").json
    return {int(row[0]): row[1:] for row in body["tables"][0]["rows"]}


def test_groups_have_k_times_epsilon_and_k_squared_times_rho():
    assert [groups("0.5")[size][0] for size in SIZES] == ["0.5", "1", "1.5", "2", "2.5", "5"]
    found = groups("rho 0.01", "--delta", "1e-6")
    for size in SIZES:
        loss = ZeroConcentratedDP(rho=size**2 * Fraction("0.01"))
        assert float(found[size][0]) == pytest.approx(
            epsilon_at(loss, delta=Fraction("1e-6")), rel=1e-3
        )
        assert float(found[size][4]) >= bits_of_fact([loss])
    assert groups("rho 0.01") == found  # δ = 10⁻⁶ where none is given


def test_the_delta_of_a_group_grows_and_its_promise_ends():
    found = groups("1", "--delta", "1e-4")
    assert found[1][:2] == ["1", "10⁻⁴"]
    five = group_loss(ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-4")), size=5)
    assert found[5][0] == "5"
    assert 0 < five.delta < 1
    assert groups("3", "--delta", "1e-4")[10][0] == "none"
    assert groups("300")[4][0] == "none"  # e^1200 is more than anybody can be told


def test_bits_of_losses_together_are_those_of_the_chain_rule():
    told = confide("explain", "bits", "0.1*12, rho 0.01").out
    losses = [PureDP(epsilon=Fraction("0.1"))] * 12 + [ZeroConcentratedDP(rho=Fraction("0.01"))]
    (said,) = re.findall(r"at most ([0-9.]+) bits of everything", told)
    assert bits_of_record(losses) <= float(said) <= bits_of_record(losses) * 1.01
    (said,) = re.findall(r"at most ([0-9.]+) bits of whether", told)
    assert bits_of_fact(losses) <= float(said) <= bits_of_fact(losses) * 1.01


def test_a_delta_leaves_the_record_without_a_bound():
    told = confide("explain", "bits", "1", "--delta", "1e-6").out
    assert "The whole record: no bound." in told
    assert "no bound for all records, for δ" in confide("explain", "1", "--delta", "1e-6").out
    assert "0.667 about all records" in confide("explain", "1").out


def test_epsilon_is_told_for_a_family_and_names_the_other_views():
    told = confide("explain", "0.5").out
    assert "Of a family of 4: ε = 2 (δ = 0), 1 % becomes at most 7 %." in told
    assert "confide explain groups | bits | deployments" in told


def test_deployments_stand_beside_ones_own_loss_each_with_unit_time_and_delta():
    body = confide("explain", "deployments", "rho 0.1", "--delta", "1e-6", "--json").json
    (table,) = body["tables"]
    own, *others = table["rows"]
    assert own[:3] == ["yours", "2.142", "10⁻⁶"]
    assert len(others) == len(DEPLOYMENTS)
    assert all(all(row) for row in others)
    assert "do not compare" in body["sentences"][0]


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_deployment_is_told_with_its_source(name):
    told = confide("explain", "deployments", name).out
    assert re.search(r"Source: .*https://", told)
    assert "Protects: " in told
    assert "Where noise is added: " in told


def test_every_deployment_that_has_words_is_listed():
    text = resources.files("confide.drawing").joinpath("sentences/en.toml").read_text("utf-8")
    said = tomllib.loads(text)["deployments"]
    named = {name: entry for name, entry in said.items() if isinstance(entry, dict)}
    told = {name for name, entry in named.items() if "row" in entry}
    assert told == set(DEPLOYMENTS)
    rows = {said[name]["row"]["epsilon"].lstrip("≈ ") for name in DEPLOYMENTS}
    assert all(any(row in said[name]["loss"] for row in rows) for name in DEPLOYMENTS)


def test_the_epsilon_of_the_census_is_that_of_its_rho():
    loss = ZeroConcentratedDP(rho=Fraction("2.56"))
    assert epsilon_at(loss, delta=Fraction("1e-10")) == pytest.approx(17.14, abs=0.03)
    wiki = ZeroConcentratedDP(rho=Fraction("0.015"))
    assert epsilon_at(wiki, delta=Fraction("1e-7")) == pytest.approx(1, abs=0.2)


def test_an_unknown_deployment_is_refused_and_the_near_one_named():
    ran = confide("explain", "deployments", "census-2002")
    assert ran.code == 7
    assert "census-2020" in ran.err


@pytest.mark.parametrize(
    "words", [("groups", "0"), ("bits", "0"), ("groups", "x"), ("bits", "1", "--delta", "2")]
)
def test_what_is_no_loss_is_refused(words):
    assert confide("explain", *words).code == 7


def test_an_explanation_is_a_page_that_stands_alone(tmp_path):
    page = tmp_path / "bits.html"
    assert confide("explain", "bits", "1", "--out", page).code == 0
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "script" not in text.replace("script-src", "")
    assert "0.667" in text
    assert "<table" in text
    assert load_words("en").say("bits.others") in text


def test_the_page_of_deployments_has_the_source_of_each(tmp_path):
    page = tmp_path / "others.html"
    assert confide("explain", "deployments", "1", "--out", page).code == 0
    text, words = page.read_text(), load_words("en")
    assert text.count("Source: ") == len(DEPLOYMENTS)
    assert all(words.say(f"deployments.{name}.who") in text for name in DEPLOYMENTS)
