"""Spark under the engine contract: the integers of the algebra in plain Python, cell by cell."""

import pyarrow as pa

from contracts.engine_contract import EngineContract
from spark_rows import needs_spark, opened

pytestmark = needs_spark()


class TestSpark(EngineContract):
    text_ids = (False, True)
    stride = 9

    def open(self, database, *, of, threads=2):
        return opened(database.frames, of=of, threads=threads)

    def nothing(self, rows, kind):
        return pa.nulls(rows, kind)

    # what shared code refuses or does before an engine is asked is tested of DuckDB
    test_row_order_and_threads_change_nothing = None
    test_answers_add_up_over_patients_so_nobody_moves_another_patients_rows = None
    test_sums_that_could_overflow_are_refused = None
    test_check_accepts_what_aggregate_answers = None
    test_columns_without_any_value_follow_the_null_policy = None
    test_values_defined_by_themselves_are_refused = None
    test_days_between_values_that_are_no_dates_are_refused = None
