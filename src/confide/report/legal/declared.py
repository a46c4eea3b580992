"""What a data holder has decided in law, site by site: legal basis, identifiability, answers.

Nothing here is decided by software: every entry was written by a person into legal.yaml.  What
software adds are the usual pairs of articles, and a refusal of what the articles exclude.

- A hospital of a public authority: Art. 6(1)(e), task in the public interest, with Art. 9(2)(i),
  public health.  A public authority cannot rely on Art. 6(1)(f) in the performance of its tasks
  (Art. 6(1), second subparagraph).
- A private one: Art. 6(1)(f), legitimate interests, with Art. 9(2)(j), research and statistics; it
  needs a balancing test [GDPR, rec. 47; EDPB24].
- Records at the site are personal data concerning health, pseudonymised or not (Art. 4(5), 4(15),
  rec. 26).  Whether released statistics are personal data to somebody depends on the means
  reasonably likely to be used [SRB25]; until a person has written down why they are not, they are
  handled as personal data.

References:
    [GDPR] Regulation (EU) 2016/679. https://eur-lex.europa.eu/eli/reg/2016/679/oj
    [EDPB24] EDPB. Guidelines 1/2024 on processing of personal data based on Article 6(1)(f) GDPR.
        Version for public consultation, 2024.
    [SRB25] Court of Justice of the European Union. EDPS v SRB, C-413/23 P, 4 September 2025.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from confide.errors import ContractError


class SiteKind(enum.Enum):
    """Who runs a site."""

    PUBLIC = "public"
    PRIVATE = "private"


class Article6(enum.Enum):
    """Conditions of lawfulness, Art. 6(1) GDPR."""

    CONSENT = "6(1)(a)"
    CONTRACT = "6(1)(b)"
    LEGAL_OBLIGATION = "6(1)(c)"
    VITAL_INTERESTS = "6(1)(d)"
    PUBLIC_TASK = "6(1)(e)"
    LEGITIMATE_INTERESTS = "6(1)(f)"


class Article9(enum.Enum):
    """Exceptions that lift the prohibition for data concerning health, Art. 9(2) GDPR."""

    EXPLICIT_CONSENT = "9(2)(a)"
    SUBSTANTIAL_PUBLIC_INTEREST = "9(2)(g)"
    HEALTH_CARE = "9(2)(h)"
    PUBLIC_HEALTH = "9(2)(i)"
    RESEARCH_AND_STATISTICS = "9(2)(j)"


USUAL: Mapping[SiteKind, tuple[Article6, Article9]] = {
    SiteKind.PUBLIC: (Article6.PUBLIC_TASK, Article9.PUBLIC_HEALTH),
    SiteKind.PRIVATE: (Article6.LEGITIMATE_INTERESTS, Article9.RESEARCH_AND_STATISTICS),
}


class Outcome(enum.Enum):
    """What a data holder takes the released statistics to be."""

    PERSONAL = "personal"
    NOT_PERSONAL_TO_RECIPIENTS = "not-personal-to-recipients"


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancingTest:
    """The three steps for Art. 6(1)(f), each in a person's words; empty until written."""

    interest: str = ""
    necessity: str = ""
    balance: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place whose records are used, and by which right.

    Attributes:
        id: Short name.
        name: As on a letterhead; the id when empty.
        kind: Public or private.
        article_6: Condition of lawfulness.
        article_9: Exception for data concerning health.
        national_law: Provision that Art. 6(3) and 9(2) ask for; empty until written.
        why: Reason for a pair of articles that is not the usual one of its kind.
        balancing_test: For Art. 6(1)(f).
    """

    id: str
    kind: SiteKind
    article_6: Article6
    article_9: Article9
    name: str = ""
    national_law: str = ""
    why: str = ""
    balancing_test: BalancingTest = BalancingTest()

    def __post_init__(self) -> None:
        if self.kind is SiteKind.PUBLIC and self.article_6 is Article6.LEGITIMATE_INTERESTS:
            raise ContractError(
                f"Site {self.id!r}: Art. 6(1)(f) is closed to public authorities in their tasks.",
                hint='A public hospital usually writes article-6: "6(1)(e)", article-9: "9(2)(i)".',
            )
        if not self.is_usual and not self.why.strip():
            usual = " and ".join(article.value for article in USUAL[self.kind])
            raise ContractError(
                f"Site {self.id!r}: {self.article_6.value} with {self.article_9.value} is not what "
                f"a {self.kind.value} site usually relies on, which is {usual}.",
                hint="Write why: in a sentence, under legal-basis, or the usual pair.",
            )
        if not self.needs_balancing and self.balancing_test != BalancingTest():
            raise ContractError(
                f"Site {self.id!r} has a balancing test without Art. 6(1)(f).",
                hint="Leave balancing-test out.",
            )

    @property
    def is_usual(self) -> bool:
        """Whether its pair of articles is the usual one of its kind."""
        return (self.article_6, self.article_9) == USUAL[self.kind]

    @property
    def needs_balancing(self) -> bool:
        """Whether it relies on legitimate interests."""
        return self.article_6 is Article6.LEGITIMATE_INTERESTS

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name or self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifiability:
    """Whether released statistics are handled as personal data, and why not."""

    outcome: Outcome = Outcome.PERSONAL
    justification: str = ""

    def __post_init__(self) -> None:
        if self.outcome is not Outcome.PERSONAL and not self.justification.strip():
            raise ContractError(
                f"Identifiability {self.outcome.value!r} needs a written justification.",
                hint="Write justification:, or outcome: personal.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalDeclaration:
    """What legal.yaml says.

    Attributes:
        file: Its name, for sources.
        sites: At least one.
        identifiability: Of the released statistics.
        answers: What people wrote into fields that only they can fill, by the field's id.
    """

    file: str
    sites: tuple[Site, ...]
    identifiability: Identifiability = Identifiability()
    answers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.sites:
            raise ContractError(
                f"{self.file} names no site.",
                hint="Write sites: with one entry for each place whose records are used.",
            )
        ids = [site.id for site in self.sites]
        if len(set(ids)) != len(ids):
            raise ContractError(f"{self.file} names a site twice.", hint="Give each its own id.")
