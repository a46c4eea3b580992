"""What the engine counts for a statistic of every kind, number for number, before any noise."""

import numpy as np
import pytest

import confide
from confide.files.kinds import KINDS
from every_kind import GAUSSIAN_ALONE, STUDIES, dataset, frames
from kept_texts import assert_kept, number_text
from noise_off import exact_answers


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in GAUSSIAN_ALONE])
def test_exact_answers_are_the_numbers_that_were_read(kind, tmp_path):
    with confide.open(dataset(measure="zcdp"), frames=frames(), folder=tmp_path) as ws:
        plan = ws.plan({"id": "asked", "kind": kind, **STUDIES[kind]}, epsilon="1")
    asked = [each.aggregate for each in plan.measurements]
    found = exact_answers(asked, to=plan.dataset, frames=frames())
    lines = [number_text(_plain(each)) for each in found]
    assert_kept(f"rows/{kind}.txt", "\n".join(lines))


def _plain(answer):
    return np.asarray(answer).tolist() if isinstance(answer, tuple | np.ndarray) else repr(answer)
