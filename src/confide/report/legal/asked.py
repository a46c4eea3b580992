"""The fields that only a person can fill, and who that person is.

A field keeps its id in every document that has it, so that it is answered once, in legal.yaml.
Signatures and what goes with them are never read from a file: they are given on paper, or in a
system that signs.
"""

import enum
from collections.abc import Mapping


class Who(enum.Enum):
    """Who fills a field."""

    CONTROLLER = "controller"
    OFFICER = "officer"  # data protection officer
    STEWARD = "steward"
    LAWYER = "lawyer"
    EXPERT = "expert"
    APPLICANT = "applicant"


_BY: Mapping[Who, tuple[str, ...]] = {
    Who.CONTROLLER: (
        "controller",
        "controller-unit",
        "contact",
        "joint-controllers",
        "processors",
        "record-of-processing",
        "start",
        "end",
        "dpia-version",
        "dpia-team",
        "dpia-reasons",
        "dpia-scope",
        "dpia-publication",
        "purposes",
        "secondary-use",
        "context",
        "cross-border",
        "third-countries",
        "codes-of-conduct",
        "recipients",
        "retention",
        "budget-choice",
        "necessity",
        "proportionality",
        "impact-by-design",
        "risk-method",
        "risk-membership",
        "risk-attribute",
        "risk-reconstruction",
        "risk-linkage",
        "risk-small-groups",
        "extra-measures",
        "residual-risk",
        "action-plan",
        "views-of-data-subjects",
        "decision",
        "decision-reasons",
        "other-information",
        "recipients-means",
        "identifiability-conclusion",
    ),
    Who.OFFICER: ("officer", "officer-advice", "rights-information", "rights-exercise"),
    Who.STEWARD: ("assets", "data-quality", "security", "abnormal-events"),
    Who.LAWYER: ("legal-analysis", "professional-secrecy"),
    Who.EXPERT: (
        "expert-knowledge",
        "expert-independence",
        "anticipated-recipients",
        "available-information",
        "very-small",
        "conditions",
        "valid-until",
        "determination",
    ),
    Who.APPLICANT: (
        "applicant",
        "applicant-functions",
        "purpose-article-53",
        "intended-use",
        "public-benefit",
        "sources-requested",
        "safeguards-applicant",
        "lawfulness-applicant",
        "opt-out-exception",
        "ethics",
        "access-body",
    ),
}

ASKED: Mapping[str, Who] = {name: who for who, names in _BY.items() for name in names}
"""Every field that legal.yaml may answer, by id."""

SIGNED: Mapping[str, Who] = {
    "controller-signature": Who.CONTROLLER,
    "officer-signature": Who.OFFICER,
    "expert-signature": Who.EXPERT,
    "applicant-signature": Who.APPLICANT,
}
"""Fields that no file answers."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "decision": ("rejected", "consultation", "approved", "conditional"),
    "purpose-article-53": ("a", "b", "c", "d", "e", "f"),
    "very-small": ("yes", "no"),
    "dpia-publication": ("no", "published", "shared"),
    "cross-border": ("no", "yes"),
    "third-countries": ("no", "yes"),
}
"""Boxes that are printed beside a field that is still empty."""
