"""The legal basis of each site, with the balancing test where one relies on Art. 6(1)(f) GDPR.

References:
    [GDPR] Regulation (EU) 2016/679, Art. 6 and 9. https://eur-lex.europa.eu/eli/reg/2016/679/oj
    [EDPB24] EDPB. Guidelines 1/2024 on processing of personal data based on Article 6(1)(f) GDPR.
        Version for public consultation, 2024: three cumulative conditions.
"""

from confide.drawing.numbers import clean
from confide.report.legal.asked import Who
from confide.report.legal.declared import Site
from confide.report.legal.document import Item, Kind, LegalDocument, Part
from confide.report.legal.dpia_analysis import site_law
from confide.report.legal.exhibits import beliefs_table, sites_table
from confide.report.legal.heading import facts_of, sources_of
from confide.report.legal.pictures import belief_picture
from confide.report.legal.scribe import Scribe

STEPS = ("interest", "necessity", "balance", "outcome")


def legal_basis(scribe: Scribe) -> LegalDocument:
    """Return the document."""
    sites = scribe.law.sites
    parts = [scribe.part("1", "basis-overview", scribe.note("basis"), sites_table(scribe))]
    parts += [
        _site(site, number=f"2.{place}", scribe=scribe) for place, site in enumerate(sites, start=1)
    ]
    parts.append(
        scribe.part(
            "3",
            "signatures",
            scribe.asked("officer-advice"),
            scribe.signature("officer-signature"),
            scribe.signature("controller-signature"),
        )
    )
    balanced = [site for site in sites if site.needs_balancing]
    if balanced:
        annexes = [
            _balancing(site, number=f"A.{place}", scribe=scribe)
            for place, site in enumerate(balanced, start=1)
        ]
        parts.append(scribe.part("A", "balancing", scribe.note("balancing"), parts=annexes))
    return LegalDocument(
        kind=Kind.LEGAL_BASIS,
        language=scribe.words.language,
        what=scribe.say("what.legal-basis"),
        title=scribe.subject.title,
        facts=facts_of(scribe),
        basis=scribe.say("basis-of.legal-basis"),
        parts=tuple(parts),
        sources=sources_of(scribe, "legal-basis"),
    )


def _site(site: Site, *, number: str, scribe: Scribe) -> Part:
    items: list[Item] = [
        scribe.stated("site-kind", scribe.say(f"site.{site.kind.value}"), source=scribe.from_law()),
        scribe.stated(
            "usual",
            scribe.say(f"usual.{'yes' if site.is_usual else 'no'}"),
            source=scribe.from_law(),
        ),
    ]
    if site.why:
        items.append(scribe.stated("why", " ".join(site.why.split()), source=scribe.from_law()))
    items += [
        scribe.note(f"rule.{site.article_6.name.lower().replace('_', '-')}"),
        site_law(site, scribe=scribe),
    ]
    made = scribe.part(number, "site", *items)
    return Part(
        number=number,
        title=scribe.say("named", kind=made.title, name=clean(site.title, most=120)),
        items=made.items,
    )


def _balancing(site: Site, *, number: str, scribe: Scribe) -> Part:
    numbers: dict[str, tuple[Item | None, ...]] = {
        "necessity": (scribe.note("balancing-necessity"),),
        "balance": (
            scribe.note("balancing-balance"),
            beliefs_table(scribe),
            belief_picture(scribe),
        ),
    }
    steps = [
        scribe.part(
            f"{number}.{place}",
            f"balancing-{step}",
            *numbers.get(step, ()),
            scribe.written(
                f"{site.id}-{step}",
                f"balancing-{step}",
                getattr(site.balancing_test, step),
                who=Who.CONTROLLER,
            ),
        )
        for place, step in enumerate(STEPS, start=1)
    ]
    made = scribe.part(number, "site", parts=steps)
    return Part(
        number=number,
        title=scribe.say("named", kind=made.title, name=clean(site.title, most=120)),
        parts=made.parts,
    )
