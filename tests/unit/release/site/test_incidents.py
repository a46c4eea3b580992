"""What a log of failures says: what came of what, and where it began."""

import pytest

from confide.release.site import incidents as module
from confide.release.site.incidents import incidents, older, write_incident


def failing():
    try:
        try:
            int("4711 of patient 17")
        except ValueError as first:
            raise KeyError("ward") from first
    except KeyError:
        raise RuntimeError("stopped")  # noqa: B904 - its context leads on


def caught():
    with pytest.raises(RuntimeError) as found:
        failing()
    return found.value


def test_errors_are_named_from_the_last_one_and_lines_from_the_innermost(tmp_path):
    log, failure = tmp_path / "incidents.log", caught()
    write_incident(log, "abc", failure)
    (found,) = incidents(log)
    assert found.incident == "abc"
    assert found.kinds == ("RuntimeError", "KeyError", "ValueError")
    begin = failing.__code__.co_firstlineno
    lines = [int(place.partition(":")[2]) for place in found.places]
    assert lines[:2] == [begin + 3, begin + 5]
    assert lines[-1] == begin + 7
    assert "4711" not in str(found)


def test_a_circle_of_causes_ends(tmp_path):
    one, other = ValueError("a"), KeyError("b")
    one.__cause__, other.__cause__ = other, one
    write_incident(tmp_path / "log", "abc", one)
    assert incidents(tmp_path / "log")[0].kinds == ("ValueError", "KeyError")


def test_a_log_has_room_for_a_thousand_failures(tmp_path):
    log = tmp_path / "incidents.log"
    log.write_bytes(b" " * 4_000_000)
    write_incident(log, "next", caught())
    assert not older(log).exists()


def test_a_full_log_begins_anew_beside_the_older_one(tmp_path, monkeypatch):
    log = tmp_path / "incidents.log"
    assert incidents(log) == ()
    write_incident(log, "first", caught())
    monkeypatch.setattr(module, "LARGEST", 10)
    write_incident(log, "second", caught())
    assert [each.incident for each in incidents(log)] == ["second"]
    assert [each.incident for each in incidents(older(log))] == ["first"]
