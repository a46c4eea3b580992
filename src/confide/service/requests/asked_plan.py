"""The plan that a file asks approval of: of a study, a study over sites, a synthesis, its check."""

import contextlib
import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from confide.errors import ContractError
from confide.files.federation.federation import read_federation
from confide.files.yaml_text import read_yaml
from confide.plans.plan import Priced
from confide.plans.soundness.soundness import require_sound
from confide.service.opening import open_study
from confide.service.site import Site
from confide.service.synthesis.evaluate import check_plan
from confide.service.synthesis.plan import declared_synthesis, job_plan


class OfSynthesis(enum.Enum):
    """Which of the two charges of a synth.yaml is asked for."""

    TABLE = "table"
    CHECK = "check"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFile:
    """What is asked for, in files.

    Attributes:
        file: A study.yaml or a synth.yaml.
        period: Which run of a study that repeats.
        federation: Of a study over sites, as every member has it.
        part: Of a synth.yaml: its table, or the check of its criteria.
    """

    file: Path
    period: str | None = None
    federation: Path | None = None
    part: OfSynthesis = OfSynthesis.TABLE


@contextlib.contextmanager
def asked_plan(asked: AskedFile) -> Iterator[tuple[Site, Priced]]:
    """Open the data set of a file, with the plan that the file asks for; reads no row.

    Raises:
        ContractError: If a file breaks its contract, or is asked what one of its kind has not; of
            a check also if its synthesis was not run.
    """
    value = read_yaml(asked.file)
    if isinstance(value, Mapping) and "synthesis" in value:
        with _of_synthesis(asked) as found:
            yield found
        return
    if asked.part is OfSynthesis.CHECK:
        raise ContractError("Only a synth.yaml has criteria to check.", hint="Leave --check out.")
    site, declared = open_study(asked.file, period=asked.period)
    with site:
        if asked.federation is None:
            yield site, declared.plan()
            return
        plan = declared.plan_over(read_federation(asked.federation))
        require_sound(plan)
        yield site, plan


@contextlib.contextmanager
def _of_synthesis(asked: AskedFile) -> Iterator[tuple[Site, Priced]]:
    if asked.period is not None or asked.federation is not None:
        raise ContractError(
            "A synthesis has no period, and is of one site.",
            hint="Leave --period and --federation out.",
        )
    declared = declared_synthesis(asked.file)
    with Site(declared.declared) as site:
        is_check = asked.part is OfSynthesis.CHECK
        yield site, check_plan(site, declared) if is_check else job_plan(declared, site=site)
