"""L2 and L4 as a site runs them, and the report of the whole audit."""

from fractions import Fraction

import pytest

from confide.attacks.audit.every_kind import kind_trials
from confide.attacks.audit.oracles import oracle_checks
from confide.attacks.audit.outcome import AuditCheck, Layer
from confide.attacks.audit.run import SAMPLERS, _parts, fit_check, run_audit
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from seeded import SeededEntropy


@pytest.mark.L4
@pytest.mark.parametrize("check", oracle_checks(), ids=lambda check: check.name)
def test_every_number_known_in_closed_form_comes_out(check: AuditCheck) -> None:
    assert check.passed, (check.measured, check.claimed)


@pytest.mark.L2
@pytest.mark.parametrize("noise", SAMPLERS, ids=str)
def test_every_sampler_fits_its_law(noise) -> None:
    assert fit_check(noise, draws=20_000, entropy=SeededEntropy(3)).passed


class Louder(DiscreteLaplace):
    """Says one scale and draws another."""

    __slots__ = ()

    def sample(self, count: int, *, entropy):
        wrong = DiscreteLaplace(scale=self.scale * Fraction(101, 100))
        return wrong.sample(count, entropy=entropy)


@pytest.mark.L2
@pytest.mark.audit
def test_a_scale_that_is_one_percent_off_is_found_in_a_million_draws() -> None:
    noise = Louder(scale=Fraction(10))
    assert not fit_check(noise, draws=1_000_000, entropy=SeededEntropy(3)).passed


@pytest.mark.audit
def test_the_quick_audit_passes_in_every_layer_and_tells_its_parts() -> None:
    """The full one is a part of ``make audit`` itself."""
    parts: list[str] = []
    report = run_audit(quick=True, progress=parts.append)
    assert report.passed, report.failures
    assert len(parts) == len(set(parts))
    assert {check.layer for check in report.checks} == set(Layer)
    assert len(report.checks) > 20


def test_the_full_audit_searches_and_attacks_every_kind_under_every_accounting() -> None:
    """The long suite runs it once, and does not repeat its parts."""
    parts = {name for name, _ in _parts(quick=False, entropy=SeededEntropy(1))}
    kinds = kind_trials(full=True)
    assert {f"whole release: {kind.name}" for kind in kinds} <= parts
    assert {kind.measure for kind in kinds} == set(Measure)
    assert {kind.adjacency for kind in kinds} == set(Adjacency)
    assert {
        f"sensitivity search, {entity.value}" for entity in (Entity.PATIENT, Entity.EVENT)
    } <= parts
