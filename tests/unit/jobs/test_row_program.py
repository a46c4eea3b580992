"""What a module may be: refused before the charge, or the same harmless arithmetic on every row."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")

from confide.errors import ContractError  # noqa: E402
from confide.jobs.learning.modules import program_of, validated  # noqa: E402
from confide.jobs.learning.per_patient_gradients import Rows  # noqa: E402
from module_gradients import gradients_of  # noqa: E402

ODD = 0.123
"""A value that one patient has and no made-up row."""
SEEN = []


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        del ctx
        SEEN.append(rows)
        return rows * 2

    @staticmethod
    def backward(ctx, above):
        del ctx
        return above * 2


class Watched(torch.Tensor):
    @classmethod
    def __torch_function__(cls, of, types, args=(), kwargs=None):
        SEEN.extend(args)
        return super().__torch_function__(of, types, args, kwargs or {})


class Halved(torch.nn.Module):
    def forward(self, weight):
        SEEN.append(weight)
        return weight / 2


def as_it_is(module):
    del module


def as_module(forward, prepare=as_it_is):
    class Made(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 1)
            self.table = torch.nn.Parameter(torch.zeros(3), requires_grad=False)
            self.held = torch.zeros(3, dtype=torch.float64)

        def forward(self, rows):
            return forward(self, rows)

    torch.manual_seed(1)
    made = Made()
    prepare(made)
    return made


def odd(rows):
    return (rows[:, :1] - ODD).abs() < 1e-6


@torch.library.custom_op("somebody::seen", mutates_args=())
def somebody_seen(rows: torch.Tensor) -> torch.Tensor:
    SEEN.append(rows)
    return rows.clone()


REFUSED = {
    "an operation of one's own": lambda m, x: m.linear(somebody_seen(x)),
    "a function with a backward pass of its own": lambda m, x: m.linear(Doubled.apply(x)),
    "a tensor that watches": lambda m, x: m.linear(x * torch.ones(1, 3).as_subclass(Watched)),
    "a branch on a value": lambda m, x: m.linear(x) if x[0, 0] > 7 else -m.linear(x),
    "a shape that depends on values": lambda m, x: m.linear(x) + x[x > 0.5].sum(),
    "a number taken out": lambda m, x: m.linear(x) * float(x.detach().sum()),
    "a trip through NumPy": lambda m, x: m.linear(x) + torch.from_numpy(np.cos(x.detach().numpy())),
    "dropout by function": lambda m, x: m.linear(torch.nn.functional.dropout(x, 0.5)),
    "coins": lambda m, x: m.linear(x + 0 * torch.rand_like(x)),
    "a batch norm by function": lambda m, x: m.linear(
        torch.nn.functional.batch_norm(x, None, None, training=True)
    ),
    "memory by address": lambda m, x: m.linear(x) + x.as_strided((len(x), 1), (3, 1)),
    "memory that nobody set": lambda m, x: (
        m.linear(x) + 0 * torch.empty(5, dtype=torch.float64).clamp(-1, 1).sum()
    ),
    "whole numbers divided": lambda m, x: m.linear(x) + (1 // (1 - odd(x).long())).double(),
    "remainders of whole numbers": lambda m, x: m.linear(x) + (1 % (1 - odd(x).long())).double(),
    "a constant that is written": lambda m, x: m.linear(x) + m.held.add_(1).sum(),
    "a weight that is written": lambda m, x: m.linear(x) + m.table.add_(1).sum(),
}


@pytest.mark.parametrize("forward", REFUSED.values(), ids=REFUSED)
def test_what_could_see_or_mix_rows_or_stop_at_one_is_refused_before_the_charge(forward):
    with pytest.raises(ContractError):
        program_of(validated(as_module(forward), features=3, classes=2), features=3, classes=2)


FAILING = {
    "an index beyond its table": lambda m, x: (
        m.linear(x) + m.table[odd(x)[:, 0].long() * 100][:, None]
    ),
    "a place in the row beyond it": lambda m, x: (
        m.linear(x) + (2 * x).gather(1, odd(x).long() * 100)
    ),
    "a sum at a place beyond it": lambda m, x: (
        m.linear(x).squeeze(1)
        + torch.zeros_like(x).scatter_add(1, odd(x).long() * 100, x[:, :1]).sum(1)
    )[:, None],
    "a word beyond the dictionary": lambda m, x: (
        m.linear(x) + torch.nn.functional.embedding(odd(x)[:, 0].long() * -1, m.table[:, None])
    ),
    "a chosen part beyond the table": lambda m, x: (
        m.linear(x) + m.table.index_select(0, odd(x)[:, 0].long() * 2**62)[:, None]
    ),
}


def rows_of(inputs):
    return Rows(
        patient=np.arange(len(inputs)), inputs=np.array(inputs), classes=np.zeros(len(inputs), int)
    )


OTHERS = [[0.1, 0.2, 0.3], [-0.4, 0.5, 0.6], [0.7, -0.8, 0.9]]


@pytest.mark.parametrize("forward", FAILING.values(), ids=FAILING)
def test_an_operation_that_fails_on_one_patient_s_numbers_stops_nothing_and_moves_nobody_else(
    forward,
):
    """That a training stopped once told, without noise, that somebody had a value."""
    module = validated(as_module(forward), features=3, classes=2)
    of = gradients_of(module, features=3, clip=1.0)
    without = of.summed(rows_of(OTHERS))
    assert without.any()
    assert (of.summed(rows_of([*OTHERS, [ODD, 0.2, 0.3]])) == without).all()
    assert (of.summed(rows_of([[ODD, 0.2, 0.3]] * 300 + OTHERS)) == without).all()
    assert not of.summed(rows_of([[ODD, 0.2, 0.3]])).any()


def hooked(module):
    module.linear.register_forward_hook(lambda _, given, __: SEEN.append(given[0]))
    module.register_forward_pre_hook(lambda _, given: SEEN.append(given[0]))


def parametrized(module):
    torch.nn.utils.parametrize.register_parametrization(module.linear, "weight", Halved())


def keeps(module, rows):
    module.kept = rows
    SEEN.append(rows)
    return module.linear(rows)


def fills(module, rows):
    zeros = torch.empty(1, dtype=torch.float64).fill_(0.5)
    return module.linear(rows) + zeros


def modes(module, rows):
    return module.linear(rows) if module.training else -module.linear(rows)


HARMLESS = {
    "hooks": (lambda m, x: m.linear(x), hooked),
    "a weight that is computed": (lambda m, x: m.linear(x), parametrized),
    "a row that is kept": (keeps, as_it_is),
    "memory that is filled": (fills, as_it_is),
    "one thing in training, another after": (modes, as_it_is),
}


@pytest.mark.parametrize(("forward", "prepare"), HARMLESS.values(), ids=HARMLESS)
def test_no_code_of_a_module_sees_a_patient_s_row(forward, prepare):
    module = validated(as_module(forward, prepare), features=3, classes=2)
    of = gradients_of(module, features=3, clip=1.0)
    SEEN.clear()
    assert of.summed(rows_of([*OTHERS, [ODD, 0.2, 0.3]])).any()
    assert SEEN == []
    assert "kept" not in vars(module)


HELD = torch.zeros(3, dtype=torch.float64)


def test_a_constant_that_is_changed_later_does_not_change_the_program():
    module = validated(
        as_module(lambda m, x: m.linear(x) * (1 + HELD.sum())), features=3, classes=2
    )
    of = gradients_of(module, features=3, clip=1.0)
    before = of.summed(rows_of(OTHERS))
    HELD.add_(7)
    try:
        assert (of.summed(rows_of(OTHERS)) == before).all()
    finally:
        HELD.zero_()


def test_hooks_on_the_way_back_are_refused():
    def prepare(module):
        module.linear.register_full_backward_hook(lambda _, up, __: SEEN.extend(up))

    module = validated(as_module(lambda m, x: m.linear(x), prepare), features=3, classes=2)
    with pytest.raises(ContractError, match="written down"):
        program_of(module, features=3, classes=2)


def test_an_operation_of_pytorch_that_somebody_replaced_is_refused(monkeypatch):
    """`torch.library` lets anybody put a kernel in Python under an operation of PyTorch's."""
    module = validated(as_module(lambda m, x: m.linear(torch.sin(x))), features=3, classes=2)
    program_of(module, features=3, classes=2)
    with_sin = {*torch.library._impls, "aten/sin/CPU"}
    monkeypatch.setattr(torch.library, "_impls", with_sin)
    with pytest.raises(ContractError, match="in Python"):
        program_of(module, features=3, classes=2)
