"""Deliberately broken federated averagings, against the checks that the true one keeps."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")

from averaging_over_sites import (  # noqa: E402
    ROUNDS,
    check_that_every_round_is_noised,
    check_that_no_site_moves_a_sum_by_more_than_twice_the_clip,
    check_that_the_plan_states_how_far_one_patient_moves_a_round,
    lost_by_honest_parts,
    practices,
)
from confide.errors import ContractError  # noqa: E402
from confide.jobs.federated.training import fedavg, local_training, rounds, spec  # noqa: E402
from confide.jobs.learning.dp_sgd import REACH  # noqa: E402
from modules_over_sites import without_noise  # noqa: E402

pytestmark = pytest.mark.mutant


@pytest.fixture
def sites(tmp_path):
    return practices(tmp_path, counts=(30, 40, 50))


def test_updates_of_sites_that_are_not_clipped_are_caught(sites, monkeypatch):
    without_noise(monkeypatch)
    monkeypatch.setattr(local_training, "scaled", lambda of, *, clip: of * (REACH / clip))
    monkeypatch.setattr(local_training, "whole", np.trunc)
    with pytest.raises(AssertionError):
        check_that_no_site_moves_a_sum_by_more_than_twice_the_clip(sites)


def test_updates_of_sites_that_are_charged_for_one_clip_are_caught(sites, monkeypatch):
    real = fedavg.moved_by_site

    def mutant(parameters, *, entity):
        made = real(parameters, entity=entity)
        return replace(made, l1=-(-made.l1 // 2), l2_squared=REACH**2, linf=REACH)

    monkeypatch.setattr(fedavg, "moved_by_site", mutant)
    rho, lost = lost_by_honest_parts(sites.member("hub"))
    assert lost > 3.9 * rho
    without_noise(monkeypatch)
    with pytest.raises(AssertionError):
        check_that_the_plan_states_how_far_one_patient_moves_a_round(sites)


def test_a_round_of_averaging_that_is_not_charged_is_caught(sites, monkeypatch):
    real = fedavg.JobEvent
    monkeypatch.setattr(
        fedavg, "JobEvent", lambda **given: real(**given | {"count": given["count"] - 1})
    )
    with pytest.raises(ContractError, match="do not fit together"):
        sites.member("hub").plan()
    monkeypatch.setattr(spec, "keeps_charge", lambda *_, **__: True)
    rho, lost = lost_by_honest_parts(sites.member("hub"))
    assert lost > rho


def test_a_last_round_of_averaging_without_noise_is_caught(sites, monkeypatch):
    real, asked = rounds.with_part, []

    def mutant(total, **given):
        asked.append(True)
        return total if len(asked) % ROUNDS == 0 else real(total, **given)

    monkeypatch.setattr(rounds, "with_part", mutant)
    with pytest.raises(AssertionError):
        check_that_every_round_is_noised(sites)
