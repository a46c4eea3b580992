"""Where the data are: the declared source, as text; only the rows room opens it.

Paths are relative to the folder of dataset.yaml.  Frames are handed over in
Python and have no path.
"""

import enum
from dataclasses import dataclass

from confide.errors import ContractError


class SourceKind(enum.Enum):
    """What holds the tables."""

    DUCKDB = "duckdb"
    PARQUET = "parquet"
    CSV = "csv"
    OMOP = "omop"
    FRAMES = "frames"
    EXCEL = "excel"
    STATA = "stata"
    SPSS = "spss"
    SAS = "sas"
    FHIR = "fhir"
    MEDS = "meds"
    SPARK = "spark"

    @property
    def exported(self) -> bool:
        """Whether its files are those of another program, of which text is written to be read."""
        return self in _EXPORTED

    @property
    def stores_numbers(self) -> bool:
        """Whether numbers are stored as such, and written with whatever decimal is declared."""
        return self in _EXPORTED - {SourceKind.FHIR}


_EXPORTED = frozenset(
    {SourceKind.EXCEL, SourceKind.STATA, SourceKind.SPSS, SourceKind.SAS, SourceKind.FHIR}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A declared source.

    Attributes:
        kind: What holds the tables.
        path: A DuckDB file; or the folder or file of the tables; empty for frames.
        version: OMOP CDM version, "5.3" or "5.4"; "0.4" of MEDS; empty otherwise.
    """

    kind: SourceKind
    path: str = ""
    version: str = ""

    def __post_init__(self) -> None:
        if self.kind is not SourceKind.FRAMES and not self.path:
            raise ContractError(
                f"A {self.kind.value} source needs a path.", hint="Write source: {kind, path}."
            )
        if self.kind is SourceKind.OMOP and self.version not in ("5.3", "5.4"):
            raise ContractError(
                f"Expected OMOP CDM version 5.3 or 5.4, got {self.version!r}.",
                hint='Write source: {kind: omop, version: "5.4", path: cdm.duckdb}.',
            )
        if self.kind is SourceKind.MEDS and self.version != "0.4":
            raise ContractError(
                f"Expected MEDS version 0.4, got {self.version!r}.",
                hint='Write source: {kind: meds, version: "0.4", path: cohort}.',
            )
