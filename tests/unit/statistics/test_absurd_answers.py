"""Answers that no rows give end in estimates, flagged or withheld, and never in an error.

By then the charge is made: a failure would tell of nobody, and leave a release without an answer.
"""

from dataclasses import replace

import numpy as np
import pytest

import confide
from confide.files.kinds import KINDS
from confide.plans.rounds import descent
from confide.plans.rounds.descent import next_ask
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.shapes import Ranked
from every_kind import GAUSSIAN_ALONE, STUDIES, dataset, frames

JUDGED = {"hold-out": "0.5", "recalibrate": "line", "subgroups": ["dose"]}
MORE = dict.fromkeys(sorted(GAUSSIAN_ALONE), JUDGED)
MORE["linear-regression"] = {"subgroups": ["dose"]}
MORE["table-1"] = {"variables": ["age", "ill", "dose"]}
LARGEST = (6, 12, 18, 25, 40)  # powers of ten


def released(kind, folder):
    asked = {"id": "asked", "kind": kind, **STUDIES[kind], **MORE.get(kind, {})}
    with confide.open(dataset(measure="zcdp"), frames=frames(), folder=folder) as ws:
        return ws.release(ws.plan(asked, epsilon="1"))


def absurd(count, *, largest, rng):
    """Yield whole numbers: of all sizes with and without signs, alike, and none at all."""
    sizes = 10.0 ** rng.uniform(0, largest, count)
    yield tuple(int(x) for x in sizes)
    yield tuple(int(x) for x in sizes * rng.choice([-1, 1], count))
    yield tuple(int(x) for x in rng.normal(0, 10.0**largest, count))
    yield (int(10.0**largest),) * count
    yield (0,) * count


def stages(scale):
    """Return how many answers there are before each question."""
    late = scale.opening + scale.early * scale.gradient + scale.curved + scale.spread
    first = [scale.opening + turn * scale.gradient for turn in range(scale.early + 1)]
    last = [late + turn * scale.gradient for turn in range(scale.rounds - scale.early + 1)]
    return [0, *first, *last, scale.length]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"key-selection"}))
def test_answers_that_no_rows_give_end_in_estimates_whatever_was_asked(kind, tmp_path):
    release, rng = released(kind, tmp_path), np.random.default_rng(1)
    for largest in LARGEST:
        told = [absurd(len(each), largest=largest, rng=rng) for each in release.noisy.values]
        for values in zip(*told, strict=True):
            chosen = [
                noisy if isinstance(each.aggregate, Ranked) else made
                for each, noisy, made in zip(
                    release.plan.measurements, release.noisy.values, values, strict=True
                )
            ]
            found = replace(release.noisy, values=tuple(chosen)).estimates()
            assert {each.statistic for each in found} == {"asked"}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", sorted(GAUSSIAN_ALONE))
def test_a_model_asks_on_whatever_was_answered_and_withholds_what_no_rows_give(kind, tmp_path):
    release, rng = released(kind, tmp_path), np.random.default_rng(2)
    (measured,), dataset_ = release.plan.measurements, release.plan.dataset
    scale = scale_of(measured.aggregate, dataset=dataset_)
    for largest in LARGEST:
        for values in absurd(scale.length, largest=largest, rng=rng):
            for so_far in stages(scale):
                next_ask(measured.aggregate, values[:so_far], sigma=30.0, dataset=dataset_)
            if len(set(values)) > 1 and largest >= LARGEST[2]:
                found = replace(release.noisy, values=(values,)).estimates()
                assert not [e for e in found if e.quantity == "coefficient" and e.lower]


@pytest.mark.parametrize("kind", sorted(GAUSSIAN_ALONE))
def test_a_model_whose_answers_lead_nowhere_withholds_all_but_the_number_of_rows(
    kind, tmp_path, monkeypatch
):
    def singular(*_, **__):
        raise np.linalg.LinAlgError

    release = released(kind, tmp_path)
    monkeypatch.setattr(descent, "whitened", singular)
    found = replace(release.noisy).estimates()
    told = [each for each in found if each.quantity in {"intercept", "coefficient"}]
    assert told
    assert not [each for each in told if each.value is not None or not each.flags]
