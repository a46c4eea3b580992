"""Plans that were edited, and requests that were sent twice: the gate refuses before it charges."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from confide.attacks.audit.generate import neighbours
from confide.attacks.audit.generated_schema import schema
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.ledger import Caps, LedgerTerms
from confide.budget.stores.sqlite_store import SQLiteStore
from confide.errors import ContractError
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import SystemEntropy
from confide.plans.contribution import Counted, PerPatient
from confide.plans.cuts.layout import layout
from confide.plans.events import recompute
from confide.plans.mechanisms import additive
from confide.plans.plan import Plan, Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import ATTO, NANO
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.release.gate import Gate
from confide.release.site.keys import read_signing_key
from confide.release.site.ledger_pin import make_keys
from confide.report.rehearsal import rehearse
from confide.rows.engines.duckdb import open_engine
from confide.statistics import Count, Histogram, KeySelection, Quantiles, Variance, read_plan
from confide.tables.aggregates.refined import GridCounts
from confide.tables.bound_contributions import CellBound
from confide.tables.source import Source, SourceKind
from seeded import SeededEntropy

pytestmark = pytest.mark.mutant

OF = replace(
    schema(databases=1, entity=Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE),
    measure=Measure.PURE,
    selection_delta=Fraction(1, 10**6),
)


@pytest.fixture
def gate(tmp_path):
    make_keys(tmp_path)
    ledger = ChainedLedger(
        SQLiteStore(tmp_path / "ledger.sqlite"),
        anchor=tmp_path / "anchor.jsonl",
        signer=read_signing_key(tmp_path),
        recompute=recompute,
    )
    ledger.register(
        LedgerTerms(
            lineage=OF.lineage,
            unit=OF.unit.entity,
            adjacency=OF.adjacency,
            measure=OF.measure,
            caps=Caps(lifetime=100 * NANO, delta_lifetime_atto=ATTO),
        )
    )
    frames = neighbours(1, entity=Entity.PATIENT, entropy=SeededEntropy(1)).present
    with open_engine(
        Source(kind=SourceKind.FRAMES), base=Path(), dataset=OF, hash_key=b"k" * 16, frames=frames
    ) as engine:
        yield Gate(
            ledger=ledger,
            engine=engine,
            entropy=SystemEntropy(),
            report_incident=lambda *_: None,
            require_consent=lambda: None,
            rehearse=rehearse,
        )
    ledger.close()


def plan_for(statistic) -> Plan:
    return make_plan([Ask(statistic=statistic)], study=Study(id="s"), dataset=OF, nano=NANO)


ROWS = plan_for(
    Count(id="rows", table="events", counted=Counted.EVENTS, per_patient=PerPatient(rows=8))
)
KEYS = plan_for(KeySelection(id="k", table="events", key="note", per_patient=PerPatient(cells=3)))


def edited(plan: Plan, **changes) -> Plan:
    """Return the plan with its one measurement changed, read back from JSON as a file would be."""
    changed = replace(plan, measurements=(replace(plan.measurements[0], **changes),))
    return read_plan(json.loads(json.dumps(changed.to_json())))


def refused(gate: Gate, plan: Plan) -> bool:
    with pytest.raises(ContractError):
        gate.release(plan, analyst="a", request_key="r")
    return not gate.ledger.entries(OF.lineage)


def test_the_unedited_plans_are_released(gate) -> None:
    for number, plan in enumerate((ROWS, KEYS)):
        again = read_plan(json.loads(json.dumps(plan.to_json())))
        assert gate.release(again, analyst="a", request_key=str(number)).payload


def test_a_plan_that_understates_a_sensitivity_is_refused(gate) -> None:
    """Eight rows a patient, noise for one: the ledger's own check sees only what is stated."""
    stated = replace(ROWS.measurements[0].sensitivity, l1=1, l2_squared=1, linf=1)
    noise = DiscreteLaplace(scale=Fraction(1))
    assert refused(gate, edited(ROWS, sensitivity=stated, mechanism=noise))


def test_a_plan_with_another_bound_than_its_statistic_is_refused(gate) -> None:
    aggregate = replace(ROWS.measurements[0].aggregate, bounds=CellBound(max_cells=1))
    assert refused(gate, edited(ROWS, aggregate=aggregate))


def test_a_plan_that_charges_less_than_its_noise_loses_is_refused(gate) -> None:
    assert refused(gate, edited(ROWS, nano=NANO // 2))
    assert refused(gate, edited(ROWS, nano=-NANO))


def test_negative_charges_do_not_pay_for_others(gate) -> None:
    two = make_plan(
        [Ask(statistic=replace(ROWS.statistics[0], id=i)) for i in ("a", "b")],
        study=Study(id="s"),
        dataset=OF,
        nano=NANO,
    )
    first, second = two.measurements
    sly = replace(two, measurements=(replace(first, nano=2 * NANO), replace(second, nano=-NANO)))
    assert refused(gate, sly)


def test_a_key_selection_for_fewer_keys_than_are_kept_is_refused(gate) -> None:
    """ε would be right, as it follows from the stated L1, but δ three times what is charged."""
    rule = KEYS.measurements[0].mechanism
    fewer = replace(rule, keys_per_person=1, epsilon=rule.epsilon / 3)
    assert refused(gate, edited(KEYS, mechanism=fewer))
    assert refused(gate, edited(KEYS, mechanism=replace(rule, adjacency=Adjacency.SUBSTITUTE)))


def test_a_plan_for_other_public_facts_than_the_engine_s_is_refused(gate) -> None:
    assert refused(gate, replace(ROWS, dataset=replace(OF, population_at_most=7)))


def test_another_plan_under_the_same_request_key_is_charged_by_itself(gate) -> None:
    first = gate.release(ROWS, analyst="a", request_key="same")
    assert gate.release(ROWS, analyst="a", request_key="same").payload == first.payload
    assert gate.release(KEYS, analyst="a", request_key="same").payload != first.payload
    charged = {entry.number: entry.amount.nano for entry in gate.ledger.entries(OF.lineage)}
    assert sum(charged.values()) == ROWS.amount.nano + KEYS.amount.nano


def test_plans_with_integers_beyond_those_of_json_can_be_written_and_read() -> None:
    plan = plan_for(
        Variance(id="v", table="events", column="change", per_patient=PerPatient(rows=1000))
    )
    assert plan.measurements[0].sensitivity.l2_squared > 2**53
    again = read_plan(json.loads(json.dumps(plan.to_json())))
    assert again == plan
    assert again.digest() == plan.digest()


@pytest.mark.parametrize("bytes_of", [b"a\xff\xfeb", b"\xc3", b"\xed\xa0\x80"])
def test_bytes_that_are_no_text_do_not_decide_whether_a_release_fails(bytes_of: bytes) -> None:
    """One such cell would otherwise be one patient's power to make every release fail."""
    frames = dict(neighbours(1, entity=Entity.PATIENT, entropy=SeededEntropy(1)).present)
    events = frames["events"]
    cells = pa.array([bytes_of] * len(events), type=pa.binary())
    broken = pa.Array.from_buffers(pa.string(), len(events), cells.buffers())
    for name in ("code", "note"):
        frames["events"] = frames["events"].set_column(
            events.schema.get_field_index(name), name, broken
        )
    histogram = Histogram(id="h", table="events", by=("code",), per_patient=PerPatient(cells=2))
    aggregates = tuple(
        measurement.aggregate
        for plan in (plan_for(histogram), KEYS)
        for measurement in plan.measurements
    )
    with open_engine(
        Source(kind=SourceKind.FRAMES), base=Path(), dataset=OF, hash_key=b"k" * 16, frames=frames
    ) as engine:
        assert len(engine.aggregate(aggregates, dataset=OF).reveal_to_gate()) == 2


TWICE = plan_for(
    Quantiles(
        id="q",
        table="events",
        column="change",
        expect=Fraction(1000),
        per_patient=PerPatient(rows=2),
    )
)


def spreads(gate: Gate) -> list[float]:
    """Return the spread of each of the two answers over that of the noise, where nobody is."""
    (asked,) = TWICE.measurements
    aggregate, noise = asked.aggregate, additive(asked.mechanism)
    groups = aggregate.groups(OF)
    nobody = GridCounts([0] * groups * (aggregate.fine + 1), groups=groups)
    drawn = np.array([gate._in_rounds(asked, nobody, plan=TWICE) for _ in range(200)])
    split = groups * layout(aggregate, noise).first
    assert 0 < split < drawn.shape[1]
    return [float(each.std()) / noise.standard_deviation() for each in np.hsplit(drawn, [split])]


def test_a_second_answer_with_less_noise_than_was_paid_for_is_caught(gate, monkeypatch) -> None:
    assert all(0.9 < spread < 1.1 for spread in spreads(gate))
    randomize, answers = DiscreteLaplace.randomize, itertools.count()

    def every_other(noise, exact, *, entropy):
        return exact if next(answers) % 2 else randomize(noise, exact, entropy=entropy)

    monkeypatch.setattr(DiscreteLaplace, "randomize", every_other)
    assert not all(0.9 < spread < 1.1 for spread in spreads(gate))


@pytest.mark.parametrize("weights", [(1, 2), (2, 3), (3, 1)])
def test_rounds_that_weigh_rows_otherwise_than_their_statistic_are_refused(gate, weights) -> None:
    aggregate = replace(TWICE.measurements[0].aggregate, weights=weights)
    assert refused(gate, edited(TWICE, aggregate=aggregate))
