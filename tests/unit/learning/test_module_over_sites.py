"""Modules trained over sites: one plan, one charge a site, patients protected, no rows pooled."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")

from command_line import confide  # noqa: E402
from confide.errors import (  # noqa: E402
    BudgetExhaustedError,
    ContractError,
    PolicyError,
    ReleaseFailedError,
    RoundAbortedError,
    UnsupportedError,
    VerificationError,
)
from confide.jobs.federated.runs.coordinate import Coordinator  # noqa: E402
from confide.jobs.federated.training import rounds  # noqa: E402
from confide.jobs.kinds import read_spec  # noqa: E402
from confide.jobs.learning.walk import MODEL  # noqa: E402
from confide.learning import ModuleOverSites  # noqa: E402
from confide.plans.job import require_sound_job  # noqa: E402
from confide.release.jobs.job_answer import JobAnswer, read_answer  # noqa: E402
from confide.statistics import read_job  # noqa: E402
from modules_over_sites import (  # noqa: E402
    ModuleSites,
    auc,
    charged,
    check_that_a_patient_moves_no_step_by_more_than_the_clip,
    check_that_every_step_is_noised,
    hidden,
    overheard,
    without_noise,
)

COUNTS = (400, 500, 600)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    sites = ModuleSites(tmp_path_factory.mktemp("sites"), counts=COUNTS)
    ended = sites.together()
    broken = {name: each for name, each in ended.items() if isinstance(each, Exception)}
    assert not broken, broken
    return sites, ended


@pytest.fixture(scope="module")
def silent(tmp_path_factory):
    """Sites that did not train yet; nobody is charged by the tests that use them."""
    return ModuleSites(tmp_path_factory.mktemp("silent"), counts=COUNTS, module=hidden)


def test_each_site_is_charged_once_for_all_steps_and_the_coordinator_for_nothing(trained):
    sites, ended = trained
    nano = sites.member("hub").plan().plan.nano
    assert [sites.entries(name) for name in sites.names] == [[("published", nano)]] * 3
    assert sites.entries("hub") == []
    assert len(ended["hub"].certificates) == 3
    assert ended["hub"].missing == {}


def test_all_members_make_one_model_of_the_sums(trained):
    sites, ended = trained
    models = {ended[name].release_.answer.files[MODEL] for name in sites.names}
    assert models == {ended["hub"].answer.files[MODEL]}


def test_a_module_over_sites_predicts_patients_of_no_site(trained):
    assert auc(trained[1]["site-0"]) > 0.85


def test_the_certificate_of_a_training_names_the_sites_and_whom_it_protects(trained):
    form = trained[1]["site-1"].certificate_
    assert form["guarantee"]["unit"] == "patient"
    assert form["guarantee"]["trust"] == "sites"
    part = form["federation"]
    assert part["added"] == ["site-0", "site-1", "site-2"]
    lost = {each["to"]: float(each["rho"]) for each in part["losses"]}
    assert lost["all other sites and the coordinator together"] == pytest.approx(
        2 * lost["every site's ledger"], rel=1e-4
    )


def test_every_sites_certificate_of_a_training_verifies_on_the_command_line(trained, tmp_path):
    sites, ended = trained
    folder = ended["hub"].save(tmp_path / "out")
    for name in sites.names:
        done = confide("verify", folder / name)
        assert done.code == 0, done.err
        assert "site-0, site-1, site-2" in confide("explain", folder / name).out
    head = json.loads((folder / "site-0" / "job.json").read_bytes())
    head["added"] = head["added"][:2]
    (folder / "site-0" / "job.json").write_text(json.dumps(head))
    assert confide("verify", folder / "site-0").code != 0


def test_status_tells_the_steps_of_a_training(trained):
    sites = trained[0]
    done = confide("federate", "status", "--folder", sites.shared, "--federation", sites.file)
    assert "4 of 4 sums" in done.out, done.out


def test_the_same_training_is_delivered_again_at_no_charge(trained):
    sites, ended = trained
    again = sites.fit("site-0")
    assert again.release_.answer.digest() == ended["site-0"].release_.answer.digest()
    assert sites.member("hub").coordinate().answer.digest() == ended["hub"].answer.digest()
    assert len(sites.entries("site-0")) == 1


def test_with_the_noise_off_sites_train_the_very_model_of_one_curator(tmp_path, monkeypatch):
    without_noise(monkeypatch)
    sites = ModuleSites(tmp_path, counts=(30, 40, 50), module=hidden)
    ended = sites.together()
    pooled = tuple(np.concatenate(each) for each in zip(*sites.rows, strict=True))
    _, central = overheard(sites.member("pooled"), pooled)
    assert ended["hub"].answer.files[MODEL] == central[MODEL]


def test_one_patient_moves_a_sites_sum_of_a_step_by_the_clip_at_most(silent, monkeypatch):
    without_noise(monkeypatch)
    check_that_a_patient_moves_no_step_by_more_than_the_clip(silent)


def test_every_step_is_noised_as_much_as_the_plan_says(silent):
    check_that_every_step_is_noised(silent)


@pytest.mark.parametrize(("sites", "drops", "per_person"), [(3, 0, 1), (5, 1, 2)])
def test_honest_parts_of_all_steps_lose_no_more_than_is_charged(sites, drops, per_person, tmp_path):
    made = ModuleSites(tmp_path, counts=(50,) * sites, drops=drops, per_person=per_person)
    rho, lost = charged(made.member("hub"))
    assert lost <= rho < lost * Fraction(1_000_001, 1_000_000)


def test_the_noise_of_a_training_over_sites_has_the_central_variance_times_n_over_m(silent):
    member = silent.member("hub")
    assert member.plan().variance == 1.5
    features = member._declared(None)
    with member._open(features) as ws:
        spec = member._planned(ws, features)[1].spec
    ratio = spec.shared.total.sigma_squared / spec.training.sigma_squared
    assert float(ratio) == pytest.approx(1.5, rel=1e-6)


def test_a_plan_of_a_training_reads_back_and_less_noise_or_a_step_more_is_not_its_own(trained):
    plan = trained[1]["hub"].answer.plan
    assert read_job(json.loads(json.dumps(plan.to_json()))).digest() == plan.digest()
    require_sound_job(plan, job=read_spec(plan.kind, plan.spec))
    settings = json.loads(plan.spec)
    each = Fraction(settings["shared"]["part"]["sigma_squared_each"])
    settings["shared"]["part"]["sigma_squared_each"] = str(each * Fraction(999, 1000))
    with pytest.raises(ContractError, match="do not fit together"):
        read_spec(plan.kind, json.dumps(settings)).events(plan.dataset)
    steps = plan.spec.replace('"steps":4', '"steps":5')
    with pytest.raises(ContractError, match="not the one of this job"):
        require_sound_job(replace(plan, spec=steps), job=read_spec(plan.kind, steps))
    with pytest.raises(ContractError, match="not the one of this job"):
        require_sound_job(replace(plan, federation=None), job=read_spec(plan.kind, plan.spec))


def test_an_answer_that_names_sites_of_no_plan_is_refused(trained):
    answer = trained[1]["hub"].answer
    lied = JobAnswer(plan=answer.plan, files=answer.files, added=("site-0", "elsewhere"))
    with pytest.raises(VerificationError, match="names sites"):
        read_answer(lied.payload())


def test_a_training_whose_noise_drowns_all_gradients_is_refused_and_told_how_many_would_do(silent):
    with pytest.raises(ContractError, match="nothing would be learnt") as told:
        silent.member("hub", patients=12, epsilon="1").plan()
    need = int(str(told.value.hint).split()[2])
    assert silent.member("hub", patients=need, epsilon="1").plan().drowned <= 1
    with pytest.raises(ContractError, match="nothing would be learnt"):
        silent.member("hub", patients=need - 1, epsilon="1").plan()


def test_what_cannot_be_trained_over_sites_is_refused_beforehand(silent):
    with pytest.raises(ContractError, match="every patient is in each step"):
        silent.member("hub", batch=100).plan()
    with pytest.raises(UnsupportedError, match="counts as ρ"):
        silent.member("pure", measure="pure").plan()
    X, y, _ = silent.rows[0]
    with pytest.raises(ContractError, match="patients are protected"):
        silent.member("site-0").fit(X, y, patients="rows", approve=silent.digest())
    with pytest.raises(ContractError, match="another key"):
        silent.member("site-0").coordinate()
    with pytest.raises(ContractError, match="not that of this site's plan"):
        silent.fit("site-0", approve="0" * 64)
    assert silent.entries("site-0") == []


def test_a_site_with_other_settings_takes_no_part_and_nobody_is_charged(tmp_path):
    sites = ModuleSites(tmp_path, counts=(30, 40, 50))
    other = sites.member("site-1", epochs=5).plan().digest
    ended = sites.together(site_1=lambda: sites.fit("site-1", approve=other, epochs=5))
    assert isinstance(ended["site-1"], ContractError), ended
    assert "proposes another plan" in str(ended["site-1"])
    assert isinstance(ended["hub"], RoundAbortedError), ended
    assert [state for name in sites.names for state, _ in sites.entries(name)] == ["cancelled"] * 2


def test_a_site_with_other_first_weights_is_told_so_and_steered_to_no_other_digest(
    tmp_path, monkeypatch
):
    sites, other = ModuleSites(tmp_path, counts=(30, 40, 50)), torch.nn.Linear(3, 1)
    agreed = sites.digest()
    hub = sites.member("hub", seconds=0.1)
    monkeypatch.setattr(Coordinator, "abort", lambda *_: None)
    with pytest.raises(RoundAbortedError):
        hub.coordinate()
    with pytest.raises(ContractError, match="the first weights differ") as told:
        sites.fit("site-1", approve=agreed, module=other)
    assert "Do not approve another digest" in told.value.hint
    assert sites.member("site-1", module=other).plan().digest not in str(told.value)
    done = confide("federate", "status", "--folder", sites.shared, "--federation", sites.file)
    assert "refused" in done.out
    assert "the first weights differ" in " ".join(done.out.split())
    assert sites.entries("site-1") == []


def test_a_member_whose_key_is_not_in_the_federation_gets_no_plan(silent, tmp_path):
    with pytest.raises(ContractError, match="No member of the federation has this workspace's key"):
        silent.member("nobody").plan()
    assert silent.member("hub").plan().digest == silent.member("site-0").plan().digest


def test_a_plan_over_sites_prints_as_what_an_operator_looks_at(silent):
    plan = silent.member("hub").plan()
    shown = str(plan)
    assert shown.splitlines()[0] == f"Plan {plan.digest}"
    assert "site-0, site-1, site-2" in shown
    assert "ε = 2.9" in shown
    assert f"drowned {plan.drowned:.2g}" in shown
    assert len(shown) < 500


@pytest.mark.parametrize("local", [{"local_steps": 20}, {"local_rate": "0.3"}])
def test_local_steps_without_whole_sites_are_refused(silent, local):
    made = ModuleOverSites(silent.classifier("hub"), federation=silent.file, **local)
    with pytest.raises(ContractError, match="write unit='site'"):
        made.plan()


def test_another_epsilon_without_a_lifetime_is_refused_with_the_fix_of_python(tmp_path):
    sites = ModuleSites(tmp_path, counts=(30, 40, 50))
    X, y, ids = sites.rows[0]
    sites.classifier("alone", lifetime=None, epsilon="3").fit(X, y, patients=ids)
    with pytest.raises(PolicyError, match="under other caps") as told:
        sites.classifier("alone", lifetime=None, epsilon="2").fit(X, y, patients=ids)
    assert "lifetime= of before" in told.value.hint


def test_a_site_whose_budget_is_spent_takes_no_part_and_nobody_is_charged(tmp_path):
    sites = ModuleSites(tmp_path, counts=(30, 40, 50))
    ended = sites.together(site_2=lambda: sites.fit("site-2", lifetime="1"))
    assert isinstance(ended["site-2"], BudgetExhaustedError), ended
    assert "its budget does not allow" in str(ended["hub"])
    assert "published" not in [state for name in sites.names for state, _ in sites.entries(name)]


def test_a_site_that_dies_in_a_step_ends_the_run_and_the_same_needs_to_be_asked_for(
    tmp_path, monkeypatch
):
    sites = ModuleSites(tmp_path, counts=(30, 40, 50))
    real, dead = rounds.TrainingRounds.run, []

    def dies(self, rows, *, among, **given):
        if among._site == 1:
            told = among.add

            def once(numbers):
                if dead:
                    raise OSError("the machine is gone")
                dead.append(True)
                return told(numbers)

            among.add = once
        return real(self, rows, among=among, **given)

    monkeypatch.setattr(rounds.TrainingRounds, "run", dies)
    ended = sites.together()
    monkeypatch.undo()
    assert isinstance(ended["site-1"], ReleaseFailedError), ended
    assert "its charge stays" in str(ended["hub"])
    assert [sites.entries(name)[0][0] for name in sites.names] == ["burned"] * 3
    ended = sites.together()
    assert isinstance(ended["site-0"], ContractError)
    assert "charged before" in str(ended["site-0"])
    assert "charged for this before" in str(ended["hub"])


def test_a_second_coordinator_of_a_training_that_works_says_nothing(tmp_path, monkeypatch):
    sites, told = ModuleSites(tmp_path, counts=(9, 9, 9)), []
    hub = sites.member("hub", seconds=0.1)

    def work(self, job, *, progress):
        if not told:
            with pytest.raises(ContractError, match="Another process of this member is at") as no:
                hub.coordinate(again=True)
            told.append(no)
        raise KeyboardInterrupt

    monkeypatch.setattr(Coordinator, "add_up", work)
    with pytest.raises(KeyboardInterrupt):
        hub.coordinate()
    assert len(told) == 1
    assert [path.name.split(".")[0] for path in sites.shared.rglob("*.json")] == ["proposed"]
