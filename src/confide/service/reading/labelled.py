"""The labels of a study.yaml, for a release that is read from its folder, which holds none.

*Privacy:* reads no row and no ledger; labels are words for readers and move no number.
"""

from collections.abc import Mapping
from pathlib import Path

from confide.errors import ContractError
from confide.report.release import Release


def labelled(release: Release, study: Path | None) -> Release:
    """Return a release that is told in the labels of its study, and of that study's data set.

    Args:
        release: As it was rebuilt from its folder.
        study: The study.yaml that was run, whose labels may have changed since; none when None.

    Raises:
        ContractError: If it is the file of another study, or breaks its contract.
    """
    if study is None:
        return release
    from confide.files.study import read_study
    from confide.files.yaml_text import read_yaml

    of = release.plan.study
    about = read_yaml(study).get("study")
    repeats = isinstance(about, Mapping) and isinstance(about.get("period"), Mapping)
    found = read_study(study, period=of.period if repeats else None)
    if found.study.id != of.id:
        raise ContractError(
            f"{study.name} is study {found.study.id!r}, and this release is of {of.id!r}.",
            hint="Give --labels the study.yaml that was run.",
        )
    return release.called(found.labels)
