"""Part 3 of the impact assessment: necessity and proportionality, with the numbers of the plan.

References:
    [EDPB26] EDPB. Template for data protection impact assessment. Version 1.0, 2026, part 3.
"""

from confide.report.legal.document import Item, Part
from confide.report.legal.necessity import alternative_tables, asked_table, chosen, qualitative
from confide.report.legal.scribe import Scribe


def proportion(scribe: Scribe) -> Part:
    """Return part 3."""
    return scribe.part(
        "3",
        "proportion",
        parts=(
            scribe.part(
                "3.1",
                "impact-by-design",
                scribe.note("impact-by-design"),
                scribe.asked("impact-by-design"),
            ),
            _necessity(scribe),
            scribe.part(
                "3.3",
                "proportionality",
                scribe.note("proportionality"),
                scribe.asked("proportionality"),
            ),
        ),
    )


def _necessity(scribe: Scribe) -> Part:
    plan = scribe.subject.plan
    if plan is None:
        return scribe.part(
            "3.2", "necessity", scribe.note("necessity-of-year"), scribe.asked("necessity")
        )
    budget: list[Item | None] = [
        scribe.note("necessity"),
        asked_table(plan, scribe=scribe),
        chosen(plan, scribe=scribe),
    ]
    if any(ask.error is None for ask in scribe.subject.asks) or not scribe.subject.asks:
        budget.append(scribe.asked("budget-choice"))
    learned, errors = alternative_tables(plan, scribe=scribe)
    return scribe.part(
        "3.2",
        "necessity",
        *budget,
        learned,
        errors,
        qualitative(scribe),
        scribe.asked("necessity"),
    )
