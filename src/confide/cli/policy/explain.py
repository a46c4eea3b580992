"""``confide policy explain``: what each line of a policy means, for a member of the board."""

from confide.cli.output import Json, Output, Quiet
from confide.cli.policy.said import HERE, File, as_body, show


def explain(path: File = HERE, *, as_json: Json = False, quiet: Quiet = False) -> None:
    """Say what each line of a policy means, in plain words and as odds."""
    from confide.drawing.words import load_words
    from confide.files.policy import read_policy
    from confide.report.policy_board import board_parts
    from confide.report.policy_words import title

    policy, words = read_policy(path), load_words("en")
    name, parts = title(policy, words=words), tuple(board_parts(policy, words=words))
    output = Output(json=as_json, quiet=quiet)
    output.result("policy-explain", as_body(name, parts), show=lambda: show(name, parts))
