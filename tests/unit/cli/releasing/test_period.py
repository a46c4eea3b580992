"""The same study each month: its own rows, its own plan, its own charge."""

import pytest

from command_line import confide
from confide.errors import ContractError, UnknownNameError
from confide.tables.expression import ColumnOf, DatePart, PartOf
from confide.tables.filter import All, IsIn
from confide.workspace import open_study
from small_clinic import make_clinic

STUDY = """\
study: {id: visits, title: Visits, period: {column: day, of: month}}
statistics:
  - {id: wards, kind: histogram, table: visits, by: [ward], per-patient: {cells: 2}, error: {within: 40}}
  - {id: north, kind: count, table: visits, where: {ward: [north]}, error: {within: 40}}
"""


@pytest.fixture
def clinic(tmp_path):
    made = make_clinic(tmp_path / "clinic")
    made.study.write_text(STUDY)
    return made


def planned(clinic, period):
    workspace, study = open_study(clinic.study, period=period)
    with workspace:
        return study.plan()


def test_each_period_has_its_own_plan_and_the_same_period_the_same(clinic):
    january, february = planned(clinic, "2026-01"), planned(clinic, "2026-02")
    assert january.digest() != february.digest()
    assert january.digest() == planned(clinic, "2026-01").digest()
    assert january.study.period == "2026-01"
    assert january.amount.nano == february.amount.nano


def test_every_statistic_is_cut_to_the_rows_of_the_period(clinic):
    plan = planned(clinic, "2026-02")
    month = PartOf(of=ColumnOf(table="visits", column="day"), part=DatePart.MONTH)
    cut = IsIn(of=month, values=(1,))
    wards, north = plan.statistics
    assert wards.where == cut
    assert isinstance(north.where, All)
    assert north.where.of[0] == cut
    for measurement in plan.measurements:
        assert "PartOf" in repr(measurement.aggregate.relation.where)


def test_each_month_is_its_own_charge_and_the_same_month_again_is_free(clinic, tmp_path):
    workspace, january = open_study(clinic.study, period="2026-01")
    with workspace:
        first, again = (workspace.release(january.plan()) for _ in range(2))
    assert first.noisy.payload() == again.noisy.payload()
    done = confide("run", clinic.study, "--period", "2026-02", "-o", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    assert done.json["charged"] is True
    workspace, march = open_study(clinic.study, period="2026-03")
    with workspace:
        lifetime = next(use for use in workspace.spent().scopes if use.scope.value == "lifetime")
        assert lifetime.used == 2 * march.plan().amount.nano
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "2026-02" in page
    assert "month of day" in page


def test_a_plan_of_a_period_names_it(clinic):
    told = confide("plan", clinic.study, "--period", "2026-02", "--json").json
    assert told["period"] == "2026-02"
    assert confide("plan", clinic.study).code != 0


def test_a_month_counts_the_rows_of_that_month_alone(clinic):
    """With hardly any noise: 60 patients each had one, two and three visits, in months 1, 2, 3."""
    clinic.dataset.write_text(
        clinic.dataset.read_text()
        .replace("{epsilon: 10}", "{epsilon: 1000}")
        .replace("release: {epsilon: 1}, calendar-year: {epsilon: 3}, ", "")
    )
    clinic.study.write_text(STUDY.replace("within: 40", "within: 1"))
    counts = {}
    for period in ("2026-01", "2026-02", "2026-03", "2026-04"):
        workspace, study = open_study(clinic.study, period=period)
        with workspace:
            release = workspace.release(study.plan())
        counts[period] = sum(e.value for e in release.of("wards") if e.quantity == "count")
    expected = {"2026-01": 180, "2026-02": 120, "2026-03": 60, "2026-04": 0}
    assert counts == pytest.approx(expected, abs=6)


def test_a_study_that_repeats_is_refused_without_a_period_and_says_how_to_name_one(clinic):
    with pytest.raises(ContractError, match="repeats by month") as refused:
        open_study(clinic.study)
    assert "--period 2026-10" in str(refused.value.hint)


def test_a_period_outside_the_declared_dates_is_refused(clinic):
    with pytest.raises(UnknownNameError, match="2027-01"):
        open_study(clinic.study, period="2027-01")


def test_a_period_is_refused_for_a_study_that_does_not_repeat(clinic):
    clinic.study.write_text(STUDY.replace("{column: day, of: month}", "2026-01"))
    with pytest.raises(ContractError, match="does not repeat"):
        open_study(clinic.study, period="2026-01")
    workspace, study = open_study(clinic.study)
    workspace.close()
    assert study.study.period == "2026-01"


def test_a_period_by_a_number_is_refused(clinic):
    clinic.study.write_text(STUDY.replace("column: day", "column: cost"))
    with pytest.raises(ContractError, match="date"):
        open_study(clinic.study, period="2026-01")


def published(clinic, period, name, *more):
    out = clinic.folder / name
    return confide("run", clinic.study, "--period", period, "-o", out, *more, "--json")


def lifetime(clinic):
    caps = confide("ledger", "show", clinic.dataset, "--json").json["caps"]
    return next(cap["spent"] for cap in caps if cap["cap"] == "lifetime")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('snapshot: "1"', 'snapshot: "2"', "from snapshot '1'; this one is '2'"),
        ("upper: 2026-12-31", "upper: 2027-12-31", "under another plan"),
    ],
    ids=["snapshot", "upper"],
)
def test_a_month_is_published_a_second_time_only_when_that_is_asked_for(
    clinic, before, after, told
):
    assert published(clinic, "2026-02", "first").code == 0
    spent = lifetime(clinic)
    clinic.dataset.write_text(clinic.dataset.read_text().replace(before, after))
    for more in ((), ("--request", "fresh")):
        refused = published(clinic, "2026-02", "second", *more)
        assert (refused.code, refused.json["error"]) == (7, "ContractError")
        assert "has published 2026-02 already: ledger entry" in refused.json["message"]
        assert told in refused.json["message"]
        assert "--again" in refused.json["hint"]
    assert lifetime(clinic) == spent
    planned = confide("plan", clinic.study, "--period", "2026-02", "--json").json
    assert told in planned["published-before"]
    assert published(clinic, "2026-03", "march").json["charged"]  # another month is no repetition
    assert published(clinic, "2026-02", "second", "--again").json["charged"]
    assert lifetime(clinic) > spent
    assert published(clinic, "2026-02", "second").json["charged"] is False  # its own plan: free
    reused = ("run", clinic.study, "--period", "2026-02", "-o", clinic.folder / "r", "--reuse")
    assert confide(*reused, "--again").code == 7
    assert confide(*reused).code == 0


def test_in_python_a_month_again_is_asked_for_by_name(clinic):
    workspace, february = open_study(clinic.study, period="2026-02")
    with workspace:
        first = workspace.release(february.plan())
    clinic.dataset.write_text(clinic.dataset.read_text().replace('"1"', '"2"'))
    workspace, february = open_study(clinic.study, period="2026-02")
    with workspace:
        plan, spent = february.plan(), workspace.spent()
        with pytest.raises(ContractError, match="has published 2026-02 already"):
            workspace.release(plan)
        assert workspace.spent() == spent
        second = workspace.release(plan, again=True)
        assert workspace.release(plan).noisy.payload() == second.noisy.payload()
    assert first.noisy.payload() != second.noisy.payload()


def released_as(clinic, login, monkeypatch, *period):
    monkeypatch.setenv("LOGNAME", login)
    body = confide("plan", clinic.study, *period, "--json")
    assert ("running it again costs nothing" in body.err) == bool(body.json["released-as"])
    assert not (body.json["released-as"] and body.json["published-before"])
    return body.json


@pytest.mark.parametrize("period", [("--period", "2026-02"), ()], ids=["period", "none"])
def test_what_another_login_published_is_charged_again_only_when_that_is_asked_for(
    clinic, monkeypatch, period
):
    """Nor is it said to cost nothing: only who asked has it again."""
    if not period:
        clinic.study.write_text(STUDY.replace(", period: {column: day, of: month}", ""))

    def ran(name, *more):
        words = ("run", clinic.study, *period, "-o", clinic.folder / name, *more, "--json")
        return confide(*words)

    monkeypatch.setenv("LOGNAME", "ada")
    first = ran("first").json
    spent = lifetime(clinic)
    assert released_as(clinic, "ada", monkeypatch, *period)["published-before"] == ""
    told = released_as(clinic, "eve", monkeypatch, *period)["published-before"]
    assert f"under this very plan, for ada with the key {first['request']}" in told
    refused = ran("second")
    assert (refused.code, refused.json["message"]) == (7, f"{told} Nothing was charged.")
    assert lifetime(clinic) == spent
    assert ran("second", "--again").json["charged"] is True
    for login in ("ada", "eve"):
        assert released_as(clinic, login, monkeypatch, *period)["released-as"]
        assert ran(f"{login} again").json["charged"] is False


@pytest.mark.parametrize("period", [("--period", "2026-02"), ()], ids=["period", "none"])
def test_what_was_published_under_a_key_is_charged_again_only_when_that_is_asked_for(
    clinic, period
):
    if not period:
        clinic.study.write_text(STUDY.replace(", period: {column: day, of: month}", ""))
    words = ("run", clinic.study, *period, "-o")
    assert confide(*words, clinic.folder / "a", "--request", "board", "--json").json["charged"]
    planned = confide("plan", clinic.study, *period, "--json").json
    assert (planned["released-as"], "with the key board" in planned["published-before"]) == (
        [],
        True,
    )
    plain = confide(*words, clinic.folder / "b", "--json")
    assert (plain.code, "--request" in plain.json["hint"]) == (7, True)
    again = confide(*words, clinic.folder / "b", "--request", "board", "--json")
    assert again.json["charged"] is False
    fresh = confide(*words, clinic.folder / "c", "--request", "fresh", "--json")
    assert fresh.code == (7 if period else 0), "a key of its own asks where no period is named"
    workspace, study = open_study(clinic.study, period=period[1] if period else None)
    with workspace:
        with pytest.raises(ContractError, match=r"for .* with the key (board|fresh)"):
            workspace.release(study.plan())
        assert workspace.release(study.plan(), again=True)


@pytest.mark.parametrize("looks_first", [True, False], ids=["while it reads", "at once"])
@pytest.mark.parametrize("period", ["2026-02", None], ids=["period", "none"])
def test_what_somebody_is_at_is_charged_again_only_when_that_is_asked_for(
    clinic, monkeypatch, period, looks_first
):
    """Also where both look before either is charged: the first charge goes on."""
    if period is None:
        clinic.study.write_text(STUDY.replace(", period: {column: day, of: month}", ""))
    if not looks_first:
        monkeypatch.setattr("confide.service.releasing.release.refuse_again", lambda *_, **__: None)
    told = []

    def meanwhile(stage):
        if stage != "read" or told:
            return
        told.append("asked")
        workspace, study = open_study(clinic.study, period=period)
        with workspace:
            spent = workspace.spent()
            try:
                workspace.release(study.plan(), analyst="bob")
            except ContractError as refused:
                told.append(f"{refused} {refused.hint}")
            told.append(workspace.spent() == spent)
            workspace.release(study.plan(), analyst="bob", again=True)

    workspace, study = open_study(clinic.study, period=period)
    with workspace:
        workspace.release(study.plan(), analyst="ada", progress=meanwhile)
        states = [each.state.value for each in workspace.ledger.entries("clinic")]
    _, words, same = told
    assert "is under way: ledger entry" in words
    assert "for ada with the key" in words
    assert "Wait for it to end." in words
    assert same
    assert states == ["published", *([] if looks_first else ["cancelled"]), "published"]
