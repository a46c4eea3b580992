"""Solve a policy: a division of the budget that keeps everything, or why there is none.

Every cap is a sum of spends with weights ≥ 0 and every floor is a lower bound, so the least spends
decide (lemma in ``rows.py``), in whole multiples of 1e-9.  That is a linear program whose answer
can be read off exactly; a solver in floats would have to be checked after anyway.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from confide.budget.policy.allocate import Allocation, allocate
from confide.budget.policy.change import Repair
from confide.budget.policy.conflict import Conflict, conflicts
from confide.budget.policy.floors import floors
from confide.budget.policy.one_measure import in_one_measure
from confide.budget.policy.policy import Policy
from confide.budget.policy.repairs import single_repairs
from confide.budget.policy.restructure import structural_repairs
from confide.budget.policy.rows import NOTHING, Row, require_spent_known, rows
from confide.errors import ContractError
from confide.privacy.measure import Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What a policy comes to.

    Attributes:
        policy: Which one.
        rows: Its caps, written out.
        floors: The least that each release needs, in 1e-9 of the measure.
        allocation: The division; None when there is a conflict.
        conflicts: Why there is none: one irreducible set for each cap that is passed.
        repairs: Each of them is enough by itself; the smallest change of its kind.
        spent: What was spent before, as it was passed in.
    """

    policy: Policy
    rows: tuple[Row, ...]
    floors: Mapping[str, int]
    allocation: Allocation | None
    conflicts: tuple[Conflict, ...] = ()
    repairs: tuple[Repair, ...] = ()
    spent: Mapping[str, int] = field(default_factory=dict)


def solve(policy: Policy, *, spent: Mapping[str, int] = NOTHING) -> Solution:
    """Return the division of a policy's budget, or the conflict in it and its repairs.

    That of a policy over a mixed ledger is the better of two, of ε or of ρ, as its policy says.

    Args:
        policy: What is solved.
        spent: What was spent before, in 1e-9 of the measure, by cap id or "cap@window".

    Raises:
        ContractError: If a limit or noise says nothing under the measure, no cap holds, or under
            mixed something was spent.
    """
    if not policy.mixed:
        return _solved(policy, spent=spent)
    if spent:
        raise ContractError(
            "What was spent of a mixed ledger is in its lanes, which one amount does not say.",
            hint="Leave --spent out; confide ledger show says what is left of each cap.",
        )
    return max((_solved(each, spent=spent) for each in in_one_measure(policy)), key=_error_room)


def _error_room(solution: Solution) -> Fraction:
    """Return the least head-room, squared, of errors; -1 where the policy cannot be met.

    An error is as 1/ε, or as 1/√ρ.
    """
    if solution.allocation is None:
        return Fraction(-1)
    least = min(solution.allocation.head_room.values(), default=Fraction(1))
    return least**2 if solution.policy.measure is Measure.PURE else least


def _solved(policy: Policy, *, spent: Mapping[str, int]) -> Solution:
    require_spent_known(policy, spent=spent)
    written, least = rows(policy, spent=spent), floors(policy)
    found = conflicts(written, least)
    if not found:
        division = allocate(policy, written=written, floors=least)
        return Solution(policy=policy, rows=written, floors=least, allocation=division, spent=spent)
    return Solution(
        policy=policy,
        rows=written,
        floors=least,
        allocation=None,
        spent=spent,
        conflicts=found,
        repairs=(
            *single_repairs(policy, found=found, spent=spent),
            *structural_repairs(policy, found=found, spent=spent),
        ),
    )
