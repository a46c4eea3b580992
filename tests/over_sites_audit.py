"""What leaves a federation, as those see it from whom it protects: the sum less colluders' noise.

Patients of generated tables go to two honest sites, by their number; a third one acts with the
coordinator, has no patients, and takes its own noise out of the sum, which is as if it added none.
"""

import threading
from types import SimpleNamespace

import numpy as np

from confide.attacks.audit.sensitivity_search import HASH_KEY
from confide.budget.ledger import Caps, LedgerTerms
from confide.plans.pricing.over_sites import lengths_of_sums, over_sites
from confide.privacy.amount import NANO
from confide.release.noisy import NoisyAggregates, read_values
from confide.release.over_sites.site_gate import SiteGate
from confide.release.site.keys import read_signing_key
from confide.release.site.ledger_pin import make_keys
from confide.release.site.site_ledger import site_ledger
from confide.rows.engines.duckdb import open_engine
from confide.tables.source import Source, SourceKind
from federated_models import Here, Meeting
from federations import Hospitals

HONEST = 2


class AuditedSites:
    """Two honest sites with gates and ledgers of their own, and a colluder."""

    def __init__(self, folder, *, entropy, change=lambda plan: plan):
        self.folder, self.entropy, self.change = folder, entropy, change
        self.hospitals = Hospitals(folder, sites=HONEST + 1, drops=0)
        self.released = 0

    def __call__(self, plan, frames):
        """Release a plan over sites; the answer is read from the bytes that ledgers keep."""
        self.released += 1
        together = self.change(over_sites(plan, federation=self.hospitals.federation))
        about = SimpleNamespace(plan=together, hospitals=self.hospitals, parts=range(HONEST + 1))
        meeting, ended = Meeting(about, run=f"{self.released % 10}"), {}

        def take_part(place):
            try:
                ended[place] = self._released(place, together, meeting=meeting, frames=frames)
            except BaseException:
                meeting.barrier.abort()
                raise

        threads = [threading.Thread(target=take_part, args=[place]) for place in range(HONEST)]
        for thread in threads:
            thread.start()
        for length in lengths_of_sums(together):
            meeting.add(HONEST, (0,) * length)
        for thread in threads:
            thread.join(timeout=120)
        assert ended[0] == ended[1]
        return NoisyAggregates(plan=plan, values=read_values(ended[0]))

    def _released(self, place, plan, *, meeting, frames):
        folder = self.folder / f"{self.released}-{place}"
        folder.mkdir(mode=0o700)
        make_keys(folder)
        ledger = site_ledger(folder, signer=read_signing_key(folder))
        ledger.register(
            LedgerTerms(
                lineage=plan.dataset.lineage,
                unit=plan.dataset.unit.entity,
                adjacency=plan.dataset.adjacency,
                measure=plan.dataset.measure,
                caps=Caps(lifetime=10**6 * NANO),
            )
        )
        own = {
            name: table.filter(np.array(table["pid"]) % HONEST == place)
            for name, table in frames.items()
        }
        source = Source(kind=SourceKind.FRAMES)
        with open_engine(
            source, base=folder, dataset=plan.dataset, hash_key=HASH_KEY, frames=own
        ) as engine:
            gate = SiteGate(
                ledger=ledger,
                engine=engine,
                report_incident=lambda *_: None,
                require_consent=lambda: None,
                rehearse=lambda _: None,
                entropy=self.entropy(place + HONEST * self.released),
            )
            taken = gate.take_part(
                plan, among=Here(meeting, place), analyst="audit", request_key="1" * 64
            )
            return taken.payload
