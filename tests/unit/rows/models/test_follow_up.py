"""Follow-up through intervals, number for number."""

import numpy as np

from confide.plans.rounds.link import log_steps
from confide.rows.models.person_time import follow_up

EDGES = (0, 4, 10)


def test_follow_up_is_the_time_in_each_interval_and_ends_in_one_or_beyond_the_last():
    time, event = np.array([0, 1, 4, 5, 10, 10, 11]), np.array([1, 1, 0, 1, 0, 1, 1], dtype=bool)
    found = follow_up(time, event, edges=EDGES)
    whole = int(log_steps(np.array([10]))[0])
    spent = np.array([[0, 0], [1, 0], [4, 0], [4, 1], [4, 6], [4, 6], [4, 6]])
    assert (found.spent == (spent > 0)).all()
    assert (found.offsets == log_steps(np.maximum(spent, 1)) - whole).all()
    assert found.last.tolist() == [0, 0, 0, 1, 2, 1, 2]
    assert found.event.tolist() == [True, True, False, True, False, True, False]
    assert found.size == 2
    assert found.exits().tolist() == [1, 2, 0, 2, 2]
