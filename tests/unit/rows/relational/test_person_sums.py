"""What each person adds: their own norms, and sums without them, for every kind of aggregate."""

import hashlib
import hmac
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from confide.attacks.audit.generate import MOST_OTHERS, neighbours
from confide.attacks.audit.generated_schema import schema
from confide.attacks.audit.searched import statistics_of_patients
from confide.attacks.audit.sensitivity_search import (
    HASH_KEY,
    batched,
    by_database,
    exact_vectors,
    in_halves,
)
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.plan import Measurement
from confide.plans.pricing.individual import Norm, OwnLoss, WholeLoss, _has_own_norm, rate_of
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.rows.cells.identity import identity_key
from confide.rows.copies.copies import UseCopies
from confide.rows.engine import exact_vector
from confide.rows.engines.duckdb import open_engine
from confide.rows.prepared.build import Preparation
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.aggregates.shapes import parts
from confide.tables.source import Source, SourceKind
from seeded import SeededEntropy

QUICK, FULL = 150, 4_000
ADD_REMOVE = Adjacency.ADD_REMOVE
NORMS = {Norm.L1: lambda v: np.abs(v).sum(axis=1), Norm.L2_SQUARED: lambda v: (v * v).sum(axis=1)}


def asked(databases):
    """Every vector that is a sum of patients' own, over all databases at once, with its claim."""
    of = schema(databases=databases, entity=Entity.PATIENT, adjacency=ADD_REMOVE)
    found = {}
    for statistic in statistics_of_patients():
        for question in statistic.questions(of):
            whole = batched(question.aggregate, databases=databases)
            found.setdefault(whole, question.sensitivity)
    return of, found


def charge(aggregate, moved, norm, of):
    """A price of 1e-15 for each unit of the norm: the loss is the norm."""
    measurement = Measurement(
        statistic="s", name="q", aggregate=aggregate, sensitivity=moved,
        mechanism=DiscreteLaplace(scale=Fraction(1)), nano=1,
    )  # fmt: skip
    largest = {Norm.L1: moved.l1, Norm.L1_SQUARED: moved.l1**2, Norm.L2_SQUARED: moved.l2_squared}
    plan = type("Of", (), {"dataset": of})
    if not _has_own_norm(measurement, norm=norm, plan=plan) or largest[norm].bit_length() > 60:
        return None
    rate = rate_of(Fraction(1), largest=largest[norm], most=2**62)
    return OwnLoss(measurement=measurement, norm=norm, rate=rate)


def engine_of(frames, of):
    return open_engine(
        Source(kind=SourceKind.FRAMES), base=Path(), dataset=of, hash_key=HASH_KEY, frames=frames,
        threads=2,
    )  # fmt: skip


def identity(person):
    """The first 128 bits of RFC 2104's HMAC-SHA256, by the standard library."""
    digest = hmac.new(identity_key(HASH_KEY), str(person).encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:16], "big")


def numbers_of(engine, sums, people):
    """The number that a release gives each person id; -1 when they have no row in it."""
    known = {tuple(map(int, row)): at for at, row in enumerate(sums.identities())}
    assert engine.identity(str(people[-1])) == identity(people[-1])
    return np.array([known.get(identity(p), -1) for p in people])


def compare(engine, of, found, drawn, *, absent, present):
    targets = np.arange(drawn.databases) * (MOST_OTHERS + 1)
    aggregates = tuple(found)
    whole = tuple(part for each in aggregates for part in parts(each))
    with engine.person_sums(whole, dataset=of) as sums:
        numbers = numbers_of(engine, sums, targets)
        answers = iter(sums.sums(without=numbers[numbers >= 0]).reveal_to_gate())
        without = [exact_vector(each, answers, dataset=of) for each in aggregates]
        compared = 0
        for norm, size in NORMS.items():
            for place, aggregate in enumerate(aggregates):
                own = charge(aggregate, found[aggregate], norm, of)
                if own is None:
                    continue
                charges = [
                    own if at == place else WholeLoss(measurement=charge_of(each, found), femto=0)
                    for at, each in enumerate(aggregates)
                ]
                who, loss = sums.losses(charges)
                paid = np.zeros(len(sums.identities()) + 1, dtype=np.int64)
                paid[who] = loss
                moved = (present[place] - absent[place]).astype(object)
                assert paid[numbers].tolist() == size(moved).tolist(), (norm, aggregate)
                compared += 1
    for place, aggregate in enumerate(aggregates):
        got = by_database(in_halves(aggregate, without[place]), databases=drawn.databases)
        if isinstance(aggregate, KeyedAggregate):
            assert got == absent[place]
        else:
            assert np.array_equal(got, absent[place]), aggregate
    return compared


def charge_of(aggregate, found):
    return Measurement(
        statistic="s", name="q", aggregate=aggregate, sensitivity=found[aggregate],
        mechanism=DiscreteLaplace(scale=Fraction(1)), nano=1,
    )  # fmt: skip


def searched(databases, entropy, *, every=1):
    drawn = neighbours(databases, entity=Entity.PATIENT, entropy=entropy)
    of, found = asked(databases)
    found = dict(list(found.items())[::every])
    vectors = {}
    for name, frames in (("present", drawn.present), ("absent", drawn.absent)):
        exact = exact_vectors(frames, of, tuple(found))
        vectors[name] = [
            by_database(in_halves(each, vector), databases=databases)
            for each, vector in zip(found, exact, strict=True)
        ]
    return drawn, of, found, vectors


def test_everybody_pays_by_the_norm_of_what_the_sums_lose_without_them():
    drawn, of, found, vectors = searched(QUICK, SeededEntropy(5), every=6)
    with engine_of(drawn.present, of) as engine:
        assert compare(engine, of, found, drawn, **vectors) > 15


@pytest.mark.audit
def test_of_four_thousand_patients_each_pays_by_the_norm_of_what_the_sums_lose_without_them():
    drawn, of, found, vectors = searched(FULL, SeededEntropy(6))
    with engine_of(drawn.present, of) as engine:
        assert compare(engine, of, found, drawn, **vectors) > 100


def test_prepared_copies_charge_the_same_persons_the_same(tmp_path):
    drawn, of, found, vectors = searched(QUICK, SeededEntropy(7), every=16)
    for name, frame in drawn.present.items():
        pq.write_table(frame, tmp_path / name)
    source = Source(kind=SourceKind.PARQUET, path=".")
    folder = tmp_path / "copies"
    work = Preparation(
        source=source, base=tmp_path, dataset=of, hash_key=HASH_KEY, folder=folder, threads=2,
    )  # fmt: skip
    work.prepare()
    with open_engine(
        source, base=tmp_path, dataset=of, hash_key=HASH_KEY, copying=UseCopies(folder=folder)
    ) as engine:
        assert compare(engine, of, found, drawn, **vectors) > 5
