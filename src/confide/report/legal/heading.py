"""What stands on top of a legal document.

*Privacy:* public facts of the subject.
"""

from confide.privacy.loss import PrivacyLoss
from confide.report.legal.scribe import Scribe
from confide.report.wording.odds_words import adjacency_text, loss_text, shown_at


def facts_of(scribe: Scribe) -> tuple[tuple[str, str], ...]:
    """Return label and text of what the document is about; empty texts are left out."""
    subject, words = scribe.subject, scribe.words
    dataset = subject.dataset
    shown, lost = (_shown(loss, scribe=scribe) for loss in (subject.loss, subject.lost))
    certificate = "" if subject.certificate is None else subject.certificate.id
    found = (
        ("dataset", dataset.id),
        ("period", subject.period),
        ("sites", words.listed([site.title for site in scribe.law.sites])),
        ("loss", shown),
        ("lost-rows", lost and scribe.say("lost-rows", loss=lost)),
        (
            "protects",
            adjacency_text(dataset.unit.entity, adjacency=dataset.adjacency, words=words),
        ),
        ("certificate", certificate),
    )
    return tuple((scribe.say(f"label.{name}"), text) for name, text in found if text)


def _shown(loss: PrivacyLoss | None, *, scribe: Scribe) -> str:
    at = None if loss is None else shown_at(loss, delta=scribe.subject.dataset.delta)
    return "" if at is None else loss_text(at, words=scribe.words)
