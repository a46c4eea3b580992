"""A job whose noisy vectors sites add up: how many sums, of how many numbers each."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from confide.plans.canonical import Json
from confide.plans.job import JobPlan
from confide.plans.sites.federation import Federation


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSums:
    """The sums of a job over sites.

    Attributes:
        plan: Of the job; what each site approves and charges.
        federation: The sites; the plan's settings name them as well.
        lengths: How many numbers each site sends in each sum.
    """

    plan: JobPlan
    federation: Federation
    lengths: tuple[int, ...]

    def to_json(self) -> Json:
        """Return the job's plan as JSON."""
        return self.plan.to_json()

    def digest(self) -> str:
        """Return the digest of the job's plan."""
        return self.plan.digest()


@runtime_checkable
class AddedBySites(Protocol):
    """A job that says which sums sites make of it."""

    def sums(self, plan: JobPlan) -> JobSums:
        """Return what sites add."""
