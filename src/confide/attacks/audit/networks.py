"""A small contact network and its neighbour: the pair at which a degree histogram moves furthest.

With the bound D = 2, two persons have one contact each, with someone else; a third, with both of
them, is there or not.  Both move from degree 1 to 2 and the third enters 2: L1 = 2D + 1, which the
lemma of :mod:`confide.tables.aggregates.degrees` allows.  With the edge as the unit, a contact
between two persons of degree 1 is there or not: L1 = 4.

*Privacy:* no data of anybody are read.

References:
    [DLL16] Day, Li, Lyu. Publishing graph degree distribution with node differential privacy.
        SIGMOD 2016. https://doi.org/10.1145/2882903.2926745
"""

from collections.abc import Sequence
from typing import Any, assert_never

from confide.attacks.audit.generate import Neighbours
from confide.errors import UnsupportedError
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.schema import Dataset, Table

_REST = ((1, 11), (2, 12))
_PERSONS = (1, 2, 11, 12)


def network(entity: Entity) -> Dataset:
    """Return the public description of the network, for one person or one contact as the unit."""
    return Dataset(
        id="network",
        lineage="audit",
        snapshot="generated",
        unit=PrivacyUnit(entity=entity, id_column="pid"),
        adjacency=Adjacency.ADD_REMOVE,
        measure=Measure.PURE,
        tables=(
            Table(name="contacts", source="contacts", columns=(), other_id="qid"),
            Table(name="people", source="people", columns=(), one_row_per_patient=True),
        ),
    )


def contacts(entity: Entity) -> Neighbours:
    """Return the network with the person, or contact, and the one without.

    Raises:
        UnsupportedError: If the unit is an event, or a hospital.
    """
    match entity:
        case Entity.PATIENT:
            present = _frames((*_REST, (0, 1), (0, 2)), (0, *_PERSONS))
        case Entity.EDGE:
            present = _frames((*_REST, (1, 2)), _PERSONS)
        case Entity.EVENT | Entity.HOSPITAL:
            raise UnsupportedError("A contact network protects persons or contacts.")
        case _:
            assert_never(entity)
    absent = _frames(_REST, _PERSONS)
    return Neighbours(databases=1, present=present, absent=absent, replaced=absent)


def _frames(pairs: Sequence[tuple[int, int]], people: Sequence[int]) -> dict[str, Any]:
    import pyarrow as pa

    first, second = ([pair[i] for pair in pairs] for i in (0, 1))
    return {
        "contacts": pa.table({"pid": pa.array(first), "qid": pa.array(second)}),
        "people": pa.table({"pid": pa.array(list(people))}),
    }
