"""A generator learns from patients through noisy sums alone, each moved by one patient by R."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError, InvalidParameterError, VerificationError
from confide.jobs.kinds import read_spec
from confide.jobs.learning.dp_sgd import REACH
from confide.jobs.learning.kinks import with_kinks
from confide.jobs.synthesis.deep.generated import RowMaker, evenly
from confide.jobs.synthesis.deep.latent import coins_of
from confide.jobs.synthesis.deep.networks import NetworkForm, one_hot, starting_weights, views
from confide.jobs.synthesis.model.fit import Impossible
from confide.plans.simulation import Simulation
from deep_generators import (
    SIZES,
    checkpoint_names,
    divisors,
    farthest,
    files_after,
    first_sums,
    people_of,
    plan_of,
    trained,
)
from synthesis_world import dataset, widened

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("safetensors", reason="needs the extra `learning`")

EVERYBODY = {"rate": "999999999/1000000000"}
COINS = Simulation(payload_digest="ab" * 32)


@pytest.mark.parametrize("generator", ["vae", "gan"])
@pytest.mark.parametrize("most", [1, 3])
def test_one_patient_moves_a_sum_of_gradients_by_the_clip_at_most_and_reaches_it(generator, most):
    spec = trained(generator=generator, most=most, steps=1, checkpoints=1, **EVERYBODY)
    found = farthest(spec)
    assert 0.9 < found <= 1


@pytest.mark.parametrize("generator", ["vae", "gan"])
def test_with_the_noise_off_only_sums_tell_two_data_sets_apart(generator):
    """Same first weights, same names and shapes, same progress; first step differs by the sum."""
    spec = trained(generator=generator, sigma=5)
    told = [[], []]
    found = [
        files_after(spec, rows, told=said.append, parts=1)
        for rows, said in zip((people_of(40), people_of(3)), told, strict=True)
    ]
    assert told[0] == told[1]
    assert checkpoint_names(found[0]) == checkpoint_names(found[1])
    one, other = (first_sums(spec, rows) for rows in (people_of(40), people_of(40)))
    assert all((a == b).all() for a, b in zip(one[0], other[0], strict=True))


def test_a_sum_is_divided_by_the_public_number_of_patients_whoever_is_there():
    spec = trained()
    unit = float(spec.clip) / (REACH * float(spec.rate) * spec.patients)
    for many in (5, 60):
        assert divisors(spec, people_of(many)) == pytest.approx([unit] * spec.steps)


@pytest.mark.parametrize("generator", ["vae", "gan"])
def test_the_charge_has_as_many_samples_as_sums_leave(generator):
    spec = trained(generator=generator, steps=6, checkpoints=2)
    (event,) = spec.events(dataset())
    sums, _ = first_sums(replace(spec, checkpoints=1), people_of(9))
    assert (event.count, event.rate, len(sums)) == (6, Fraction(1, 2), 6)
    assert event.l2_squared == REACH**2
    assert event.noise.sigma_squared == REACH**2
    assert sums[0].size == spec.parameters(dataset())
    assert event.l1**2 >= sums[0].size * REACH**2


def test_a_plan_of_a_training_is_read_back():
    spec = trained()
    assert read_spec("deep-synthesis", plan_of(spec).spec) == spec


@pytest.mark.parametrize("generator", ["vae", "gan"])
def test_nobody_at_all_leaves_weights_of_the_same_form(generator):
    spec = trained(generator=generator, steps=2)
    nobody = checkpoint_names(files_after(spec, [], parts=1))
    assert nobody == checkpoint_names(files_after(spec, people_of(20), parts=1))


@pytest.mark.parametrize("generator", ["vae", "gan"])
def test_the_same_coins_from_the_same_checkpoint_make_the_same_weights(generator):
    spec = trained(generator=generator, steps=2)
    one, other = (files_after(spec, people_of(20)) for _ in range(2))
    assert list(one) == ["model.safetensors"]
    assert one == other
    assert files_after(spec, people_of(20), seed=9) != one


def test_coins_of_a_row_follow_from_the_key_and_the_row_alone():
    rows = people_of(30)[:, 1:]
    key = bytes(range(16))
    whole, part = coins_of(rows, key=key, latent=5), coins_of(rows[7:9], key=key, latent=5)
    assert (whole[7:9] == part).all()
    assert not (whole == coins_of(rows, key=bytes(16), latent=5)).any()
    assert coins_of(rows[:0], key=key, latent=5).shape == (0, 5)
    wide = coins_of(rows[:2], key=key, latent=40)
    assert len(np.unique(wide)) > 40


def test_coins_of_rows_are_standard_normal():
    rows = np.arange(20_000).reshape(-1, 1)
    found = coins_of(rows, key=bytes(16), latent=3)
    assert abs(found.mean()) < 0.025
    assert abs(found.std() - 1) < 0.02
    assert abs((np.abs(found) < 1.96).mean() - 0.95) < 0.006
    assert np.abs(np.corrcoef(found.T) - np.eye(3)).max() < 0.04


def test_the_gradient_of_a_row_is_that_of_the_evidence_bound():
    from confide.jobs.synthesis.deep.networks import vae_program

    form = NetworkForm(sizes=(3, 2), hidden=4, latent=2)
    flat = torch.from_numpy(starting_weights(form.autoencoder, coins=COINS.generator("w")))
    row = torch.tensor([0, 1, 0, 0, 1, 0.3, -0.7], dtype=torch.float64)
    leaf = flat.clone().requires_grad_()
    held = views(leaf, form.autoencoder)
    inside = torch.tanh(row[:5] @ held["encoder.first.weight"].T + held["encoder.first.bias"])
    told = inside @ held["encoder.last.weight"].T + held["encoder.last.bias"]
    law = torch.distributions.Normal(told[:2], torch.exp(told[2:] / 2))
    latent = told[:2] + law.scale * row[5:]
    inside = torch.tanh(latent @ held["decoder.first.weight"].T + held["decoder.first.bias"])
    made = inside @ held["decoder.last.weight"].T + held["decoder.last.bias"]
    likely = torch.log_softmax(made[:3], 0)[1] + torch.log_softmax(made[3:], 0)[1]
    standard = torch.distributions.Normal(torch.zeros(2), torch.ones(2))
    (torch.distributions.kl_divergence(law, standard).sum() - likely).backward()
    weights = list(views(flat, form.autoencoder).values())
    found, _ = with_kinks(vae_program(form))(weights, [], row, torch.tensor(1))
    assert torch.allclose(found, leaf.grad)


def test_rows_that_no_generator_makes_are_drawn_evenly_from_those_that_can_be():
    form = NetworkForm(sizes=(2, 3), hidden=2, latent=1)
    weights = {name: np.zeros(shape) for name, shape in form.decoder.items()}
    weights["decoder.last.bias"] = np.array([900.0, 0, 900.0, 0, 0])  # always (0, 0)
    cells = np.zeros((2, 3), dtype=bool)
    cells[0, 0] = True
    maker = RowMaker(
        form=form, weights=weights, impossible=(Impossible(variables=(0, 1), cells=cells),)
    )
    rows = maker.rows(2000, coins=COINS.generator("r"))
    counts = np.bincount(rows[:, 0] * 3 + rows[:, 1], minlength=6)
    assert counts[0] == 0
    assert counts[1:].min() > 300
    free = evenly(50, sizes=(2, 3), impossible=(), coins=COINS.generator("e"))
    assert free.shape == (50, 2)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rows": 0}, "rows from 1"),
        ({"hidden": 0}, "hidden from 1"),
        ({"latent": 1001}, "latent from 1"),
        ({"checkpoints": 5}, "checkpoints from 1 to 4"),
        ({"clip": Fraction(0)}, "clip > 0"),
        ({"learning_rate": Fraction(0)}, "learning_rate > 0"),
    ],
)
def test_settings_of_a_training_that_cannot_be_are_refused(given, told):
    with pytest.raises((ContractError, InvalidParameterError), match=told):
        trained(**given)


def test_a_table_that_is_too_wide_for_a_network_is_refused():
    with pytest.raises(ContractError, match="levels together; a network takes"):
        trained().events(widened(sex=900, stage=900, ward=900))
    with pytest.raises(ContractError, match="'sex' has 1,001 levels"):
        trained().events(widened(sex=1001))
    with pytest.raises(ContractError, match="one level only"):
        trained().events(widened(sex=1))


def test_weights_of_another_form_are_no_answer():
    from confide.jobs.synthesis.deep.generated import _read

    form = NetworkForm(sizes=SIZES, hidden=4, latent=2)
    with pytest.raises(VerificationError, match="cannot be read"):
        _read(b"no weights", form=form)
    content = files_after(trained(steps=1, checkpoints=1), people_of(5))["model.safetensors"]
    assert set(_read(content, form=form)) == set(form.decoder)
    with pytest.raises(VerificationError, match="not those of this plan"):
        _read(content, form=NetworkForm(sizes=SIZES, hidden=5, latent=2))
    assert one_hot(np.array([[0, 1]]), sizes=(2, 2)).tolist() == [[1, 0, 0, 1]]
