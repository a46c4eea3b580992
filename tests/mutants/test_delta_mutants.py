"""Deliberately broken readers of Delta tables, which their tests must reject."""

import pytest

from confide.rows.engines.spark.spark_session import SparkRows
from confide.rows.sources import delta
from unit.rows.engines import test_spark_views as views
from unit.rows.sources import test_delta as suite

pytestmark = pytest.mark.mutant


def test_a_reader_of_the_files_of_all_versions_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(delta, "is_delta", lambda _: False)
    with pytest.raises(AssertionError):
        suite.test_a_delta_table_is_the_files_of_its_latest_version(tmp_path)


def test_a_reader_that_passes_over_what_was_removed_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(delta, "_ACTIONS", ("protocol", "metaData", "add"))
    with pytest.raises(AssertionError):
        suite.test_a_delta_table_is_the_files_of_its_latest_version(tmp_path)


def test_a_reader_that_removes_what_the_same_commit_adds_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(delta, "_ACTIONS", ("protocol", "metaData", "add", "remove"))
    with pytest.raises(pytest.fail.Exception):
        suite.test_rows_that_were_deleted_by_a_vector_and_purged_are_no_rows(tmp_path)


def test_a_session_that_calls_all_views_alike_is_rejected(monkeypatch):
    def alike(rows, text):
        rows._spark.sql(text).createOrReplaceTempView("confide_view")
        return "confide_view"

    monkeypatch.setattr(SparkRows, "_view", alike)
    with pytest.raises(AssertionError):
        views.test_a_view_of_the_same_text_over_other_views_is_made_anew()


def test_a_session_whose_engines_share_names_is_rejected(monkeypatch):
    def shared(rows, name):
        rows._lent[name] = name
        return name

    monkeypatch.setattr(SparkRows, "_own", shared)
    with pytest.raises(AssertionError):
        views.test_engines_in_one_session_read_their_own_rows_and_keys()


def test_a_reader_of_folders_within_a_delta_table_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(delta, "_require_top", lambda _: None)
    with pytest.raises(pytest.fail.Exception):
        suite.test_a_folder_within_a_delta_table_is_refused(tmp_path)
