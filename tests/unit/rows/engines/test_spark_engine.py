"""Spark under the engine contract: the integers of the algebra in plain Python, cell by cell."""

import pyarrow as pa
import pytest

from contracts.engine_contract import EngineContract, exact
from reference_engine import Reference
from rows_world import KEY, dataset, menu, random_database
from spark_rows import needs_spark, opened, started_quickly, stored

functions = pytest.importorskip("pyspark.sql.functions")
pytestmark = needs_spark()


class TestSpark(EngineContract):
    """Each statement costs seconds of planning, whatever the rows: a part of the menu is asked."""

    def open(self, database, *, of, threads=2):
        return opened(database.frames, of=of, threads=threads)

    def nothing(self, rows, kind):
        return pa.nulls(rows, kind)

    @pytest.mark.parametrize(("text_ids", "stride"), [(False, 11), (True, 23)])
    def test_agrees_with_the_algebra_in_plain_python(self, text_ids, stride):
        self._agrees(seed=1, text_ids=text_ids, asked=menu()[::stride])

    @pytest.mark.audit
    @pytest.mark.parametrize("seed", [2, 3])
    def test_agrees_with_the_algebra_on_the_whole_menu(self, seed):
        self._agrees(seed=seed, text_ids=seed % 2 == 0, asked=menu())

    def test_a_collation_that_files_name_changes_no_answer(self, tmp_path):
        of, database = dataset(), random_database(1, text_ids=True)
        spark = started_quickly()
        for name, rows in database.frames.items():
            given = spark.read.parquet(str(stored({name: rows}) / f"{name}.parquet"))
            blind = [
                functions.collate(given[each.name], "UTF8_LCASE").alias(each.name)
                if each.dataType.simpleString() == "string"
                else given[each.name]
                for each in given.schema.fields
            ]
            given.select(*blind).write.parquet(str(tmp_path / name))
        asked = (menu()[0], menu()[-1])
        with opened({}, of=of, folder=tmp_path) as engine:
            kinds = dict(engine._rows.read("again", [*(tmp_path / "events").glob("*.parquet")]))
            assert kinds["pid"] == kinds["code"] == "string collate UTF8_LCASE"
            got = exact(engine, asked, of)
        assert got == Reference(of, database.rows, KEY).aggregate(asked)

    def _agrees(self, *, seed, text_ids, asked):
        of, database = dataset(), random_database(seed, text_ids=text_ids)
        with self.open(database, of=of) as engine:
            got = exact(engine, asked, of)
        expected = Reference(of, database.rows, KEY).aggregate(asked)
        for position, (one, other) in enumerate(zip(got, expected, strict=True)):
            assert one == other, (seed, text_ids, position)

    # what shared code refuses or does before an engine is asked is tested of DuckDB
    test_agrees_with_the_algebra_on_twenty_thousand_databases = None
    test_row_order_and_threads_change_nothing = None
    test_answers_add_up_over_patients_so_nobody_moves_another_patients_rows = None
    test_an_empty_source_counts_zero_everywhere = None
    test_patients_without_an_id_are_left_out = None
    test_sum_and_count_of_the_same_filter_keep_the_same_rows = None
    test_sums_that_could_overflow_are_refused = None
    test_check_accepts_what_aggregate_answers = None
    test_columns_without_any_value_follow_the_null_policy = None
    test_values_defined_by_themselves_are_refused = None
    test_days_between_values_that_are_no_dates_are_refused = None
    test_key_selection_refuses_bounds_other_than_keys = None
    test_undeclared_names_are_refused = None
    test_a_join_that_could_multiply_rows_is_refused = None
