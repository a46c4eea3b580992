"""Consent is withdrawn by very many at once: opt-outs of a region come as one file."""

import confide
from command_line import confide as run
from confide.release.consent import readings
from confide.rows.cells.session import Session
from patients_world import write_hospital
from unit.release.test_consent_withdrawn import PEOPLE

ODD = ["7", " 7", "7.0", "", "x", "-3", "9" * 30, "J\u00f6rg \u2603", "a\0b", '"8"', "7"]


def queries_to_forget(folder, monkeypatch, *, ids):
    """Return how often the engine was asked while so many withdraw, the first of them known."""
    dataset, asked = write_hospital(folder), []
    (folder / "ids.txt").write_text("".join(f"{number}\n" for number in range(39, 39 + ids)))
    real = Session.fetch

    def fetch(session, sql, parameters):
        asked.append(sql)
        return real(session, sql, parameters)

    with monkeypatch.context() as patch:
        patch.setattr(Session, "fetch", fetch)
        done = run("patients", "forget", dataset, "--ids", folder / "ids.txt")
    assert done.code == 0, done.err
    with confide.open(dataset) as at:
        told = at.release(at.plan(PEOPLE, epsilon="0.9"), request="since").of("n")[0].value
    assert abs(told - 39) < 30
    return len(asked)


def test_many_who_withdraw_at_once_take_as_many_queries_as_a_few(tmp_path, monkeypatch):
    few = queries_to_forget(tmp_path / "few", monkeypatch, ids=3)
    assert queries_to_forget(tmp_path / "many", monkeypatch, ids=5000) == few


def test_each_of_many_ids_is_hashed_as_it_is_alone(tmp_path):
    with confide.open(write_hospital(tmp_path)) as at:
        engine = at.engine()
        written = [each for given in ODD for each in (given, *readings(given))]
        for as_texts in (False, True):
            alone = [engine.identities([each], as_texts=as_texts)[0] for each in written]
            assert engine.identities(written, as_texts=as_texts) == tuple(alone)
        assert [engine.identity(each) for each in written] == [*engine.identities(written)]
        assert engine.identities([]) == ()
