"""A workspace that stays open releases, and commits to, the files as they are when it releases.

Ten patients of a hundred are left in the file that takes the place of the first one.
"""

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import confide
from confide.errors import ContractError
from confide.files.public.private_places import WORKSPACE
from confide.release.jobs import job_rounds
from confide.release.site.snapshot import Snapshot, source_state
from confide.release.verify.against_ledger import ledger_checks
from confide.rows.prepared import build
from confide.rows.sources.fingerprint import SourceState
from confide.service import site as open_site
from confide.service.releasing.jobs import planned, run_in_parts, run_job
from confide.workspace import preparation
from counting_job import Counting, ThreeParts

DATASET = """\
dataset: {{id: d, lineage: d, snapshot: "1"}}
source: {{kind: {kind}, path: {path}{version}}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 5000}}}}
tables: {{people: {{columns: {{sex: {{categories: {{F: F, M: M}}}}}}}}}}
"""
MANY, FEW = 100, 10
COUNT = {"id": "n", "kind": "count", "table": "people"}
KINDS = ("csv", "csv, copies", "parquet", "parquet, copies", "duckdb", "duckdb, copies", "omop")
STAGES = ("check", "charge", "read", "noise", "commit")
WHERE = {
    "csv": "data/people.csv",
    "parquet": "data/people.parquet",
    "omop": "data/PEOPLE.parquet",
    "duckdb": "data/people.duckdb",
}


class Site:
    """A data set whose file can be replaced as a whole, as exports do."""

    def __init__(self, folder, kind):
        self.kind, _, copies = kind.partition(", ")
        self.folder = folder
        self.file = folder / WHERE[self.kind]
        self.file.parent.mkdir()
        self.replace(MANY)
        path = "data/people.duckdb" if self.kind == "duckdb" else "data"
        version = ', version: "5.4"' if self.kind == "omop" else ""
        self.dataset = folder / "dataset.yaml"
        self.dataset.write_text(DATASET.format(kind=self.kind, path=path, version=version))
        if copies:
            preparation(self.dataset).prepare()

    def replace(self, people):
        new = self.folder / "new"
        rows = pa.table({"pid": [*range(people)], "sex": ["F"] * people})
        if self.kind == "csv":
            pyarrow.csv.write_csv(rows, new)
        elif self.kind == "duckdb":
            with duckdb.connect(str(new)) as made:
                made.execute("CREATE TABLE people AS SELECT * FROM rows")
        else:
            pq.write_table(rows, new)
        new.replace(self.file)

    def opens_to_what_lies_there(self, ws, certificate):
        """Return whether the steward can open the commitment to the files as they are."""
        declared = ws.declared
        state = source_state(declared.source, base=declared.base, dataset=declared.dataset)
        (found,) = (
            each
            for each in ledger_checks(
                certificate,
                ledger=ws.ledger,
                lineage="d",
                folder=self.folder / WORKSPACE,
                state=state,
            )
            if each.name == "snapshot"
        )
        return found.holds and not found.detail


def counted(release):
    return round(release.of("n")[0].value)


@pytest.mark.parametrize("kind", KINDS)
def test_an_open_workspace_reads_the_files_as_they_are_when_it_releases(kind, tmp_path):
    site = Site(tmp_path, kind)
    with confide.open(site.dataset) as ws:
        plan = ws.plan(COUNT, epsilon="500")
        ws.explain(plan)  # opens the engine, as a notebook does
        site.replace(FEW)
        release = ws.release(plan)
        assert counted(release) == FEW
        assert site.opens_to_what_lies_there(ws, release.certificate)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("kind", ["csv", "csv, copies", "duckdb"])
def test_files_that_change_before_the_last_row_is_read_are_not_committed_to(kind, stage, tmp_path):
    site = Site(tmp_path, kind)
    with confide.open(site.dataset) as ws:
        plan = ws.plan(COUNT, epsilon="500")
        release = ws.release(plan, progress=lambda at: site.replace(FEW) if at == stage else None)
        assert counted(release) in {MANY, FEW}
        assert "commitment" not in release.certificate["data"]
        (hazard,) = [each for each in release.certificate["hazards"] if each["id"] == "snapshot"]
        assert hazard["status"] == "open"


@pytest.mark.parametrize("kind", ["csv, copies", "duckdb"])
def test_a_job_reads_and_commits_to_the_files_as_they_are_when_it_runs(kind, tmp_path):
    site = Site(tmp_path, kind)
    with confide.open(site.dataset) as ws:
        ws.engine()
        site.replace(FEW)
        first = run_job(ws, Counting(), plan=planned(ws, Counting()))
        assert site.opens_to_what_lies_there(ws, first.certificate)
        again = planned(ws, Counting(rows=2))
        other = run_job(
            ws,
            Counting(rows=2),
            plan=again,
            progress=lambda at: site.replace(MANY) if at == "read" else None,
        )
        assert "commitment" not in other.certificate["data"]


def gone_on_with(site):
    """Return the certificate of a job that was stopped, and went on when most patients were
    gone."""

    def stopped(at):
        nonlocal worked
        worked += at == "working"
        if worked == 2:
            raise KeyboardInterrupt

    worked, job = 0, ThreeParts()
    with confide.open(site.dataset) as ws:
        given = {"plan": planned(ws, job), "runner": job}
        with pytest.raises(KeyboardInterrupt):
            run_in_parts(ws, job, progress=stopped, **given)
        site.replace(FEW)
        done = run_in_parts(ws, job, **given)
        again = run_in_parts(ws, job, **given)
        assert again.certificate == done.certificate
        return done.certificate


def test_a_job_that_goes_on_is_not_committed_to_the_files_of_its_last_part(tmp_path):
    assert "commitment" not in gone_on_with(Site(tmp_path, "csv"))["data"]


def test_a_job_in_parts_that_never_stopped_is_committed_to(tmp_path):
    site, job = Site(tmp_path, "csv"), ThreeParts()
    with confide.open(site.dataset) as ws:
        done = run_in_parts(ws, job, plan=planned(ws, job), runner=job)
        assert site.opens_to_what_lies_there(ws, done.certificate)


def test_a_job_that_forgets_that_it_goes_on_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(job_rounds, "RESUMED", "")
    assert "commitment" in gone_on_with(Site(tmp_path, "csv"))["data"]


def test_asking_again_gives_the_stored_answer_with_the_commitment_it_had(tmp_path):
    site = Site(tmp_path, "csv")
    with confide.open(site.dataset) as ws:
        plan = ws.plan(COUNT, epsilon="500")
        first = ws.release(plan)
        site.replace(FEW)
        again = ws.release(plan)
        assert again.certificate["data"] == first.certificate["data"]
        assert counted(again) == counted(first) == MANY


def test_a_link_that_points_elsewhere_for_a_moment_names_no_copies_after_other_rows(
    tmp_path, monkeypatch
):
    """Copies are named after the files that were read, however the source leads to them."""
    site = Site(tmp_path, "csv")
    (tmp_path / "data").rename(tmp_path / "old")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "people.csv").write_text("pid,sex\n1,F\n")

    def point(at):
        (tmp_path / "link").symlink_to(at)
        (tmp_path / "link").replace(tmp_path / "data")

    point("old")
    room = build._refuse_small_disk
    monkeypatch.setattr(build, "_refuse_small_disk", lambda work: (room(work), point("other")))
    with pytest.raises(ContractError, match="changed while it was being prepared"):
        preparation(site.dataset).prepare(progress=lambda _: point("old"))
    point("old")
    with confide.open(site.dataset) as ws:
        assert counted(ws.release(ws.plan(COUNT, epsilon="500"))) == MANY


@pytest.mark.mutant
@pytest.mark.parametrize("kind", ["csv, copies", "duckdb"])
def test_an_engine_that_stays_open_over_other_files_is_seen(kind, tmp_path, monkeypatch):
    anew = open_site.Site.engine
    monkeypatch.setattr(open_site.Site, "engine", lambda at: at._engine or anew(at))
    with pytest.raises(AssertionError):
        test_an_open_workspace_reads_the_files_as_they_are_when_it_releases(kind, tmp_path)


@pytest.mark.mutant
def test_a_snapshot_that_is_looked_at_when_reading_begins_is_seen(tmp_path, monkeypatch):
    opened = Snapshot.__init__

    def late(self, *, state, folder):
        opened(self, state=state, folder=folder)
        begin = self.watched

        def watched(progress):
            def told(stage):
                if stage == "read":
                    self._state = SourceState.of(state.files)
                begin(progress)(stage)

            return told

        self.watched = watched

    monkeypatch.setattr(Snapshot, "__init__", late)
    with pytest.raises(AssertionError):
        test_files_that_change_before_the_last_row_is_read_are_not_committed_to(
            "duckdb", "charge", tmp_path
        )
