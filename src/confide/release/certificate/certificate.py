"""The certificate: what was promised, what it cost, and everything needed to check both.

Canonical JSON (RFC 8785), signed with Ed25519.  Its body is a function of the noisy payload, the
ledger's entry and the issuer, so a verifier rebuilds it and compares; amounts are texts.

It says what was promised and measured (:mod:`.statement`), what may go wrong (:mod:`.hazards`,
:mod:`.limits`), and commits to the snapshot (:mod:`.commitment`).

References:
    [RFC8785] Rundgren, Jordan, Erdtman. JSON canonicalization scheme. 2020.
        https://www.rfc-editor.org/rfc/rfc8785
    [RFC8032] Josefsson, Liusvaara. Edwards-curve digital signature algorithm. 2017.
        https://www.rfc-editor.org/rfc/rfc8032
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from confide.budget.ledger import Charge, Entry, Scope
from confide.errors import InvalidParameterError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import Mechanism
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.canonical import Json, canonical_bytes, digest, encode
from confide.plans.estimates import Estimate
from confide.plans.plan import Measurement, Plan, Priced
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.amount import ATTO, NANO, decimal_text
from confide.privacy.group import group_loss
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.privacy.odds import membership_advantage
from confide.release.certificate.authority import NO_AUTHORITY, Authority
from confide.release.certificate.facts import public_facts
from confide.release.certificate.form import VERSION
from confide.release.certificate.hazards import HazardFacts, hazards
from confide.release.certificate.limits import forecasts, limits
from confide.release.certificate.signed_words import signed_sentence
from confide.release.certificate.statement import house_rule, measured, output, promised, release_of
from confide.release.export import tables
from confide.release.noisy import NoisyAggregates
from confide.release.site.keys import SigningKey

GROUP_SIZES = (2, 5)
NOISY_PATH = "noisy.json"
ALGORITHM = "Ed25519"
SIGNED_OVER = "RFC 8785 form of this object without signature"


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """Who issues: organisation and contact as declared, key as used."""

    organisation: str
    contact: str = ""


def shown_loss(plan: Priced, loss: PrivacyLoss | None = None) -> ApproxDP | PureDP:
    """Return a loss as the ε (and δ) that people are shown, rounded up so that it stays true."""
    match loss or plan.loss:
        case ZeroConcentratedDP() as rho:
            epsilon = epsilon_at(rho, delta=plan.dataset.delta)
            return ApproxDP(epsilon=_four_digits_up(epsilon), delta=plan.dataset.delta)
        case shown:
            return shown


def _four_digits_up(epsilon: float) -> Fraction:
    return Fraction(-(-Fraction(epsilon) * 10_000 // 1), 10_000)


def certificate(
    noisy: NoisyAggregates,
    *,
    estimates: Sequence[Estimate],
    entry: Entry,
    issuer: Issuer,
    software: Mapping[str, Json],
    signer: SigningKey,
    authority: Authority = NO_AUTHORITY,
    commitment: Json = None,
) -> Json:
    """Return the signed certificate of a release with its estimates.

    Args:
        noisy: The payload.
        estimates: As published (:func:`.cuts.with_cuts`), made once because they take longest.
        entry: Of the ledger.
        issuer: Who signs.
        software: What made the release.
        signer: The site's key.
        authority: Under what the release was allowed.
        commitment: To the snapshot that was read; None where none was made.
    """
    facts = stated(entry, issuer=issuer, key=signer.name, software=software, authority=authority)
    scopes = tuple(charge.name for charge in entry.charges)
    body = facts | derived(noisy, estimates=estimates, scopes=scopes, commitment=commitment)
    return signed(body, signer=signer)


def stated(
    entry: Entry, *, issuer: Issuer, key: str, software: Mapping[str, Json], authority: Authority
) -> dict[str, Json]:
    """Return the members of a certificate that are the ledger's or the issuer's word."""
    return {
        "id": f"{entry.lineage}/{entry.number}",
        "issued": entry.at,
        "issuer": {"organisation": issuer.organisation, "contact": issuer.contact, "key": key},
        "authority": {
            "analyst": entry.analyst,
            "request": entry.request_key,
            **authority.to_json(),
        },
        "accounting": accounting_of(entry),
        "software": dict(software),
    }


def signed(body: Json, *, signer: SigningKey) -> Json:
    """Return a certificate with the issuer's signature over all of it."""
    signature = signer.sign(canonical_bytes(body))
    return body | {
        "signature": {
            "alg": ALGORITHM,
            "key": signer.name,
            "over": SIGNED_OVER,
            "value": signature.hex(),
        }
    }


def derived(
    noisy: NoisyAggregates,
    *,
    estimates: Sequence[Estimate],
    scopes: tuple[str, ...],
    commitment: Json = None,
) -> dict[str, Json]:
    """Return every part of a certificate that follows from payload, charges and commitment.

    Args:
        noisy: The payload.
        estimates: As published (:func:`.cuts.with_cuts`), made once because they take longest.
        scopes: Names of the caps that were charged, as the ledger holds them.
        commitment: As stated; only whether there is one counts for the rest.
    """
    plan = noisy.plan
    expected = forecasts(plan)
    known = HazardFacts(
        plan=plan, shown=shown_loss(plan), scopes=scopes, committed=commitment is not None
    )
    house = house_rule(plan)
    return {
        "certificate": VERSION,
        "release": release_of(plan.study, product="statistics"),
        "data": data_of(plan, commitment=commitment),
        "guarantee": guarantee_of(plan) | promised(plan),
        "plan": {"sha256": plan.digest(), "measurements": len(plan.measurements)},
        "mechanisms": [
            _mechanism(measurement, plan) | measured(measurement, plan=plan)
            for measurement in plan.measurements
        ],
        "outputs": [
            output(path, sha256, plan=plan, estimates=estimates, expected=expected)
            for path, sha256 in _files(noisy, estimates=estimates)
        ],
        "limits": limits(plan, expected=expected),
        "hazards": hazards(known),
        **({} if house is None else {"small-cells": house}),
    }


def data_of(plan: Priced, *, commitment: Json = None) -> Json:
    """Return what a certificate says of the data: names, what is public of them, commitment."""
    return {
        "dataset": plan.dataset.id,
        "lineage": plan.dataset.lineage,
        "snapshot": plan.dataset.snapshot,
        "facts-taken-as-public": public_facts(plan.dataset),
    } | ({} if commitment is None else {"commitment": commitment})


def _spend(loss: PrivacyLoss) -> Json:
    match loss:
        case PureDP(epsilon=epsilon):
            return {"measure": "pure", "epsilon": _text(epsilon)}
        case ApproxDP(epsilon=epsilon, delta=delta):
            return {"measure": "approx", "epsilon": _text(epsilon), "delta": _text(delta)}
        case ZeroConcentratedDP(rho=rho, delta=delta):
            return {"measure": "zcdp", "rho": _text(rho), "delta": _text(delta)}


def _text(amount: Fraction) -> str:
    """Return an exact amount as a decimal, or as a fraction where no short decimal is exact."""
    for per_one in (NANO, ATTO):
        if (amount * per_one).denominator == 1:
            return decimal_text(int(amount * per_one), per_one=per_one)
    return str(amount)


def guarantee_of(plan: Priced) -> Json:
    """Return what a plan promises: unit, adjacency, loss, and what it means for groups."""
    shown = shown_loss(plan)
    return {
        "unit": plan.dataset.unit.entity.value,
        "adjacency": plan.dataset.adjacency.value,
        "trust": "central",
        "spend": _spend(plan.loss),
        "equivalent": _spend(shown),
        "membership-advantage": f"{float(_four_digits_up(membership_advantage(shown))):.4f}",
        "groups": [{"size": size, **_group(plan, size=size)} for size in GROUP_SIZES],
        **_patients(plan),
    }


def _patients(plan: Priced) -> Json:
    """Return the caps up to which each patient is in; the same whoever is left out."""
    caps = [
        {
            "cap": cap.id,
            "window": cap.window.value,
            "limit": decimal_text(cap.nano, per_one=NANO),
            "enforced": "by leaving patients out",
        }
        for cap in plan.dataset.patients
    ]
    return (
        {"patients": {"caps": caps, "in-words": signed_sentence("signed.patients")}} if caps else {}
    )


def _group(plan: Priced, *, size: int) -> Json:
    loss = shown_group_loss(plan, size=size)
    return {"measure": "none"} if loss is None else _spend(loss)


def shown_group_loss(plan: Priced, *, size: int) -> ApproxDP | PureDP | None:
    """Return the loss to a group: by k²ρ where the loss is plain zCDP, else from (ε, δ).

    None where the promise is empty because the δ of the group reaches 1.
    """
    try:
        match plan.loss:
            case ZeroConcentratedDP(delta=delta) if delta > 0:
                return shown_loss(plan, group_loss(shown_loss(plan), size=size))
            case loss:
                return shown_loss(plan, group_loss(loss, size=size))
    except InvalidParameterError:
        return None


def _mechanism(measurement: Measurement, plan: Plan) -> Json:
    sensitivity = measurement.sensitivity
    noise = measurement.mechanism
    letter = "rho" if plan.dataset.measure is Measure.ZCDP else "epsilon"
    charge = {letter: decimal_text(measurement.nano, per_one=NANO)}
    if measurement.atto:
        charge["delta"] = decimal_text(measurement.atto, per_one=ATTO)
    return {
        "name": f"{measurement.statistic}/{measurement.name}",
        "query-sha256": digest(encode(measurement.aggregate)),
        "sensitivity": {
            "l1": str(sensitivity.l1),
            "l2-squared": str(sensitivity.l2_squared),
            "linf": str(sensitivity.linf),
            "unit": sensitivity.unit,
            "because": sensitivity.because,
        }
        | (
            {"reach": str(sensitivity.reach), "set-reach": str(sensitivity.set_reach)}
            if sensitivity.reach
            else {}
        ),
        "bounds": encode(measurement.aggregate.bounds),
        "noise": encode(noise),
        "sampler": "exact, integer arithmetic, operating-system entropy",
        "charge": charge,
        "error": {**_error(noise), "unit": sensitivity.unit},
    }


def _error(noise: Mechanism) -> dict[str, str]:
    """Return how wide noise is, or how far a candidate must lead to be chosen that often."""
    match noise:
        case SetSelection() | Peeling():
            return {
                name: str(math.ceil(noise.lead(chance)))
                for name, chance in (("lead-median", 0.5), ("lead-p95", 0.95))
            }
        case KeyThreshold():
            return _error(noise.noise())
        case DiscreteLaplace() | DiscreteGaussian():
            return {"median": str(noise.half_width(0.5)), "p95": str(noise.half_width(0.95))}
        case _:
            assert_never(noise)


def accounting_of(entry: Entry) -> Json:
    """Return what a certificate says of the entry of the ledger."""
    return {
        "entry": entry.number,
        "previous": entry.previous,
        "hash": entry.hash,
        "composition": "sum of charges in integers",
        "payload-sha256": entry.payload_sha256,
        "charges": [_charge(charge) for charge in entry.charges],
        **({} if entry.continues is None else {"continues": entry.continues}),
        **({"ledger": entry.ledger} if entry.ledger else {}),
    }


def _charge(charge: Charge) -> Json:
    per_one = ATTO if charge.scope is Scope.LIFETIME_DELTA else NANO
    amounts = {
        name: decimal_text(getattr(charge, name), per_one=per_one)
        for name in ("amount", "before", "after", "cap")
    }
    named = {"id": charge.cap_id} if charge.cap_id else {}
    return {"scope": charge.name, **amounts, **named}


def _files(noisy: NoisyAggregates, *, estimates: Sequence[Estimate]) -> Iterator[tuple[str, str]]:
    """Yield path and SHA-256 of each published file."""
    files = {NOISY_PATH: noisy.payload()} | tables(noisy.plan, estimates)
    for path, content in sorted(files.items()):
        yield path, hashlib.sha256(content).hexdigest()
