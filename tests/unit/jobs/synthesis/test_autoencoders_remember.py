"""An autoencoder without noise gives patients away; the one that DP-SGD trains does not."""

from fractions import Fraction

import pytest

from command_line import confide
from confide.errors import InvalidParameterError
from confide.jobs.synthesis.memorising.autoencoders import private_vae, vae_table
from confide.jobs.synthesis.memorising.memorised import canaries_given_back
from confide.service.synthesis import memorisation
from confide.service.synthesis.memorisation import made_up_clinic, show_memorisation
from seeded import SeededEntropy

pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("safetensors", reason="needs the extra `learning`")

CLINIC = made_up_clinic()
TWO = Fraction(2)


def remembered(epsilon, *, seeds):
    return [
        canaries_given_back(CLINIC, epsilon=epsilon, entropy=SeededEntropy(seed), learned=vae_table)
        for seed in seeds
    ]


def shares(found):
    return sum(each.given_back for each in found) / sum(each.planted for each in found)


def test_an_autoencoder_without_noise_gives_canaries_back_and_one_with_noise_none():
    plain, noisy = (remembered(epsilon, seeds=[0])[0] for epsilon in (None, TWO))
    assert shares([plain]) >= 0.3
    assert plain.copies.above
    assert noisy.given_back == 0
    assert not noisy.copies.above


@pytest.mark.audit
def test_over_five_seeds_a_third_of_canaries_come_back_without_noise_and_none_with_it():
    plain, noisy = (remembered(epsilon, seeds=range(5)) for epsilon in (None, TWO))
    assert shares(plain) >= 0.3
    assert all(each.copies.above for each in plain)
    assert sum(each.given_back for each in noisy) == 0
    assert not any(each.copies.above for each in noisy)


def test_the_private_autoencoder_of_the_show_is_one_that_is_accepted():
    """Noise does not drown it: that nothing comes back is not for want of learning."""
    spec = private_vae(CLINIC, rows=420, epsilon=TWO)
    assert 0.5 < spec.drowned(CLINIC.dataset) < 4
    assert len(spec.events(CLINIC.dataset)) == 1


def test_the_command_shows_an_autoencoder(monkeypatch):
    monkeypatch.setattr(memorisation, "TIMES", 1)
    monkeypatch.setattr(
        "confide.jobs.synthesis.memorising.autoencoders.STEPS", 3
    )  # that it remembers is asked above
    found = confide("synth", "memorisation", "--method", "vae", "--json")
    assert found.code == 0
    assert [each["planted"] for each in found.json["generators"]] == [20, 20]
    assert found.json["generators"][1]["given-back"] == 0


def test_a_method_that_cannot_be_shown_is_refused():
    with pytest.raises(InvalidParameterError, match="Expected one of tree, vae"):
        show_memorisation("2", method="gan")
