"""Where the data are: the declared source, as text; only the rows room opens it.

Paths are relative to the folder of dataset.yaml.  Frames are handed over in
Python and have no path.
"""

import enum
from dataclasses import dataclass, field

from confide.errors import ContractError
from confide.postgres_url import require_public_url, require_schema_name


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
    POSTGRES = "postgres"

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
        url: Of a PostgreSQL database, without a password; empty otherwise.
        schema: Of that database, which holds the tables whose name says none.
        copies: Schema of that database that is the steward's, for prepared copies.
        version: OMOP CDM version, "5.3" or "5.4"; "0.4" of MEDS; empty otherwise.
    """

    kind: SourceKind
    path: str = ""
    version: str = ""
    url: str = field(default="", repr=False)
    schema: str = ""
    copies: str = ""

    @property
    def in_postgres(self) -> bool:
        """Whether the tables are those of a PostgreSQL database."""
        return bool(self.url)

    def __post_init__(self) -> None:
        self._require_place()
        if self.kind is not SourceKind.FRAMES and not self.path and not self.in_postgres:
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

    def _require_place(self) -> None:
        """Refuse a URL of what is no database, and a database without one.

        Raises:
            ContractError: Then; a URL is not repeated.
        """
        if self.kind is SourceKind.POSTGRES and not self.url:
            raise ContractError(
                "A postgres source needs the url of a database.",
                hint="Write source: {kind: postgres, url: postgresql://host/database}.",
            )
        if not self.url:
            for key, name in (("schema-name", self.schema), ("copies-schema", self.copies)):
                if name:
                    raise ContractError(
                        f"source → {key}: only a PostgreSQL database has one.",
                        hint=f"Leave {key} out, or write url.",
                    )
            return
        if self.kind not in (SourceKind.POSTGRES, SourceKind.OMOP):
            raise ContractError(
                f"source → url: tables of kind {self.kind.value} lie in files.",
                hint="Write kind: postgres or kind: omop, or path in place of url.",
            )
        if self.path:
            raise ContractError(
                "source: the tables lie in a database or in files, not in both.",
                hint="Write url or path.",
            )
        require_public_url(self.url, where="source")
        if self.schema:
            require_schema_name(self.schema, where="source", example="cdm")
        if self.copies:
            require_schema_name(
                self.copies, where="source", key="copies-schema", example="confide_copies"
            )
