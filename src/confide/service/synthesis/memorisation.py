"""Memorisation: what a generator without noise gives away of made-up patients, and with noise not.

*Privacy:* nobody is in it: patients are drawn by coins, so anybody may see what comes out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from confide.arrays import Ints
from confide.errors import InvalidParameterError
from confide.files.dataset import declared_by
from confide.jobs.synthesis.memorising.autoencoders import vae_table
from confide.jobs.synthesis.memorising.made_up import Clinic, table_of_marginals
from confide.jobs.synthesis.memorising.memorised import (
    GivenBack,
    MembershipFound,
    canaries_given_back,
    membership_found,
)

TIMES = 5
TREE = "tree"
_LEARNED: Mapping[str, Callable[..., Ints]] = {TREE: table_of_marginals, "vae": vae_table}
_COLUMNS, _LEVELS = 7, 12
_LARGEST_OF_ALL = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorShown:
    """One generator.

    Attributes:
        noise: "none", or its ε.
        planted: Canaries in all.
        given_back: Of them, in every column.
        copies: Share of synthetic rows that equal a row of the data; the mean of the tables.
        held_out_copies: The same of patients who were held out.
        more_than_by_chance: Tables that have more copies than held-out patients, beyond three
            standard errors.
        advantage: Of membership inference by shadow models; None where none were trained.
        standard_error: Of it.
        bound: That it has to respect.
    """

    noise: str
    planted: int
    given_back: int
    copies: float
    held_out_copies: float
    more_than_by_chance: int
    advantage: float | None
    standard_error: float | None
    bound: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorisationShown:
    """Generators without noise and with it.

    Attributes:
        patients: Who they are.
        tables: How many each made.
        generators: Both.
    """

    patients: str
    tables: int
    generators: tuple[GeneratorShown, ...]


def show_memorisation(
    epsilon: str, *, method: str = TREE, progress: Callable[[str], None] = lambda _: None
) -> MemorisationShown:
    """Return what generators memorise of made-up patients; opens no file and no ledger.

    Args:
        epsilon: Of the private generator, from 0.5 to 10, at δ = 10⁻⁶.
        method: "tree": from marginals; "vae": by an autoencoder, whose shadows are not trained.
        progress: Told which generator learns.

    Raises:
        InvalidParameterError: If ε is none of these, or the method.
        MissingExtraError: For a VAE, without the extra ``learning``.
    """
    from confide.attacks.lab.system_coins import system_coins

    try:
        amount = Fraction(epsilon)
    except (ValueError, ZeroDivisionError):
        amount = Fraction(0)
    if not Fraction(1, 2) <= amount <= _LARGEST_OF_ALL:
        raise InvalidParameterError(
            f"Expected epsilon from 0.5 to {_LARGEST_OF_ALL}, got {epsilon!r}.",
            hint="Write --epsilon 2.",
        )
    if method not in _LEARNED:
        raise InvalidParameterError(f"Expected one of {', '.join(_LEARNED)}, got {method!r}.")
    clinic, coins, found = made_up_clinic(), system_coins(), []
    for name, each in (("none", None), (f"ε = {epsilon}", amount)):
        progress(name)
        tables = [
            canaries_given_back(clinic, epsilon=each, entropy=coins, learned=_LEARNED[method])
            for _ in range(TIMES)
        ]
        member = None
        if method == TREE:
            member = membership_found(clinic, epsilon=each, entropy=coins)
        found.append(_shown(name, tables, member))
    return MemorisationShown(patients="made up", tables=TIMES, generators=tuple(found))


def made_up_clinic() -> Clinic:
    """Return a clinic of seven categories of twelve levels."""
    columns = tuple(f"finding {i}" for i in range(1, _COLUMNS + 1))
    levels = [f"level {i}" for i in range(1, _LEVELS + 1)]
    declared = declared_by(
        {
            "dataset": {"id": "made-up", "lineage": "made-up", "snapshot": "1"},
            "source": {"kind": "frames"},
            "protects": {"unit": "patient", "id": "patient", "adjacency": "add-remove"},
            "accounting": {"measure": "zcdp", "delta": "1e-6"},
            "caps": {"lifetime": {"epsilon": "10"}},
            "tables": {"findings": {"columns": {name: {"categories": levels} for name in columns}}},
        },
        folder=".",
    )
    return Clinic(dataset=declared.dataset, columns=columns)


def _shown(name: str, tables: list[GivenBack], member: MembershipFound | None) -> GeneratorShown:
    return GeneratorShown(
        noise=name,
        planted=sum(each.planted for each in tables),
        given_back=sum(each.given_back for each in tables),
        copies=sum(each.copies.copies for each in tables) / len(tables),
        held_out_copies=sum(each.copies.baseline for each in tables) / len(tables),
        more_than_by_chance=sum(each.copies.above for each in tables),
        advantage=None if member is None else member.advantage,
        standard_error=None if member is None else member.standard_error,
        bound=None if member is None else member.bound,
    )
