"""Assessment of identifiability: whether records and released statistics are personal data.

The records at a site always are.  For the released statistics the outcome stands in legal.yaml; it
is "personal" until a person has written down why not.  The three questions are those of the Article
29 Working Party: singling out, linking, inferring; the standard is recital 26: means reasonably
likely to be used, by the holder or by another person.

References:
    [GDPR] Regulation (EU) 2016/679, Art. 4(1), 4(5), rec. 26.
    [WP216] Article 29 Working Party. Opinion 05/2014, WP 216.
    [SRB25] Court of Justice of the European Union. EDPS v SRB, C-413/23 P, 4 September 2025.
"""

from confide.report.legal.document import Item, Kind, LegalDocument, Part
from confide.report.legal.dpia_analysis import identifiability_stated
from confide.report.legal.exhibits import (
    attributes_table,
    beliefs_table,
    entries_table,
    groups_table,
    published_text,
    small_cells_table,
)
from confide.report.legal.heading import facts_of, sources_of
from confide.report.legal.pictures import belief_picture
from confide.report.legal.scribe import Scribe


def identifiability(scribe: Scribe) -> LegalDocument:
    """Return the document."""
    return LegalDocument(
        kind=Kind.IDENTIFIABILITY,
        language=scribe.words.language,
        what=scribe.say("what.identifiability"),
        title=scribe.subject.title,
        facts=facts_of(scribe),
        basis=scribe.say("basis-of.identifiability"),
        parts=(
            _assessed(scribe),
            _questions(scribe),
            scribe.part(
                "3",
                "recipients",
                scribe.note("recipients"),
                scribe.asked("recipients-means"),
                scribe.asked("available-information"),
            ),
            scribe.part(
                "4",
                "outcome",
                scribe.note("outcome"),
                identifiability_stated(scribe),
                scribe.asked("identifiability-conclusion"),
                scribe.signature("officer-signature"),
                scribe.signature("controller-signature"),
            ),
        ),
        sources=sources_of(scribe, "identifiability"),
    )


def _assessed(scribe: Scribe) -> Part:
    plan = scribe.subject.plan
    output: Item
    if plan is None:
        output = entries_table(scribe)
    else:
        output = scribe.stated(
            "published", *published_text(plan, scribe=scribe), source=scribe.from_plan()
        )
    return scribe.part("1", "assessed", scribe.note("assessed"), output)


def _questions(scribe: Scribe) -> Part:
    plan = scribe.subject.plan
    cells = None if plan is None else small_cells_table(plan, scribe=scribe)
    return scribe.part(
        "2",
        "questions",
        scribe.note("questions"),
        parts=(
            scribe.part(
                "2.1",
                "singling-out",
                scribe.note("singling-out"),
                beliefs_table(scribe),
                belief_picture(scribe),
                cells,
            ),
            scribe.part("2.2", "linking", scribe.note("risk-linkage"), groups_table(scribe)),
            scribe.part("2.3", "inferring", scribe.note("inferring"), attributes_table(scribe)),
        ),
    )
