"""Plans over sites: what noise they have, what they cost, and what is refused."""

from dataclasses import replace
from fractions import Fraction

import pytest

from confide.errors import ContractError, InvalidParameterError, UnsupportedError
from confide.files.federation.federation import federation_text, read_federation
from confide.files.study import read_study
from confide.noise.distributed.gaussian_parts import GaussianParts
from confide.plans.soundness.soundness import require_sound, underpriced
from confide.privacy.amount import NANO
from confide.statistics import read_plan
from federated_members import members
from federated_sites import DATASET, EVERYTHING, PURE, smaller, write_hospital


@pytest.fixture(scope="module")
def declared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clinic") / "one"
    write_hospital(folder, rows=None, study=EVERYTHING)
    return read_study(folder / "study.yaml")


@pytest.mark.parametrize(
    ("sites", "drops", "colluders", "ratio"),
    [(3, 0, 1, Fraction(3, 2)), (5, 1, 1, Fraction(5, 3)), (10, 2, 1, Fraction(10, 7))],
)
def test_the_variance_is_that_of_one_curator_times_n_over_m(
    sites, drops, colluders, ratio, declared
):
    found = members(sites=sites, drops=drops, colluders=colluders)
    central, made = declared.plan(), declared.plan_over(found)
    for one, shared in zip(central.measurements, made.measurements, strict=True):
        stated = shared.mechanism.sigma_squared
        rounding = Fraction(1, 12) if shared.shared.grid > 1 else 0
        times = (stated - rounding) / one.mechanism.sigma_squared
        assert ratio <= times <= ratio * (1 + Fraction(1, 10**6))
        assert shared.shared.part.sigma_squared_each >= 9


def test_a_plan_over_sites_costs_what_it_costs_one_curator_and_is_sound(declared):
    central, made = declared.plan(), declared.plan_over(members())
    assert made.amount == central.amount
    assert made.events_json == central.events_json
    require_sound(made)
    for each in made.measurements:
        assert each.shared.loses(each.sensitivity) <= Fraction(each.nano, NANO)


def test_a_plan_over_sites_has_its_own_digest_and_is_read_back(declared):
    central, made = declared.plan(), declared.plan_over(members())
    assert read_plan(made.to_json()) == made
    assert read_plan(central.to_json()) == central
    assert "federation" not in central.to_json()
    other = declared.plan_over(members(per_person=2))
    assert len({central.digest(), made.digest(), other.digest()}) == 3


def test_a_plan_with_smaller_parts_of_noise_is_not_sound(declared):
    made = declared.plan_over(members())
    for place, each in enumerate(made.measurements):
        little = smaller(each.shared)
        wrong = replace(each, shared=little, mechanism=little.total)
        measured = (*made.measurements[:place], wrong, *made.measurements[place + 1 :])
        assert underpriced(replace(made, measurements=measured))


@pytest.mark.parametrize(
    "change",
    [
        lambda m: replace(m, shared=None),
        lambda m: replace(m, shared=replace(m.shared, sites=4)),
        lambda m: replace(m, shared=replace(m.shared, per_person=2)),
        lambda m: replace(m, shared=replace(m.shared, grid=2)),
        lambda m: replace(m, shared=replace(m.shared, part=replace(m.shared.part, parts=4))),
        lambda m: replace(m, mechanism=m.shared.part.noise),
        lambda m: replace(m, nano=m.nano - m.nano // 100),
    ],
)
def test_a_plan_whose_noise_is_not_shared_out_as_it_says_is_not_sound(change, declared):
    made = declared.plan_over(members())
    first, *others = made.measurements
    with pytest.raises(ContractError, match="charges less than it loses"):
        require_sound(replace(made, measurements=(change(first), *others)))


def test_parts_of_noise_without_a_federation_are_not_sound(declared):
    made = declared.plan_over(members())
    assert underpriced(replace(made, federation=None))


@pytest.mark.parametrize(
    "item",
    [
        "{id: q, kind: top-category, table: patients, by: [status]}",
    ],
)
def test_statistics_that_are_no_vector_are_refused_over_sites(item, tmp_path):
    study = f"study: {{id: one}}\nspend: {{at-most: {{epsilon: 1}}}}\nstatistics:\n  - {item}\n"
    write_hospital(tmp_path / "one", rows=None, study=study)
    with pytest.raises(UnsupportedError, match="'q' is no vector"):
        read_study(tmp_path / "one" / "study.yaml").plan_over(members())


@pytest.mark.parametrize("per_person", [1, 2])
def test_an_error_that_is_asked_for_is_kept_over_sites_at_a_larger_charge(per_person, tmp_path):
    write_hospital(tmp_path / "one", rows=None)
    declared = read_study(tmp_path / "one" / "study.yaml")  # a count within 20
    central, made = declared.plan(), declared.plan_over(members(per_person=per_person))
    require_sound(made)
    widths = [plan.measurements[0].mechanism.half_width(0.95) for plan in (central, made)]
    assert widths == [20, 20]
    ratio = Fraction(made.amount.nano, central.amount.nano)
    assert ratio == pytest.approx(per_person**2 * 5 / 3, rel=0.02)


@pytest.fixture(scope="module")
def pure(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pure") / "one"
    write_hospital(folder, rows=None, dataset=PURE, study=EVERYTHING)
    return read_study(folder / "study.yaml")


@pytest.mark.parametrize("per_person", [1, 3])
@pytest.mark.parametrize(("sites", "drops", "colluders"), [(3, 0, 1), (5, 1, 1), (10, 2, 2)])
def test_in_a_pure_ledger_m_parts_are_laplace_noise_for_a_patient_of_k_sites(
    sites, drops, colluders, per_person, pure
):
    """ε of m parts, for kΔ, is the charge; all n have the law that estimates are made with."""
    found = members(sites=sites, drops=drops, colluders=colluders, per_person=per_person)
    central, made = pure.plan(), pure.plan_over(found)
    require_sound(made)
    assert made.amount == central.amount
    assert made.events_json == central.events_json
    m = sites - drops - colluders
    for one, each in zip(central.measurements, made.measurements, strict=True):
        assert each.shared.part.parts == m
        assert each.shared.part.total.scale == per_person * one.mechanism.scale
        assert each.mechanism.shape == Fraction(sites, m)
        assert each.mechanism.scale == per_person * one.mechanism.scale
        assert each.shared.loses(each.sensitivity) == Fraction(each.nano, NANO)


def test_a_pure_plan_over_sites_is_read_back(pure):
    made = pure.plan_over(members())
    assert read_plan(made.to_json()) == made
    assert made.digest() != pure.plan().digest()


@pytest.mark.parametrize(
    "change",
    [
        lambda m: replace(m, shared=None),
        lambda m: replace(m, shared=replace(m.shared, sites=4)),
        lambda m: replace(m, shared=replace(m.shared, per_person=2)),
        lambda m: replace(m, shared=replace(m.shared, grid=3)),
        lambda m: _other_parts(m, replace(m.shared.part, parts=4)),
        lambda m: _other_parts(m, replace(m.shared.part, scale=m.shared.part.scale * 99 / 100)),
        lambda m: _other_parts(m, GaussianParts(sigma_squared_each=Fraction(10**6), parts=3)),
        lambda m: replace(m, mechanism=m.shared.part.total),
        lambda m: replace(m, nano=m.nano - m.nano // 100),
    ],
)
def test_a_pure_plan_whose_noise_is_not_shared_out_as_it_says_is_not_sound(change, pure):
    made = pure.plan_over(members())
    first, *others = made.measurements
    with pytest.raises(ContractError, match="charges less than it loses"):
        require_sound(replace(made, measurements=(change(first), *others)))


def _other_parts(measurement, part):
    shared = replace(measurement.shared, part=part)
    return replace(measurement, shared=shared, mechanism=shared.total)


@pytest.mark.parametrize("per_person", [1, 2])
def test_an_error_is_kept_over_sites_in_epsilon_too_at_a_larger_charge(per_person, tmp_path):
    write_hospital(tmp_path / "one", rows=None, dataset=PURE)
    declared = read_study(tmp_path / "one" / "study.yaml")  # a count within 20
    central, made = declared.plan(), declared.plan_over(members(per_person=per_person))
    require_sound(made)
    widths = [plan.measurements[0].mechanism.half_width(0.95) for plan in (central, made)]
    assert widths == [20, 20]
    assert per_person < Fraction(made.amount.nano, central.amount.nano) < 1.5 * per_person


def test_noise_that_is_wider_than_what_is_drawn_is_refused_before_a_charge(tmp_path):
    study = (
        "study: {id: one}\nspend: {at-most: {epsilon: 1}}\nstatistics:\n"
        "  - {id: s, kind: sum, table: visits, column: cost, per-patient: {rows: 3}}\n"
    )
    wide = PURE.replace("upper: 500}", "upper: 500000}")
    write_hospital(tmp_path / "one", rows=None, dataset=wide, study=study)
    declared = read_study(tmp_path / "one" / "study.yaml")
    declared.plan()  # at one site it is drawn
    with pytest.raises(InvalidParameterError, match="coarser grid"):
        declared.plan_over(members())


def test_a_mixed_ledger_plans_over_sites_in_rho(tmp_path):
    dataset = DATASET.replace("measure: zcdp", "measure: mixed")
    write_hospital(tmp_path / "mixed", rows=None, dataset=dataset)
    made = read_study(tmp_path / "mixed" / "study.yaml").plan_over(members())
    require_sound(made)


def test_sums_that_may_pass_63_bits_are_refused(tmp_path):
    dataset = (
        DATASET.replace("tables:", "population: 9000000000\ntables:")
        .replace("upper: 500}", "upper: 5000000000}")
        .replace("1e-6", "1e-12")
    )
    study = (
        "study: {id: one}\nspend: {at-most: {epsilon: 1}}\nstatistics:\n"
        "  - {id: s, kind: sum, table: visits, column: cost, per-patient: {rows: 3}}\n"
    )
    write_hospital(tmp_path / "large", rows=None, dataset=dataset, study=study)
    with pytest.raises(ContractError, match="63 bits"):
        read_study(tmp_path / "large" / "study.yaml").plan_over(members())


@pytest.mark.parametrize(("cap", "is_refused"), [("", True), ("population-at-most: 1000\n", False)])
def test_sums_over_sites_are_of_as_many_people_as_the_cap_allows(cap, is_refused, tmp_path):
    dataset = DATASET.replace("tables:", f"{cap}tables:").replace(
        "upper: 100,", "upper: 400000000,"
    )
    study = (
        "study: {id: one}\nspend: {at-most: {epsilon: 1}}\nstatistics:\n"
        "  - {id: s, kind: sum, table: patients, column: age}\n"
    )
    write_hospital(tmp_path / "large", rows=None, dataset=dataset, study=study)
    declared = read_study(tmp_path / "large" / "study.yaml")
    declared.plan()  # at one site they fit
    if is_refused:
        with pytest.raises(ContractError, match="over sites may pass 63 bits"):
            declared.plan_over(members())
    else:
        require_sound(declared.plan_over(members()))


def test_federation_yaml_is_read_as_it_is_written(tmp_path):
    for found in (members(), members(sites=9, drops=2, colluders=2, per_person=3)):
        path = tmp_path / "federation.yaml"
        path.write_text(federation_text(found))
        assert read_federation(path) == found
