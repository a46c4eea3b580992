"""The commonest categories: which codes most patients have, and never how many.

*Lemma:* a patient adds at most 1 to each of at most k counts, or r rows to each; so one set of
categories rises over another by at most the reach that ``ranked/ranked_cells.py`` proves: under
add-remove, where all counts move in one direction, 1 for the best single category of patients.

*Privacy:* exponential mechanism over sets, or peeling (``noise/set_selection.py``,
``noise/peeling.py``); the law is over public categories, so an empty one can be chosen.
*Utility:* a category that leads all others but size − 1 by g patients is chosen with a chance of at
least 1/(1 + (n − size)·exp(−εg/R)).  Which categories are chosen is published, not how many have
them; ask a histogram or a count for that.

References:
    [MT07] McSherry, Talwar. Mechanism design via differential privacy. FOCS 2007, thm. 6.
        https://doi.org/10.1109/FOCS.2007.66
    [DR19] Durfee, Rogers. Practical differentially private top-k selection with pay-what-you-get
        composition. NeurIPS 2019. https://arxiv.org/abs/1905.04273
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.choices import NAME, choice_forecast, chosen
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Estimate, Forecast
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.ranked.ranked_cells import RankedCells
from confide.tables.relation import Relation, axes_of
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class TopCategory(Statistic):
    """The category, or the few categories, that most patients of a cohort have.

    Attributes:
        by: Names of categories, bins or calendar parts; several make pairs.
        counted: Patients or events.
        per_patient: Most cells (and rows in each) of one patient, where the schema gives none.
        size: How many are chosen.
        lead: Public planning lead of one category over the others, for the forecast's chance.
    """

    by: tuple[str, ...]
    counted: Counted = Counted.PATIENTS
    per_patient: PerPatient = field(default_factory=PerPatient)
    size: int = 1
    lead: Fraction | None = None

    def __post_init__(self) -> None:
        if not self.by:
            raise ContractError(
                f"Top category {self.id!r} has no categories.", hint="Write by: [column]."
            )

    def candidates(self, dataset: Dataset) -> tuple[tuple[str, ...], ...]:
        """Return the keys of what is chosen among, in order."""
        return cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one choice."""
        axes = axes_of(self.by, table=self.table, dataset=dataset)
        bounds = contribution_bounds(
            self.per_patient, table=self.table, axes=axes, counted=self.counted, dataset=dataset
        )
        ranked = RankedCells(
            relation=Relation(table=self.table, where=self.where),
            axes=axes,
            bounds=bounds,
            size=self.size,
        )
        return (question(NAME, ranked, dataset=dataset, counted=self.counted.unit),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the lead that is enough to be chosen with a chance of ``level``."""
        del dataset
        return choice_forecast(
            mechanisms,
            level=level,
            worth=1,
            unit=self.counted.unit,
            expect=self.expect,
            planned_lead=self.lead,
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return the chosen categories, without a number."""
        del mechanisms, simulation
        labels = self.candidates(dataset)
        return chosen(noisy, labels=labels, statistic=self.id, level=self.level)
