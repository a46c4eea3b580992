"""Random adaptive sequences of releases: nobody is ever charged past the cap, to the last 1e-15."""

import numpy as np
import pytest

from confide.privacy.amount import NANO
from confide.privacy.individual import FEMTO, CapWindow
from ledgers import LINEAGE
from patient_ledgers import UNIT, Site

PATIENTS, RELEASES = 5, 12
FAST, FULL = 300, 10_000
YEAR = 10**6 * NANO


class Analyst:
    """Chooses every next loss by what the noisy answers said: one analyst for each sequence."""

    def __init__(self, sequences, *, seed):
        self.rng = np.random.default_rng(seed)
        self.sequences = sequences
        self.lean = np.zeros(sequences)

    def losses(self):
        scale = np.where(self.lean > 0, FEMTO // 3, FEMTO // 50)[:, None]
        drawn = self.rng.integers(0, 2 * scale, size=(self.sequences, PATIENTS))
        exact = self.rng.random((self.sequences, PATIENTS)) < 0.1
        return np.where(exact, FEMTO // 4, drawn).astype(np.int64)

    def hear(self, inside):
        noise = self.rng.laplace(size=self.sequences)
        self.lean = inside.sum(axis=1) - PATIENTS / 2 + noise


class Brute:
    """The same patient by patient, in plain Python integers."""

    def __init__(self, people, *, bound):
        self.bound, self.people = bound, people
        self.everybody = self.burned = 0
        self.paid = [[] for _ in range(people)]
        self.out = [[] for _ in range(people)]

    def spent(self, patient):
        return self.burned + self.released(patient)

    def released(self, patient):
        """What the patient paid for releases of which noise was drawn."""
        return self.everybody + sum(self.paid[patient]) - sum(self.out[patient])

    def release(self, losses, *, everybody):
        inside = []
        for patient in range(self.people):
            loss = losses[patient] + everybody
            fits = self.spent(patient) + loss <= self.bound
            inside.append(fits)
            if fits:
                self.paid[patient].append(losses[patient])
            else:
                self.out[patient].append(everybody)
        self.everybody += everybody
        return inside

    def new_window(self):
        self.__init__(self.people, bound=self.bound)


def run(folder, *, sequences, seed, window=CapWindow.CALENDAR_YEAR):
    """Run all sequences at once, each on patients of its own; compare with brute force."""
    rng = np.random.default_rng(seed)
    site = Site(folder, window=window, year=YEAR)
    people = sequences * PATIENTS
    who, oracle = np.arange(people), Brute(people, bound=FEMTO)
    analyst, most = Analyst(sequences, seed=seed), np.zeros(people, dtype=np.int64)
    left_out = 0
    for number in range(RELEASES):
        kind = rng.integers(8)
        if kind == 0:  # dies before its membership is durable: everybody pays the whole loss
            held = site.reserve(f"r{number}", nano=NANO // 50)
            site.ledger.start_reading(held)
            site.ledger.burn(held, incident="x")
            oracle.burned += NANO // 50 * UNIT
        elif kind == 1 and window is CapWindow.CALENDAR_YEAR:
            site.clock.move(days=365)
            site.ledger.open_year(LINEAGE, year=site.clock.now().year, reason="new year")
            oracle.new_window()
        elif kind == 2:  # the next process
            site.close()
            site.open()
        losses = analyst.losses()
        everybody = int(rng.integers(0, FEMTO // 60)) if kind == 3 else 0
        inside = site.release(f"c{number}", who, losses.ravel(), everybody=everybody, count=people)
        assert inside.tolist() == oracle.release(losses.ravel().tolist(), everybody=everybody)
        analyst.hear(inside.reshape(sequences, PATIENTS))
        left_out += int((~inside).sum())
        most = np.maximum(most, np.array([oracle.released(p) for p in range(people)]))
    site.close()
    return most, left_out


def test_in_random_adaptive_sequences_nobody_is_charged_past_the_cap(tmp_path):
    most, left_out = run(tmp_path / "s", sequences=FAST, seed=3)
    assert left_out > 1_000
    assert (most <= FEMTO).all()
    assert (most > FEMTO * 9 // 10).mean() > 0.2, "caps are used up"


@pytest.mark.audit
@pytest.mark.parametrize("window", [CapWindow.CALENDAR_YEAR, CapWindow.LIFETIME])
def test_in_ten_thousand_adaptive_sequences_nobody_is_charged_past_the_cap(tmp_path, window):
    most, left_out = run(tmp_path / "s", sequences=FULL, seed=4, window=window)
    assert left_out > 30_000
    assert (most <= FEMTO).all()
