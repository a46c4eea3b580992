"""The public description of a data set: units, columns, bounds, categories and null policy.

Everything here is declared by the steward before the data are looked at.  A cleaned value is a
*canonical integer*: a grid point of a number (``physical value = integer × scale``), the index of a
category, or days since 1970-01-01; NULL means that the row is left out wherever the column is used.

*Privacy:* a clip bound taken from the data is a leak, so a number or date without declared bounds
is refused, and the description is part of every plan's digest.

References:
    [UCUM] Schadow, McDonald. The unified code for units of measure. https://ucum.org
"""

import enum
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import ContractError, InvalidParameterError, UnboundedError, UnknownNameError
from confide.privacy.adjacency import Adjacency
from confide.privacy.individual import PatientCap
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.by_code import Accepted, Units
from confide.tables.dialect import AS_USUAL, Dialect
from confide.tables.encoding import Encoding
from confide.tables.expression import Expression
from confide.tables.largest_delta import require_delta
from confide.tables.normal_codes import normal_codes
from confide.tables.per_patient import PerPatientValue
from confide.tables.source_files import FIRST_ROW, Sheet
from confide.tables.spine import Spine

LARGEST_VALUE = 2**53
"""Canonical integers stay where a double is exact, so that cleaning a double loses nothing."""


class Kind(enum.Enum):
    """What a column holds."""

    NUMBER = "number"
    CATEGORY = "category"
    DATE = "date"
    TEXT = "text"  # categories that are not public: only for key selection


class Outside(enum.Enum):
    """What becomes of a number outside its bounds."""

    CLIP = "clip"
    DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """The public set of canonical integers that an expression can take.

    Attributes:
        kind: What the integers stand for.
        lower: Least canonical integer.
        upper: Greatest canonical integer.
        scale: Physical value of one step.
        unit: UCUM code of the physical value; "" for categories.
        keys: Labels of lower..upper, for categories, bins and date parts; else empty.
    """

    kind: Kind
    lower: int
    upper: int
    scale: Fraction = Fraction(1)
    unit: str = ""
    keys: tuple[str, ...] = ()

    def size(self) -> int:
        """Return the number of canonical integers."""
        return self.upper - self.lower + 1

    def physical(self, canonical: float | Fraction) -> float:
        """Return the physical value, in ``unit``, of a canonical one.

        Example:
            >>> tenths = Domain(kind=Kind.NUMBER, lower=100, upper=700, scale=Fraction(1, 10))
            >>> tenths.physical(251)
            25.1
        """
        return float(Fraction(canonical) * self.scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One declared column.

    Attributes:
        name: As studies call it.
        kind: Number, category, date or text.
        source: Name of the column in the data.
        lower: Least canonical integer (numbers on the grid; dates in days since 1970-01-01).
        upper: Greatest canonical integer.
        scale: Physical value of one grid step, for numbers.
        unit: UCUM code of the physical value.
        keys: Public labels of a category.
        codes: Pairs (text in the data, index into ``keys``).
        nulls: Canonical integer that a NULL becomes; None drops the row where the column is used.
        other: The same for a category value that is not in ``codes``.
        outside: What becomes of a number outside its bounds; a date outside is always dropped.
        because: Where the bounds or categories come from.
        absent: Texts in the data that mean missing, such as the code for "no matching concept".
        units: Where a number's unit stands; rows in other units are no rows of the table.
        names: Pairs (text in the data, what it is called), of a text whose codes have public names.
    """

    name: str
    kind: Kind
    source: str
    lower: int | None = None
    upper: int | None = None
    scale: Fraction = Fraction(1)
    unit: str = ""
    keys: tuple[str, ...] = ()
    codes: tuple[tuple[str, int], ...] = ()
    nulls: int | None = None
    other: int | None = None
    outside: Outside = Outside.CLIP
    because: str = ""
    absent: tuple[str, ...] = ()
    units: Units | None = None
    names: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        match self.kind:
            case Kind.NUMBER | Kind.DATE:
                self._check_bounds()
            case Kind.CATEGORY:
                self._check_categories()
            case Kind.TEXT:
                pass
        if self.units is not None and self.kind is not Kind.NUMBER:
            raise ContractError(f"Column {self.name!r} is no number, so it has no units.")
        if self.names and self.kind is not Kind.TEXT:
            raise ContractError(f"Column {self.name!r}: names are of a text.")
        if self.scale <= 0:
            raise InvalidParameterError(
                f"Column {self.name!r}: expected a grid step > 0, got {self.scale}."
            )
        domain = None if self.kind is Kind.TEXT else self.domain()
        for policy, value in (("nulls", self.nulls), ("other", self.other)):
            if value is not None and (domain is None or not domain.lower <= value <= domain.upper):
                raise ContractError(
                    f"Column {self.name!r}: {policy} must become a value inside the bounds.",
                    hint=f"Write {policy}: drop, or a constant between the declared bounds.",
                )

    def called(self, text: str) -> str:
        """Return a text of the column as readers see it: its public name, and itself.

        Example:
            >>> drug = Column(name="d", kind=Kind.TEXT, source="d", names=(("1125315", "aspirin"),))
            >>> drug.called("1125315"), drug.called("7")
            ('aspirin (1125315)', '7')
        """
        name = dict(self.names).get(text)
        return text if name is None else f"{name} ({text})"

    def _check_bounds(self) -> None:
        if self.lower is None or self.upper is None:
            raise UnboundedError(
                f"Column {self.name!r} has no clip bounds, so no finite noise would protect it.",
                hint=f"Declare lower and upper for {self.name!r} from public knowledge.",
            )
        if not -LARGEST_VALUE <= self.lower < self.upper <= LARGEST_VALUE:
            raise InvalidParameterError(
                f"Column {self.name!r}: expected lower < upper within ±2^53 grid steps, "
                f"got [{self.lower}, {self.upper}].",
                hint="Use a coarser grid step, or narrower bounds.",
            )

    def _check_categories(self) -> None:
        if not self.keys:
            raise UnboundedError(
                f"Column {self.name!r} has no categories.",
                hint="List its public categories, or declare kind: text and use key selection.",
            )
        if len(set(self.keys)) != len(self.keys):
            raise ContractError(f"Column {self.name!r} declares a category twice.")
        raw = [code for code, _ in self.codes]
        if len(set(raw)) != len(raw):
            raise ContractError(
                f"Column {self.name!r} maps one code of the data to two categories."
            )
        if any(not 0 <= index < len(self.keys) for _, index in self.codes):
            raise ContractError(f"Column {self.name!r} maps a code to an undeclared category.")
        normal_codes(self.codes, column=self.name)

    def domain(self) -> Domain:
        """Return the canonical integers of the column.

        Raises:
            UnboundedError: If the column is text, whose values are not public.
        """
        match self.kind:
            case Kind.CATEGORY:
                return Domain(kind=self.kind, lower=0, upper=len(self.keys) - 1, keys=self.keys)
            case Kind.TEXT:
                raise UnboundedError(
                    f"Column {self.name!r} holds text whose values are not public.",
                    hint="Use key selection, or declare its categories.",
                )
            case Kind.NUMBER | Kind.DATE:
                if self.lower is None or self.upper is None:  # refused by __post_init__
                    raise UnboundedError(f"Column {self.name!r} has no bounds.")
                return Domain(
                    kind=self.kind,
                    lower=self.lower,
                    upper=self.upper,
                    scale=self.scale,
                    unit=self.unit,
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One declared table.

    Attributes:
        name: As studies call it.
        source: Name of the relation, or path of the file, in the data.
        columns: Declared columns; others do not exist for Confide.
        one_row_per_patient: Enforced by the engine: of several rows the first in keyed order stays.
        id_column: Column that identifies the person here; the unit's when empty.
        weight: Number column that holds the survey weight of a row; "" where there is none.
        other_id: Column that identifies a second person: then a row is a contact of the two.
        only: Codes that a row of the source must have, to be a row of the table.
        without: Codes that a row of the source must not have, such as that of no drug.
        usual_rows: Pairs (rows, share of patients with so many), of public knowledge, unenforced.
        encoding: Of its text files, as is ``dialect``.
        sheet: Where it stands in its workbook.
        query: SELECT over one table of the source, of which the columns are; "" reads ``source``.
    """

    name: str
    source: str
    columns: tuple[Column, ...]
    one_row_per_patient: bool = False
    id_column: str = ""
    weight: str = ""
    other_id: str = ""
    only: tuple[Accepted, ...] = ()
    without: tuple[Accepted, ...] = ()
    usual_rows: tuple[tuple[int, Fraction], ...] = ()
    encoding: Encoding = Encoding.UTF_8
    query: str = ""
    dialect: Dialect = AS_USUAL
    sheet: Sheet = FIRST_ROW

    def __post_init__(self) -> None:
        if self.other_id and self.one_row_per_patient:
            raise ContractError(
                f"Table {self.name!r} holds contacts, and a person can have several.",
                hint="Leave rows-per-patient out.",
            )

    @property
    def conditions(self) -> tuple[Accepted, ...]:
        """What a row of the source must hold: declared codes, and units that are read."""
        units = (c.units for c in self.columns if c.units is not None and not c.units.in_cell)
        return (*self.only, *(Accepted(source=each.source, codes=each.codes) for each in units))

    def sources(self) -> frozenset[str]:
        """Return the columns of the source that the table is made of."""
        read = {column.source for column in self.columns}
        return frozenset(read | {each.source for each in (*self.conditions, *self.without)})

    def column(self, name: str) -> Column:
        """Return a declared column.

        Raises:
            UnknownNameError: If ``name`` was not declared.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownNameError(
            f"column of {self.name}", name, known=[column.name for column in self.columns]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A named expression: a bin or a calendar part of a column or per-patient value."""

    name: str
    of: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """All public facts about one data set; part of every plan.

    Attributes:
        id: Name for people.
        lineage: What budgets follow; survives renaming and new snapshots.
        snapshot: Declared id of this version of the data.
        unit: Whose records are protected.
        adjacency: Which data sets are neighbours.
        measure: How losses add up.
        delta: δ at which zCDP losses are shown as ε; includes ``selection_delta``.
        selection_delta: Lifetime cap on the summed δ of key selections; 0 forbids them.
        population_at_most: Public cap on the number of patients, to exclude overflow.
        population: Public planning number of patients, where known; bounds δ.
        spines: Declared areas within areas.
        patients: Caps of a patient that are kept by leaving patients out; none leaves nobody out.
        mixed: Whether the ledger takes plans of either measure; then ``measure`` is that of a plan.
        tables: Declared tables.
        per_patient: Declared values, one per patient, from that patient's own rows.
        derived: Declared bins and calendar parts.
    """

    id: str
    lineage: str
    snapshot: str
    unit: PrivacyUnit
    adjacency: Adjacency
    measure: Measure
    tables: tuple[Table, ...]
    delta: Fraction = Fraction(0)
    selection_delta: Fraction = Fraction(0)
    population_at_most: int = 10**10
    per_patient: tuple[PerPatientValue, ...] = ()
    derived: tuple[Derived, ...] = ()
    population: int | None = None
    spines: tuple[Spine, ...] = ()
    patients: tuple[PatientCap, ...] = ()
    mixed: bool = False

    def __post_init__(self) -> None:
        names = [table.name for table in self.tables]
        if len(set(names)) != len(names):
            raise ContractError("A table is declared twice.")
        if len({spine.name for spine in self.spines}) != len(self.spines):
            raise ContractError("A spine is declared twice.")
        if self.measure is Measure.ZCDP and not 0 < self.delta < 1:
            raise ContractError(
                "Accounting in zcdp needs the delta at which losses are shown.",
                hint='Write accounting: {measure: zcdp, delta: "1e-6"}.',
            )
        if self.selection_delta < 0 or self.selection_delta > self.delta:
            raise ContractError(
                "Expected 0 ≤ selection-delta ≤ delta.",
                hint="The summed delta of key selections is part of the reported delta.",
            )
        if self.measure is Measure.ZCDP and self.selection_delta >= self.delta:
            raise ContractError("Expected selection-delta < delta under zcdp.")
        if not 1 <= self.population_at_most <= 10**12:
            raise InvalidParameterError("Expected 1 ≤ population-at-most ≤ 1e12.")
        if self.population is not None and not 1 <= self.population <= self.population_at_most:
            raise InvalidParameterError("Expected 1 ≤ population ≤ population-at-most.")
        if self.mixed and self.selection_delta >= self.delta:
            raise ContractError(
                "Accounting in mixed needs a delta above selection-delta.",
                hint='Write accounting: {measure: mixed, delta: "1e-6"}.',
            )
        require_delta(self.delta, population=self.population)

    def keeps_one_row(self, name: str) -> bool:
        """Return whether one row of each patient is read of a table; of single rows, all are."""
        return self.table(name).one_row_per_patient and self.unit.entity is not Entity.EVENT

    def table(self, name: str) -> Table:
        """Return a declared table.

        Raises:
            UnknownNameError: If ``name`` was not declared.
        """
        for table in self.tables:
            if table.name == name:
                return table
        raise UnknownNameError("table", name, known=[table.name for table in self.tables])

    def value(self, name: str) -> PerPatientValue:
        """Return a declared per-patient value.

        Raises:
            UnknownNameError: If ``name`` was not declared.
        """
        for value in self.per_patient:
            if value.name == name:
                return value
        raise UnknownNameError(
            "per-patient value", name, known=[value.name for value in self.per_patient]
        )

    def spine(self, name: str) -> Spine:
        """Return a declared spine.

        Raises:
            UnknownNameError: If ``name`` was not declared.
        """
        for spine in self.spines:
            if spine.name == name:
                return spine
        raise UnknownNameError("spine", name, known=[spine.name for spine in self.spines])
