"""Every documented recovery, from the ledger as it was at every step of a release.

Spent never falls, one key never has two answers for one charge, and what the pages of the manual
say is what happens: docs/how-to/recover-from-a-frozen-ledger.md, back-up-and-rotate-keys.md and
postgres-ledger.md.
"""

import functools
import itertools

import pytest

from recovery_world import HISTORIES, STEPS, ran

WORLDS = [
    pytest.param((kind, name), id=f"{kind}-{name}")
    for name in HISTORIES
    for kind in ("sqlite", "postgres")
    if not (kind == "postgres" and name == "opening")
]


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """Each world is lived through once, when it is first asked for."""

    @functools.cache
    def of(kind, name):
        world = HISTORIES[name](kind, tmp_path_factory.mktemp(f"{kind}{name}") / "world")
        assert set(world.taken) >= set(STEPS)
        return world

    return of


@pytest.fixture(params=WORLDS)
def world(request, lived):
    found = lived(*request.param)
    found.reset()
    return found


def older_put_back(world, step):
    """The disk, or the server, comes back with an older copy; an officer goes on."""
    world.put_back(step)
    if step != "published":
        assert world.is_frozen()
        assert "an older copy" in ran("ledger", "verify", world.dataset, code=6).err
    world.unfreeze()


def lost_and_restored(world, step):
    """The ledger is lost; the backup of that step is put in its place."""
    world.lose()
    assert "confide ledger restore" in ran("ledger", "show", world.dataset, code=6).err
    restored(world, step)


def broken_and_restored(world, step):
    """The ledger cannot be read; the backup of that step is put in its place."""
    world.break_()
    told = ran("ledger", "restore", world.backup(step), world.dataset, "--json").json
    assert "replaced" in told["aside"]
    frozen(world, step, told["frozen"])


def older_replaced(world, step):
    """An older copy came back, and the newer backup replaces it."""
    world.put_back("draft")
    if step == "draft":
        pytest.skip("the backup is no newer")
    restored(world, step)


def restored(world, step):
    told = ran("ledger", "restore", world.backup(step), world.dataset, "--json").json
    frozen(world, step, told["frozen"])


def frozen(world, step, is_frozen):
    nothing_came_after = step == "published" and world.kind == "sqlite"
    assert is_frozen is not nothing_came_after
    if is_frozen:
        assert world.is_frozen()
        world.unfreeze()


WAYS = (older_put_back, lost_and_restored, broken_and_restored, older_replaced)


def cases():
    """Each world with each step, each way with each step; the whole product in the long suite."""
    for (number, world), (place, step), way in itertools.product(
        enumerate(WORLDS), enumerate(STEPS), WAYS
    ):
        quick = WAYS[(number + place) % len(WAYS)] is way
        yield pytest.param(
            *world.values,
            step,
            way,
            id=f"{world.id}-{step}-{way.__name__}",
            marks=() if quick else pytest.mark.audit,
        )


@pytest.mark.parametrize(("world", "step", "way"), [*cases()], indirect=["world"])
def test_spent_never_falls_and_a_key_has_one_answer(world, step, way):
    before = world.spent()
    first = (world.folder / "out" / "noisy.json").read_bytes()
    way(world, step)
    world.patients_of(step)
    after = world.spent()
    assert {cap: after[cap] >= spent for cap, spent in before.items()} == dict.fromkeys(
        before, True
    )
    assert world.spent() == after  # nothing is given back when it is opened again
    states = set(world.entries().values())
    assert not states & {"reserved", "reading", "cancelled"}
    ran("ledger", "verify", world.dataset)
    done = world.again(f"again-{way.__name__}-{step}")
    if step in {"committed", "published"}:
        assert done.code == 0, done.out
        answer = world.folder / f"again-{way.__name__}-{step}" / "noisy.json"
        assert answer.read_bytes() == first
        assert world.spent() == after
    elif step != "draft":
        assert done.code in {3, 7}, done.out
        assert world.spent() == after
    elif done.code == 0:  # the key was lost with its rows: it is charged again
        assert world.words[0] == "run"
        assert any(spent > after[cap] for cap, spent in world.spent().items())
    assert all(spent >= after[cap] for cap, spent in world.spent().items())
    ran("ledger", "verify", world.dataset)


def test_the_same_recovery_again_and_again_gives_nothing_back(world):
    spent = world.spent()
    for step, way in itertools.product(("reserved", "draft"), WAYS[:2]):
        way(world, step)
        now = world.spent()
        assert all(now[cap] >= units for cap, units in spent.items())
        spent = now


@pytest.mark.parametrize("step", ["committed", "published"])
def test_a_release_that_was_restored_verifies_and_its_commitment_opens(world, step):
    lost_and_restored(world, step)
    world.patients_of(step)
    out = world.folder / "out"
    checks = ran("verify", out, "--ledger", world.dataset, "--json").json["checks"]
    assert {each["name"]: each["detail"] for each in checks}["snapshot"] == ""
