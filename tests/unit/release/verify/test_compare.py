"""Two certificates are ranked only where their losses are about the same thing."""

import copy

import pytest

from confide.errors import ContractError
from confide.release.verify.compare import Order, compare
from confide.release.verify.versions import versions, versions_check
from issued import again, issue


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    base = tmp_path_factory.mktemp("pair")
    first = issue(base)
    text = first.clinic.study.read_text()
    changed = text.replace("within: 30", "within: 25")
    named = "title: Second look, supersedes: ../out/certificate.json"
    first.clinic.study.write_text(changed.replace("title: First look", named))
    return first.certificate, again(first.clinic, base / "second").certificate


def altered(certificate, **guarantee):
    other = copy.deepcopy(certificate)
    other["guarantee"] |= guarantee
    return other


def test_two_releases_of_one_ledger_are_ranked_by_their_loss(pair):
    first, second = pair
    assert compare(first, second).order is Order.FIRST
    assert compare(second, first).order is Order.SECOND
    assert compare(first, first).order is Order.EQUAL
    assert compare(first, first).lines == ()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"unit": "event"}, "unit: patient and event"),
        ({"adjacency": "substitute"}, "adjacency: add-remove and substitute"),
        ({"trust": "local"}, "trust: central and local"),
        ({"spend": {"measure": "pure", "epsilon": "0.1"}}, "measure: zcdp and pure"),
        (
            {"equivalent": {"measure": "approx", "epsilon": "0.1", "delta": "0.00001"}},
            "δ: 1e-06 and 1e-05",
        ),
        (
            {"spend": {"measure": "zcdp", "rho": "0.001", "delta": "0.0000001"}},
            "δ of key selections: 0 and 1e-07",
        ),
    ],
)
def test_losses_that_are_about_other_things_are_not_ranked_and_it_says_why(pair, change, reason):
    first, _ = pair
    found = compare(first, altered(first, **change))
    assert found.order is Order.NONE
    assert found.because[0].startswith(reason)


def test_a_loss_that_is_spent_each_month_is_not_ranked_with_one_that_is_spent_once(pair):
    first, _ = pair
    monthly = copy.deepcopy(first)
    monthly["release"]["period"] = "2026-10"
    found = compare(first, monthly)
    assert found.order is Order.NONE
    assert "again each period" in found.because[0]


def test_losses_under_caps_of_other_windows_are_not_ranked(pair):
    first, _ = pair
    rolling = copy.deepcopy(first)
    for charge in rolling["accounting"]["charges"]:
        charge["scope"] = charge["scope"].replace("calendar-year/2026", "rolling-365d")
    charges = [c["scope"] for c in rolling["accounting"]["charges"]]
    if "rolling-365d" not in charges:
        pytest.fail(str(charges))
    assert compare(first, rolling).because[0].startswith("window")


def test_changed_scales_and_charges_are_shown_by_the_name_of_their_measurement(pair):
    lines = {each.line for each in compare(*pair).lines}
    assert "mechanisms.by_sex/count.law.scale-squared" in lines
    assert "mechanisms.by_sex/count.charge.rho" in lines
    assert "accounting.charges.lifetime.after" in lines
    assert not [line for line in lines if line.startswith("mechanisms.diabetes")]


def test_a_changed_bound_is_shown(pair):
    first, _ = pair
    other = copy.deepcopy(first)
    other["mechanisms"][0]["bounds"]["max_cells"] = 4
    lines = {each.line: (each.one, each.other) for each in compare(first, other).lines}
    assert lines["mechanisms.diabetes/count.bounds.max_cells"] == ("1", "4")


def test_what_differs_between_any_two_releases_is_not_shown(pair):
    shown = " ".join(each.line for each in compare(*pair).lines)
    for name in ("hash", "previous", "commitment", "payload-sha256"):
        assert name not in shown


def test_a_file_without_a_guarantee_is_refused_in_words():
    with pytest.raises(ContractError, match="no certificate"):
        compare({"a": 1}, {"b": 2})


def test_a_release_names_what_it_supersedes_and_the_chain_is_shown(pair):
    first, second = pair
    assert compare(first, second).versions == "the second supersedes the first"
    found = versions(second, earlier=[first])
    assert [(each.id, each.held) for each in found] == [("clinic/6", True), ("clinic/2", True)]
    assert versions_check(found).holds
    assert versions_check(found).detail == "clinic/6 supersedes clinic/2"
    assert "not at hand" in versions_check(versions(second)).detail


@pytest.mark.parametrize(
    ("way", "value", "words"),
    [
        (("accounting", "payload-sha256"), "0" * 64, "other numbers"),
        (("issuer", "key"), "ed25519:" + "0" * 64, "another key"),
    ],
)
def test_a_release_that_is_not_the_superseded_one_is_found(pair, way, value, words):
    first, second = copy.deepcopy(pair)
    first[way[0]][way[1]] = value
    check = versions_check(versions(second, earlier=[first]))
    assert not check.holds
    assert words in check.detail


def test_a_circle_of_versions_ends(pair):
    first, second = copy.deepcopy(pair)
    link = {"id": second["id"], "payload-sha256": second["accounting"]["payload-sha256"]}
    first["release"]["supersedes"] = link
    check = versions_check(versions(second, earlier=[first, second]))
    assert not check.holds
    assert "itself" in check.detail


def test_a_study_that_supersedes_no_certificate_is_refused(tmp_path):
    from confide.workspace import open_study
    from small_clinic import make_clinic

    clinic = make_clinic(tmp_path / "clinic")
    text = clinic.study.read_text()
    for name in ("patients.csv", "nothing.json"):
        clinic.study.write_text(text.replace("purpose: test", f"supersedes: {name}"))
        with pytest.raises(ContractError, match="supersedes"):
            open_study(clinic.study)
