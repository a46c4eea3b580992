"""L5: whole sessions under a policy that leaves patients out: what an analyst can see."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from confide.attacks.audit.black_box import judged
from confide.attacks.audit.end_to_end import DIGITS, Trial, _dataset, _features, _frames
from confide.attacks.audit.sensitivity_search import HASH_KEY
from confide.budget.ledger import Caps, LedgerTerms
from confide.budget.per_patient.caps import patient_caps
from confide.budget.per_patient.store import PatientStore
from confide.budget.policy.policy import Enforce, Policy
from confide.errors import ConfideError
from confide.plans.contribution import Counted, PerPatient
from confide.plans.events import recompute
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.loss import PureDP
from confide.privacy.measure import Measure
from confide.release import patients as release_patients
from confide.release.gate import Gate
from confide.release.noisy import read_payload
from confide.rows.engines.duckdb import open_engine
from confide.statistics import Histogram, KeySelection
from confide.tables.source import Source, SourceKind
from ledger_policies import cap
from ledgers import open_ledger
from seeded import SeededEntropy

OTHERS = ((1, 3.0, "A", "flu"), (2, -4.0, "B", "flu"), (3, 0.0, "C", "gout"))
TARGET = ((0, 1.0, "A", "rare"), (0, 2.0, "B", "odd"))
ROWS = Histogram(
    id="rows", table="events", by=DIGITS, counted=Counted.EVENTS, per_patient=PerPatient(rows=2)
)
KEYS = KeySelection(id="keys", table="events", key="note", per_patient=PerPatient(cells=1))


class World:
    """A site whose policy leaves patients out at ε = 1, with many copies of one small database."""

    def __init__(self, folder, *, copies, seed):
        trial = Trial(
            name="w", statistic=ROWS, measure=Measure.PURE, adjacency=Adjacency.ADD_REMOVE,
            first=(), second=(),
        )  # fmt: skip
        of = _dataset(trial, copies=copies)
        policy = Policy(
            id="p", version=1, effective="2020-01-01", unit=of.unit.entity, adjacency=of.adjacency,
            measure=of.measure, selection_delta=of.selection_delta,
            caps=(
                cap("mine", "patient", "lifetime", "1", enforce=Enforce.DROP),
                cap("all", "dataset", "lifetime", "100"),
            ),
        )  # fmt: skip
        self.of = replace(of, patients=patient_caps(policy))
        self.copies, self.seed = copies, seed
        folder.mkdir(mode=0o700)
        self.ledger = open_ledger(folder, recompute=recompute)
        terms = LedgerTerms(
            lineage=of.lineage, unit=of.unit.entity, adjacency=of.adjacency, measure=of.measure,
            caps=Caps(lifetime=NANO),
        )  # fmt: skip
        self.ledger.register(terms)
        self.ledger.desk.follow(of.lineage, policy=policy)
        self.store = PatientStore(folder / "patients", lineage=of.lineage, hash_key=HASH_KEY)
        self.seen = []

    def ask(self, statistic, events, *, epsilon, delta=None, breaks=False):
        """Release one statistic of one version of the rows; remember everything that is seen."""
        number = len(self.seen)
        plan = make_plan(
            [Ask(statistic=statistic, delta=delta)], study=Study(id=f"s{number}"), dataset=self.of,
            nano=int(Fraction(epsilon) * NANO),
        )  # fmt: skip
        stages, incidents = [], []
        with open_engine(
            Source(kind=SourceKind.FRAMES),
            base=Path(),
            dataset=self.of,
            hash_key=HASH_KEY,
            frames=_frames(events, copies=self.copies),
        ) as engine:
            if breaks:
                engine._session.lend = None  # after reading began, whatever the rows say
            gate = Gate(
                ledger=self.ledger, engine=engine, entropy=SeededEntropy(1000 * self.seed + number),
                report_incident=lambda _, failure: incidents.append(repr(failure)),
                require_consent=lambda: None, rehearse=lambda _: None, patients=self.store,
            )  # fmt: skip
            try:
                stored = gate.release(
                    plan, analyst="a", request_key=f"r{number}", progress=stages.append
                )
                answer = stored.payload
            except ConfideError as refused:
                answer = str(refused)
        self.seen.append((stages, incidents, answer))
        return answer

    def everything(self):
        """All that an analyst sees, and the ledger as anybody reads it but for keyed hashes."""
        rows = [
            {
                k: v
                for k, v in event.fields().items()
                if k not in ("at", "ledger", "members", "owner")
            }
            for event in self.ledger.chain().events
        ]
        return self.seen, json.dumps(rows, sort_keys=True)

    def close(self):
        self.store.close()
        self.ledger.close()


def session(folder, *, copies, seed, later):
    """Spend all of a patient's budget in every copy, then go on with other rows of theirs."""
    world = World(folder, copies=copies, seed=seed)
    world.ask(ROWS, OTHERS + TARGET, epsilon="1")
    world.ask(ROWS, OTHERS + later, epsilon="1/5")
    world.ask(KEYS, OTHERS + later, epsilon="3/20", delta=Fraction(1, 10**5))
    world.ask(ROWS, OTHERS + later, epsilon="1/10", breaks=True)
    world.ask(ROWS, OTHERS + later, epsilon="1/10")
    world.ask(KEYS, OTHERS + later, epsilon="9/10", delta=Fraction(1, 10**5))
    seen = world.everything()
    world.close()
    return seen


LATER = {
    "absent": (),
    "one other row": ((0, 30.0, "D", "other"),),
    "many rows": tuple((0, -30.0, "C", "gout") for _ in range(8)),
}


def check_sessions(folder, *, copies, seeds, others=tuple(LATER)):
    for seed in range(seeds):
        present = session(folder / f"{seed}", copies=copies, seed=seed, later=TARGET)
        for name, later in ((name, LATER[name]) for name in others):
            other = session(folder / f"{seed} {name}", copies=copies, seed=seed, later=later)
            assert other == present, name
        stages = [stages for stages, *_ in present[0]]
        assert stages[0] == ["check", "charge", "read", "noise", "commit", "publish"]
        assert stages[3] == ["check", "charge", "read"]
        assert "0.85 left" in present[0][5][2], "what everybody paid is public: so is that refusal"


def test_an_exhausted_patient_changes_nothing_that_can_be_seen(tmp_path):
    check_sessions(tmp_path, copies=9, seeds=1, others=("absent",))


@pytest.mark.audit
def test_in_two_thousand_sessions_an_exhausted_patient_changes_nothing_that_can_be_seen(tmp_path):
    check_sessions(tmp_path, copies=500, seeds=4)


def transcript(folder, *, copies, events, seed, releases=4):
    world = World(folder, copies=copies, seed=seed)
    columns = []
    for _ in range(releases):
        noisy = read_payload(world.ask(ROWS, events, epsilon="1"))
        columns.append(_features(noisy, notes=(), copies=copies))
    world.close()
    return np.hstack(columns)


def bound_of(folder, *, copies):
    """The lower bound on what four releases at ε = 1 each lose about one patient."""
    first = transcript(folder / "1", copies=copies, events=OTHERS + TARGET, seed=1)
    second = transcript(folder / "2", copies=copies, events=OTHERS, seed=2)
    ((_, bound, claimed),) = judged(
        first, second, claim=PureDP(epsilon=Fraction(1)), exact=((), ())
    )
    return bound.value, claimed


def test_four_releases_lose_no_more_than_the_cap_about_a_patient(tmp_path):
    bound, claimed = bound_of(tmp_path, copies=2_500)
    assert bound <= claimed == 1


@pytest.mark.mutant
def test_without_leaving_out_four_releases_lose_more_than_the_cap(tmp_path, monkeypatch):
    def nobody(self, *args, **more):
        charged = charge(self, *args, **more)
        return replace(charged, left_out=charged.left_out[:0])

    charge = release_patients.PatientStore.charge
    monkeypatch.setattr(release_patients.PatientStore, "charge", nobody)
    bound, claimed = bound_of(tmp_path, copies=2_500)
    assert bound > claimed
