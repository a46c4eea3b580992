"""The door of one site to a release over sites: its ledger, its rows, its part of the noise.

::

    check the plan                     as the gate does; no row is read, nothing is charged
    reserve the charge                 durable; refused for public reasons only
    gather                             all sites speak and share keys; where too few do, the charge
                                       is given back
    record that reading begins         durable; the site's numbers were asked for
    read, add this site's part of the noise
    send the numbers, hidden, and get the sum over sites
    for a model, again and again       each time with what the noisy sums before said
    commit the sums                    durable, in this site's ledger; publish them

*Privacy:* what leaves is this site's vector plus its own part of the noise, under masks that vanish
in the sum alone.  From the moment at which reading begins the charge stays, whatever becomes of the
round: burned or untouched, never half.  A retry is another run, with fresh noise and masks, and
another charge, which this site's operator has to ask for: the coordinator picks the run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from confide.budget.ledger import Ledger, Reservation, StoredRelease
from confide.errors import ContractError, UnsupportedError
from confide.noise.entropy import Entropy, SystemEntropy
from confide.plans.mechanisms import additive
from confide.plans.plan import Measurement, Plan
from confide.plans.pricing.over_sites import lengths_of_sums
from confide.plans.rounds.in_turn import ask_in_turn
from confide.plans.soundness.soundness import require_sound
from confide.release.asking import charge_request
from confide.release.certificate.certificate import require_statable
from confide.release.gate import asked_of
from confide.release.noisy import shows_noisy
from confide.release.over_sites.among_sites import AmongSites, answers_of
from confide.release.passage import Answering, BoughtAnswer, Passage
from confide.release.patients import (
    AdmittedRows,
    EverybodysRows,
    require_caps_in_force,
    rows_of,
)
from confide.release.published import refuse_alike
from confide.rows.engine import Engine, Exact, exact_vector
from confide.tables.aggregates.shapes import InRounds


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteGate:
    """Everything that one site's part in a release over sites passes through.

    Attributes:
        ledger: Of this site.
        engine: What reads its rows.
        report_incident: Told the incident id and the failure, for the steward's local log only.
        require_consent: Refuses once others withdrew than those whom the engine leaves out.
        rehearse: Refuses a plan whose answer could not be certified and reported.
        entropy: What its part of the noise is made of.
    """

    ledger: Ledger
    engine: Engine
    report_incident: Callable[[str, BaseException], None]
    require_consent: Callable[[], None]
    rehearse: Callable[[Plan], None]
    entropy: Entropy = field(default_factory=SystemEntropy)

    def take_part(
        self,
        plan: Plan,
        *,
        among: AmongSites,
        analyst: str,
        request_key: str,
        again: bool = False,
        progress: Callable[[str], None] = lambda _: None,
    ) -> StoredRelease:
        """Return the stored sum over sites, in which this site's rows and part of the noise are.

        Args:
            plan: Over sites.
            among: The other sites, heard before and after the numbers of this one.
            analyst: Account that asks.
            request_key: Of the run; the same one returns the same bytes, and is charged once.
            again: Charge it although another run of the same was charged before.
            progress: Told the name of each stage.

        Raises:
            PolicyError: If a cap would be passed, or the terms differ; nothing is charged.
            ContractError: If the plan is not over sites, does not follow from its statistics, or,
                without ``again``, the same was charged before; nothing is charged.
            RoundAbortedError: If the round ended before this site's numbers were asked for; nothing
                is charged.
            ReleaseFailedError: If anything fails afterwards; the charge stays.
        """
        self._check(plan, progress=progress)
        if self.ledger.known(plan.digest(), analyst=analyst, request_key=request_key) is None:
            self.rehearse(plan)

        def admit(held: Reservation) -> Answering:
            if not again:
                refuse_alike(plan, ledger=self.ledger, reserved=held.entry)
            rows = rows_of(
                plan,
                held.entry,
                engine=self.engine,
                ledger=self.ledger,
                store=None,
                entropy=self.entropy,
            )
            progress("gather")
            among.gather()
            return lambda: self._answer(plan, rows, among=among, progress=progress)

        passage = Passage(
            ledger=self.ledger,
            entropy=self.entropy,
            report_incident=self.report_incident,
            require_consent=self.require_consent,
        )
        request = charge_request(plan, analyst=analyst, request_key=request_key)
        return passage.take(request, admit=admit, progress=progress)

    def _check(self, plan: Plan, *, progress: Callable[[str], None]) -> None:
        if plan.federation is None:
            raise ContractError("The plan is of this site alone.", hint="Run: confide run")
        if not shows_noisy(plan.study):
            raise ContractError("Over sites no house rule can withhold noisy numbers.")
        require_caps_in_force(plan, ledger=self.ledger, store=None)
        progress("check")
        require_sound(plan)
        require_statable(plan)
        self.engine.check(asked_of(plan), dataset=plan.dataset)

    def _answer(
        self,
        plan: Plan,
        rows: EverybodysRows | AdmittedRows,
        *,
        among: AmongSites,
        progress: Callable[[str], None],
    ) -> BoughtAnswer:
        progress("read")
        exact, members = rows.read(asked_of(plan))
        progress("noise")
        answers = iter(exact.reveal_to_gate())
        secrets = [
            exact_vector(measurement.aggregate, answers, dataset=plan.dataset)
            for measurement in plan.measurements
        ]
        totals: tuple[int, ...] = ()
        sums = len(lengths_of_sums(plan))
        for number in range(sums):
            numbers: list[int] = []
            noisy = answers_of(plan, totals)
            for measurement, secret, before in zip(plan.measurements, secrets, noisy, strict=True):
                now = _asked_now(measurement, secret, before=before, plan=plan)
                numbers += _with_part(measurement, now, entropy=self.entropy)
            progress("add" if sums == 1 else f"sum {number + 1} of {sums}")
            totals += among.add(tuple(numbers))
        return BoughtAnswer(payload=among.result().payload(), members=members)


def _asked_now(
    measurement: Measurement, secret: Exact, *, before: tuple[int, ...], plan: Plan
) -> Exact:
    """Return exact numbers that are asked for after these noisy ones; () where all were."""
    aggregate = measurement.aggregate
    if isinstance(secret, tuple | Mapping):
        return () if before else secret
    if not isinstance(aggregate, InRounds):
        raise UnsupportedError("The mechanism does not suit its aggregate.")
    noise = additive(measurement.mechanism)
    ask = ask_in_turn(aggregate, before, mechanism=noise, dataset=plan.dataset)
    return () if ask is None else secret.answer(ask)


def _with_part(measurement: Measurement, secret: Exact, *, entropy: Entropy) -> tuple[int, ...]:
    """Return exact numbers on the grid of the noise, with this site's part of it."""
    shared = measurement.shared
    if shared is None or not isinstance(secret, tuple):
        raise UnsupportedError("The noise of a measurement over sites is shared.")
    on_grid = tuple(shared.grid * value for value in secret)
    return shared.part.randomize(on_grid, entropy=entropy)
