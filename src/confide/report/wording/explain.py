"""What ``confide explain`` says of a loss, a plan or a certificate, as titles, sentences and grids.

*Privacy:* plans and certificates are public; nothing else is read.

References:
    [NSCKR23] Nanayakkara, Smart, Cummings, Kaptchuk, Redmiles. What are the chances? Explaining the
        epsilon parameter in differential privacy. USENIX Security 2023.
        https://arxiv.org/abs/2303.00738
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from confide.budget.ledger import Scope, ScopeSpent, Spent
from confide.drawing.grid import error_at, grid_of, moved_text
from confide.drawing.numbers import clean, epsilon_text, percent, significant
from confide.drawing.words import Words, load_words
from confide.errors import ContractError, UnknownNameError, VerificationError
from confide.plans.canonical import Json
from confide.plans.plan import Measurement, Plan, Statistic
from confide.plans.pricing.allocate import forecast
from confide.plans.pricing.roads import amount_in
from confide.privacy.accounting.concentrated import simple_epsilon_at
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import ATTO, NANO
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP
from confide.privacy.odds import odds_factor, of_100_outputs, posterior_bound
from confide.privacy.unit import Entity
from confide.release.certificate.form import CertificateForm
from confide.release.certificate.parts import AccountingPart, SpendPart
from confide.release.certificate.signed_words import ENGLISH
from confide.release.jobs.job_form import JobForm
from confide.release.reused_form import ReusedForm
from confide.release.verify.verify import form_of
from confide.report.wording.bits import bits_sentence, family_sentence
from confide.report.wording.bounding import law_text, measured_text
from confide.report.wording.by_itself_words import by_itself_sentences
from confide.report.wording.describe import title_of
from confide.report.wording.gauges import line_texts, scope_text
from confide.report.wording.guarantee import ChargeLine, charge_lines
from confide.report.wording.odds_words import (
    PRIOR,
    adjacency_text,
    advantage_text,
    loss_text,
    meaning_of,
    meaning_of_any,
    meaning_of_plan,
    odds_sentences,
    shown_at,
)

_MOST_OF_NOISE = 4_000
_TOPICS = ("epsilon", "plan", "certificate")
_USUAL = tuple(Fraction(text) for text in ("0.1", "0.5", "1", "2", "4"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextGrid:
    """A table of texts.

    Attributes:
        title: What it shows.
        head: Column titles.
        rows: As wide as the head.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What there is to say of one thing.

    Attributes:
        title: Of the whole.
        sentences: In order.
        grids: After the sentences.
    """

    title: str
    sentences: tuple[str, ...]
    grids: tuple[TextGrid, ...]


def explain_loss(
    loss: PrivacyLoss,
    *,
    delta: Fraction,
    words: Words,
    unit: Entity = Entity.PATIENT,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
) -> Explanation:
    """Explain a loss as odds, beside other values of ε.

    Args:
        loss: What is explained.
        delta: Where a concentrated loss is shown as ε; ignored for others.
        words: Language.
        unit: Whose loss it is.
        adjacency: What neighbours differ in.

    Example:
        >>> from confide.drawing.words import load_words
        >>> half = PureDP(epsilon=Fraction(1, 2))
        >>> told = explain_loss(half, delta=Fraction(0), words=load_words("en"))
        >>> told.sentences[2][:77]
        'At worst, of 100 possible outputs 38 would make an analyst believe that the p'
    """
    sentences = [
        words.say(
            "explain.loss-unit", adjacency=adjacency_text(unit, adjacency=adjacency, words=words)
        )
    ]
    if isinstance(loss, ZeroConcentratedDP):
        textbook = Fraction(math.ceil(simple_epsilon_at(loss, delta=delta) * 1e6), 10**6)
        sentences.append(
            words.say(
                "explain.rho",
                rho=loss_text(loss, words=words),
                loss=loss_text(shown_at(loss, delta=delta), words=words),
                textbook=epsilon_text(textbook),
            )
        )
    meaning = meaning_of_any(loss, delta=delta)
    sentences += odds_sentences(meaning, unit=unit, adjacency=adjacency, words=words)
    sentences.append(bits_sentence([loss], adjacency=adjacency, words=words))
    if unit is Entity.PATIENT:
        sentences.append(family_sentence(loss, delta=delta, words=words))
    return Explanation(
        title=words.say("explain.loss-title", loss=loss_text(loss, words=words)),
        sentences=tuple(sentences),
        grids=(odds_grid(words=words),),
    )


def explain(topic: str, *, language: str = "en") -> str:
    """Return what ε, a plan or a certificate is, in plain lines, before there is any data.

    Args:
        topic: "epsilon", "plan" or "certificate".
        language: Of the text.

    Raises:
        UnknownNameError: If there is no such topic.

    Example:
        >>> explain("plan").splitlines()[0]
        'A plan is everything that a release will do and cost, fixed before any record is read.'
    """
    words = load_words(language)
    if topic not in _TOPICS:
        raise UnknownNameError("topic", topic, known=_TOPICS)
    lines = list(words.each(f"explain.topic.{topic}"))
    if topic == "epsilon":
        grid = odds_grid(words=words)
        lines += ["", grid.title, *_aligned(grid)]
    return "\n".join(lines)


def _aligned(grid: TextGrid) -> list[str]:
    rows = (grid.head, *grid.rows)
    widths = [max(len(row[column]) for row in rows) for column in range(len(grid.head))]
    return [
        "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
        for row in rows
    ]


def odds_grid(*, words: Words, epsilons: tuple[Fraction, ...] = _USUAL) -> TextGrid:
    r"""Return a table of pure losses as odds.

    Example:
        >>> from confide.drawing.words import load_words
        >>> odds_grid(words=load_words("en"), epsilons=(Fraction(1),)).rows
        (('1', '2.718', '2.7\xa0%', '27 / 73', '0.463'),)
    """
    rows = []
    for epsilon in epsilons:
        loss = PureDP(epsilon=epsilon)
        wrong, right = of_100_outputs(loss)
        rows.append(
            (
                epsilon_text(epsilon),
                significant(odds_factor(loss)),
                percent(posterior_bound(loss, prior=PRIOR)),
                f"{wrong} / {right}",
                advantage_text(meaning_of(loss, delta=Fraction(0))),
            )
        )
    columns = ("epsilon", "odds", "posterior", "outputs", "advantage")
    head = tuple(words.say(f"head.{name}") for name in columns)
    return TextGrid(title=words.say("explain.others"), head=head, rows=tuple(rows))


def explain_plan(plan: Plan, *, words: Words, spent: Spent | None = None) -> Explanation:
    """Explain what a plan would measure, with which noise and error, and what it would cost.

    Args:
        plan: What is explained.
        words: Language.
        spent: Use of the caps, from the ledger; without it they are left out.
    """
    dataset = plan.dataset
    unit, adjacency = dataset.unit.entity, dataset.adjacency
    meaning = meaning_of_plan(plan)
    loss = meaning.shown
    sentences = [
        words.say("explain.plan-text", digest=plan.digest()),
        words.say(
            "explain.plan-cost",
            amount=loss_text(plan.loss, words=words),
            loss=loss_text(loss, words=words),
            adjacency=adjacency_text(unit, adjacency=adjacency, words=words),
        ),
        *by_itself_sentences(plan, words=words),
        *odds_sentences(meaning, unit=unit, adjacency=adjacency, words=words),
        bits_sentence([plan.loss], adjacency=adjacency, words=words),
    ]
    for statistic in plan.statistics:
        sentences += _errors(statistic, plan=plan, words=words)
    grids = [_measured(plan, words=words)]
    if spent is not None:
        grids.append(_caps(planned_lines(plan, spent=spent), words=words))
    title = words.say("explain.plan-title", study=clean(plan.study.title or plan.study.id))
    return Explanation(title=title, sentences=tuple(sentences), grids=tuple(grids))


def _errors(statistic: Statistic, *, plan: Plan, words: Words) -> Iterator[str]:
    title = title_of(statistic, plan=plan, words=words)
    try:
        expected = forecast(plan, statistic)
    except ContractError as unknown:
        yield words.say("explain.unknown", title=title, reason=clean(str(unknown), most=300))
        return
    yield words.say(
        "explain.error",
        title=title,
        level=percent(expected.level),
        half=words.amount(significant(expected.half_width), expected.unit),
        median=words.amount(significant(expected.median_error), expected.unit),
    )
    for note in expected.notes:
        yield words.say("explain.note", title=title, note=clean(note, most=300))


def _measured(plan: Plan, *, words: Words) -> TextGrid:
    columns = ("statistic", "quantity", "sensitivity", "because", "noise", "error", "charge")
    head = tuple(words.say(f"head.{name}") for name in columns)
    rows = tuple(_measurement(m, plan=plan, words=words) for m in plan.measurements)
    return TextGrid(title=words.say("explain.measured"), head=head, rows=rows)


def _measurement(measurement: Measurement, *, plan: Plan, words: Words) -> tuple[str, ...]:
    grid = grid_of(measurement, dataset=plan.dataset)
    error = error_at(measurement.mechanism, 0.95)
    return (
        clean(measurement.statistic),
        measured_text(measurement, words=words),
        moved_text(measurement, grid=grid, words=words),
        clean(measurement.sensitivity.because, most=300),
        law_text(measurement.mechanism, grid=grid, words=words),
        grid.text(error, words=words),
        epsilon_text(Fraction(measurement.nano, NANO)),
    )


def planned_lines(plan: Plan, *, spent: Spent) -> Iterator[ChargeLine]:
    """Yield what the plan would do to each cap that is set."""
    amount = amount_in(spent.measure, planned=plan)
    for scope in spent.scopes:
        use, this = scope.charged(amount)
        if this or use.scope is not Scope.LIFETIME_DELTA:
            yield from _line(use, amount=this)


def spent_lines(spent: Spent) -> Iterator[ChargeLine]:
    """Yield the use of each cap that is set and adds up over releases."""
    for scope in spent.scopes:
        if scope.scope is not Scope.RELEASE:
            yield from _line(scope.roomier(), amount=0)


def _line(scope: ScopeSpent, *, amount: int) -> Iterator[ChargeLine]:
    """Yield what an amount in grid units would do to a cap; nothing where there is none."""
    per_one = ATTO if scope.scope is Scope.LIFETIME_DELTA else NANO
    if scope.cap is not None:
        yield ChargeLine(
            scope=scope.scope,
            period=scope.period,
            before=Fraction(scope.used, per_one),
            amount=Fraction(amount, per_one),
            after=Fraction(scope.used + amount, per_one),
            cap=Fraction(scope.cap, per_one),
            order=scope.order,
            epsilon=None if scope.epsilon is None else Fraction(scope.epsilon, per_one),
        )


def _caps(lines: Iterator[ChargeLine], *, words: Words) -> TextGrid:
    head = tuple(
        words.say(f"head.{name}") for name in ("scope", "before", "amount", "after", "cap")
    )
    rows = tuple(
        (
            scope_text(line, words=words),
            *line_texts(line),
        )
        for line in lines
    )
    return TextGrid(title=words.say("explain.caps"), head=head, rows=rows)


def explain_certificate(certificate: Json, *, words: Words) -> Explanation:
    """Explain what a certificate claims; :func:`confide.release.verify.verify.verify` checks it.

    Raises:
        VerificationError: If it is not a certificate of this format.
    """
    form = form_of(certificate)
    title = words.say("explain.certificate-title", id=clean(form.id, most=160))
    if isinstance(form, ReusedForm):
        free = (words.say("reuse.free"), words.say("reuse.sources"))
        return Explanation(title=title, sentences=free, grids=())
    try:
        shown, loss = _loss(form.guarantee.equivalent), _loss(form.guarantee.spend)
        lines = charge_lines(form.accounting)
    except (ValueError, ZeroDivisionError):
        raise VerificationError("This is not a certificate of this format.") from None
    facts = {
        "issued": clean(form.issued),
        "organisation": clean(form.issuer.organisation),
        "dataset": clean(form.data.dataset),
        "snapshot": clean(form.data.snapshot),
    }
    unit, adjacency = form.guarantee.unit, form.guarantee.adjacency
    delta = shown.delta if isinstance(shown, ApproxDP) else Fraction(0)
    told = adjacency_text(unit, adjacency=adjacency, words=words)
    of = meaning_of_any if isinstance(form, JobForm) else meaning_of
    who = "by" if facts["organisation"] else "unnamed"
    if who == "unnamed":
        facts.pop("organisation")
    sentences = (
        words.say(f"explain.certificate-text.{who}", **facts),
        words.say("explain.certificate-loss", loss=loss_text(shown, words=words), adjacency=told),
        *odds_sentences(of(loss, delta=delta), unit=unit, adjacency=adjacency, words=words),
        bits_sentence([loss], adjacency=adjacency, words=words),
        *_of_noise(form, words=words),
        *_continued(form.accounting, words=words),
    )
    return Explanation(title=title, sentences=sentences, grids=(_caps(iter(lines), words=words),))


def _of_noise(form: CertificateForm | JobForm, *, words: Words) -> Iterator[str]:
    """Yield what a certificate says of its noise and sites; statistics of version 1 say nothing."""
    alone = because = None
    if isinstance(form, CertificateForm):
        alone, because = form.guarantee.by_itself, form.guarantee.noise_because
    sites = form.federation
    for said in (
        because,
        None if alone is None else alone.in_words,
        None if sites is None else sites.in_words,
    ):
        if said is not None:
            yield clean(said.get(words.language, said[ENGLISH]), most=_MOST_OF_NOISE)


def _continued(accounting: AccountingPart, *, words: Words) -> tuple[str, ...]:
    """Return by which entry a release was charged that says 0 of itself; nothing of others."""
    if accounting.continues is None:
        return ()
    return (words.say("explain.continues", entry=str(accounting.continues)),)


def _loss(spend: SpendPart) -> PrivacyLoss:
    match spend:
        case SpendPart(measure="pure", epsilon=str(epsilon)):
            return PureDP(epsilon=Fraction(epsilon))
        case SpendPart(measure="approx", epsilon=str(epsilon), delta=str(delta)):
            return ApproxDP(epsilon=Fraction(epsilon), delta=Fraction(delta))
        case SpendPart(measure="zcdp", rho=str(rho), delta=str(delta)):
            return ZeroConcentratedDP(rho=Fraction(rho), delta=Fraction(delta))
        case _:
            raise VerificationError("The certificate states an unknown kind of loss.")
