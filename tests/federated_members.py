"""Made-up members of federations, for plans."""

from confide.plans.sites.federation import Federation, Member
from confide.plans.sites.tolerance import Tolerance, least_threshold


def members(*, sites=5, drops=1, colluders=1, per_person=1):
    """A federation of so many sites, whose keys nobody has."""
    threshold = least_threshold(sites=sites, colluders=colluders)
    return Federation(
        coordinator=Member(name="hub", key="ed25519:" + "0" * 64),
        sites=tuple(Member(name=f"site-{i}", key=f"ed25519:{i + 1:064x}") for i in range(sites)),
        tolerance=Tolerance(sites=sites, drops=drops, colluders=colluders, threshold=threshold),
        sites_per_person=per_person,
    )
