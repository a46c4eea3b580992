"""What noise will cost a model, told before anything is spent, against simulated models."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecast, make_plan
from confide.plans.rounds.descent import next_ask
from confide.plans.rounds.model_fit import fitted
from confide.privacy.amount import NANO
from confide.rows.relational.descent import DescentRows
from confide.statistics.logistic.evaluation import ScoreHistogram, concordance
from confide.statistics.logistic.feasibility import Planned, feasibility, planned
from confide.statistics.logistic.predictions import predicted
from confide.statistics.logistic.regression import LogisticRegression
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.expression import ColumnOf
from confide.tables.schema import Column, Kind
from held_out_scores import auc_of, judged, scored, with_noise
from models import AGGREGATE, ILL
from models import world as small_world

FACTOR = 2.5
LARGE = 40_000


@dataclass(frozen=True, kw_only=True)
class World:
    """Rows of ``d`` terms that fill their bounds, with a planned share and C-statistic."""

    n: int
    d: int
    share: float
    auc: float
    kind: str = "normal"
    rho: float = 0.02

    def dataset(self):
        plain = small_world()
        (people,) = plain.tables
        numbers = tuple(
            Column(name=f"x{i}", kind=Kind.NUMBER, source=f"x{i}", lower=0, upper=1000)
            for i in range(self.d)
        )
        return replace(plain, tables=(replace(people, columns=(*numbers, people.columns[-1])),))

    def aggregate(self):
        named = tuple(ColumnOf(table="people", column=f"x{i}") for i in range(self.d))
        return replace(AGGREGATE, covariates=named)

    def drawn(self, n, beta, rng):
        """Return columns, and the true risk's outcome; terms have a mean square of a third."""
        match self.kind:
            case "normal":
                z = rng.normal(size=(n, self.d))
            case "correlated":
                z = 0.7 * rng.normal(size=(n, 1)) + 0.51**0.5 * rng.normal(size=(n, self.d))
            case _:
                z = (rng.gamma(4, 1, (n, self.d)) - 4) / 2
        x = np.clip(np.rint(500 + 290 * z), 0, 1000).astype(np.int64)
        theta = planned(share=self.share, auc=self.auc)
        return x, rng.random(n) < 1 / (1 + np.exp(-(theta[0] + z @ beta)))

    def slopes(self, rng):
        spread = np.eye(self.d)
        if self.kind == "correlated":
            spread = 0.49 + 0.51 * spread
        beta = rng.normal(size=self.d)
        length = float(planned(share=self.share, auc=self.auc)[1])
        return beta * length / math.sqrt(beta @ spread @ beta)


def model(world, x, ill, *, sigma, rng):
    n, to, aggregate = len(x), world.dataset(), world.aggregate()
    columns = {"p": np.arange(n), "rk": np.ones(n), "fold": np.full(n, 999)}
    columns |= {f"e{i}": x[:, i] for i in range(world.d)} | {f"e{world.d}": ill.astype(int)}
    rows, noisy = DescentRows(aggregate, columns, dataset=to), ()
    while ask := next_ask(aggregate, noisy, sigma=sigma, dataset=to):
        exact = rows.answer(ask)
        noise = rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, noise, strict=True))
    return fitted(aggregate, noisy, sigma=sigma, dataset=to).predicting


def losses(world, *, runs, seed=1):
    """Return by how much the C-statistic of private models is below that of others, and the
    plan."""
    rng = np.random.default_rng(seed)
    beta = world.slopes(rng)
    scale = scale_of(world.aggregate(), dataset=world.dataset())
    sigma = math.sqrt(scale.l2_squared / (2 * world.rho))
    x, ill = world.drawn(LARGE, beta, rng)
    found = []
    for _ in range(runs):
        rows = world.drawn(world.n, beta, rng)
        both = (model(world, *rows, sigma=s, rng=rng) for s in (1e-3, sigma))
        plain, private = (
            auc_of((x - 500) @ each[1:] + 1e-9 * rng.normal(size=LARGE), ill) for each in both
        )
        found.append(plain - private)
    told = feasibility(
        Planned(fitted=world.n, evaluating=0, joined=1, share=world.share, auc=world.auc),
        noise=sigma,
        scale=scale,
    )
    return np.array(found), told


WORLDS = {
    "twenty terms": World(n=5_000, d=20, share=0.2, auc=0.75),
    "rare": World(n=16_000, d=10, share=0.05, auc=0.8),
    "few rows": World(n=2_000, d=5, share=0.3, auc=0.75),
    "sharp": World(n=5_000, d=20, share=0.2, auc=0.85),
    "blunt": World(n=10_000, d=20, share=0.2, auc=0.65),
    "correlated": World(n=3_000, d=10, share=0.3, auc=0.75, kind="correlated"),
    "skewed": World(n=3_000, d=10, share=0.3, auc=0.75, kind="skewed"),
    "three terms": World(n=1_000, d=3, share=0.4, auc=0.7, rho=0.01),
}


@pytest.mark.parametrize("name", ["few rows", "rare"])
def test_the_loss_of_c_statistic_is_told_within_a_factor_of_two_and_a_half(name):
    found, told = losses(WORLDS[name], runs=6)
    spare = 2 * float(np.std(found)) / math.sqrt(len(found))
    assert told.loss / FACTOR - spare < found.mean() < told.loss * FACTOR + spare
    assert told.loss > 0.0005


@pytest.mark.audit
@pytest.mark.parametrize("name", WORLDS)
def test_the_mean_loss_of_sixty_models_is_within_a_factor_of_two_and_a_half(name):
    found, told = losses(WORLDS[name], runs=60)
    assert told.loss / FACTOR < found.mean() < told.loss * FACTOR


@pytest.mark.parametrize(("share", "auc"), [(0.5, 0.6), (0.1, 0.75), (0.02, 0.9)])
def test_planned_log_odds_have_the_planned_share_and_c_statistic(share, auc):
    theta = planned(share=share, auc=auc)
    _, eta, ill = scored(400_000, np.random.default_rng(3), theta=theta)
    assert ill.mean() == pytest.approx(share, rel=0.02)
    assert auc_of(eta, ill) == pytest.approx(auc, abs=0.006)


@pytest.mark.parametrize(("patients", "noise"), [(2_000, 0.1), (2_000, 5.0), (600, 3.0)])
def test_the_error_of_the_held_out_c_statistic_is_told_within_a_fifth(patients, noise):
    rng = np.random.default_rng(4)
    theta = planned(share=0.3, auc=0.78)
    scale = replace(scale_of(replace(AGGREGATE, held_out=200), dataset=small_world()), scores=1)
    told = feasibility(
        Planned(fitted=1_000, evaluating=patients, joined=1, share=0.3, auc=0.78),
        noise=noise,
        scale=scale,
    )
    found = []
    for _ in range(200):
        counts, _, _ = scored(patients, rng, theta=theta)
        noisy = with_noise(counts, noise, rng).counts
        found.append(float(concordance(noisy[None], told=predicted(theta))[0]))
    assert told.error == pytest.approx(np.std(found), rel=0.2)
    assert judged(
        ScoreHistogram(counts=counts, noise=noise), theta=theta
    ).auc.error == pytest.approx(told.error, rel=0.2)


def test_a_plan_says_what_to_expect_of_the_c_statistic_from_public_facts():
    spec = LogisticRegression(
        id="odds",
        table="people",
        of=ILL,
        covariates=("age", "marker", "group"),
        hold_out=Fraction(3, 10),
        expect=Fraction(4_000),
        expect_share=Fraction(1, 5),
        expect_auc=Fraction(8, 10),
        subgroups=("group",),
    )

    def notes(statistic):
        plan = make_plan(
            [Ask(statistic=statistic)], study=Study(id="s"), dataset=small_world(), nano=NANO // 50
        )
        return " ".join(forecast(plan, statistic).notes)

    told = notes(spec)
    assert "planned with 0.8 without any error" in told
    assert "held-out patients would tell the C-statistic to ±" in told
    assert "for 1200 of them" in told
    assert "too few patients would be held out" in notes(replace(spec, expect=Fraction(400)))
    with pytest.raises(ContractError, match="planning C-statistic between"):
        replace(spec, expect_auc=Fraction(1, 2))
