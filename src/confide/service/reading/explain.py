"""Explain: a loss, a plan or a certificate, in words and as odds."""

import enum
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from confide.errors import ContractError
from confide.service.grids import TextTable, text_table
from confide.service.reading.certificate_file import certificate_path

if TYPE_CHECKING:
    from confide.privacy.loss import PrivacyLoss, PureDP, ZeroConcentratedDP
    from confide.report.wording.explain import Explanation


class Topic(enum.Enum):
    """What can be explained."""

    EPSILON = "epsilon"
    PLAN = "plan"
    CERTIFICATE = "certificate"
    COMPOSITION = "composition"
    NOISE = "noise"
    GROUPS = "groups"
    BITS = "bits"
    DEPLOYMENTS = "deployments"


USUAL = "1"
_USUAL_DELTA = Fraction(1, 10**6)
_IN_RHO = re.compile(r"^(?:rho|ρ)\s*=?\s*")
_SINGLE = "Write confide explain epsilon 0.5."
_SEVERAL = "Write confide explain composition '0.1*12, 0.5, rho 0.01' --delta 1e-6."


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What there is to say of one thing.

    Attributes:
        topic: Of what kind it is.
        title: Of the whole.
        sentences: In order.
        tables: After the sentences.
    """

    topic: Topic
    title: str
    sentences: tuple[str, ...]
    tables: tuple[TextTable, ...]


def explain(
    topic: Topic,
    what: str = "",
    *,
    delta: str = "0",
    sensitivity: str = "1",
    period: str | None = None,
    out: Path | None = None,
) -> Explained:
    """Explain an ε, a plan or a certificate as odds; losses together, for groups, and in bits.

    Args:
        topic: Of what kind it is.
        what: An ε, a path, losses such as "0.1*12, rho 0.01", or the id of a deployment; the usual
            one when empty.
        delta: Beside ε.
        sensitivity: Of noise: by how much one patient moves the answer.
        period: Of a plan: which run of a study that repeats.
        out: File for the same as a page of HTML.

    Raises:
        ContractError: If it is not written as its topic is.
    """
    match topic:
        case Topic.EPSILON:
            told = _epsilon(what or USUAL, delta=delta)
        case Topic.PLAN:
            told = _plan(Path(what or "study.yaml"), period=period)
        case Topic.CERTIFICATE:
            told = _certificate(Path(what or "certificate.json"))
        case Topic.COMPOSITION:
            told = _composition(what or USUAL, delta=delta)
        case Topic.NOISE:
            told = _noise(what or USUAL, delta=delta, sensitivity=sensitivity)
        case Topic.GROUPS:
            told = _groups(what or USUAL, delta=delta)
        case Topic.BITS:
            told = _bits(what or USUAL, delta=delta)
        case Topic.DEPLOYMENTS:
            told = _deployments(what or USUAL, delta=delta)
    if out is not None:
        _write_page(told, out, topic=topic)
    return Explained(
        topic=topic,
        title=told.title,
        sentences=tuple(told.sentences),
        tables=tuple(text_table(grid) for grid in told.grids),
    )


def _epsilon(text: str, *, delta: str) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.privacy.loss import ApproxDP, PureDP
    from confide.report.wording.explain import explain_loss

    epsilon, exception = _exact("ε", text), _exact("δ", delta)
    loss = ApproxDP(epsilon=epsilon, delta=exception) if exception else PureDP(epsilon=epsilon)
    return explain_loss(loss, delta=exception, words=load_words("en"))


def _composition(text: str, *, delta: str) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.report.wording.textbook import composition

    return composition(_losses(text), delta=_exact("δ", delta), words=load_words("en"))


def _groups(text: str, *, delta: str) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.report.wording.views import for_groups

    loss, at = _one_loss(text, delta=delta)
    return for_groups(loss, delta=at, words=load_words("en"))


def _bits(text: str, *, delta: str) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.report.wording.views import in_bits

    if "," in text or "*" in text:
        return in_bits(_losses(text), words=load_words("en"))
    loss, _ = _one_loss(text, delta=delta)
    return in_bits([loss], words=load_words("en"))


def _deployments(text: str, *, delta: str) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.report.wording.views import DEPLOYMENTS, deployment, deployments

    words = load_words("en")
    if text in DEPLOYMENTS or not (text[:1].isdigit() or _IN_RHO.match(text)):
        return deployment(text, words=words)
    loss, at = _one_loss(text, delta=delta)
    return deployments(loss, delta=at, words=words)


def _one_loss(text: str, *, delta: str) -> "tuple[PrivacyLoss, Fraction]":
    """Return one loss, and the δ at which it is shown: 1e-6 of a ρ where none is given."""
    from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
    from confide.privacy.odds import require_sayable

    amount, letter = _IN_RHO.subn("", text.strip())
    found, at = _exact("ρ" if letter else "ε", amount), _exact("δ", delta)
    if found <= 0 or not 0 <= at < 1:
        raise ContractError("Expected a loss > 0, and 0 ≤ δ < 1.", hint=_SINGLE)
    if letter:
        return ZeroConcentratedDP(rho=found), at or _USUAL_DELTA
    require_sayable(found)
    return (ApproxDP(epsilon=found, delta=at) if at else PureDP(epsilon=found)), at


def _write_page(told: "Explanation", out: Path, *, topic: Topic) -> None:
    from confide.drawing.words import load_words
    from confide.regular_file import write_text
    from confide.report.pages.explained_page import explained_page
    from confide.report.wording.views import DEPLOYMENTS, deployment

    words, more = load_words("en"), []
    if topic is Topic.DEPLOYMENTS and told.grids:
        more = [deployment(name, words=words) for name in DEPLOYMENTS]
    write_text(out, explained_page(told, words=words, more=more))


def _losses(text: str) -> "list[PureDP | ZeroConcentratedDP]":
    """Return the losses of a list such as "0.1*12, rho 0.01"."""
    from confide.privacy.loss import PureDP, ZeroConcentratedDP
    from confide.report.wording.textbook import MOST

    losses: list[PureDP | ZeroConcentratedDP] = []
    for part in text.split(","):
        amount, _, times = part.partition("*")
        count = int(times) if times.strip().isdecimal() else int(not times)
        rho, letter = _IN_RHO.subn("", amount.strip())
        found = _exact("ρ" if letter else "ε", rho, example=_SEVERAL)
        if not count or found <= 0:
            raise ContractError("Expected each ε > 0, and to be spent.", hint=_SEVERAL)
        loss = ZeroConcentratedDP(rho=found) if letter else PureDP(epsilon=found)
        losses += [loss] * min(count, MOST + 1)
    return losses


def _noise(text: str, *, delta: str, sensitivity: str) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.report.wording.textbook import noise

    numbers = {"delta": _exact("δ", delta), "sensitivity": _exact("a sensitivity", sensitivity)}
    return noise(_exact("ε", text), **numbers, words=load_words("en"))


def _exact(name: str, text: str, *, example: str = _SINGLE) -> Fraction:
    from confide.statistics.section import exact

    try:
        return exact(text)
    except ValueError:
        raise ContractError(f"Expected {name} as a number, got {text!r}.", hint=example) from None


def _plan(study: Path, *, period: str | None) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.report.wording.explain import explain_plan
    from confide.service.opening import open_study
    from confide.service.spent import spent_on

    site, declared = open_study(study, period=period)
    with site:
        plan = declared.plan()
        return explain_plan(plan, words=load_words("en"), spent=spent_on(site, plan))


def _certificate(path: Path) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.release.verify.verify import read_certificate
    from confide.report.wording.explain import explain_certificate

    held = read_certificate(certificate_path(path))
    return explain_certificate(held, words=load_words("en"))
