"""Federations of made-up hospitals, and a network between them that a test rules."""

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from confide.jobs.federated.secure_sum.collector import Collector
from confide.jobs.federated.secure_sum.participant import Participant
from confide.jobs.federated.secure_sum.round_terms import RoundTerms
from confide.jobs.federated.secure_sum.used_rounds import UsedRounds
from confide.noise.entropy import SystemEntropy
from confide.plans.sites.federation import Federation, Member
from confide.plans.sites.tolerance import Tolerance, least_threshold
from confide.release.site.keys import SigningKey


class Hospitals:
    """Members with their keys, the terms of a round, and each site's vector."""

    def __init__(self, folder, *, sites=5, drops=1, colluders=1, length=7, bound=1000, run="1"):
        self.folder = folder
        self.keys = [SigningKey(Ed25519PrivateKey.generate()) for _ in range(sites)]
        self.coordinator_key = SigningKey(Ed25519PrivateKey.generate())
        threshold = least_threshold(sites=sites, colluders=colluders)
        self.tolerance = Tolerance(
            sites=sites, drops=drops, colluders=colluders, threshold=threshold
        )
        self.federation = Federation(
            coordinator=Member(name="coordinator", key=self.coordinator_key.name),
            sites=tuple(Member(name=f"site-{i}", key=key.name) for i, key in enumerate(self.keys)),
            tolerance=self.tolerance,
        )
        self.terms = self.of_round(0, length=length, bound=bound, run=run)
        rng = np.random.default_rng(sites)
        self.vectors = rng.integers(-bound, bound + 1, size=(sites, length))
        self.asked = [0] * sites

    def of_round(self, number, *, length=None, bound=None, run="1", subject="a"):
        """The terms of another round of the same members."""
        return RoundTerms(
            federation=self.federation,
            run=run * 64,
            number=number,
            length=length or self.terms.length,
            bound=bound or self.terms.bound,
            subject=subject * 64,
        )

    def participant(self, site, *, terms=None, contribution=None):
        """A machine of one site."""

        def counted():
            self.asked[site] += 1
            return self.vectors[site]

        place = self.folder / f"used-{site}"
        place.mkdir(exist_ok=True)
        return Participant(
            terms or self.terms,
            site=site,
            key=self.keys[site],
            used=UsedRounds(place),
            contribution=contribution or counted,
            entropy=SystemEntropy(),
        )

    def collector(self, *, terms=None):
        """A machine of the coordinator."""
        return Collector(terms or self.terms, key=self.coordinator_key)

    def sum_of(self, survivors):
        """What the sum of some sites has to be."""
        return self.vectors[list(survivors)].sum(axis=0)


class Played:
    """A round, step by step: sites that are away at a step are away from it on."""

    def __init__(self, hospitals, *, terms=None, contributions=None):
        self.hospitals, given = hospitals, contributions or {}
        self.sites = {
            i: hospitals.participant(i, terms=terms, contribution=given.get(i))
            for i in range(len(hospitals.keys))
        }
        self.collector = hospitals.collector(terms=terms)
        self.wires = {i: site.begin() for i, site in self.sites.items()}
        self.seen = list(self.wires.values())

    def step(self, *, away=()):
        """Bring the sites' messages to the coordinator, and its own to the sites."""
        for site in away:
            self.wires.pop(site, None)
        for wire in self.wires.values():
            self.collector.receive(wire)
        self.told = self.collector.close()
        self.seen += self.told.values()
        return self.told

    def answer(self):
        """Let the sites answer."""
        self.wires = {i: self.sites[i].receive(wire) for i, wire in self.told.items()}
        self.seen += self.wires.values()

    def until(self, leg):
        """Play to the moment at which the coordinator has told the sites of a step."""
        while self.step() and leg != self.collector.expects - 1:
            self.answer()
        return self.told

    def whole(self, away=None):
        """Play to the end; ``away`` says who is away from which step on."""
        away = away or {}
        while True:
            self.step(away=away.get(self.collector.expects, ()))
            if self.collector.result is not None:
                return self.collector.result
            self.answer()
