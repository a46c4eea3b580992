"""Random lives of per-patient budgets, and what each patient really paid in them.

Two workspaces stay open for as long as they may, while patients come, withdraw, and are left off
lists that are made anew; older copies of ledger and records are put back under them, and single
files of the records, which are put right again; an officer goes on.  Whatever happens in which
order, nobody may be charged past the cap: what a patient paid is taken where it is decided, by the
hash of their id, and never forgotten.
"""

import contextlib
import random
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import confide
from command_line import confide as confide_line
from confide.budget.per_patient.store import PatientStore
from confide.errors import ContractError, LedgerFrozenError, PolicyError, ReleaseFailedError
from confide.privacy.individual import FEMTO
from confide.release.consent import Lost
from confide.service.site import Site
from confide.workspace import Workspace
from patients_world import write_hospital
from recovery_world import World, ran

CAP = 60
ANOTHER = bytes(range(32)).hex().encode() + b"\n"
"""Of hash.key."""
ACTS = {
    "release": 10,
    "somebody_comes": 1.5,
    "withdraw": 1.5,
    "lists_are_lost": 1,
    "come_back": 0.7,
    "number_comes_back": 2,
    "segments_come_and_go": 2,
    "segments_change_while_a_release_reads": 1,
    "copy": 1,
    "put_a_copy_back": 0.5,
    "put_old_segments_back": 1.5,
    "put_right_segments_back": 0.7,
    "close": 0.5,
    "rotate_key": 0.2,
    "hash_key_is_exchanged_for_a_moment": 0.7,
}
WINDOWS = ("lifetime", "rolling-365d", "calendar-year")


@contextlib.contextmanager
def watched() -> Iterator[dict[tuple[int, ...], int]]:
    """Yield what each patient paid, by the hash of their id, in 1e-15."""
    paid: dict[tuple[int, ...], int] = defaultdict(int)
    real = PatientStore.charge

    def charge(store, ledger, *, bill, **others):
        who, losses, hashes = bill.who.copy(), bill.losses.copy(), bill.identities()
        charged = real(store, ledger, bill=bill, **others)
        out = set(charged.left_out.tolist())
        for person, loss in zip(who.tolist(), losses.tolist(), strict=True):
            if person not in out:
                paid[tuple(hashes[person].tolist())] += loss
        return charged

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PatientStore, "charge", charge)
        yield paid


@contextlib.contextmanager
def another_key(dataset: Path) -> Iterator[None]:
    """Put another hash.key in place while a source is opened, and then the right one back."""
    path, real = dataset.parent / ".confide" / "hash.key", Site.engine_without

    def opened(site, withdrawn):
        right = path.read_bytes()
        path.write_bytes(ANOTHER)
        try:
            return real(site, withdrawn)
        finally:
            path.write_bytes(right)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Site, "engine_without", opened)
        yield


@dataclass
class Life:
    """One hospital, and the workspaces that are open on it."""

    kind: str
    folder: Path
    seed: int
    measure: str = "pure"
    open: dict[str, Workspace] = field(default_factory=dict)
    copies: list[str] = field(default_factory=list)
    asked: int = 0
    right: dict[Path, bytes] = field(default_factory=dict)  # in whose place older ones are

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.ids = [str(number) for number in range(6)]
        limits = {"cap": f'epsilon: "{CAP}"', "life": 'epsilon: "90000"'}
        window = self.draw.choice(WINDOWS)
        write_hospital(self.folder, patients=6, window=window, measure=self.measure, **limits)
        self.world = World(kind=self.kind, folder=self.folder)
        self.world.declare()

    def live(self, acts: int) -> "Life":
        """Do so many acts; nobody may ever have paid more than the cap."""
        with watched() as paid:
            self.release()
            for _ in range(acts):
                (act,) = self.draw.choices(list(ACTS), list(ACTS.values()))
                try:
                    getattr(self, act)()
                except (PolicyError, ReleaseFailedError):
                    continue  # nothing is left, nobody could be counted, or files changed too much
                except LedgerFrozenError:
                    self.close_all()
                    self.draw.choice([self.forget_nobody, self.put_right_segments_back])()
                assert max(paid.values()) <= CAP * FEMTO, (self.seed, act)
            self.close_all()
            self.workspace()
            self.close_all()
            mends = (self.forget_nobody, self.put_right_segments_back, self.put_newest_back)
            for mend in (*mends, self.forget_nobody):
                if confide_line("patients", "verify", self.world.dataset).code:
                    mend()
            ran("patients", "verify", self.world.dataset)
            ran("ledger", "verify", self.world.dataset)
        return self

    def workspace(self) -> Workspace:
        """Return one of two that stay open; an officer goes on if the ledger is frozen."""
        name = self.draw.choice("ab")
        if name not in self.open:
            if self.world.is_frozen():
                self.world.unfreeze()
            self.open[name] = confide.open(self.world.dataset)
        return self.open[name]

    def close_all(self) -> None:
        for each in self.open.values():
            each.close()
        self.open.clear()

    # --- acts ---

    def release(self, *epsilons: str) -> None:
        self.asked += 1
        of = {"id": "n", "kind": "count", "table": "people"}
        if not epsilons and self.draw.random() < 0.6:
            of["where"] = {"sex": [self.draw.choice("fm")]}
        at = self.workspace() if self.asked > 1 else self.first()
        epsilon = self.draw.choice(epsilons or ("2", "4", "8", "16"))
        at.release(at.plan(of, epsilon=epsilon), request=f"k{self.asked}", again=True)

    def first(self) -> Workspace:
        """Return a workspace that begins the ledger."""
        self.open["a"] = confide.open(self.world.dataset)
        return self.open["a"]

    def somebody_comes(self) -> None:
        self.ids.append(f"new-{len(self.ids)}")
        with (self.folder / "people.csv").open("a") as people:
            people.write(f"{self.ids[-1]},{self.draw.choice('fm')}\n")

    def withdraw(self) -> None:
        some = self.ids if self.draw.random() < 0.4 else self.ids[:3]  # the same ones, again
        who = self.draw.sample(some, self.draw.randrange(1, 3))
        if self.draw.random() < 0.5:
            self.workspace().forget(who)
            return
        with confide.open(self.world.dataset) as another:
            another.forget(who)

    def lists_are_lost(self) -> None:
        shutil.rmtree(self.world.inside / "withdrawn", ignore_errors=True)
        listed = [self.draw.choice([self.ids[-1], "of nobody"])]
        with confide.open(self.world.dataset) as another:
            another.forget(listed, lost=Lost(reason="the disk burned"))

    def come_back(self) -> None:
        """Let somebody withdraw, be left off the lists that are made anew, and be met anew."""
        self.withdraw_and_be_left_off()
        self.release()

    def withdraw_and_be_left_off(self) -> None:
        self.workspace().forget(self.ids[:1])
        self.lists_are_lost()

    def number_comes_back(self) -> None:
        """Let somebody be met anew under a second number, lose it, and get the first one back."""
        self.copy()
        self.come_back()
        self.withdraw_and_be_left_off()
        self.put_segments_of(self.copies[-1])
        self.release()

    def segments_come_and_go(self) -> None:
        """Put older segments in the place of those that are there for a while, unseen."""
        self.copy()
        self.withdraw_and_be_left_off()
        self.put_segments_of(self.copies[-1])
        self.release("8", "40")
        if self.draw.random() < 0.5:
            self.forget_nobody()
            self.release("8", "40")
        self.put_right_segments_back()
        self.release("8", "40")

    def segments_change_while_a_release_reads(self) -> None:
        """Put the newest segments back under a release that older ones admitted."""
        self.copy()
        self.withdraw_and_be_left_off()
        self.put_segments_of(self.copies[-1])
        real = PatientStore.charge

        def charge(store, ledger, **others):
            self.put_right_segments_back()
            return real(store, ledger, **others)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PatientStore, "charge", charge)
            self.release("8", "40")
        self.release("8", "40")

    def copy(self) -> None:
        name = f"copy-{len(self.copies)}"
        self.copies.append(name)
        self.world.take(name)

    def put_a_copy_back(self) -> None:
        """Put ledger and records back, as the docs say, whoever has them open."""
        if not self.copies:
            return
        if self.draw.random() < 0.5:
            self.close_all()
        self.put_back(self.draw.choice(self.copies[-5:]))

    def put_newest_back(self) -> None:
        """Files that are of another history than the ledger go with the ledger alone."""
        self.put_back(self.copies[-1])

    def put_back(self, name: str) -> None:
        self.right.clear()
        self.world.put_back(name)
        self.world.patients_of(name)
        if self.world.is_frozen():
            self.world.unfreeze()

    def put_old_segments_back(self) -> None:
        """Put older files of who is who over those that are there, as a copy of a folder does."""
        if self.copies:
            self.put_segments_of(self.draw.choice(self.copies))

    def put_segments_of(self, copy: str) -> None:
        old = self.world.copies / f"{copy}.patients"
        for path in old.rglob("*.people"):
            there = self.world.inside / "patients" / path.relative_to(old)
            if there.exists():
                self.right.setdefault(there, there.read_bytes())
                shutil.copy2(path, there)

    def put_right_segments_back(self) -> None:
        for path, content in self.right.items():
            if path.exists():
                path.write_bytes(content)
        self.right.clear()

    def forget_nobody(self) -> None:
        """Do what the refusal says: whoever is in a segment of before is charged in full."""
        if not self.world.is_frozen():
            command = ("patients", "forget", self.world.dataset)
            done = confide_line(*command, typed="of nobody")
            if "--lists-lost" in done.err:
                confide_line(*command, "--lists-lost", "the disk burned", typed="of nobody")

    def close(self) -> None:
        if self.open:
            self.open.pop(self.draw.choice(sorted(self.open))).close()

    def rotate_key(self) -> None:
        ran("ledger", "rotate-keys", self.world.dataset, "--reason", "yearly", "--quiet")

    def hash_key_is_exchanged_for_a_moment(self) -> None:
        """Exchange it while a source is opened: nobody may be met under the other one."""
        if self.draw.random() < 0.7:
            self.close_all()
        with another_key(self.world.dataset), contextlib.suppress(ContractError):
            self.release("8", "40")
