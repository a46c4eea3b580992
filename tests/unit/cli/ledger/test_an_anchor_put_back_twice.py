"""An older anchor is put back after rows of two histories, or a great many, were lost.

The lines of the lost rows are gone from the anchor then, or are not named by the row by which an
officer went on.  What they told of terms and caps still holds.
"""

from dataclasses import replace

import pytest

from confide.budget.accounts.lost_terms import Told
from confide.budget.integrity import book_head, inspection
from recovery_world import ran
from unit.cli.ledger.test_an_anchor_put_back import (
    LOWER,
    PURE,
    SOUTH,
    WAYS,
    charged_in_rho,
    clinic,
    disturb,
    go_on,
    read,
    run,
)


def refused(world, name):
    """Ask for a release that may not be, and return why."""
    return ran("run", world.study, "--request", name, "--out", world.folder / name, code=3).err


def amounts_that_do_not_add_up_stop_the_lineage(folder, way, *, south=False):
    """Charged in ρ, in rows that are lost, and in ε by rows that are there.

    With ``south`` in ρ under a name that an earlier copy of the ledger does not know.
    """
    world = clinic(folder)
    anchor, north = read(world), world.dataset.read_text()
    if south:
        world.dataset.write_text(north.replace(*SOUTH))
    zcdp = world.dataset.read_text()
    run(world, "lost")
    found = read(world)
    world.put_back("draft")
    disturb(world, "put back", anchor)
    world.dataset.write_text(zcdp.replace(*PURE))
    run(world, "there")
    world.take("there")
    disturb(world, "put back", found)
    go_on(world)
    assert "the two do not add up" in refused(world, "next")
    disturb(world, way, anchor)
    go_on(world)
    for copy in ("there", "draft"):
        world.put_back(copy)
        go_on(world)
        assert "the two do not add up" in refused(world, f"after {copy}")
    ran("ledger", "verify", world.dataset)


def a_cap_that_many_lost_rows_lowered_stays_low(folder, monkeypatch):
    """South is in lost rows alone, more than are named one by one; the anchor is of before its cap
    went down."""
    monkeypatch.setattr(inspection, "NAMED_ROWS", 2)
    world = clinic(folder)
    south = world.dataset.read_text().replace(*SOUTH)
    world.dataset.write_text(south)
    run(world, "first")
    anchor = read(world)
    world.dataset.write_text(south.replace(*LOWER))
    ran("ledger", "amend-caps", world.dataset, "--quiet")
    run(world, "second")
    world.put_back("draft")
    go_on(world)
    disturb(world, "put back", anchor)
    go_on(world)
    world.dataset.write_text(south)
    assert "was charged under other caps, in rows that are lost" in refused(world, "third")
    world.dataset.write_text(south.replace(*LOWER))
    run(world, "third")
    ran("ledger", "verify", world.dataset)


def taken_as_an_earlier_version_did(patch):
    """Terms of every line of lost rows are taken, and the last ones hold."""
    patch.setattr(inspection, "untold", lambda branch, *, keys, counted: (branch.heads, keys))  # noqa: ARG005
    patch.setattr(Told, "followed_by", Told.replaced_by)


def a_chain_whose_terms_would_be_others_now_is_read(folder, monkeypatch):
    """South was planned under ε and charged under ρ; the anchor is of before the charge."""
    world = clinic(folder)
    north, south, anchor = charged_in_rho(world)
    world.put_back("draft")
    with monkeypatch.context() as patch:
        taken_as_an_earlier_version_did(patch)
        world.dataset.write_text(north)
        go_on(world)
        disturb(world, "put back", anchor)
        go_on(world)
        world.dataset.write_text(south.replace(*PURE))
        ran("plan", world.study, "--quiet")
    assert "the two do not add up" in refused(world, "second")
    ran("ledger", "verify", world.dataset)


def test_a_chain_whose_lost_terms_would_be_others_now_is_read(tmp_path, monkeypatch):
    a_chain_whose_terms_would_be_others_now_is_read(tmp_path, monkeypatch)


@pytest.mark.parametrize("south", [False, True], ids=["known", "in lost rows alone"])
@pytest.mark.parametrize("way", WAYS)
def test_amounts_that_do_not_add_up_stop_the_lineage_whatever_anchor_is_put_back(
    tmp_path, way, south
):
    amounts_that_do_not_add_up_stop_the_lineage(tmp_path, way, south=south)


def test_a_cap_that_many_lost_rows_lowered_stays_low_whatever_anchor_is_put_back(
    tmp_path, monkeypatch
):
    a_cap_that_many_lost_rows_lowered_stays_low(tmp_path, monkeypatch)


class TestTheseTestsCanFail:
    @pytest.mark.mutant
    @pytest.mark.parametrize("south", [False, True], ids=["known", "in lost rows alone"])
    def test_an_officers_row_that_tells_of_the_newest_terms_alone_is_caught(
        self, tmp_path, monkeypatch, south
    ):
        real = book_head._holding
        monkeypatch.setattr(book_head, "_holding", lambda holds: real(replace(holds, others=())))
        with pytest.raises(AssertionError):
            amounts_that_do_not_add_up_stop_the_lineage(tmp_path, "lost", south=south)

    @pytest.mark.mutant
    def test_caps_of_lost_rows_that_earlier_ones_raise_are_caught(self, tmp_path, monkeypatch):
        real = Told.followed_by
        monkeypatch.setattr(
            Told,
            "followed_by",
            lambda self, newer: replace(real(self, newer), caps=newer.caps or self.caps),
        )
        with pytest.raises(AssertionError):
            a_cap_that_many_lost_rows_lowered_stays_low(tmp_path, monkeypatch)
