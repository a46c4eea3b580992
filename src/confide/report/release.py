"""A release: noisy numbers, what was made of them, and the certificate; free to publish."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from confide.budget.ledger import StoredRelease
from confide.drawing.labels import Labels
from confide.drawing.words import Words, load_words
from confide.errors import ContractError, MissingExtraError, UnknownNameError
from confide.plans.canonical import Json
from confide.plans.estimates import Estimate
from confide.plans.plan import Plan, Statistic
from confide.release.certificate.certificate import Issuer, certificate
from confide.release.certificate.cuts import with_cuts
from confide.release.certificate.form import CertificateForm
from confide.release.certificate.form_check import read_form
from confide.release.certificate.parts import AuthorityPart, CommitmentPart
from confide.release.certificate.software import software
from confide.release.noisy import NoisyAggregates, read_payload
from confide.release.reused import Reused
from confide.release.site.keys import SigningKey

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from confide.drawing.charts.figure import Figure
    from confide.drawing.charts.outlines import Maps
    from confide.drawing.shown import Shown

_NAMED = 4
"""Statistics that a release names when it is printed."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Release:
    """What left the gate, and what people make of it: tables, figures, a folder.

    Attributes:
        noisy: The noisy integers with their plan.
        estimates: Every published number, in the plan's order.
        certificate: Signed JSON.
        outlines: Public shapes of areas, by spine and level, for maps.
        labels: What its reports call columns and tables; of no number.
    """

    noisy: NoisyAggregates
    estimates: tuple[Estimate, ...]
    certificate: Json
    outlines: "Maps" = field(default_factory=dict, compare=False)
    labels: Labels = field(default_factory=Labels, compare=False)

    def called(self, labels: Labels) -> Self:
        """Return the same release, whose reports call columns as these labels say."""
        return replace(self, labels=self.labels | labels)

    def words(self, language: str = "en") -> Words:
        """Return the sentences of its reports, with its labels.

        Raises:
            UnknownNameError: If the language has none.
        """
        return load_words(language).calling(self.labels)

    @property
    def plan(self) -> Plan:
        """The plan that was released."""
        return self.noisy.plan

    @property
    def form(self) -> CertificateForm:
        """What the certificate of a release says that was charged."""
        return read_form(self.certificate, form=CertificateForm)

    @property
    def made_of(self) -> Reused | None:
        """The earlier releases that it is made of; None of one that was charged."""
        return None

    @property
    def made_up(self) -> int | None:
        """Patients that were made up for a rehearsal; None of a release, which counts real ones."""
        return None

    def of(self, statistic: Statistic | str) -> tuple[Estimate, ...]:
        """Return the estimates of one statistic.

        Raises:
            UnknownNameError: If the release has no such statistic.
        """
        name = _id(statistic)
        found = tuple(estimate for estimate in self.estimates if estimate.statistic == name)
        if not found:
            self._asked(statistic)
        return found

    def to_arrow(self, statistic: Statistic | str | None = None) -> "pa.Table":
        """Return the published numbers as an Arrow table, one row a number.

        Args:
            statistic: Which; all of them when None, with a first column that says of which each is.

        Raises:
            UnknownNameError: If the release has no such statistic.
        """
        from confide.report.pages.table import frame

        return frame(self, None if statistic is None else self._asked(statistic))

    def to_pandas(self, statistic: Statistic | str | None = None) -> "pd.DataFrame":
        """Return the same as a pandas frame; MissingExtraError where pandas is not installed."""
        table = self.to_arrow(statistic)
        try:
            frame: pd.DataFrame = table.to_pandas()
        except ImportError:
            raise MissingExtraError("pandas", extra="frames") from None
        return frame

    def to_polars(self, statistic: Statistic | str | None = None) -> "pl.DataFrame":
        """Return the same as a Polars frame; MissingExtraError where Polars is not installed."""
        try:
            import polars as pl
        except ImportError:
            raise MissingExtraError("polars", extra="frames") from None
        frame: pl.DataFrame = pl.DataFrame(self.to_arrow(statistic))
        return frame

    def table(self, statistic: Statistic | str, *, language: str = "en") -> "Shown":
        """Return the report's table of one statistic, which notebooks and terminals show.

        Raises:
            UnknownNameError: If the release has no such statistic, or the language no sentences.
        """
        from confide.report.pages.layouts import laid_out

        return laid_out(self, self._asked(statistic), words=self.words(language))

    def figure(self, statistic: Statistic | str, *, language: str = "en") -> "Figure":
        """Return the report's figure of one statistic, which notebooks show and ``save`` writes.

        Args:
            statistic: Which; a model's further figures have names such as "risk.calibration".
            language: Of its words.

        Raises:
            UnknownNameError: If there is no such figure, or the language has no sentences.
            ContractError: If all numbers of the statistic were withheld, so nothing can be drawn.
        """
        from confide.report.charts.chart import figures

        words, name = self.words(language), _id(statistic)
        known = [each.id for each in self.plan.statistics]
        for each in self.plan.statistics:
            if name == each.id or name.startswith(f"{each.id}."):
                found = figures(self, each, words=words)
                if name in found:
                    return found[name]
                known += found
        if name not in known:
            raise UnknownNameError("figure", name, known=set(known))
        raise ContractError(
            f"No number of {name!r} was published, so there is no figure.",
            hint=f"Its table says why: release.table({name!r}).",
        )

    def save(
        self,
        folder: str | Path,
        *,
        language: str = "en",
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Write report, certificate, tables, figures and methods as a folder.

        Args:
            folder: Made, or replaced when it holds this same release.
            language: Of every sentence.
            progress: Told "tables", "figures", "report", "write".

        Raises:
            ContractError: If there is a file, or a folder that holds anything else.
            UnknownNameError: If the language has no sentences.
        """
        from confide.report.pages.save import save

        save(self, Path(folder), language=language, progress=progress)

    def __repr__(self) -> str:
        ids = [each.id for each in self.plan.statistics]
        more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
        kind = type(self).__name__
        return f"<{kind} {self.certificate['id']}: {', '.join(ids[:_NAMED])}{more}>"

    def _repr_html_(self) -> str:
        from confide.report.wording.summary import summary

        return summary(self)

    def _asked(self, statistic: Statistic | str) -> Statistic:
        name = _id(statistic)
        asked = {each.id: each for each in self.plan.statistics}
        if name not in asked:
            raise UnknownNameError("statistic", name, known=asked)
        return asked[name]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReusedRelease(Release):
    """A release made of earlier ones; free to publish to whom they were published.

    Attributes:
        reused: What is asked and how it is answered.
    """

    reused: Reused

    @property
    def made_of(self) -> Reused:
        """The earlier releases that it is made of."""
        return self.reused


def _id(statistic: Any) -> str:
    return str(getattr(statistic, "id", statistic))


def certified(
    stored: StoredRelease,
    *,
    issuer: Issuer,
    signer: SigningKey,
    authority: AuthorityPart | None = None,
    commitment: CommitmentPart | None = None,
    outlines: "Maps | None" = None,
    labels: Labels | None = None,
) -> Release:
    """Return a stored answer with its estimates and its signed certificate."""
    noisy = read_payload(stored.payload)
    estimates = with_cuts(noisy.estimates(), plan=noisy.plan)
    return Release(
        noisy=noisy,
        estimates=estimates,
        outlines=outlines or {},
        labels=labels or Labels(),
        certificate=certificate(
            noisy,
            estimates=estimates,
            entry=stored.entry,
            issuer=issuer,
            software=software(),
            signer=signer,
            authority=authority,
            commitment=commitment,
        ).to_json(),
    )
