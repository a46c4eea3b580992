"""Deliberately broken federations, against the checks that the true one keeps."""

import contextlib
from dataclasses import replace
from fractions import Fraction

import pytest

from confide.errors import ContractError, RoundAbortedError
from confide.files.study import read_study
from confide.jobs.federated.runs import proposal
from confide.jobs.federated.runs.coordinate import Coordinator
from confide.jobs.federated.runs.proposal import Proposal, sum_terms
from confide.jobs.federated.secure_sum.bodies import CONSENTED
from confide.jobs.federated.secure_sum.envelope import Leg
from confide.jobs.federated.secure_sum.participant import Participant
from confide.plans.pricing.over_sites import lengths_of_sums
from confide.plans.rounds.in_turn import ask_in_turn
from confide.plans.sites.shared_noise import SharedNoise
from confide.plans.soundness.soundness import require_sound
from confide.release.noisy import read_payload
from confide.release.over_sites import site_gate
from confide.service.federation import run
from federated_members import members
from federated_models import LOGISTIC, ModelSites, study_of
from federated_sites import COUNT, Sites, changed, smaller, write_hospital
from federations import Hospitals, Played

pytestmark = pytest.mark.mutant


def check_that_honest_parts_keep_the_charge(folder):
    """Every plan over sites is sound, whatever is asked and of however many sites."""
    write_hospital(folder / "one", rows=None, study=COUNT)
    declared = read_study(folder / "one" / "study.yaml")
    for sites, drops in ((3, 0), (5, 1), (10, 2)):
        require_sound(declared.plan_over(members(sites=sites, drops=drops)))


def check_that_another_plan_is_refused_by_name(folder):
    """A site whose bounds differ says so, and which part, before anything is exchanged."""
    sites = Sites(folder)
    changed(folder / "site-1" / "dataset.yaml", _=("upper: 100", "upper: 110"))
    made = sites.together(seconds=2)
    assert isinstance(made.site_1, ContractError), made.site_1
    assert "public facts differ" in str(made.site_1)


def check_that_few_consents_open_nothing(folder):
    """A coordinator that passes on fewer consents than the threshold is told no shares."""
    hospitals = Hospitals(folder, sites=5, drops=1)
    played = Played(hospitals)
    played.until(Leg.SURVIVORS)
    played.answer()
    few = hospitals.tolerance.threshold - 1
    body = b"".join(list(played.wires.values())[:few])
    participant = played.sites[0]
    forged = played.collector._tell(Leg.CONSENTS, (0,), body)[0]
    with pytest.raises(RoundAbortedError, match="Too few survivors consented"):
        participant.receive(forged)


def check_that_every_round_of_a_model_is_noised(folder):
    """What is released of each round differs from the exact answers to its questions."""
    model = f"id: risk, {LOGISTIC}, method: rounds"
    sites = ModelSites(folder, study=study_of(model), count=40)
    payload = sites.together()[0]
    assert isinstance(payload, bytes), payload
    (told,) = read_payload(payload).values
    (measurement,), (rows,) = sites.plan.measurements, sites.central()
    start = 0
    for length in lengths_of_sums(sites.plan):
        before, now = told[:start], told[start : start + length]
        noise = measurement.mechanism
        ask = ask_in_turn(
            measurement.aggregate, before, mechanism=noise, dataset=sites.plan.dataset
        )
        pairs = zip(rows.answer(ask), now, strict=True)
        assert all(exact != noisy for exact, noisy in pairs), "exact answers"  # by chance 10⁻¹¹
        start += length


def check_that_other_sums_before_are_another_round(folder):
    """Sites that were told different sums have nothing in common to add up."""
    model = f"id: risk, {LOGISTIC}, method: rounds"
    plan = ModelSites(folder, study=study_of(model), count=5).plan
    first = lengths_of_sums(plan)[0]
    contexts = {sum_terms(plan, run="1" * 64, before=[n] * first).context for n in (1, 2)}
    assert len(contexts) == 2


def check_that_a_second_coordinator_says_nothing(folder):
    """Where the first one works, a second command of it ends before it says anything."""
    sites = Sites(folder)

    def work(self, plan, *, progress):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Coordinator, "bring_about", stop)
            with pytest.raises(ContractError, match="Another process of this member"):
                sites.run(out="second", again=True)
        raise KeyboardInterrupt

    def stop(self, plan, *, progress):
        raise AssertionError("the second one began")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Coordinator, "bring_about", work)
        with pytest.raises(KeyboardInterrupt):
            sites.run()


def test_the_true_federation_passes(tmp_path):
    check_that_a_second_coordinator_says_nothing(tmp_path / "twice")
    check_that_every_round_of_a_model_is_noised(tmp_path / "model")
    check_that_other_sums_before_are_another_round(tmp_path / "sums")
    check_that_honest_parts_keep_the_charge(tmp_path / "parts")
    check_that_another_plan_is_refused_by_name(tmp_path / "plan")
    check_that_few_consents_open_nothing(tmp_path)


def test_noise_shared_out_among_all_sites_is_caught(tmp_path, monkeypatch):
    """Mutant: σᵢ² = σ²/n, as if nobody colluded and nobody knew its own part."""
    bought = SharedNoise.bought.__func__

    def too_little(cls, rho, **of):
        return smaller(bought(cls, rho, **of))

    monkeypatch.setattr(SharedNoise, "bought", classmethod(too_little))
    with pytest.raises(ContractError, match="charges less than it loses"):
        check_that_honest_parts_keep_the_charge(tmp_path)


def test_noise_for_a_patient_of_one_site_where_two_were_promised_is_caught(tmp_path, monkeypatch):
    """Mutant: kΔ is taken for Δ."""
    bought = SharedNoise.bought.__func__

    def of_one_site(cls, rho, *, sensitivity, federation):
        one = bought(
            cls, rho, sensitivity=sensitivity, federation=replace(federation, sites_per_person=1)
        )
        return replace(one, per_person=federation.sites_per_person)

    monkeypatch.setattr(SharedNoise, "bought", classmethod(of_one_site))
    write_hospital(tmp_path / "one", rows=None, study=COUNT)
    declared = read_study(tmp_path / "one" / "study.yaml")
    with pytest.raises(ContractError, match="charges less than it loses"):
        require_sound(declared.plan_over(members(per_person=2)))


def test_a_site_that_compares_no_digest_is_caught(tmp_path, monkeypatch):
    """Mutant: whatever the coordinator proposes is taken for what was approved."""
    monkeypatch.setattr(Proposal, "require_same", lambda *_: None)
    with pytest.raises(AssertionError):
        check_that_another_plan_is_refused_by_name(tmp_path)


def test_a_site_that_asks_for_no_threshold_is_caught(tmp_path, monkeypatch):
    """Mutant: shares are given to however few consents."""

    def unmask(self, body):
        self._opened(body, width=CONSENTED, leg=Leg.CONSENT)
        return b""

    monkeypatch.setattr(Participant, "_unmask", unmask)
    with pytest.raises(pytest.fail.Exception):
        check_that_few_consents_open_nothing(tmp_path)


def test_a_site_that_charges_what_outsiders_learn_is_caught(tmp_path):
    """Mutant: a charge of ρ is entered as the tiny loss of an outsider."""
    sites = Sites(tmp_path)
    plan = sites.plan()
    first = plan.measurements[0]
    cheap = replace(first, nano=int(first.nano * Fraction(2, 3)))
    with pytest.raises(ContractError, match="charges less than it loses"):
        require_sound(replace(plan, measurements=(cheap,)))


def test_a_model_whose_later_rounds_have_no_noise_is_caught(tmp_path, monkeypatch):
    """Mutant: a site noises what it is asked first, and nothing after it."""
    with_part, seen = site_gate._with_part, {}

    def at_first(measurement, secret, *, entropy):
        seen[id(entropy)] = seen.get(id(entropy), 0) + 1
        if seen[id(entropy)] > 1:
            return tuple(measurement.shared.grid * value for value in secret)
        return with_part(measurement, secret, entropy=entropy)

    monkeypatch.setattr(site_gate, "_with_part", at_first)
    with pytest.raises(AssertionError, match="exact answers"):
        check_that_every_round_of_a_model_is_noised(tmp_path)


def test_rounds_that_are_not_bound_to_the_sums_before_are_caught(tmp_path, monkeypatch):
    """Mutant: the terms of a later sum hold the plan alone."""
    monkeypatch.setattr(proposal, "_subject", lambda plan, **_: plan)
    with pytest.raises(AssertionError):
        check_that_other_sums_before_are_another_round(tmp_path)


def test_two_coordinators_at_once_are_caught(tmp_path, monkeypatch):
    """Mutant: no lock keeps a second process of a member out of a run."""
    monkeypatch.setattr(run, "alone", lambda *_, **__: contextlib.nullcontext())
    with pytest.raises(AssertionError, match="the second one began"):
        check_that_a_second_coordinator_says_nothing(tmp_path)
