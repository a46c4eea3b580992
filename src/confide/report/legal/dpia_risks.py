"""Part 4 of the impact assessment: risks with their bounds, measures, residual risks.

The bounds hold against anyone, whatever they know besides; likelihood, severity and acceptability
are for people to judge.

References:
    [EDPB26] EDPB. Template for data protection impact assessment. Version 1.0, 2026, part 4.
"""

from confide.report.legal.audited import AuditResults
from confide.report.legal.document import Item, Part
from confide.report.legal.exhibits import (
    attributes_table,
    beliefs_table,
    groups_table,
    small_cells_table,
)
from confide.report.legal.pictures import belief_picture, cap_gauges
from confide.report.legal.scribe import Scribe


def risks(scribe: Scribe) -> Part:
    """Return part 4."""
    return scribe.part(
        "4",
        "risks",
        parts=(
            scribe.part(
                "4.1.a",
                "abnormal",
                scribe.note("abnormal"),
                scribe.asked("abnormal-events"),
            ),
            scribe.part("4.1.b", "method", scribe.note("risk-method"), scribe.asked("risk-method")),
            _inherent(scribe),
            scribe.part(
                "4.2.a",
                "extra-measures",
                *audit_items(scribe),
                scribe.asked("extra-measures"),
            ),
            scribe.part(
                "4.2.b",
                "residual",
                scribe.note("residual"),
                cap_gauges(scribe),
                scribe.asked("residual-risk"),
            ),
            scribe.part("4.2.c", "plan", scribe.asked("action-plan")),
        ),
    )


def _inherent(scribe: Scribe) -> Part:
    plan = scribe.subject.plan
    cells = None if plan is None else small_cells_table(plan, scribe=scribe)
    named: dict[str, tuple[Item | None, ...]] = {
        "membership": (beliefs_table(scribe), belief_picture(scribe)),
        "attribute": (attributes_table(scribe),),
        "reconstruction": (),
        "linkage": (),
        "small-groups": (groups_table(scribe), cells),
    }
    parts = [
        scribe.part(
            f"4.1.c.{place}",
            f"risk-{name}",
            scribe.note(f"risk-{name}"),
            *items,
            scribe.asked(f"risk-{name}"),
        )
        for place, (name, items) in enumerate(named.items(), start=1)
    ]
    return scribe.part("4.1.c", "inherent", scribe.note("inherent"), parts=parts)


def audit_items(scribe: Scribe) -> tuple[Item, ...]:
    """Return what the site's audit found, or that no results were given."""
    found = scribe.subject.audit
    if found is None:
        return (scribe.note("no-audit"),)
    texts = [_audited(found, scribe=scribe)]
    if not found.holds:
        texts.append(scribe.say("audit.failed", checks=scribe.words.listed(list(found.failed[:5]))))
    return (scribe.stated("audit", *texts, source=scribe.say("from.audit", file=found.file)),)


def _audited(found: AuditResults, *, scribe: Scribe) -> str:
    layers = scribe.words.listed(
        [
            scribe.say("audit.layer", count=str(count), name=scribe.say(f"layer.{layer}"))
            for layer, count in found.checks
        ]
    )
    form = scribe.say(f"audit.{'quick' if found.quick else 'full'}")
    return scribe.say(
        f"audit.{'holds' if found.holds else 'broken'}",
        count=str(found.total),
        layers=layers,
        form=form,
    )
