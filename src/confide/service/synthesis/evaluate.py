"""Evaluate: a synthetic table against the criteria that were agreed on before it was made.

*Privacy:* criteria are settings of the synthesis, so they are those that its plan and certificate
have.  What is compared with the data is a job of its own, charged before a row is read; verdict,
intervals and figures are functions of what it released.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confide.errors import ContractError
from confide.files.synth.synth import DeclaredSynthesis
from confide.jobs.kinds import in_parts
from confide.jobs.synthesis.acceptance.check import SynthesisCheck
from confide.jobs.synthesis.acceptance.compared import CHECK_FILE, CheckRunner, read_check
from confide.jobs.synthesis.acceptance.verdict import Acceptance, verdict_on
from confide.plans.job import JobPlan
from confide.regular_file import tell_day_alone, write_bytes
from confide.release.approval import analyst_of
from confide.release.jobs.job_certificate import JobRelease
from confide.release.jobs.job_rounds import has_parts
from confide.release.published import key_of_plan
from confide.release.site.incidents import stored_already
from confide.release.site.seal import sealing
from confide.service.planning.loss import ToldLoss, told_loss
from confide.service.releasing.deliver import require_outside, require_room, require_verified
from confide.service.releasing.jobs import run_in_parts
from confide.service.site import Site
from confide.service.synthesis.agreed import agreed_criteria, check_of
from confide.service.synthesis.combining import AnyData, data_of
from confide.service.synthesis.evaluation_page import evaluation_page
from confide.service.synthesis.plan import (
    declared_synthesis,
    job_plan,
    plan_of_check,
)
from confide.service.synthesis.run import name_of_last_part, released_synthesis, verified

EVALUATION = "evaluation.json"
_REPORT = "report.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionTold:
    """One criterion and what was found.

    Attributes:
        criterion: What it is about.
        accepted: In words.
        value: Found.
        lower: End of its 95 % interval.
        upper: Other end.
        of_table: The same in the synthetic table, where there is such a thing.
        verdict: "met", "not met", "cannot be told".
    """

    criterion: str
    accepted: str
    value: float
    lower: float
    upper: float
    of_table: float | None
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedSynthesis:
    """An evaluation in its folder.

    Attributes:
        folder: Where it is.
        report: The page in it.
        numbers: The verdict for programs.
        of: Release of the synthesis.
        verdict: Of all together: "met", "not met", "cannot be told".
        says: In one sentence.
        criteria: One by one.
        certificate: In the folder; None where nothing was compared with the data.
        charged: Whether it was charged now.
        loss: What it cost; None for nothing.
    """

    folder: Path
    report: Path
    numbers: Path
    of: str
    verdict: str
    says: str
    criteria: tuple[CriterionTold, ...]
    certificate: Path | None
    charged: bool
    loss: ToldLoss | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisEvaluation:
    """What an evaluation gave.

    Attributes:
        of: Release of the synthesis.
        verdict: With intervals.
        release: Certified counts; None where nothing was compared with the data.
        title: Of the synthesis.
    """

    of: str
    verdict: Acceptance
    release: JobRelease | None
    title: str

    def save(self, folder: str | Path) -> Path:
        """Write what ``confide synth evaluate`` leaves; return the folder."""
        out = Path(folder)
        if self.release is not None:
            self.release.save(out)
        out.mkdir(parents=True, exist_ok=True)
        body = {
            "format": "confide-evaluation-1",
            "of": self.of,
            "verdict": self.verdict.met.value,
            "says": self.verdict.says,
            "criteria": [
                {
                    "criterion": each.criterion,
                    "accepted": each.accepted,
                    "value": round(each.value, 6),
                    "interval": [round(each.lower, 6), round(each.upper, 6)],
                    "of_table": each.of_table,
                    "verdict": each.verdict,
                }
                for each in told_criteria(self.verdict)
            ],
        }
        files = {
            EVALUATION: json.dumps(body, ensure_ascii=False, indent=1).encode(),
            _REPORT: evaluation_page(
                self.verdict, of=self.of, title=self.title, release=self.release
            ).encode(),
        }
        for name, content in files.items():
            write_bytes(out / name, content)
        tell_day_alone([*(out / name for name in files), out])
        return out


def told_criteria(verdict: Acceptance) -> tuple[CriterionTold, ...]:
    """Return criteria for people and programs."""
    return tuple(
        CriterionTold(
            criterion=each.name,
            accepted=each.accepted,
            value=each.value,
            lower=each.lower,
            upper=each.upper,
            of_table=each.of_table,
            verdict=each.met.value,
        )
        for each in verdict.found
    )


def check_plan(of: Site, declared: DeclaredSynthesis) -> JobPlan:
    """Return the priced plan of the check of a synthesis that was run; charges nothing.

    Raises:
        ContractError: If it was not run with these criteria, or none of them needs the data.
    """
    if not agreed_criteria(declared).measured:
        raise ContractError(
            "No criterion needs the data, so nothing is charged and nobody has to approve it.",
            hint="Run confide synth evaluate.",
        )
    made, _ = _released(of, declared, request=None)
    return plan_of_check(declared, _check(declared, made=made), site=of)


@sealing
def evaluated_synthesis(
    of: Site,
    declared: DeclaredSynthesis,
    *,
    request: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
    before: Callable[[JobPlan], None] = lambda _: None,
) -> SynthesisEvaluation:
    """Check a synthesis that was run, charging the share of its criteria once.

    Args:
        of: The data set, open.
        declared: With criteria.
        request: Key under which the synthesis was run.
        progress: Told the name of each stage.
        before: Told the plan of the check before anything is charged; may refuse it.

    Raises what :meth:`confide.workspace.Workspace.evaluate` does.
    """
    criteria = agreed_criteria(declared)
    made, name = _released(of, declared, request=request)
    table, spec, dataset = made.levels(), made.spec, made.answer.plan.dataset
    title = declared.study.title or declared.study.id
    if not criteria.measured:
        verdict = verdict_on(criteria, spec=spec, dataset=dataset, table=table)
        return SynthesisEvaluation(of=name, verdict=verdict, release=None, title=title)
    check = _check(declared, made=made)
    plan = plan_of_check(declared, check, site=of)
    before(plan)
    runner = CheckRunner(check, plan=plan, table=table)
    release = run_in_parts(of, check, plan=plan, runner=runner, request=request, progress=progress)
    with stored_already(int(release.certificate["accounting"]["entry"])):
        verdict = verdict_on(
            criteria,
            spec=spec,
            dataset=dataset,
            table=table,
            check=check,
            counted=read_check(release.answer.files[CHECK_FILE], spec=check),
            digest=release.answer.digest(),
        )
    return SynthesisEvaluation(of=name, verdict=verdict, release=release, title=title)


def evaluate_synthesis(
    source: Path | Mapping[str, Any],
    *,
    out: Path,
    request: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> EvaluatedSynthesis:
    """Check a synthesis that was run, save the verdict to ``out`` and verify it there.

    Args:
        source: The synth.yaml that was run, or its content.
        out: Folder for the release of the check.
        request: Key under which the synthesis was run.
        progress: Told the name of each stage.

    Raises:
        ContractError: If the synthesis was not run with these criteria, or ``out`` holds something
            else; nothing is charged.
        PolicyError: If a cap would be passed.
        ReleaseFailedError: If anything fails after it was charged.
        VerificationError: If what was saved does not verify.
    """
    declared = declared_synthesis(source)
    with Site(declared.declared) as site:
        require_outside(out, folder=site.folder)

        def before(plan: JobPlan) -> None:
            named = name_of_last_part(plan, site=site, request=request, parts=1)
            require_room(out, plan=plan, request=named)

        head = site.ledger.head().number
        found = evaluated_synthesis(
            site, declared, request=request, progress=progress, before=before
        )
        release, charged = found.release, False
        if release is None and out.exists() and any(out.iterdir()):
            raise ContractError(
                f"{out.name} holds something else.", hint="Choose a new folder with --out."
            )
        found.save(out)
        if release is not None:
            charged = int(release.certificate["accounting"]["entry"]) > head
            progress("verify")
            require_verified(verified(release, folder=out, key=site.signer.name))
    return EvaluatedSynthesis(
        folder=out,
        report=out / _REPORT,
        numbers=out / EVALUATION,
        of=found.of,
        verdict=found.verdict.met.value,
        says=found.verdict.says,
        criteria=told_criteria(found.verdict),
        certificate=None if release is None else out / "certificate.json",
        charged=charged,
        loss=None if release is None else told_loss(release.answer.plan),
    )


def _released(of: Site, declared: DeclaredSynthesis, *, request: str | None) -> tuple[AnyData, str]:
    """Return what a synthesis gave and its release; charges nothing, since it was run before."""
    plan = job_plan(declared, site=of)
    runner = in_parts(declared.job, plan=plan)
    who = analyst_of(of.ledger, plan, request=request)
    key = request or key_of_plan(plan)
    if not has_parts(plan, runner=runner, ledger=of.ledger, analyst=who, request_key=key):
        raise ContractError(
            "This synthesis was not run, or not with these criteria: nothing was charged.",
            hint="Run confide synth run first. Criteria are part of its plan, and cannot be "
            "changed after.",
        )
    release = released_synthesis(of, declared, plan=plan, request=request)
    return data_of(release.answer), str(release.certificate["id"])


def _check(declared: DeclaredSynthesis, *, made: AnyData) -> SynthesisCheck:
    """Return the check of a released table, in the bins that were found, which are released."""
    return check_of(declared, release=made.answer.digest(), settled=made.spec)
