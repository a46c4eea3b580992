"""Form for a health data request: Regulation (EU) 2025/327 (EHDS), Art. 69.

A health data request asks a health data access body for an answer in statistical form; the
applicant gets no access to the records.  What it must hold is paraphrased from Art. 69(2); the
Commission sets the official template by implementing act, due on 26 March 2027 (Art. 70), which
then takes the place of this form.

References:
    [EHDS] Regulation (EU) 2025/327, Art. 53, 54, 69, 70.
        https://eur-lex.europa.eu/eli/reg/2025/327/oj
"""

from confide.report.legal.document import Item, Kind, LegalDocument, Part
from confide.report.legal.exhibits import (
    columns_table,
    entries_table,
    published_text,
    sites_table,
    tables_text,
)
from confide.report.legal.heading import facts_of, sources_of
from confide.report.legal.necessity import asked_table
from confide.report.legal.pictures import cap_gauges
from confide.report.legal.scribe import Scribe


def health_data_request(scribe: Scribe) -> LegalDocument:
    """Return the form."""
    return LegalDocument(
        kind=Kind.EHDS,
        language=scribe.words.language,
        what=scribe.say("what.ehds"),
        title=scribe.subject.title,
        facts=facts_of(scribe),
        basis=scribe.say("basis-of.ehds"),
        parts=(
            scribe.part(
                "1",
                "applicant",
                scribe.note("request"),
                scribe.asked("access-body"),
                scribe.asked("applicant"),
                scribe.asked("applicant-functions"),
            ),
            scribe.part(
                "2",
                "intended-use",
                scribe.stated("purpose", scribe.subject.purpose, source=scribe.from_plan()),
                scribe.asked("purpose-article-53"),
                scribe.asked("intended-use"),
                scribe.asked("public-benefit"),
                scribe.note("prohibited"),
            ),
            _requested(scribe),
            _statistical(scribe),
            _safeguards(scribe),
            scribe.part(
                "6",
                "lawfulness-of-request",
                scribe.note("lawfulness-of-request"),
                sites_table(scribe),
                scribe.asked("lawfulness-applicant"),
                scribe.asked("opt-out-exception"),
                scribe.asked("ethics"),
            ),
            scribe.part("7", "applicant-signature", scribe.signature("applicant-signature")),
        ),
        sources=sources_of(scribe, "ehds"),
    )


def _requested(scribe: Scribe) -> Part:
    subject = scribe.subject
    return scribe.part(
        "3",
        "requested",
        scribe.stated("dataset", subject.dataset.id, source=scribe.from_dataset()),
        scribe.stated("tables", tables_text(scribe), source=scribe.from_dataset()),
        columns_table(scribe),
        scribe.asked("sources-requested"),
    )


def _statistical(scribe: Scribe) -> Part:
    plan = scribe.subject.plan
    items: list[Item] = [scribe.note("statistical")]
    if plan is None:
        items.append(entries_table(scribe))
    else:
        titles = published_text(plan, scribe=scribe)
        items.append(scribe.stated("published", *titles, source=scribe.from_plan()))
        items.append(asked_table(plan, scribe=scribe))
    return scribe.part("4", "statistical", *items)


def _safeguards(scribe: Scribe) -> Part:
    return scribe.part(
        "5",
        "safeguards",
        scribe.stated(
            "by-design", *scribe.words.each("legal.by-design"), source=scribe.from_software()
        ),
        cap_gauges(scribe),
        scribe.asked("safeguards-applicant"),
    )
