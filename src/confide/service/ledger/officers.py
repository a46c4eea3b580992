"""The keys of the officers who do an act."""

from collections.abc import Sequence
from pathlib import Path

from confide.budget.workflow.acts import Officers
from confide.release.site.keys import read_person_key


def officers_of(paths: Sequence[Path] | None) -> Officers:
    """Return the keys of those who do an act.

    Raises:
        ContractError: If a file is no person's key.
    """
    return tuple(read_person_key(path) for path in paths or ())
