"""Degree histograms by the engine: against a slow one in plain Python, and moved by one person."""

import itertools
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from confide.errors import ContractError
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.rows.engines.duckdb import open_engine
from confide.rows.relational.degrees import degree_vector, projected_degrees
from confide.tables.aggregates.degrees import How
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from confide.tables.relation import Relation
from confide.tables.source import Source, SourceKind
from networks import KEY, asked, by_engine, frames, histogram, network
from reference_engine import Reference

AT_WORK = Relation(
    table="contacts", where=IsIn(of=ColumnOf(table="contacts", column="place"), values=(1,))
)


def random_rows(rng, *, text):
    """Contacts with repeats, both ways round, self loops, strangers and missing ids."""
    names = [f"né{i}" if i % 2 else f"b{i}" for i in range(14)] if text else list(range(-6, 8))
    people = [name for name in names if rng.random() < 0.8] or names[:1]
    rows = []
    for _ in range(int(rng.integers(0, 60))):
        p, q = (names[int(i)] for i in rng.integers(0, len(names), 2))
        rows.append((p, q, ["home", "work", None][int(rng.integers(3))]))
        if rng.random() < 0.3:
            rows.append((q, unicodedata.normalize("NFD", p) if text else p, "home"))
    rows += [(None, names[0], "work"), (names[1], None, "work"), ("", names[2], "work")][
        : 3 if text else 2
    ]
    return rows, [*people, people[0], None]


def slow(rows, people, *, at_most, how, persons=True, only=None):
    """The algebra in plain Python, with the keyed order of the design page."""
    text = any(isinstance(p, str) for p in people)
    clean = (lambda v: unicodedata.normalize("NFC", v) if v else None) if text else (lambda v: v)
    order = Reference(network(), {}, KEY)
    pairs = {
        tuple(sorted((clean(p), clean(q))))
        for p, q, place in rows
        if clean(p) is not None and clean(q) is not None and clean(p) != clean(q)
        and only in (None, place)
    }  # fmt: skip

    def place(pair):
        return order.place(pair[0], [order.point(pair[1])]), pair

    vertices = {clean(p) for p in people} - {None} if persons else set(itertools.chain(*pairs))
    ordered = sorted(pairs, key=place)
    found = histogram(ordered, vertices, at_most=at_most, how=how, place=ordered.index)
    return tuple(found.tolist()[0 if persons else 1 :])


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("how", How)
def test_the_engine_agrees_with_the_histogram_in_plain_python(how, text):
    rng = np.random.default_rng(17)
    of = network(Entity.PATIENT if how is How.PROJECTED else Entity.EDGE)
    for trial in range(8):
        rows, people = random_rows(rng, text=text)
        at_most, persons = 1 + trial % 4, trial % 3 > 0
        relation, only = (AT_WORK, "work") if trial % 2 else (None, None)
        wanted = asked(at_most, how=how, persons=persons, relation=relation)
        found = by_engine(frames(rows, people), wanted, of=of)
        assert found == slow(rows, people, at_most=at_most, how=how, persons=persons, only=only)


def test_the_engine_keeps_edges_by_ids_and_not_by_the_order_of_rows():
    rng = np.random.default_rng(2)
    rows, people = random_rows(rng, text=False)
    one = by_engine(frames(rows, people), asked(2), of=network())
    shuffled = [rows[i] for i in rng.permutation(len(rows))]
    turned = [(q, p, place) for p, q, place in shuffled]
    assert by_engine(frames(turned, people[::-1]), asked(2), of=network()) == one


@pytest.mark.L1
@pytest.mark.parametrize("persons", [True, False])
def test_a_person_with_all_contacts_moves_the_engines_answer_within_the_lemma(persons):
    rng, worst = np.random.default_rng(8), 0
    claim = asked(2, persons=persons).sensitivity(network(), counted="persons")
    for trial in range(4):
        people = list(range(9))
        pairs = [(a, b, "home") for a in people for b in people if a < b and rng.random() < 0.4]
        if trial == 0:  # the worst pair: two persons who know each other, and one who knows both
            people, pairs = [0, 1, 2], [(0, 1, "home"), (0, 2, "home"), (1, 2, "home")]
        left = [row for row in pairs if 0 not in row[:2]]
        one = by_engine(frames(pairs, people), asked(2, persons=persons), of=network())
        other = by_engine(frames(left, people[1:]), asked(2, persons=persons), of=network())
        change = np.abs(np.subtract(one, other))
        worst = max(worst, change.sum())
        assert change.sum() <= claim.l1
        assert (change**2).sum() <= claim.l2_squared
    assert worst == claim.l1


def test_nobody_and_no_contact_are_counted_too():
    assert by_engine(frames([], [1, 2]), asked(2), of=network()) == (2, 0, 0)
    assert by_engine(frames([], []), asked(2), of=network()) == (0, 0, 0)
    assert by_engine(frames([], [1]), asked(2, persons=False), of=network()) == (0, 0)
    edge = network(Entity.EDGE, adjacency=Adjacency.SUBSTITUTE)
    star = [(0, i, "home") for i in range(1, 6)]
    assert by_engine(frames(star, range(7)), asked(3, how=How.CAPPED), of=edge) == (1, 5, 0, 1)


def test_a_missing_second_id_is_refused_by_name_before_reading():
    tables = frames([(1, 2, "home")], [1])
    tables["contacts"] = tables["contacts"].drop(["qid"])
    with pytest.raises(ContractError, match=r"'contacts' has no id column 'qid'"):
        by_engine(tables, asked(2), of=network())


def test_a_projection_keeps_the_bound_and_is_maximal():
    rng = np.random.default_rng(4)
    for _ in range(50):
        pairs = [p for p in itertools.combinations(range(12), 2) if rng.random() < 0.5]
        order = rng.permutation(len(pairs))
        first, second = (np.array([pairs[i][end] for i in order], dtype=np.int64) for end in (0, 1))
        alone = np.zeros(12, dtype=np.int64)
        degrees = projected_degrees(first, second, degrees=alone, at_most=3)
        whole = np.bincount(np.concatenate([first, second]), minlength=12)
        assert (degrees <= np.minimum(3, whole)).all()
        assert degrees.sum() % 2 == 0
        if (whole <= 3).all():
            assert (degrees == whole).all()


def test_a_projection_keeps_what_one_edge_after_another_keeps():
    """Edges without a crowded end are counted at once; hubs make both kinds, and rows repeat."""
    rng = np.random.default_rng(5)
    for at_most in (1, 2, 4):
        first = np.concatenate([np.repeat([1, 2, 3], 12), rng.integers(1, 61, size=80)])
        second = rng.integers(61, 101, size=first.size)
        places = rng.integers(2**31, size=(101, 101))
        again = rng.integers(first.size, size=30)
        first, second = (np.concatenate([end, end[again]]) for end in (first, second))
        rows = rng.permutation(first.size + 1)
        contacts = {
            name: np.append(column, last)[rows]
            for name, column, last in (
                ("i", first, 100),
                ("j", second, 0),
                ("h", places[first, second], 0),
            )
        }
        kept = np.zeros(101, dtype=np.int64)
        edges = set(zip(first.tolist(), second.tolist(), strict=True))
        for a, b in sorted(edges, key=lambda edge: (places[edge], edge)):
            if max(kept[a], kept[b]) < at_most:
                kept[[a, b]] += 1
        counts = np.bincount(kept[1:], minlength=at_most + 1)
        assert degree_vector(asked(at_most), contacts) == tuple(counts.tolist())


@pytest.mark.parametrize("entity", [Entity.PATIENT, Entity.EDGE])
def test_a_contact_is_left_out_when_either_end_withdrew_consent(entity):
    pairs = [(1, 2, "home"), (2, 3, "home"), (3, 4, "work"), (4, 5, "work"), (5, 1, "home")]
    people = [1, 2, 3, 4, 5]
    of, wanted = (
        network(entity),
        asked(3, how=How.CAPPED if entity is Entity.EDGE else How.PROJECTED),
    )
    with open_engine(
        Source(kind=SourceKind.FRAMES), base=Path(), dataset=of, hash_key=KEY,
        frames=frames(pairs, people),
    ) as engine:  # fmt: skip
        high, low = engine.identity("3")
    with open_engine(
        Source(kind=SourceKind.FRAMES), base=Path(), dataset=of, hash_key=KEY,
        frames=frames(pairs, people), withdrawn=(f"{high:016x}{low:016x}",),
    ) as engine:  # fmt: skip
        (found,) = engine.aggregate((wanted,), dataset=of).reveal_to_gate()
    left = [pair for pair in pairs if 3 not in pair]
    assert found == by_engine(frames(left, [1, 2, 4, 5]), wanted, of=of)
    assert found != by_engine(frames(pairs, people), wanted, of=of)
