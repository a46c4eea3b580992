"""Federated averaging over sites: whole sites are protected, and so each of their patients."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")

from averaging_over_sites import (  # noqa: E402
    BY_SITE,
    ROUNDS,
    WEIGHTS,
    check_that_every_round_is_noised,
    check_that_no_site_moves_a_sum_by_more_than_twice_the_clip,
    check_that_the_plan_states_how_far_one_patient_moves_a_round,
    inputs_of,
    lost_by_honest_parts,
    plainly_averaged,
    planned,
    practices,
    whole_numbers,
)
from command_line import confide  # noqa: E402
from confide.errors import (  # noqa: E402
    ContractError,
    InvalidParameterError,
    UnsupportedError,
)
from confide.jobs.federated.training.local_training import LocalTraining  # noqa: E402
from confide.jobs.federated.training.rounds import NO_UPDATE  # noqa: E402
from confide.jobs.kinds import read_spec  # noqa: E402
from confide.jobs.learning.dp_sgd import REACH  # noqa: E402
from confide.jobs.learning.walk import MODEL, loaded  # noqa: E402
from confide.plans.job import require_sound_job  # noqa: E402
from confide.statistics import read_job  # noqa: E402
from modules_over_sites import overheard, patients_of, without_noise  # noqa: E402

COUNTS = (30, 40, 50)


@pytest.fixture(scope="module")
def averaged(tmp_path_factory):
    """Sites that averaged once, with the noise off, and what each ended with."""
    sites = practices(tmp_path_factory.mktemp("averaged"), counts=COUNTS)
    whole_numbers(sites)
    with pytest.MonkeyPatch.context() as patch:
        without_noise(patch)
        ended = sites.together()
    broken = {name: each for name, each in ended.items() if isinstance(each, Exception)}
    assert not broken, broken
    return sites, ended


@pytest.fixture(scope="module")
def silent(tmp_path_factory):
    """Sites that did not average yet; nobody is charged by the tests that use them."""
    return practices(tmp_path_factory.mktemp("silent"), counts=COUNTS)


class Overflowing(torch.nn.Module):
    """Its numbers pass all floats once its weight is large."""

    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(3, 1)

    def forward(self, rows):
        return torch.exp(torch.exp(self.line(rows)))


def test_with_the_noise_off_it_is_the_model_of_federated_averaging_to_the_bit(averaged):
    sites, ended = averaged
    tables = [(inputs_of(table), y) for table, y, _ in sites.rows]
    sums, mean = plainly_averaged(sites.module, tables, clip=0.5)
    made = planned(sites.member("hub"))
    assert ended["hub"].answer.files == made.rounds.files(sums.ravel().tolist())
    weights = loaded(ended["hub"].answer.files[MODEL])[0]
    flat = torch.cat([weights[name].reshape(-1) for name, _ in sites.module.named_parameters()])
    assert np.array_equal(flat.numpy(), mean)
    assert {ended[n].release_.answer.digest() for n in sites.names} == {
        ended["hub"].answer.digest()
    }


def test_each_site_is_charged_once_for_all_rounds_and_nothing_when_asked_again(averaged):
    sites, ended = averaged
    nano = sites.member("hub").plan().plan.nano
    assert [sites.entries(name) for name in sites.names] == [[("published", nano)]] * 3
    again = sites.fit("site-0")
    assert again.release_.answer.digest() == ended["site-0"].release_.answer.digest()
    assert len(sites.entries("site-0")) == 1


def test_the_certificate_of_an_averaging_says_that_whole_sites_are_protected(averaged, tmp_path):
    sites, ended = averaged
    form = ended["site-1"].certificate_
    assert form["plan"]["kind"] == "fedavg"
    assert form["guarantee"]["unit"] == "patient"
    lost = {each["to"]: each["rho"] for each in form["federation"]["losses"]}
    assert lost["a whole site, whatever its rows are"] == lost["every site's ledger"]
    folder = ended["hub"].save(tmp_path / "out")
    assert confide("verify", folder / "site-1").code == 0
    assert "each whole site" in confide("explain", folder / "site-1").out
    head = json.loads((folder / "site-1" / "job.json").read_bytes())
    del head["plan"]["protects_sites"]
    (folder / "site-1" / "job.json").write_text(json.dumps(head))
    assert confide("verify", folder / "site-1").code != 0
    done = confide("federate", "status", "--folder", sites.shared, "--federation", sites.file)
    assert f"{ROUNDS} of {ROUNDS} sums" in done.out, done.out


def test_no_site_moves_a_sum_by_more_than_twice_the_clip_and_some_do_by_nearly_as_much(
    silent, monkeypatch
):
    without_noise(monkeypatch)
    furthest = check_that_no_site_moves_a_sum_by_more_than_twice_the_clip(silent)
    assert furthest > 1.8 * REACH


def test_one_patient_more_turns_the_update_of_a_site_round_as_the_plan_says(silent, monkeypatch):
    without_noise(monkeypatch)
    check_that_the_plan_states_how_far_one_patient_moves_a_round(silent)


def test_every_round_is_noised_as_much_as_the_plan_says(silent):
    check_that_every_round_is_noised(silent)


@pytest.mark.parametrize(("sites", "drops", "per_person"), [(3, 0, 1), (5, 1, 2)])
def test_honest_parts_of_all_rounds_lose_no_more_than_is_charged(
    sites, drops, per_person, tmp_path
):
    made = practices(
        tmp_path, counts=(50,) * sites, drops=drops, per_person=per_person, epsilon="80"
    )
    rho, lost = lost_by_honest_parts(made.member("hub"))
    assert lost <= rho < lost * Fraction(1_000_001, 1_000_000)


def test_a_site_at_one_kth_of_whose_charge_it_is_protected_is_told_so(tmp_path):
    from confide.release.certificate.over_sites import federation_part

    sites = practices(tmp_path, counts=(50,) * 5, per_person=2, epsilon="80")
    plan = sites.member("hub").plan().plan
    found = federation_part(plan, added=tuple(sites.names)).losses
    lost = {each.to: float(each.rho) for each in found}
    charged = lost["every site's ledger"]
    assert lost["a whole site, whatever its rows are"] == pytest.approx(charged / 4, rel=1e-5)
    assert lost["a patient of 2 of the sites"] == pytest.approx(charged, rel=1e-5)


def test_local_training_that_ends_in_no_finite_number_adds_zero_and_is_told_at_the_site_alone(
    tmp_path, monkeypatch
):
    without_noise(monkeypatch)
    sites = practices(tmp_path, counts=COUNTS, module=Overflowing)
    told, steep = [], [(-(2**55),) * 4] * ROUNDS
    sent, files = overheard(
        sites.member("site-0"), patients_of(5, count=9), answers=steep, progress=told.append
    )
    assert sent[0].any()
    assert not sent[1:].any()
    assert told.count(NO_UPDATE) == ROUNDS - 1
    assert list(files) == [MODEL]


def test_local_training_that_fails_on_somebodys_rows_ends_no_run(silent, monkeypatch):
    without_noise(monkeypatch)
    monkeypatch.setattr(LocalTraining, "_moved", lambda *_: 1 / 0)
    sent = overheard(silent.member("site-0"), patients_of(5, count=9))[0]
    assert sent.shape == (ROUNDS, WEIGHTS)
    assert not sent.any()


def test_an_averaging_whose_noise_drowns_all_updates_is_refused_and_told_what_would_do(
    silent, tmp_path
):
    with pytest.raises(ContractError, match="To protect patients, leave out unit") as told:
        silent.member("hub", epsilon="25").plan()
    words = str(told.value.hint).split()
    need = int(words[words.index("sites", words.index("takes")) - 1])
    epsilon = next(each for each in words if each.startswith("epsilon="))[8:]
    enough = practices(tmp_path / "enough", counts=(5,) * need, epsilon="25")
    assert 0.7 < enough.member("hub").plan().drowned <= 1
    few = practices(tmp_path / "few", counts=(5,) * (need - 1), epsilon="25")
    with pytest.raises(ContractError, match="nothing would be learnt"):
        few.member("hub").plan()
    assert 0.99 < silent.member("hub", epsilon=epsilon).plan().drowned <= 1
    with pytest.raises(ContractError, match="nothing would be learnt"):
        silent.member("hub", epsilon=str(Fraction(epsilon) - Fraction(1, 20))).plan()


def test_what_cannot_be_averaged_is_refused_beforehand(silent):
    with pytest.raises(ContractError, match="every patient is in each step"):
        silent.member("hub", batch=100).plan()
    with pytest.raises(UnsupportedError, match="counts as ρ"):
        silent.member("pure", measure="pure").plan()
    for by_site, error in (
        ({"unit": "hospital"}, ContractError),
        ({"local_steps": 0}, InvalidParameterError),
        ({"local_rate": "0"}, InvalidParameterError),
    ):
        member = silent.member("hub")
        member.__init__(
            member.classifier, federation=silent.file, **BY_SITE | {"unit": "site"} | by_site
        )
        with pytest.raises(error, match="Expected"):
            member.plan()
    X, y, _ = silent.rows[0]
    with pytest.raises(ContractError, match="patients are protected"):
        silent.member("site-0").fit(X, y, patients="rows", approve=silent.digest())


def test_a_plan_of_an_averaging_reads_back_and_less_noise_or_a_round_more_is_not_its_own(silent):
    plan = silent.member("hub").plan().plan
    assert plan.protects_sites
    assert read_job(json.loads(json.dumps(plan.to_json()))).digest() == plan.digest()
    require_sound_job(plan, job=read_spec(plan.kind, plan.spec))
    settings = json.loads(plan.spec)
    each = Fraction(settings["shared"]["part"]["sigma_squared_each"])
    settings["shared"]["part"]["sigma_squared_each"] = str(each * Fraction(999, 1000))
    with pytest.raises(ContractError, match="do not fit together"):
        read_spec(plan.kind, json.dumps(settings)).events(plan.dataset)
    rounds = plan.spec.replace(f'"steps":{ROUNDS}', f'"steps":{ROUNDS + 1}')
    with pytest.raises(ContractError, match="not the one of this job"):
        require_sound_job(replace(plan, spec=rounds), job=read_spec(plan.kind, rounds))
    with pytest.raises(ContractError, match="not the one of this job"):
        require_sound_job(replace(plan, protects_sites=False), job=read_spec(plan.kind, plan.spec))
