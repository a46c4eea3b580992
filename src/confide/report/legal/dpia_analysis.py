"""Part 2 of the impact assessment: lawfulness, data minimisation, rights, measures.

References:
    [EDPB26] EDPB. Template for data protection impact assessment. Version 1.0, 2026, part 2.
"""

from confide.drawing.columns_read import columns_read, undeclared_columns
from confide.drawing.numbers import clean
from confide.report.legal.asked import Who
from confide.report.legal.declared import Site
from confide.report.legal.document import Asked, Item, Part, Stated
from confide.report.legal.exhibits import mechanisms_table, sites_table
from confide.report.legal.scribe import Scribe

PRINCIPLES = (
    "fairness",
    "transparency",
    "purpose-limitation",
    "minimisation",
    "accuracy",
    "storage-limitation",
    "integrity",
    "accountability",
)
"""Art. 5(1)(a) to (f) and 5(2), in the template's order."""


def analysis(scribe: Scribe) -> Part:
    """Return part 2."""
    return scribe.part(
        "2",
        "analysis",
        parts=(
            _lawfulness(scribe),
            _minimisation(scribe),
            _measures(scribe),
        ),
    )


def _lawfulness(scribe: Scribe) -> Part:
    return scribe.part(
        "2.1",
        "lawfulness",
        scribe.note("lawfulness"),
        sites_table(scribe),
        *(site_law(site, scribe=scribe) for site in scribe.law.sites if not site.national_law),
        scribe.asked("legal-analysis"),
        scribe.asked("professional-secrecy"),
        scribe.note("status-of-output"),
        identifiability_stated(scribe),
    )


def site_law(site: Site, *, scribe: Scribe) -> Asked:
    """Return the field for the provision of law that a site rests on."""
    name, title = f"{site.id}-national-law", clean(site.title, most=120)
    text = site.national_law
    return scribe.written(name, "national-law", text, who=Who.LAWYER, site=title)


def identifiability_stated(scribe: Scribe) -> Stated:
    """Return what the data holder takes the released statistics to be."""
    decided = scribe.law.identifiability
    texts = [scribe.say(f"outcome.{decided.outcome.value}")]
    if decided.justification.strip():
        texts.append(scribe.say("justification", text=" ".join(decided.justification.split())))
    return scribe.stated("outcome", *texts, source=scribe.from_law())


def _minimisation(scribe: Scribe) -> Part:
    plan = scribe.subject.plan
    items: list[Item] = []
    if plan is not None:
        declared = sum(
            len(table.columns) + len(undeclared_columns(table)) for table in plan.dataset.tables
        )
        text = scribe.say("columns-read", read=str(len(columns_read(plan))), of=str(declared))
        items = [
            scribe.stated("columns-read", text, source=scribe.computed(scribe.from_plan())),
            mechanisms_table(plan, scribe=scribe),
        ]
    return scribe.part(
        "2.2",
        "minimisation",
        parts=(
            scribe.part(
                "2.2.a",
                "data-minimisation",
                *items,
                scribe.note("kept"),
                scribe.asked("recipients"),
            ),
            scribe.part("2.2.b", "quality", scribe.note("quality"), scribe.asked("data-quality")),
        ),
    )


def _measures(scribe: Scribe) -> Part:
    principles = [
        (scribe.say(f"principle.{name}.name"), scribe.say(f"principle.{name}.measure"))
        for name in PRINCIPLES
    ]
    columns, source = ("principle", "measure"), scribe.from_software()
    table = scribe.table("principles", columns, principles, source=source, labels=2)
    return scribe.part(
        "2.3",
        "measures",
        parts=(
            scribe.part("2.3.a", "principles", table),
            scribe.part(
                "2.3.b",
                "rights",
                scribe.note("rights"),
                scribe.asked("rights-information"),
                scribe.asked("rights-exercise"),
            ),
            scribe.part("2.3.c", "other-requirements", scribe.asked("other-information")),
            scribe.part(
                "2.3.d",
                "by-design",
                scribe.stated(
                    "by-design",
                    *scribe.words.each("legal.by-design"),
                    source=scribe.from_software(),
                ),
            ),
            scribe.part(
                "2.3.e",
                "security",
                scribe.stated(
                    "security", *scribe.words.each("legal.security"), source=scribe.from_software()
                ),
                scribe.asked("security"),
            ),
        ),
    )
