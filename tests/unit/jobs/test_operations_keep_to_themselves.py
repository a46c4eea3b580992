"""Permitted operations, called in whatever way: a row's result is the same whoever is beside it."""

import random

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")

from confide.jobs.learning.operations import BACK_THROUGH, PERMITTED  # noqa: E402

SHAPES = [(4,), (2,), (1,), (3,), (2, 2), (1, 4), (4, 1), (1, 1), (1, 2, 2), (1, 1, 4), (2, 1, 2),
          (1, 1, 2, 2), (1, 2, 2, 1), (1, 4, 1), (0,)]  # fmt: skip
CALLS = 40


def drawn(coins, kind, name):
    """Return an argument of a kind: tensors as (shape, whether an index), others as they are."""
    if name.endswith("dtype"):
        return torch.float64  # anything else is static, so it fails on made-up rows if ever
    if kind.startswith("Optional["):
        return None if coins.random() < 0.5 else drawn(coins, kind[9:-1], name)
    if kind == "Tensor":
        return (coins.choice(SHAPES), "ind" in name or coins.random() < 0.2)
    if "Tensor" in kind:
        return [drawn(coins, "Tensor", "") for _ in range(coins.choice([1, 2]))]
    if kind.startswith(("List[int", "List[SymInt")):
        return [coins.choice([-1, 0, 1, 1, 2, 3, 4]) for _ in range(coins.choice([1, 2, 2]))]
    return {
        "List[bool]": [True, coins.random() < 0.5, coins.random() < 0.5],
        "int": coins.choice([-1, 0, 1, 2, 4, 8]),
        "SymInt": coins.choice([-1, 0, 1, 2, 4, 8]),
        "float": coins.choice([1e-5, 0.5, 2.0]),
        "number": coins.choice([0, 1, 0.5, 2.0]),
        "bool": coins.random() < 0.5,
        "str": coins.choice(["none", "tanh", "floor"]),
    }.get(kind)


def of_row(row, argument):
    """Return an argument made of a row's own numbers."""
    if isinstance(argument, list):
        return [of_row(row, each) for each in argument]
    if not isinstance(argument, tuple):
        return argument
    shape, index = argument
    size = torch.Size(shape).numel()
    places = torch.arange(size).reshape(shape) % 5  # of five, where a row has four numbers
    return (row[:size].reshape(shape) * 0).long() + places if index else row[:size].reshape(shape)


def first_of(of, arguments, rows):
    def by(row):
        found = of(*[of_row(row, each) for each in arguments])
        many = found if isinstance(found, tuple | list) else [found]
        return tuple(each.double() for each in many if isinstance(each, torch.Tensor))

    return [torch.nan_to_num(each[0]) for each in torch.vmap(by)(rows)]


def mixing_calls(of, seed):
    """Return in how many ways of calling an operation the first of eight rows sees another."""
    coins, mixed = random.Random(seed), 0
    kinds = [(str(each.type), each.name) for each in of._schema.arguments if not each.kwarg_only]
    rows = torch.linspace(-1, 1, 32, dtype=torch.float64).reshape(8, 4)
    other = torch.cat([rows[:1], torch.full((7, 4), 0.77, dtype=torch.float64)])
    for _ in range(CALLS):
        arguments = [drawn(coins, *each) for each in kinds]
        try:
            usual = first_of(of, arguments, rows)
        except Exception:  # noqa: BLE001, S112 - no call that PyTorch takes
            continue
        beside = first_of(of, arguments, other)
        mixed += not all(torch.equal(a, b) for a, b in zip(usual, beside, strict=True))
    return mixed


def overload(name):
    of, _, which = name.partition(".")
    return getattr(getattr(torch.ops.aten, of), which)


@pytest.fixture(autouse=True)
def rules_alone():
    before = torch._C._functorch._is_vmap_fallback_enabled()
    torch._C._functorch._set_vmap_fallback_enabled(False)
    yield
    torch._C._functorch._set_vmap_fallback_enabled(before)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(PERMITTED - set(BACK_THROUGH)))
def test_a_permitted_operation_sees_one_row_however_it_is_called(name):
    assert mixing_calls(overload(name), name) == 0


@pytest.mark.filterwarnings("ignore")
def test_what_goes_back_and_is_called_by_itself_is_found_out():
    """It trusts sizes: so a module may not call it, and this search would see it if it did."""
    assert mixing_calls(overload("_log_softmax_backward_data.default"), 0) > 0
