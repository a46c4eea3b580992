"""Made-up hospitals that train one module together, each a thread with rows and a ledger of its own."""

from pathlib import Path

import numpy as np

from confide.jobs.learning.dp_sgd import REACH
from confide.learning import DPModuleClassifier, ModuleOverSites
from confide.learning.in_memory import OUTCOME, ROWS, column_of, frame_of
from confide.service.federation.enrol import found
from federated_sites import at_once


def patients_of(site, *, count, rows=1, first=0):
    """Two numbers and a category; the outcome follows the first number and the category."""
    rng = np.random.default_rng(site + 10)
    age, sex = rng.uniform(0, 100, count), rng.integers(0, 2, count)
    ill = rng.random(count) < 1 / (1 + np.exp(-(age - 50) / 12 - 2 * sex + 1))
    table = np.column_stack([age, rng.normal(0, 1, count), sex])
    ids = np.array([f"s{site}-{first + i}" for i in range(count)])
    return tuple(np.repeat(each, rows, axis=0) for each in (table, ill.astype(int), ids))


def linear():
    import torch

    torch.manual_seed(1)
    return torch.nn.Linear(3, 1)


def hidden():
    import torch

    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))


class ModuleSites:
    """A federation in a folder; ``hub`` coordinates, sites are called site-0, site-1, ..."""

    def __init__(
        self, root, *, counts, module=linear, drops=0, per_person=1, by_site=None, **given
    ):
        self.root, self.module, self.given = Path(root), module(), given
        self.by_site = {"unit": "site"} | by_site if by_site is not None else {}
        self.names = [f"site-{i}" for i in range(len(counts))]
        self.rows = [patients_of(i, count=count) for i, count in enumerate(counts)]
        self.patients = sum(counts)
        self.file, self.shared = self.root / "federation.yaml", self.root / "shared"
        self.shared.mkdir(parents=True)
        members = {name: self.member(name).enrol(name) for name in ("hub", *self.names)}
        found(
            self.file,
            coordinator=members["hub"],
            sites=[members[name] for name in self.names],
            drops=drops,
            sites_per_person=per_person,
        )

    def classifier(self, name, **given):
        usual = {
            "module": self.module,
            "patients": self.patients,
            "bounds": {"x0": (0, 100), "x1": (-4, 4)},
            "categories": {"x2": [0, 1]},
            "epochs": 4,
            "epsilon": "3",
            "learning_rate": "0.3",
            "measure": "zcdp",
            "lifetime": "9",
            "workspace": self.root / name,
        }
        return DPModuleClassifier(**usual | self.given | given)

    def member(self, name, *, seconds=60, **given):
        return ModuleOverSites(
            self.classifier(name, **given),
            **self.by_site,
            federation=self.file,
            folder=self.shared,
            seconds=seconds,
            pause=0.01,
        )

    def digest(self):
        return self.member("hub").plan().digest

    def fit(self, name, *, approve=None, again=False, rows=None, seconds=60, **given):
        table, y, ids = self.rows[self.names.index(name)] if rows is None else rows
        member = self.member(name, seconds=seconds, **given)
        return member.fit(table, y, patients=ids, approve=approve or self.digest(), again=again)

    def together(self, *, seconds=60, **parts):
        """Run all at once; return by name what each returned, or the failure it ended with."""
        work = {name: lambda name=name: self.fit(name, seconds=seconds) for name in self.names}
        work["hub"] = lambda: self.member("hub", seconds=seconds).coordinate()
        return at_once(work | {name.replace("_", "-"): part for name, part in parts.items()})

    def entries(self, name):
        """State and charge in nano of each request in a member's ledger."""
        model = self.classifier(name)
        with model._open(model._declared(np.zeros((0, 3))), frames={}) as ws:
            return [(e.state.value, e.amount.nano) for e in ws.ledger.entries("patients")]


def auc(model, seed=99):
    table, y, _ = patients_of(seed, count=4000)
    order = model.predict_proba(table)[:, 1].argsort().argsort() + 1
    ill = y == 1
    return (order[ill].sum() - ill.sum() * (ill.sum() + 1) / 2) / (ill.sum() * (~ill).sum())


class Overheard:
    """A sum of one site, which answers as it likes: what a lying coordinator and others may say."""

    def __init__(self, answers=None):
        self.numbers, self._answers = [], answers

    def add(self, numbers):
        self.numbers.append(numbers)
        return numbers if self._answers is None else self._answers[len(self.numbers) - 1]


def without_noise(patch):
    """Let sites add no noise: what they send is exact."""
    from confide.jobs.federated.training import rounds

    patch.setattr(rounds, "with_part", lambda total, **_: total)


def overheard(member, rows, *, answers=None, entropy=None, progress=lambda _: None):
    """What a site of these rows sends in each step, whatever it is told; shape (steps, size)."""
    from confide.noise.entropy import SystemEntropy

    table, y, ids = rows
    model = member.classifier
    features = model._declared(table)
    frame = frame_of(table, {OUTCOME: column_of(y)}, ids, features=features)
    among = Overheard(answers)
    with model._open(features, frames={ROWS: frame}) as ws:
        made = member._planned(ws, features)[1]
        read = ws.site.engine().records(made.plan.reads, dataset=made.plan.dataset)
        files = made.rounds.run(
            read, among=among, entropy=entropy or SystemEntropy(), progress=progress
        )
    return np.array(among.numbers), files


def charged(member):
    """ρ of a plan, and what its steps lose as m honest parts of noise hide k patients' worth."""
    from fractions import Fraction

    features = member._declared(None)
    with member._open(features) as ws:
        made = member._planned(ws, features)[1]
    spec, held = made.spec, made.spec.federation.tolerance
    honest = held.sites - held.drops - held.colluders
    k = spec.federation.sites_per_person
    each = Fraction((k * REACH) ** 2) / (2 * honest * spec.shared.part.sigma_squared_each)
    return Fraction(made.plan.nano, 10**9), spec.training.steps * each


def check_that_a_patient_moves_no_step_by_more_than_the_clip(sites):
    """Whatever the coordinator tells, steep weights too, with a tiny clip and several rows."""
    rng, furthest = np.random.default_rng(7), 0.0
    for clip in ("0.01", "4"):
        member = sites.member("site-0", clip=clip, rows_per_patient=3)
        told = [tuple(rng.integers(-(10**13), 10**13, 26).tolist()) for _ in range(4)]
        rows = patients_of(5, count=12, rows=3)
        whole = overheard(member, rows, answers=told)[0]
        for out in ("s5-0", "s5-7"):
            kept = rows[2] != out
            less = overheard(member, tuple(part[kept] for part in rows), answers=told)[0]
            norms = np.sqrt(((whole - less).astype(float) ** 2).sum(axis=1))
            assert norms.max() <= REACH
            furthest = max(furthest, norms.max())
    assert furthest > 0.99 * REACH  # the bound is met


def check_that_every_step_is_noised(sites):
    """A site without patients sends its parts of the noise alone."""
    member = sites.member("site-0")
    rows = tuple(part[:0] for part in sites.rows[0])
    told = [(0,) * 26] * 4
    sent = np.array(
        [overheard(member, rows, answers=told)[0] for _ in range(4)], dtype=float
    )  # 104 numbers a step
    features = member._declared(None)
    with member._open(features) as ws:
        sigma = member._planned(ws, features)[1].spec.shared.part.sigma_squared_each
    ratio = (sent**2).mean(axis=(0, 2)) / float(sigma)
    assert (np.abs(ratio - 1) < 6 * np.sqrt(2 / 104)).all(), ratio
