"""Earlier releases answer what they can, exactly, at no cost and without the data."""

import csv
import json
import math
import shutil
from dataclasses import replace

import pytest

import confide
from command_line import confide as run
from confide.budget.chained_ledger import ChainedLedger
from confide.errors import ContractError
from confide.plans.plan import Study
from confide.plans.reuse import Same, Summed
from confide.release.consent import Lost
from confide.release.reused import earlier_releases
from confide.release.verify.verify import read_certificate, verify
from small_clinic import DATASET, make_clinic

AGES = {"id": "ages", "kind": "histogram", "table": "patients", "by": ["age_band", "diabetes"]}
KNOWN = {"diabetes": "known"}
WARDS = {
    "id": "wards",
    "kind": "histogram",
    "table": "visits",
    "by": ["ward"],
    "per-patient": {"cells": 2},
}
PUBLISHED = (
    AGES,
    {**WARDS, "id": "wards"},
    {"id": "age", "kind": "mean", "table": "patients", "column": "age"},
)


def count(id_="n", **where):
    return {"id": id_, "kind": "count", "table": "patients", "where": where}


def bands(**more):
    return {"id": "bands", "kind": "histogram", "table": "patients", "by": ["age_band"], **more}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A clinic that published a crosstab, wards and a mean, and whose rows are gone since."""
    clinic = make_clinic(tmp_path_factory.mktemp("clinic"))
    with confide.open(clinic.dataset) as ws:
        released = ws.release(ws.plan(*PUBLISHED, epsilon="0.9", study=Study(id="first")))
    for source in clinic.folder.glob("*.csv"):
        source.unlink()
    return clinic, released


@pytest.fixture
def ws(world):
    with confide.open(world[0].dataset) as opened:
        yield opened


def noisy_ages(released):
    cells = {e.key: None for e in released.of("ages")}
    return dict(zip(cells, released.noisy.values[0], strict=True))


def reuse(ws, *asked, audience="public"):
    study = Study(id="again", audience=audience)
    return ws.reuse(ws.plan(*asked, epsilon="0.1", study=study))


def test_a_reused_number_is_the_sum_of_the_published_cells(ws, world):
    cells = noisy_ages(world[1])
    again = reuse(ws, bands(where=KNOWN), count(diabetes=["yes"], age={"from": 60}))
    for estimate in again.of("bands"):
        total = sum(value for (band, _), value in cells.items() if band == estimate.key[0])
        assert estimate.value == max(0, total)
    noise = world[1].plan.measurements[0].mechanism
    (bands_e, *_), (single,) = again.of("bands"), again.of("n")
    assert bands_e.standard_error == pytest.approx(math.sqrt(2 * noise.variance()))
    assert single.value == max(0, cells["60-100", "yes"])
    assert single.standard_error == pytest.approx(math.sqrt(noise.variance()))


def test_the_same_question_is_read_by_the_statistic_itself(ws, world):
    asked = {"id": "mean_age", "kind": "mean", "table": "patients", "column": "age"}
    (again,) = reuse(ws, asked).of("mean_age")
    (first,) = world[1].of("age")
    assert (again.value, again.lower, again.upper) == (first.value, first.lower, first.upper)
    (answer,) = ws.offers(ws.plan(asked, epsilon="0.1")).values()
    assert isinstance(answer, Same)


def test_a_share_follows_from_a_crosstab(ws, world):
    share = {
        "id": "dm",
        "kind": "proportion",
        "table": "patients",
        "of": {"diabetes": ["yes"]},
        "where": KNOWN,
        "by": ["age_band"],
    }
    cells = noisy_ages(world[1])
    for estimate in reuse(ws, share).of("dm"):
        band = estimate.key[0]
        yes, no = cells[band, "yes"], cells[band, "no"]
        assert estimate.value == pytest.approx(min(1, max(0, yes / (yes + no))))


def test_nothing_is_charged_recorded_or_read(ws, world):
    before = ws.ledger.head(), ws.spent()
    release = reuse(ws, bands(where=KNOWN))
    assert (ws.ledger.head(), ws.spent()) == before
    assert ws.site._engine is None  # no source was opened, and its files are gone
    assert not list(world[0].folder.glob("*.csv"))
    assert release.certificate["guarantee"]["spend"] == "0"


def refused(ws, *asked, audience="public"):
    with pytest.raises(ContractError) as caught:
        reuse(ws, *asked, audience=audience)
    return str(caught.value)


def test_a_refusal_names_every_statistic_that_is_not_answered(ws):
    told = refused(ws, bands(where=KNOWN), count("all"), count("thirty", age={"from": 30}))
    assert "'bands'" not in told
    assert "'all' is not answered" in told
    assert "unknown or outside" in told
    assert "'thirty' is not answered" in told
    assert "whether a condition holds" in told


def test_patients_counted_in_several_wards_are_not_added_up(ws):
    asked = {"id": "visitors", "kind": "count", "table": "visits", "where": {"ward": "known"}}
    assert "several cells" in refused(ws, asked)
    assert "entry" in refused(ws, asked)
    same = {**WARDS, "id": "w2"}
    assert reuse(ws, same).of("w2")
    assert "not answered" in refused(ws, {**same, "per-patient": {"cells": 1}})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('snapshot: "1"', 'snapshot: "2"'),
        ("upper: 100, unit: a", "upper: 110, unit: a"),
        ("{count: visits, at-most: 3}", "{count: visits, at-most: 4}"),
        ("[yes, no]", "[no, yes]"),
    ],
)
def test_another_snapshot_or_description_is_other_data(world, old, new):
    path = world[0].folder / "other.yaml"
    path.write_text(DATASET.replace(old, new))
    assert old not in path.read_text()
    with confide.open(path) as other:
        assert not earlier_releases(other.ledger, dataset=other.declared.dataset, audience="public")
        assert "nothing published measured it" in refused(other, {**AGES, "id": "a"})


def test_another_unit_or_adjacency_is_another_promise(ws):
    dataset = ws.declared.dataset
    assert earlier_releases(ws.ledger, dataset=dataset, audience="public")
    other = replace(dataset, adjacency=_other(dataset))
    assert not earlier_releases(ws.ledger, dataset=other, audience="public")
    unit = replace(dataset.unit, entity=type(dataset.unit.entity).EVENT)
    assert not earlier_releases(ws.ledger, dataset=replace(dataset, unit=unit), audience="public")


def _other(dataset):
    return next(each for each in type(dataset.adjacency) if each is not dataset.adjacency)


def test_a_narrower_audience_keeps_its_numbers(tmp_path):
    clinic = make_clinic(tmp_path)
    with confide.open(clinic.dataset) as ws:
        ws.release(ws.plan(AGES, epsilon="0.5", study=Study(id="in", audience="internal")))
        assert reuse(ws, {**AGES, "id": "a"}, audience="internal").of("a")
        for audience in ("registered", "public", "everybody"):
            assert "nothing published" in refused(ws, {**AGES, "id": "a"}, audience=audience)


def test_a_second_answer_is_averaged_in_by_its_precision(tmp_path):
    clinic = make_clinic(tmp_path)
    with confide.open(clinic.dataset) as ws:
        sex = {"id": "sex", "kind": "histogram", "table": "patients", "by": ["sex"]}
        first = ws.release(ws.plan(sex, epsilon="0.3"))
        more = ws.release(ws.plan(sex, epsilon="0.6"))
        (answer,) = ws.offers(ws.plan(sex, epsilon="0.1")).values()
        found = reuse(ws, sex).of("sex")
    assert isinstance(answer, Summed)
    noises = [release.plan.measurements[0].mechanism.variance() for release in (first, more)]
    together = 1 / sum(1 / variance for variance in noises)
    rho = sum(release.plan.amount.nano for release in (first, more))
    as_one = noises[0] * first.plan.amount.nano / rho
    assert together == pytest.approx(as_one, rel=1e-3)  # nothing is lost by asking twice
    for place, estimate in enumerate(found):
        values = [release.noisy.values[0][place] for release in (first, more)]
        mean = sum(v / s for v, s in zip(values, noises, strict=True)) * together
        assert abs(estimate.value - mean) <= 0.5 + 1e-9
        rounding = 0 if abs(mean - round(mean)) < 1e-9 else 1 / 12
        assert estimate.standard_error == pytest.approx(math.sqrt(together + rounding))


def test_releases_of_before_and_after_a_withdrawal_are_not_joined(tmp_path):
    clinic = make_clinic(tmp_path)
    sex = {"id": "sex", "kind": "histogram", "table": "patients", "by": ["sex"]}
    with confide.open(clinic.dataset) as ws:

        def used(*asked):
            return [each.entry for each in reuse(ws, *asked).reused.sources]

        ws.release(ws.plan(sex, bands(), epsilon="0.2"))
        (first,) = used(sex)
        ws.forget(["1"])
        assert used(sex) == [first], "what was published is worked with for ever"
        ws.release(ws.plan(sex, epsilon="0.3"))
        (second,) = used(sex)
        assert second > first, "the newest"
        assert used(bands()) == [first]
        with pytest.raises(ContractError, match="patients withdrew consent are not used together"):
            used(sex, bands(), {**WARDS, "id": "wards"})
        ws.release(ws.plan(sex, epsilon="0.1"))
        assert used(sex)[0] == second
        assert len(used(sex)) == 2
        ws.forget(["2"], lost=Lost(reason="the disk burned"))
        ws.release(ws.plan(sex, epsilon="0.15"))
        assert len(used(sex)) == 1


def test_a_release_that_was_under_way_at_a_withdrawal_is_joined_with_none(tmp_path):
    clinic = make_clinic(tmp_path)
    with confide.open(clinic.dataset) as ws:
        plan, commit = ws.plan(count(), epsilon="0.2"), ChainedLedger.commit
        ws.release(plan, request="1")

        def amid(self, *args, **more):
            ws.ledger.desk.consent.note_withdrawal("clinic", tag="e" * 64, by="bo")
            return commit(self, *args, **more)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ChainedLedger, "commit", amid)
            ws.release(plan, request="2")
        eras = [
            each.era
            for each in earlier_releases(ws.ledger, dataset=plan.dataset, audience="public")
        ]
        assert len(set(eras)) == 2


@pytest.fixture(scope="module")
def folder(world):
    clinic, _ = world
    (clinic.folder / "again.yaml").write_text(
        "study: {id: again, title: Again}\n"
        "statistics:\n"
        "  - {id: bands, kind: histogram, table: patients, by: [age_band],\n"
        "     where: {diabetes: known}, error: {within: 400}}\n"
        "  - {id: old, kind: count, table: patients, where: {diabetes: [yes], age: {from: 60}},\n"
        "     error: {within: 4}}\n"
    )
    out = clinic.folder / "again"
    return out, run("run", clinic.folder / "again.yaml", "--out", out, "--reuse", "--json")


def test_run_reuse_leaves_a_folder_that_verifies_without_the_data(world, folder):
    out, ran = folder
    assert ran.code == 0, ran.err
    assert ran.json["charged"] is False
    assert ran.json["entries"] == [2]
    checked = run("verify", out, "--key", world[0].folder / ".confide" / "signing.pub", "--json")
    assert checked.json["holds"] is True
    names = {check["name"] for check in checked.json["checks"]}
    assert {"signature", "earlier answers", "losses of entry 2", "tables/bands.csv"} <= names
    page = (out / "report.html").read_text()
    assert "Nothing was spent" in page
    assert "Sums of up to 2 published cells" in page
    shown = run("show", out, "--json")
    assert [each["id"] for each in shown.json["tables"]] == ["bands", "old"]
    assert run("explain", "certificate", out).code == 0


def test_run_reuse_again_is_the_same_folder_and_never_over_another(world, folder, tmp_path):
    out, _ = folder
    before = (out / "certificate.json").read_bytes()
    study = world[0].folder / "again.yaml"
    assert run("run", study, "--out", out, "--reuse").code == 0
    assert (out / "certificate.json").read_bytes() == before
    (tmp_path / "mine.txt").write_text("mine")
    assert run("run", study, "--out", tmp_path, "--reuse").code != 0
    assert run("run", study, "--out", tmp_path / "new", "--reuse", "--request", "x").code != 0
    assert not (tmp_path / "new").exists()


def test_run_reuse_refuses_what_is_not_answered_and_charges_nothing(world, tmp_path):
    study = world[0].folder / "more.yaml"
    study.write_text(
        "study: {id: more}\n"
        "statistics:\n"
        "  - {id: everyone, kind: count, table: patients, error: {within: 20}}\n"
    )
    ran = run("run", study, "--out", tmp_path / "out", "--reuse")
    assert ran.code != 0
    assert "everyone" in ran.err
    assert not (tmp_path / "out").exists()


def test_plan_shows_what_is_free_and_whether_it_is_as_precise(world):
    ran = run("plan", world[0].folder / "again.yaml", "--json")
    by_id = {each["id"]: each for each in ran.json["offers"]}
    assert by_id["bands"]["entries"] == [2]
    assert by_id["bands"]["as-precise"] is True
    assert by_id["old"]["as-precise"] is False
    told = run("plan", world[0].folder / "again.yaml").out
    assert "costs nothing" in told
    assert "--reuse" in told


LIES = {
    "another spend": lambda c: c["guarantee"].update(spend="1"),
    "another entry": lambda c: c["sources"][0].update(entry=1),
    "another answer": lambda c: c["sources"][0].update({"payload-sha256": "0" * 64}),
    "another audience": lambda c: c["release"].update(audience="internal"),
    "a new member": lambda c: c.update(reviewed="yes"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_certificate_that_was_edited_does_not_verify(folder, lie):
    out, _ = folder
    certificate = read_certificate(out / "certificate.json")
    assert verify(certificate, folder=out).holds
    LIES[lie](certificate)
    failed = [c.name for c in verify(certificate, folder=out).checks if not c.holds]
    assert "signature" in failed
    assert len(failed) > 1, failed


def test_changed_tables_and_sources_do_not_verify(folder, tmp_path):
    out, _ = folder
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    certificate = read_certificate(copy / "certificate.json")
    with (copy / "tables" / "old.csv").open() as file:
        rows = list(csv.reader(file))
    rows[1][1] = "999"
    with (copy / "tables" / "old.csv").open("w") as file:
        csv.writer(file).writerows(rows)
    failed = [c.name for c in verify(certificate, folder=copy).checks if not c.holds]
    assert failed == ["tables/old.csv"]
    source = copy / "sources" / "2.json"
    body = json.loads(source.read_bytes())
    body["measurements"][0]["noisy"][0] = "100000"
    source.write_text(json.dumps(body))
    failed = [c.name for c in verify(certificate, folder=copy).checks if not c.holds]
    assert "earlier answers" in failed


def test_a_wider_audience_than_the_sources_does_not_verify(world, folder, tmp_path):
    out, _ = folder
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    body = json.loads((copy / "reused.json").read_bytes())
    body["study"]["audience"] = "registered"
    (copy / "reused.json").write_text(json.dumps(body))
    failed = [
        c.name
        for c in verify(read_certificate(copy / "certificate.json"), folder=copy).checks
        if not c.holds
    ]
    assert "reused.json" in failed
    assert "release" in failed
