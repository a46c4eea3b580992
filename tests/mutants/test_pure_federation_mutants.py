"""Deliberately broken noise of federations that count in ε, against the checks of the true one."""

from dataclasses import replace
from fractions import Fraction

import pytest

from confide.errors import ContractError
from confide.files.study import read_study
from confide.noise.distributed import polya_parts
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.distributed.polya_parts import PolyaParts
from confide.plans.sites.shared_noise import SharedNoise
from confide.plans.soundness.soundness import require_sound
from confide.release.over_sites import site_gate
from federated_members import members
from federated_sites import COUNT, PURE, write_hospital
from goodness_of_fit import p_value
from seeded import SeededEntropy

pytestmark = pytest.mark.mutant

DRAWS = 20_000


def plans(folder):
    """Plans of a count in ε, of several federations."""
    write_hospital(folder / "one", rows=None, dataset=PURE, study=COUNT)
    declared = read_study(folder / "one" / "study.yaml")
    for sites, drops, per_person in ((3, 0, 1), (5, 1, 2), (10, 2, 3)):
        yield declared.plan_over(members(sites=sites, drops=drops, per_person=per_person))


def check_that_parts_counted_on_keep_the_charge(folder):
    """Every plan is sound: m parts lose ε to a patient of k sites, and no more."""
    for plan in plans(folder):
        require_sound(plan)


def check_that_what_sites_send_has_the_stated_law(folder):
    """The sum of what three sites send of zeros fits the law that intervals are made with."""
    plan = next(plans(folder))
    part = PolyaParts(scale=Fraction(4), parts=2)
    shared = SharedNoise(part=part, sites=3)
    measurement = replace(plan.measurements[0], shared=shared, mechanism=shared.total)
    sent = [
        site_gate._with_part(measurement, (0,) * DRAWS, entropy=SeededEntropy(60 + site))
        for site in range(3)
    ]
    draws = [sum(each) for each in zip(*sent, strict=True)]
    law = PolyaDifference(scale=Fraction(4), shape=Fraction(3, 2))
    assert p_value(draws, cdf=law.cdf) > 1e-6, "another law"


def test_the_true_pure_federation_passes(tmp_path):
    check_that_parts_counted_on_keep_the_charge(tmp_path / "parts")
    check_that_what_sites_send_has_the_stated_law(tmp_path / "law")


def bought_by(change):
    """What sites buy, changed."""
    true = SharedNoise.of_epsilon.__func__

    def changed(cls, epsilon, *, sensitivity, federation):
        bought = true(cls, epsilon, sensitivity=sensitivity, federation=federation)
        return change(bought, federation)

    return classmethod(changed)


def test_polya_parts_of_one_site_more_than_is_counted_on_are_caught(tmp_path, monkeypatch):
    """Mutant: the shape of a part is 1/(m + 1)."""
    more = bought_by(
        lambda each, _: replace(each, part=replace(each.part, parts=each.part.parts + 1))
    )
    monkeypatch.setattr(SharedNoise, "of_epsilon", more)
    with pytest.raises(ContractError, match="charges less than it loses"):
        check_that_parts_counted_on_keep_the_charge(tmp_path)


def test_laplace_noise_for_a_patient_of_one_site_where_more_were_promised_is_caught(
    tmp_path, monkeypatch
):
    """Mutant: Δ is taken for kΔ, as if ε were charged once for k sites."""
    once = bought_by(
        lambda each, of: replace(
            each, part=replace(each.part, scale=each.part.scale / of.sites_per_person)
        )
    )
    monkeypatch.setattr(SharedNoise, "of_epsilon", once)
    with pytest.raises(ContractError, match="charges less than it loses"):
        check_that_parts_counted_on_keep_the_charge(tmp_path)


def test_polya_parts_that_are_drawn_smaller_than_planned_are_caught(tmp_path, monkeypatch):
    """Mutant: a site draws a part of shape 1/(m + 1)."""
    polya = polya_parts.polya
    monkeypatch.setattr(
        polya_parts, "polya", lambda count, *, parts, **of: polya(count, parts=parts + 1, **of)
    )
    with pytest.raises(AssertionError, match="another law"):
        check_that_what_sites_send_has_the_stated_law(tmp_path)


def test_a_site_that_adds_no_polya_part_is_caught(tmp_path, monkeypatch):
    """Mutant: the third site sends its numbers as they are."""
    with_part, asked = site_gate._with_part, []

    def but_one(measurement, secret, *, entropy):
        asked.append(entropy)
        return secret if len(asked) == 3 else with_part(measurement, secret, entropy=entropy)

    monkeypatch.setattr(site_gate, "_with_part", but_one)
    with pytest.raises(AssertionError, match="another law"):
        check_that_what_sites_send_has_the_stated_law(tmp_path)


def test_a_polya_part_that_is_not_subtracted_from_another_is_caught(tmp_path, monkeypatch):
    """Mutant: G in place of G − G′, which is one-sided."""
    monkeypatch.setattr(
        PolyaParts,
        "sample",
        lambda self, count, *, entropy: polya_parts.polya(
            count, scale=self.scale, parts=self.parts, entropy=entropy
        ),
    )
    with pytest.raises(AssertionError, match="another law"):
        check_that_what_sites_send_has_the_stated_law(tmp_path)
