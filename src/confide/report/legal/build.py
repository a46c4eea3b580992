"""From subject, legal declaration and language to a document."""

from typing import assert_never

from confide.drawing.words import load_words
from confide.report.legal.declared import LegalDeclaration
from confide.report.legal.document import Kind, LegalDocument
from confide.report.legal.dpia import dpia
from confide.report.legal.expert_determination import expert_determination
from confide.report.legal.health_data_request import health_data_request
from confide.report.legal.identifiability import identifiability
from confide.report.legal.legal_basis import legal_basis
from confide.report.legal.scribe import Scribe
from confide.report.legal.subject import LegalSubject


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
    match kind:
        case Kind.DPIA:
            return dpia(scribe)
        case Kind.LEGAL_BASIS:
            return legal_basis(scribe)
        case Kind.IDENTIFIABILITY:
            return identifiability(scribe)
        case Kind.HIPAA:
            return expert_determination(scribe)
        case Kind.EHDS:
            return health_data_request(scribe)
        case _:
            assert_never(kind)
