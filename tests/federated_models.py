"""Made-up hospitals that fit one model together in one process: true gates, true sums, no folder.

Patients are like those of eICU: age, an acuity score, ventilation and sex, with hospitals that have
more and fewer severe ones.  Messages of the sums are handed on in memory.
"""

import contextlib
import shutil
import threading

import numpy as np

from confide.errors import RoundAbortedError
from confide.files.study import read_study
from confide.jobs.federated.carriers.by_folder import Waiting
from confide.jobs.federated.runs.coordinate import Coordinator
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.proposal import sum_terms
from confide.jobs.federated.runs.site_round import SiteRound, look_for_end
from confide.jobs.federated.secure_sum.used_rounds import UsedRounds
from confide.release.gate import asked_of
from confide.release.over_sites.among_sites import sums_of
from confide.release.over_sites.site_gate import SiteGate
from confide.rows.engine import exact_vector
from confide.service.opening import open_site, open_study
from federations import Hospitals, Played

DATASET = """\
dataset: {id: stays, lineage: stays, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {release: {epsilon: 20}, lifetime: {epsilon: 40}}
population-at-most: 50000
tables:
  patients:
    from: patients.csv
    rows-per-patient: 1
    columns:
      age: {kind: number, lower: 18, upper: 90, unit: a}
      acuity: {kind: number, lower: 0, upper: 200}
      ventilated: {categories: [no, yes]}
      sex: {categories: [female, male]}
      stays: {kind: number, lower: 1, upper: 60, unit: d}
      infections: {kind: number, lower: 0, upper: 6}
      left: {categories: [home, ward, died]}
"""
COVARIATES = "covariates: [age, acuity, ventilated, sex]"
LOGISTIC = f"kind: logistic-regression, table: patients, of: {{left: [died]}}, {COVARIATES}"


def study_of(*items, epsilon=2):
    """A study of models."""
    lines = "".join(f"  - {{{item}}}\n" for item in items)
    return (
        f"study: {{id: risk, title: Risk, purpose: test}}\nspend: {{at-most: {{epsilon: {epsilon}}}}}\n"
        f"statistics:\n{lines}"
    )


def stays(rng, *, count, severity=0.0):
    """Patients of one hospital: an array of columns by name."""
    age = np.clip(np.rint(rng.normal(64, 16, count)), 18, 90)
    acuity = np.clip(np.rint(rng.gamma(4, 13, count) + 6 * severity), 0, 200)
    ventilated = rng.random(count) < 1 / (1 + np.exp(2.2 - 0.025 * acuity))
    male = rng.random(count) < 0.54
    eta = -5.2 + 0.022 * (age - 60) + 0.036 * acuity + 0.7 * ventilated + 0.1 * severity
    died = rng.random(count) < 1 / (1 + np.exp(-eta))
    return {
        "age": age.astype(int),
        "acuity": acuity.astype(int),
        "ventilated": np.where(ventilated, "yes", "no"),
        "sex": np.where(male, "male", "female"),
        "stays": np.clip(rng.geometric(0.2, count), 1, 60),
        "infections": np.clip(rng.poisson(0.2 + 0.5 * ventilated), 0, 6),
        "left": np.where(died, "died", np.where(rng.random(count) < 0.3, "ward", "home")),
    }


VISITOR = "visitor,90,200,yes,male,60,6,died"


def write_stays(folder, parts, *, study, first=0, more=()):
    """Write hospitals' patients as one site's files, and more rows."""
    folder.mkdir(parents=True)
    (folder / "dataset.yaml").write_text(DATASET)
    (folder / "study.yaml").write_text(study)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    rows = zip(*columns.values(), strict=True)
    lines = [f"p{first + i}," + ",".join(map(str, row)) for i, row in enumerate(rows)]
    (folder / "patients.csv").write_text(
        "\n".join(["pid," + ",".join(columns), *lines, *more]) + "\n"
    )


class ModelSites:
    """Hospitals with ledgers and gates of their own, and one that has the records of all."""

    def __init__(self, root, *, study, sites=3, count=300, drops=0, seed=7, visiting=False):
        rng = np.random.default_rng(seed)
        self.root, self.failures = root, []
        self.parts = [stays(rng, count=count + 40 * i, severity=i - 1) for i in range(sites)]
        first = 0
        for place, part in enumerate(self.parts):
            more = [VISITOR] if visiting and place < 2 else []
            write_stays(root / f"site-{place}", [part], study=study, first=first, more=more)
            first += len(part["age"])
        write_stays(root / "pooled", self.parts, study=study)
        (root / "secure").mkdir()
        self.hospitals = Hospitals(root / "secure", sites=sites, drops=drops)
        declared = read_study(root / "site-0" / "study.yaml")
        self.plan = declared.plan_over(self.hospitals.federation)

    def central(self):
        """What rows of all together answer, opened as the gate does it: an answer by measurement."""
        site, _ = open_study(self.root / "pooled" / "study.yaml")
        with site:
            exact = site.engine().aggregate(asked_of(self.plan), dataset=self.plan.dataset)
            answers = iter(exact.reveal_to_gate())
            return [
                exact_vector(each.aggregate, answers, dataset=self.plan.dataset)
                for each in self.plan.measurements
            ]

    @contextlib.contextmanager
    def opened(self, *, without):
        """Rows of the one model of each site, as they answer its gate.

        Args:
            without: Ids of patients who are left out.
        """
        with contextlib.ExitStack() as stack:
            found = []
            for place in range(len(self.parts)):
                folder = self.root / f"site-{place}"
                if without:
                    lines = (folder / "patients.csv").read_text().splitlines(keepends=True)
                    kept = [line for line in lines if line.partition(",")[0] not in without]
                    folder = self.root / f"without-{place}"
                    if not folder.exists():
                        shutil.copytree(self.root / f"site-{place}", folder)
                    (folder / "patients.csv").write_text("".join(kept))
                site, _ = open_study(folder / "study.yaml")
                engine = stack.enter_context(site).engine()
                exact = engine.aggregate(asked_of(self.plan), dataset=self.plan.dataset)
                found += exact.reveal_to_gate()
            yield found

    def together(self, *, entropy=None, run="1"):
        """Let all sites take part, in memory; return the released bytes of each, or its failure."""
        meeting = Meeting(self, run=run)
        ended = self._all(
            lambda place: self.released(place, Here(meeting, place), entropy=entropy, run=run),
            otherwise=meeting.barrier.abort,
        )
        return [ended[place] for place in range(len(self.parts))]

    def by_folder(self, coordinate, *, run="1", seconds=60, among=lambda _, each: each):
        """Let all sites take part by folder while the coordinator does its part.

        Args:
            coordinate: Called with a function that makes a coordinator, as after each cut.
            run: Digit of the run.
            seconds: How long everybody waits.
            among: What a site's gate is handed in place of its round.

        Returns:
            What the coordinator returned, and the released bytes of each site or its failure.
        """
        (self.root / "shared").mkdir(exist_ok=True)

        def of_site(place):
            each = SiteRound(
                self.plan,
                site=place,
                key=self.hospitals.keys[place],
                used=self._used(place),
                board=self.board(run),
                folder=self.root / "shared",
                waiting=self._waiting(run, seconds=seconds),
            )
            try:
                return self.released(place, among(place, each), run=run)
            except Exception:
                self.says_that_it_ended(place, run=run)
                raise

        ended = {}
        sites = threading.Thread(target=lambda: ended.update(self._all(of_site)))
        sites.start()
        try:
            made = coordinate(lambda: self.coordinator(run, seconds=seconds))
        except RoundAbortedError as failure:
            made = failure
        sites.join(timeout=90)
        return made, [ended[place] for place in range(len(self.parts))]

    def says_that_it_ended(self, place, *, run="1"):
        """Let a site tell the others that nobody has to wait for it."""
        member, key = self.hospitals.federation.sites[place], self.hospitals.keys[place]
        self.board(run).post(NoticeKind.ENDED, {"why": "gone"}, sender=member.name, key=key)

    def board(self, run="1"):
        """Notices of a run."""
        return Board(self.root / "shared", federation=self.hospitals.federation, run=run * 64)

    def coordinator(self, run="1", *, seconds=60):
        """The coordinator in a run, as a process that starts."""
        return Coordinator(
            federation=self.hospitals.federation,
            board=self.board(run),
            folder=self.root / "shared",
            key=self.hospitals.coordinator_key,
            seconds=seconds,
            pause=0.01,
        )

    def _waiting(self, run, *, seconds):
        board = self.board(run)
        look = lambda: look_for_end(board, coordinator="coordinator")  # noqa: E731
        return Waiting(coordinator="coordinator", seconds=seconds, pause=0.01, look=look)

    def _used(self, place):
        folder = self.root / "secure" / f"used-of-{place}"
        folder.mkdir(exist_ok=True)
        return UsedRounds(folder)

    def _all(self, part, *, otherwise=lambda: None):
        ended = {}

        def take_part(place):
            try:
                ended[place] = part(place)
            except Exception as failure:  # noqa: BLE001 - handed to the test
                ended[place] = failure
                otherwise()

        threads = [threading.Thread(target=take_part, args=[i]) for i in range(len(self.parts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        return ended

    def released(self, place, among, *, entropy=None, run="1"):
        """Let one site take part through its own gate; return the stored bytes."""
        site, _ = open_study(self.root / f"site-{place}" / "study.yaml")
        more = {} if entropy is None else {"entropy": entropy(place)}
        with site:
            gate = SiteGate(
                ledger=site.ledger,
                engine=site.engine(),
                report_incident=lambda _, failure: self.failures.append(failure),
                require_consent=lambda: None,
                rehearse=lambda _: None,
                **more,
            )
            taken = gate.take_part(
                self.plan, among=among, analyst="analyst", request_key=run * 64, again=True
            )
            return taken.payload

    def entries(self, place):
        """Requests in a site's ledger: state and nano charged to its lifetime."""
        with open_site(self.root / f"site-{place}" / "dataset.yaml", spends=False) as site:
            return [
                (entry.state.value, charge.amount)
                for entry in site.ledger.entries("stays")
                for charge in entry.charges
                if charge.scope.value == "lifetime"
            ]


class Meeting:
    """Where sites of one process meet; whoever comes last brings the sum about."""

    def __init__(self, sites, *, run):
        self.sites, self.run = sites, run
        self.vectors, self.totals, self.last = {}, (), ()
        self.barrier = threading.Barrier(len(sites.parts), action=self._sum)

    def _sum(self):
        terms = sum_terms(self.sites.plan, run=self.run * 64, before=self.totals)
        given = {
            place: lambda place=place: np.array(self.vectors[place], dtype=np.int64)
            for place in self.vectors
        }
        played = Played(self.sites.hospitals, terms=terms, contributions=given)
        self.last = tuple(int(total) for total in played.whole().total)
        self.totals += self.last

    def add(self, place, numbers):
        self.vectors[place] = numbers
        self.barrier.wait(timeout=60)
        return self.last


class Here:
    """One site among the others, for its gate."""

    def __init__(self, meeting, place):
        self.meeting, self.place = meeting, place

    def gather(self):
        """Nobody is late."""

    def add(self, numbers):
        return self.meeting.add(self.place, numbers)

    def result(self):
        names = tuple(site.name for site in self.meeting.sites.hospitals.federation.sites)
        return sums_of(self.meeting.sites.plan, self.meeting.totals, added=names, salt="")
