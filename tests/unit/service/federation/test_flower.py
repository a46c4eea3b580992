"""Relays by the command: refused where they could not be trusted, and without the pinned Flower."""

import importlib.metadata

import pytest

from command_line import confide
from confide.errors import MessageRefusedError
from confide.jobs.federated.flower import site_relay
from confide.jobs.federated.flower.bundle import _FILES
from confide.jobs.federated.flower.mailbox import Letter
from confide.jobs.federated.flower.pinned import FLOWER_VERSION, require_flower
from confide.jobs.federated.flower.runtime import Task
from confide.jobs.federated.flower.written import TYPE, read_letter
from federated_sites import Sites
from pages import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    sites = Sites(tmp_path_factory.mktemp("sites"))
    (sites.root / "relay.secret").write_bytes(b"secret")

    def relay(*words, folder=sites.shared, runtime="127.0.0.1:1", name="site-0"):
        where = ("--folder", folder, "--federation", sites.file, "--runtime", runtime)
        secret = ("--secret", sites.root / "relay.secret", "--seconds", "1")
        return confide("federate", "flower", "site", "--name", name, *where, *secret, *words)

    return relay


@pytest.fixture
def no_flower(monkeypatch):
    """Confide's own environment, whatever is installed in it."""
    version = importlib.metadata.version

    def hidden(name):
        if name == "flwr":
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", hidden)


@pytest.mark.usefixtures("no_flower")
def test_without_the_pinned_flower_relays_say_where_to_run_them(site, tmp_path):
    for told in (site(), confide("federate", "flower", "app", "--out", tmp_path / "app")):
        assert told.code == 7
        assert f"Relays need Flower {FLOWER_VERSION}, and here is none." in told.err
        assert "docs/how-to/flower.md" in told.err
    assert not (tmp_path / "app").exists()


def test_another_version_of_flower_is_refused(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "1.42.0")
    with pytest.raises(TypeError, match=r"here is 1\.42\.0"):
        require_flower()


def test_a_relay_tells_nobody_that_it_runs(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda _: FLOWER_VERSION)
    with monkeypatch.context() as patch:
        environment = {}
        patch.setattr("os.environ", environment)
        require_flower()
    assert environment == {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}


def test_a_plain_connection_leaves_no_machine(site):
    told = site(runtime="hub.example:9092")
    assert told.code == 7
    assert "hub.example is not this machine, and the connection would be plain." in told.err
    assert "--root-certificate" in told.err


def test_a_relay_of_no_site_and_of_no_folder_is_refused(site, tmp_path):
    assert "Unknown site 'nort'" in site(name="nort").err
    assert "box is no folder" in site(folder=tmp_path / "box").err


class Message:
    """A message of Flower's, as far as a relay looks at it."""

    def __init__(self, kind=TYPE, content=None):
        self.metadata = type("Metadata", (), {"message_type": kind})
        self.content = content or {}


class End:
    """A site's end that remembers what it was given."""

    def __init__(self):
        self.given = []

    def answer(self, letter):
        self.given.append(letter)
        return Letter()


LETTER = {"letter": {"held": [], "names": [], "files": []}}


@pytest.mark.parametrize(
    ("message", "is_of_bundle", "why"),
    [
        (Message(content=LETTER), False, "another bundle"),
        (Message(kind="train", content=LETTER), True, "no letter"),
        (Message(content={}), True, "no letter"),
        (Message(content={"letter": {"held": [], "names": ["a"], "files": []}}), True, "no letter"),
        (Message(content={"letter": {"held": [1], "names": [], "files": []}}), True, "no letter"),
        (
            Message(content={"letter": {"held": [], "names": ["a"], "files": ["a"]}}),
            True,
            "no letter",
        ),
    ],
)
def test_a_site_answers_letters_of_the_one_bundle_and_nothing_else(message, is_of_bundle, why):
    end = End()
    with pytest.raises(MessageRefusedError, match=why):
        site_relay._answer(
            message, task=Task(client=None, token="", sign=None, is_of_bundle=is_of_bundle), end=end
        )
    assert end.given == []
    assert read_letter(LETTER) == Letter()


def pins(name):
    lines = (ROOT / name).read_text("utf-8").splitlines()
    return dict(line.lower().replace("_", "-").split("==") for line in lines if "==" in line)


def test_the_environment_of_flower_has_what_confide_is_tested_with_but_for_what_flower_caps():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {each.split(">")[0].lower() for each in project["dependencies"]}
    apart, here = pins(".ci/flower.txt"), pins("constraints.txt")
    assert wanted <= set(apart)
    assert {name for name in wanted if apart[name] != here[name]} == {"typer", "rich"}
    assert apart["flwr"] == FLOWER_VERSION
    assert f'"flwr=={FLOWER_VERSION}"' in _FILES["pyproject.toml"]
