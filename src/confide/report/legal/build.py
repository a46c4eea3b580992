"""From subject, legal declaration and language to a document."""

from confide.drawing.words import load_words
from confide.report.legal.declared import LegalDeclaration
from confide.report.legal.document import Kind, LegalDocument
from confide.report.legal.heading import facts_of
from confide.report.legal.outline import outline
from confide.report.legal.scribe import Scribe
from confide.report.legal.subject import LegalSubject

_OF_BOUNDS = ("ks14", "bs16")


def build(
    kind: Kind, subject: LegalSubject, *, law: LegalDeclaration, language: str = "en"
) -> LegalDocument:
    """Return a legal document; reads no row and charges nothing.

    Args:
        kind: Which.
        subject: What it is about.
        law: What people have decided and written.
        language: "en" or "zh".

    Raises:
        UnknownNameError: If the language has no legal sentences.
        ContractError: If an error asked cannot be reached at any budget.
    """
    scribe = Scribe(words=load_words(language, part="legal"), subject=subject, law=law)
    sources, parts = outline(kind, scribe=scribe)
    return LegalDocument(
        kind=kind,
        language=language,
        what=scribe.say(f"what.{kind.value}"),
        title=subject.title,
        facts=facts_of(scribe),
        basis=scribe.say(f"basis-of.{kind.value}"),
        parts=parts,
        sources=(*sources, *(scribe.say(f"source.{name}") for name in _OF_BOUNDS)),
    )
