"""Made-up hospitals that train one module together, each a thread with rows and a ledger of its own."""

import threading
from pathlib import Path

import numpy as np

from confide.learning import DPModuleClassifier, ModuleOverSites
from confide.service.federation.enrol import found


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


class ModuleSites:
    """A federation in a folder; ``hub`` coordinates, sites are called site-0, site-1, ..."""

    def __init__(self, root, *, counts, module=linear, drops=0, per_person=1, **given):
        self.root, self.module, self.given = Path(root), module(), given
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
            federation=self.file,
            folder=self.shared,
            seconds=seconds,
            pause=0.01,
        )

    def digest(self):
        return self.member("hub").plan().digest

    def fit(self, name, *, approve=None, again=False, rows=None, seconds=60, **given):
        X, y, ids = self.rows[self.names.index(name)] if rows is None else rows
        member = self.member(name, seconds=seconds, **given)
        return member.fit(X, y, patients=ids, approve=approve or self.digest(), again=again)

    def together(self, *, seconds=60, **parts):
        """Run all at once; return by name what each returned, or the failure it ended with."""
        ended = {}
        work = {name: lambda name=name: self.fit(name, seconds=seconds) for name in self.names}
        work["hub"] = lambda: self.member("hub", seconds=seconds).coordinate()
        work |= {name.replace("_", "-"): part for name, part in parts.items()}

        def end(name, part):
            try:
                ended[name] = part()
            except Exception as failure:  # noqa: BLE001 - handed to the test
                ended[name] = failure

        threads = [threading.Thread(target=end, args=each) for each in work.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
        assert not any(thread.is_alive() for thread in threads), "somebody waits for ever"
        return ended

    def entries(self, name):
        """State and charge in nano of each request in a member's ledger."""
        model = self.classifier(name)
        with model._open(model._declared(np.zeros((0, 3))), frames={}) as ws:
            return [(e.state.value, e.amount.nano) for e in ws.ledger.entries("patients")]


def auc(model, seed=99):
    X, y, _ = patients_of(seed, count=4000)
    order = model.predict_proba(X)[:, 1].argsort().argsort() + 1
    ill = y == 1
    return (order[ill].sum() - ill.sum() * (ill.sum() + 1) / 2) / (ill.sum() * (~ill).sum())
