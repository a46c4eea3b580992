"""Broken steps of DP-SGD: each must fail the audit that the real step passes.

One step on a worst pair: others who pull one way, and a canary patient, in or out, who pulls the
other way or as they do.  Sampler, clip, noise and normaliser are the real ones; δ is bounded from
below at a fixed ε and compared with that of the claimed sampled Gaussian, by numerical integration.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")

from confide.attacks.audit.lower_bound import delta_bound  # noqa: E402
from confide.jobs.learning import per_patient_gradients as gradients  # noqa: E402
from confide.jobs.learning.dp_sgd import DPSGD, REACH, Optimizer  # noqa: E402
from confide.jobs.learning.modules import validated  # noqa: E402
from confide.jobs.learning.per_patient_gradients import Rows  # noqa: E402
from confide.jobs.learning.poisson_sampler import PoissonSampler  # noqa: E402
from confide.noise.discrete_gaussian import DiscreteGaussian  # noqa: E402
from confide.tables.bound_contributions import RowBound  # noqa: E402
from confide.tables.expression import ColumnOf  # noqa: E402
from confide.tables.records import Records  # noqa: E402
from confide.tables.relation import Relation  # noqa: E402
from module_gradients import gradients_of  # noqa: E402
from seeded import SeededEntropy  # noqa: E402

pytestmark = pytest.mark.mutant

SAMPLES = 4_000
OTHERS = 7
EPSILON = 0.5
MISS = 1e-6
CLIP = 0.25


def training(rate):
    return DPSGD(
        reads=Records(
            relation=Relation(table="people"),
            reads=(ColumnOf(table="people", column="x"), ColumnOf(table="people", column="y")),
            bounds=RowBound(max_rows=1),
        ),
        architecture="0" * 64,
        parameters=1,
        clip=Fraction(CLIP),
        rate=rate,
        patients=8,
        steps=1,
        sigma_squared=Fraction(REACH) ** 2,
        optimizer=Optimizer.SGD,
        learning_rate=Fraction(1),
        checkpoints=1,
    )


HALF, WHOLE = training(Fraction(1, 2)), training(Fraction(1))


def pulled(classes, *, clip=CLIP):
    """Return what patients with one feature add, clipped and whole: shape (patients,)."""
    module = validated(torch.nn.Linear(1, 1, bias=False), features=1, classes=2)
    with torch.no_grad():
        module.weight.zero_()  # residuals of one half, twice the clip
    n = len(classes)
    rows = Rows(patient=np.arange(n), inputs=np.ones((n, 1)), classes=np.array(classes))
    of = gradients_of(module, features=1, clip=clip)
    return of.clipped(rows)[:, 0]


def opposed(**given):
    """Others pull down, the canary up."""
    return pulled([1] * OTHERS + [0], **given)


def of_fixed_size(patients, *, entropy):
    """A batch of exactly four patients, accounted as a Poisson sample of rate one half."""
    order = np.argsort(entropy.words(patients))
    return np.sort(order[:4])


def stepped(spec, vectors, *, samples, entropy, draw=None, noise=None, divide=None):
    """Return the noisy gradients of so many first steps; shape (samples, 1)."""
    batches = [(draw or spec.sampler.draw)(vectors.size, entropy=entropy) for _ in range(samples)]
    sums = np.array([vectors[batch].sum() for batch in batches], dtype=np.int64)
    noisy = (noise or spec.noise).randomize(sums, entropy=entropy)
    unit = float(spec.unit)
    if divide is not None:
        unit = np.array([CLIP / REACH / divide(batch.size) for batch in batches])
    return (noisy * unit)[:, None]


def claimed(rate, *, epsilon=EPSILON):
    """Return δ at ε of one Poisson-sampled Gaussian step with σ = Δ, the worse order of the pair."""
    x = np.linspace(-12, 13, 200_001)
    here, there = np.exp(-(x**2) / 2), np.exp(-((x - 1) ** 2) / 2)
    mixed = (1 - rate) * here + rate * there
    step = (x[1] - x[0]) / np.sqrt(2 * np.pi)
    grown = np.exp(epsilon)
    return step * max(
        np.maximum(mixed - grown * here, 0).sum(), np.maximum(here - grown * mixed, 0).sum()
    )


def measured(spec, vectors, *, samples=SAMPLES, seed=1, **mutated):
    entropy = SeededEntropy(seed)
    found = stepped(spec, vectors, samples=samples, entropy=entropy, **mutated)
    without = stepped(spec, vectors[:-1], samples=samples, entropy=entropy, **mutated)
    return delta_bound(found, without, epsilon=EPSILON, miss=MISS).value


def passes(spec, vectors, **given):
    return measured(spec, vectors, **given) <= claimed(float(spec.rate))


def test_the_canary_reaches_the_clip_and_the_audit_most_of_the_claim():
    vectors = opposed()
    assert vectors.tolist() == [-REACH] * OTHERS + [REACH]
    assert measured(WHOLE, vectors, samples=20_000) > 0.8 * claimed(1.0)
    alone = pulled([0])
    assert measured(HALF, alone, samples=20_000) > 0.5 * claimed(0.5)


@pytest.mark.parametrize("spec", [HALF, WHOLE], ids=["sampled", "full batch"])
@pytest.mark.parametrize(
    "classes", [[1] * 7 + [0], [0] * 8, [0]], ids=["opposed", "alike", "alone"]
)
def test_the_real_step_passes_the_audit(spec, classes):
    assert passes(spec, pulled(classes))


@pytest.mark.parametrize("spec", [HALF, WHOLE], ids=["sampled", "full batch"])
def test_steps_with_half_the_noise_are_caught(spec):
    half = DiscreteGaussian(sigma_squared=spec.sigma_squared / 4)
    assert not passes(spec, pulled([0]), noise=half)


@pytest.mark.parametrize("spec", [HALF, WHOLE], ids=["sampled", "full batch"])
def test_a_clip_of_twice_its_size_in_training_is_caught(spec, monkeypatch):
    from confide.jobs.learning import per_patient_gradients

    real = per_patient_gradients.scaled
    monkeypatch.setattr(per_patient_gradients, "scaled", lambda g, *, clip: 2 * real(g, clip=clip))
    monkeypatch.setattr(per_patient_gradients, "whole", lambda g: np.trunc(g).astype(np.int64))
    assert not passes(spec, pulled([0]))


def test_batches_of_a_fixed_size_accounted_as_poisson_samples_are_caught():
    """Whoever is drawn takes another's place, so the sum moves by twice the clip."""
    assert not passes(HALF, opposed(), draw=of_fixed_size)


def test_a_rate_that_is_not_the_one_accounted_for_is_caught():
    other = PoissonSampler(rate=Fraction(19, 20))
    assert not passes(HALF, pulled([0]), draw=other.draw)


def test_gradients_divided_by_the_actual_size_of_the_batch_are_caught():
    vectors = pulled([0] * 2 + [1])
    assert passes(WHOLE, vectors)
    assert not passes(WHOLE, vectors, divide=lambda size: max(size, 1))


def test_steps_skipped_when_a_batch_is_empty_are_caught():
    """No noise where nobody was drawn tells that nobody was."""

    class Skipping:
        def randomize(self, sums, *, entropy):
            noisy = HALF.noise.randomize(sums, entropy=entropy)
            return np.where(sums == 0, 0, noisy)

    assert not passes(HALF, pulled([0]), noise=Skipping())


def test_rows_clipped_one_by_one_instead_of_patients_are_caught(monkeypatch):
    """Three rows of one patient, each cut to the clip, move the sum three times as far."""
    module = validated(torch.nn.Linear(1, 1, bias=False), features=1, classes=2)
    with torch.no_grad():
        module.weight.zero_()
    rows = Rows(patient=np.zeros(3, int), inputs=np.ones((3, 1)), classes=np.zeros(3, int))
    of = gradients_of(module, features=1, clip=CLIP)
    assert passes(WHOLE, of.clipped(rows)[:, 0])
    by_row = replace(rows, patient=np.arange(3))
    assert not passes(WHOLE, of.clipped(by_row)[:, 0].sum(keepdims=True))


class Gated(torch.nn.Module):
    """A line; where the mean of a batch passes 0.77, a forty times steeper one."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 1, bias=False)

    def forward(self, rows):
        return self.linear(rows) * (1 + 40 * torch.sigmoid(1e4 * (rows.mean() - 0.77)))


def furthest_moved(by_patient=None):
    """Return how far one patient moves the sum of a gated module, in parts of R."""
    module = validated(Gated(), features=2, classes=2)
    with torch.no_grad():
        module.linear.weight.fill_(0.01)
    n = 20
    rows = Rows(
        patient=np.arange(n),
        inputs=np.vstack([np.tile([0.7, 0.82], (n - 1, 1)), [[1.0, 1.0]]]),
        classes=np.zeros(n, int),
    )
    of = gradients_of(module, features=2, clip=2.0)
    if by_patient is not None:
        of.by_patient = lambda batch: by_patient(of, module, batch)
    return float(np.abs(of.summed(rows) - of.summed(rows.of(np.arange(n - 1)))).max()) / REACH


def test_gradients_of_rows_that_go_through_the_module_together_are_caught():
    """As per-row gradients of a hooked module are: the batch decides what each of its rows adds."""

    def together(of, module, rows):
        outputs = module(torch.from_numpy(rows.inputs))
        losses = torch.nn.functional.binary_cross_entropy_with_logits(
            outputs[:, 0], torch.from_numpy(rows.classes.astype(float)), reduction="none"
        )
        of._at_kinks = np.zeros(len(losses), dtype=bool)
        each = [
            torch.autograd.grad(loss, list(module.parameters()), retain_graph=True)[0].reshape(-1)
            for loss in losses
        ]
        return torch.stack(each).numpy()

    assert furthest_moved() <= 1
    assert furthest_moved(together) > 5


class Steep(torch.nn.Module):
    """Smooth, and on made-up rows a line; around some rows the last bits decide everything."""

    def __init__(self, width):
        super().__init__()
        self.first, self.last = torch.nn.Linear(4, width), torch.nn.Linear(width, 1)

    def forward(self, rows):
        far = ((rows + 0.7) * (rows + 0.7)).sum(1, keepdim=True)
        return self.last(torch.sin(1e16 * torch.exp(-40 * far) * self.first(rows)))


def furthest_by_last_bits():
    """Return how far one patient moves the sum of steep modules, in parts of R."""
    rng, furthest = np.random.default_rng(14), 0.0
    for width in (7, 33):
        torch.manual_seed(5)
        of = gradients_of(validated(Steep(width), features=4, classes=2), features=4, clip=1.0)
        for n in range(2, 60):
            inputs = rng.uniform(-0.1, 0.1, (n, 4)) - 0.7
            rows = Rows(patient=np.arange(n), inputs=inputs, classes=rng.integers(0, 2, n))
            moved = of.summed(rows) - of.summed(rows.of(np.arange(n - 1)))
            furthest = max(furthest, float(np.linalg.norm(moved)) / REACH)
    return furthest


def test_batches_of_any_size_in_which_last_bits_depend_on_others_are_caught(monkeypatch):
    """Rows in one pass of as many rows as there are, instead of blocks of a fixed size."""
    assert furthest_by_last_bits() <= 1
    monkeypatch.setattr(gradients, "in_lanes", lambda rows, **_: [np.arange(rows.patient.size)])
    assert furthest_by_last_bits() > 1.1


@pytest.mark.audit
def test_the_real_step_passes_ninety_nine_of_a_hundred_audits():
    vectors = opposed()
    assert sum(passes(HALF, vectors, seed=seed, samples=4000) for seed in range(100)) >= 99


@pytest.mark.audit
def test_a_step_with_half_the_noise_fails_ninety_nine_of_a_hundred_audits():
    half = DiscreteGaussian(sigma_squared=HALF.sigma_squared / 4)
    alone = pulled([0])
    assert sum(not passes(HALF, alone, seed=seed, noise=half) for seed in range(100)) >= 99
