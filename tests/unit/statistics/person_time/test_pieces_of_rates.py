"""Single parts of models of rates and hazards: the slope of rates, and risks that are alike."""

import numpy as np
import pyarrow as pa
import pytest

from confide.plans.rounds.score_bins import SCORE_BINS, SHARES
from confide.statistics.person_time.held_out_rates import Sums, _slope
from one_table import released

fsolve = pytest.importorskip("scipy.optimize").fsolve


@pytest.mark.parametrize("noise", [1.0, 60.0])
def test_a_slope_of_rates_weighs_bins_by_the_noise_of_events_and_of_time(noise):
    eta = np.linspace(-1.5, 1.0, SCORE_BINS)[:, None]
    rate, time = np.exp(eta[:, 0]), 5_000 * SHARES
    events = time * rate * np.where(np.arange(SCORE_BINS) % 2, 0.7, 1.2)
    sums = Sums(events=events, time=time, noise=noise, dispersion=1.5)
    (found,) = _slope(events[None], time[None], eta=eta, found=sums)
    weight = 1 / (1.5 * time * rate + noise**2 * (1 + rate**2))

    def off(line):
        fitted = np.exp(line[0] + line[1] * eta[:, 0])
        each = weight * (events - time * fitted) * time * fitted
        return each.sum(), each @ eta[:, 0]

    (_, slope), _, ended, _ = fsolve(off, (0.0, 1.0), full_output=True)
    assert ended == 1
    assert found == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("are_alike", [True, False])
def test_a_hazard_model_whose_risks_are_alike_has_no_concordance(are_alike, tmp_path):
    number = np.arange(80_000)
    sex = np.where(number % 2, "male", "female")
    when = np.where(number % 8 < 4, 30 + number % 300, 400)
    if not are_alike:
        when = np.where((number % 2 == 1) & (number % 8 < 6), 10 + number % 50, when)
    died = np.where(when < 365, "yes", "no")
    frame = pa.table({"pid": number, "sex": sex, "died": died, "days": np.minimum(when, 365)})
    columns = {
        "sex": {"categories": ["female", "male"]},
        "died": {"categories": ["no", "yes"]},
        "days": {"kind": "number", "lower": "0", "upper": "365", "unit": "d"},
    }
    asked = {
        "id": "deaths",
        "kind": "hazard-regression",
        "table": "people",
        "time": "days",
        "of": {"died": ["yes"]},
        "covariates": ["sex"],
        "edges": [0, 90, 180, 365],
        "hold-out": "0.1",
    }
    of = {"table": frame, "columns": columns, "name": "people", "folder": tmp_path}
    release = released(asked, **of, accounting={"measure": "zcdp", "delta": "1e-6"})
    (c,) = (e for e in release.of("deaths") if e.quantity == "concordance")
    risks = [e for e in release.of("deaths") if e.quantity == "observed risk"]
    assert (c.value is None, len(risks) == 1) == (are_alike, are_alike)
    assert c.flags == (("predictions alike",) if are_alike else ())
