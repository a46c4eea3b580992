"""Models over sites: a secure sum a round, one charge a site, and the utility of one curator."""

import time

import numpy as np
import pytest

from confide.errors import ContractError, ReleaseFailedError, RoundAbortedError
from confide.jobs.federated.carriers.by_folder import collect
from confide.jobs.federated.runs import coordinate
from confide.jobs.federated.runs.notices import NoticeKind
from confide.jobs.federated.runs.proposal import sum_terms
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.pricing.over_sites import lengths_of_sums
from confide.plans.rounds.in_turn import answer_length, ask_in_turn
from confide.plans.soundness.soundness import require_sound
from confide.release.noisy import NoisyAggregates, read_payload
from confide.release.over_sites.among_sites import answers_of, sums_of
from confide.release.verify.verify import read_certificate, verify
from confide.service.federation.status import status
from federated_models import COVARIATES, LOGISTIC, ModelSites, stays, study_of, write_stays
from federated_sites import Sites, without_noise
from seeded import SeededEntropy

ROUNDS = f"id: risk, {LOGISTIC}, method: rounds"
EVERY_MODEL = (
    "id: dead, kind: count, table: patients, where: {left: [died]}",
    ROUNDS,
    f"id: wide, {LOGISTIC}, method: wide, expect: {{count: 300}}",
    f"id: look, {LOGISTIC}, method: one-shot",
    "id: line, kind: linear-regression, table: patients, outcome: acuity, covariates: [age, sex]",
    (
        f"id: events, kind: poisson-regression, table: patients, events: infections, time: stays, "
        f"{COVARIATES}, method: rounds"
    ),
    (
        "id: hazard, kind: hazard-regression, table: patients, time: stays, of: {left: [died]}, "
        "covariates: [age, acuity], edges: [0, 5, 20], method: rounds"
    ),
    (
        "id: classes, kind: multinomial-regression, table: patients, outcome: left, "
        "covariates: [age, acuity], method: rounds"
    ),
    "id: median, kind: quantiles, table: patients, column: age, at: [0.5], by: [sex]",
)


def exactly(sites):
    """Answers of all records together, each question following from the exact ones before."""
    plan, found = sites.plan, []
    for measurement, secret in zip(plan.measurements, sites.central(), strict=True):
        answers = secret if isinstance(secret, tuple) else ()
        noise = measurement.mechanism
        while not isinstance(secret, tuple) and (
            ask := ask_in_turn(
                measurement.aggregate, answers, mechanism=noise, dataset=plan.dataset
            )
        ):
            answers = (*answers, *secret.answer(ask))
        found.append(answers)
    return tuple(found)


def test_models_over_sites_are_asked_the_central_integers_before_noise(tmp_path, monkeypatch):
    sites = ModelSites(tmp_path, study=study_of(*EVERY_MODEL, epsilon=18), count=60)
    without_noise(monkeypatch)
    payloads = sites.together()
    assert len(set(payloads)) == 1, sites.failures
    central, added = exactly(sites), read_payload(payloads[0]).values
    assert len(central) > len(EVERY_MODEL)
    assert all(any(values) for values in central)
    names = [f"{each.statistic}/{each.name}" for each in sites.plan.measurements]
    pairs = zip(names, central, added, strict=True)
    assert [name for name, exact, told in pairs if exact != told] == []


@pytest.fixture(scope="module")
def risk(tmp_path_factory):
    """A logistic model in rounds over three sites that nobody fitted yet."""
    return ModelSites(tmp_path_factory.mktemp("risk"), study=study_of(ROUNDS, epsilon=2))


def test_lengths_of_sums_add_up_to_the_answers(risk):
    plan = risk.plan
    lengths = lengths_of_sums(plan)
    assert len(lengths) == 7  # moments, five gradients, and curvature between them
    assert sum(lengths) == sum(answer_length(m, dataset=plan.dataset) for m in plan.measurements)


def test_noise_of_a_model_over_sites_has_the_central_variance_times_n_over_m(risk):
    (measurement,) = risk.plan.measurements
    central = measurement.shared.charged_as(measurement.sensitivity, nano=measurement.nano)
    ratio = measurement.mechanism.sigma_squared / central.sigma_squared
    assert float(ratio) == pytest.approx(3 / 2, rel=1e-6)
    require_sound(risk.plan)


@pytest.mark.parametrize("length", [1, 14, 16])
def test_sums_that_end_within_a_round_are_refused(length, risk):
    with pytest.raises(ContractError, match="another length"):
        answers_of(risk.plan, [0] * length)
    with pytest.raises(ContractError, match="no sum after"):
        sum_terms(risk.plan, run="1" * 64, before=[0] * length)


def test_a_run_has_no_sum_after_the_last(risk):
    whole = [0] * sum(lengths_of_sums(risk.plan))
    with pytest.raises(ContractError, match="no sum after"):
        sum_terms(risk.plan, run="1" * 64, before=whole)
    with pytest.raises(ContractError, match="not of this plan"):
        sums_of(risk.plan, whole[:-1], added=("site-0",), salt="")


def test_sites_that_were_told_different_sums_speak_in_different_rounds(risk):
    first = lengths_of_sums(risk.plan)[0]
    told = [sum_terms(risk.plan, run="1" * 64, before=[n] * first) for n in (1, 2)]
    assert [each.number for each in told] == [1, 1]
    assert told[0].context != told[1].context


def test_thirty_rounds_of_a_logistic_model_in_memory_take_less_than_five_seconds(tmp_path):
    wide = f"id: risk, {LOGISTIC}, method: wide, expect: {{count: 900}}"
    sites = ModelSites(tmp_path, study=study_of(wide))
    assert len(lengths_of_sums(sites.plan)) == 33
    begun = time.process_time()
    payloads = sites.together()
    assert len(set(payloads)) == 1, sites.failures
    assert time.process_time() - begun < 5  # measured: 1.2 s


def scored(noisy, patients):
    """Log odds of patients by the coefficients that predict, up to the intercept."""
    found = 0.0
    for each in noisy.estimates():
        (key,) = each.key
        if each.quantity != "prediction coefficient" or ", " in key:
            continue
        name, _, value = key.partition(": ")
        column = patients[name]
        found = found + each.value * (column == value.split(" vs ")[0] if value else column)
    return found


def area(scores, died):
    """The share of pairs that are ranked as they ended."""
    ranks = np.argsort(np.argsort(scores)) + 1
    cases = int(died.sum())
    return (ranks[died].sum() - cases * (cases + 1) / 2) / cases / (len(died) - cases)


def test_a_federated_model_ranks_as_well_as_that_of_one_curator(tmp_path):
    sites = ModelSites(tmp_path, study=study_of(ROUNDS, epsilon=2), count=3000)
    (measurement,) = sites.plan.measurements
    (rows,) = sites.central()
    others = stays(np.random.default_rng(99), count=40_000)
    died = others["left"] == "died"
    alone = measurement.shared.charged_as(measurement.sensitivity, nano=measurement.nano)
    lost = []
    for seed in (1, 2, 3):
        fitted = fitted_alone(sites, rows, law=alone, entropy=SeededEntropy(seed))
        together = sites.together(
            entropy=lambda place, seed=seed: SeededEntropy(100 * seed + place), run=str(seed)
        )
        federated = read_payload(together[0])
        lost.append(area(scored(fitted, others), died) - area(scored(federated, others), died))
    assert np.abs(lost).max() <= 0.003, lost
    assert 0.79 < area(scored(federated, others), died) < 0.82


def fitted_alone(sites, rows, *, law: DiscreteGaussian, entropy):
    """The model of one curator who has all records, at the same charge."""
    from dataclasses import replace

    (measurement,) = sites.plan.measurements
    answers = ()
    while ask := ask_in_turn(
        measurement.aggregate, answers, mechanism=law, dataset=sites.plan.dataset
    ):
        answers = (*answers, *law.randomize(rows.answer(ask), entropy=entropy))
    one = replace(measurement, shared=None, mechanism=law)
    plan = replace(sites.plan, federation=None, measurements=(one,))
    return NoisyAggregates(plan=plan, values=(answers,))


def test_a_model_by_folder_is_charged_once_at_each_site(tmp_path):
    sites = ModelSites(tmp_path, study=study_of(ROUNDS), count=60)
    made, payloads = sites.by_folder(
        lambda begun: begun().bring_about(sites.plan, progress=lambda _: None)
    )
    assert payloads == [made.payload()] * 3
    nano = sites.plan.amount.nano
    assert [sites.entries(place) for place in range(3)] == [[("published", nano)]] * 3


class Cut(Exception):  # noqa: N818 - a power failure, and no error
    """The coordinator's process ends."""


def cut_after(sums):
    """Progress of a coordinator that is cut off when it begins with the sum after these."""

    def progress(step):
        if step.startswith(f"sum {sums + 1} of"):
            raise Cut

    return progress


def test_a_coordinator_that_is_cut_off_between_rounds_goes_on(tmp_path):
    sites = ModelSites(tmp_path, study=study_of(ROUNDS), count=60)
    now, cuts = sites_clock(), []

    def coordinate(begun):
        for sums in (1, 4):
            with pytest.raises(Cut):
                begun().bring_about(sites.plan, progress=cut_after(sums))
            cuts.append(begun().may_go_on(sites.plan, now=now, until=now))
        return begun().bring_about(sites.plan, progress=lambda _: None)

    made, payloads = sites.by_folder(coordinate)
    assert cuts == [True, True]
    assert payloads == [made.payload()] * 3
    assert [len(sites.entries(place)) for place in range(3)] == [1, 1, 1]


def sites_clock():
    """Some moment."""
    import datetime as dt

    return dt.datetime(2026, 11, 28, tzinfo=dt.UTC)


def cut_within(step):
    """Progress of a coordinator that is cut off in the third sum, when it begins with a step."""
    told = []

    def progress(name):
        if name.startswith("sum 3"):
            told.append(name)
        if told and name == step:
            raise Cut

    return progress


@pytest.mark.parametrize("step", ["share", "masked", "consent", "unmask"])
def test_where_nobody_may_be_missing_a_coordinator_that_is_cut_off_within_a_round_goes_on(
    step, tmp_path
):
    sites = ModelSites(tmp_path, study=study_of(ROUNDS), count=30)
    now = sites_clock()

    def coordinate(begun):
        with pytest.raises(Cut):
            begun().bring_about(sites.plan, progress=cut_within(step))
        assert begun().may_go_on(sites.plan, now=now, until=now)
        return begun().bring_about(sites.plan, progress=lambda _: None)

    made, payloads = sites.by_folder(coordinate)
    assert payloads == [made.payload()] * 3


def test_where_sites_may_be_missing_a_coordinator_that_is_cut_off_within_a_round_does_not_go_on(
    tmp_path,
):
    sites = ModelSites(tmp_path, study=study_of(ROUNDS), count=30, sites=4, drops=1)

    def coordinate(begun):
        with pytest.raises(Cut):
            begun().bring_about(sites.plan, progress=cut_within("masked"))
        now = sites_clock()
        assert not begun().may_go_on(sites.plan, now=now, until=now)
        begun().abort("The coordinator was cut off.")

    _, failures = sites.by_folder(coordinate)
    assert [type(each) for each in failures] == [ReleaseFailedError] * 4
    nano = sites.plan.amount.nano
    assert [sites.entries(place) for place in range(4)] == [[("burned", nano)]] * 4


def test_a_run_that_a_site_left_does_not_go_on_within_a_round(tmp_path):
    sites = ModelSites(tmp_path, study=study_of(ROUNDS), count=30)
    now = sites_clock()

    def coordinate(begun):
        with pytest.raises(Cut):
            begun().bring_about(sites.plan, progress=cut_within("consent"))
        sites.says_that_it_ended(1)
        assert not begun().may_go_on(sites.plan, now=now, until=now)
        begun().abort("The coordinator was cut off.")

    sites.by_folder(coordinate)


class Dies:
    """A site that is gone after so many sums."""

    def __init__(self, each, *, after):
        self.each, self.left = each, after

    def gather(self):
        self.each.gather()

    def add(self, numbers):
        if not self.left:
            raise RoundAbortedError("Gone.")
        self.left -= 1
        return self.each.add(numbers)


def test_sites_of_a_model_are_those_of_its_first_sum(tmp_path):
    sites = ModelSites(tmp_path, study=study_of(ROUNDS), count=60, sites=4, drops=1)
    made, ended = sites.by_folder(
        lambda begun: begun().bring_about(sites.plan, progress=lambda _: None),
        among=lambda place, each: Dies(each, after=2) if place == 2 else each,
    )
    assert isinstance(made, RoundAbortedError)
    assert "not all of them came to another: site-2" in str(made)
    assert [type(each) for each in ended] == [ReleaseFailedError] * 4
    assert [state for place in range(4) for state, _ in sites.entries(place)] == ["burned"] * 4


def test_a_site_that_is_missing_from_the_first_sum_is_missed_by_nobody(tmp_path):
    sites = ModelSites(tmp_path, study=study_of(ROUNDS), count=60, sites=4, drops=1)
    made, ended = sites.by_folder(
        lambda begun: begun().bring_about(sites.plan, progress=lambda _: None),
        among=lambda place, each: Dies(each, after=0) if place == 2 else each,
    )
    assert made.added == ("site-0", "site-1", "site-3")
    assert [isinstance(each, bytes) for each in ended] == [True, True, False, True]


def test_a_site_that_was_killed_in_the_first_sum_is_waited_for_in_that_one_alone(
    tmp_path, monkeypatch
):
    sites, waited = ModelSites(tmp_path, study=study_of(ROUNDS), count=60, sites=4, drops=1), []
    sites.says_that_it_ended = lambda *_, **__: None  # who is killed says nothing

    def collected(collector, *, gone, **how):
        waited.append(set(range(4)) - set(gone()))
        return collect(collector, gone=lambda: {2}, **how)  # as if the time for site-2 were up

    monkeypatch.setattr(coordinate, "collect", collected)
    made, _ = sites.by_folder(
        lambda begun: begun().bring_about(sites.plan, progress=lambda _: None),
        among=lambda place, each: Dies(each, after=0) if place == 2 else each,
    )
    assert made.added == ("site-0", "site-1", "site-3")
    assert waited == [{0, 1, 2, 3}, *[{0, 1, 3}] * 6]


def test_a_coordinator_that_changes_an_earlier_sum_with_the_last_one_is_not_believed(tmp_path):
    sites = ModelSites(tmp_path, study=study_of(ROUNDS), count=60)

    def coordinate(begun):
        lying = begun()
        post = lying.board.post

        def changed(kind, body, **how):
            if kind is NoticeKind.ADDED:
                first, *others = body["totals"]
                body = body | {"totals": [str(int(first) + 1), *others]}
            post(kind, body, **how)

        lying.board.post = changed
        return lying.bring_about(sites.plan, progress=lambda _: None)

    _, ended = sites.by_folder(coordinate)
    assert [type(each) for each in ended] == [ReleaseFailedError] * 3
    assert "tells other sums than it told before" in str(sites.failures[0])


def test_a_model_over_sites_passes_the_public_door_and_verifies(tmp_path):
    from federated_models import DATASET

    sites = Sites(tmp_path, study=study_of(ROUNDS), dataset=DATASET)
    rng = np.random.default_rng(3)
    for place, name in enumerate(sites.names):
        folder = tmp_path / name
        (folder / "patients.csv").unlink()
        made = stays(rng, count=200)
        write_stays(tmp_path / "made" / name, [made], study="", first=1000 * place)
        (tmp_path / "made" / name / "patients.csv").rename(folder / "patients.csv")
    ended = sites.together()
    assert ended.hub.missing == {}, ended.hub
    (run,) = status(federation=sites.file, folder=sites.shared).runs
    assert (run.told, run.sums, run.came_to) == (7, 7, "added")
    assert sites.entries("site-1") == [("published", sites.plan().amount.nano)]
    for place, name in enumerate(sites.names):
        folder = tmp_path / "out" / "sites" / name
        checked = verify(
            read_certificate(folder / "certificate.json"),
            folder=folder,
            pinned_key=sites.federation.sites[place].key,
        )
        assert checked.holds, checked.failed
