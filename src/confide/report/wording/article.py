"""Two paragraphs for the methods of an article, of at most 250 words, and what they cite.

What a journal prints has no room for the scale of each measurement; these stand in the supplement
that follows (:mod:`confide.report.wording.methods`).

*Privacy:* reads the certificate.

References:
    [NDLH25] Near, Darais, Lefkovitz, Howarth. Guidelines for evaluating differential privacy
        guarantees. NIST SP 800-226, 2025. https://doi.org/10.6028/NIST.SP.800-226
"""

import re
from typing import TYPE_CHECKING

from confide.drawing.markdown import plain
from confide.drawing.numbers import epsilon_text, in_sentence, percent
from confide.drawing.words import Words
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.mechanism import Mechanism
from confide.privacy.loss import ZeroConcentratedDP
from confide.regular_file import own_text
from confide.release.certificate.certificate import shown_loss
from confide.report.wording.describe import title_of
from confide.report.wording.odds_words import adjacency_text, loss_text

if TYPE_CHECKING:
    from confide.report.release import Release

MOST_WORDS = 250
REFERENCES = "references.bib"
_MOST_TITLES, _LONGEST_TITLES = 8, 70
"""Questions that are named, and the most words of all their titles."""
_CITED = re.compile(r"@(\w+)")


def article(release: "Release", *, words: Words) -> str:
    """Return the two paragraphs as Markdown, with keys of references."""
    plan, form = release.plan, release.form
    dataset = plan.dataset
    parts = {
        "unit": adjacency_text(dataset.unit.entity, adjacency=dataset.adjacency, words=words),
        "loss": loss_text(shown_loss(plan), words=words),
        "version": plain(form.software.version),
    }
    match plan.loss:
        case ZeroConcentratedDP(rho=rho):
            promise = words.say("article.zcdp", rho=epsilon_text(rho), **parts)
        case _:
            promise = words.say("article.pure", **parts)
    kinds = dict.fromkeys(_kind(each.mechanism) for each in plan.measurements)
    noise = words.listed([words.say(f"article.noise.{kind}") for kind in kinds])
    levels = sorted({estimate.level for estimate in release.estimates})
    second = words.say(
        "article.measured",
        questions=_questions(release, words=words),
        noise=noise,
        level=words.say("or").join(map(percent, levels)),
        certificate=plain(form.id),
    )
    return f"{promise}\n\n{second}"


def _kind(mechanism: Mechanism) -> str:
    match mechanism:
        case DiscreteGaussian():
            return "gaussian"
        case DiscreteLaplace():
            return "laplace"
        case PolyaDifference():
            return "polya"
        case _:
            return "choice"


def _questions(release: "Release", *, words: Words) -> str:
    """Return the titles of the questions, or how many there are where they are many or long."""
    plan = release.plan
    titles = [in_sentence(title_of(each, plan=plan, words=words)) for each in plan.statistics]
    count = len(" ".join(titles).split())
    if len(titles) > _MOST_TITLES or count > _LONGEST_TITLES:
        return words.say_count("article.questions", len(titles))
    named = words.listed([plain(title.rstrip("?")) for title in titles])
    return words.say("article.named", titles=named)


def references(text: str) -> str:
    """Return the BibTeX entries that a text cites, in the order of the file.

    Example:
        >>> references("as in [@BS16]").startswith("@inproceedings{BS16,")
        True
    """
    cited = set(_CITED.findall(text))
    entries = own_text("confide.report", REFERENCES).strip().split("\n\n")
    return "\n\n".join(e for e in entries if e[e.index("{") + 1 : e.index(",")] in cited) + "\n"
