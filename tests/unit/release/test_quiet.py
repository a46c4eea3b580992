"""Releases in several threads show no warning, log nothing, and leave both as they were."""

import logging
import os
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from confide.release.quiet import no_output, no_warnings
from confide.service.releasing.jobs import planned, run_job
from counting_job import Counting, clinic


@pytest.mark.parametrize("first_out", [0, 1])
def test_two_that_overlap_leave_the_filters_as_they_were_whoever_ends_first(first_out, caplog):
    before = list(warnings.filters)
    inside = threading.Barrier(2, timeout=60)
    ended = [threading.Event(), threading.Event()]

    def work(me):
        with no_warnings():
            inside.wait()
            if me != first_out:
                assert ended[first_out].wait(60)
                warnings.warn("patient 17 has the value 4711", stacklevel=1)
                logging.getLogger("a library").critical("patient 17 has the value 4711")
        ended[me].set()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, [0, 1]))
    assert list(warnings.filters) == before
    with pytest.raises(UserWarning, match="own"):
        warnings.warn("the caller's own", stacklevel=1)
    logging.getLogger("a library").warning("the caller's own")
    assert [each.message for each in caplog.records] == ["the caller's own"]


def test_releases_in_threads_show_no_warning_and_leave_the_filters_as_they_were(
    tmp_path, monkeypatch, caplog
):
    before = list(warnings.filters)
    inside = threading.Barrier(2, timeout=60)
    real = Counting.run

    def run(self, rows, **how):
        inside.wait()
        warnings.warn("patient 17 has the value 4711", stacklevel=1)
        logging.getLogger("a library").error("patient 17 has the value 4711")
        return real(self, rows, **how)

    monkeypatch.setattr(Counting, "run", run)

    def released(place):
        folder = tmp_path / str(place)
        folder.mkdir()
        with clinic(folder) as ws:
            job = Counting()
            return run_job(ws, job, plan=planned(ws, job)).answer.files

    with ThreadPoolExecutor(2) as pool:
        assert all(list(pool.map(released, [0, 1])))
    assert list(warnings.filters) == before
    assert not caplog.records


def test_nothing_is_written_to_either_stream_inside_and_all_of_it_after(capfd):
    os.write(1, b"before ")
    with no_output():
        os.write(1, b"patient 17")
        os.write(2, b"patient 17")
        sys.stdout.write("patient 17")
        sys.stdout.flush()
    os.write(1, b"after")
    os.write(2, b"after too")
    assert capfd.readouterr() == ("before after", "after too")
