"""Black-box audit of whole releases: files of rows in, published noisy payload out.

The generated table holds many copies of one small database, told apart by two columns, and the
study asks for each copy's numbers; so one release through plan, ledger, engine, bounding, gate and
payload gives as many independent samples as there are copies.  A second release of a table in which
one patient of every copy is missing, or replaced, gives the neighbour's.  A patient is in one copy
only, so what the plan claims for the whole table is what it claims for a copy.

*Privacy:* the ledger lives in a temporary folder and knows made-up data only.

References:
    [DWWZK18] Ding, Wang, Wang, Zhang, Kifer. Detecting violations of differential privacy. CCS
        2018. https://doi.org/10.1145/3243734.3243818
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.attacks.audit.black_box import judged, with_presence
from confide.attacks.audit.generated_schema import base, database_axes, schema
from confide.attacks.audit.outcome import AuditCheck, Layer
from confide.attacks.audit.searched import worst_of
from confide.attacks.audit.sensitivity_search import HASH_KEY
from confide.budget.ledger import Caps, LedgerTerms
from confide.noise.entropy import Entropy
from confide.plans.contribution import Counted, PerPatient
from confide.plans.plan import Noisy, Plan, Statistic, Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.release.gate import Gate
from confide.release.noisy import NoisyAggregates, read_values
from confide.release.site.keys import read_signing_key
from confide.release.site.ledger_pin import make_keys
from confide.release.site.site_ledger import site_ledger
from confide.rows.engines.duckdb import open_engine
from confide.statistics import Histogram, KeySelection, Mean, Sum
from confide.statistics.audited import Worst
from confide.tables.schema import Dataset, Derived
from confide.tables.source import Source, SourceKind

OutputEvent: TypeAlias = tuple[int, float, str, str]
"""Person within the copy, change, code, note."""

EPSILON, DELTA = Fraction(1), Fraction(1, 10**4)
DIGITS = ("copy_high", "copy_low")
_NO_CAP = 10**8 * NANO


ReleaseOnce: TypeAlias = Callable[[Plan, Mapping[str, Any]], NoisyAggregates]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One study on its worst pair of databases.

    Attributes:
        name: What is released.
        statistic: Over the events table, by :data:`DIGITS` and more.
        measure: How losses are accounted.
        adjacency: How the two databases differ.
        first: Events of the larger one.
        second: Events of its neighbour.
        exact: The two exact vectors of one copy; needed for a Gaussian claim.
    """

    name: str
    statistic: Statistic
    measure: Measure
    adjacency: Adjacency
    first: tuple[OutputEvent, ...]
    second: tuple[OutputEvent, ...]
    exact: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


def audit_trial(
    trial: Trial, *, copies: int, entropy: Entropy, release: ReleaseOnce | None = None
) -> AuditCheck:
    """Return whether the claim of a whole release survives.

    Args:
        trial: What is released.
        copies: Number of samples from each database.
        entropy: Of the noise.
        release: How a plan is released; through a gate, ledger and engine of its own when None.
    """
    dataset = _dataset(trial, copies=copies)
    keyed = worst_of(trial.statistic) is Worst.KEYS
    plan = make_plan(
        [Ask(statistic=trial.statistic, delta=DELTA if keyed else None)],
        study=Study(id="audit"),
        dataset=dataset,
        nano=int(EPSILON * NANO) // (2 if trial.measure is Measure.ZCDP else 1),
    )
    notes = sorted({note for *_, note in (*trial.first, *trial.second)})
    with tempfile.TemporaryDirectory() as folder:
        through = release or _gate(Path(folder), dataset=dataset, entropy=entropy)
        first, second = (
            _features(through(plan, _frames(events, copies=copies)), notes=notes, copies=copies)
            for events in (trial.first, trial.second)
        )
    bounds = judged(first, second, claim=_claim(plan), exact=trial.exact)
    return AuditCheck(
        name=trial.name,
        layer=Layer.LOWER_BOUND,
        passed=all(bound.value <= claimed for _, bound, claimed in bounds),
        measured="; ".join(f"{letter} ≥ {bound.value:.4g}" for letter, bound, _ in bounds),
        claimed="; ".join(f"{letter} = {claimed:.4g}" for letter, _, claimed in bounds),
    )


def _claim(plan: Plan) -> PrivacyLoss:
    """Return the plan's loss; a δ that comes with pure noise goes with its ε."""
    loss = plan.loss
    if isinstance(loss, PureDP | ApproxDP) or not loss.delta:
        return loss
    raise AssertionError  # no trial selects keys under zCDP


def _gate(folder: Path, *, dataset: Dataset, entropy: Entropy) -> ReleaseOnce:
    through = passing_the_gate(folder, dataset=dataset, entropy=entropy)

    def release(plan: Plan, frames: Mapping[str, Any]) -> NoisyAggregates:
        return NoisyAggregates(plan=plan, values=tuple(through(plan, frames)))

    return release


def passing_the_gate(
    folder: Path, *, dataset: Dataset, entropy: Entropy
) -> Callable[[Plan, Mapping[str, Any]], Sequence[Noisy]]:
    """Return the real way: a ledger in ``folder``, and a gate for each table of rows.

    What it returns are the noisy numbers, read from the payload that was published.
    """
    make_keys(folder)
    ledger = site_ledger(folder, signer=read_signing_key(folder))
    ledger.register(
        LedgerTerms(
            lineage=dataset.lineage,
            unit=dataset.unit.entity,
            adjacency=dataset.adjacency,
            measure=dataset.measure,
            caps=Caps(lifetime=_NO_CAP, delta_lifetime_atto=10**18),
        )
    )

    def release(plan: Plan, frames: Mapping[str, Any]) -> Sequence[Noisy]:
        with open_engine(
            Source(kind=SourceKind.FRAMES),
            base=folder,
            dataset=dataset,
            hash_key=HASH_KEY,
            frames=frames,
        ) as engine:
            gate = Gate(
                ledger=ledger,
                engine=engine,
                entropy=entropy,
                report_incident=lambda *_: None,
                require_consent=lambda: None,
                rehearse=lambda _: None,  # many databases in one, of which no report is made
            )
            key = f"{len(ledger.entries(dataset.lineage))}"
            stored = gate.release(plan, analyst="audit", request_key=key)
        return read_values(stored.payload)

    return release


def _dataset(trial: Trial, *, copies: int) -> Dataset:
    dataset = schema(databases=copies, entity=Entity.PATIENT, adjacency=trial.adjacency)
    high, low = database_axes("events", databases=copies)
    digits = (Derived(name=DIGITS[0], of=high), Derived(name=DIGITS[1], of=low))
    return replace(
        dataset,
        measure=trial.measure,
        delta=DELTA,
        selection_delta=DELTA if trial.measure is Measure.PURE else Fraction(0),
        population=100,
        derived=(*dataset.derived, *digits),
    )


def _frames(events: Sequence[OutputEvent], *, copies: int) -> dict[str, Any]:
    import pyarrow as pa

    copy = np.arange(copies)
    high, low = np.divmod(copy, base(copies))
    parts = []
    for person, change, code, note in events:
        columns = {
            "db_high": pa.array(high),
            "db_low": pa.array(low),
            "pid": pa.array(copy * 1000 + person),
            "change": pa.array(np.full(copies, change)),
            "code": pa.array([code] * copies),
            "note": pa.array([f"{i}/{note}" for i in range(copies)]),
            "day": pa.nulls(copies, pa.date32()),
        }
        for name in ("amount", "big", "whole"):
            columns[name] = pa.nulls(copies, pa.float64())
        parts.append(pa.table(columns))
    return {"events": pa.concat_tables(parts)}


def _features(noisy: NoisyAggregates, *, notes: Sequence[str], copies: int) -> NDArray[np.float64]:
    """Return shape (copies, features): all that is published about each copy."""
    columns = []
    for value in noisy.values:
        if isinstance(value, tuple):
            numbers = np.array(value, dtype=np.float64)
            columns.append(numbers.reshape(base(copies) ** 2, -1)[:copies])
        else:
            columns.append(_keyed(value, notes=notes, copies=copies))
    return np.hstack(columns)


def _keyed(value: Mapping[str, int], *, notes: Sequence[str], copies: int) -> NDArray[np.float64]:
    table = np.zeros((copies, len(notes)))
    for key, count in value.items():
        copy, _, note = key.partition("/")
        table[int(copy), notes.index(note)] = count
    return with_presence(table)


def trials() -> tuple[Trial, ...]:
    """Return one study of each kind of noise and accounting."""
    others: tuple[OutputEvent, ...] = (
        (1, 3.0, "A", "flu"),
        (2, -4.0, "B", "flu"),
        (3, 0.0, "C", "gout"),
    )
    up: tuple[OutputEvent, ...] = ((0, 1e9, "A", "rare"), (0, float("inf"), "A", "rare"))
    down: tuple[OutputEvent, ...] = ((0, -1e9, "D", "odd"), (0, -1e9, "D", "odd"))
    one, two = PerPatient(cells=1), PerPatient(rows=2)
    return (
        Trial(
            name="histogram of a replaced patient",
            statistic=Histogram(id="h", table="events", by=(*DIGITS, "code"), per_patient=one),
            measure=Measure.PURE,
            adjacency=Adjacency.SUBSTITUTE,
            first=others + up,
            second=others + down,
        ),
        Trial(
            name="rows of an added patient",
            statistic=Histogram(
                id="r", table="events", by=DIGITS, counted=Counted.EVENTS, per_patient=two
            ),
            measure=Measure.PURE,
            adjacency=Adjacency.ADD_REMOVE,
            first=others + up + up,
            second=others,
        ),
        Trial(
            name="mean, sum and count together",
            statistic=Mean(id="m", table="events", column="change", by=DIGITS, per_patient=two),
            measure=Measure.PURE,
            adjacency=Adjacency.ADD_REMOVE,
            first=others + up,
            second=others,
        ),
        Trial(
            name="sum with Gaussian noise",
            statistic=Sum(id="s", table="events", column="change", by=DIGITS, per_patient=two),
            measure=Measure.ZCDP,
            adjacency=Adjacency.ADD_REMOVE,
            first=others + up,
            second=others,
            exact=((590,), (-10,)),
        ),
        Trial(
            name="keys that exist only in the data",
            statistic=KeySelection(id="k", table="events", key="note", per_patient=one),
            measure=Measure.PURE,
            adjacency=Adjacency.ADD_REMOVE,
            first=others + up,
            second=others,
        ),
    )
