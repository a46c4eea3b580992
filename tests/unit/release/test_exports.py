"""Exports: what a registry, an output checker and a journal get says what the certificate says."""

import csv
import hashlib

import pytest

from confide.errors import VerificationError
from confide.release.certificate.deployment_record import deployment_record
from confide.release.export import lines_of, tables
from confide.release.output_check import results
from issued import issue


@pytest.fixture(scope="module")
def issued(tmp_path_factory):
    return issue(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    more = (
        "  - {id: bands, kind: histogram, table: patients, by: [age, sex], error: {within: 40}}\n"
    )
    more = more.replace("[age, sex]", "[age_band, sex, diabetes]") + "small-cells: cms\n"
    return issue(tmp_path_factory.mktemp("house"), more=more)


def files(issued):
    return tables(issued.release.plan, issued.release.estimates)


def test_a_registry_record_answers_all_three_tiers_from_the_certificate(issued):
    certificate, record = issued.certificate, deployment_record(issued.certificate)
    assert record["transparency-tier"] == 3
    tiers = {
        1: ("data-curator", "intended-use", "data-product", "publication-date"),
        2: ("dp-flavour", "privacy-loss", "deployment-model"),
        3: ("privacy-accounting", "implementation", "evidence"),
    }
    for members in tiers.values():
        for member in members:
            assert member in record
    assert record["privacy-loss"]["parameters"] == certificate["guarantee"]["spend"]
    assert record["privacy-loss"]["privacy-unit"] == "patient"
    assert record["dp-flavour"]["unprotected-quantities"]
    assert record["privacy-accounting"]["budgets"] == certificate["accounting"]["charges"]
    noises = [each["noise"] for each in record["implementation"]["mechanisms"]]
    assert noises == [each["law"] for each in certificate["mechanisms"]]


def test_a_registry_record_never_states_an_epsilon_without_unit_and_delta(issued):
    loss = deployment_record(issued.certificate)["privacy-loss"]
    assert {"privacy-unit", "privacy-unit-description"} <= set(loss)
    assert "delta" in loss["shown-as"]


def test_a_checker_gets_one_record_a_table_with_its_file_and_its_noise(issued):
    found = results(issued.certificate, tables=files(issued))
    assert set(found) == {"version", "results"}
    records = found["results"]
    assert list(records) == ["output_0", "output_1"]
    names = [record["files"][0]["name"] for record in records.values()]
    assert names == ["tables/by_sex.csv", "tables/diabetes.csv"]
    for uid, record in records.items():
        assert record["uid"] == uid
        assert record["type"] == "table"
        assert record["properties"]["method"] == "differential privacy"
        assert record["properties"]["noise"]
        assert record["timestamp"] == issued.certificate["issued"]


def test_a_checker_is_told_which_cells_a_house_rule_withheld(house):
    record = next(
        each
        for each in results(house.certificate, tables=files(house))["results"].values()
        if each["files"][0]["name"] == "tables/bands.csv"
    )
    text = (house.out / "tables" / "bands.csv").read_text()
    rows = list(csv.DictReader(text.splitlines()))
    withheld = [n for n, row in enumerate(rows) if row["flags"] == "small cell"]
    sdc = record["files"][0]["sdc"]
    assert [place[0] for place in sdc["cells"]["threshold"]] == withheld
    others = ("negative", "missing", "p-ratio", "nk-rule", "all-values-are-same")
    told = {"suppressed": bool(withheld), "threshold": len(withheld)}
    assert sdc["summary"] == {**dict.fromkeys(others, 0), **told}
    assert record["status"] == "pass"
    for row in rows:
        assert not row["value"] or float(row["value"]) >= 11


def test_small_noisy_counts_without_a_rule_are_for_review(issued):
    certificate, content = issued.certificate, files(issued)
    head, first, *_ = content["tables/by_sex.csv"].decode().splitlines()
    value = first.split(",")[2]
    small = "\n".join([head, first.replace(f",{value},", ",3,", 1)]).encode()
    for output in certificate["outputs"]:
        if output["path"] == "tables/by_sex.csv":
            output["sha256"] = hashlib.sha256(small).hexdigest()
    found = results(certificate, tables=content | {"tables/by_sex.csv": small})
    record = found["results"]["output_0"]
    assert record["status"] == "review"
    assert record["files"][0]["sdc"]["cells"]["threshold"] == [[0, 2]]


def test_a_label_of_any_length_is_exported(issued):
    certificate, content = issued.certificate, files(issued)
    head, first, *_ = content["tables/by_sex.csv"].decode().splitlines()
    label = "x" * 200_000 + "\r\n"
    quantity, _, *numbers = first.split(",")
    long = "\n".join([head, ",".join([quantity, f'"{label}"', *numbers])]).encode()
    for output in certificate["outputs"]:
        if output["path"] == "tables/by_sex.csv":
            output["sha256"] = hashlib.sha256(long).hexdigest()
    found = results(certificate, tables=content | {"tables/by_sex.csv": long})
    assert len(found["results"]) == len(
        results(issued.certificate, tables=files(issued))["results"]
    )
    assert lines_of(long.decode())[1][1] == label
    assert csv.field_size_limit() == 131_072


def test_a_table_that_was_not_certified_is_not_exported(issued):
    changed = {path: content + b"x" for path, content in files(issued).items()}
    with pytest.raises(VerificationError, match="not the table that was certified"):
        results(issued.certificate, tables=changed)
