"""Rows of a generator that was released, and a baseline's table as values.

A row is made of latent numbers: a level of each column by the decoder's chances.  A row that a rule
forbids is drawn again; what a hundred rounds leave is drawn evenly from the rows that can be, so a
generator that learnt nothing of a rule still ends.

*Privacy:* a function of published files: whoever has them makes the same table.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from confide.arrays import Floats, Ints
from confide.errors import ConfideError, ContractError, MissingExtraError, VerificationError
from confide.jobs.synthesis.deep.networks import NetworkForm
from confide.jobs.synthesis.deep.spec import DeepSynthesis
from confide.jobs.synthesis.deep.training import MODEL
from confide.jobs.synthesis.learnable import MOST_MODEL_CELLS
from confide.jobs.synthesis.model.belief import beliefs
from confide.jobs.synthesis.model.draw import Draws, rows_drawn
from confide.jobs.synthesis.model.fit import FittedModel, Impossible, zeros_of
from confide.jobs.synthesis.model.junction_tree import junction_tree
from confide.jobs.synthesis.values import Values, values_of_levels
from confide.plans.canonical import decode
from confide.plans.simulation import Simulation
from confide.release.jobs.job_answer import JobAnswer
from confide.statistics import NAMES

if TYPE_CHECKING:
    from confide.jobs.synthesis.deep.networks import Coins

BASELINE = (
    "A baseline: a neural generator trained by DP-SGD. At these sizes tables from marginals "
    "(method: tree) are nearer to the data at the same charge."
)
NO_INTERVALS = (
    "No interval: a generator measured no table of columns, so nothing tells how far it is off."
)
_ROUNDS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMaker:
    """What makes rows.

    Attributes:
        form: Sizes of the network.
        weights: Of the decoder, by name.
        impossible: Cells of chance 0.
    """

    form: NetworkForm
    weights: Mapping[str, Floats]
    impossible: tuple[Impossible, ...] = ()

    def rows(self, many: int, *, coins: "Coins") -> Ints:
        """Return levels of rows that can be; shape (many, columns)."""
        found = self._free(many, coins=coins)
        for _ in range(_ROUNDS):
            wrong = np.flatnonzero(self._broken(found))
            if not wrong.size:
                return found
            found[wrong] = self._free(wrong.size, coins=coins)
        wrong = np.flatnonzero(self._broken(found))
        found[wrong] = evenly(
            wrong.size, sizes=self.form.sizes, impossible=self.impossible, coins=coins
        )
        return found

    def _free(self, many: int, *, coins: "Coins") -> Ints:
        latent = coins.standard_normal((many, self.form.latent))
        inside = np.tanh(
            latent @ self.weights["decoder.first.weight"].T + self.weights["decoder.first.bias"]
        )
        odds = inside @ self.weights["decoder.last.weight"].T + self.weights["decoder.last.bias"]
        odds = odds + coins.gumbel(size=odds.shape)  # the largest is a draw by the chances
        parts = np.split(odds, np.cumsum(self.form.sizes)[:-1], axis=1)
        return np.column_stack([part.argmax(axis=1) for part in parts]).astype(np.int64)

    def _broken(self, levels: Ints) -> np.ndarray:
        found = np.zeros(len(levels), dtype=np.bool_)
        for each in self.impossible:
            found |= each.cells[tuple(levels[:, v] for v in each.variables)]
        return found


def evenly(
    many: int, *, sizes: Sequence[int], impossible: Sequence[Impossible], coins: "Coins"
) -> Ints:
    """Return rows drawn evenly from those that can be; shape (many, columns)."""
    tree = junction_tree(
        tuple(sizes), joined=[each.variables for each in impossible], most_cells=MOST_MODEL_CELLS
    )
    zeros = tuple(zeros_of(tree, impossible=impossible))
    model = FittedModel(
        tree=tree, potentials=zeros, marginals=beliefs(tree, zeros).marginals, loss=0.0
    )
    return rows_drawn(model, rows=many, how=Draws.INDEPENDENT, generator=coins)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineData:
    """What a released generator gives.

    Attributes:
        answer: Files with their plan, as they were released.
        spec: Of the job.
        maker: Of rows.
        digest: SHA-256 of the released answer, from which coins follow.
    """

    answer: JobAnswer
    spec: DeepSynthesis
    maker: RowMaker
    digest: str

    @classmethod
    def of(cls, answer: JobAnswer) -> "BaselineData":
        """Return what a released answer gives.

        Raises:
            MissingExtraError: Without the extra ``learning``.
            VerificationError: If it is of another kind of job, has not ended, or cannot be read.
        """
        plan = answer.plan
        try:
            spec: DeepSynthesis = decode(DeepSynthesis, json.loads(plan.spec), names=NAMES)
        except ConfideError:
            raise VerificationError("This is no release of a synthesis.") from None
        if MODEL not in answer.files:
            raise VerificationError("The synthesis has not ended.", hint="Run it again.")
        form = NetworkForm(sizes=spec.sizes(plan.dataset), hidden=spec.hidden, latent=spec.latent)
        maker = RowMaker(
            form=form,
            weights=_read(answer.files[MODEL], form=form),
            impossible=spec.impossible(plan.dataset),
        )
        return cls(answer=answer, spec=spec, maker=maker, digest=answer.digest())

    @property
    def rows(self) -> int:
        """The public planning number."""
        return self.spec.rows

    def levels(self, *, rows: int | None = None) -> Ints:
        """Return levels of one table; shape (rows, columns)."""
        many = self.rows if rows is None else rows
        coins = Simulation(payload_digest=self.digest).generator(f"table/{many}")
        return self.maker.rows(many, coins=coins)

    def table(self, *, rows: int | None = None) -> Values:
        """Return one synthetic table."""
        many = self.rows if rows is None else rows
        return values_of_levels(
            self.levels(rows=many),
            columns=self.spec.columns,
            reads=self.spec.reads.reads,
            dataset=self.answer.plan.dataset,
            generator=Simulation(payload_digest=self.digest).generator(f"values/{many}"),
            order=self.spec.order,
        )


def refuse_intervals() -> NoReturn:
    """Refuse to infer from a baseline.

    Raises:
        ContractError: Always.
    """
    raise ContractError(
        f"These tables are a baseline, made by a neural generator. {NO_INTERVALS}",
        hint="Run the synthesis with method: tree, or ask for a private statistic.",
    )


def _read(content: bytes, *, form: NetworkForm) -> Mapping[str, Floats]:
    try:
        from safetensors.numpy import load
    except ImportError as error:
        raise MissingExtraError("safetensors", extra="learning") from error
    try:
        found = load(content)
    except Exception:  # noqa: BLE001 - whatever the library says of a broken file
        raise VerificationError("The weights cannot be read.") from None
    shapes = {name: each.shape for name, each in found.items()}
    finite = all(bool(np.isfinite(each).all()) for each in found.values())
    if shapes != dict(form.decoder) or not finite:
        raise VerificationError("The weights are not those of this plan.")
    return {name: np.asarray(each, dtype=np.float64) for name, each in found.items()}
