"""legal.yaml: what people have decided in law, site by site, and written into their fields.

See docs/reference/legal.md; the JSON Schema is generated from the models here.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from confide.errors import ContractError, UnknownNameError
from confide.files.texts import Section, read_section
from confide.files.yaml_text import read_yaml
from confide.report.legal.asked import ASKED, SIGNED
from confide.report.legal.declared import (
    Article6,
    Article9,
    BalancingTest,
    Identifiability,
    LegalDeclaration,
    Outcome,
    Site,
    SiteKind,
)

LONGEST_ANSWER = 4000
_CLAIMS = re.compile(r"anonym|de-?identif|匿名|去标识|去識別|去识别", re.IGNORECASE)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class LegalBasisSection(Section):
    """On what a site relies."""

    article_6: Article6 = Field(alias="article-6")
    article_9: Article9 = Field(alias="article-9")
    national_law: str = ""
    why: str = ""


class BalancingTestSection(Section):
    """The three steps for Art. 6(1)(f), and their outcome."""

    interest: str = ""
    necessity: str = ""
    balance: str = ""
    outcome: str = ""


class SiteSection(Section):
    """One place whose records are used."""

    id: str
    name: str = ""
    kind: SiteKind
    legal_basis: LegalBasisSection
    balancing_test: BalancingTestSection | None = None


class IdentifiabilitySection(Section):
    """Whether released statistics are handled as personal data."""

    outcome: Outcome = Outcome.PERSONAL
    justification: str = ""


class LegalFile(Section):
    """The sections of legal.yaml."""

    sites: list[SiteSection]
    identifiability: IdentifiabilitySection = Field(default_factory=IdentifiabilitySection)
    answers: dict[str, str] = Field(default_factory=dict)


def read_legal(path: Path) -> LegalDeclaration:
    """Return what a legal.yaml says.

    Raises:
        ContractError: If it breaks its contract; the message names the place.
    """
    if not path.exists():
        raise ContractError(
            f"There is no {path.name}: the legal basis of each site has to be declared.",
            hint="Run: confide document start",
        )
    value = read_yaml(path)
    _refuse_claims(value, name=path.name)
    file = read_section(LegalFile, value, name=path.name)
    for name, answer in file.answers.items():
        _check_answer(name, answer)
    return LegalDeclaration(
        file=path.name,
        sites=tuple(_site(section) for section in file.sites),
        identifiability=Identifiability(**file.identifiability.model_dump()),
        answers=dict(file.answers),
    )


def _site(section: SiteSection) -> Site:
    if not _ID.fullmatch(section.id):
        raise ContractError(
            f"Site id {section.id[:40]!r} cannot be a name.",
            hint="Use at most 64 letters, digits, dots, hyphens and underscores.",
        )
    basis, test = section.legal_basis, section.balancing_test
    return Site(
        id=section.id,
        name=section.name,
        kind=section.kind,
        article_6=basis.article_6,
        article_9=basis.article_9,
        national_law=basis.national_law,
        why=basis.why,
        balancing_test=BalancingTest() if test is None else BalancingTest(**test.model_dump()),
    )


def _check_answer(name: str, answer: str) -> None:
    if name in SIGNED:
        raise ContractError(
            f"answers → {name}: a signature is given by a person, not by a file.",
            hint="Leave it out, and sign the printed document.",
        )
    if name not in ASKED:
        raise UnknownNameError("answer", name, known=ASKED)
    if len(answer) > LONGEST_ANSWER:
        raise ContractError(
            f"answers → {name} is longer than {LONGEST_ANSWER} characters.",
            hint="Write a summary, and name the document that has the rest.",
        )


def _refuse_claims(value: Any, *, name: str) -> None:
    """Refuse words that would make the documents claim a status in law."""
    for place, text in _texts(value, ()):
        if _CLAIMS.search(text):
            raise ContractError(
                f"{name}: {' → '.join(place)}: uses a word for a status that these documents never "
                "claim.",
                hint="Write what was assessed and why: who could identify a person, by which "
                "means, at what effort. Whoever signs draws the conclusion.",
            )


def _texts(value: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    match value:
        case str():
            yield place, value
        case dict():
            for key, inner in value.items():
                yield from _texts(inner, (*place, str(key)))
        case list():
            for position, inner in enumerate(value):
                yield from _texts(inner, (*place, str(position)))
