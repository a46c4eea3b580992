"""The methods give the sensitivity that a charge follows from, for whoever computes it again."""

import re

import cohorts
from confide.drawing.words import load_words
from confide.report.wording.methods import methods


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_a_charge_of_gaussian_noise_follows_from_the_sensitivity_beside_it() -> None:
    plan = cohorts.plan_of(cohorts.every_statistic(), dataset=cohorts.hospital(), nano=200_000_000)
    text = methods(cohorts.release_of(plan), words=load_words("en"))
    form = (
        r"L2 sensitivity ([\d.,]+)[^;]*; discrete Gaussian noise of standard deviation ([\d.,]+)"
        r"[^;]*; charge ρ = ([\d.]+)"
    )
    found = re.findall(form, text)
    assert len(found) > 20
    for moved, sigma, charge in found:
        rho = number(moved.rstrip(".,")) ** 2 / (2 * number(sigma.rstrip(".,")) ** 2)
        assert abs(rho / number(charge.rstrip(".")) - 1) < 0.01, (moved, sigma, charge)
