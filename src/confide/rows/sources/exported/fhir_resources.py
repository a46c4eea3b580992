"""What a table of FHIR resources has for columns, and where in a resource each of them stands.

Codes come in systems, and a concept may be coded in several: each known system has a column of its
own (``loinc``, ``snomed``, ...), beside ``code``, the first coding of any.  The person is the id
that ends the reference to a patient, however that is written; a reference to a group, a device or a
resource inside the resource is nobody's.

*Privacy:* functions of one resource, total: what is not there, or of another type, is "".

References:
    [FHIR] HL7. FHIR release 4, 4.0.1. https://hl7.org/fhir/R4/
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

FhirCell: TypeAlias = Callable[[Any, Any], object]
"""What a column is: of a resource, and of the part of it that is a row."""

CODE_SYSTEMS: Mapping[str, tuple[str, ...]] = {
    "loinc": ("http://loinc.org",),
    "snomed": ("http://snomed.info/sct",),
    "icd10": (
        "http://hl7.org/fhir/sid/icd-10",
        "http://hl7.org/fhir/sid/icd-10-cm",
        "http://fhir.de/CodeSystem/bfarm/icd-10-gm",
        "http://fhir.de/CodeSystem/dimdi/icd-10-gm",
    ),
    "rxnorm": ("http://www.nlm.nih.gov/research/umls/rxnorm",),
    "atc": ("http://www.whocc.no/atc", "http://fhir.de/CodeSystem/bfarm/atc"),
    "cvx": ("http://hl7.org/fhir/sid/cvx",),
    "cpt": ("http://www.ama-assn.org/go/cpt",),
    "ops": ("http://fhir.de/CodeSystem/bfarm/ops", "http://fhir.de/CodeSystem/dimdi/ops"),
}
"""By the name of a column, the systems of which a coding is one of it."""
_RACE = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-"


def at(value: Any, *path: str | int) -> Any:
    """Return what stands at a path; None where nothing does, or something else on the way.

    Example:
        >>> at({"code": {"coding": [{"code": "8480-6"}]}}, "code", "coding", 0, "code")
        '8480-6'
    """
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def patient_in(reference: object) -> str:
    """Return the id of the patient that a reference names; "" if it names none.

    Example:
        >>> patient_in("Patient/12"), patient_in("urn:uuid:ab-c"), patient_in("Group/12")
        ('12', 'ab-c', '')
    """
    if not isinstance(reference, str):
        return ""
    if reference.startswith(("urn:uuid:", "urn:oid:")):
        return reference.split(":", 2)[2]
    parts = reference.partition("/_history/")[0].split("/")
    return parts[-1] if len(parts) >= 2 and parts[-2] == "Patient" else ""


def row_parts(resource: Any) -> Iterator[Any]:
    """Yield what is a row of its own: the components of an observation, and itself with a value.

    A panel, which has components and no value, is no row beside them.
    """
    components = resource.get("component") if isinstance(resource, dict) else None
    listed = components if isinstance(components, list) else []
    if not listed or any(key.startswith("value") for key in resource):
        yield resource
    yield from listed


def _of(*paths: tuple[str | int, ...]) -> FhirCell:
    """Return a column of the resource: what stands at the first path where something does."""

    def cell(resource: Any, _: Any) -> object:
        return next((found for path in paths if (found := at(resource, *path)) is not None), None)

    return cell


def _path(*path: str | int) -> FhirCell:
    return _of(path)


def _codings(*path: str | int, of_part: bool = False) -> Mapping[str, FhirCell]:
    """Return the columns of a concept: its first code, that one's system, and a code a system."""

    def listed(resource: Any, part: Any) -> list[Any]:
        found = at(part if of_part else resource, *path, "coding")
        return found if isinstance(found, list) else []

    def in_system(names: tuple[str, ...]) -> FhirCell:
        def cell(resource: Any, part: Any) -> object:
            codings = listed(resource, part)
            return next((at(c, "code") for c in codings if at(c, "system") in names), None)

        return cell

    def first(key: str) -> FhirCell:
        return lambda resource, part: at(listed(resource, part), 0, key)

    systems = {name: in_system(names) for name, names in CODE_SYSTEMS.items()}
    return {"code": first("code"), "system": first("system"), **systems}


def _subject(key: str) -> Mapping[str, FhirCell]:
    return {
        "person": lambda resource, _: patient_in(at(resource, key, "reference")),
        "id": _path("id"),
        "status": _path("status"),
        "encounter": _of(("encounter", "reference"), ("context", "reference")),
    }


def _of_part(*path: str | int) -> FhirCell:
    return lambda _, part: at(part, *path)


def _value(_: Any, part: Any) -> object:
    """Return the number of a quantity; with its sign where it lies below or above a limit."""
    number = at(part, "valueQuantity", "value")
    number = at(part, "valueInteger") if number is None else number
    sign = at(part, "valueQuantity", "comparator")
    return f"{sign}{number}" if sign is not None and number is not None else number


def _said(_: Any, part: Any) -> object:
    """Return the text or code that an observation says instead of a number."""
    code = at(part, "valueCodeableConcept", "coding", 0, "code")
    code = at(part, "valueCodeableConcept", "text") if code is None else code
    code = at(part, "valueString") if code is None else code
    return at(part, "valueBoolean") if code is None else code


def _deceased(resource: Any, _: Any) -> object:
    stated = at(resource, "deceasedBoolean")
    return (at(resource, "deceasedDateTime") is not None) if stated is None else stated


def _birth_year(resource: Any, _: Any) -> object:
    born = at(resource, "birthDate")
    return born[:4] if isinstance(born, str) else None


def _race(name: str) -> FhirCell:
    def cell(resource: Any, _: Any) -> object:
        for extension in at(resource, "extension") or []:
            if at(extension, "url") == f"{_RACE}{name}":
                for inner in at(extension, "extension") or []:
                    if at(inner, "url") == "ombCategory":
                        return at(inner, "valueCoding", "code")
        return None

    return cell


RESOURCES: Mapping[str, Mapping[str, FhirCell]] = {
    "Patient": {
        "person": _path("id"),
        "gender": _path("gender"),
        "birth_date": _path("birthDate"),
        "birth_year": _birth_year,
        "deceased": _deceased,
        "death_date": _path("deceasedDateTime"),
        "marital_status": _path("maritalStatus", "coding", 0, "code"),
        "state": _path("address", 0, "state"),
        "country": _path("address", 0, "country"),
        "race": _race("race"),
        "ethnicity": _race("ethnicity"),
    },
    "Encounter": {
        **_subject("subject"),
        **_codings("type", 0),
        "class": _of(("class", "code"), ("class", 0, "coding", 0, "code")),
        "start": _path("period", "start"),
        "end": _path("period", "end"),
        "discharge": _path("hospitalization", "dischargeDisposition", "coding", 0, "code"),
    },
    "Condition": {
        **_subject("subject"),
        **_codings("code"),
        "start": _of(("onsetDateTime",), ("onsetPeriod", "start")),
        "end": _of(("abatementDateTime",), ("abatementPeriod", "end")),
        "recorded": _path("recordedDate"),
        "clinical_status": _path("clinicalStatus", "coding", 0, "code"),
        "verification": _path("verificationStatus", "coding", 0, "code"),
        "category": _path("category", 0, "coding", 0, "code"),
    },
    "Observation": {
        **_subject("subject"),
        **_codings("code", of_part=True),
        "value": _value,
        "unit": lambda _, part: (
            at(part, "valueQuantity", "code")
            if at(part, "valueQuantity", "code") is not None
            else at(part, "valueQuantity", "unit")
        ),
        "value_code": _said,
        "date": _of(("effectiveDateTime",), ("effectivePeriod", "start"), ("effectiveInstant",)),
        "issued": _path("issued"),
        "category": _path("category", 0, "coding", 0, "code"),
        "panel": lambda resource, part: (
            None if part is resource else at(resource, "code", "coding", 0, "code")
        ),
        "absent": _of_part("dataAbsentReason", "coding", 0, "code"),
    },
    "MedicationRequest": {
        **_subject("subject"),
        **_codings("medicationCodeableConcept"),
        "date": _path("authoredOn"),
        "intent": _path("intent"),
    },
    "Procedure": {
        **_subject("subject"),
        **_codings("code"),
        "start": _of(("performedDateTime",), ("performedPeriod", "start")),
        "end": _of(("performedPeriod", "end"), ("performedDateTime",)),
    },
    "Immunization": {
        **_subject("patient"),
        **_codings("vaccineCode"),
        "date": _path("occurrenceDateTime"),
    },
}
"""By resource, its columns by name."""
