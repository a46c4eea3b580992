"""The privacy unit: whose records the guarantee is about.

*Privacy:* every bound, loss and certificate is per privacy unit.  ``patient``: all records of one
person.  ``event``: one row of one declared table; weaker, and never printed without the word.
``edge``: all rows of one contact between two persons; weaker too, and for contact networks alone.
``hospital``: all records of one hospital, hence of a patient who is in one only; for models of one
teacher a hospital alone.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy, sec. 2.3. 2014.
        https://doi.org/10.1561/0400000042
"""

import enum
from dataclasses import dataclass

from confide.errors import InvalidParameterError


class Entity(enum.Enum):
    """What one unit is."""

    PATIENT = "patient"
    EVENT = "event"
    EDGE = "edge"
    HOSPITAL = "hospital"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyUnit:
    """Whose data are protected.

    Attributes:
        entity: Patient, event, edge or hospital.
        id_column: Column that identifies a person in every table.

    Example:
        >>> PrivacyUnit(entity=Entity.PATIENT, id_column="person_id").entity.value
        'patient'
    """

    entity: Entity
    id_column: str

    def __post_init__(self) -> None:
        if not self.id_column:
            raise InvalidParameterError(
                "Expected an id column, got an empty name.",
                hint="Write protects: {unit: patient, id: person_id, ...} in dataset.yaml.",
            )
