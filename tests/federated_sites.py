"""Three or more made-up hospitals that run studies over sites, each with its own folder and ledger.

Sites are threads of the test's process, unless a test makes processes of them.
"""

import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

from confide.files.federation.federation import read_federation
from confide.release.gate import asked_of
from confide.rows.engine import exact_vector
from confide.service.federation.enrol import enrol, found
from confide.service.federation.run import run_over_sites
from confide.service.federation.serve import Meeting, own_plan, serve_site
from confide.service.opening import open_site, open_study

DATASET = """\
dataset: {id: stays, lineage: stays, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {release: {epsilon: 3}, calendar-year: {epsilon: 8}, lifetime: {epsilon: 20}}
tables:
  patients:
    from: patients.csv
    rows-per-patient: 1
    columns:
      sex: {categories: [female, male]}
      age: {kind: number, lower: 0, upper: 100, unit: a}
      days: {kind: number, lower: 0, upper: 400, unit: d}
      status: {categories: [dead, alive]}
  visits:
    from: visits.csv
    columns:
      ward: {categories: [north, south]}
      cost: {kind: number, lower: 0, upper: 500}
      day: {kind: date, lower: 2026-01-01, upper: 2026-06-30}
"""

PURE = DATASET.replace("{measure: zcdp, delta: 1e-6}", "{measure: pure}")
"""The same, of ledgers that count in ε."""

EVERYTHING = """\
study: {id: over-sites, title: Over sites, purpose: test}
spend: {at-most: {epsilon: 2}}
statistics:
  - {id: dead, kind: count, table: patients, where: {status: [dead]}}
  - {id: by-sex, kind: histogram, table: patients, by: [sex, status]}
  - {id: age, kind: mean, table: patients, column: age, by: [sex]}
  - {id: mortality, kind: proportion, table: patients, of: {status: [dead]}, by: [sex]}
  - {id: curve, kind: survival, table: patients, time: days, status: status, censored: alive,
     until: 360, bins: 6, by: [sex]}
  - {id: costs, kind: series, table: visits, column: cost, over: day, every: month,
     per-patient: {cells: 3, rows: 1}}
  - {id: table-1, kind: table-1, table: patients, by: [sex],
     variables: [{column: age, show: [mean-sd]}, status]}
"""

COUNT = """\
study: {id: dead, title: Deaths, purpose: test}
statistics:
  - {id: dead, kind: count, table: patients, where: {status: [dead]}, error: {within: 20}}
"""


def patients_of(site, *, count):
    """Rows of a site's patients and visits; no two sites have one patient."""
    patients, visits = [], []
    for i in range(count):
        status = "dead" if (i + site) % 3 == 0 else "alive"
        sex = ("female", "male")[(i * 7 + site) % 2]
        patients.append(f"s{site}-{i},{sex},{(i * 13 + site) % 101},{(i * 31) % 401},{status}")
        visits += [
            f"s{site}-{i},{('north', 'south')[j % 2]},{(i * 17 + j) % 501},2026-0{1 + j}-11"
            for j in range(i % 4)
        ]
    return patients, visits


def write_hospital(folder, *, rows, dataset=DATASET, study=COUNT):
    """Write one member; without rows it has no data at all, as a coordinator."""
    folder.mkdir(parents=True)
    (folder / "dataset.yaml").write_text(dataset)
    (folder / "study.yaml").write_text(study)
    if rows is not None:
        patients, visits = rows
        (folder / "patients.csv").write_text(
            "\n".join(["pid,sex,age,days,status", *patients]) + "\n"
        )
        (folder / "visits.csv").write_text("\n".join(["pid,ward,cost,day", *visits]) + "\n")


def at_once(work):
    """Do each member's work in a thread of its own; return what each returned, or its failure."""
    ended = {}

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


class Sites:
    """A federation in a folder; ``hub`` coordinates, sites are called site-0, site-1, ..."""

    def __init__(self, root, *, sites=3, study=COUNT, drops=0, per_person=1, dataset=DATASET):
        self.root, self.names = Path(root), [f"site-{i}" for i in range(sites)]
        self.rows = [patients_of(i, count=60 + 20 * i) for i in range(sites)]
        for name, rows in zip(self.names, self.rows, strict=True):
            write_hospital(self.root / name, rows=rows, study=study, dataset=dataset)
        write_hospital(self.root / "hub", rows=None, study=study, dataset=dataset)
        self.shared = self.root / "shared"
        self.shared.mkdir()
        self.file = self.root / "federation.yaml"
        members = {n: self.enrolled(n) for n in ("hub", *self.names)}
        found(
            self.file,
            coordinator=members["hub"],
            sites=[members[name] for name in self.names],
            drops=drops,
            sites_per_person=per_person,
        )
        self.federation = read_federation(self.file)

    def enrolled(self, name):
        """What a member tells the others."""
        return enrol(self.root / name / "dataset.yaml", name=name).member

    def study(self, name):
        """A member's study.yaml."""
        return self.root / name / "study.yaml"

    def digest(self, name="site-0"):
        """What a member's operator approves."""
        return own_plan(self.study(name), federation=self.file).digest

    def plan(self, name="site-0"):
        """A member's plan over sites."""
        site, declared = open_study(self.study(name))
        with site:
            return declared.plan_over(self.federation)

    def meeting(self, seconds=60, **clock):
        """Where they meet."""
        return Meeting(folder=self.shared, seconds=seconds, pause=0.01, **clock)

    def serve(self, name, *, seconds=60, approve=None, out=None, file=None, again=False, **clock):
        """One site's part."""
        return serve_site(
            self.study(name),
            federation=file or self.file,
            meeting=self.meeting(seconds, **clock),
            approve=approve or self.digest(name),
            out=out or self.root / f"out-{name}",
            again=again,
        )

    def run(self, *, seconds=60, out="out", again=False, **clock):
        """The coordinator's part."""
        return run_over_sites(
            self.study("hub"),
            federation=self.file,
            meeting=self.meeting(seconds, **clock),
            out=self.root / out,
            again=again,
        )

    def together(self, *, serving=None, seconds=60, **parts):
        """Run all at once; return what each member returned, or the failure that it ended with.

        Args:
            serving: Names of sites that take part; all when None.
            seconds: How long everybody waits.
            parts: Work of a member in place of its usual part, by name with underscores.
        """
        names = self.names if serving is None else serving
        work = {name: lambda name=name: self.serve(name, seconds=seconds) for name in names}
        work["hub"] = lambda: self.run(seconds=seconds)
        work |= {name.replace("_", "-"): part for name, part in parts.items()}
        ended = at_once(work)
        return SimpleNamespace(**{name.replace("-", "_"): made for name, made in ended.items()})

    def entries(self, name):
        """Requests in a site's ledger: state and nano charged to its lifetime."""
        with open_site(self.root / name / "dataset.yaml", spends=False) as site:
            found = site.ledger.entries("stays")
            return [(entry.state.value, _lifetime(entry)) for entry in found]

    def spent(self, name):
        """Nano that a site's lifetime was charged, which burned requests keep."""
        with open_site(self.root / name / "dataset.yaml", spends=False) as site:
            scopes = site.ledger.spent("stays").scopes
            return next(each.used for each in scopes if each.scope.value == "lifetime")

    def pooled(self):
        """A hospital that has the records of all, which in truth nobody may have."""
        folder = self.root / "pooled"
        patients = [row for rows, _ in self.rows for row in rows]
        visits = [row for _, rows in self.rows for row in rows]
        text = self.study("hub").read_text()
        dataset = (self.root / "hub" / "dataset.yaml").read_text()
        write_hospital(folder, rows=(patients, visits), study=text, dataset=dataset)
        return folder


def central(sites):
    """The exact integers of all records together, by measurement."""
    site, _ = open_study(sites.pooled() / "study.yaml")
    plan = sites.plan()
    with site:
        exact = site.engine().aggregate(asked_of(plan), dataset=plan.dataset)
        answers = iter(exact.reveal_to_gate())
        return tuple(
            exact_vector(each.aggregate, answers, dataset=plan.dataset)
            for each in plan.measurements
        )


def _lifetime(entry):
    return next(charge.amount for charge in entry.charges if charge.scope.value == "lifetime")


def without_noise(patch):
    """Let sites add no noise: what they send is exact, on the grid of the noise that they would."""
    from confide.release.over_sites import site_gate

    def exact(measurement, secret, *, entropy):
        del entropy
        return tuple(measurement.shared.grid * value for value in secret)

    patch.setattr(site_gate, "_with_part", exact)


def changed(path, **words):
    """Replace words in a file: old=new pairs under any names."""
    text = path.read_text()
    for old, new in words.values():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


def smaller(shared):
    """Noise whose parts are shared out among all sites, as if none were to collude."""
    each = shared.part.sigma_squared_each * shared.part.parts / shared.sites
    return replace(shared, part=replace(shared.part, sigma_squared_each=max(each, Fraction(9))))
