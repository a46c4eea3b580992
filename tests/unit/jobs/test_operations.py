"""Which operations a module may be made of: those that keep to one row, whatever numbers it has."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")

from torch import nn  # noqa: E402

from confide.errors import ContractError  # noqa: E402
from confide.jobs.learning import operations  # noqa: E402
from confide.jobs.learning.kinks import smooth  # noqa: E402
from confide.jobs.learning.modules import program_of, validated  # noqa: E402
from confide.jobs.learning.per_patient_gradients import Rows  # noqa: E402
from confide.jobs.learning.walk import one_thread  # noqa: E402
from module_gradients import gradients_of  # noqa: E402

ODD = 0.123
"""A value that one patient has and no made-up row."""
aten = torch.ops.aten


def overload(name):
    of, _, which = name.partition(".")
    return getattr(getattr(aten, of), which)


@pytest.mark.parametrize("name", sorted(operations.PERMITTED))
def test_what_is_permitted_is_pytorch_s_and_keeps_rows_apart_in_silence(name):
    """It has a rule in `vmap`, or takes no tensor that could be somebody's."""
    of = overload(name)
    assert not of._schema.is_mutable
    assert torch.Tag.nondeterministic_seeded not in of.tags
    rule = torch._C._dispatch_has_kernel_for_dispatch_key(
        of.name().removesuffix(".default"), "FuncTorchBatched"
    )
    takes = any("Tensor" in str(each.type) for each in of._schema.arguments)
    assert rule or not takes or name == "lift_fresh_copy.default"  # of constants alone


class Made(nn.Module):
    def __init__(self, forward, layer=None):
        super().__init__()
        self.linear, self.layer = nn.Linear(4, 1), layer
        self.table = nn.Parameter(torch.zeros(3), requires_grad=False)
        self.by = forward

    def forward(self, rows):
        return self.by(self, rows)


def odd(rows):
    return ((rows[:, :1] - ODD).abs() < 1e-6).long()


def segments(m, x):
    seen = [
        torch.segment_reduce(r.detach(), "sum", lengths=k * 10**9 + 2, unsafe=True)
        for r, k in zip(x, odd(x), strict=True)
    ]
    return m.linear(x) + torch.stack(seen)


def pooled_by_hand(m, x):
    high = x.reshape(-1, 1, 2, 2)
    up, at = torch.ones_like(high[:, :, :1, :1]), (odd(x) * 10**12)[:, :, None, None]
    found = aten.max_pool2d_with_indices_backward(
        up, high, [2, 2], [2, 2], [0, 0], [1, 1], False, at
    )
    return m.linear(x) + found.sum((1, 2, 3))[:, None]


def pooled_elsewhere(m, x):
    """After a pooling, but not with its places."""
    forth = nn.functional.max_pool2d_with_indices(x.reshape(-1, 1, 2, 2), 2)[0]
    return pooled_by_hand(m, x) + forth.sum((1, 2, 3))[:, None]


def normed_by_hand(m, x):
    one = x[:, :1].reshape(-1)
    found = aten.native_layer_norm_backward(x, x, [4], one, one, None, None, [True, False, False])
    return m.linear(found[0])


def normed_by_less(m, x):
    """Mean and deviation of a single place, for as many as the row has."""
    there = aten.native_layer_norm(x[:, :, None], [1], None, None, 1e-5)
    less = there[1][:, :1], there[2][:, :1]
    up = x[:, :, None]
    return m.linear(
        aten.native_layer_norm_backward(up, up, [1], *less, None, None, [True, False, False])[0][
            :, :, 0
        ]
    )


def table_of_the_row(m, x):
    of = nn.functional.embedding(odd(x)[:, 0] * 5, x.reshape(-1, 1))
    return m.linear(x) + of


def words_by_hand(m, x):
    found = aten.embedding_dense_backward(x[:, :1], odd(x)[:, 0] * 5, 3, -1, False)
    return m.linear(x) + 0 * found.sum()


REFUSED = {
    "segment_reduce": segments,
    "_trilinear": lambda m, x: m.layer(x, x),
    "view.dtype": lambda m, x: m.linear(x) + 0 * x.view(torch.int64)[:, :1],
    "_linalg": lambda m, x: (
        m.linear(x) + torch.linalg.eigvalsh(torch.eye(2) * x[:, :1, None])[:, :1]
    ),
    "linalg_inv": lambda m, x: (
        m.linear(x) + torch.linalg.inv(torch.eye(2) * (x[:, :1, None] - 3)).sum((1, 2))[:, None]
    ),
    "max_pool2d_with_indices_backward": pooled_by_hand,
    "max_pool2d_with_indices_backward.default itself": pooled_elsewhere,
    "native_layer_norm_backward": normed_by_hand,
    "native_layer_norm_backward.default itself": normed_by_less,
    "embedding.default": table_of_the_row,
    "embedding_dense_backward": words_by_hand,
    "unusual kind": lambda m, x: m.linear(x) + (x * (1 + 1j)).abs()[:, :1] * 0,
    "_sparse_coo_tensor": lambda m, x: (
        m.linear(x)
        + aten._sparse_coo_tensor_unsafe(
            odd(x)[:1, 0].expand(1, 1) * 10**12, x[0, :1].detach(), [3]
        ).to_dense()[0]
        * 0
    ),
    "ctc_loss": lambda m, x: (
        m.linear(x)
        + 0
        * aten._ctc_loss(
            x[0].reshape(4, 1, 1).detach(), odd(x)[:1] * 10**6, torch.tensor([4]), torch.tensor([1])
        )[0]
    ),
    "threshold_backward.default itself": lambda m, x: m.linear(
        x + aten.threshold_backward(x, x.detach() * 2, 0)
    ),
    "threshold_backward.default itself ": lambda m, x: m.linear(
        torch.relu(x) + aten.threshold_backward(x, torch.relu(x), 0.25)
    ),
    "leaky_relu_backward.default itself": lambda m, x: m.linear(
        nn.functional.leaky_relu(x, 0.1) + aten.leaky_relu_backward(x, x, 0.5, False)
    ),
    "_log_softmax_backward_data.default itself": lambda m, x: (
        m.linear(x)
        + 0 * (aten._log_softmax_backward_data(x, x[:, :2], 1, torch.float64)[:, :1] > 0).double()
    ),
    "_prelu_kernel_backward.default itself": lambda m, x: (
        m.linear(x) + aten._prelu_kernel_backward(x, x[:, :1], x)[1][:, :1]
    ),
    "_embedding_bag": lambda m, x: (
        m.linear(x)
        + aten._embedding_bag(m.table[:, None], odd(x)[:, 0] * 10**12, torch.tensor([0]))[0]
    ),
    "_unsafe_index": lambda m, x: (
        m.linear(x) + aten._unsafe_index(m.table, [odd(x)[:, 0] * 10**12])[:, None]
    ),
    "floor_divide": lambda m, x: m.linear(x) + aten.floor_divide(odd(x) * 0 + 1, 1 - odd(x)),
}


def refused(forward, layer=None):
    torch.manual_seed(1)
    made = Made(forward, layer)
    with pytest.raises(ContractError) as error:
        program_of(validated(made, features=4, classes=2), features=4, classes=2)
    return str(error.value)


@pytest.mark.parametrize(("name", "forward"), REFUSED.items(), ids=REFUSED)
def test_what_may_kill_or_mix_or_speak_at_a_row_is_refused_by_name_before_the_charge(name, forward):
    """On one patient's number each of these once ended the process, or read another's row."""
    said = refused(forward, nn.Bilinear(4, 4, 1) if name == "_trilinear" else None)
    for word in name.split():
        assert word in said
    if name == "_trilinear":
        assert "einsum" in said


LAYERS = {
    "conv": nn.Sequential(
        nn.Unflatten(1, (1, 4)), nn.Conv1d(1, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.ReLU(),
        nn.AvgPool1d(2), nn.Flatten(), nn.Linear(8, 1),
    ),
    "conv in two directions": nn.Sequential(
        nn.Unflatten(1, (1, 2, 2)), nn.Conv2d(1, 3, 2, padding=1), nn.Tanh(), nn.AvgPool2d(2, 1),
        nn.Flatten(), nn.Linear(12, 1),
    ),
    "an average of whatever size": nn.Sequential(
        nn.Unflatten(1, (2, 2)), nn.Conv1d(2, 4, 2), nn.ELU(), nn.AdaptiveAvgPool1d(1),
        nn.Flatten(), nn.Linear(4, 1),
    ),
    "conv that grows": nn.Sequential(
        nn.Unflatten(1, (2, 2)), nn.ConvTranspose1d(2, 4, 2), nn.Flatten(), nn.Linear(12, 1)
    ),
    "a recurrent layer": Made(
        lambda m, x: m.linear(m.layer(x[:, :, None])[0][:, -1]), nn.RNN(1, 4, batch_first=True)
    ),
    "a gated cell": Made(lambda m, x: m.linear(m.layer(x)), nn.GRUCell(4, 4)),
    "a cell with memory": Made(lambda m, x: m.linear(m.layer(x)[0]), nn.LSTMCell(4, 4)),
    "rectified": nn.Sequential(
        nn.Linear(4, 5), nn.LeakyReLU(), nn.Linear(5, 5), nn.PReLU(), nn.Linear(5, 3),
        nn.Softplus(), nn.Linear(3, 1),
    ),
    "gated": nn.Sequential(
        nn.Linear(4, 5), nn.GELU(), nn.LayerNorm(5), nn.SiLU(), nn.Linear(5, 3), nn.Softmax(1),
        nn.Linear(3, 1),
    ),
    "pairs": Made(lambda m, x: m.linear(x) + torch.einsum("bi,kij,bj->bk", x, m.layer.weight, x),
                  nn.Bilinear(4, 4, 1)),
    "parts": Made(lambda m, x: m.linear(torch.cat([x[:, 2:], x.roll(1, 1)[:, :2]], 1).flip(1))),
}  # fmt: skip

LAYERS_WITH_KINKS = {
    "the largest of some": nn.Sequential(
        nn.Unflatten(1, (1, 4)), nn.Conv1d(1, 3, 2, padding=1), nn.MaxPool1d(2), nn.Flatten(),
        nn.Linear(6, 1),
    ),
    "the largest of a square": nn.Sequential(
        nn.Unflatten(1, (1, 2, 2)), nn.Conv2d(1, 3, 2, padding=1), nn.MaxPool2d(2, 1), nn.Flatten(),
        nn.Linear(12, 1),
    ),
    "words": Made(lambda m, x: m.linear(x + m.layer((x[:, 0] > 0).long())), nn.Embedding(2, 4)),
    "attention": Made(
        lambda m, x: m.linear(
            nn.functional.scaled_dot_product_attention(*3 * [m.layer(x[:, :, None])]).mean(2)
        ),
        nn.Linear(1, 3),
    ),
    "gates in two halves": nn.Sequential(nn.Linear(4, 6), nn.GLU(), nn.Linear(3, 1)),
    "other activations": nn.Sequential(
        nn.Linear(4, 6), nn.ReLU6(), nn.Hardswish(), nn.Mish(), nn.CELU(), nn.Softsign(),
        nn.Hardtanh(), nn.Softshrink(), nn.RMSNorm(6), nn.Linear(6, 1),
    ),
    "chosen": Made(lambda m, x: m.linear(torch.where(x > 0, x, -x).clamp(max=0.5))),
    "ordered": Made(lambda m, x: m.linear(m.layer(x).sort(1).values), nn.Linear(4, 4)),
    "the largest": Made(
        lambda m, x: m.linear(x) + m.layer(x).max(1, keepdim=True).values
        + m.layer(x).logsumexp(1, keepdim=True),
        nn.Linear(4, 4),
    ),
    "powers": Made(lambda m, x: m.linear((m.layer(x) ** 2 + 1) ** -0.5 + x.abs().sqrt().log1p()),
                   nn.Linear(4, 4)),
    "spread": Made(lambda m, x: m.linear(x / (1e-3 + x.std(1, keepdim=True)))),
}  # fmt: skip

HOSTILE = [0.0, -0.0, 1e-320, 1e-160, -1.0, 1.0, 0.5, 1e16, -1e160, 1e308, np.inf, -np.inf, np.nan]


def hostile_rows(*, each=1):
    inputs = np.array([np.roll(HOSTILE, k)[:4] for k in range(len(HOSTILE))])
    inputs = np.vstack([inputs, np.repeat(np.array(HOSTILE)[:, None], 4, axis=1)])
    n = len(inputs)
    return Rows(patient=np.arange(n) // each, inputs=inputs, classes=np.arange(n) % 2)


@pytest.mark.parametrize("module", LAYERS.values(), ids=LAYERS)
def test_usual_layers_go_through_in_blocks_and_fail_on_no_number(module):
    found = validated(module, features=4, classes=2)
    assert smooth(program_of(found, features=4, classes=2))
    of = gradients_of(found, features=4, clip=1.0)
    with one_thread():
        assert of.by_patient(hostile_rows()).shape == (2 * len(HOSTILE), of.size)
        usual = of.summed(hostile_rows())
        with np.errstate(all="raise"):  # as a caller may have set it
            assert (of.summed(hostile_rows(each=2)) == of.summed(hostile_rows(each=2))).all()
    assert usual.any()


@pytest.mark.parametrize("module", LAYERS_WITH_KINKS.values(), ids=LAYERS_WITH_KINKS)
def test_layers_with_kinks_are_permitted_and_each_patient_is_computed_alone(module):
    found = validated(module, features=4, classes=2)
    assert not smooth(program_of(found, features=4, classes=2))
    of, rows = gradients_of(found, features=4, clip=1.0), hostile_rows()
    with one_thread():
        together = of.clipped(rows)
        for each in range(rows.patients):
            assert (of.clipped(rows.of(np.array([each])))[0] == together[each]).all()


UNTOLD = {
    "rounded quotients": lambda m, x: m.linear(torch.div(x, 0.3, rounding_mode="floor")),
    "a place by value": lambda m, x: m.linear(x) + (2 * x).gather(1, (x[:, :1] > 0).long()),
}


@pytest.mark.parametrize("forward", UNTOLD.values(), ids=UNTOLD)
def test_a_kink_that_no_row_is_told_of_lets_each_patient_be_computed_alone(forward):
    found = validated(Made(forward, nn.Linear(4, 4)), features=4, classes=2)
    assert not smooth(program_of(found, features=4, classes=2))


def test_a_softplus_that_is_told_its_bend_by_name_is_watched_there():
    def forward(m, x):
        return m.linear(aten.softplus.default(x * m.table[0].exp(), beta=2, threshold=10))

    found = validated(Made(forward), features=4, classes=2)
    of = gradients_of(found, features=4, clip=1.0)
    rows = np.array([[5.0, 1, 1, 1], [20.0, 1, 1, 1]])
    of.by_patient(Rows(patient=np.arange(2), inputs=rows, classes=np.zeros(2, int)))
    assert of._at_kinks.tolist() == [True, False]


def test_a_place_beyond_its_table_is_found_out_by_whatever_looks_it_up():
    """In a batch of eight, where the next memory is another row's."""
    table, wide = torch.zeros(5, dtype=torch.float64), torch.ones(8, 4, dtype=torch.float64)
    ways = {
        "gather": lambda t, _, i: t.gather(0, i),
        "scatter.src": lambda t, x, i: t.scatter(0, i, x[:2]),
        "scatter.value": lambda t, _, i: t.scatter(0, i, 1.0),
        "scatter_add": lambda t, x, i: t.scatter_add(0, i, x[:2]),
        "index.Tensor": lambda t, _, i: t[i],
        "index_put": lambda t, x, i: torch.index_put(t, (i,), x[:2], accumulate=True),
        "index_select": lambda t, _, i: torch.index_select(t, 0, i),
        "index_add": lambda t, x, i: torch.index_add(t, 0, i, x[:2]),
    }
    own = {"embedding.default", "embedding_dense_backward.default"}  # never of a row's own table
    assert operations._named(" ".join(ways)) | own == operations.LOOKS_UP
    for by in (*ways.values(), lambda *given: nn.functional.embedding(given[2], table[:, None])):
        for place in (5, -6, 10**12, -(2**63)):
            for of in (table, None):
                look = torch.vmap(
                    lambda x, b, by=by, place=place, of=of: by(
                        x.sum() + table if of is None else of, x, torch.stack([b * place, b * 0])
                    )
                )
                at = torch.zeros(8, dtype=torch.int64)
                look(wide, at)
                at[3] = 1
                with pytest.raises((IndexError, RuntimeError)):
                    look(wide, at)
