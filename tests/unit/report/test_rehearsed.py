"""What a statistic lacks is found before its charge: certificate, words, table or figure."""

import dataclasses

import pytest

import confide
from confide.drawing import words as words_of
from confide.errors import UnsupportedError
from confide.report import rehearsal
from confide.statistics import STATISTICS, registry
from confide.statistics.count.spec import Count
from every_kind import GAUSSIAN_ALONE, STUDIES, dataset, frames


@pytest.fixture
def ws(tmp_path):
    with confide.open(dataset(measure="zcdp"), frames=frames(), folder=tmp_path) as ws:
        yield ws


def _plan(ws, kind="mean", **more):
    return ws.plan({"id": "asked", "kind": kind, **STUDIES[kind], **more}, epsilon="1")


def _refused(ws, plan, match):
    with pytest.raises(UnsupportedError, match=match) as refused:
        ws.release(plan)
    assert "'asked'" in str(refused.value)
    assert ws.ledger.entries(plan.dataset.lineage) == ()
    assert {scope.used for scope in ws.spent().scopes} == {0}


def _without(monkeypatch, *keys):
    """Let the language lack some sentences."""
    whole = words_of.load_words("en")
    kept = {k: v for k, v in whole.templates.items() if not k.startswith(keys)}
    monkeypatch.setattr(
        rehearsal, "load_words", lambda _: dataclasses.replace(whole, templates=kept)
    )


def _with(monkeypatch, spec, **parts):
    """Let a kind have other parts than it was made with."""
    kind = dataclasses.replace(registry.kind_of(spec))
    for name, part in parts.items():
        object.__setattr__(kind, name, part)
    monkeypatch.setitem(registry._BY_SPEC, type(spec), kind)


@pytest.mark.parametrize("kind", sorted(STATISTICS))
def test_a_statistic_without_its_words_is_refused_before_the_charge(kind, ws, monkeypatch):
    plan = _plan(ws, kind)
    _without(monkeypatch, f"fit.{kind}")
    _refused(ws, plan, f"fit.{kind}")


@pytest.mark.parametrize("key", ["quantity.mean", "bounded.law", "covers.", "head.estimate"])
def test_a_sentence_that_an_answer_needs_is_looked_for_before_the_charge(key, ws, monkeypatch):
    plan = _plan(ws, "variance")
    _without(monkeypatch, key)
    _refused(ws, plan, "Unknown sentence")


def test_a_statistic_of_no_registered_kind_is_refused_before_the_charge(ws, monkeypatch):
    plan = _plan(ws)
    monkeypatch.delitem(registry._BY_SPEC, type(plan.statistics[0]))
    _refused(ws, plan, "not a registered statistic")


@pytest.mark.parametrize(
    "parts",
    [
        {"figure": "confide.drawing.charts.by_group:nobody"},
        {"subtitle": "confide.statistics.mean.nobody:subtitle"},
        {"headline": None},
        {"title": None},
        {"bias": object()},
        {"fit": lambda *_: {"nobody": "asked"}},
    ],
    ids=lambda parts: next(iter(parts)),
)
def test_a_kind_with_one_part_missing_is_refused_before_the_charge(parts, ws, monkeypatch):
    plan = _plan(ws)
    _with(monkeypatch, plan.statistics[0], **parts)
    _refused(ws, plan, "not charged")


def test_a_large_answer_is_not_made_twice_but_its_kind_is_looked_at(ws, monkeypatch):
    plan = _plan(ws)
    monkeypatch.setattr(rehearsal, "LARGEST", 1)
    _without(monkeypatch, "fit.mean")
    rehearsal.rehearse(plan)
    _with(monkeypatch, plan.statistics[0], figure="confide.drawing.charts.by_group:nobody")
    _refused(ws, plan, "lacks its figure")


def test_an_estimate_that_fails_is_found_before_the_charge(ws, monkeypatch):
    plan = _plan(ws, "count")

    def fails(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(Count, "estimate", fails)
    _refused(ws, plan, "ZeroDivisionError")


def test_what_was_charged_is_delivered_again_without_a_rehearsal(ws, monkeypatch):
    plan = _plan(ws)
    first = ws.release(plan)
    monkeypatch.setattr(rehearsal, "rehearse", None)
    assert ws.release(plan).estimates == first.estimates


@pytest.mark.parametrize("measure", ["pure", "zcdp"])
@pytest.mark.parametrize("kind", sorted(STATISTICS))
def test_made_up_answers_of_every_kind_have_numbers_to_speak_of(
    kind, measure, tmp_path, monkeypatch
):
    if measure == "pure" and kind in GAUSSIAN_ALONE:
        pytest.skip("Gaussian noise alone")
    told = []
    section = rehearsal.section
    monkeypatch.setattr(rehearsal, "section", lambda *a, **k: told.append(a[0]) or section(*a, **k))
    with confide.open(dataset(measure=measure), frames=frames(), folder=tmp_path) as ws:
        rehearsal.rehearse(_plan(ws, kind))
    (release,) = told
    assert kind.startswith("top-") or any(each.value is not None for each in release.estimates)
