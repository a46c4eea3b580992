"""Weights of patients' rows, number for number."""

import numpy as np

from confide.rows.models.patient_weights import half_shrunk, weighed


def test_rows_beyond_the_clip_weigh_the_root_of_what_is_left_of_them():
    rows = np.array([[4_000.0, -4_000.0], [7.0, 8.0]])
    found = half_shrunk(rows, np.array([400, 90]), np.array([1, 1]), most=100)
    assert found.tolist() == [[2_000, -2_000], [7, 8]]  # √(100/400) is a half


def test_where_the_squares_of_rows_are_large_half_weights_are_less():
    found = half_shrunk(np.array([[8_480.0]]), np.array([400]), np.array([848]), most=100)
    assert found.tolist() == [[1_410]]  # √2·100/848


def test_two_short_rows_of_a_patient_weigh_a_half_each():
    rows = np.array([[3.0, 4.0], [6.0, 8.0], [5.0, 12.0]])
    _, found = weighed(rows, np.array([0, 0, 1]), clip=100)
    assert found.tolist() == [[1, 2], [3, 4], [5, 12]]
