"""``confide policy check``: read a policy, say what is wrong in it, and show its caps as odds."""

from typing import TYPE_CHECKING, Any

import typer

from confide.cli.output import Json, Output, Quiet
from confide.cli.policy.said import HERE, REFUSED, File, show

if TYPE_CHECKING:
    from confide.budget.policy.policy import Policy


def check(path: File = HERE, *, as_json: Json = False, quiet: Quiet = False) -> None:
    """Read a policy, name its first mistake, show its caps as odds, and say if it can be met."""
    from confide.budget.policy.solve import solve
    from confide.drawing.words import load_words
    from confide.files.policy import read_policy
    from confide.report.policy_board import acts_text, caps_part, open_tiers, open_tiers_part
    from confide.report.policy_words import Part, title

    policy, words = read_policy(path), load_words("en")
    solution = solve(policy)
    can_be_met = solution.allocation is not None
    met = (
        (words.say("policy.met"),)
        if can_be_met
        else (
            words.say_count("policy.not-met", len(solution.conflicts)),
            words.say("policy.see-solve"),
        )
    )
    parts = [caps_part(policy, words=words), Part(sentences=met)]
    if open_tiers(policy):
        parts.append(open_tiers_part(policy, words=words))
    parts.append(Part(sentences=(acts_text(policy, words=words),)))
    Output(json=as_json, quiet=quiet).result(
        "policy-check",
        {**_body(policy), "can-be-met": can_be_met},
        show=lambda: show(title(policy, words=words), parts),
    )
    if not can_be_met:
        raise typer.Exit(REFUSED)


def _body(policy: "Policy") -> dict[str, Any]:
    from confide.report.policy_board import odds_of, open_tiers
    from confide.report.policy_words import exactly, limit_text

    return {
        "policy": policy.id,
        "version": policy.version,
        "digest": policy.digest(),
        "effective": policy.effective,
        "measure": policy.measure.value,
        "releases": [release.id for release in policy.releases],
        "tiers-without-approval": [
            {
                "id": tier.id,
                "ceiling": None if tier.ceiling is None else limit_text(tier.ceiling),
                "audience": list(tier.audience),
            }
            for tier in open_tiers(policy)
        ],
        "caps": [
            {
                "id": cap.id,
                "basis": cap.basis.value,
                "priority": cap.priority,
                "scope": cap.scope.value,
                "window": cap.window.value,
                "enforce": cap.enforce.value,
                "limit": limit_text(cap.limit),
                "units": None if units is None else exactly(units),
                "posterior-of-1-percent": None if odds is None else str(odds.posterior),
                "true-positive-rate-at-1-percent": None if odds is None else odds.found,
            }
            for cap in policy.caps
            for units, odds in [odds_of(cap, policy=policy)]
        ],
    }
