"""What the noise of a release says beside its charge: its ε by itself, and why it is of its kind.

*Privacy:* both follow from the plan, so a verifier derives them again.
"""

from confide.drawing.words import Words
from confide.plans.plan import Plan
from confide.plans.pricing.by_itself import loss_by_itself
from confide.plans.pricing.why_noise import why_noise
from confide.privacy.amount import ATTO, NANO, decimal_text
from confide.privacy.loss import ApproxDP
from confide.release.certificate.form import ByItselfPart
from confide.release.certificate.signed_words import Sentences, in_every_language

_MANY = 99.0
VIA = "laws of the discrete noise, composed and rounded up"


def by_itself(plan: Plan) -> ByItselfPart | None:
    """Return ε of the release by itself; None where its charge says as much."""
    found = loss_by_itself(plan)
    if found is None:
        return None
    return ByItselfPart(
        epsilon=_text(found),
        delta=decimal_text(int(found.delta * ATTO), per_one=ATTO),
        via=VIA,
        in_words=in_every_language(
            lambda words: words.say(
                "signed.by-itself", epsilon=_text(found), delta=f"{float(found.delta):g}"
            )
        ),
    )


def noise_because(plan: Plan) -> Sentences:
    """Return which noise a plan has, in what it is counted and why, in a sentence a language."""
    return in_every_language(lambda words: reason_text(plan, words=words))


def reason_text(plan: Plan, *, words: Words) -> str:
    """Return the same in one language."""
    found = why_noise(plan)
    parts = {} if found.times is None else {"times": _times(found.times)}
    return words.say(f"signed.noise.{found.reason.value}", **parts)


def _times(ratio: float) -> str:
    return f"{ratio:.2g}" if ratio < _MANY else f"{_MANY:g}"


def _text(loss: ApproxDP) -> str:
    return decimal_text(int(loss.epsilon * NANO), per_one=NANO)
