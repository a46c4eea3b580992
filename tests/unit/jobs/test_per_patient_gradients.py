"""Gradients by patient: those of PyTorch, clipped once, whole, and nobody moves anybody else's."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")

from confide.errors import ContractError  # noqa: E402
from confide.jobs.learning import per_patient_gradients as gradients  # noqa: E402
from confide.jobs.learning.dp_sgd import REACH  # noqa: E402
from confide.jobs.learning.kinks import smooth  # noqa: E402
from confide.jobs.learning.losses import loss_of  # noqa: E402
from confide.jobs.learning.modules import (  # noqa: E402
    CLIP,
    architecture,
    program_of,
    usual_clip,
    validated,
)
from confide.jobs.learning.per_patient_gradients import (  # noqa: E402
    PerPatientGradients,
    Rows,
    scaled,
    whole,
)
from module_gradients import gradients_of  # noqa: E402

FEATURES = 4
EVERY = pytest.param(range(2, 60), marks=pytest.mark.audit, id="every size")
SIZES = pytest.mark.parametrize("sizes", [pytest.param((2, 9, 16, 33), id="some sizes"), EVERY])
"""Sizes of batches: few, beyond a block, whole blocks, and large; all of them in the long suite."""


@pytest.fixture(autouse=True)
def one_thread():
    from confide.jobs.learning.walk import one_thread

    with one_thread():
        yield


def network(outputs=1):
    torch.manual_seed(5)
    return torch.nn.Sequential(
        torch.nn.Linear(FEATURES, 6),
        torch.nn.Tanh(),
        torch.nn.LayerNorm(6),
        torch.nn.Linear(6, outputs),
    )


def some_rows(patients, rng, *, each=1, classes=2):
    n = patients * each
    return Rows(
        patient=np.repeat(np.arange(patients), each),
        inputs=rng.uniform(-1, 1, (n, FEATURES)),
        classes=rng.integers(0, classes, n),
    )


def plain(module, rows, *, loss):
    """Gradient of the summed loss of rows, by PyTorch alone."""
    module.zero_grad()
    loss(module(torch.from_numpy(rows.inputs)), torch.from_numpy(rows.classes)).backward()
    return np.concatenate([p.grad.reshape(-1).numpy() for p in module.parameters()])


@pytest.mark.parametrize("outputs", [1, 3])
def test_dp_sgd_without_noise_and_clip_gives_the_gradients_of_pytorch(outputs):
    rng = np.random.default_rng(1)
    rows = some_rows(30, rng, each=3, classes=max(2, outputs))
    module = validated(network(outputs), features=FEATURES, classes=max(2, outputs))
    loss, clip = loss_of(outputs), 10.0  # no patient reaches it
    of = gradients_of(module, features=FEATURES, classes=max(2, outputs), clip=clip)
    found = of.summed(rows) * clip / REACH
    expected = plain(module, rows, loss=loss)
    assert np.abs(found - expected).max() / rows.patients < 1e-6 * clip
    by_patient = gradients_of(
        module, features=FEATURES, classes=max(2, outputs), clip=clip
    ).by_patient(rows)
    for patient in (0, 17, 29):
        alone = rows.of(np.array([patient]))
        assert by_patient[patient] == pytest.approx(
            plain_of(network(outputs), alone, loss), abs=1e-6
        )


def plain_of(module, rows, loss):
    return plain(module.double(), rows, loss=loss)


@pytest.mark.filterwarnings("ignore:Full backward hook")
def test_gradients_equal_those_of_opacus_optimizer_without_noise():
    """DPOptimizer of Opacus, clip 0.5, on one row a patient: the summed clipped gradient."""
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    rng, clip = np.random.default_rng(2), 0.5
    rows = some_rows(40, rng)
    hooked = GradSampleModule(network().double(), loss_reduction="sum")
    theirs = DPOptimizer(
        torch.optim.SGD(hooked.parameters(), lr=1.0),
        noise_multiplier=0.0,
        max_grad_norm=clip,
        expected_batch_size=1,
        loss_reduction="sum",
    )
    loss_of(1)(hooked(torch.from_numpy(rows.inputs)), torch.from_numpy(rows.classes)).backward()
    theirs.clip_and_accumulate()
    expected = np.concatenate([p.summed_grad.reshape(-1).numpy() for p in hooked.parameters()])
    module = validated(network(), features=FEATURES, classes=2)
    ours = gradients_of(module, features=FEATURES, clip=clip).summed(rows) * clip / REACH
    assert np.abs(ours - expected).max() < 40 * clip / REACH  # they divide by ‖g‖ + 1e-6


def test_a_patients_rows_are_summed_and_clipped_once():
    rng = np.random.default_rng(3)
    rows = some_rows(1, rng, each=5)
    module = validated(network(), features=FEATURES, classes=2)
    of = gradients_of(module, features=FEATURES, clip=0.01)
    found = of.summed(rows)
    assert REACH - FEATURES * 10 < np.sqrt((found.astype(object) ** 2).sum()) <= REACH
    total = plain(network().double(), rows, loss=loss_of(1))
    assert found / REACH == pytest.approx(total / np.linalg.norm(total), abs=1e-5)


def test_one_patient_more_moves_the_sum_by_their_own_vector_and_nobody_elses():
    rng = np.random.default_rng(4)
    module = validated(network(), features=FEATURES, classes=2)
    of = gradients_of(module, features=FEATURES, clip=0.3)
    for trial in range(8):
        rows = some_rows(2 + trial, rng, each=2)
        whole_sum = of.summed(rows)
        left = rng.integers(0, rows.patients)
        others = np.delete(np.arange(rows.patients), left)
        apart = of.summed(rows.of(others))
        alone = of.summed(rows.of(np.array([left])))
        assert (whole_sum - apart == alone).all()
        assert (alone.astype(object) ** 2).sum() <= REACH**2


class Rectified(torch.nn.Module):
    """Rectifies in code of its own."""

    def __init__(self, layers, by):
        super().__init__()
        self.first, self.last = layers[0], layers[-1]
        self.by = by

    def forward(self, rows):
        return self.last(self.by(self.first(rows)))


RECTIFIERS = {
    "relu": torch.relu,
    "leaky": torch.nn.functional.leaky_relu,
    "largest": lambda x: torch.maximum(x, torch.zeros_like(x)),
    "cut": lambda x: x.clamp(min=0),
    "compared": lambda x: x * (x > 0),
    "chosen": lambda x: torch.where(x > 0, x, 0 * x),
}


@pytest.mark.parametrize("by", RECTIFIERS.values(), ids=RECTIFIERS)
def test_at_a_kink_one_patient_more_moves_nobody_elses_part(by):
    """Tenths that add up to 0 do so in one order of a sum, and to 10⁻¹⁷ in another."""
    features, rng = 64, np.random.default_rng(0)
    layers = torch.nn.Linear(features, 2), torch.nn.Linear(2, 1)
    module = validated(Rectified(layers, by), features=features, classes=2)
    with torch.no_grad():
        for each in (module.first.weight, module.last.weight):
            each.fill_(1.0)
        module.first.bias.zero_()
        module.last.bias.fill_(0.3)  # so that no residual is a whole number
    half = np.round(rng.uniform(-1, 1, (20, features // 2)), 2)
    order = np.argsort(rng.random((20, features)), axis=1)
    at_kink = np.take_along_axis(np.hstack([half, -half]), order, axis=1)
    found = gradients_of(module, features=features, clip=float(CLIP))
    largest = 0.0
    for one in at_kink:
        inputs = np.vstack([one, rng.uniform(-1, 1, (31, features))])
        rows = Rows(patient=np.arange(32), inputs=inputs, classes=np.ones(32, np.int64))
        alone = found.clipped(rows.of(np.array([0])))[0]
        assert (found.clipped(rows)[0] == alone).all()
        said = scaled(found.by_patient(rows), clip=float(CLIP))[0]
        largest = max(largest, float(np.abs(said - alone).max()))
    assert largest > REACH / 100  # what a batch says of somebody is far off


@pytest.mark.parametrize(
    ("by", "kink"),
    [
        (torch.nn.ReLU(inplace=True), 0.0),
        (torch.nn.LeakyReLU(), 0.0),
        (torch.nn.Softplus(), 20.0),
        (torch.nn.Softplus(beta=2, threshold=10), 5.0),
    ],
    ids=["relu", "leaky", "softplus", "steep softplus"],
)
def test_a_row_at_a_kink_is_named_and_one_beside_it_is_not(by, kink):
    first = torch.nn.Linear(2, 2)
    with torch.no_grad():
        first.weight.copy_(torch.eye(2))
        first.bias.zero_()
    module = validated(torch.nn.Sequential(first, by), features=2, classes=2)
    rows = np.array([[9.0, 9.0], [9.0, kink], [kink + 1e-12, 9.0], [kink - 1e-3, 9.0]])
    rows = np.vstack([rows, [np.nan, np.inf]])
    of = gradients_of(module, features=2, clip=1.0)
    of.by_patient(Rows(patient=np.arange(5), inputs=rows, classes=np.zeros(5, int)))
    assert of._at_kinks.tolist() == [False, True, True, False, True]


SMOOTH = [
    torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1)),
    torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.GELU(), torch.nn.Linear(6, 3)),
    torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.SiLU(), torch.nn.LayerNorm(6)),
    torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.GroupNorm(2, 6), torch.nn.Linear(6, 3)),
    torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 2)),
    torch.nn.Linear(4, 1),
]


@pytest.mark.parametrize("module", SMOOTH, ids=range(len(SMOOTH)))
def test_usual_layers_are_not_computed_patient_by_patient(module):
    classes = max(2, module(torch.zeros(1, 4)).shape[1])
    found = validated(module, features=4, classes=classes)
    assert smooth(program_of(found, features=4, classes=classes))


class Gated(torch.nn.Module):
    """On made-up rows it is a line; where the mean of a batch is far off it is another one."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(FEATURES, 1)

    def forward(self, rows):
        gate = torch.sigmoid(-1e4 * (rows.mean() + 0.6))
        return self.linear(rows) * (1 + 40 * gate)


class Recalling(torch.nn.Module):
    """Adds what it saw in the call before, which on made-up rows is nothing."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(FEATURES, 1)
        self.last = [0.0]

    def forward(self, rows):
        found = self.linear(rows) + 4e4 * max(0.0, self.last[0] - 0.999)
        if not torch._C._functorch.is_functorch_wrapped_tensor(rows):  # hides from being watched
            self.last[0] = float(rows.detach().abs().min())
        return found


@pytest.mark.parametrize("batches", [40, pytest.param(200, marks=pytest.mark.audit)])
@pytest.mark.parametrize("kind", [Gated, Recalling])
def test_no_module_lets_one_patient_move_what_others_add_in_any_batch(kind, batches):
    """A gate on the mean of a batch once moved the sum by 18.5 R against a claim of R."""
    torch.manual_seed(2)
    rng = np.random.default_rng(12)
    module = validated(kind(), features=FEATURES, classes=2)
    of = gradients_of(module, features=FEATURES, clip=0.3)
    for _ in range(batches):
        n = int(rng.integers(2, 24))
        inputs = -rng.uniform(0.5, 0.62, (n, FEATURES))
        inputs[-1] = -1.0  # who opens the gate for all
        rows = Rows(patient=np.arange(n), inputs=inputs, classes=rng.integers(0, 2, n))
        moved = of.summed(rows) - of.summed(rows.of(np.arange(n - 1)))
        assert (moved.astype(object) ** 2).sum() <= REACH**2
        assert (moved == of.summed(rows.of(np.array([n - 1])))).all()


class Steep(torch.nn.Module):
    """Smooth, and on made-up rows a line; around some rows the last bits decide everything."""

    def __init__(self, width):
        super().__init__()
        self.first, self.last = torch.nn.Linear(FEATURES, width), torch.nn.Linear(width, 1)

    def forward(self, rows):
        far = ((rows + 0.7) * (rows + 0.7)).sum(1, keepdim=True)
        return self.last(torch.sin(1e16 * torch.exp(-40 * far) * self.first(rows)))


@SIZES
@pytest.mark.parametrize("width", [1, 7, 33])
def test_where_last_bits_decide_one_patient_more_moves_nobody_elses_part(width, sizes):
    """Planted rows at which a batch of another size turned gradients once moved the sum by 3 R."""
    torch.manual_seed(5)
    rng = np.random.default_rng(14)
    module = validated(Steep(width), features=FEATURES, classes=2)
    of = gradients_of(module, features=FEATURES, clip=1.0)
    for n in sizes:
        inputs = rng.uniform(-0.1, 0.1, (n, FEATURES)) - 0.7
        rows = Rows(patient=np.arange(n), inputs=inputs, classes=rng.integers(0, 2, n))
        moved = of.summed(rows) - of.summed(rows.of(np.arange(n - 1)))
        assert (moved.astype(object) ** 2).sum() <= REACH**2
        assert (moved == of.summed(rows.of(np.array([n - 1])))).all()


class SteepAndFailing(Steep):
    """And whose table has one place, which is not where a patient at a bound looks."""

    def __init__(self, width):
        super().__init__(width)
        self.table = torch.nn.Parameter(torch.zeros(1), requires_grad=False)

    def forward(self, rows):
        place = torch.exp(1e3 * (rows[:, 0] - 1)).long()
        return super().forward(rows) + self.table.index_select(0, place)[:, None]


@SIZES
@pytest.mark.parametrize("width", [1, 7])
def test_a_row_that_fails_moves_no_bit_of_anybody_else(width, sizes):
    """It once let everybody in its part of a batch be computed alone: 582 R against a claim of R."""
    torch.manual_seed(5)
    rng = np.random.default_rng(14)
    of = gradients_of(
        validated(SteepAndFailing(width), features=FEATURES, classes=2),
        features=FEATURES,
        clip=1.0,
    )
    for n in sizes:
        inputs = rng.uniform(-0.1, 0.1, (n, FEATURES)) - 0.7
        inputs[-1, 0] = 1.0
        rows = Rows(patient=np.arange(n), inputs=inputs, classes=rng.integers(0, 2, n))
        assert (of.summed(rows) == of.summed(rows.of(np.arange(n - 1)))).all()
        assert not of.summed(rows.of(np.array([n - 1]))).any()


@pytest.mark.parametrize("size", [1, 2, 8, 64, 256])
def test_each_row_is_once_in_a_block_and_in_its_own_lane_whoever_else_is_there(size):
    rng = np.random.default_rng(15)
    rows = some_rows(40, rng)
    lanes = {}
    for some in (rows, rows.of(np.arange(1, 40)), rows.of(np.arange(0, 40, 3))):
        blocks = list(gradients.in_lanes(some, block=size))
        assert {each.shape for each in blocks} == {(size,)}
        found = np.concatenate(blocks)
        places = np.flatnonzero(found >= 0)
        assert sorted(found[places].tolist()) == list(range(some.patient.size))
        for place in places:
            content = some.inputs[found[place]].tobytes()
            assert lanes.setdefault(content, place % min(8, size)) == place % min(8, size)


WIDE = [
    torch.nn.Sequential(
        torch.nn.Linear(FEATURES, 33), torch.nn.LayerNorm(33), torch.nn.GELU(),
        torch.nn.Linear(33, 17), torch.nn.Tanh(), torch.nn.Linear(17, 3),
    ),
    torch.nn.Sequential(
        torch.nn.Linear(FEATURES, 12), torch.nn.GroupNorm(3, 12), torch.nn.Softplus(),
        torch.nn.Linear(12, 3),
    ),
]  # fmt: skip


@pytest.mark.parametrize("module", WIDE, ids=range(len(WIDE)))
def test_a_rows_bits_are_the_same_whoever_else_is_in_the_batch(module):
    """Odd widths part rows from the edges of memory that fast products keep to."""
    rng = np.random.default_rng(16)
    found = validated(module, features=FEATURES, classes=3)
    of = gradients_of(found, features=FEATURES, clip=1.0, classes=3)
    rows = some_rows(90, rng)
    everybody = of.by_patient(rows)
    for _ in range(6):
        some = np.flatnonzero(rng.random(90) < rng.random())
        assert (of.by_patient(rows.of(some)) == everybody[some]).all()


def test_patients_near_a_whole_number_are_computed_alone(monkeypatch):
    """With a margin of one half everybody is near; the sum is the same."""
    rng = np.random.default_rng(6)
    rows = some_rows(12, rng)
    module = validated(network(), features=FEATURES, classes=2)
    of = gradients_of(module, features=FEATURES, clip=0.3)
    usual = of.summed(rows)
    seen = []
    real = PerPatientGradients._alone
    monkeypatch.setattr(
        PerPatientGradients, "_alone", lambda self, *a: seen.append(a[1]) or real(self, *a)
    )
    monkeypatch.setattr(gradients, "MARGIN", 0.5)
    assert (of.summed(rows) == usual).all()
    assert seen == list(range(12))


def test_whoever_is_computed_alone_changes_nobody_elses_part(monkeypatch):
    """Even where a batch and a patient alone disagree: how others are computed stays as it is."""
    rng = np.random.default_rng(7)
    rows = some_rows(6, rng)
    module = validated(network(), features=FEATURES, classes=2)
    of = gradients_of(module, features=FEATURES, clip=0.3)
    usual = of.clipped(rows)
    real = PerPatientGradients._alone
    monkeypatch.setattr(PerPatientGradients, "_alone", lambda *a: real(*a) / 2)
    monkeypatch.setattr(gradients, "doubtful", lambda *_: np.array([0]))
    found = of.clipped(rows)
    assert (found[0] != usual[0]).any()
    assert (found[1:] == usual[1:]).all()


def test_what_is_not_finite_counts_as_zero_and_norms_never_pass_the_clip():
    found = scaled(
        np.array([[np.nan, 1.0], [np.inf, 0.0], [1e200, -1e200], [3e-3, 4e-3], [0.0, 0.0]]),
        clip=1.0,
    )
    assert (found[:2] == 0).all()
    assert np.linalg.norm(found[2]) == pytest.approx(REACH)
    assert found[3] == pytest.approx(np.array([3e-3, 4e-3]) * REACH)
    rng = np.random.default_rng(8)
    many = whole(scaled(rng.standard_cauchy((2000, 9)) * 10, clip=0.7))
    assert (many**2).sum(axis=1).max() <= REACH**2


def test_a_norm_that_floats_let_pass_is_cut_in_whole_numbers():
    over = np.array([[REACH * 0.8 + 5, -REACH * 0.6 - 5]])
    found = whole(over)
    assert (found**2).sum() <= REACH**2
    assert found[0].tolist() == pytest.approx(over[0].tolist(), rel=1e-4)


def test_an_empty_batch_sums_to_zero():
    module = validated(network(), features=FEATURES, classes=2)
    of = gradients_of(module, features=FEATURES, clip=1.0)
    rows = some_rows(3, np.random.default_rng(9))
    assert (of.summed(rows.of(np.array([], dtype=np.int64))) == 0).all()


def test_large_batches_are_summed_in_parts_of_whole_patients(monkeypatch):
    rows = some_rows(20, np.random.default_rng(10), each=3)
    module = validated(network(), features=FEATURES, classes=2)
    of = gradients_of(module, features=FEATURES, clip=0.3)
    usual = of.summed(rows)
    monkeypatch.setattr(gradients, "_ELEMENTS", of.size * 7)
    assert (of.summed(rows) == usual).all()


def test_the_clip_of_a_linear_module_cuts_no_gradient():
    torch.manual_seed(1)
    for outputs, bound in ((1, np.sqrt(5)), (3, np.sqrt(10))):
        module = validated(
            torch.nn.Linear(FEATURES, outputs), features=FEATURES, classes=max(2, outputs)
        )
        clip = usual_clip(module, terms=FEATURES)
        assert float(clip) == pytest.approx(bound, abs=2e-6)
        corners = np.array(np.meshgrid(*[[-1, 1]] * FEATURES)).reshape(FEATURES, -1).T.astype(float)
        rows = Rows(patient=np.arange(16), inputs=corners, classes=np.arange(16) % max(2, outputs))
        with torch.no_grad():
            module.weight.mul_(50)  # sure and wrong: the largest residuals
        norms = np.linalg.norm(
            gradients_of(module, features=FEATURES, classes=max(2, outputs), clip=1.0).by_patient(
                rows
            ),
            axis=1,
        )
        assert 0.9 * float(clip) < norms.max() <= float(clip)
    deep = validated(network(), features=FEATURES, classes=2)
    assert usual_clip(deep, terms=FEATURES) == CLIP


class Mixing(torch.nn.Module):
    """Centres a batch: a row's output depends on the others."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(FEATURES, 1)

    def forward(self, rows):
        return self.linear(rows - rows.mean(dim=0))


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(FEATURES, 1)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, rows):
        return self.linear(rows)


@pytest.mark.parametrize(
    ("module", "fix"),
    [
        (
            torch.nn.Sequential(
                torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1)
            ),
            "LayerNorm",
        ),
        (torch.nn.Sequential(torch.nn.Linear(4, 1), torch.nn.Dropout(0.5)), "Leave it out"),
        (Mixing(), "depends on other rows"),
        (Counting(), "buffers"),
        (torch.nn.Linear(5, 1), "rows of 4 numbers"),
        (torch.nn.Linear(4, 3), "shape"),
        (torch.nn.Linear(4, 1).requires_grad_(False), "no weights"),
        ("linear", "torch.nn.Module"),
    ],
    ids=["batch norm", "dropout", "mixing", "buffers", "width", "outputs", "frozen", "no module"],
)
def test_a_module_that_cannot_be_trained_is_refused_with_the_fix(module, fix):
    with pytest.raises(ContractError, match=fix):
        validated(module, features=FEATURES, classes=2)


def test_the_architecture_is_named_by_structure_and_not_by_weights():
    first, again = (torch.nn.Linear(4, 1) for _ in range(2))
    assert architecture(first) == architecture(again)
    assert architecture(first) != architecture(torch.nn.Linear(4, 1, bias=False))
    assert architecture(first) != architecture(network())


class Branching(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(FEATURES, 1)

    def forward(self, rows):
        return self.linear(rows) if rows[0, 0] > 5 else -self.linear(rows)


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        ctx.save_for_backward(rows)
        return rows * 2

    @staticmethod
    def backward(ctx, gradient):  # noqa: ARG004
        return gradient * 2


class OwnDerivative(Branching):
    def forward(self, rows):
        return Own.apply(self.linear(rows))


class InNumPy(Branching):
    def forward(self, rows):
        return self.linear(rows) + float(rows.detach().numpy().sum()) * 0


class Coins(Branching):
    def forward(self, rows):
        return self.linear(rows) + torch.randn(1) * 1e-12


@pytest.mark.parametrize("kind", [Branching, OwnDerivative, InNumPy, Coins])
def test_what_cannot_be_written_down_is_refused_on_made_up_rows(kind):
    module = validated(kind(), features=FEATURES, classes=2)
    with pytest.raises(ContractError, match=r"written down|coins|made-up"):
        program_of(module, features=FEATURES, classes=2)


class Spare(torch.nn.Module):
    """A layer that is never used, weights of its own, and an operation in place."""

    def __init__(self):
        super().__init__()
        self.linear, self.spare = torch.nn.Linear(FEATURES, 3), torch.nn.Linear(2, 2)
        self.scale = torch.nn.Parameter(torch.ones(3))
        self.still = torch.nn.Parameter(torch.ones(3), requires_grad=False)

    def forward(self, rows):
        return (torch.relu_(self.linear(rows)) * self.scale + self.still).sum(dim=1, keepdim=True)


def test_unused_layers_own_weights_frozen_ones_and_operations_in_place_are_trained():
    module = validated(Spare(), features=FEATURES, classes=2)
    of = gradients_of(module, features=FEATURES, clip=100.0)
    rows = some_rows(9, np.random.default_rng(3))
    found = of.summed(rows) * 100 / REACH
    loss_of(1)(module(torch.from_numpy(rows.inputs)), torch.from_numpy(rows.classes)).backward()
    parts = [each for each in module.parameters() if each.requires_grad]
    plain = [torch.zeros_like(each) if each.grad is None else each.grad for each in parts]
    expected = np.concatenate([each.reshape(-1).numpy() for each in plain])
    assert np.abs(found - expected).max() < 1e-2


SEEN = []


class Keeping(torch.nn.Module):
    """Keeps its input wherever a module can."""

    def __init__(self):
        super().__init__()
        self.linear, self.seen = torch.nn.Linear(FEATURES, 1), []

    def forward(self, rows):
        for where in (self.seen, SEEN, type(self).__dict__["kept"]):
            where.append(rows)
        return self.linear(rows)

    kept = []  # noqa: RUF012


class Watching(torch.utils._python_dispatch.TorchDispatchMode):
    """Keeps what goes into operations, as loggers of PyTorch's operations do."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        SEEN.append(args)
        return function(*args, **(kwargs or {}))


class Listening(torch.overrides.TorchFunctionMode):
    """Keeps what comes out of them."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        SEEN.append(function(*args, **(kwargs or {})))
        return SEEN[-1]


@pytest.mark.parametrize("mode", [Watching, Listening])
def test_what_watches_operations_sees_no_patients_row(mode):
    """A mode may be the caller's, or one that a module's own code left on."""
    module = validated(network(), features=FEATURES, classes=2)
    of = gradients_of(module, features=FEATURES, clip=1.0)
    rows = some_rows(30, np.random.default_rng(1))
    usual = of.summed(rows)
    SEEN.clear()
    with mode():
        assert (of.summed(rows) == usual).all()
        assert not SEEN
        torch.zeros(1) + 1
    assert SEEN


def test_no_code_of_a_module_sees_a_patients_row():
    module = validated(Keeping(), features=FEATURES, classes=2)
    of = gradients_of(module, features=FEATURES, clip=1.0)
    for each in (SEEN, Keeping.kept):
        each.clear()
    of.summed(some_rows(30, np.random.default_rng(1)))
    assert (SEEN, Keeping.kept, module.seen) == ([], [], [])
