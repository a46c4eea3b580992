"""A release is charged before its last word is printed: no stream, disk or odd file makes it a bug."""

import io
import json
import os
import shutil
from pathlib import Path

import pytest

from command_line import confide
from confide.cli.streams import Stream
from real_command import fresh, run
from small_clinic import make_clinic

RUN = ("run", "study.yaml", "--out", "release")
POSIX = {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
WORLDS = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "gbk": {"PYTHONIOENCODING": "gbk"},
    "posix": POSIX,
}


@pytest.fixture
def folder(tmp_path):
    make_clinic(tmp_path / "clinic")
    study = tmp_path / "clinic" / "study.yaml"
    study.write_text(study.read_text().replace("First look", "東京 ε → é 💉"))
    return tmp_path / "clinic"


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("released") / "clinic"
    clinic = make_clinic(folder)
    assert confide("run", clinic.study, "--out", folder / "release", "-q").code == 0
    return folder


def charges(folder):
    """Return what every cap has spent, where anything was."""
    shown = confide("ledger", "show", folder / "dataset.yaml", "--json").json
    return [cap["spent"] for cap in shown["caps"] if float(cap["spent"])]


@pytest.mark.parametrize(
    "world",
    [pytest.param(w, marks=() if w in {"gbk", "posix"} else pytest.mark.audit) for w in WORLDS],
)
def test_a_terminal_that_lacks_a_character_gets_the_release_all_the_same(world, folder):
    done = fresh(*RUN, cwd=folder, env=WORLDS[world])
    assert done.code == 0, done.told
    assert "bug" not in done.told
    shown = fresh("show", "release", "--json", cwd=folder, env=WORLDS[world])
    encoding = WORLDS[world].get("PYTHONIOENCODING", "ascii")
    assert json.loads(shown.out.decode(encoding))["verifies"]
    assert charges(folder)


def test_closed_streams_lose_words_and_nothing_else(folder):
    def close():
        os.close(1)
        os.close(2)

    assert fresh(*RUN, cwd=folder, before=close).code == 0
    assert confide("verify", folder / "release").code == 0
    assert confide("ledger", "verify", folder / "dataset.yaml").code == 0


def test_a_reader_that_has_gone_loses_words_and_nothing_else(folder):
    read, write = os.pipe()
    os.close(read)
    try:
        done = fresh(*RUN, cwd=folder, stdout=write, stderr=write)
    finally:
        os.close(write)
    assert done.code == 0
    assert confide("verify", folder / "release").code == 0


def test_a_result_that_cannot_be_printed_is_said_and_the_release_is_there(folder):
    with Path("/dev/full").open("wb") as full:
        done = fresh(*RUN, cwd=folder, stdout=full)
    assert done.code == 2
    assert "could not be printed: No space left on device" in done.told
    assert confide("verify", folder / "release").code == 0


def test_a_full_disk_after_the_charge_is_said_and_the_answer_is_delivered_later(folder):
    assert confide("run", folder / "study.yaml", "--out", folder / "first").code == 0
    first = charges(folder)
    done = run(*RUN, cwd=folder, largest=20_480)  # less than a report
    assert done.code == 8
    assert "is charged and its answer is stored" in done.told
    assert "bug" not in done.told
    assert not (folder / "release").exists()
    again = confide("run", folder / "study.yaml", "--out", folder / "release", "--json")
    assert again.code == 0
    assert not again.json["charged"]
    assert charges(folder) == first


def test_a_ledger_that_cannot_grow_charges_nothing_and_says_so(folder):
    confide("plan", folder / "study.yaml")
    done = run(*RUN, cwd=folder, largest=1024)
    assert done.code in (7, 8), done.told
    assert "bug" not in done.told
    assert not charges(folder)


@pytest.mark.parametrize("name", ["signing.key", "hash.key"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\n", b"zz" * 32])
def test_a_key_that_is_empty_or_damaged_is_named(name, content, released, tmp_path):
    folder = tmp_path / "clinic"
    shutil.copytree(released, folder)
    (folder / ".confide" / name).write_bytes(content)
    done = confide("run", folder / "study.yaml", "--out", folder / "again", "--request", "new")
    no_key = name == "hash.key" and not content  # which an officer can go on without
    assert done.code == (6 if no_key else 7)
    assert name in done.err
    assert ("missing or empty" if no_key else "empty or damaged") in done.err


ODD = {
    "empty": b"",
    "bytes": b"\xff\xfe",
    "deep": b"[" * 100_000,
    "closed": b"[" * 900 + b"]" * 900,
    "nested": b'{"plan":' * 900 + b"1" + b"}" * 900,
    "huge": b'{"plan": ' + b"9" * 100_000 + b"}",
    "large": b'{"plan": 123456789012345678901234567890}',
    "infinite": b'{"plan": 1e999}',
    "nan": b'{"plan": NaN}',
    "surrogate": b'{"plan": "\\ud800"}',
    "twice": b'{"plan": 1, "plan": 2}',
    "list": b"[]",
    "number": b"1",
    "null": b"null",
    "text": b'"text"',
    "nothing": b"{}",
}
COMMANDS = (("verify",), ("explain", "certificate"), ("show",), ("export", "--as", "methods"))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("odd", ODD)
def test_a_certificate_that_is_none_is_refused_by_every_command(odd, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_bytes(ODD[odd])
    for words in COMMANDS:
        done = confide(*words, path if words[0] != "show" else tmp_path)
        assert done.code in (6, 7), (words, done)
        assert "bug" not in done.err


def _places(value, at=()):
    yield at
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _places(part, (*at, name))
    elif isinstance(value, list):
        for number, part in enumerate(value[:2]):
            yield from _places(part, (*at, number))


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.audit)])
def test_a_certificate_with_an_odd_value_anywhere_is_refused_and_no_bug(released, tmp_path, every):
    from confide.cli.reading.verify import FAILED

    folder = tmp_path / "release"
    shutil.copytree(released / "release", folder)
    genuine = json.loads((folder / "certificate.json").read_bytes())
    places = [place for place in _places(genuine) if place]
    for number, at in list(enumerate(places))[::every]:
        changed = json.loads(json.dumps(genuine))
        part = changed
        for step in at[:-1]:
            part = part[step]
        part[at[-1]] = (None, [], {}, "x", -1, [[1]], {"a": {}}, True)[number % 8]
        if changed == genuine:
            continue
        (folder / "certificate.json").write_text(json.dumps(changed))
        done = confide("verify", folder, "-q")
        assert done.code in (FAILED, 7), (at, done)
        assert "bug" not in done.err, at


def test_a_library_that_closes_the_stream_it_logged_to_leaves_it_open_and_says_nothing():
    below = io.StringIO()
    stream = Stream(below)
    stream.write("first, ")
    stream.close()
    stream.write("and then")
    assert below.getvalue() == "first, and then"
