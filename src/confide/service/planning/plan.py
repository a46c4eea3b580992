"""Plan: what a study would measure, how well, and what it would cost; reads no data."""

from dataclasses import replace
from pathlib import Path

from confide.files.study import DeclaredStudy, read_study
from confide.release.on_record import of_policy
from confide.service.opening import open_study
from confide.service.planning.alone import preview_alone, why_alone
from confide.service.planning.preview import Preview, described
from confide.service.planning.road import told_road


def plan(study: Path, *, period: str | None = None) -> Preview:
    """Return everything that is known of a study before it runs.

    Args:
        study: A study.yaml.
        period: Which run of a study that repeats.

    Raises:
        ContractError: If the study or its data set breaks its contract.
        LedgerFrozenError: If the ledger does not match its chain or anchor.
    """
    read = read_study(study, period=period)
    why = why_alone(read.declared.base)
    if why:
        read = _under_its_policy(read)
        chosen = read.chosen()
        seen = preview_alone(read, chosen.taken.plan, why=why)
        return replace(seen, road=told_road(read, chosen))
    site, declared = open_study(study, period=period)
    with site:
        chosen = declared.chosen()
        seen = described(chosen.taken.plan, site=site)
        return replace(seen, road=told_road(declared, chosen))


def _under_its_policy(study: DeclaredStudy) -> DeclaredStudy:
    """Return a study that has the noise of its policy, as far as the file says it."""
    declared = study.declared
    if declared.policy is None:
        return study
    return replace(study, record=of_policy(declared.policy, measure=declared.measure))
