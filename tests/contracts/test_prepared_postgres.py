"""Prepared copies in PostgreSQL under the engine contract: the integers of the algebra."""

import contextlib
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest

from confide.rows.copies.manifest import Standing
from contracts.engine_contract import EngineContract
from postgres_copies import opened, preparation, with_copies
from postgres_tables import in_postgres
from rows_world import Database
from source_kinds import without_nul


class TestPreparedPostgres(EngineContract):
    """Every sixteenth question of the menu; in the long suite more."""

    stride = 16

    @contextlib.contextmanager
    def open(self, database, *, of, **_):
        source = with_copies(in_postgres(database.frames))
        with tempfile.TemporaryDirectory(prefix="confide-test-") as name:
            folder = Path(name)
            preparation(source, of, folder=folder).prepare()
            with opened(source, of, folder=folder) as engine:
                assert engine._standing is Standing.CURRENT
                yield engine

    def adapted(self, database: Database) -> Database:
        return Database(frames={n: without_nul(rows) for n, rows in database.frames.items()})

    def nothing(self, rows, kind):
        return pa.nulls(rows, kind)

    @pytest.mark.audit
    def test_row_order_and_threads_change_nothing(self):
        super().test_row_order_and_threads_change_nothing()

    @pytest.mark.audit
    def test_answers_add_up_over_patients_so_nobody_moves_another_patients_rows(self):
        super().test_answers_add_up_over_patients_so_nobody_moves_another_patients_rows()

    @pytest.mark.audit
    def test_sum_and_count_of_the_same_filter_keep_the_same_rows(self):
        super().test_sum_and_count_of_the_same_filter_keep_the_same_rows()

    # with the event as unit nothing is prepared
    test_with_the_event_as_unit_every_row_counts_and_no_id_is_read = None
    # asked of every engine's compiler already
    test_a_join_that_could_multiply_rows_is_refused = None
    test_another_data_set_than_the_opened_one_is_refused = None
    test_check_accepts_what_aggregate_answers = None
    test_a_missing_table_or_column_is_refused_by_name_before_reading = None
    test_a_missing_id_column_is_refused_by_name = None
    test_sums_that_could_overflow_are_refused = None
    test_key_selection_refuses_bounds_other_than_keys = None
    test_values_defined_by_themselves_are_refused = None
    test_days_between_values_that_are_no_dates_are_refused = None
    test_undeclared_names_are_refused = None
    test_the_answer_is_secret = None
    test_columns_without_any_value_follow_the_null_policy = None
