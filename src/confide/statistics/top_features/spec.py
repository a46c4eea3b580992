"""The features that go most strongly with an outcome: biomarkers, or SNPs by their trend score.

*Lemma:* with values clipped to public bounds of width R, one patient moves n·cov(x_j, y) by less
than R_j·R_y, and four times the sum about the centres of the bounds by at most as much; scaled to
equal widths all features move alike, by D; so one set of k features rises over another by at most
2kD (about the centres 4kD under substitution).  Proved in ``ranked/ranked_features.py``.

*Privacy:* exponential mechanism over sets, or peeling (``noise/set_selection.py``,
``noise/peeling.py``), whichever law is steeper at the same loss.
*Utility:* a feature that leads all others but size − 1 by g contributions is chosen with a chance
of at least 1/(1 + (n − size)·exp(−εgD/R)).  About the means is right wherever the means are.  About
the centres every lead is four times as large, but only right if the mean of the outcome (as many
cases as controls) or those of the features (z-scores) are near the centres of their bounds.

References:
    [Arm55] Armitage. Tests for linear trends in proportions and frequencies. Biometrics 11, 1955.
        https://doi.org/10.2307/3001775
    [USF13] Uhler, Slavković, Fienberg. Privacy-preserving data sharing for genome-wide association
        studies. J. Privacy and Confidentiality 5(1), 2013. https://doi.org/10.29012/jpc.v5i1.629
    [MT07] McSherry, Talwar. Mechanism design via differential privacy. FOCS 2007, thm. 6.
        https://doi.org/10.1109/FOCS.2007.66
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
from confide.tables.aggregates.ranked.ranked_features import About, RankedFeatures, one_row
from confide.tables.expression import Expression
from confide.tables.relation import Relation, resolve
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class TopFeatures(Statistic):
    """The features whose covariance with an outcome is largest, up or down.

    Attributes:
        features: Names of numbers: a public panel of genes, laboratory values or genotypes 0/1/2.
        outcome: Name of a number; 0 and 1 for controls and cases.
        about: Whether products are centred on the means or on the centres of the bounds.
        per_patient: Most rows of one patient, where the schema gives none.
        size: How many are chosen.
        lead: Public planning lead of one feature over the others, in contributions of one patient.
    """

    features: tuple[str, ...]
    outcome: str
    about: About = About.MEANS
    per_patient: PerPatient = field(default_factory=PerPatient)
    size: int = 1
    lead: Fraction | None = None

    def __post_init__(self) -> None:
        if len(self.features) < 2:
            raise ContractError(
                f"Top features {self.id!r} has nothing to choose from.",
                hint="Write features: [two, or, more].",
            )

    @property
    def key_names(self) -> tuple[str, ...]:
        """What a candidate is called in tables."""
        return ("feature",)

    def candidates(self, dataset: Dataset) -> tuple[tuple[str, ...], ...]:
        """Return the keys of what is chosen among, in order."""
        del dataset
        return tuple((name,) for name in self.features)

    def _ranked(self, dataset: Dataset) -> RankedFeatures:
        def named(name: str) -> Expression:
            return resolve(name, table=self.table, dataset=dataset)

        return RankedFeatures(
            relation=Relation(table=self.table, where=self.where),
            features=tuple(map(named, self.features)),
            outcome=named(self.outcome),
            about=self.about,
            bounds=contribution_bounds(
                self.per_patient,
                table=self.table,
                axes=(),
                counted=Counted.EVENTS,
                dataset=dataset,
            ),
            size=self.size,
        )

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one choice."""
        return (question(NAME, self._ranked(dataset), dataset=dataset),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the lead, in largest contributions of a patient, that is enough to be chosen."""
        return choice_forecast(
            mechanisms,
            level=level,
            worth=one_row(self._ranked(dataset), dataset=dataset),
            unit="persons",
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
        """Return the chosen features, without a number."""
        del mechanisms, simulation
        labels = self.candidates(dataset)
        return chosen(noisy, labels=labels, statistic=self.id, level=self.level)
