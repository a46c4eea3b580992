"""Networks that lose, repeat, hold back, cross and change messages: the right sum, or none."""

import random

import pytest

from confide.errors import MessageRefusedError, RoundAbortedError
from confide.jobs.federated.secure_sum.envelope import COORDINATOR
from federations import Hospitals


class Network:
    """Delivers what it likes; ``harm`` is the chance of each kind of harm to a message."""

    def __init__(self, hospitals, *, seed, harm):
        self.rng, self.harm = random.Random(seed), harm
        self.sites = {i: hospitals.participant(i) for i in range(len(hospitals.keys))}
        self.collector = hospitals.collector()
        self.flying, self.past = [], []
        for i, site in self.sites.items():
            self.send(COORDINATOR, site.begin())
            self.send(i, self.past[0][1])  # what is of nobody's business

    def send(self, to, wire):
        self.past.append((to, wire))
        lost = self.rng.random() < self.harm
        if not lost:
            self.flying.append((to, wire))
        if self.rng.random() < self.harm:
            self.flying.append(self.rng.choice(self.past))  # again, perhaps to a step long over
        if self.rng.random() < self.harm:
            self.flying.append((to, self.changed(wire)))

    def changed(self, wire):
        place, kind = self.rng.randrange(len(wire)), self.rng.randrange(3)
        if kind == 0:
            return wire[:place]
        if kind == 1:
            return wire + wire[:1]
        return wire[:place] + bytes([wire[place] ^ 1 << self.rng.randrange(8)]) + wire[place + 1 :]

    def run(self):
        """Return the sum; None where the round ended without one."""
        for _ in range(4000):
            if self.flying and self.rng.random() < 0.95:
                self.deliver()
            elif self.collector.is_complete or not self.flying:
                try:
                    told = self.collector.close()
                except RoundAbortedError:
                    return None
                if self.collector.result is not None:
                    return self.collector.result
                for site, wire in told.items():
                    self.send(site, wire)
        raise AssertionError("the round never ended")

    def deliver(self):
        to, wire = self.flying.pop(self.rng.randrange(len(self.flying)))
        try:
            if to == COORDINATOR:
                self.collector.receive(wire)
            else:
                self.send(COORDINATOR, self.sites[to].receive(wire))
        except (MessageRefusedError, RoundAbortedError):
            pass


def outcomes(folder, *, runs, harm):
    """Count exact sums and rounds without one; a wrong sum is an error."""
    exact = 0
    for seed in range(runs):
        place = folder / f"{harm}-{seed}"
        place.mkdir()
        hospitals = Hospitals(place, sites=5, drops=1, length=3)
        result = Network(hospitals, seed=seed, harm=harm).run()
        if result is not None:
            assert len(result.survivors) >= 4
            assert result.total.tolist() == hospitals.sum_of(result.survivors).tolist(), seed
            exact += 1
        assert max(hospitals.asked) <= 1
    return exact, runs - exact


@pytest.mark.parametrize(("harm", "runs"), [(0.02, 100), (0.06, 100)])
def test_a_hostile_network_gives_the_right_sum_or_none(harm, runs, tmp_path):
    exact, none = outcomes(tmp_path, runs=runs, harm=harm)
    assert exact > runs // 10
    assert none > runs // 20


@pytest.mark.audit
@pytest.mark.parametrize("harm", [0.02, 0.05, 0.1])
def test_a_thousand_hostile_networks_give_the_right_sum_or_none(harm, tmp_path):
    exact, none = outcomes(tmp_path, runs=1000, harm=harm)
    assert exact > 10
    assert none > 50
