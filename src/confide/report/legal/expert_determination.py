"""Appendix for an expert determination under 45 CFR 164.514(b)(1), the HIPAA Privacy Rule.

The rule asks a person with appropriate knowledge and experience to determine that the risk is very
small, and to document the methods and results of the analysis.  The appendix documents methods and
results of the noise; who the expert is, what else recipients may hold, whether the risk is very
small, and the signature are the expert's.

References:
    [CFR] 45 CFR 164.514(a) and (b)(1).
        https://www.ecfr.gov/current/title-45/section-164.514
    [OCR12] U.S. Department of Health and Human Services, Office for Civil Rights. Guidance on the
        two methods of 45 CFR 164.514(b). 2012.
    [NDLH25] Near, Darais, Lefkovitz, Howarth. Guidelines for evaluating differential privacy
        guarantees. NIST SP 800-226, 2025. https://doi.org/10.6028/NIST.SP.800-226
"""

from confide.report.legal.document import Item, Kind, LegalDocument, Part
from confide.report.legal.dpia_risks import audit_items
from confide.report.legal.exhibits import (
    attributes_table,
    beliefs_table,
    columns_table,
    entries_table,
    groups_table,
    mechanisms_table,
    published_text,
    small_cells_table,
)
from confide.report.legal.heading import facts_of, sources_of
from confide.report.legal.pictures import belief_picture, cap_gauges
from confide.report.legal.scribe import Scribe


def expert_determination(scribe: Scribe) -> LegalDocument:
    """Return the appendix."""
    return LegalDocument(
        kind=Kind.HIPAA,
        language=scribe.words.language,
        what=scribe.say("what.hipaa"),
        title=scribe.subject.title,
        facts=facts_of(scribe),
        basis=scribe.say("basis-of.hipaa"),
        parts=(
            scribe.part("1", "standard", scribe.note("standard")),
            scribe.part(
                "2",
                "expert",
                scribe.asked("expert-knowledge"),
                scribe.asked("expert-independence"),
            ),
            _information(scribe),
            scribe.part(
                "4",
                "anticipated",
                scribe.asked("anticipated-recipients"),
                scribe.asked("available-information"),
            ),
            _methods(scribe),
            _results(scribe),
            scribe.part(
                "7",
                "determination",
                scribe.note("determination"),
                scribe.asked("very-small"),
                scribe.asked("determination"),
                scribe.asked("conditions"),
                scribe.asked("valid-until"),
                scribe.signature("expert-signature"),
            ),
        ),
        sources=sources_of(scribe, "hipaa"),
    )


def _information(scribe: Scribe) -> Part:
    plan = scribe.subject.plan
    output: Item = (
        entries_table(scribe)
        if plan is None
        else scribe.stated(
            "published", *published_text(plan, scribe=scribe), source=scribe.from_plan()
        )
    )
    return scribe.part(
        "3", "information", scribe.note("information"), output, columns_table(scribe)
    )


def _methods(scribe: Scribe) -> Part:
    plan = scribe.subject.plan
    mechanisms = None if plan is None else mechanisms_table(plan, scribe=scribe)
    return scribe.part("5", "methods", scribe.note("methods"), mechanisms, cap_gauges(scribe))


def _results(scribe: Scribe) -> Part:
    plan = scribe.subject.plan
    cells = None if plan is None else small_cells_table(plan, scribe=scribe)
    return scribe.part(
        "6",
        "results",
        scribe.note("results"),
        beliefs_table(scribe),
        belief_picture(scribe),
        attributes_table(scribe),
        groups_table(scribe),
        cells,
        *audit_items(scribe),
    )
