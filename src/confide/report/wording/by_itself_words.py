"""The ε of one release by itself, beside what budgets are charged for it, in a sentence."""

from confide.drawing.numbers import epsilon_text, power_text
from confide.drawing.words import Words
from confide.plans.plan import Plan
from confide.plans.pricing.both_noises import has_both
from confide.plans.pricing.by_itself import loss_by_itself
from confide.privacy.loss import ZeroConcentratedDP
from confide.release.certificate.its_noise import reason_text
from confide.report.wording.odds_words import shown_at


def by_itself_sentences(plan: Plan, *, words: Words) -> tuple[str, ...]:
    """Return why a plan has its noise, and ε of it by itself where its charge says less.

    Args:
        plan: Of statistics.
        words: Language.
    """
    found = loss_by_itself(plan)
    if found is None or not isinstance(plan.loss, ZeroConcentratedDP):
        return (reason_text(plan, words=words),)
    told = {"epsilon": epsilon_text(found.epsilon), "delta": power_text(found.delta)}
    if has_both(plan):
        return (reason_text(plan, words=words), words.say("guarantee.by-itself-both", **told))
    charged = words.say(
        "guarantee.by-itself",
        **told,
        rho=epsilon_text(plan.loss.rho),
        shown=epsilon_text(shown_at(plan.loss, delta=found.delta).epsilon),
    )
    return (reason_text(plan, words=words), charged)
