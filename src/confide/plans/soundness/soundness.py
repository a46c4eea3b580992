"""Whether a plan is what its statistics ask for, at a price that its noise keeps.

A plan may be read back from a file or built by hand.  Nothing in it is taken on trust: what is
measured and how far one privacy unit moves it follow from the statistics and the schema, and the
charge from noise and sensitivity, so both are derived again, by the gate before anything is charged
and by every verifier afterwards.

*Privacy:* a plan that states a smaller sensitivity than its bounds allow, or selects keys for fewer
keys a person than the engine keeps, would be charged less than it loses.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006, def. 3.
        https://doi.org/10.1007/11681878_14
    [KKMN09] Korolova, Kenthapadi, Mishra, Ntoulas. Releasing search queries and clicks privately.
        WWW 2009, thm. 1. https://doi.org/10.1145/1526709.1526733
"""

from fractions import Fraction

from confide.errors import ContractError
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.plan import Measurement, Plan
from confide.privacy.amount import ATTO, NANO
from confide.tables.aggregates.shapes import Keyed, Ranked, Together
from confide.tables.bound_contributions import rows_per_unit


def asks_what_it_states(plan: Plan) -> bool:
    """Return whether the measurements are those that the statistics ask for, and no others."""
    asked = [
        (statistic.id, question.name, question.aggregate, question.sensitivity)
        for statistic in plan.statistics
        for question in statistic.questions(plan.dataset)
    ]
    return asked == [(m.statistic, m.name, m.aggregate, m.sensitivity) for m in plan.measurements]


def underpriced(plan: Plan) -> tuple[str, ...]:
    """Return the measurements that lose more than they are charged."""
    return tuple(f"{m.statistic}/{m.name}" for m in plan.measurements if _loses_more(m, plan=plan))


def require_sound(plan: Plan) -> None:
    """Refuse a plan that does not follow from its statistics, or costs more than it says.

    Raises:
        ContractError: Before anything is read or charged.
    """
    if not asks_what_it_states(plan):
        raise ContractError(
            "The plan's measurements are not those that its statistics ask for.",
            hint="Plan the study again; a plan is not edited by hand.",
        )
    over = underpriced(plan)
    if over:
        raise ContractError(
            f"The plan charges less than it loses: {', '.join(over)}.",
            hint="Plan the study again; a plan is not edited by hand.",
        )


def _loses_more(measurement: Measurement, *, plan: Plan) -> bool:
    if not _suits(measurement, plan=plan):
        return True
    if not _shared_as_it_says(measurement, plan=plan):
        return True
    return measurement.event.nats(plan.dataset.measure) > Fraction(measurement.nano, NANO)


def _shared_as_it_says(measurement: Measurement, *, plan: Plan) -> bool:
    """Return whether noise is in parts where sites add, and those that are counted on are enough.

    A charge says nothing of parts by itself: its event is that of the noise that it should buy.
    """
    shared, federation = measurement.shared, plan.federation
    if shared is None or federation is None:
        return shared is None and federation is None
    return (
        measurement.nano > 0
        and shared.measure is plan.dataset.measure
        and shared.is_of(federation)
        and measurement.mechanism == shared.total
        and shared.loses(measurement.sensitivity) <= Fraction(measurement.nano, NANO)
    )


def _suits(measurement: Measurement, *, plan: Plan) -> bool:
    """Return whether the mechanism is one for what is measured, with its bounds and candidates."""
    aggregate = measurement.aggregate
    match measurement.mechanism:
        case KeyThreshold() as rule:
            return (
                isinstance(aggregate, Keyed)
                and rule.delta <= Fraction(measurement.atto, ATTO)
                and rule.keys_per_person >= rows_per_unit(aggregate.bounds)
                and rule.adjacency is plan.dataset.adjacency
            )
        case QuantileSet() as choice:
            return (
                isinstance(aggregate, Together)
                and choice.at == aggregate.at
                and choice.groups == aggregate.groups
                and choice.moves is aggregate.moves(plan.dataset)
                and choice.candidates == aggregate.coordinates(plan.dataset)
                and measurement.atto >= 0
            )
        case SetSelection() | Peeling() as choice:
            return (
                isinstance(aggregate, Ranked)
                and not isinstance(aggregate, Together)
                and choice.size == aggregate.size
                and choice.candidates == aggregate.coordinates(plan.dataset)
                and measurement.atto >= 0
            )
        case DiscreteLaplace() | DiscreteGaussian() | PolyaDifference():
            return measurement.atto >= 0 and not isinstance(aggregate, Keyed | Ranked)
        case _:
            return False
