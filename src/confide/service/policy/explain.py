"""Explain a policy: what each of its lines means, for a member of the board."""

from dataclasses import dataclass
from pathlib import Path

from confide.drawing.words import load_words
from confide.files.policy.policy import read_policy
from confide.report.policy.policy_board import board_parts
from confide.report.policy.policy_words import title
from confide.service.grids import TextPart, text_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedPolicy:
    """A policy in plain words and as odds.

    Attributes:
        title: Its name.
        parts: By line.
    """

    title: str
    parts: tuple[TextPart, ...]


def explain_policy(path: Path) -> ExplainedPolicy:
    """Say what each line of a policy means, in plain words and as odds.

    Raises:
        ContractError: If the file is no policy.
    """
    policy, words = read_policy(path), load_words("en")
    return ExplainedPolicy(
        title=title(policy, words=words), parts=text_parts(board_parts(policy, words=words))
    )
