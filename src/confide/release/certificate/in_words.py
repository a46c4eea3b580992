"""The promise of a release in sentences, English and Chinese, that stand in its certificate.

*Privacy:* a sentence never states ε without unit, adjacency and δ.  The odds of single outputs move
by at most e^ε under pure privacy; under zCDP by e^(ρ + 2√(ρ ln 1/δ)) but for outputs of total
probability δ, by the tail bound inside [BS16, prop. 1.3], which is more than the ε of (ε, δ).  Of a
job under (ε, δ), whose δ is no chance of one named event, they move by at most e^2ε but for outputs
B with P[B] ≤ e^ε·Q[B] + δ ≤ e^−ε·P[B] + δ, so P[B] ≤ δ/(1 − e^−ε), and as much on the other side
[KS14, lem. 3.3].

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [KS14] Kasiviswanathan, Smith. On the "semantics" of differential privacy. J. Privacy and
        Confidentiality 6(1), 2014. https://doi.org/10.29012/jpc.v6i1.634
"""

import math
from fractions import Fraction
from typing import assert_never

from confide.plans.job import JobPlan
from confide.plans.plan import Priced
from confide.privacy.accounting.concentrated import simple_epsilon_at
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.privacy.unit import Entity

Text = dict[str, str]
"""One sentence by language: en, zh."""

_UNITS = {
    Entity.PATIENT: {"en": "patient", "zh": "患者"},
    Entity.EVENT: {"en": "event (one row)", "zh": "事件（一行记录）"},
    Entity.EDGE: {"en": "contact between two persons", "zh": "两人之间的接触"},
    Entity.HOSPITAL: {"en": "hospital with all its patients", "zh": "医院及其全部患者"},
}
_LARGEST = 700  # e^709 is the largest float


def in_words(plan: Priced) -> Text:
    """Return the promise of a plan as one sentence a language."""
    unit = _UNITS[plan.dataset.unit.entity]
    delta, factor = _odds(plan)
    match plan.dataset.adjacency:
        case Adjacency.ADD_REMOVE:
            en, zh = (
                f"that any one {unit['en']} is in the data",
                f"任何一名{unit['zh']}是否在数据中",
            )
        case Adjacency.SUBSTITUTE:
            en = f"on what the record of any one {unit['en']} says"
            zh = f"任何一名{unit['zh']}的记录内容"
        case _:
            assert_never(plan.dataset.adjacency)
    if plan.dataset.unit.entity is not Entity.PATIENT:
        zh = zh.replace("一名", "一个")
    said = {
        "en": f"Whatever else anyone knows, this release moves their odds {en} by at most a "
        f"factor {factor}",
        "zh": f"无论他人已知什么，本次发布使其对{zh}的判断几率（odds）至多改变 {factor} 倍",
    }
    if delta:
        share = f"{float(delta):g}"
        said["en"] += f", but for outputs of total probability {share}"
        said["zh"] += f"，总概率为 {share} 的输出除外"
    return {"en": said["en"] + ".", "zh": said["zh"] + "。"}


def _odds(plan: Priced) -> tuple[Fraction, str]:
    """Return the probability of the exceptions and the factor, rounded up."""
    match plan.loss:
        case PureDP(epsilon=epsilon):
            return Fraction(0), _factor(float(epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta) if isinstance(plan, JobPlan):
            return exceptions(epsilon, delta=delta), _factor(2 * float(epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return delta, _factor(float(epsilon))
        case ZeroConcentratedDP() as rho:
            delta = plan.dataset.delta
            return delta, _factor(simple_epsilon_at(rho, delta=delta))
        case _:
            assert_never(plan.loss)


def exceptions(epsilon: Fraction, *, delta: Fraction) -> Fraction:
    """Return the chance of outputs that move odds by more than e^2ε, under (ε, δ); rounded up."""
    least = -math.expm1(-float(epsilon)) * (1 - 1e-12)
    if least <= 0:
        return Fraction(1)
    chance = min(1.0, 2 * float(delta) / least)
    digits = 1 - math.floor(math.log10(chance)) if 0 < chance < 1 else 0
    return Fraction(math.ceil(chance * 10**digits), 10**digits)


def _factor(epsilon: float) -> str:
    if epsilon > _LARGEST:
        return "e^700 or more"
    value = math.exp(epsilon)
    if value >= 1e6:
        return f"{value * 1.01:.2g}"
    return f"{math.ceil(value * 1000) / 1000:.3f}"


def not_protected(plan: Priced) -> list[Text]:
    """Return what the promise leaves out, one sentence a language."""
    said = [
        {
            "en": "That nothing is learned about a patient: facts about the population apply to "
            "everyone in it, whether or not their record was used.",
            "zh": "不保证不会了解到患者的任何情况："
            "群体的规律适用于其中每个人，无论其记录是否被使用。",
        },
        {
            "en": "Facts taken as public: schema, categories, bounds, that the data set exists.",
            "zh": "被视为公开的事实：数据结构、类别、上下界，以及该数据集的存在。",
        },
        {
            "en": "Releases made outside this ledger, and theft of the raw data.",
            "zh": "本账本之外的发布，以及原始数据被盗。",
        },
        {
            "en": "The same for groups: see their loss; someone with several ids is a group.",
            "zh": "对群体的同等保护：见上文群体的损失；拥有多个标识的人视为群体。",
        },
    ]
    match plan.dataset.unit.entity:
        case Entity.PATIENT:
            pass
        case Entity.EVENT:
            said.append(
                {
                    "en": "All events of a person together: each event is protected by itself.",
                    "zh": "一个人的全部事件整体：仅对每个事件单独保护。",
                }
            )
        case Entity.EDGE:
            said.append(
                {
                    "en": "That a person is in the data, and roughly how many contacts they have.",
                    "zh": "某人在数据中这一事实，以及其接触数的大致数量。",
                }
            )
        case Entity.HOSPITAL:
            said.append(
                {
                    "en": "A person with records in several hospitals: these are a group.",
                    "zh": "在多家医院有记录的人：这些医院视为群体。",
                }
            )
        case _:
            assert_never(plan.dataset.unit.entity)
    return said
