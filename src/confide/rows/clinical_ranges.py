"""Public clip bounds for common measurements: LOINC or OMOP concept → plausible range and grid.

*Privacy:* bounds read off the data are a leak; these look at none.
*Utility:* a range twice as wide costs twice the noise in a mean, so narrow it where public
knowledge of the population allows.

References:
    [LOINC] Regenstrief Institute. LOINC. https://loinc.org
    [UCUM] Schadow, McDonald. The unified code for units of measure. https://ucum.org
"""

import functools
import tomllib
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import UnknownNameError
from confide.regular_file import own_text
from confide.tables.schema import Column, Kind, Outside

_SOURCES = {
    "device": "measuring range of bedside devices",
    "assay": "measuring range of laboratory analysers",
    "scale": "all that the quantity can be",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClinicalRange:
    """The plausible range of one measurement.

    Attributes:
        key: Short name.
        name: What is measured.
        loinc: LOINC code.
        omop: Standard OMOP concept.
        unit: UCUM code in which the range holds.
        lower: Least plausible value, in ``unit``.
        upper: Greatest plausible value.
        step: Grid step.
        analyte: By which mass, amount and charge convert; "" where no unit depends on it.
        source: What the range is taken from: device, assay or scale.
    """

    key: str
    name: str
    loinc: str
    omop: int
    unit: str
    lower: Fraction
    upper: Fraction
    step: Fraction
    analyte: str = ""
    source: str = "assay"

    @property
    def because(self) -> str:
        """Where the bounds come from."""
        return (
            f"Plausible range of LOINC {self.loinc}, {self.name}: {_SOURCES[self.source]}; "
            "no data looked at."
        )

    def column(self, *, name: str, source: str) -> Column:
        """Return a column clipped to this range.

        Example:
            >>> bp = clinical_range("systolic").column(name="sbp", source="value_as_number")
            >>> bp.lower, bp.upper, bp.unit
            (50, 260, 'mm[Hg]')
        """
        return Column(
            name=name,
            kind=Kind.NUMBER,
            source=source,
            lower=int(self.lower / self.step),
            upper=int(self.upper / self.step),
            scale=self.step,
            unit=self.unit,
            outside=Outside.CLIP,
            because=self.because,
        )


@functools.cache
def clinical_ranges() -> tuple[ClinicalRange, ...]:
    """Return every known range, in clinical order."""
    found = {
        key: entry
        for name in ("clinical_ranges.toml", "clinical_labs.toml")
        for key, entry in tomllib.loads(own_text("confide.rows", name)).items()
    }
    return tuple(
        ClinicalRange(
            key=key,
            name=entry["name"],
            loinc=entry["loinc"],
            omop=entry["omop"],
            unit=entry["unit"],
            lower=Fraction(entry["lower"]),
            upper=Fraction(entry["upper"]),
            step=Fraction(entry["step"]),
            analyte=entry.get("analyte", ""),
            source=entry["source"],
        )
        for key, entry in found.items()
    )


def clinical_range(key: str) -> ClinicalRange:
    """Return a range by short name, LOINC code or OMOP concept.

    Raises:
        UnknownNameError: If none is known.

    Example:
        >>> clinical_range("4548-4").name
        'Haemoglobin A1c'
    """
    for known in clinical_ranges():
        if key in (known.key, known.loinc, str(known.omop)):
            return known
    raise UnknownNameError("measurement", key, known=[known.key for known in clinical_ranges()])


_ALSO_CALLED = {
    "sbp": "systolic",
    "systolic_bp": "systolic",
    "dbp": "diastolic",
    "diastolic_bp": "diastolic",
    "map": "mean_pressure",
    "hr": "heart_rate",
    "pulse": "heart_rate",
    "rr": "respiratory_rate",
    "resp_rate": "respiratory_rate",
    "spo2": "oxygen_saturation",
    "temp": "temperature",
    "fio2": "inspired_oxygen",
    "crea": "creatinine",
    "kreatinin": "creatinine",
    "bun": "urea_nitrogen",
    "glukose": "glucose",
    "hb": "haemoglobin",
    "hgb": "haemoglobin",
    "hemoglobin": "haemoglobin",
    "hct": "haematocrit",
    "hematocrit": "haematocrit",
    "wbc": "leukocytes",
    "leukozyten": "leukocytes",
    "rbc": "erythrocytes",
    "plt": "platelets",
    "thrombozyten": "platelets",
    "natrium": "sodium",
    "kalium": "potassium",
    "crp": "c_reactive_protein",
    "tsh": "thyrotropin",
    "laktat": "lactate",
    "ldl_cholesterol": "ldl",
    "hdl_cholesterol": "hdl",
    "a1c": "hba1c",
}
"""Names of columns that leave no doubt, and of what they are."""


def range_called(name: str) -> ClinicalRange | None:
    """Return the range of what a column is called; None where its name does not say one.

    Example:
        >>> range_called("SBP").unit, range_called("Creatinine").loinc, range_called("x")
        ('mm[Hg]', '2160-0', None)
    """
    key = "_".join("".join(c if c.isalnum() else " " for c in name.lower()).split())
    key = _ALSO_CALLED.get(key, key)
    return next((known for known in clinical_ranges() if known.key == key), None)
