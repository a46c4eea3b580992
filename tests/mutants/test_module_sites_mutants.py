"""Deliberately broken trainings over sites, against the checks that the true one keeps."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")

from confide.errors import ContractError  # noqa: E402
from confide.jobs.federated.training import rounds, spec  # noqa: E402
from confide.jobs.learning import per_patient_gradients as gradients  # noqa: E402
from confide.jobs.learning.dp_sgd import DPSGD, REACH  # noqa: E402
from confide.plans.sites.shared_noise import SharedNoise  # noqa: E402
from modules_over_sites import (  # noqa: E402
    ModuleSites,
    charged,
    check_that_a_patient_moves_no_step_by_more_than_the_clip,
    check_that_every_step_is_noised,
    hidden,
    without_noise,
)

pytestmark = pytest.mark.mutant


@pytest.fixture
def sites(tmp_path):
    return ModuleSites(tmp_path, counts=(400, 500, 600), module=hidden)


def test_gradients_over_sites_that_are_not_clipped_are_caught(sites, monkeypatch):
    without_noise(monkeypatch)
    monkeypatch.setattr(gradients, "scaled", lambda of, *, clip: of * (REACH / clip))
    monkeypatch.setattr(gradients, "whole", lambda of: of.round())
    with pytest.raises(AssertionError):
        check_that_a_patient_moves_no_step_by_more_than_the_clip(sites)


def test_a_last_step_over_sites_without_noise_is_caught(sites, monkeypatch):
    real, asked = rounds.with_part, []

    def mutant(total, **given):
        asked.append(True)
        return total if len(asked) % 4 == 0 else real(total, **given)

    monkeypatch.setattr(rounds, "with_part", mutant)
    with pytest.raises(AssertionError):
        check_that_every_step_is_noised(sites)


def test_a_step_over_sites_that_is_not_charged_is_caught(sites, monkeypatch):
    real = DPSGD.events

    def mutant(self, dataset):
        (event,) = real(self, dataset)
        return (replace(event, count=event.count - 1),)

    monkeypatch.setattr(DPSGD, "events", mutant)
    monkeypatch.setattr(spec, "keeps_charge", lambda *_, **__: True)
    rho, lost = charged(sites.member("hub"))
    assert lost > rho


def test_parts_of_a_training_shared_out_among_all_sites_are_caught(sites, monkeypatch):
    real = SharedNoise.bought

    def mutant(rho, *, sensitivity, federation):
        made = real(rho, sensitivity=sensitivity, federation=federation)
        less = made.part.sigma_squared_each * made.part.parts / made.sites
        return replace(made, part=replace(made.part, sigma_squared_each=less))

    monkeypatch.setattr(SharedNoise, "bought", mutant)
    with pytest.raises(ContractError, match="do not fit together"):
        sites.member("hub").plan()
    monkeypatch.setattr(spec, "keeps_charge", lambda *_, **__: True)
    rho, lost = charged(sites.member("hub"))
    assert lost > rho
