"""``confide policy check``: read a policy, name what is wrong in it, and show its caps as odds."""

from typing import TYPE_CHECKING, Any

from confide.cli.output import Json, Output, Quiet
from confide.cli.policy.said import HERE, File, show

if TYPE_CHECKING:
    from confide.budget.policy.policy import Policy


def check(path: File = HERE, *, as_json: Json = False, quiet: Quiet = False) -> None:
    """Read a policy, name its first mistake, and show its caps in ε and as odds."""
    from confide.files.policy import read_policy
    from confide.report.policy_board import caps_part
    from confide.report.policy_words import title
    from confide.report.words import load_words

    policy, words = read_policy(path), load_words("en")
    parts = [caps_part(policy, words=words)]
    Output(json=as_json, quiet=quiet).result(
        "policy-check", _body(policy), show=lambda: show(title(policy, words=words), parts)
    )


def _body(policy: "Policy") -> dict[str, Any]:
    from confide.report.policy_board import odds_of
    from confide.report.policy_words import exactly, limit_text

    return {
        "policy": policy.id,
        "version": policy.version,
        "digest": policy.digest(),
        "effective": policy.effective,
        "measure": policy.measure.value,
        "releases": [release.id for release in policy.releases],
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
