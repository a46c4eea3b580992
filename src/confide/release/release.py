"""A release: noisy numbers, what was made of them, and the certificate; free to publish."""

from dataclasses import dataclass

from confide.budget.ledger import StoredRelease
from confide.errors import UnknownNameError
from confide.plans.canonical import Json
from confide.plans.estimates import Estimate
from confide.plans.plan import Plan, Statistic
from confide.release.authority import NO_AUTHORITY, Authority
from confide.release.certificate import Issuer, certificate
from confide.release.cuts import with_cuts
from confide.release.keys import SigningKey
from confide.release.noisy import NoisyAggregates, read_payload
from confide.release.software import software


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What left the gate.

    Attributes:
        noisy: The noisy integers with their plan.
        estimates: Every published number, in the plan's order.
        certificate: Signed JSON.
    """

    noisy: NoisyAggregates
    estimates: tuple[Estimate, ...]
    certificate: Json

    @property
    def plan(self) -> Plan:
        """The plan that was released."""
        return self.noisy.plan

    def of(self, statistic: Statistic | str) -> tuple[Estimate, ...]:
        """Return the estimates of one statistic.

        Raises:
            UnknownNameError: If the release has no such statistic.
        """
        name = statistic if isinstance(statistic, str) else statistic.id
        found = tuple(estimate for estimate in self.estimates if estimate.statistic == name)
        known = [each.id for each in self.plan.statistics]
        if not found and name not in known:
            raise UnknownNameError("statistic", name, known=known)
        return found


def certified(
    stored: StoredRelease,
    *,
    issuer: Issuer,
    signer: SigningKey,
    authority: Authority = NO_AUTHORITY,
    commitment: Json = None,
) -> Release:
    """Return a stored answer with its estimates and its signed certificate."""
    noisy = read_payload(stored.payload)
    estimates = with_cuts(noisy.estimates(), plan=noisy.plan)
    return Release(
        noisy=noisy,
        estimates=estimates,
        certificate=certificate(
            noisy,
            estimates=estimates,
            entry=stored.entry,
            issuer=issuer,
            software=software(),
            signer=signer,
            authority=authority,
            commitment=commitment,
        ),
    )
