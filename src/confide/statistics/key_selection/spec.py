"""Keys that exist only in the data: which occur often enough to be published, and how often.

*Lemma:* a patient is counted at most once for each of at most k keys: Δ₁ = k under add-remove, 2k
under substitution.

*Privacy:* discrete Laplace noise on the count of every present key, and a threshold that a key
held by one patient alone passes with probability at most δ/k; so (ε, δ)-DP, and (ε²/2, δ)-
approximate zCDP, since conditional on the excluded event the shared keys have ε-DP noise.
*Utility:* rare keys never appear; the chance that a key held by c patients appears is stated.  The
interval of a released count covers the noise over all keys; for counts near the threshold those
that appear are the lucky ones, so they are flagged.

References:
    [KKMN09] Korolova, Kenthapadi, Mishra, Ntoulas. Releasing search queries and clicks privately.
        WWW 2009. https://doi.org/10.1145/1526709.1526733
    [DVGM22] Desfontaines, Voss, Gipson, Mandayam. Differentially private partition selection. PETS
        2022. https://arxiv.org/abs/2006.03684
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError, UnboundedError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import PerPatient, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.mechanisms import keyed, threshold
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.privacy.unit import Entity
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.bound_contributions import (
    CellBound,
    ContributionBounds,
)
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation, resolve
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySelection(Statistic):
    """Distinct patients per value of a text column, for values held by enough patients.

    Attributes:
        key: Text column.
        per_patient: Most keys (``cells``) of one patient.
    """

    key: str
    per_patient: PerPatient = field(default_factory=PerPatient)

    def _bounds(self, dataset: Dataset) -> ContributionBounds:
        if dataset.unit.entity is Entity.EVENT:
            raise ContractError(
                "Key selection counts patients, and here the event is the privacy unit.",
                hint="Declare the categories and use a histogram, or protect patients.",
            )
        if dataset.table(self.table).one_row_per_patient:
            return CellBound(max_cells=1)
        if self.per_patient.cells is None:
            raise UnboundedError(
                f"A patient of table {self.table!r} can have any number of keys.",
                hint="Bound them, e.g. per-patient: {cells: 3}.",
            )
        return CellBound(max_cells=self.per_patient.cells)

    @property
    def key_names(self) -> tuple[str, ...]:
        """Name of the column of the keys."""
        return (self.key,)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one keyed count."""
        key = resolve(self.key, table=self.table, dataset=dataset)
        if not isinstance(key, ColumnOf):
            raise ContractError(f"Key selection {self.id!r} needs a text column.")
        bounds = self._bounds(dataset)
        return (
            question(
                "keys",
                KeyedAggregate(
                    relation=Relation(table=self.table, where=self.where), key=key, bounds=bounds
                ),
                dataset=dataset,
                counted="persons",
            ),
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error and how many patients a key needs to appear."""
        del dataset
        selection = threshold(mechanisms["keys"])
        noise = selection.noise()
        tau = selection.threshold()
        at_tau, at_twice = selection.chance_of_release(tau), selection.chance_of_release(2 * tau)
        return Forecast(
            half_width=noise.half_width(float(level)),
            median_error=noise.half_width(0.5),
            level=float(level),
            unit="persons",
            planning=None if self.expect is None else float(self.expect),
            notes=(
                f"keys need a noisy count of {tau} to appear",
                f"a key of {tau} patients appears with probability {at_tau:.2f}",
                f"a key of {2 * tau} patients appears with probability {at_twice:.3f}",
            ),
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return the noisy count of each selected key, most frequent first."""
        del simulation
        column = dataset.table(self.table).column(self.key)
        selection = threshold(mechanisms["keys"])
        noise = selection.noise()
        width = noise.half_width(float(self.level))
        ordered = sorted(keyed(noisy["keys"]).items(), key=lambda item: (-item[1], item[0]))
        return tuple(
            Estimate(
                statistic=self.id,
                quantity="count",
                key=(column.called(key),),
                value=float(raw),
                standard_error=math.sqrt(noise.variance()),
                lower=float(max(0, raw - width)),
                upper=float(raw + width),
                level=float(self.level),
                covers=Covers.NOISE,
                unit="persons",
                flags=("near the threshold",) if raw < selection.threshold() + width else (),
            )
            for key, raw in ordered
        )
