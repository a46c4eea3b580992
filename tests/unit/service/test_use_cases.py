"""What a command prints with ``--json`` is the dump of its use case's result, and nothing else."""

import pytest

import confide as package
from command_line import confide
from confide.service.dump import dump
from confide.service.ledger.show import show_ledger
from confide.service.ledger.verify import verify_ledger
from confide.service.opening import open_site, open_study
from confide.service.planning.plan import plan
from confide.service.planning.preview import described
from confide.service.reading.compare import compare
from confide.service.reading.explain import Topic, explain
from confide.service.reading.export import Form, export
from confide.service.reading.show import show
from confide.service.reading.verify import Trusted, verify
from confide.service.releasing.deliver import run_study
from confide.service.releasing.reuse import reuse_study
from small_clinic import make_clinic


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    clinic = make_clinic(tmp_path_factory.mktemp("service") / "clinic")
    assert run_study(clinic.study, out=clinic.folder / "out").charged
    return clinic


def told(schema, made):
    return {"schema": f"confide.{schema}/1", **dump(made)}


def test_a_command_prints_the_dump_of_its_use_case(clinic):
    study, dataset, out = clinic.study, clinic.dataset, clinic.folder / "out"
    said = {
        ("plan", study): told("plan", plan(study)),
        ("ledger", "show", dataset): told("ledger", show_ledger(dataset, last=100)),
        ("ledger", "verify", dataset): told(
            "ledger-verify", verify_ledger(dataset, anchor=None, progress=lambda _: None)
        ),
        ("verify", out, "--ledger", dataset): told(
            "verify", verify(out, trusted=Trusted(dataset=dataset))
        ),
        ("show", out, "--only", "by_sex"): told("show", show(out, only="by_sex")),
        ("diff", out, out): told("diff", compare(out, out)),
        ("explain", "plan", study): told("explain", explain(Topic.PLAN, str(study))),
        ("export", out, "--as", "methods"): told("export", export(out, form=Form.METHODS)),
    }
    for words, expected in said.items():
        ran = confide(*words, "--json")
        assert (words, ran.code, ran.json) == (words, 0, expected)


def test_a_study_is_charged_once_whether_the_command_or_the_use_case_runs_it(clinic, tmp_path):
    again = run_study(clinic.study, out=tmp_path / "again")
    assert not again.charged
    ran = confide("run", clinic.study, "--out", tmp_path / "again", "--json")
    assert ran.json == told("run", again)
    free = reuse_study(clinic.study, out=tmp_path / "reused")
    (entry,) = show_ledger(clinic.dataset, last=100).entries
    assert (free.charged, free.entries) == (False, (entry.number,))


def test_the_facade_and_the_use_cases_see_one_site(clinic):
    with package.open(clinic.dataset) as ws:
        asked = ws.study(clinic.study).plan()
        seen = described(asked, site=ws.site)
        assert ws.forecast(asked).keys() == {each.id for each in seen.statistics}
        assert seen.released_as == tuple(
            each.number for each in ws.ledger.entries(ws.declared.dataset.lineage)
        )
    site, declared = open_study(clinic.study)
    with site:
        assert declared.plan().digest() == seen.digest


def test_opening_a_site_reads_no_rows(clinic):
    with open_site(clinic.dataset) as site:
        assert site._engine is None
